/* SPDX-License-Identifier: Apache-2.0 */
/* backlog - the events that wait for one handler, in order and bounded.
 *
 *   From:     handler/listener.c (dispatch's pushes, the handler's takes); also handler/fanout.c,
 *             informer/registration_leave.c
 *   Locks:    none of its own; the listener's is held.
 *   Not here: calling the handler; waiting for space.
 *
 * Below its limits, the backlog is a plain queue. When it exceeds them, and until it has shrunk to half, it
 * is reduced to one entry per key: ki_notification_merge() merges an event into the entry of its key, which
 * keeps its position. A push must not process a hundred thousand entries, so each push merges a few, always
 * the first of those not merged yet. At any time the backlog consists of
 *
 *     merged       one entry per key
 *     initial      objects for initial adds, one per key
 *     waiting      entries as they were pushed
 *
 * in this order. Once everything is merged, new events are merged at once. Until then the backlog exceeds its
 * limit, or its initial size, by the events pushed meanwhile. Their number is at most
 * 1 / (KI_BACKLOG_STEP - 1) of the entries that waited when merging began. Their bytes are at most
 * 1 / KI_BACKLOG_SHARE of the bytes of those entries, or of the byte limit if that is larger, plus the last
 * event. To keep this bound, the push of a large event merges more entries than that of a small one.
 */
#ifndef KI_HANDLER_BACKLOG_H
#define KI_HANDLER_BACKLOG_H

#include <kinformer/store.h>
#include <stdbool.h>

#include "handler/notification.h"
#include "util/hash.h"
#include "util/list.h"
#include "util/map.h"

/* The minimum number of entries merged per push. */
#define KI_BACKLOG_STEP 32

/* The push of an event with the share s of all waiting bytes merges at least s * KI_BACKLOG_SHARE of the
 * entries. */
#define KI_BACKLOG_SHARE 8

/* An entry of a backlog. It is allocated before a change is applied, so that queuing the event cannot fail
 * afterwards. An entry for a merged initial add is allocated by the push; without memory the next push tries
 * again. */
typedef struct ki_backlog_entry {
    ki_list_node node;
    ki_map_node by_key; /* linked while the entry is in `merged` */
    ki_notification what;
    size_t bytes;
} ki_backlog_entry;

/* NULL when out of memory. */
KI_NODISCARD ki_backlog_entry *ki_backlog_entry_new(void);

/* Drops its notification and frees it. NULL is allowed. */
void ki_backlog_entry_free(ki_backlog_entry *entry);

/* Frees all entries of a list. */
void ki_backlog_entries_free(ki_list *entries);

typedef struct ki_backlog_limits {
    size_t items_max;
    size_t bytes_max;
    size_t step;    /* 0: KI_BACKLOG_STEP; at least 2 */
    bool is_plain;  /* nothing is merged: the producer checks the limits, or there are none */
    bool keeps_old; /* delivery needs the old objects, so they are not dropped past the byte limit */
} ki_backlog_limits;

typedef struct ki_backlog {
    ki_backlog_limits limits; /* constant, like hash_key */
    ki_hash_key hash_key;
    ki_list merged;
    ki_map by_key; /* the entries of `merged` by key */
    ki_object_list initial;
    size_t initial_gone; /* how many of them have been taken or merged */
    ki_list waiting;
    bool is_coalescing;
    size_t bytes_each; /* when coalescing began: the bytes, or the byte limit if that is larger, divided by
                        * the number of entries */
    size_t items;
    size_t bytes;
    size_t items_high_water;
    uint64_t coalesced; /* number of notifications that were merged into another */
} ki_backlog;

void ki_backlog_init(ki_backlog *backlog, const ki_backlog_limits *limits, const ki_hash_key *hash_key);

/* Drops everything, so that the backlog can be used again.
 * May take long: it may free a hundred thousand objects. */
void ki_backlog_clear(ki_backlog *backlog);

/* Moves everything to another backlog, which the caller can clear without a lock.
 * This backlog is empty afterwards. */
void ki_backlog_detach(ki_backlog *backlog, ki_backlog *out_rest);

/* Fills an empty backlog with objects for initial adds, at most one per key. `bytes` is the sum of their
 * ki_object_own_bytes(). Takes the objects. */
void ki_backlog_begin(ki_backlog *backlog, ki_object_list *objects, size_t bytes);

/* Appends entry->what, or the marker SYNCED (type 0). Takes the entry. */
void ki_backlog_push(ki_backlog *backlog, ki_backlog_entry *entry);

/* Removes the first notification; the caller gets its references. Returns false if there is none. The caller
 * calls ki_free() for *out_spent, the memory of its entry, without a lock; NULL if it had no entry. */
KI_NODISCARD bool ki_backlog_take(ki_backlog *backlog, ki_notification *out_what,
                                  ki_backlog_entry **out_spent);

bool ki_backlog_is_past_limit(const ki_backlog *backlog);

#endif
