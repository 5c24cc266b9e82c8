/* SPDX-License-Identifier: Apache-2.0 */
/* backlog - what waits for one handler, in order and bounded.
 *
 *   From:     handler/listener.c  (dispatch's pushes, the handler's takes)
 *   Locks:    none of its own; the listener's is held.
 *   Not here: calling the handler; who waits for room.
 *
 * Below its limits it is a plain queue. Past them, and until it has shrunk to half, it is brought to one
 * entry per key: an event joins the entry that its key already has, in that entry's place, and what comes
 * of the two is decided by ki_notification_merge(). Who pushes must not wait for a hundred thousand
 * entries to be looked at, so with each push a few are merged, always the foremost of those that are not:
 * at any time it is
 *
 *     merged       one entry per key
 *     initial      objects of which the handler has not heard yet, one per key: adds
 *     waiting      entries as they came
 *
 * in this order. Once all is merged, what is pushed is merged at once. Until then more waits than the
 * limit allows, or than the handler began with: by as many events as are pushed meanwhile, which is at the
 * most a share of 1 / (KI_BACKLOG_STEP - 1), and by as many bytes, at the most a share of 1 /
 * KI_BACKLOG_SHARE and the event that comes last. For that a large event merges more than a small one.
 */
#ifndef KI_HANDLER_BACKLOG_H
#define KI_HANDLER_BACKLOG_H

#include <kinformer/store.h>
#include <stdbool.h>

#include "handler/notification.h"
#include "util/hash.h"
#include "util/list.h"
#include "util/map.h"

/* How many are merged with a push, at the least. */
#define KI_BACKLOG_STEP 32

/* A push whose event is so large a part of all bytes that wait merges so many times that part of the
 * entries. */
#define KI_BACKLOG_SHARE 8

/* A place in a backlog. Made before a change is applied, so that delivering it cannot fail afterwards. */
typedef struct ki_backlog_entry {
    ki_list_node node;
    ki_map_node by_key; /* when it is merged */
    ki_notification what;
    size_t bytes;
} ki_backlog_entry;

/* NULL when memory is out. */
KI_NODISCARD ki_backlog_entry *ki_backlog_entry_new(void);

/* Drops what is in it. NULL is allowed. */
void ki_backlog_entry_free(ki_backlog_entry *entry);

/* Frees a list of them, and leaves it empty. */
void ki_backlog_entries_free(ki_list *entries);

typedef struct ki_backlog_limits {
    size_t items_max;
    size_t bytes_max;
    size_t step;    /* 0: KI_BACKLOG_STEP; at least 2 */
    bool is_plain;  /* nothing is ever merged: who pushes looks at the limits, or nobody does */
    bool keeps_old; /* delivering needs the old objects: they are not let go past the byte limit */
} ki_backlog_limits;

typedef struct ki_backlog {
    ki_backlog_limits limits; /* constant, as the next */
    ki_hash_key hash_key;
    ki_list merged;
    ki_map by_key; /* of the merged ones */
    ki_object_list initial;
    size_t initial_gone; /* so many of them have left */
    ki_list waiting;
    bool is_coalescing;
    size_t bytes_each; /* what an entry may have on average; set where coalescing begins */
    size_t items;
    size_t bytes;
    size_t items_high_water;
    uint64_t coalesced; /* notifications that joined another */
} ki_backlog;

void ki_backlog_init(ki_backlog *backlog, const ki_backlog_limits *limits, const ki_hash_key *hash_key);

/* Drops all. It can be used again. Takes as long as freeing a hundred thousand objects does. */
void ki_backlog_clear(ki_backlog *backlog);

/* Moves all to another one, for the caller to clear it without a lock. This one is empty then. */
void ki_backlog_detach(ki_backlog *backlog, ki_backlog *out_rest);

/* Puts objects into an empty backlog, of which the handler hears as initial adds: at most one per key, and as
 * many bytes as ki_content_object_bytes() says. Takes them. */
void ki_backlog_begin(ki_backlog *backlog, ki_object_list *objects, size_t bytes);

/* Puts entry->what, or the marker SYNCED (type 0), at the end. Takes the entry. */
void ki_backlog_push(ki_backlog *backlog, ki_backlog_entry *entry);

/* Takes the first out, with its references. Returns false when there is none. *out_place is where it was, for
 * the caller to ki_free() without a lock; NULL when it was in no entry. */
KI_NODISCARD bool ki_backlog_take(ki_backlog *backlog, ki_notification *out_what,
                                  ki_backlog_entry **out_place);

bool ki_backlog_is_past_limit(const ki_backlog *backlog);

#endif
