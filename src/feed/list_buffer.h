/* SPDX-License-Identifier: Apache-2.0 */
/* list_buffer - the items of a list, kept until its end for a destination that is replaced as a whole.
 *
 *   From:     feed/feed_apply.c (io); also feed/feed.c, feed/feed_run.c
 *   To:       ki_store_replace(), ki_delta_queue_replace()
 *   Locks:    none; io's.
 *   Not here: lists that are applied item by item (queue/delta_fifo.h).
 *
 * There is one entry for each key of the server, "namespace/name", whatever the destination's keys are. An
 * invalid item has an entry without an object. At the end of the list, the object that the destination has
 * for this key takes its place.
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
    ki_list entries;   /* in the order of arrival */
    size_t seen_count; /* number of entries without an object */
    uint32_t list;     /* the attempt that the entries belong to */
} ki_list_buffer;

/* Returns 0 or KI_ERR_SYSTEM. */
KI_NODISCARD int ki_list_buffer_init(ki_list_buffer *buffer);

/* A zeroed struct is allowed. */
void ki_list_buffer_fini(ki_list_buffer *buffer);

/* Drops everything. */
void ki_list_buffer_clear(ki_list_buffer *buffer);

/* Buffers this attempt from now on. Drops the entries of another attempt. */
void ki_list_buffer_begin(ki_list_buffer *buffer, uint32_t list);

/* Adds an item and a reference to it. Replaces an earlier item with the same key.
 * Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_list_buffer_put(ki_list_buffer *buffer, const ki_object *object);

/* Adds an invalid item, unless there is an item with this key. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_list_buffer_put_seen(ki_list_buffer *buffer, ki_str key);

/* Removes an object that was deleted before the end of the list. */
void ki_list_buffer_remove(ki_list_buffer *buffer, ki_str key);

/* Uses a known object of the destination in place of the invalid item with its key, if there is one. This is
 * a ki_walk_cb, whose `user` is the ki_list_buffer; returns 0. */
int ki_list_buffer_fill_in(const ki_object *object, void *user);

/* Sets *out_objects to an array of the objects, or NULL if there are none. The caller calls ki_free() for the
 * array; the objects are borrowed until the next change. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_list_buffer_objects(const ki_list_buffer *buffer, ki_object ***out_objects,
                                        size_t *out_count);

#endif
