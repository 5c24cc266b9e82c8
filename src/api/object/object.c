/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the metadata of an object. */
#include <assert.h>
#include <kinformer/object.h>
#include <string.h>

#include "api/object/object_layout.h"
#include "api/object/object_probe.h"
#include "json/skip.h"
#include "util/alloc.h"

ki_object *ki_object_ref(const ki_object *object)
{
    if (object == NULL)
        return NULL;
    ki_object *shared = (ki_object *)object; /* the count is not part of the const state */
    ki_refcount_ref(&shared->refs);
    return shared;
}

ki_object *ki_object_unref(ki_object *object)
{
    if (object != NULL && ki_refcount_unref(&object->refs)) {
        ki_object_free_unescaped(object);
        ki_free(object);
    }
    return NULL;
}

/* Other threads may use the object meanwhile. Fields that change are not copied: the count, the unescaped
 * strings, and the mark. */
ki_object *ki_object_copy(const ki_object *object)
{
    assert(object != NULL);
    const size_t fields_at = offsetof(ki_object, text_len);
    const size_t fields_end = offsetof(ki_object, mark);
    ki_object *copy = ki_malloc(object->text_at + object->text_len);
    if (copy == NULL)
        return NULL;
    ki_refcount_init(&copy->refs);
    atomic_init(&copy->unescaped, NULL);
    copy->text_at = object->text_at;
    memcpy((char *)copy + fields_at, (const char *)object + fields_at, fields_end - fields_at);
    memcpy((char *)copy + KI_OBJECT_HEADER_BYTES, ki_object_at(object, KI_OBJECT_HEADER_BYTES),
           object->text_at + object->text_len - KI_OBJECT_HEADER_BYTES);
    return copy;
}

const char *ki_object_key(const ki_object *object)
{
    return object == NULL ? "" : ki_object_at(object, object->key_at);
}

ki_str ki_object_key_str(const ki_object *object)
{
    if (object == NULL)
        return (ki_str){0};
    size_t slash = object->namespace_len > 0;
    return (ki_str){ki_object_key(object), object->namespace_len + slash + object->name_len};
}

ki_str ki_object_namespace(const ki_object *object)
{
    return (ki_str){ki_object_key(object), object == NULL ? 0 : object->namespace_len};
}

ki_str ki_object_name(const ki_object *object)
{
    if (object == NULL)
        return (ki_str){0};
    size_t slash = object->namespace_len > 0;
    return (ki_str){ki_object_key(object) + object->namespace_len + slash, object->name_len};
}

static ki_str string_field(const ki_object *object, int field)
{
    if (object == NULL)
        return (ki_str){0};
    return (ki_str){ki_object_at(object, object->string_at[field]), object->string_len[field]};
}

ki_str ki_object_uid(const ki_object *object)
{
    return string_field(object, KI_FIELD_UID);
}

ki_str ki_object_resource_version(const ki_object *object)
{
    return string_field(object, KI_FIELD_RESOURCE_VERSION);
}

ki_str ki_object_api_version(const ki_object *object)
{
    return string_field(object, KI_FIELD_API_VERSION);
}

ki_str ki_object_kind(const ki_object *object)
{
    return string_field(object, KI_FIELD_KIND);
}

static const char *const placed_pointers[KI_FIELD_PLACED] = {
    [KI_FIELD_CREATION_TIME] = "/metadata/creationTimestamp",
    [KI_FIELD_DELETION_TIME] = "/metadata/deletionTimestamp",
    [KI_FIELD_GENERATION] = "/metadata/generation",
    [KI_FIELD_LABELS] = "/metadata/labels",
    [KI_FIELD_ANNOTATIONS] = "/metadata/annotations",
    [KI_FIELD_OWNERS] = "/metadata/ownerReferences",
    [KI_FIELD_FINALIZERS] = "/metadata/finalizers",
};

/* Returns the value of a field that has a stored offset. Only the start is stored; the end is found by
 * skipping the value. */
static ki_json placed_field(const ki_object *object, int field)
{
    unsigned bit = 1U << (field - KI_FIELD_STRINGS);
    if (object == NULL || (object->has & bit) == 0) {
        ki_object_probe_miss(object, placed_pointers[field]);
        return (ki_json){0};
    }
    unsigned before = (unsigned)__builtin_popcount(object->has & (bit - 1));
    const char *start = ki_object_at(object, object->places[before]);
    const char *end = ki_object_at(object, object->text_at) + object->text_len;
    return (ki_json){{start, ki_json_skip_value(start, (size_t)(end - start))}};
}

int64_t ki_object_generation(const ki_object *object)
{
    int64_t generation = 0;
    return ki_json_int64(placed_field(object, KI_FIELD_GENERATION), &generation) == 0 ? generation : 0;
}

static int time_field(const ki_object *object, int field, ki_timestamp *out_time)
{
    if (object == NULL || out_time == NULL)
        return KI_ERR_INVALID;
    ki_json value = placed_field(object, field);
    ki_str text = {0};
    if (ki_json_type_of(value) == KI_JSON_NONE)
        return KI_ERR_NOT_FOUND;
    return ki_json_string(value, &text) < 0 ? KI_ERR_TIMESTAMP : ki_timestamp_parse(text, out_time);
}

