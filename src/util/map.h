/* SPDX-License-Identifier: Apache-2.0 */
/* map - an intrusive hash table: things that carry a node, found by a keyed hash.
 *
 *   From:     queue/delta_fifo.c, handler/listener.c: things with text keys that come and go
 *   Locks:    none; whoever owns the map.
 *   Not here: hashing (util/hash.h); memory of the things; readers without a lock (store/table.h).
 */
#ifndef KI_UTIL_MAP_H
#define KI_UTIL_MAP_H

#include <kinformer/common.h>

typedef struct ki_map_node {
    struct ki_map_node *next;
    uint64_t hash;
} ki_map_node;

/* Read `count` freely; change it through the functions. */
typedef struct ki_map {
    ki_map_node **buckets;
    size_t bucket_count;     /* a power of two, or 0 before the first insert */
    size_t bucket_count_min; /* the room that was made */
    size_t count;
} ki_map;

/* Whether the thing that holds `node` has this key. */
typedef int (*ki_map_match_cb)(const ki_map_node *node, const void *key);

void ki_map_init(ki_map *map);

/* Frees the buckets; the things are the owner's. Takes a zeroed struct as well. */
void ki_map_fini(ki_map *map);

/* The thing with this key, or NULL. */
ki_map_node *ki_map_find(const ki_map *map, uint64_t hash, ki_map_match_cb match, const void *key);

/* Adds a thing whose key is not in the map. Returns 0, or KI_ERR_NO_MEMORY with the map unchanged; only the
 * first insert can fail: a table that cannot grow becomes slower instead. */
KI_NODISCARD int ki_map_insert(ki_map *map, ki_map_node *node, uint64_t hash);

/* Makes room for so many things in all, so that inserting them moves nothing; the room stays until the end.
 * Without memory for that they are inserted all the same. */
void ki_map_reserve(ki_map *map, size_t count);

/* Removes a thing that is in the map. Gives memory back when few are left of many, but for the room that was
 * made. */
void ki_map_remove(ki_map *map, ki_map_node *node);

#endif
