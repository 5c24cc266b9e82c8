/* SPDX-License-Identifier: Apache-2.0 */
/* order - the objects of one collection, ordered by key: "ns/name" byte by byte, as etcd has them.
 *
 *   From:     storage (changes), page (walks)
 *   To:       objects, each of which it owns a reference to
 *   Locks:    the storage's
 *   Not here: versions, history
 *
 * Blocks of up to 256 objects, and an array of blocks: two binary searches find a key, an insertion moves at
 * most a block. A million objects are some thousands of blocks, which are quickly counted.
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

/* A zeroed one is empty. */
struct ki_as_order {
    struct ki_as_block **blocks;
    size_t block_count;
    size_t block_capacity;
    size_t count;              /* of objects */
    struct ki_as_block *spare; /* for the next split, which then cannot fail */
};

/* A place between objects: before the one it names, or at the end. Lost with the next change. */
struct ki_as_place {
    size_t block;
    size_t index;
};

void ki_as_order_fini(struct ki_as_order *order);

/* -1, 0, 1: how "ns/name" stands to that of another; an empty namespace has no '/'. */
int ki_as_key_compare(ki_str ns, ki_str name, const struct ki_as_object *object);

/* Borrowed, or NULL. */
struct ki_as_object *ki_as_order_find(const struct ki_as_order *order, ki_str ns, ki_str name);

/* Makes the next insertion certain. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_order_reserve(struct ki_as_order *order);

/* Takes over a reference and returns the object with the same key that it replaces, or NULL.
 * There must be room. */
struct ki_as_object *ki_as_order_put(struct ki_as_order *order, struct ki_as_object *object);
/* Returns the object with the reference, or NULL. */
struct ki_as_object *ki_as_order_remove(struct ki_as_order *order, ki_str ns, ki_str name);

/* Before the first key that is not less than "ns/name"; with is_behind, that is greater. */
struct ki_as_place ki_as_order_seek(const struct ki_as_order *order, ki_str ns, ki_str name, bool is_behind);
/* Before the first object of a namespace, or behind its last one. */
struct ki_as_place ki_as_order_seek_namespace(const struct ki_as_order *order, ki_str ns, bool is_behind);
struct ki_as_place ki_as_order_end(const struct ki_as_order *order);

/* The object at a place, or NULL at the end; and the place behind it. */
struct ki_as_object *ki_as_order_at(const struct ki_as_order *order, struct ki_as_place place);
struct ki_as_place ki_as_order_next(const struct ki_as_order *order, struct ki_as_place place);
/* How many objects are before a place. */
size_t ki_as_order_rank(const struct ki_as_order *order, struct ki_as_place place);

#endif
