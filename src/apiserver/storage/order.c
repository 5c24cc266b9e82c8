/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/storage/order.h"

#include <assert.h>
#include <kinformer/error.h>
#include <string.h>

#include "util/alloc.h"

enum { BLOCKS_MIN = 4 };

void ki_as_order_fini(struct ki_as_order *order)
{
    for (size_t i = 0; i < order->block_count; i++) {
        for (size_t j = 0; j < order->blocks[i]->count; j++)
            ki_as_object_unref(order->blocks[i]->objects[j]);
        ki_free(order->blocks[i]);
    }
    ki_free(order->blocks);
    ki_free(order->spare);
    *order = (struct ki_as_order){0};
}

/* Namespaces are compared as "ns/": '-' sorts before '/', so "a-b" comes before "a". */
static int compare_namespaces(ki_str a, ki_str b)
{
    size_t shared = a.len < b.len ? a.len : b.len;
    int order = shared == 0 ? 0 : memcmp(a.ptr, b.ptr, shared);
    if (order != 0 || a.len == b.len)
        return order;
    unsigned char next_a = a.len > shared ? (unsigned char)a.ptr[shared] : '/';
    unsigned char next_b = b.len > shared ? (unsigned char)b.ptr[shared] : '/';
    return next_a < next_b ? -1 : 1;
}

int ki_as_key_compare(ki_str ns, ki_str name, const struct ki_as_object *object)
{
    int order = compare_namespaces(ns, object->ns);
    return order != 0 ? order : ki_str_compare(name, object->name);
}

/* What to search for: a key, or a whole namespace. */
struct probe {
    ki_str ns;
    ki_str name;
    bool is_namespace;
    bool is_behind; /* search for the place after equal keys instead of before them */
};

static bool is_before(const struct ki_as_object *object, const struct probe *probe)
{
    int order = probe->is_namespace ? compare_namespaces(probe->ns, object->ns)
                                    : ki_as_key_compare(probe->ns, probe->name, object);
    return order > 0 || (order == 0 && probe->is_behind);
}

/* The place of the first object that is not before the probe. It is in the first block whose last object is
 * not before the probe. */
static struct ki_as_place seek(const struct ki_as_order *order, const struct probe *probe)
{
    size_t low = 0;
    size_t high = order->block_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct ki_as_block *block = order->blocks[middle];
        if (is_before(block->objects[block->count - 1], probe))
            low = middle + 1;
        else
            high = middle;
    }
    struct ki_as_place place = {low, 0};
    if (low == order->block_count)
        return place;
    const struct ki_as_block *block = order->blocks[low];
    high = block->count;
    low = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_before(block->objects[middle], probe))
            low = middle + 1;
        else
            high = middle;
    }
    assert(low < block->count);
    place.index = low;
    return place;
}

struct ki_as_place ki_as_order_seek(const struct ki_as_order *order, ki_str ns, ki_str name, bool is_behind)
{
    return seek(order, &(struct probe){.ns = ns, .name = name, .is_behind = is_behind});
}

struct ki_as_place ki_as_order_seek_namespace(const struct ki_as_order *order, ki_str ns, bool is_behind)
{
    return seek(order, &(struct probe){.ns = ns, .is_namespace = true, .is_behind = is_behind});
}

struct ki_as_place ki_as_order_end(const struct ki_as_order *order)
{
    return (struct ki_as_place){order->block_count, 0};
}

struct ki_as_object *ki_as_order_at(const struct ki_as_order *order, struct ki_as_place place)
{
    assert(place.block <= order->block_count);
    assert(place.block == order->block_count || place.index < order->blocks[place.block]->count);
    return place.block == order->block_count ? NULL : order->blocks[place.block]->objects[place.index];
}

struct ki_as_place ki_as_order_next(const struct ki_as_order *order, struct ki_as_place place)
{
    assert(place.block < order->block_count);
    if (place.index + 1 < order->blocks[place.block]->count)
        return (struct ki_as_place){place.block, place.index + 1};
    return (struct ki_as_place){place.block + 1, 0};
}

size_t ki_as_order_rank(const struct ki_as_order *order, struct ki_as_place place)
{
    assert(place.block <= order->block_count);
    size_t rank = place.index;
    for (size_t i = 0; i < place.block; i++)
        rank += order->blocks[i]->count;
    return rank;
}

struct ki_as_object *ki_as_order_find(const struct ki_as_order *order, ki_str ns, ki_str name)
{
    struct ki_as_object *object = ki_as_order_at(order, ki_as_order_seek(order, ns, name, false));
    return object != NULL && ki_as_key_compare(ns, name, object) == 0 ? object : NULL;
}

