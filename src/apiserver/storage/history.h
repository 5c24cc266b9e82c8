/* SPDX-License-Identifier: Apache-2.0 */
/* history - the latest changes of one collection; the oldest are dropped first.
 *
 *   From:     apiserver/storage/storage.c (adds), apiserver/storage/watch.c (reads forwards),
 *             apiserver/storage/page.c (reads backwards: pages of older versions)
 *   To:       apiserver/object/object.h (references to the objects before and after each change)
 *   Locks:    the storage's
 *   Not here: the current objects
 */
#ifndef KI_APISERVER_STORAGE_HISTORY_H
#define KI_APISERVER_STORAGE_HISTORY_H

#include <kinformer/common.h>
#include <stdbool.h>

#include "apiserver/object/object.h"

struct ki_as_change {
    uint64_t version;
    struct ki_as_object *before; /* a reference; NULL if the change created the object */
    struct ki_as_object *after;  /* a reference; for a removal, the object that the event shows */
    bool is_removal;
};

/* Changes are numbered from 0. Those from `first` on are available; `next` is the number of the next
 * change. */
struct ki_as_history {
    struct ki_as_change *ring;
    size_t capacity; /* a power of two, or 0 */
    size_t changes_max;
    size_t bytes_max; /* of objects; the latest change is kept even beyond this limit */
    size_t bytes;
    uint64_t first;
    uint64_t next;
    uint64_t forgotten; /* the version of the latest change that was dropped */
};

/* Sets no limit in bytes; to set one, assign bytes_max. `forgotten` is the version up to which there is no
 * history. */
void ki_as_history_init(struct ki_as_history *history, size_t changes_max, uint64_t forgotten);
void ki_as_history_fini(struct ki_as_history *history);

/* Reserves space, so that the next addition cannot fail. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_history_reserve(struct ki_as_history *history);

/* Takes the references. Space must be reserved. */
void ki_as_history_add(struct ki_as_history *history, const struct ki_as_change *change);

/* `number` must be in [first, next). */
const struct ki_as_change *ki_as_history_at(const struct ki_as_history *history, uint64_t number);

/* The number of the first change after `version`; `next` if there is none. */
uint64_t ki_as_history_after(const struct ki_as_history *history, uint64_t version);

/* Drops all changes. `version` is the current version. */
void ki_as_history_forget(struct ki_as_history *history, uint64_t version);

#endif
