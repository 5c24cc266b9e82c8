/* SPDX-License-Identifier: Apache-2.0 */
/* watch - one reader of a collection's changes: a position in the history, without a queue.
 *
 *   From:     apiserver/storage/storage.c (wakes watches), apiserver/serve/stream.c,
 *             apiserver/serve/simulate.c
 *   To:       apiserver/serve/handle_watch.c (on_change, which is woken), apiserver/serve/stream.c (which
 *             then takes events)
 *   Locks:    the storage's, within each call
 *   Not here: text, timeouts, the interval of bookmarks
 *
 * A watch that falls behind the window of history ends, as on a real server; nothing is kept for it.
 */
#ifndef KI_APISERVER_STORAGE_WATCH_H
#define KI_APISERVER_STORAGE_WATCH_H

#include "apiserver/storage/storage.h"

enum ki_as_event_type { KI_AS_ADDED, KI_AS_MODIFIED, KI_AS_DELETED };

struct ki_as_event {
    enum ki_as_event_type type;  /* for this selector: an object that stops matching is DELETED */
    uint64_t version;            /* of the change; shown in the object instead of its own */
    struct ki_as_object *object; /* a reference */
};

/* Called with the storage's lock held, by the thread that makes the change, if the last take found nothing
 * and now there are changes to take or the watch has ended. Must not call the storage or the watch. */
typedef void (*ki_as_wake_cb)(void *user);

struct ki_as_watch_options {
    struct ki_as_resource *resource;
    ki_str ns;
    struct ki_as_selector *selector; /* taken */
    uint64_t after;                  /* the watch gets events with a greater version */
    ki_as_wake_cb wake;
    ki_as_wake_cb lose; /* called if the history drops changes that the watch has not taken; may be NULL */
    void *user;
};

struct ki_as_watch;

/* Returns 0 or KI_ERR_NO_MEMORY. If the history after the version is gone, the watch ends at once. */
KI_NODISCARD int ki_as_watch_open(struct ki_as_storage *storage, const struct ki_as_watch_options *options,
                                  struct ki_as_watch **out);
/* After this returns, no wake callback is running or will run. */
void ki_as_watch_close(struct ki_as_watch *watch);

enum ki_as_watch_end {
    KI_AS_WATCH_OPEN,    /* more may come */
    KI_AS_WATCH_EXPIRED, /* the history has dropped its position: 410 in the stream */
    KI_AS_WATCH_GONE,    /* the resource is no longer served, or the history was reset: the stream ends */
};

/* Takes up to `max` events and returns their number. The caller unrefs each object. `*out_version` is the
 * version for a bookmark: every change up to it was taken or does not match. */
size_t ki_as_watch_take(struct ki_as_watch *watch, struct ki_as_event *events, size_t max,
                        uint64_t *out_version, enum ki_as_watch_end *out_end);

#endif
