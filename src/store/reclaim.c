/* SPDX-License-Identifier: Apache-2.0 */
#include "store/reclaim.h"

#include <assert.h>
#include <kinformer/error.h>
#include <string.h>

#include "util/alloc.h"
#include "util/annotations.h"
#include "util/huge_pages.h"
#include "util/loop/rcu.h"

/* How many times ki_reclaim_has_space() checks for readers before it gives up.
 * Most sections end as soon as their thread has run. */
enum { LOOKS = 16 };

/* Invariant: objects[0 .. waiting_objects) and the chains `waiting` were unreachable before the grace period
 * `grace` began, and nothing was added to them since; everything after them and in `fresh` was handed over
 * later. So waiting memory may be freed when that period has passed, and fresh memory may not. A hand-over
 * only appends to the fresh part; begin() makes all of it wait and begins a new period; release_waiting()
 * frees the waiting part, which is empty then. Bytes are added with a hand-over and subtracted when they are
 * freed. */
static KI_DEBUG_ONLY bool is_sound(const ki_reclaim *reclaim)
{
    return reclaim->object_count <= reclaim->object_capacity &&
           reclaim->waiting_objects <= reclaim->object_count && reclaim->waiting_bytes <= reclaim->bytes &&
           (reclaim->grace != 0 ||
            (reclaim->waiting_objects == 0 && reclaim->waiting.count == 0 && reclaim->waiting_bytes == 0)) &&
           (!reclaim->is_private || (reclaim->object_count == 0 && reclaim->fresh.count == 0));
}

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

bool ki_reclaim_is_empty(const ki_reclaim *reclaim)
{
    assert(is_sound(reclaim));
    return reclaim->object_count + reclaim->fresh.count + reclaim->waiting.count == 0;
}

/* ---- freeing ----------------------------------------------------------------------------------------- */

static void free_chain(ki_retired *chain, void (*free_block)(void *block))
{
    while (chain != NULL) {
        ki_retired *block = chain;
        chain = block->next;
        free_block(block);
    }
}

static void free_chains(ki_reclaim *reclaim, ki_retired_chains *chains)
{
    free_chain(chains->blocks, ki_free);
    free_chain(chains->large, ki_huge_pages_free);
    free_chain(chains->whole, reclaim->free_whole);
    *chains = (ki_retired_chains){0};
}

static void release_waiting(ki_reclaim *reclaim)
{
    assert(reclaim->waiting_objects <= reclaim->object_count && reclaim->waiting_bytes <= reclaim->bytes);
    size_t left = reclaim->object_count - reclaim->waiting_objects;
    for (size_t i = 0; i < reclaim->waiting_objects; i++)
        (void)ki_object_unref(reclaim->objects[i]);
    memmove(reclaim->objects, reclaim->objects + reclaim->waiting_objects, left * sizeof(ki_object *));
    free_chains(reclaim, &reclaim->waiting);
    reclaim->object_count = left;
    reclaim->bytes -= reclaim->waiting_bytes;
    reclaim->waiting_objects = reclaim->waiting_bytes = 0;
    reclaim->grace = 0;
    /* Only an unusually large batch, or readers that stayed long, have made the array that large. */
    if (left == 0 && reclaim->object_capacity > 2 * KI_RECLAIM_THINGS_MAX)
        free_array(reclaim);
}

/* ---- grace periods ----------------------------------------------------------------------------------- */

/* Begins a grace period for everything handed over so far. There must be no current one. */
static void begin(ki_reclaim *reclaim)
{
    assert(reclaim->grace == 0 && reclaim->waiting.count == 0);
    reclaim->waiting_objects = reclaim->object_count;
    reclaim->waiting_bytes = reclaim->bytes;
    reclaim->waiting = reclaim->fresh;
    reclaim->fresh = (ki_retired_chains){0};
    reclaim->grace = ki_rcu_begin_grace();
    reclaim->grace_periods++;
}

/* Ends the current grace period if it has passed. Returns whether there is none now. */
static bool try_end(ki_reclaim *reclaim)
{
    if (reclaim->grace != 0 && ki_rcu_has_passed(reclaim->grace))
        release_waiting(reclaim);
    return reclaim->grace == 0;
}

void ki_reclaim_settle(ki_reclaim *reclaim)
{
    assert(is_sound(reclaim));
    size_t things = reclaim->object_count + reclaim->fresh.count;
    bool is_enough = things >= KI_RECLAIM_THINGS_MAX || reclaim->bytes >= reclaim->bytes_max / 2;
    if (try_end(reclaim) && is_enough && !ki_reclaim_is_empty(reclaim)) {
        begin(reclaim);
        (void)try_end(reclaim);
    }
}

