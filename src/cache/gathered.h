/* SPDX-License-Identifier: Apache-2.0 */
/* gathered - the items of a list, kept until its end for a destination that is replaced as a whole.
 *
 *   From:     cache/feed_take.c (io)
 *   To:       ki_store_replace(), ki_delta_queue_replace()
 *   Locks:    none; io's.
 *   Not here: lists that flow through item by item (cache/delta_fifo.h).
 *
 * One entry for each key that the server uses, "namespace/name", whatever the destination's keys are. An item
 * that could not be used has an entry without an object: what is known of it takes its place in the end.
 */
#ifndef KI_CACHE_GATHERED_H
#define KI_CACHE_GATHERED_H

#include <kinformer/object.h>

#include "util/hash.h"
#include "util/list.h"
#include "util/map.h"

typedef struct ki_gathered {
    ki_hash_key secret;
    ki_map keys;
    ki_list entries;   /* in the order in which they came */
    size_t seen_count; /* entries without an object */
    uint32_t list;     /* the attempt that they are of */
} ki_gathered;

/* Returns 0 or KI_ERR_SYSTEM. */
KI_NODISCARD int ki_gathered_init(ki_gathered *gathered);

/* Takes a zeroed struct. */
void ki_gathered_fini(ki_gathered *gathered);

/* Forgets all. */
void ki_gathered_clear(ki_gathered *gathered);

/* From here on that attempt is gathered: what is of another is forgotten. */
void ki_gathered_begin(ki_gathered *gathered, uint32_t list);

/* An item; takes a reference. The last of a key counts. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_gathered_put(ki_gathered *gathered, const ki_object *object);

/* An item that could not be used: one of its key that could stays. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_gathered_put_seen(ki_gathered *gathered, ki_str key);

/* Gone before the end of the list. */
void ki_gathered_remove(ki_gathered *gathered, ki_str key);

/* A known object: stands for the item of its key that could not be used, if there is one. A ki_walk_cb, whose
 * `user` is the ki_gathered; returns 0. */
int ki_gathered_fill_in(const ki_object *object, void *user);

/* The objects, borrowed until the next change, in an array to ki_free(). NULL with a count of 0 when there
 * are none. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_gathered_objects(const ki_gathered *gathered, ki_object ***out_objects,
                                     size_t *out_count);

#endif
