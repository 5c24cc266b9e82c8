/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/delta_entry.h"

#include <assert.h>
#include <string.h>

#include "util/alloc.h"

/* Enough for most keys, so that an entry can be used again for another key. */
enum { KEY_SPACE = 96 };

static void begin(ki_delta_entry *entry, ki_str key, size_t key_space)
{
    assert(key.len < key_space);
    *entry = (ki_delta_entry){.cap = 1, .key_len = key.len, .key_space = key_space};
    entry->deltas = &entry->first;
    if (key.len > 0)
        memcpy(entry->key, key.ptr, key.len);
    entry->key[key.len] = 0;
}

ki_delta_entry *ki_delta_entry_new(ki_str key)
{
    assert(key.ptr != NULL || key.len == 0);
    size_t key_space = key.len < KEY_SPACE ? KEY_SPACE : key.len + 1;
    ki_delta_entry *entry = ki_malloc(sizeof(*entry) + key_space);
    if (entry != NULL)
        begin(entry, key, key_space);
    return entry;
}

bool ki_delta_entry_renew(ki_delta_entry *entry, ki_str key)
{
    assert(entry->count == 0 && entry->deltas == &entry->first);
    if (key.len >= entry->key_space)
        return false;
    begin(entry, key, entry->key_space);
    return true;
}

static void drop_object(const ki_delta *delta)
{
    (void)ki_object_unref((ki_object *)delta->object);
}

void ki_delta_entry_truncate(ki_delta_entry *entry, uint32_t count)
{
    assert(count <= entry->count);
    while (entry->count > count) {
        const ki_delta *last = &entry->deltas[--entry->count];
        assert(entry->bytes >= last->bytes);
        entry->bytes -= last->bytes;
        drop_object(last);
    }
}

void ki_delta_entry_clear(ki_delta_entry *entry)
{
    assert(!ki_list_node_is_linked(&entry->node));
    ki_delta_entry_truncate(entry, 0);
    assert(entry->bytes == 0);
    if (entry->deltas != &entry->first)
        ki_free(entry->deltas);
    entry->deltas = &entry->first;
    ki_resource_version_clear(&entry->version);
    ki_resource_version_clear(&entry->version_before);
}

void ki_delta_entry_free(ki_delta_entry *entry)
{
    if (entry == NULL)
        return;
    ki_delta_entry_clear(entry);
    ki_free(entry);
}

void ki_delta_entry_free_all(ki_list *entries)
{
    assert(entries != NULL);
    for (ki_list_node *node = ki_list_pop_front(entries); node != NULL; node = ki_list_pop_front(entries))
        ki_delta_entry_free(ki_delta_entry_of(node));
}

static int has_key(const ki_map_node *node, const void *key)
{
    const ki_delta_entry *entry = KI_CONTAINER_OF(node, ki_delta_entry, by_key);
    return ki_str_equal(ki_delta_entry_key(entry), *(const ki_str *)key);
}

ki_delta_entry *ki_delta_entry_find(const ki_map *entries, ki_str key, uint64_t hash)
{
    assert(key.ptr != NULL || key.len == 0);
    ki_map_node *node = ki_map_find(entries, hash, has_key, &key);
    return node == NULL ? NULL : KI_CONTAINER_OF(node, ki_delta_entry, by_key);
}

const ki_object *ki_delta_entry_newest(const ki_delta_entry *entry)
{
    assert(entry->count > 0);
    return entry->deltas[entry->count - 1].object;
}

bool ki_delta_entry_ends_deleted(const ki_delta_entry *entry)
{
    const ki_delta *last = ki_delta_entry_last(entry);
    return last != NULL && last->change_type == KI_CHANGE_DELETED;
}

int ki_delta_entry_reserve(ki_delta_entry *entry)
{
    assert(entry != NULL);
    if (entry->count < entry->cap)
        return 0;
    uint32_t cap = entry->cap * 2;
    ki_delta *deltas =
        ki_realloc(entry->deltas == &entry->first ? NULL : entry->deltas, cap * sizeof(*deltas));
    if (deltas == NULL)
        return KI_ERR_NO_MEMORY;
    if (entry->deltas == &entry->first)
        deltas[0] = entry->first;
    entry->deltas = deltas;
    entry->cap = cap;
    return 0;
}

/* Whether `object` is older: an event may arrive again after a newer one. */
static bool is_older(const ki_object *object, const ki_object *other)
{
    int order = 0;
    return ki_resource_version_compare(ki_object_resource_version(object), ki_object_resource_version(other),
                                       &order) == 0 &&
           order < 0;
}

/* Two deletes in a row are merged, but not those of different lists: a delete in a list takes effect only at
 * the end of the list, which may never come. */
static bool is_delete_again(const ki_delta_entry *entry, const ki_delta *delta)
{
    return delta->change_type == KI_CHANGE_DELETED && ki_delta_entry_ends_deleted(entry) &&
           ki_delta_entry_last(entry)->list == delta->list;
}

/* `delta` holds a reference. One of the two objects is dropped. */
static void merge_delete(ki_delta_entry *entry, ki_delta delta)
{
    ki_delta *last = &entry->deltas[entry->count - 1];
    if (!last->final_state_unknown && (delta.final_state_unknown || is_older(delta.object, last->object))) {
        drop_object(&delta);
        return;
    }
    drop_object(last);
    entry->bytes += delta.bytes - last->bytes;
    *last = delta;
}

void ki_delta_entry_append(ki_delta_entry *entry, ki_delta delta)
{
    assert(entry->marker == 0 && entry->count < entry->cap);
    assert((delta.object == NULL) == (delta.change_type == KI_CHANGE_SEEN));
    delta.bytes = delta.object == NULL ? 0 : ki_object_bytes(delta.object);
    (void)ki_object_ref(delta.object);
    if (is_delete_again(entry, &delta)) {
        merge_delete(entry, delta);
        return;
    }
    entry->deltas[entry->count++] = delta;
    entry->bytes += delta.bytes;
}
