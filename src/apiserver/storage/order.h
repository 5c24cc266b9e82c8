/* SPDX-License-Identifier: Apache-2.0 */
/* order - the objects of one collection, sorted by key: "ns/name" byte by byte, as in etcd.
 *
 *   From:     apiserver/storage/storage.c (changes), apiserver/storage/page.c (iteration)
 *   To:       objects; it owns a reference to each
 *   Locks:    the storage's
 *   Not here: versions, history
 *
 * An array of blocks of up to 256 objects: two binary searches find a key, and an insertion moves at most the
 * objects of one block. A million objects are in some thousands of blocks,
 * so counting them block by block is fast.
 */
#ifndef KI_APISERVER_STORAGE_ORDER_H
#define KI_APISERVER_STORAGE_ORDER_H

#include <kinformer/common.h>
#include <stdbool.h>

#include "apiserver/object/object.h"

enum { KI_AS_BLOCK_OBJECTS = 256 };

struct ki_as_block {
    size_t count; /* never 0 */
    struct ki_as_object *objects[KI_AS_BLOCK_OBJECTS];
};

/* A zeroed struct is empty. */
struct ki_as_order {
    struct ki_as_block **blocks;
    size_t block_count;
    size_t block_capacity;
    size_t count;              /* of objects */
    struct ki_as_block *spare; /* reserved for the next split, which then cannot fail */
};

/* A position: before the object that it names, or at the end. Invalid after the next change. */
struct ki_as_place {
    size_t block;
    size_t index;
};

void ki_as_order_fini(struct ki_as_order *order);

/* Compares "ns/name" with the key of an object. Returns a negative number, 0 or a positive number.
 * The key is only the name if the namespace is empty. */
int ki_as_key_compare(ki_str ns, ki_str name, const struct ki_as_object *object);

/* The object with this key, borrowed; NULL if there is none. */
struct ki_as_object *ki_as_order_find(const struct ki_as_order *order, ki_str ns, ki_str name);

/* Reserves space, so that the next insertion cannot fail. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_order_reserve(struct ki_as_order *order);

/* Takes the reference. Returns the object with the same key that was replaced, with its reference,
 * or NULL. Space must be reserved. */
struct ki_as_object *ki_as_order_put(struct ki_as_order *order, struct ki_as_object *object);
/* Returns the removed object with its reference, or NULL. */
struct ki_as_object *ki_as_order_remove(struct ki_as_order *order, ki_str ns, ki_str name);

/* The position of the first key not less than "ns/name"; with is_behind, of the first greater key. */
struct ki_as_place ki_as_order_seek(const struct ki_as_order *order, ki_str ns, ki_str name, bool is_behind);
/* The position before the first object of a namespace, or after its last one. */
struct ki_as_place ki_as_order_seek_namespace(const struct ki_as_order *order, ki_str ns, bool is_behind);
struct ki_as_place ki_as_order_end(const struct ki_as_order *order);

/* The object at a position, borrowed, or NULL at the end; and the position after it. */
struct ki_as_object *ki_as_order_at(const struct ki_as_order *order, struct ki_as_place place);
struct ki_as_place ki_as_order_next(const struct ki_as_order *order, struct ki_as_place place);
/* The number of objects before a position. */
size_t ki_as_order_rank(const struct ki_as_order *order, struct ki_as_place place);

#endif
