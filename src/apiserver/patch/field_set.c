/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/patch/field_set.h"

#include <assert.h>
#include <kinformer/error.h>
#include <string.h>

#include "apiserver/patch/field_place.h"
#include "apiserver/value/encode.h"
#include "apiserver/value/tree.h"
#include "util/alloc.h"
#include "util/buf.h"

enum { DEPTH_COMPARED_MAX = 16 };

#define TEXT_BYTES_MAX ((size_t)1 << 30)

/* A value of the object before and after the change. */
struct step {
    struct ki_as_shape shape;
    const json_t *before;
    const json_t *after;
    unsigned depth;
};

static int compare(const struct step *step, json_t **out);

/* The text of an element; the caller frees it. NULL if out of memory. */
static char *text_of(const json_t *value)
{
    ki_buf text;
    ki_buf_init(&text, TEXT_BYTES_MAX);
    if (ki_as_encode(&text, value) < 0 || ki_buf_append_byte(&text, '\0') < 0)
        ki_buf_fini(&text);
    return text.data;
}

bool ki_as_field_is_unowned(unsigned depth, const char *parent, const char *name)
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

/* Adds the differences under `prefix` + `name`; adds nothing if there are none. */
static int add(json_t *set, char prefix, const char *name, const struct step *step)
{
    assert(prefix == 'f' || prefix == 'k' || prefix == 'v');
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
    assert(json_is_object(step->after));
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)step->after, key, value)
    {
        bool is_unset = step->depth == 0 && json_is_null(value); /* such as a time of an event */
        if (is_unset || ki_as_field_is_unowned(step->depth, parent, key))
            continue;
        struct step inner = {ki_as_shape_member(step->shape, ki_str_of(key)),
                             json_object_get(step->before, key), value, step->depth + 1};
        /* metadata itself has no owner, only its members do. */
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

/* {"name":"nginx"}: the keys that identify an element. NULL if out of memory. */
static json_t *keys_of(struct ki_as_shape element_shape, const struct ki_as_keys *keys, const json_t *element)
{
    assert(keys->count > 0 && keys->count <= KI_AS_KEYS_MAX);
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

/* Compares an element of a keyed list with the element of the previous list that has the same keys. */
static int compare_element(const struct step *step, const struct ki_as_keyed_list *before,
                           const json_t *element, json_t *set)
{
    assert(before->identity.keys.count > 0);
    struct ki_as_shape shape = before->identity.element;
    long at = ki_as_keyed_list_find(before, element);
    const json_t *there = at < 0 ? NULL : json_array_get(step->before, (size_t)at);
    struct step inner = {shape, json_is_object(there) ? there : NULL, element, step->depth + 1};
    json_t *own = keys_of(shape, &before->identity.keys, element);
    char *text = own == NULL ? NULL : text_of(own);
    int rc = text == NULL ? KI_ERR_NO_MEMORY : add(set, 'k', text, &inner);
    ki_free(text);
    json_decref(own);
    return rc;
}

/* Compares an element of a list of scalars. */
static int compare_value(const struct step *step, const struct ki_as_keyed_list *before,
                         const json_t *element, json_t *set)
{
    assert(before->identity.keys.count == 0);
    if (ki_as_keyed_list_find(before, element) >= 0)
        return 0;
    char *text = text_of(element);
    struct step inner = {.after = element, .depth = step->depth + 1};
    int rc = text == NULL ? KI_ERR_NO_MEMORY : add(set, 'v', text, &inner);
    ki_free(text);
    return rc;
}

static int compare_list(const struct step *step, json_t *set)
{
    assert(json_is_array(step->after));
    struct ki_as_identity identity = {.element = ki_as_shape_element(step->shape)};
    bool is_keyed = ki_as_shape_list(step->shape, &identity.keys) == KI_AS_LIST_KEYED;
    struct ki_as_keyed_list *before = ki_malloc(sizeof(*before));
    if (!is_keyed)
        identity.keys.count = 0;
    int rc = before == NULL ? KI_ERR_NO_MEMORY : ki_as_keyed_list_init(before, &identity, step->before, 0);
    if (rc < 0) {
        ki_free(before);
        return KI_ERR_NO_MEMORY;
    }
    for (size_t i = 0; rc == 0 && i < json_array_size(step->after); i++) {
        const json_t *element = json_array_get(step->after, i);
        rc = is_keyed ? compare_element(step, before, element, set)
                      : compare_value(step, before, element, set);
    }
    ki_as_keyed_list_fini(before);
    ki_free(before);
    return rc;
}

static int compare_inside(const struct step *step, json_t *set)
{
    return json_is_object(step->after) ? compare_members(step, "", set) : compare_list(step, set);
}

static bool is_one(const struct step *step)
{
    struct ki_as_keys keys = {0};
    if (json_is_object(step->after))
        return json_object_size(step->after) == 0 || ki_as_shape_is_atomic(step->shape);
    return !json_is_array(step->after) || json_array_size(step->after) == 0 ||
           ki_as_shape_list(step->shape, &keys) == KI_AS_LIST_ATOMIC;
}

/* `*out` stays NULL if nothing differs. */
static int compare(const struct step *step, json_t **out)
{
    assert(*out == NULL && step->after != NULL);
    bool is_new = step->before == NULL || json_typeof(step->before) != json_typeof(step->after);
    /* Below DEPTH_COMPARED_MAX, objects are not compared as a whole, only their members are: comparing the
     * whole at each level would take time proportional to depth times size. */
    bool is_compared = !json_is_object(step->after) || step->depth < DEPTH_COMPARED_MAX || is_one(step);
    if (!is_new && is_compared && ki_as_json_equal(step->before, step->after))
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
    assert(json_is_object(tree) && out != NULL);
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
    assert(set != more);
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
    assert(set != less);
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

/* Decides whether an entry of a set is kept; `inner` is the set below it. */
static int prune_entry(struct ki_as_places *places, const char *entry, json_t *inner, bool *out_is_left)
{
    struct ki_as_place place;
    bool was_leaf = json_object_size(inner) == 0;
    int rc = ki_as_places_find(places, entry, &place);
    if (rc == 0 && place.value != NULL && entry[0] != 'v' && !was_leaf)
        rc = ki_as_field_set_prune(inner, place.value, place.shape);
    if (rc == 0)
        *out_is_left = place.value != NULL && (was_leaf || json_object_size(inner) > 0);
    return rc;
}

int ki_as_field_set_prune(json_t *set, const json_t *tree, struct ki_as_shape shape)
{
    struct ki_as_places places = {.tree = tree, .shape = shape};
    void *next = NULL;
    const char *entry = NULL;
    json_t *inner = NULL;
    int rc = 0;
    json_object_foreach_safe(set, next, entry, inner)
    {
        bool is_left = true;
        if (rc < 0 || strcmp(entry, ".") == 0 || entry[0] == '\0' || entry[1] != ':')
            continue;
        rc = prune_entry(&places, entry, inner, &is_left);
        if (!is_left)
            (void)json_object_del(set, entry);
    }
    ki_as_places_fini(&places);
    return rc;
}
