/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/patch/field_text.h"

#include <assert.h>
#include <kinformer/error.h>
#include <string.h>

#include "apiserver/kind/keyed_list.h"
#include "apiserver/patch/field_set.h"
#include "apiserver/value/encode.h"
#include "apiserver/value/tree.h"

#define KEY_BYTES_MAX ((size_t)1 << 30)

/* One value of the object. */
struct place {
    struct ki_as_shape shape;
    const json_t *value;
    unsigned depth;
};

static int write_value(ki_buf *out, const struct place *place);

static int write_separator(ki_buf *out, bool *is_first)
{
    int rc = *is_first ? 0 : ki_as_encode_byte(out, ',');
    *is_first = false;
    return rc;
}

/* ---- members ------------------------------------------------------------------------------------------- */

static bool is_scalar(const json_t *value)
{
    return !json_is_object(value) && !json_is_array(value);
}

/* "f:name":{…} of the object at `outer`. Scalars need no shape. */
static int write_member(ki_buf *out, ki_str name, const struct place *outer, const json_t *value)
{
    int rc = ki_as_encode_prefixed(out, KI_STR("f:"), name);
    if (rc == 0 && is_scalar(value))
        return ki_as_encode_plain(out, KI_STR(":{}"));
    if (rc == 0)
        rc = ki_as_encode_byte(out, ':');
    struct place inner = {ki_as_shape_member(outer->shape, name), value, outer->depth + 1};
    return rc < 0 ? rc : write_value(out, &inner);
}

static int write_members(ki_buf *out, const struct place *place, const char *parent, bool *is_first)
{
    assert(json_is_object(place->value));
    json_t *object = (json_t *)place->value;
    int rc = 0;
    for (void *at = json_object_iter(object); rc == 0 && at != NULL; at = json_object_iter_next(object, at)) {
        ki_str name = {json_object_iter_key(at), json_object_iter_key_len(at)};
        if (parent[0] != '\0' && ki_as_field_is_unowned(place->depth, parent, name.ptr))
            continue;
        rc = write_separator(out, is_first);
        if (rc == 0)
            rc = write_member(out, name, place, json_object_iter_value(at));
    }
    return rc;
}

/* ---- elements ------------------------------------------------------------------------------------------ */

/* {"name":"nginx"}, sorted by name. */
static int write_keys(ki_buf *key, struct ki_as_shape shape, const struct ki_as_keys *keys,
                      const json_t *element)
{
    assert(keys->count > 0 && keys->count <= KI_AS_KEYS_MAX);
    int rc = ki_as_encode_byte(key, '{');
    bool is_first = true;
    for (size_t i = 0; rc == 0 && i < keys->count; i++) {
        const json_t *value = ki_as_json_member(element, keys->names[i]);
        const char *otherwise = value == NULL ? ki_as_shape_key_default(shape, keys->names[i]) : NULL;
        if (value == NULL && otherwise == NULL)
            continue;
        rc = write_separator(key, &is_first);
        if (rc == 0)
            rc = ki_as_encode_string(key, keys->names[i]);
        if (rc == 0)
            rc = ki_as_encode_byte(key, ':');
        if (rc == 0)
            rc = value != NULL ? ki_as_encode(key, value) : ki_as_encode_string(key, ki_str_of(otherwise));
    }
    return rc < 0 ? rc : ki_as_encode_byte(key, '}');
}

/* A list whose elements are identified by keys or by value. */
struct list {
    const struct place *place;
    bool is_keyed;
    struct ki_as_keyed_list elements;
    ki_buf key; /* of one element, before escaping */
};

/* "k:{…}":{…} or "v:…":{…} */
static int write_element(ki_buf *out, struct list *list, const json_t *element, bool *is_first)
{
    const struct ki_as_identity *identity = &list->elements.identity;
    struct place inner = {.value = element, .depth = list->place->depth + 1};
    if (list->is_keyed)
        inner.shape = identity->element;
    list->key.len = 0;
    int rc = list->is_keyed ? write_keys(&list->key, inner.shape, &identity->keys, element)
                            : ki_as_encode(&list->key, element);
    if (rc == 0)
        rc = write_separator(out, is_first);
    if (rc == 0)
        rc = ki_as_encode_prefixed(out, list->is_keyed ? KI_STR("k:") : KI_STR("v:"), ki_buf_str(&list->key));
    if (rc == 0)
        rc = ki_as_encode_byte(out, ':');
    return rc < 0 ? rc : write_value(out, &inner);
}

