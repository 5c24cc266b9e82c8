/* SPDX-License-Identifier: Apache-2.0 */
#include "support/store/table_check.h"

/* Relaxed, here and below: nothing writes meanwhile. */
static void *content_of(const ki_table *table)
{
    return atomic_load_explicit(&((ki_table *)table)->content, memory_order_relaxed);
}

static void *entry_of(const ki_table_slot *slot)
{
    return atomic_load_explicit(&((ki_table_slot *)slot)->entry, memory_order_relaxed);
}

static bool is_entry(const void *entry)
{
    return entry != NULL && entry != ki_table_tombstone;
}

const char *table_check(const ki_table *table)
{
    void *content = content_of(table);
    if (content == NULL || ki_table_single(content) != NULL)
        return table->count != (content != NULL) ? "count without an array" : NULL;
    const ki_table_array *array = content;
    uint64_t count = 0;
    uint64_t used = 0;
    for (uint64_t i = 0; i <= array->mask; i++) {
        void *entry = entry_of(&array->slots[i]);
        used += entry != NULL;
        count += is_entry(entry);
        if (is_entry(entry) && !ki_table_contains(table, array->slots[i].hash, entry))
            return "an entry cannot be reached";
    }
    if (count != table->count || used != table->used)
        return "wrong counts";
    return used * 4 > ((uint64_t)array->mask + 1) * 3 ? "too full" : NULL;
}
