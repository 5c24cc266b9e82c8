/* SPDX-License-Identifier: Apache-2.0 */
#include "workqueue/entry.h"

#include <string.h>

#include "util/alloc.h"

/* Malloc's sizes: eight bytes less than a multiple. */
enum { MALLOC_BYTES = 8 };

/* Which list has memory for a key of this length; KI_WORK_SPARE_SIZES: none, the key is too long. */
static size_t size_of(size_t key_len)
{
    size_t size = (offsetof(ki_work_entry, key) + key_len + MALLOC_BYTES - 1) / KI_WORK_SPARE_STEP;
    return size < KI_WORK_SPARE_SIZES ? size : KI_WORK_SPARE_SIZES;
}

/* As much as every key of this size needs. */
static size_t bytes_of(size_t size, size_t key_len)
{
    return size < KI_WORK_SPARE_SIZES ? (size + 1) * KI_WORK_SPARE_STEP - MALLOC_BYTES
                                      : offsetof(ki_work_entry, key) + key_len;
}

static ki_work_entry *memory_for(ki_work_spares *spares, size_t key_len)
{
    size_t size = size_of(key_len);
    if (size == KI_WORK_SPARE_SIZES || spares->lists[size] == NULL)
        return ki_malloc(bytes_of(size, key_len));
    ki_work_entry *entry = spares->lists[size];
    spares->lists[size] = (ki_work_entry *)(void *)entry->node.next;
    spares->count--;
    return entry;
}

ki_work_entry *ki_work_entry_new(ki_work_spares *spares, ki_str key, uint32_t hash)
{
    ki_work_entry *entry = memory_for(spares, key.len);
    if (entry == NULL)
        return NULL;
    *entry = (ki_work_entry){.hash = hash, .key_len = (uint16_t)key.len};
    memcpy(entry->key, key.ptr, key.len);
    return entry;
}

void ki_work_entry_free(ki_work_spares *spares, ki_work_entry *entry)
{
    if (entry == NULL)
        return;
    size_t size = size_of(entry->key_len);
    if (size == KI_WORK_SPARE_SIZES || spares->count >= KI_WORK_SPARES_MAX) {
        ki_free(entry);
        return;
    }
    entry->node.next = (ki_list_node *)(void *)spares->lists[size];
    spares->lists[size] = entry;
    spares->count++;
}

void ki_work_spares_fini(ki_work_spares *spares)
{
    for (size_t size = 0; size < KI_WORK_SPARE_SIZES; size++)
        for (ki_work_entry *entry = spares->lists[size], *next = NULL; entry != NULL; entry = next) {
            next = (ki_work_entry *)(void *)entry->node.next;
            ki_free(entry);
        }
    *spares = (ki_work_spares){0};
}
