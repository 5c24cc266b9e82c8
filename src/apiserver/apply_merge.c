/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/error.h>
#include <string.h>

#include "apiserver/apply_parts.h"
#include "apiserver/tree.h"

/* ---- elements of keyed lists
 * ------------------------------------------------------------------------------- */

/* The value of a key, or the text that stands for it when it is left out. */
static bool has_key(const json_t *element, ki_str key, const json_t *value, const char *otherwise)
{
    const json_t *own = ki_as_json_member(element, key);
    if (own != NULL && value != NULL)
        return json_equal(own, value);
    if (own == NULL && value == NULL)
        return true;
    return otherwise != NULL && ki_str_equal(ki_as_json_str(own != NULL ? own : value), ki_str_of(otherwise));
}

static json_t *find_like(const json_t *list, const json_t *wanted, struct ki_as_shape element,
                         const struct ki_as_keys *keys)
{
    size_t index = 0;
    json_t *one = NULL;
    json_array_foreach(list, index, one)
    {
        bool is_it = json_is_object(one);
        for (size_t i = 0; i < keys->count && is_it; i++)
            is_it = has_key(one, keys->names[i], ki_as_json_member(wanted, keys->names[i]),
                            ki_as_shape_key_default(element, keys->names[i]));
        if (is_it)
            return one;
    }
    return NULL;
}

static bool has_value(const json_t *list, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (json_equal(json_array_get(list, i), value))
            return true;
    }
    return false;
}

json_t *ki_as_apply_find(const json_t *tree, const char *entry)
{
    if (entry[0] == 'f')
        return json_is_object(tree) ? json_object_get(tree, entry + 2) : NULL;
    json_t *keys = json_loads(entry + 2, JSON_DECODE_ANY, NULL);
    json_t *found = NULL;
    for (size_t i = 0; keys != NULL && i < json_array_size(tree) && found == NULL; i++) {
        json_t *element = json_array_get(tree, i);
        bool is_it = entry[0] == 'v' ? json_equal(element, keys) : json_is_object(element);
        const char *name = NULL;
        json_t *value = NULL;
        json_object_foreach(keys, name, value)
        {
            const json_t *own = json_object_get(element, name);
            is_it = is_it && (own == NULL || json_equal(own, value));
        }
        found = is_it ? element : NULL;
    }
    json_decref(keys);
    return found;
}

/* ---- merging
 * ----------------------------------------------------------------------------------------------- */

static int merge_elements(json_t *list, const json_t *config, struct ki_as_shape shape,
                          const struct ki_as_keys *keys)
{
    struct ki_as_shape element = ki_as_shape_element(shape);
    size_t index = 0;
    json_t *wanted = NULL;
    int rc = 0;
    json_array_foreach(config, index, wanted)
    {
        json_t *there = find_like(list, wanted, element, keys);
        if (rc < 0)
            return rc;
        if (there != NULL)
            rc = ki_as_apply_merge(there, wanted, element);
        else if (json_array_append_new(list, ki_as_json_copy(wanted)) < 0)
            rc = KI_ERR_NO_MEMORY;
    }
    return rc;
}

static int merge_values(json_t *list, const json_t *config)
{
    size_t index = 0;
    json_t *value = NULL;
    json_array_foreach(config, index, value)
    {
        if (!has_value(list, value) && json_array_append(list, value) < 0)
            return KI_ERR_NO_MEMORY;
    }
    return 0;
}

/* Whether the two are merged rather than replaced. */
static bool is_merged(const json_t *there, const json_t *wanted, struct ki_as_shape shape)
{
    struct ki_as_keys keys;
    if (json_is_object(there) && json_is_object(wanted))
        return !ki_as_shape_is_atomic(shape);
    return json_is_array(there) && json_is_array(wanted) &&
           ki_as_shape_list(shape, &keys) != KI_AS_LIST_ATOMIC;
}

static int merge_members(json_t *target, const json_t *config, struct ki_as_shape shape)
{
    const char *name = NULL;
    json_t *wanted = NULL;
    json_object_foreach((json_t *)config, name, wanted)
    {
        struct ki_as_shape member = ki_as_shape_member(shape, ki_str_of(name));
        json_t *there = json_object_get(target, name);
        int rc = 0;
        if (is_merged(there, wanted, member))
            rc = ki_as_apply_merge(there, wanted, member);
        else if (json_object_set_new(target, name, ki_as_json_copy(wanted)) < 0)
            rc = KI_ERR_NO_MEMORY;
        if (rc < 0)
            return rc;
    }
    return 0;
}

int ki_as_apply_merge(json_t *target, const json_t *config, struct ki_as_shape shape)
{
    struct ki_as_keys keys;
    if (json_is_object(target))
        return merge_members(target, config, shape);
    if (ki_as_shape_list(shape, &keys) == KI_AS_LIST_KEYED)
        return merge_elements(target, config, shape, &keys);
    return merge_values(target, config);
}

/* ---- removing
 * ---------------------------------------------------------------------------------------------- */

static void remove_entry(json_t *tree, const char *entry)
{
    if (entry[0] == 'f') {
        (void)json_object_del(tree, entry + 2);
        return;
    }
    const json_t *element = ki_as_apply_find(tree, entry);
    for (size_t i = json_array_size(tree); i-- > 0;) {
        if (json_array_get(tree, i) == element)
            (void)json_array_remove(tree, i);
    }
}

static bool is_empty(const json_t *value)
{
    return (json_is_object(value) && json_object_size(value) == 0) ||
           (json_is_array(value) && json_array_size(value) == 0);
}

/* A thing goes as a whole when it was owned as one (a leaf, or with "."), and nobody has any of it. */
void ki_as_apply_remove(json_t *tree, const json_t *had, const json_t *keep)
{
    const char *entry = NULL;
    json_t *inner = NULL;
    json_object_foreach((json_t *)had, entry, inner)
    {
        const json_t *kept = json_object_get(keep, entry);
        bool is_whole = json_object_size(inner) == 0 || json_object_get(inner, ".") != NULL;
        if (strcmp(entry, ".") == 0 || strlen(entry) < 2)
            continue;
        if (kept == NULL && is_whole) {
            remove_entry(tree, entry);
            continue;
        }
        json_t *value = ki_as_apply_find(tree, entry);
        if (value == NULL || json_object_size(inner) == 0)
            continue;
        bool was_empty = is_empty(value);
        ki_as_apply_remove(value, inner, kept);
        if (is_empty(value) && !was_empty && kept == NULL)
            remove_entry(tree, entry);
    }
}
