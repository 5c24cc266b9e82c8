/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/field_set.h"

#include <kinformer/error.h>
#include <string.h>

#include "apiserver/decode.h"
#include "apiserver/encode.h"
#include "apiserver/tree.h"
#include "util/alloc.h"
#include "util/buf.h"

#define TEXT_BYTES_MAX ((size_t)1 << 30)

/* One step of the comparison. */
struct step {
    struct ki_as_shape shape;
    const json_t *before;
    const json_t *after;
    unsigned depth;
};

static int compare(const struct step *step, json_t **out);

/* An element's text, freed by the caller. NULL without memory. */
static char *text_of(const json_t *value)
{
    ki_buf text;
    ki_buf_init(&text, TEXT_BYTES_MAX);
    if (ki_as_encode(&text, value) < 0 || ki_buf_append_byte(&text, '\0') < 0)
        ki_buf_fini(&text);
    return text.data;
}

bool ki_as_field_is_nobodys(unsigned depth, const char *parent, const char *name)
{
    static const char *const names[] = {"name",         "namespace",         "uid",
                                        "generation",   "creationTimestamp", "deletionTimestamp",
                                        "selfLink",     "resourceVersion",   "deletionGracePeriodSeconds",
                                        "managedFields"};
    if (depth == 0)
        return strcmp(name, "kind") == 0 || strcmp(name, "apiVersion") == 0;
    if (depth != 1 || strcmp(parent, "metadata") != 0)
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Adds what differs under `prefix` + `name`; nothing when nothing does. */
static int add(json_t *set, char prefix, const char *name, const struct step *step)
{
    json_t *inner = NULL;
    int rc = compare(step, &inner);
    if (rc < 0 || inner == NULL)
        return rc;
    size_t bytes = strlen(name) + 3;
    char *key = ki_malloc(bytes);
    if (key == NULL) {
        json_decref(inner);
        return KI_ERR_NO_MEMORY;
    }
    key[0] = prefix;
    key[1] = ':';
    memcpy(key + 2, name, bytes - 2);
    rc = json_object_set_new(set, key, inner) < 0 ? KI_ERR_NO_MEMORY : 0;
    ki_free(key);
    return rc;
}

static int compare_members(const struct step *step, const char *parent, json_t *set)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)step->after, key, value)
    {
        if (ki_as_field_is_nobodys(step->depth, parent, key))
            continue;
        struct step inner = {ki_as_shape_member(step->shape, ki_str_of(key)),
                             json_object_get(step->before, key), value, step->depth + 1};
        /* The objects in which everything is are nobody's themselves. */
        if (step->depth == 0 && strcmp(key, "metadata") == 0 && json_is_object(value)) {
            json_t *fields = json_object();
            int rc = fields == NULL ? KI_ERR_NO_MEMORY : compare_members(&inner, "metadata", fields);
            if (rc == 0 && json_object_size(fields) > 0 && json_object_set(set, "f:metadata", fields) < 0)
                rc = KI_ERR_NO_MEMORY;
            json_decref(fields);
            if (rc < 0)
                return rc;
            continue;
        }
        if (add(set, 'f', key, &inner) < 0)
            return KI_ERR_NO_MEMORY;
    }
    return 0;
}

