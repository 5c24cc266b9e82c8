/* SPDX-License-Identifier: Apache-2.0 */
/* map - an intrusive hash table: elements that embed a node, found by a keyed hash.
 *
 *   From:     all code that finds elements by a text key: queue/delta_fifo.c, handler/backlog.c and
 *             others
 *   Locks:    none; the owner's.
 *   Not here: hashing (util/hash.h); the elements' memory; readers without a lock (store/table.h).
 */
#ifndef KI_UTIL_MAP_H
#define KI_UTIL_MAP_H

#include <kinformer/common.h>

typedef struct ki_map_node {
    struct ki_map_node *next;
    uint64_t hash;
} ki_map_node;

/* `count` may be read directly; the functions change it. */
typedef struct ki_map {
    ki_map_node **buckets;
    size_t bucket_count;     /* a power of two, or 0 before the first insert */
    size_t bucket_count_min; /* from ki_map_reserve() */
    size_t count;
} ki_map;

/* Whether the element that holds `node` has this key. */
typedef int (*ki_map_match_cb)(const ki_map_node *node, const void *key);

void ki_map_init(ki_map *map);

/* Frees the buckets; the elements belong to the owner. A zeroed struct is allowed. */
void ki_map_fini(ki_map *map);

/* The element with this key, or NULL. */
ki_map_node *ki_map_find(const ki_map *map, uint64_t hash, ki_map_match_cb match, const void *key);

/* Adds an element whose key is not in the map. Returns 0, or KI_ERR_NO_MEMORY with the map unchanged. Only
 * the first insert can fail: a table that cannot grow becomes slower instead. */
KI_NODISCARD int ki_map_insert(ki_map *map, ki_map_node *node, uint64_t hash);

/* Reserves space for this many elements in total, so that the table does not grow while they are inserted.
 * The space is kept. When out of memory, inserting still works. */
void ki_map_reserve(ki_map *map, size_t count);

/* Removes an element that is in the map. Shrinks the table when it is mostly empty, but not below the
 * reserved size. */
void ki_map_remove(ki_map *map, ki_map_node *node);

#endif