int ki_object_creation_time(const ki_object *object, ki_timestamp *out_time)
{
    return time_field(object, KI_FIELD_CREATION_TIME, out_time);
}

int ki_object_deletion_time(const ki_object *object, ki_timestamp *out_time)
{
    return time_field(object, KI_FIELD_DELETION_TIME, out_time);
}

ki_json ki_object_labels(const ki_object *object)
{
    return placed_field(object, KI_FIELD_LABELS);
}

ki_json ki_object_annotations(const ki_object *object)
{
    return placed_field(object, KI_FIELD_ANNOTATIONS);
}

ki_json ki_object_owner_references(const ki_object *object)
{
    return placed_field(object, KI_FIELD_OWNERS);
}

ki_json ki_object_finalizers(const ki_object *object)
{
    return placed_field(object, KI_FIELD_FINALIZERS);
}

static int member_text(const ki_object *object, ki_json map, ki_str name, ki_str *out_value)
{
    if (object == NULL || out_value == NULL)
        return KI_ERR_INVALID;
    ki_json value = ki_json_member(map, name);
    return ki_json_type_of(value) == KI_JSON_NONE ? KI_ERR_NOT_FOUND
                                                  : ki_object_text(object, value, out_value);
}

int ki_object_label(const ki_object *object, ki_str name, ki_str *out_value)
{
    int rc = member_text(object, ki_object_labels(object), name, out_value);
    if (rc == KI_ERR_NOT_FOUND && ki_object_probe_current != NULL)
        ki_object_probe_note(object, NULL, name);
    return rc;
}

int ki_object_annotation(const ki_object *object, ki_str name, ki_str *out_value)
{
    return member_text(object, ki_object_annotations(object), name, out_value);
}

/* *out_text stays empty if the member is missing or not a string. */
static int owner_text(const ki_object *object, ki_json owner, ki_str name, ki_str *out_text)
{
    int rc = member_text(object, owner, name, out_text);
    return rc == KI_ERR_NO_MEMORY ? rc : 0;
}

static int owner_flag(ki_json owner, ki_str name)
{
    int flag = 0;
    return ki_json_bool(ki_json_member(owner, name), &flag) == 0 && flag;
}

static int read_owner(const ki_object *object, ki_json json, ki_owner *out_owner)
{
    ki_owner owner = {.is_controller = owner_flag(json, KI_STR("controller")),
                      .blocks_deletion = owner_flag(json, KI_STR("blockOwnerDeletion"))};
    int rc = owner_text(object, json, KI_STR("apiVersion"), &owner.api_version);
    if (rc == 0)
        rc = owner_text(object, json, KI_STR("kind"), &owner.kind);
    if (rc == 0)
        rc = owner_text(object, json, KI_STR("name"), &owner.name);
    if (rc == 0)
        rc = owner_text(object, json, KI_STR("uid"), &owner.uid);
    if (rc == 0)
        *out_owner = owner;
    return rc;
}

int ki_object_owner(const ki_object *object, size_t index, ki_owner *out_owner)
{
    if (object == NULL || out_owner == NULL)
        return KI_ERR_INVALID;
    ki_json_iter iter = ki_json_iterate(ki_object_owner_references(object));
    ki_json owner = {0};
    while (ki_json_next(&iter, NULL, &owner))
        if (index-- == 0)
            return read_owner(object, owner, out_owner);
    return KI_ERR_NOT_FOUND;
}

int ki_object_controller(const ki_object *object, ki_owner *out_owner)
{
    if (object == NULL || out_owner == NULL)
        return KI_ERR_INVALID;
    ki_json_iter iter = ki_json_iterate(ki_object_owner_references(object));
    ki_json owner = {0};
    while (ki_json_next(&iter, NULL, &owner))
        if (owner_flag(owner, KI_STR("controller")))
            return read_owner(object, owner, out_owner);
    return KI_ERR_NOT_FOUND;
}

int ki_object_equal(const ki_object *a, const ki_object *b)
{
    return a == b || (a != NULL && b != NULL && ki_str_equal(ki_object_json(a), ki_object_json(b)));
}

static int is_decimal(ki_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return 0;
    return text.len > 0;
}

static ki_str without_leading_zeros(ki_str text)
{
    while (text.len > 1 && text.ptr[0] == '0')
        text = (ki_str){text.ptr + 1, text.len - 1};
    return text;
}

int ki_resource_version_compare(ki_str a, ki_str b, int *out_order)
{
    if (out_order == NULL)
        return KI_ERR_INVALID;
    if (!is_decimal(a) || !is_decimal(b))
        return KI_ERR_TYPE;
    a = without_leading_zeros(a);
    b = without_leading_zeros(b);
    int order = a.len != b.len ? (a.len > b.len) - (a.len < b.len) : memcmp(a.ptr, b.ptr, a.len);
    *out_order = (order > 0) - (order < 0);
    return 0;
}