/* {"name":"nginx"}: what tells an element from others. NULL without memory. */
static json_t *keys_of(struct ki_as_shape element_shape, const struct ki_as_keys *keys, const json_t *element)
{
    json_t *object = json_object();
    for (size_t i = 0; object != NULL && i < keys->count; i++) {
        char name[128];
        size_t len = keys->names[i].len < sizeof(name) ? keys->names[i].len : sizeof(name) - 1;
        memcpy(name, keys->names[i].ptr, len);
        name[len] = '\0';
        json_t *value = json_incref(json_object_get(element, name));
        const char *otherwise = value != NULL ? NULL : ki_as_shape_key_default(element_shape, keys->names[i]);
        if (otherwise != NULL)
            value = json_string(otherwise);
        if (value != NULL && json_object_set_new(object, name, value) < 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static const json_t *find_element(const json_t *list, const json_t *keys)
{
    size_t index = 0;
    const json_t *element = NULL;
    json_array_foreach(list, index, element)
    {
        bool is_it = json_is_object(element);
        const char *key = NULL;
        json_t *value = NULL;
        json_object_foreach((json_t *)keys, key, value)
        {
            const json_t *there = json_object_get(element, key);
            is_it = is_it && (there == NULL || ki_as_json_equal(there, value));
        }
        if (is_it)
            return element;
    }
    return NULL;
}

static int compare_keyed(const struct step *step, const struct ki_as_keys *keys, json_t *set)
{
    struct ki_as_shape shape = ki_as_shape_element(step->shape);
    size_t index = 0;
    const json_t *element = NULL;
    int rc = 0;
    json_array_foreach(step->after, index, element)
    {
        json_t *own = rc < 0 ? NULL : keys_of(shape, keys, element);
        char *text = own == NULL ? NULL : text_of(own);
        struct step inner = {shape, own == NULL ? NULL : find_element(step->before, own), element,
                             step->depth + 1};
        rc = text == NULL ? KI_ERR_NO_MEMORY : add(set, 'k', text, &inner);
        ki_free(text);
        json_decref(own);
    }
    return rc;
}

static bool has_value(const json_t *list, const json_t *value)
{
    size_t index = 0;
    const json_t *element = NULL;
    json_array_foreach(list, index, element) if (ki_as_json_equal(element, value)) return true;
    return false;
}

static int compare_set(const struct step *step, json_t *set)
{
    size_t index = 0;
    const json_t *element = NULL;
    json_array_foreach(step->after, index, element)
    {
        if (has_value(step->before, element))
            continue;
        char *text = text_of(element);
        struct step inner = {.after = element, .depth = step->depth + 1};
        int rc = text == NULL ? KI_ERR_NO_MEMORY : add(set, 'v', text, &inner);
        ki_free(text);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int compare_inside(const struct step *step, json_t *set)
{
    struct ki_as_keys keys = {0};
    if (json_is_object(step->after))
        return compare_members(step, "", set);
    if (ki_as_shape_list(step->shape, &keys) == KI_AS_LIST_KEYED)
        return compare_keyed(step, &keys, set);
    return compare_set(step, set);
}

static bool is_one(const struct step *step)
{
    struct ki_as_keys keys = {0};
    if (json_is_object(step->after))
        return json_object_size(step->after) == 0 || ki_as_shape_is_atomic(step->shape);
    return !json_is_array(step->after) || json_array_size(step->after) == 0 ||
           ki_as_shape_list(step->shape, &keys) == KI_AS_LIST_ATOMIC;
}

/* `*out` stays NULL when nothing differs. */
static int compare(const struct step *step, json_t **out)
{
    bool is_new = step->before == NULL || json_typeof(step->before) != json_typeof(step->after);
    if (!is_new && ki_as_json_equal(step->before, step->after))
        return 0;
    json_t *set = json_object();
    int rc = set == NULL ? KI_ERR_NO_MEMORY : 0;
    if (rc == 0 && !is_one(step)) {
        if (is_new && step->depth > 1 && json_object_set_new(set, ".", json_object()) < 0)
            rc = KI_ERR_NO_MEMORY;
        struct step inner = *step;
        inner.before = is_new ? NULL : step->before;
        if (rc == 0)
            rc = compare_inside(&inner, set);
    }
    bool is_empty = rc == 0 && !is_one(step) && json_object_size(set) == 0;
    if (rc < 0 || is_empty)
        json_decref(set);
    else
        *out = set;
    return rc;
}

int ki_as_field_set_of(struct ki_as_shape shape, const json_t *before, const json_t *tree, json_t **out)
{
    json_t *set = json_object();
    struct step step = {shape, before, tree, 0};
    int rc = set == NULL ? KI_ERR_NO_MEMORY : compare_members(&step, "", set);
    if (rc < 0)
        json_decref(set);
    else
        *out = set;
    return rc;
}

int ki_as_field_set_add(json_t *set, const json_t *more)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)more, key, value)
    {
        json_t *there = json_object_get(set, key);
        int rc = 0;
        if (there != NULL)
            rc = ki_as_field_set_add(there, value);
        else
            rc = json_object_set_new(set, key, ki_as_json_copy(value));
        if (rc < 0)
            return KI_ERR_NO_MEMORY;
    }
    return 0;
}

void ki_as_field_set_subtract(json_t *set, const json_t *less)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)less, key, value)
    {
        json_t *there = json_object_get(set, key);
        if (there == NULL)
            continue;
        ki_as_field_set_subtract(there, value);
        if (json_object_size(there) == 0)
            (void)json_object_del(set, key);
    }
}

/* What an entry of a set stands for in a tree; NULL: it is not there, or memory is out. */
static const json_t *find(const json_t *tree, const char *entry)
{
    if (entry[0] == 'f')
        return json_object_get(tree, entry + 2);
    json_t *text = entry[0] == 'k' ? ki_as_decode(ki_str_of(entry + 2), NULL)
                                   : json_loads(entry + 2, JSON_DECODE_ANY, NULL);
    const json_t *found = NULL;
    if (text != NULL && entry[0] == 'k')
        found = find_element(tree, text);
    else if (text != NULL && entry[0] == 'v' && has_value(tree, text))
        found = tree;
    json_decref(text);
    return found;
}

void ki_as_field_set_prune(json_t *set, const json_t *tree)
{
    void *next = NULL;
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach_safe(set, next, key, value)
    {
        if (strcmp(key, ".") == 0 || key[0] == '\0' || key[1] != ':')
            continue;
        const json_t *there = find(tree, key);
        bool was_leaf = json_object_size(value) == 0;
        if (there != NULL && key[0] != 'v')
            ki_as_field_set_prune(value, there);
        if (there == NULL || (!was_leaf && json_object_size(value) == 0))
            (void)json_object_del(set, key);
    }
}
