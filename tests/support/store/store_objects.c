/* SPDX-License-Identifier: Apache-2.0 */
#include "support/store/store_objects.h"

#include <inttypes.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/object/object_layout.h"
#include "support/store/store_check.h"
#include "support/unit.h"

ki_object *store_object(const char *ns, const char *name, uint64_t version, const char *tags)
{
    char json[4096];
    int n = snprintf(json, sizeof(json),
                     "{\"metadata\":{\"namespace\":\"%s\",\"name\":\"%s\","
                     "\"resourceVersion\":\"%" PRIu64 "\",\"annotations\":{\"tags\":\"%s\"}}}",
                     ns, name, version, tags);
    if (n < 0 || (size_t)n >= sizeof(json))
        abort();
    ki_object *object = ki_object_new(&KI_CORE_V1_PODS, (ki_str){json, (size_t)n}, NULL, NULL);
    if (object == NULL)
        abort();
    return object;
}

/* Removes the first word. Returns 0 if there is none left. */
static int next_tag(ki_str *rest, ki_str *out_tag)
{
    if (rest->ptr == NULL)
        return 0;
    const char *comma = memchr(rest->ptr, ',', rest->len);
    if (comma == NULL) {
        *out_tag = *rest;
        *rest = (ki_str){0};
    } else {
        *out_tag = (ki_str){rest->ptr, (size_t)(comma - rest->ptr)};
        *rest = (ki_str){comma + 1, rest->len - out_tag->len - 1};
    }
    return 1;
}

/* Empty if there are no tags. */
static ki_str tags_of(const ki_object *object)
{
    ki_str tags = {0};
    if (ki_object_annotation(object, KI_STR("tags"), &tags) < 0 || tags.len == 0)
        return (ki_str){0};
    return tags;
}

int store_tags_index(const ki_object *object, ki_index_emit *emit, void *user)
{
    (void)user;
    ki_str tags = tags_of(object);
    ki_str tag = {0};
    if (tags.len > 0 && tags.ptr[0] == '!')
        return KI_ERR_TYPE;
    while (next_tag(&tags, &tag))
        if (ki_index_emit_value(emit, tag) < 0)
            return KI_ERR_NO_MEMORY;
    return 0;
}

int store_object_has_tag(const ki_object *object, ki_str tag)
{
    ki_str tags = tags_of(object);
    ki_str other = {0};
    if (tags.len > 0 && tags.ptr[0] == '!')
        return 0;
    while (next_tag(&tags, &other))
        if (ki_str_equal(tag, other))
            return 1;
    return 0;
}

void store_put(ki_store *store, ki_object *object)
{
    assert_int_equal(ki_store_put(store, object), 0);
    (void)ki_object_unref(object);
}

void store_assert_sound(const ki_store *store)
{
    ki_error err = {0};
    if (store_check(store, &err) < 0)
        fail_msg("%s", err.message);
}

ki_store *store_begin(void)
{
    ki_error err = {0};
    ki_store *store = ki_store_new(NULL, &err);
    assert_non_null(store);
    return store;
}

void store_end(ki_store *store)
{
    store_assert_sound(store);
    ki_store_free(store);
}

uint64_t store_object_version(const ki_object *object)
{
    return strtoull(ki_object_resource_version(object).ptr, NULL, 10);
}

uint64_t store_version_at(const ki_store *store, const char *ns, const char *name)
{
    ki_object *object = ki_store_get(store, ki_str_of(ns), ki_str_of(name));
    uint64_t version = object == NULL ? 0 : store_object_version(object);
    (void)ki_object_unref(object);
    return version;
}

int store_object_is_shared(ki_object *object)
{
    return ki_refcount_is_shared(&object->refs);
}

size_t store_count_by_index(const ki_store *store, const char *index, const char *value)
{
    ki_object_list list = {0};
    assert_int_equal(ki_store_list_index(store, index, ki_str_of(value), &list), 0);
    size_t count = list.count;
    ki_object_list_fini(&list);
    return count;
}

void store_assert_texts(ki_str_list *list, const char *const *expected, size_t count)
{
    assert_int_equal(list->count, count);
    for (size_t i = 0; i < count; i++)
        assert_true(ki_str_equal(list->texts[i], ki_str_of(expected[i])));
    ki_str_list_fini(list);
}

int store_name_index(const ki_object *object, ki_index_emit *emit, void *user)
{
    (void)user;
    return ki_index_emit_value(emit, ki_object_name(object));
}
