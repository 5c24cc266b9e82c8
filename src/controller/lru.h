/* SPDX-License-Identifier: Apache-2.0 */
/* lru - a limited number of items, found by key; the least recently used item makes space for a new one.
 *
 *   From:     controller/correlator.c, controller/series.c
 *   Locks:    none; one owner.
 *   Not here: what an item holds. Keys are 128-bit hashes, so texts need not be kept.
 */
#ifndef KI_CONTROLLER_LRU_H
#define KI_CONTROLLER_LRU_H

#include "util/list.h"
#include "util/map.h"

typedef struct ki_lru_key {
    uint64_t a;
    uint64_t b;
} ki_lru_key;

/* The first member of an item. */
typedef struct ki_lru_node {
    ki_map_node by_key;
    ki_list_node by_use;
    ki_lru_key key;
} ki_lru_node;

/* Called before an item is freed or reused. */
typedef void (*ki_lru_drop_cb)(ki_lru_node *item);

typedef struct ki_lru {
    ki_map map;
    ki_list order; /* the least recently used first */
    size_t item_bytes;
    size_t items_max;
    ki_lru_drop_cb drop;
} ki_lru;

/* `item_bytes` is the size of an item, ki_lru_node included; `items_max` > 0; `drop` may be NULL. Allocates
 * nothing. */
void ki_lru_init(ki_lru *lru, size_t item_bytes, size_t items_max, ki_lru_drop_cb drop);

/* A zeroed struct is allowed. */
void ki_lru_fini(ki_lru *lru);

/* Returns the item, which becomes the most recently used one, or NULL. */
ki_lru_node *ki_lru_find(ki_lru *lru, ki_lru_key key);

/* Adds a zeroed item with a key that is not there yet. When there are items_max items, or when out of memory,
 * the oldest item is dropped and its memory is reused. Returns NULL when there is no item to reuse, or when
 * there is no memory for the map. */
KI_NODISCARD ki_lru_node *ki_lru_add(ki_lru *lru, ki_lru_key key);

/* Returns NULL when there is no item. */
ki_lru_node *ki_lru_oldest(const ki_lru *lru);

/* Drops and frees an item. */
void ki_lru_remove(ki_lru *lru, ki_lru_node *item);

#endif
