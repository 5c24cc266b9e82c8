/* SPDX-License-Identifier: Apache-2.0 */
#include "feed/list_buffer.h"

#include <assert.h>
#include <string.h>

#include "util/alloc.h"

typedef struct entry {
    ki_map_node by_key;
    ki_list_node node;
    ki_object *object; /* NULL: only the key is known */
    size_t key_len;    /* the length of `key`; 0 if the entry was made for an object, which has the key */
    char key[];
} entry;

static entry *entry_of(ki_list_node *node)
{
    return KI_CONTAINER_OF(node, entry, node);
}

static ki_str key_of(const entry *e)
{
    return e->object == NULL ? (ki_str){e->key, e->key_len} : ki_object_key_str(e->object);
}

static int has_key(const ki_map_node *node, const void *key)
{
    return ki_str_equal(key_of(KI_CONTAINER_OF(node, entry, by_key)), *(const ki_str *)key);
}

static entry *find(const ki_list_buffer *buffer, ki_str key)
{
    ki_map_node *node = ki_map_find(&buffer->keys, ki_hash(&buffer->secret, key), has_key, &key);
    return node == NULL ? NULL : KI_CONTAINER_OF(node, entry, by_key);
}

/* Adds an entry. If `own_bytes` is 0, the caller sets its object, which has the key. If it is the length of
 * the key, the entry has no object but a copy of the key. */
static entry *add(ki_list_buffer *buffer, ki_str key, size_t own_bytes)
{
    entry *e = ki_calloc(1, sizeof(*e) + own_bytes);
    if (e == NULL)
        return NULL;
    if (ki_map_insert(&buffer->keys, &e->by_key, ki_hash(&buffer->secret, key)) < 0) {
        ki_free(e);
        return NULL;
    }
    ki_list_push_back(&buffer->entries, &e->node);
    if (own_bytes > 0)
        memcpy(e->key, key.ptr, own_bytes);
    e->key_len = own_bytes;
    return e;
}

/* ---- making and freeing ------------------------------------------------------------------------------- */

int ki_list_buffer_init(ki_list_buffer *buffer)
{
    assert(buffer != NULL);
    *buffer = (ki_list_buffer){0};
    ki_list_init(&buffer->entries);
    ki_map_init(&buffer->keys);
    return ki_hash_key_init(&buffer->secret);
}

void ki_list_buffer_clear(ki_list_buffer *buffer)
{
    assert(buffer != NULL);
    for (ki_list_node *node = ki_list_pop_front(&buffer->entries); node != NULL;
         node = ki_list_pop_front(&buffer->entries)) {
        (void)ki_object_unref(entry_of(node)->object);
        ki_free(entry_of(node));
    }
    ki_map_fini(&buffer->keys);
    ki_map_init(&buffer->keys);
    buffer->seen_count = 0;
}

void ki_list_buffer_fini(ki_list_buffer *buffer)
{
    assert(buffer != NULL);
    if (buffer->entries.head.next != NULL)
        ki_list_buffer_clear(buffer);
}

/* ---- gathering ---------------------------------------------------------------------------------------- */

void ki_list_buffer_begin(ki_list_buffer *buffer, uint32_t list)
{
    assert(buffer != NULL);
    if (buffer->list == list)
        return;
    ki_list_buffer_clear(buffer);
    buffer->list = list;
}

static void set_object(ki_list_buffer *buffer, entry *e, const ki_object *object)
{
    ki_object *former = e->object;
    buffer->seen_count -= former == NULL ? 1 : 0;
    e->object = ki_object_ref(object);
    (void)ki_object_unref(former);
}

int ki_list_buffer_put(ki_list_buffer *buffer, const ki_object *object)
{
    assert(buffer != NULL);
    ki_str key = ki_object_key_str(object);
    entry *e = find(buffer, key);
    if (e == NULL) {
        e = add(buffer, key, 0);
        if (e == NULL)
            return KI_ERR_NO_MEMORY;
        buffer->seen_count++;
    }
    set_object(buffer, e, object);
    return 0;
}

int ki_list_buffer_put_seen(ki_list_buffer *buffer, ki_str key)
{
    assert(buffer != NULL);
    assert(key.ptr != NULL || key.len == 0);
    if (find(buffer, key) != NULL)
        return 0;
    if (add(buffer, key, key.len) == NULL)
        return KI_ERR_NO_MEMORY;
    buffer->seen_count++;
    return 0;
}

void ki_list_buffer_remove(ki_list_buffer *buffer, ki_str key)
{
    assert(buffer != NULL);
    assert(key.ptr != NULL || key.len == 0);
    entry *e = find(buffer, key);
    if (e == NULL)
        return;
    buffer->seen_count -= e->object == NULL ? 1 : 0;
    ki_map_remove(&buffer->keys, &e->by_key);
    ki_list_remove(&e->node);
    (void)ki_object_unref(e->object);
    ki_free(e);
}

/* ---- at the end ---------------------------------------------------------------------------------------- */

int ki_list_buffer_fill_in(const ki_object *object, void *user)
{
    ki_list_buffer *buffer = user;
    entry *e = find(buffer, ki_object_key_str(object));
    if (e != NULL && e->object == NULL)
        set_object(buffer, e, object);
    return 0;
}

int ki_list_buffer_objects(const ki_list_buffer *buffer, ki_object ***out_objects, size_t *out_count)
{
    assert(buffer != NULL && out_count != NULL);
    size_t count = buffer->keys.count - buffer->seen_count;
    size_t n = 0;
    ki_object **objects = NULL;
    if (count > 0 && (objects = ki_calloc(count, sizeof(ki_object *))) == NULL)
        return KI_ERR_NO_MEMORY;
    for (ki_list_node *node = ki_list_first(&buffer->entries); node != NULL && n < count;
         node = ki_list_next(&buffer->entries, node))
        if (entry_of(node)->object != NULL)
            objects[n++] = entry_of(node)->object;
    *out_objects = objects;
    *out_count = n;
    return 0;
}
