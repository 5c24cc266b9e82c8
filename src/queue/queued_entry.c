/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/queued_entry.h"

#include <assert.h>
#include <string.h>

#include "util/alloc.h"

ki_queued_entry *ki_queued_entry_new(ki_str key)
{
    ki_queued_entry *entry = ki_malloc(sizeof(*entry) + key.len);
    if (entry == NULL)
        return NULL;
    *entry = (ki_queued_entry){.cap = 1, .key_len = key.len};
    entry->deltas = &entry->first;
    memcpy(entry->key, key.ptr, key.len);
    return entry;
}

static void drop_object(const ki_queued_delta *delta)
{
    (void)ki_object_unref((ki_object *)delta->object);
}

void ki_queued_entry_truncate(ki_queued_entry *entry, size_t count)
{
    while (entry->count > count) {
        const ki_queued_delta *last = &entry->deltas[--entry->count];
        entry->bytes -= last->bytes;
        drop_object(last);
    }
}

void ki_queued_entry_free(ki_queued_entry *entry)
{
    if (entry == NULL)
        return;
    ki_queued_entry_truncate(entry, 0);
    if (entry->deltas != &entry->first)
        ki_free(entry->deltas);
    ki_free(entry);
}

/* Room for one more delta. */
static int reserve(ki_queued_entry *entry)
{
    if (entry->count < entry->cap)
        return 0;
    size_t cap = entry->cap * 2;
    ki_queued_delta *deltas =
        ki_realloc(entry->deltas == &entry->first ? NULL : entry->deltas, cap * sizeof(*deltas));
    if (deltas == NULL)
        return KI_ERR_NO_MEMORY;
    if (entry->deltas == &entry->first)
        deltas[0] = entry->first;
    entry->deltas = deltas;
    entry->cap = cap;
    return 0;
}

int ki_queued_entry_ends_deleted(const ki_queued_entry *entry)
{
    return entry->count > 0 && entry->deltas[entry->count - 1].type == KI_CHANGE_DELETED;
}

/* Of two deletes in a row the earlier says it all, unless nobody saw it. */
static void merge_delete(ki_queued_entry *entry, ki_queued_delta delta)
{
    ki_queued_delta *last = &entry->deltas[entry->count - 1];
    if (!last->final_state_unknown)
        return;
    (void)ki_object_ref(delta.object);
    drop_object(last);
    entry->bytes += delta.bytes - last->bytes;
    *last = delta;
}

int ki_queued_entry_append(ki_queued_entry *entry, ki_queued_delta delta)
{
    assert(delta.object != NULL);
    delta.bytes = ki_object_bytes(delta.object);
    if (delta.type == KI_CHANGE_DELETED && ki_queued_entry_ends_deleted(entry)) {
        merge_delete(entry, delta);
        return 0;
    }
    int rc = reserve(entry);
    if (rc < 0)
        return rc;
    (void)ki_object_ref(delta.object);
    entry->deltas[entry->count++] = delta;
    entry->bytes += delta.bytes;
    return 0;
}
