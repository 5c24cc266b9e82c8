/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/lru.h"

#include <assert.h>
#include <string.h>

#include "util/alloc.h"

void ki_lru_init(ki_lru *lru, size_t item_bytes, size_t items_max, ki_lru_drop_cb drop)
{
    assert(item_bytes >= sizeof(ki_lru_node) && items_max > 0);
    *lru = (ki_lru){.item_bytes = item_bytes, .items_max = items_max, .drop = drop};
    ki_map_init(&lru->map);
    ki_list_init(&lru->order);
}

static int has_key(const ki_map_node *node, const void *key)
{
    const ki_lru_node *item = KI_CONTAINER_OF(node, ki_lru_node, by_key);
    return memcmp(&item->key, key, sizeof(item->key)) == 0;
}

ki_lru_node *ki_lru_find(ki_lru *lru, ki_lru_key key)
{
    ki_map_node *node = ki_map_find(&lru->map, key.a, has_key, &key);
    if (node == NULL)
        return NULL;
    ki_lru_node *item = KI_CONTAINER_OF(node, ki_lru_node, by_key);
    ki_list_remove(&item->by_use);
    ki_list_push_back(&lru->order, &item->by_use);
    return item;
}

ki_lru_node *ki_lru_oldest(const ki_lru *lru)
{
    ki_list_node *node = ki_list_first(&lru->order);
    return node == NULL ? NULL : KI_CONTAINER_OF(node, ki_lru_node, by_use);
}

static void take_out(ki_lru *lru, ki_lru_node *item)
{
    assert(lru->map.count > 0);
    if (lru->drop != NULL)
        lru->drop(item);
    ki_map_remove(&lru->map, &item->by_key);
    ki_list_remove(&item->by_use);
}

ki_lru_node *ki_lru_add(ki_lru *lru, ki_lru_key key)
{
    assert(lru->map.count <= lru->items_max);
    assert(ki_map_find(&lru->map, key.a, has_key, &key) == NULL);
    ki_lru_node *item = lru->map.count < lru->items_max ? ki_malloc(lru->item_bytes) : NULL;
    if (item == NULL) {
        item = ki_lru_oldest(lru);
        if (item == NULL)
            return NULL;
        take_out(lru, item);
    }
    memset(item, 0, lru->item_bytes);
    item->key = key;
    if (ki_map_insert(&lru->map, &item->by_key, key.a) < 0) {
        ki_free(item);
        return NULL;
    }
    ki_list_push_back(&lru->order, &item->by_use);
    return item;
}

void ki_lru_remove(ki_lru *lru, ki_lru_node *item)
{
    take_out(lru, item);
    ki_free(item);
}

void ki_lru_fini(ki_lru *lru)
{
    ki_lru_node *item;
    while (lru->items_max > 0 && (item = ki_lru_oldest(lru)) != NULL)
        ki_lru_remove(lru, item);
    ki_map_fini(&lru->map);
}
