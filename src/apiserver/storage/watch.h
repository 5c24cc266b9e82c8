/* SPDX-License-Identifier: Apache-2.0 */
/* watch - one reader of a collection's changes: a place in the history, never a queue of its own.
 *
 *   From:     storage
 *   To:       the HTTP answer of a watch, which is woken and then takes events
 *   Locks:    the storage's, within each call
 *   Not here: text, time-outs, bookmarks' period
 *
 * A watch that falls behind the window of history is over: it is cut, as a real server does,
 * and nothing is kept for it.
 */
#ifndef KI_APISERVER_STORAGE_WATCH_H
#define KI_APISERVER_STORAGE_WATCH_H

#include "apiserver/storage/storage.h"

enum ki_as_event_type { KI_AS_ADDED, KI_AS_MODIFIED, KI_AS_DELETED };

struct ki_as_event {
    enum ki_as_event_type type;  /* as the selector sees it: an object that stops matching is DELETED */
    uint64_t version;            /* of the change; shown in the object in place of its own */
    struct ki_as_object *object; /* a counted reference */
};

/* Called with the storage's lock, from the thread of the change, when there is something to take (or the
 * watch is over) and the last take found nothing. Must not call back. */
typedef void (*ki_as_wake_cb)(void *user);

struct ki_as_watch_options {
    struct ki_as_resource *resource;
    ki_str ns;
    struct ki_as_selector *selector; /* taken over */
    uint64_t after;                  /* events with a greater version */
    ki_as_wake_cb wake;
    ki_as_wake_cb
        lose; /* the same for a watch that the history has left behind before it had taken all; or NULL */
    void *user;
};

struct ki_as_watch;

/* KI_ERR_NO_MEMORY, or 0. A version whose history is gone gives a watch that is over at once. */
KI_NODISCARD int ki_as_watch_open(struct ki_as_storage *storage, const struct ki_as_watch_options *options,
                                  struct ki_as_watch **out);
/* No wake is under way when this returns. */
void ki_as_watch_close(struct ki_as_watch *watch);

enum ki_as_watch_end {
    KI_AS_WATCH_OPEN,    /* more may come */
    KI_AS_WATCH_EXPIRED, /* its place in the history is gone: 410 in the stream */
    KI_AS_WATCH_GONE,    /* the resource is no longer served, or the history was reset: the stream ends */
};

/* Up to `max` events; unref each object. `*out_version` is how far the watch has seen, for a bookmark: all
 * changes up to it are taken or do not concern it. Returns how many. */
size_t ki_as_watch_take(struct ki_as_watch *watch, struct ki_as_event *events, size_t max,
                        uint64_t *out_version, enum ki_as_watch_end *out_end);

#endif