int ki_as_order_reserve(struct ki_as_order *order)
{
    if (order->block_count == order->block_capacity) {
        size_t capacity = order->block_capacity == 0 ? BLOCKS_MIN : order->block_capacity * 2;
        struct ki_as_block **blocks = ki_realloc(order->blocks, capacity * sizeof(struct ki_as_block *));
        if (blocks == NULL)
            return KI_ERR_NO_MEMORY;
        order->blocks = blocks;
        order->block_capacity = capacity;
    }
    if (order->spare == NULL)
        order->spare = ki_malloc(sizeof(struct ki_as_block));
    return order->spare == NULL ? KI_ERR_NO_MEMORY : 0;
}

/* Inserts an empty block at `at`. */
static struct ki_as_block *open_block(struct ki_as_order *order, size_t at)
{
    assert(at <= order->block_count);
    struct ki_as_block *block = order->spare;
    assert(block != NULL && order->block_count < order->block_capacity);
    order->spare = NULL;
    block->count = 0;
    memmove(order->blocks + at + 1, order->blocks + at,
            (order->block_count - at) * sizeof(struct ki_as_block *));
    order->blocks[at] = block;
    order->block_count++;
    return block;
}

/* Makes space in a full block by moving half of its objects to a new block. For an insertion at the end, it
 * moves none, so that names inserted in order fill their blocks. */
static struct ki_as_place split(struct ki_as_order *order, struct ki_as_place place)
{
    struct ki_as_block *full = order->blocks[place.block];
    assert(full->count == KI_AS_BLOCK_OBJECTS);
    struct ki_as_block *next = open_block(order, place.block + 1);
    size_t stays = place.index == full->count ? full->count : full->count / 2;
    next->count = full->count - stays;
    memcpy(next->objects, full->objects + stays, next->count * sizeof(struct ki_as_object *));
    full->count = stays;
    if (place.index >= stays && (place.index > stays || next->count == 0))
        return (struct ki_as_place){place.block + 1, place.index - stays};
    return place;
}

struct ki_as_object *ki_as_order_put(struct ki_as_order *order, struct ki_as_object *object)
{
    struct ki_as_place place = ki_as_order_seek(order, object->ns, object->name, false);
    struct ki_as_object *there = ki_as_order_at(order, place);
    if (there != NULL && ki_as_key_compare(object->ns, object->name, there) == 0) {
        order->blocks[place.block]->objects[place.index] = object;
        return there;
    }
    if (order->block_count == 0)
        (void)open_block(order, 0);
    else if (place.block == order->block_count)
        place = (struct ki_as_place){place.block - 1, order->blocks[place.block - 1]->count};
    if (order->blocks[place.block]->count == KI_AS_BLOCK_OBJECTS)
        place = split(order, place);
    struct ki_as_block *block = order->blocks[place.block];
    assert(block->count < KI_AS_BLOCK_OBJECTS && place.index <= block->count);
    memmove(block->objects + place.index + 1, block->objects + place.index,
            (block->count - place.index) * sizeof(struct ki_as_object *));
    block->objects[place.index] = object;
    block->count++;
    order->count++;
    return NULL;
}

static void close_block(struct ki_as_order *order, size_t at)
{
    assert(at < order->block_count);
    ki_free(order->blocks[at]);
    order->block_count--;
    memmove(order->blocks + at, order->blocks + at + 1,
            (order->block_count - at) * sizeof(struct ki_as_block *));
}

/* Joins two adjacent blocks that together fill at most half a block,
 * so that few blocks are left after many deletions. */
static void join(struct ki_as_order *order, size_t at)
{
    if (at + 1 >= order->block_count)
        return;
    struct ki_as_block *block = order->blocks[at];
    struct ki_as_block *next = order->blocks[at + 1];
    if (block->count + next->count > KI_AS_BLOCK_OBJECTS / 2)
        return;
    memcpy(block->objects + block->count, next->objects, next->count * sizeof(struct ki_as_object *));
    block->count += next->count;
    close_block(order, at + 1);
}

struct ki_as_object *ki_as_order_remove(struct ki_as_order *order, ki_str ns, ki_str name)
{
    struct ki_as_place place = ki_as_order_seek(order, ns, name, false);
    struct ki_as_object *object = ki_as_order_at(order, place);
    if (object == NULL || ki_as_key_compare(ns, name, object) != 0)
        return NULL;
    struct ki_as_block *block = order->blocks[place.block];
    block->count--;
    memmove(block->objects + place.index, block->objects + place.index + 1,
            (block->count - place.index) * sizeof(struct ki_as_object *));
    assert(order->count > 0);
    order->count--;
    if (block->count == 0)
        close_block(order, place.block);
    else
        join(order, place.block);
    return object;
}
