/* SPDX-License-Identifier: Apache-2.0 */
/* list_buffer - the items of a list, kept until its end for a destination that is replaced as a whole.
 *
 *   From:     feed/feed_apply.c (io)
 *   To:       ki_store_replace(), ki_delta_queue_replace()
 *   Locks:    none; io's.
 *   Not here: lists that flow through item by item (queue/delta_fifo.h).
 *
 * One entry for each key that the server uses, "namespace/name", whatever the destination's keys are. An item
 * that could not be used has an entry without an object: what is known of it takes its place in the end.
 */
#ifndef KI_FEED_LIST_BUFFER_H
#define KI_FEED_LIST_BUFFER_H

#include <kinformer/object.h>

#include "util/hash.h"
#include "util/list.h"
#include "util/map.h"

typedef struct ki_list_buffer {
    ki_hash_key secret;
    ki_map keys;
    ki_list entries;   /* in the order in which they came */
    size_t seen_count; /* entries without an object */
    uint32_t list;     /* the attempt that they are of */
} ki_list_buffer;

/* Returns 0 or KI_ERR_SYSTEM. */
KI_NODISCARD int ki_list_buffer_init(ki_list_buffer *buffer);

/* Takes a zeroed struct. */
void ki_list_buffer_fini(ki_list_buffer *buffer);

/* Forgets all. */
void ki_list_buffer_clear(ki_list_buffer *buffer);

/* From here on that attempt is buffered; what is of another is forgotten. */
void ki_list_buffer_begin(ki_list_buffer *buffer, uint32_t list);

/* An item; takes a reference. The last of a key counts. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_list_buffer_put(ki_list_buffer *buffer, const ki_object *object);

/* An item that could not be used: one of its key that could stays. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_list_buffer_put_seen(ki_list_buffer *buffer, ki_str key);

/* Gone before the end of the list. */
void ki_list_buffer_remove(ki_list_buffer *buffer, ki_str key);

/* A known object: stands for the item of its key that could not be used, if there is one. A ki_walk_cb, whose
 * `user` is the ki_list_buffer; returns 0. */
int ki_list_buffer_fill_in(const ki_object *object, void *user);

/* The objects, borrowed until the next change, in an array to ki_free(). NULL with a count of 0 when there
 * are none. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_list_buffer_objects(const ki_list_buffer *buffer, ki_object ***out_objects,
                                        size_t *out_count);

#endif
