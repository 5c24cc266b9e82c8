/* SPDX-License-Identifier: Apache-2.0 */
/* stream - the body of a watch: events, bookmarks, the end, as text or protobuf.
 *
 *   From:     apiserver/serve/handle_watch.c, which creates it; apiserver/serve/respond.c, which reads it
 *             when the client can receive more; apiserver/serve/exchange.c, which frees it
 *   To:       apiserver/storage/watch.h (events are taken from it), apiserver/object/text.h
 *   Locks:    the storage's, within each call that opens, reads or frees a stream
 *   Not here: waiting; transport faults
 */
#ifndef KI_APISERVER_SERVE_STREAM_H
#define KI_APISERVER_SERVE_STREAM_H

#include <sys/types.h>

#include "apiserver/request/accept.h"
#include "apiserver/show/table.h"
#include "apiserver/storage/watch.h"

struct ki_as_stream_options {
    struct ki_as_storage *storage;
    struct ki_as_resource *resource; /* the stream adds a reference */
    struct ki_as_selector *selector; /* taken on success */
    ki_str ns;
    uint64_t after;             /* the stream has the events after this version */
    struct ki_as_page *initial; /* the current objects, sent as ADDED first; taken; may be NULL */
    ki_as_wake_cb wake;
    ki_as_wake_cb lose;
    void *user;
    uint64_t end_ns;      /* UINT64_MAX for never */
    uint64_t bookmark_ns; /* interval; 0 for no bookmarks */
    bool has_end_marker;  /* send a bookmark after the initial objects */
    bool is_expired;      /* send only a 410 */
    enum ki_as_form form;
    bool is_proto; /* in frames of protobuf instead of lines of JSON */
    enum ki_as_include include;
    uint32_t events_max;   /* pause after this number of events; 0 for no limit */
    _Atomic size_t *count; /* of streams; decremented when this is freed */
};

struct ki_as_stream;

/* NULL if out of memory; then the caller keeps `selector` and `initial`. */
struct ki_as_stream *ki_as_stream_new(const struct ki_as_stream_options *options);
/* NULL is allowed. No wake-up follows. */
void ki_as_stream_free(struct ki_as_stream *stream);

/* Writes up to `max` bytes and returns their number. Returns 0 if there are none now: try again when woken,
 * or at *out_due_ns. Returns -1 if the stream has ended. */
ssize_t ki_as_stream_read(struct ki_as_stream *stream, char *bytes, size_t max, uint64_t *out_due_ns);

/* Whether all bytes of the first events_max events were read. */
bool ki_as_stream_is_at_limit(const struct ki_as_stream *stream);

/* Removes the limit of events. */
void ki_as_stream_lift_limit(struct ki_as_stream *stream);

#endif
