/* SPDX-License-Identifier: Apache-2.0 */
#include "workqueue/keys.h"

#include <assert.h>

#include "util/alloc.h"
#include "util/huge_pages.h"

enum { SLOTS_MIN = 16 };

/* With more slots, the bits of the hash would not reach all of them. */
#define SLOTS_MAX ((uint64_t)1 << 32)

static size_t bytes_of(size_t slot_count)
{
    return slot_count * sizeof(ki_work_slot);
}

static ki_work_slot *slots_new(size_t slot_count)
{
    return bytes_of(slot_count) >= KI_HUGE_PAGES_BYTES ? ki_huge_pages_new(bytes_of(slot_count))
                                                       : ki_calloc(1, bytes_of(slot_count));
}

static void slots_free(ki_work_slot *slots, size_t slot_count)
{
    if (bytes_of(slot_count) >= KI_HUGE_PAGES_BYTES)
        ki_huge_pages_free(slots);
    else
        ki_free(slots);
}

void ki_work_keys_fini(ki_work_keys *keys)
{
    slots_free(keys->slots, keys->slot_count);
    *keys = (ki_work_keys){0};
}

/* Returns 0 or KI_ERR_NO_MEMORY with nothing changed. */
static int resize(ki_work_keys *keys, size_t slot_count)
{
    assert(slot_count >= SLOTS_MIN && (slot_count & (slot_count - 1)) == 0);
    assert(slot_count > keys->count);
    if (slot_count > SLOTS_MAX)
        return KI_ERR_NO_MEMORY;
    ki_work_keys moved = {slots_new(slot_count), slot_count, keys->count};
    if (moved.slots == NULL)
        return KI_ERR_NO_MEMORY;
    for (size_t i = 0; i < keys->slot_count; i++)
        if (keys->slots[i].entry != NULL)
            ki_work_keys_put(&moved, keys->slots[i]);
    slots_free(keys->slots, keys->slot_count);
    *keys = moved;
    return 0;
}

int ki_work_keys_grow(ki_work_keys *keys)
{
    return resize(keys, keys->slot_count == 0 ? SLOTS_MIN : keys->slot_count * 2);
}

/* If this fails, the table stays large. */
void ki_work_keys_shrink(ki_work_keys *keys)
{
    (void)!resize(keys, keys->slot_count / 2);
}
