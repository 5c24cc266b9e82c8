/* SPDX-License-Identifier: Apache-2.0 */
/* storage_layout - the structs of the storage, for the files that implement it.
 *
 *   From:     apiserver/storage/storage.c, apiserver/storage/page.c, apiserver/storage/watch.c
 *   To:       apiserver/storage/watch.c (ki_as_watches_…_locked()), apiserver/storage/storage.c
 *             (ki_as_collection_release_locked())
 *   Locks:    everything is guarded by the storage's mu
 *   Not here: the interface for other files
 */
#ifndef KI_APISERVER_STORAGE_STORAGE_LAYOUT_H
#define KI_APISERVER_STORAGE_STORAGE_LAYOUT_H

#include "apiserver/storage/history.h"
#include "apiserver/storage/order.h"
#include "apiserver/storage/storage.h"
#include "apiserver/storage/watch.h"
#include "util/list.h"
#include "util/random.h"
#include "util/thread.h"

/* KI_AS_BUCKETS: hash buckets of collections, by plural; a power of two. */
enum { KI_AS_BUCKETS = 64 };

struct ki_as_collection {
    struct ki_as_collection *next; /* in its bucket */
    struct ki_as_storage *storage;
    char *group;
    char *plural;
    bool is_namespaced;
    struct ki_as_order order;
    struct ki_as_history history;
    ki_list idle;  /* watches whose last take found nothing; they wait for the next change */
    ki_list busy;  /* the other watches, except those that have ended */
    size_t owed;   /* watches that have ended but are not closed and still have changes to take */
    bool is_ended; /* no longer served: its history is dropped once no watch needs it */
};

struct ki_as_storage {
    ki_mutex mu;
    struct ki_as_resources resources;
    struct ki_as_collection *buckets[KI_AS_BUCKETS]; /* collections live until the storage is freed */
    uint64_t version;
    uint64_t compacted; /* no collection has history up to this version */
    size_t object_count;
    size_t objects_max;
    size_t object_bytes_max;
    size_t history_events_max;
    size_t history_bytes_max;
    ki_random random;
    ki_buf scratch[KI_AS_SCRATCH_COUNT];
};

/* Called after a change was added to the history. Wakes the idle watches that the change concerns, and ends
 * the busy watches that are too far behind. */
void ki_as_watches_notify_locked(struct ki_as_collection *collection, const struct ki_as_change *change);
/* Drops the history of a collection that is no longer served, unless a watch still has changes to take. */
void ki_as_collection_release_locked(struct ki_as_collection *collection);
/* Ends every watch, because the history starts over. */
void ki_as_watches_reset_locked(struct ki_as_collection *collection);

#endif
