/* SPDX-License-Identifier: Apache-2.0 */
#include "util/map.h"

#include <assert.h>
#include <kinformer/error.h>

#include "util/alloc.h"
#include "util/annotations.h"

enum { BUCKETS_MIN = 16 };

/* Invariant: the number of buckets is 0 or a power of two; each element is in the bucket of its hash, once;
 * `count` is the number of elements. An insert adds to the front of one bucket, a remove unlinks from the
 * bucket of the hash, and a resize moves each element by its hash, so all three keep the invariant. If
 * growing fails, chains only become longer. Only the first insert must get buckets. */
static KI_DEBUG_ONLY bool is_sound(const ki_map *map)
{
    return (map->bucket_count & (map->bucket_count - 1)) == 0 &&
           (map->buckets == NULL) == (map->bucket_count == 0) && (map->count == 0 || map->bucket_count > 0);
}

void ki_map_init(ki_map *map)
{
    *map = (ki_map){0};
}

void ki_map_fini(ki_map *map)
{
    assert(is_sound(map));
    ki_free(map->buckets);
    *map = (ki_map){0};
}

static ki_map_node **bucket_of(const ki_map *map, uint64_t hash)
{
    return &map->buckets[hash & (map->bucket_count - 1)];
}

static void push(const ki_map *map, ki_map_node *node)
{
    ki_map_node **bucket = bucket_of(map, node->hash);
    assert(*bucket != node);
    node->next = *bucket;
    *bucket = node;
}

/* Moves all elements to `bucket_count` buckets. Returns 0, or KI_ERR_NO_MEMORY with the map unchanged. */
static int resize(ki_map *map, size_t bucket_count)
{
    assert(bucket_count >= BUCKETS_MIN && (bucket_count & (bucket_count - 1)) == 0);
    ki_map bigger = {
        .bucket_count = bucket_count, .bucket_count_min = map->bucket_count_min, .count = map->count};
    bigger.buckets = ki_calloc(bucket_count, sizeof(ki_map_node *));
    if (bigger.buckets == NULL)
        return KI_ERR_NO_MEMORY;
    for (size_t i = 0; i < map->bucket_count; i++)
        for (ki_map_node *node = map->buckets[i], *next = NULL; node != NULL; node = next) {
            next = node->next;
            push(&bigger, node);
        }
    ki_free(map->buckets);
    *map = bigger;
    return 0;
}

ki_map_node *ki_map_find(const ki_map *map, uint64_t hash, ki_map_match_cb match, const void *key)
{
    assert(is_sound(map));
    if (map->bucket_count == 0)
        return NULL;
    ki_map_node *node = *bucket_of(map, hash);
    while (node != NULL && (node->hash != hash || !match(node, key)))
        node = node->next;
    return node;
}

void ki_map_reserve(ki_map *map, size_t count)
{
    assert(is_sound(map));
    size_t bucket_count = map->bucket_count == 0 ? BUCKETS_MIN : map->bucket_count;
    while (bucket_count < count && bucket_count <= SIZE_MAX / 4 / sizeof(ki_map_node *))
        bucket_count *= 2;
    if (bucket_count <= map->bucket_count || resize(map, bucket_count) == 0)
        map->bucket_count_min = bucket_count;
}

int ki_map_insert(ki_map *map, ki_map_node *node, uint64_t hash)
{
    assert(is_sound(map));
    if (map->count >= map->bucket_count) {
        int rc = resize(map, map->bucket_count == 0 ? BUCKETS_MIN : map->bucket_count * 2);
        if (rc < 0 && map->bucket_count == 0)
            return rc;
    }
    node->hash = hash;
    push(map, node);
    map->count++;
    return 0;
}

/* After shrinking, the table is at most a quarter full, so that the next insert does not grow it again. On
 * failure the table stays large. */
static void shrink(ki_map *map)
{
    if (map->bucket_count > BUCKETS_MIN && map->bucket_count > map->bucket_count_min &&
        map->count < map->bucket_count / 8)
        (void)!resize(map, map->bucket_count / 2);
}

void ki_map_remove(ki_map *map, ki_map_node *node)
{
    assert(is_sound(map));
    assert(map->count > 0);
    ki_map_node **at = bucket_of(map, node->hash);
    while (*at != node) {
        assert(*at != NULL);
        at = &(*at)->next;
    }
    *at = node->next;
    node->next = NULL;
    map->count--;
    shrink(map);
}