/* Of several elements with the same keys, only the first is written. */
static int write_elements(ki_buf *out, const struct place *place, bool *is_first)
{
    assert(json_is_array(place->value));
    struct ki_as_identity identity = {.element = ki_as_shape_element(place->shape)};
    struct list list = {.place = place};
    size_t count = json_array_size(place->value);
    list.is_keyed = ki_as_shape_list(place->shape, &identity.keys) == KI_AS_LIST_KEYED;
    if (!list.is_keyed)
        identity.keys.count = 0;
    ki_buf_init(&list.key, KEY_BYTES_MAX);
    int rc = ki_as_keyed_list_init(&list.elements, &identity, place->value, 0);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const json_t *element = json_array_get(place->value, i);
        if (ki_as_keyed_list_find(&list.elements, element) == (long)i)
            rc = write_element(out, &list, element, is_first);
    }
    ki_as_keyed_list_fini(&list.elements);
    ki_buf_fini(&list.key);
    return rc;
}

/* ---- values -------------------------------------------------------------------------------------------- */

/* Whether the value is owned as a whole. */
static bool is_one(const struct place *place)
{
    assert(!is_scalar(place->value));
    struct ki_as_keys keys;
    if (json_is_object(place->value))
        return json_object_size(place->value) == 0 || ki_as_shape_is_atomic(place->shape);
    return json_array_size(place->value) == 0 || ki_as_shape_list(place->shape, &keys) == KI_AS_LIST_ATOMIC;
}

static int write_value(ki_buf *out, const struct place *place)
{
    if (is_scalar(place->value) || is_one(place))
        return ki_as_encode_plain(out, KI_STR("{}"));
    bool is_first = place->depth <= 1;
    int rc = ki_as_encode_plain(out, is_first ? KI_STR("{") : KI_STR("{\".\":{}"));
    if (rc == 0)
        rc = json_is_object(place->value) ? write_members(out, place, "", &is_first)
                                          : write_elements(out, place, &is_first);
    return rc < 0 ? rc : ki_as_encode_byte(out, '}');
}

/* metadata itself has no entry ".", and is omitted if no member has an owner. */
static int write_metadata(ki_buf *out, const struct place *place, bool *is_first)
{
    assert(place->depth == 1);
    size_t start = out->len;
    bool was_first = *is_first;
    bool is_empty = true;
    int rc = write_separator(out, is_first);
    if (rc == 0)
        rc = ki_as_encode_plain(out, KI_STR("\"f:metadata\":{"));
    if (rc == 0)
        rc = write_members(out, place, "metadata", &is_empty);
    if (rc < 0 || !is_empty)
        return rc < 0 ? rc : ki_as_encode_byte(out, '}');
    out->len = start;
    *is_first = was_first;
    return 0;
}

int ki_as_field_text(struct ki_as_shape shape, const json_t *tree, ki_buf *out)
{
    assert(json_is_object(tree));
    struct place whole = {shape, tree, 0};
    bool is_first = true;
    int rc = ki_as_encode_byte(out, '{');
    for (void *at = json_object_iter((json_t *)tree); rc == 0 && at != NULL;
         at = json_object_iter_next((json_t *)tree, at)) {
        ki_str name = {json_object_iter_key(at), json_object_iter_key_len(at)};
        const json_t *value = json_object_iter_value(at);
        bool is_unset = json_is_null(value); /* such as a time of an event */
        if (is_unset || ki_as_field_is_unowned(0, "", name.ptr))
            continue;
        if (ki_str_equal(name, KI_STR("metadata")) && json_is_object(value)) {
            rc = write_metadata(out, &(struct place){ki_as_shape_member(shape, name), value, 1}, &is_first);
            continue;
        }
        rc = write_separator(out, &is_first);
        if (rc == 0)
            rc = write_member(out, name, &whole, value);
    }
    return rc < 0 ? rc : ki_as_encode_byte(out, '}');
}
