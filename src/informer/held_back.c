/* SPDX-License-Identifier: Apache-2.0 */
#include "informer/held_back.h"

#include <assert.h>

#include "util/alloc.h"

void ki_held_back_init(ki_held_back *back)
{
    ki_list_init(&back->order);
    ki_map_init(&back->by_key);
}

static ki_held *held_of(ki_list_node *node)
{
    return KI_CONTAINER_OF(node, ki_held, node);
}

void ki_held_back_fini(ki_held_back *back)
{
    if (ki_held_back_count(back) > 0)
        ki_held_back_drop_before(back, UINT32_MAX);
    assert(back->by_key.count == 0);
    ki_map_fini(&back->by_key);
}

/* Whether this change of the same key replaces the held-back one. */
static bool is_over(const ki_delta *held, const ki_delta *delta)
{
    int order = 1; /* when versions cannot be compared, the later change wins */
    (void)ki_resource_version_compare(ki_object_resource_version(delta->object),
                                      ki_object_resource_version(held->object), &order);
    return order > 0 || (order == 0 && held->change_type != KI_CHANGE_DELETED);
}

static bool is_of_same(const ki_delta *held, const ki_delta *delta)
{
    return (delta->list == 0 || delta->list == held->list) &&
           ki_str_equal(ki_object_key_str(held->object), ki_object_key_str(delta->object));
}

static int is_of_same_and_over(const ki_map_node *node, const void *key)
{
    const ki_delta *held = &KI_CONTAINER_OF(node, ki_held, by_key)->delta;
    return is_of_same(held, key) && is_over(held, key);
}

static int is_of_same_and_newer(const ki_map_node *node, const void *key)
{
    const ki_delta *held = &KI_CONTAINER_OF(node, ki_held, by_key)->delta;
    return is_of_same(held, key) && !is_over(held, key);
}

bool ki_held_back_meet(ki_held_back *back, const ki_delta *delta, uint64_t hash)
{
    ki_map_node *node = NULL;
    if (delta->object == NULL) /* the version of the change is unknown */
        return false;
    while ((node = ki_map_find(&back->by_key, hash, is_of_same_and_over, delta)) != NULL)
        ki_held_back_drop(back, KI_CONTAINER_OF(node, ki_held, by_key));
    return delta->list != 0 && ki_map_find(&back->by_key, hash, is_of_same_and_newer, delta) != NULL;
}

typedef struct sight {
    ki_str key;
    uint32_t list;
} sight;

static int is_to_be_seen(const ki_map_node *node, const void *user)
{
    const ki_held *held = KI_CONTAINER_OF(node, ki_held, by_key);
    const sight *seen = user;
    return held->delta.list < seen->list && held->seen_list < seen->list &&
           ki_str_equal(ki_object_key_str(held->delta.object), seen->key);
}

void ki_held_back_see(ki_held_back *back, ki_str key, uint64_t hash, uint32_t list)
{
    assert(list > 0);
    const sight seen = {key, list};
    ki_map_node *node = NULL;
    while ((node = ki_map_find(&back->by_key, hash, is_to_be_seen, &seen)) != NULL)
        KI_CONTAINER_OF(node, ki_held, by_key)->seen_list = list;
}

int ki_held_back_add(ki_held_back *back, const ki_delta *delta, uint64_t hash)
{
    ki_held *held = ki_calloc(1, sizeof(*held));
    if (held == NULL)
        return KI_ERR_NO_MEMORY;
    if (ki_map_insert(&back->by_key, &held->by_key, hash) < 0) {
        ki_free(held);
        return KI_ERR_NO_MEMORY;
    }
    assert(delta->list != 0 && delta->object != NULL);
    held->delta = *delta;
    (void)ki_object_ref(delta->object);
    ki_list_push_back(&back->order, &held->node);
    return 0;
}

void ki_held_back_drop(ki_held_back *back, ki_held *held)
{
    assert(ki_list_node_is_linked(&held->node) && back->by_key.count > 0);
    ki_list_remove(&held->node);
    ki_map_remove(&back->by_key, &held->by_key);
    (void)ki_object_unref((ki_object *)held->delta.object);
    ki_free(held);
}

void ki_held_back_drop_before(ki_held_back *back, uint32_t list)
{
    ki_list_node *next = NULL;
    for (ki_list_node *node = ki_list_first(&back->order); node != NULL; node = next) {
        next = ki_list_next(&back->order, node);
        if (held_of(node)->delta.list < list)
            ki_held_back_drop(back, held_of(node));
    }
}

ki_held *ki_held_back_first(const ki_held_back *back, uint32_t list)
{
    ki_list_node *node = ki_list_first(&back->order);
    while (node != NULL && held_of(node)->delta.list != list)
        node = ki_list_next(&back->order, node);
    return node == NULL ? NULL : held_of(node);
}
