/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of objects, keys and values, each from one state of a store. For objects and keys, the writer is
 * excluded only while references are taken; keys are read afterwards from the objects,
 * which cannot change. */
#include <kinformer/error.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"
#include "util/alloc.h"
#include "util/loop/rcu.h"

/* ---- objects --------------------------------------------------------------------------------------- */

static int add_reference(void *entry, uint32_t hash, void *user)
{
    (void)hash;
    ki_object_list *list = user;
    list->objects[list->count++] = ki_object_ref(entry);
    return 0;
}

static int list_table(const ki_table *objects, ki_object_list *out_list)
{
    ki_object_list list = {0};
    if (objects->count > 0) {
        list.objects = ki_malloc(objects->count * sizeof(ki_object *));
        if (list.objects == NULL)
            return KI_ERR_NO_MEMORY;
        (void)ki_table_visit(objects, &(ki_table_walk){.visit = add_reference, .user = &list});
    }
    *out_list = list;
    return 0;
}

void ki_object_list_fini(ki_object_list *list)
{
    if (list == NULL)
        return;
    for (size_t i = 0; i < list->count; i++)
        (void)ki_object_unref(list->objects[i]);
    ki_free(list->objects);
    *list = (ki_object_list){0};
}

int ki_store_list(const ki_store *store, ki_object_list *out_list)
{
    if (store == NULL || out_list == NULL)
        return KI_ERR_INVALID;
    if (ki_rcu_is_reading())
        return KI_ERR_WOULD_DEADLOCK;
    ki_mutex_lock(&store->mu);
    int rc = list_table(&ki_store_content(store)->objects, out_list);
    ki_mutex_unlock(&store->mu);
    return rc;
}

static int list_posting(const ki_store *store, const char *index_name, ki_str value, ki_object_list *out_list)
    KI_REQUIRES(store->mu)
{
    KI_ASSERT_HELD(store->mu);
    const ki_index *index = ki_content_find_index(ki_store_content(store), ki_str_of(index_name));
    if (index == NULL)
        return KI_ERR_NOT_FOUND;
    const ki_posting *posting = ki_index_find(index, value, &store->keyer);
    if (posting != NULL)
        return list_table(&posting->objects, out_list);
    *out_list = (ki_object_list){0};
    return 0;
}

int ki_store_list_index(const ki_store *store, const char *index, ki_str value, ki_object_list *out_list)
{
    if (store == NULL || index == NULL || out_list == NULL)
        return KI_ERR_INVALID;
    if (ki_rcu_is_reading())
        return KI_ERR_WOULD_DEADLOCK;
    ki_mutex_lock(&store->mu);
    int rc = list_posting(store, index, value, out_list);
    ki_mutex_unlock(&store->mu);
    return rc;
}

/* ---- texts ----------------------------------------------------------------------------------------- */

/* An array that is being filled, followed by the text. */
typedef struct text_block {
    ki_str_list list;
    char *free_text;
    size_t free_bytes;
} text_block;

static int text_block_init(text_block *block, size_t count, size_t bytes)
{
    *block = (text_block){.free_bytes = bytes};
    if (count == 0)
        return 0;
    block->list.texts = ki_malloc(count * sizeof(ki_str) + bytes);
    if (block->list.texts == NULL)
        return KI_ERR_NO_MEMORY;
    block->free_text = (char *)(block->list.texts + count);
    return 0;
}

/* Returns KI_ERR_INVALID if the text does not fit. Then the key function has returned different keys for the
 * same object. */
static int text_block_add(text_block *block, ki_str text)
{
    if (text.len > block->free_bytes)
        return KI_ERR_INVALID;
    if (text.len > 0)
        memcpy(block->free_text, text.ptr, text.len);
    block->list.texts[block->list.count++] = (ki_str){block->free_text, text.len};
    block->free_text += text.len;
    block->free_bytes -= text.len;
    return 0;
}

void ki_str_list_fini(ki_str_list *list)
{
    if (list == NULL)
        return;
    ki_free(list->texts);
    *list = (ki_str_list){0};
}

static int compare_texts(const void *a, const void *b)
{
    return ki_str_compare(*(const ki_str *)a, *(const ki_str *)b);
}

static void sort_texts(ki_str_list *list)
{
    if (list->count > 1)
        qsort(list->texts, list->count, sizeof(list->texts[0]), compare_texts);
}

/* ---- keys ------------------------------------------------------------------------------------------ */

static int keys_of(const ki_keyer *keyer, const ki_object_list *list, ki_str_list *out_keys)
{
    ki_key_buffer buffer;
    text_block block;
    size_t bytes = 0;
    for (size_t i = 0; i < list->count; i++)
        bytes += ki_keyer_key(keyer, list->objects[i], &buffer).len;
    int rc = text_block_init(&block, list->count, bytes);
    for (size_t i = 0; i < list->count && rc == 0; i++)
        rc = text_block_add(&block, ki_keyer_key(keyer, list->objects[i], &buffer));
    if (rc < 0)
        ki_str_list_fini(&block.list);
    else
        *out_keys = block.list;
    return rc;
}

int ki_store_list_keys(const ki_store *store, ki_str_list *out_keys)
{
    ki_object_list list = {0};
    if (out_keys == NULL)
        return KI_ERR_INVALID;
    int rc = ki_store_list(store, &list);
    if (rc == 0)
        rc = keys_of(&store->keyer, &list, out_keys);
    ki_object_list_fini(&list);
    return rc;
}

int ki_store_list_keys_index(const ki_store *store, const char *index, ki_str value, ki_str_list *out_keys)
{
    ki_object_list list = {0};
    if (out_keys == NULL)
        return KI_ERR_INVALID;
    int rc = ki_store_list_index(store, index, value, &list);
    if (rc == 0)
        rc = keys_of(&store->keyer, &list, out_keys);
    if (rc == 0)
        sort_texts(out_keys);
    ki_object_list_fini(&list);
    return rc;
}

/* ---- values ---------------------------------------------------------------------------------------- */

static int add_length(void *entry, uint32_t hash, void *user)
{
    (void)hash;
    *(size_t *)user += ki_posting_value(entry).len;
    return 0;
}

static int add_value(void *entry, uint32_t hash, void *user)
{
    (void)hash;
    return text_block_add(user, ki_posting_value(entry));
}

static int list_values(const ki_store *store, const char *index_name, ki_str_list *out_values)
    KI_REQUIRES(store->mu)
{
    KI_ASSERT_HELD(store->mu);
    const ki_index *index = ki_content_find_index(ki_store_content(store), ki_str_of(index_name));
    text_block block;
    size_t bytes = 0;
    if (index == NULL)
        return KI_ERR_NOT_FOUND;
    (void)ki_table_visit(&index->postings, &(ki_table_walk){.visit = add_length, .user = &bytes});
    int rc = text_block_init(&block, index->postings.count, bytes);
    if (rc < 0)
        return rc;
    (void)ki_table_visit(&index->postings, &(ki_table_walk){.visit = add_value, .user = &block});
    *out_values = block.list;
    return 0;
}

int ki_store_list_values(const ki_store *store, const char *index, ki_str_list *out_values)
{
    if (store == NULL || index == NULL || out_values == NULL)
        return KI_ERR_INVALID;
    if (ki_rcu_is_reading())
        return KI_ERR_WOULD_DEADLOCK;
    ki_mutex_lock(&store->mu);
    int rc = list_values(store, index, out_values);
    ki_mutex_unlock(&store->mu);
    if (rc == 0)
        sort_texts(out_values);
    return rc;
}
