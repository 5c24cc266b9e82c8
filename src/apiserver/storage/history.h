/* SPDX-License-Identifier: Apache-2.0 */
/* history - the latest changes of one collection, the oldest of which are forgotten first.
 *
 *   From:     storage
 *   To:       watches (forwards), pages of older versions (undone backwards)
 *   Locks:    the storage's
 *   Not here: what is there now
 */
#ifndef KI_APISERVER_STORAGE_HISTORY_H
#define KI_APISERVER_STORAGE_HISTORY_H

#include <kinformer/common.h>
#include <stdbool.h>

#include "apiserver/object/object.h"

struct ki_as_change {
    uint64_t version;
    struct ki_as_object *before; /* counted; NULL: there was none */
    struct ki_as_object *after;  /* counted; of a removal the object as the event shows it */
    bool is_removal;
};

/* Changes have numbers, 0 for the first ever; those from `first` on are still there,
 * `next` is the coming one's. */
struct ki_as_history {
    struct ki_as_change *ring;
    size_t capacity; /* a power of two, or 0 */
    size_t changes_max;
    size_t bytes_max; /* of objects; the latest change is always there */
    size_t bytes;
    uint64_t first;
    uint64_t next;
    uint64_t forgotten; /* the version of the latest change that is not there any more */
};

/* Without a limit of bytes: set bytes_max for one. */
void ki_as_history_init(struct ki_as_history *history, size_t changes_max, uint64_t forgotten);
void ki_as_history_fini(struct ki_as_history *history);

/* Makes the next addition certain. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_history_reserve(struct ki_as_history *history);

/* Takes over the references. There must be room. */
void ki_as_history_add(struct ki_as_history *history, const struct ki_as_change *change);

/* Of a number in [first, next). */
const struct ki_as_change *ki_as_history_at(const struct ki_as_history *history, uint64_t number);

/* The number of the first change after `version`; `next` when there is none. */
uint64_t ki_as_history_after(const struct ki_as_history *history, uint64_t version);

/* All that happened up to `version`, which is now. */
void ki_as_history_forget(struct ki_as_history *history, uint64_t version);

#endif
