/* SPDX-License-Identifier: Apache-2.0 */
/* stream - the body of a watch: events as text, bookmarks, its end.
 *
 *   From:     apiserver/serve/handle_watch.c makes it
 *   To:       apiserver/serve/respond.c, which reads it whenever the client can take more
 *   Locks:    the storage's, within ki_as_watch_take()
 *   Not here: waiting; faults of transport
 */
#ifndef KI_APISERVER_SERVE_STREAM_H
#define KI_APISERVER_SERVE_STREAM_H

#include <sys/types.h>

#include "apiserver/request/accept.h"
#include "apiserver/show/table.h"
#include "apiserver/storage/watch.h"

struct ki_as_stream_options {
    struct ki_as_storage *storage;
    struct ki_as_resource *resource; /* a reference is taken */
    struct ki_as_selector *selector; /* taken over, when it is made */
    ki_str ns;
    uint64_t after;             /* events behind this version */
    struct ki_as_page *initial; /* what there is, told as ADDED first; taken over; NULL: nothing */
    ki_as_wake_cb wake;
    ki_as_wake_cb lose;
    void *user;
    uint64_t end_ns;      /* UINT64_MAX: never */
    uint64_t bookmark_ns; /* between two; 0: none */
    bool has_end_marker;  /* a bookmark behind what there is */
    bool is_expired;      /* 410 instead of anything */
    enum ki_as_form form;
    enum ki_as_include include;
    uint32_t events_max;   /* then nothing more comes; 0: no limit */
    _Atomic size_t *count; /* of streams; counted down at the end */
};

struct ki_as_stream;

/* NULL without memory; then the options keep what they have. */
struct ki_as_stream *ki_as_stream_new(const struct ki_as_stream_options *options);
/* NULL is allowed. No wake comes any more. */
void ki_as_stream_free(struct ki_as_stream *stream);

/* Writes up to `max` bytes. Returns how many; 0: there is nothing now, look again when woken or at
 * *out_due_ns; -1: it has ended. */
ssize_t ki_as_stream_read(struct ki_as_stream *stream, char *bytes, size_t max, uint64_t *out_due_ns);

/* As many events as there may be have been read whole. */
bool ki_as_stream_is_at_limit(const struct ki_as_stream *stream);

/* Events come again. */
void ki_as_stream_lift_limit(struct ki_as_stream *stream);

#endif
