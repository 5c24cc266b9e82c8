/* SPDX-License-Identifier: Apache-2.0 */
/* storage_layout - what the storage consists of, for the files that are the storage.
 *
 *   From:     apiserver/storage/storage.c, apiserver/storage/page.c, apiserver/storage/watch.c
 *   Locks:    everything is guarded by mu of the storage
 *   Not here: anything that others need
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

/* KI_AS_BUCKETS: of collections, by a hash of their plural; a power of two. */
enum { KI_AS_BUCKETS = 64 };

struct ki_as_collection {
    struct ki_as_collection *next; /* in its bucket */
    struct ki_as_storage *storage;
    char *group;
    char *plural;
    bool is_namespaced;
    struct ki_as_order order;
    struct ki_as_history history;
    ki_list idle;  /* watches that have seen everything and wait to be woken */
    ki_list busy;  /* the others, but for those that are over */
    size_t owed;   /* watches that are over, not closed, and may have something left to take */
    bool is_ended; /* not served any more: its history goes once nobody is owed any of it */
};

struct ki_as_storage {
    ki_mutex mu;
    struct ki_as_resources resources;
    struct ki_as_collection *buckets[KI_AS_BUCKETS]; /* a collection stays until the storage is freed */
    uint64_t version;
    uint64_t compacted; /* no history up to here, in any collection */
    size_t object_count;
    size_t objects_max;
    size_t object_bytes_max;
    size_t history_events_max;
    size_t history_bytes_max;
    ki_random random;
    ki_buf scratch[KI_AS_SCRATCH_COUNT];
};

/* A change was added to the history: wakes the idle watches that it concerns, and ends those that are too
 * far behind. */
void ki_as_watches_notify_locked(struct ki_as_collection *collection, const struct ki_as_change *change);
/* Forgets the history of an ended collection unless some watch has to take the rest of it. */
void ki_as_collection_release_locked(struct ki_as_collection *collection);
/* The history begins anew: every watch is over. */
void ki_as_watches_reset_locked(struct ki_as_collection *collection);

#endif