/* Tries twice, because memory that was handed over during a grace period needs another one. */
bool ki_reclaim_poll(ki_reclaim *reclaim)
{
    assert(is_sound(reclaim));
    for (int i = 0; i < 2 && try_end(reclaim) && !ki_reclaim_is_empty(reclaim); i++)
        begin(reclaim);
    return try_end(reclaim) && ki_reclaim_is_empty(reclaim);
}

bool ki_reclaim_has_space(ki_reclaim *reclaim)
{
    assert(is_sound(reclaim));
    for (unsigned i = 0; i < LOOKS; i++) {
        if (reclaim->bytes < reclaim->bytes_max && ki_reclaim_reserve(reclaim) == 0)
            return true;
        if (i > 0)
            ki_rcu_rest(i);
        (void)ki_reclaim_poll(reclaim);
    }
    return false;
}

void ki_reclaim_flush(ki_reclaim *reclaim)
{
    if (ki_reclaim_is_empty(reclaim))
        return;
    assert(!ki_rcu_is_reading());
    if (reclaim->grace != 0)
        ki_rcu_wait(reclaim->grace);
    if (try_end(reclaim) && !ki_reclaim_is_empty(reclaim)) {
        begin(reclaim);
        ki_rcu_wait(reclaim->grace);
        (void)try_end(reclaim);
    }
}

void ki_reclaim_fini(ki_reclaim *reclaim)
{
    ki_reclaim_flush(reclaim);
    free_array(reclaim);
}

void ki_reclaim_fini_unread(ki_reclaim *reclaim)
{
    assert(is_sound(reclaim));
    free_chains(reclaim, &reclaim->fresh);
    reclaim->waiting_objects = reclaim->object_count;
    release_waiting(reclaim);
    free_array(reclaim);
}

/* ---- handing over ------------------------------------------------------------------------------------ */

static int grow(ki_reclaim *reclaim)
{
    size_t capacity = reclaim->object_capacity * 2;
    ki_object **objects = ki_malloc(capacity * sizeof(ki_object *));
    if (objects == NULL)
        return KI_ERR_NO_MEMORY;
    memcpy(objects, reclaim->objects, reclaim->object_count * sizeof(ki_object *));
    if (reclaim->objects != reclaim->few)
        ki_free(reclaim->objects);
    reclaim->objects = objects;
    reclaim->object_capacity = capacity;
    return 0;
}

int ki_reclaim_reserve(ki_reclaim *reclaim)
{
    assert(is_sound(reclaim));
    return reclaim->object_count < reclaim->object_capacity ? 0 : grow(reclaim);
}

void ki_reclaim_object(ki_reclaim *reclaim, ki_object *object)
{
    assert(is_sound(reclaim));
    if (reclaim->is_private) {
        (void)ki_object_unref(object);
        return;
    }
    if (ki_reclaim_reserve(reclaim) < 0) /* handed-over memory is unreachable, even within a change */
        ki_reclaim_flush(reclaim);
    assert(reclaim->object_count < reclaim->object_capacity);
    reclaim->objects[reclaim->object_count++] = object;
    reclaim->bytes += ki_object_bytes(object);
}

static void add(ki_reclaim *reclaim, ki_retired **chain, ki_retired *block, size_t bytes)
{
    block->next = *chain;
    *chain = block;
    reclaim->fresh.count++;
    reclaim->bytes += bytes;
}

void ki_reclaim_block(ki_reclaim *reclaim, ki_retired *block, size_t bytes)
{
    assert(is_sound(reclaim));
    if (reclaim->is_private)
        ki_free(block);
    else
        add(reclaim, &reclaim->fresh.blocks, block, bytes);
}

void ki_reclaim_large(ki_reclaim *reclaim, ki_retired *block, size_t bytes)
{
    assert(is_sound(reclaim));
    if (reclaim->is_private)
        ki_huge_pages_free(block);
    else
        add(reclaim, &reclaim->fresh.large, block, bytes);
}

void ki_reclaim_whole(ki_reclaim *reclaim, ki_retired *whole, size_t bytes, void (*free_whole)(void *block))
{
    assert(!reclaim->is_private);
    assert(reclaim->free_whole == NULL || reclaim->free_whole == free_whole);
    reclaim->free_whole = free_whole;
    add(reclaim, &reclaim->fresh.whole, whole, bytes);
}
