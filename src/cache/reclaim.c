/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/reclaim.h"

#include <assert.h>
#include <string.h>

#include "cache/rcu.h"
#include "util/alloc.h"
#include "util/large.h"

#ifdef KI_RCU_TELL_SANITIZER
char ki_rcu_sections;
#endif

void ki_reclaim_init(ki_reclaim *reclaim, size_t bytes_max)
{
    *reclaim = (ki_reclaim){.bytes_max = bytes_max, .object_capacity = KI_RECLAIM_FEW};
    reclaim->objects = reclaim->few;
}

void ki_reclaim_init_private(ki_reclaim *reclaim)
{
    ki_reclaim_init(reclaim, 0);
    reclaim->is_private = true;
}

static void free_array(ki_reclaim *reclaim)
{
    if (reclaim->objects != reclaim->few)
        ki_free(reclaim->objects);
    reclaim->objects = reclaim->few;
    reclaim->object_capacity = KI_RECLAIM_FEW;
}

static void free_chain(ki_retired **chain, void (*free_block)(void *block))
{
    while (*chain != NULL) {
        ki_retired *block = *chain;
        *chain = block->next;
        free_block(block);
    }
}

static void release_all(ki_reclaim *reclaim)
{
    for (size_t i = 0; i < reclaim->object_count; i++)
        (void)ki_object_unref(reclaim->objects[i]);
    free_chain(&reclaim->blocks, ki_free);
    free_chain(&reclaim->large, ki_large_free);
    reclaim->object_count = 0;
    reclaim->block_count = 0;
    reclaim->bytes = 0;
    /* Only a batch that was larger than usual has made it that long. */
    if (reclaim->object_capacity > 2 * KI_RECLAIM_THINGS_MAX)
        free_array(reclaim);
}

bool ki_reclaim_is_empty(const ki_reclaim *reclaim)
{
    return reclaim->object_count + reclaim->block_count == 0;
}

void ki_reclaim_flush(ki_reclaim *reclaim)
{
    if (ki_reclaim_is_empty(reclaim))
        return;
    assert(!ki_rcu_is_reading());
    ki_rcu_synchronize();
    reclaim->grace_periods++;
    release_all(reclaim);
}

void ki_reclaim_fini(ki_reclaim *reclaim)
{
    ki_reclaim_flush(reclaim);
    free_array(reclaim);
}

/* Returns false when memory is out. */
static bool grow(ki_reclaim *reclaim)
{
    size_t capacity = reclaim->object_capacity * 2;
    ki_object **objects = ki_malloc(capacity * sizeof(ki_object *));
    if (objects == NULL)
        return false;
    memcpy(objects, reclaim->objects, reclaim->object_count * sizeof(ki_object *));
    if (reclaim->objects != reclaim->few)
        ki_free(reclaim->objects);
    reclaim->objects = objects;
    reclaim->object_capacity = capacity;
    return true;
}

void ki_reclaim_object(ki_reclaim *reclaim, ki_object *object)
{
    if (reclaim->is_private) {
        (void)ki_object_unref(object);
        return;
    }
    /* Also in the middle of a batch: what waits is out of reach already. */
    if (reclaim->object_count == reclaim->object_capacity && !grow(reclaim))
        ki_reclaim_flush(reclaim);
    reclaim->objects[reclaim->object_count++] = object;
    reclaim->bytes += ki_object_bytes(object);
}

static void add_block(ki_reclaim *reclaim, ki_retired **chain, ki_retired *block, size_t bytes)
{
    block->next = *chain;
    *chain = block;
    reclaim->block_count++;
    reclaim->bytes += bytes;
}

void ki_reclaim_block(ki_reclaim *reclaim, ki_retired *block, size_t bytes)
{
    if (reclaim->is_private)
        ki_free(block);
    else
        add_block(reclaim, &reclaim->blocks, block, bytes);
}

void ki_reclaim_large(ki_reclaim *reclaim, ki_retired *block, size_t bytes)
{
    if (reclaim->is_private)
        ki_large_free(block);
    else
        add_block(reclaim, &reclaim->large, block, bytes);
}

void ki_reclaim_settle(ki_reclaim *reclaim)
{
    if (reclaim->object_count + reclaim->block_count >= KI_RECLAIM_THINGS_MAX ||
        reclaim->bytes >= reclaim->bytes_max)
        ki_reclaim_flush(reclaim);
}
