/* SPDX-License-Identifier: Apache-2.0 */
/* One piece of memory: the struct, labels, fields, then the text with its '{' and what the text does not hold as it is:
 * values of fields, and strings that are escaped in it. */
#include "apiserver/object.h"

#include <kinformer/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/decode.h"
#include "apiserver/encode.h"
#include "util/alloc.h"

/* TEXT_BYTES: what most objects fit into. */
enum { TEXT_BYTES = 4096, VERSION_BYTES = 24 };

#define BLOCK_BYTES_MAX ((size_t)1 << 31)

const char *const ki_as_metadata_order[] = {
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
    NULL,
};

/* Where something is in the block of texts. */
struct span {
    size_t at;
    size_t len;
};

/* What is known while the text is written. */
struct draft {
    ki_buf block;
    ki_str managed; /* instead of the tree's managedFields */
    struct span ns;
    struct span name;
    struct span uid;
    struct span version;
    size_t managed_at;
    const json_t *labels;
    size_t labels_at;      /* behind the '{' of the labels */
    bool is_label_escaped; /* or no string at all: labels are copied then */
    size_t text_len;
};

static ki_str string_of(const json_t *value)
{
    return (ki_str){json_string_value(value), json_string_length(value)};
}

static int append_key(ki_buf *block, const char *before, ki_str key)
{
    int rc = ki_as_encode_plain(block, ki_str_of(before));
    if (rc == 0)
        rc = ki_as_encode_string(block, key);
    return rc < 0 ? rc : ki_as_encode_byte(block, ':');
}

/* Notes where a string will be: within the text, or behind it when that has it escaped. */
static int append_noted(struct draft *draft, const json_t *value, struct span *out)
{
    size_t at = draft->block.len;
    int rc = ki_as_encode(&draft->block, value);
    if (rc == 0 && json_is_string(value) && draft->block.len - at == json_string_length(value) + 2)
        *out = (struct span){at + 1, json_string_length(value)};
    return rc;
}

static int append_labels(struct draft *draft, const json_t *labels)
{
    draft->labels = labels;
    draft->labels_at = draft->block.len + 1;
    size_t plain_bytes = json_object_size(labels) == 0 ? 2 : 1;
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)labels, key, value) plain_bytes +=
        strlen(key) + json_string_length(value) + 6;
    size_t at = draft->block.len;
    int rc = ki_as_encode(&draft->block, labels);
    draft->is_label_escaped = draft->block.len - at != plain_bytes;
    return rc;
}

static int append_metadata_field(struct draft *draft, const char *key, const json_t *value)
{
    if (strcmp(key, "name") == 0)
        return append_noted(draft, value, &draft->name);
    if (strcmp(key, "namespace") == 0)
        return append_noted(draft, value, &draft->ns);
    if (strcmp(key, "uid") == 0)
        return append_noted(draft, value, &draft->uid);
    if (strcmp(key, "resourceVersion") == 0)
        return append_noted(draft, value, &draft->version);
    if (strcmp(key, "labels") == 0 && json_is_object(value))
        return append_labels(draft, value);
    return ki_as_encode(&draft->block, value);
}

bool ki_as_is_empty(const json_t *value)
{
    return value == NULL || json_is_null(value) ||
           (json_is_string(value) && json_string_length(value) == 0) ||
           (json_is_array(value) && json_array_size(value) == 0) ||
           (json_is_object(value) && json_object_size(value) == 0);
}

static int append_metadata(struct draft *draft, const json_t *metadata)
{
    int rc = ki_as_encode_plain(&draft->block, KI_STR("\"metadata\":{"));
    const char *separator = "";
    for (size_t i = 0; rc == 0 && ki_as_metadata_order[i] != NULL; i++) {
        const json_t *value = json_object_get(metadata, ki_as_metadata_order[i]);
        /* Managed fields come last, here or below. */
        if (ki_as_is_empty(value) || (draft->managed.len > 0 && ki_as_metadata_order[i + 1] == NULL))
            continue;
        rc = append_key(&draft->block, separator, ki_str_of(ki_as_metadata_order[i]));
        if (rc == 0)
            rc = append_metadata_field(draft, ki_as_metadata_order[i], value);
        separator = ",";
    }
    if (rc == 0 && draft->managed.len > 0)
        rc = append_key(&draft->block, separator, KI_STR("managedFields"));
    draft->managed_at = draft->block.len;
    if (rc == 0)
        rc = ki_as_encode_plain(&draft->block, draft->managed);
    return rc < 0 ? rc : ki_as_encode_byte(&draft->block, '}');
}

static bool stands_before(const char *key)
{
    return strcmp(key, "kind") == 0 || strcmp(key, "apiVersion") == 0 || strcmp(key, "metadata") == 0;
}

static int append_text(struct draft *draft, const json_t *tree)
{
    int rc = ki_buf_reserve(&draft->block, TEXT_BYTES);
    if (rc == 0)
        rc = ki_as_encode_byte(&draft->block, '{');
    if (rc == 0)
        rc = append_metadata(draft, json_object_get(tree, "metadata"));
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)tree, key, value)
    {
        if (rc < 0 || stands_before(key))
            continue;
        rc = append_key(&draft->block, ",", ki_str_of(key));
        if (rc == 0)
            rc = ki_as_encode(&draft->block, value);
    }
    if (rc == 0)
        rc = ki_as_encode_byte(&draft->block, '}');
    draft->text_len = draft->block.len - 1;
    return rc < 0 ? rc : ki_as_encode_byte(&draft->block, '\0');
}

/* A string that the text holds only escaped goes behind it. */
static int append_missing(struct draft *draft, const json_t *value, struct span *span)
{
    ki_str text = string_of(value);
    if (span->len == text.len)
        return 0;
    *span = (struct span){draft->block.len, text.len};
    return ki_as_encode_plain(&draft->block, text);
}

static int append_copies(struct draft *draft, const json_t *tree, const struct ki_as_pair *fields,
                         size_t field_count)
{
    const json_t *metadata = json_object_get(tree, "metadata");
    int rc = append_missing(draft, json_object_get(metadata, "name"), &draft->name);
    if (rc == 0)
        rc = append_missing(draft, json_object_get(metadata, "namespace"), &draft->ns);
    if (rc == 0)
        rc = append_missing(draft, json_object_get(metadata, "uid"), &draft->uid);
    for (size_t i = 0; rc == 0 && i < field_count; i++)
        rc = ki_as_encode_plain(&draft->block, fields[i].value);
    if (!draft->is_label_escaped)
        return rc;
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)draft->labels, key, value)
    {
        if (rc == 0)
            rc = ki_as_encode_plain(&draft->block, ki_str_of(key));
        if (rc == 0)
            rc = ki_as_encode_plain(&draft->block, string_of(value));
    }
    return rc;
}

static int compare_pairs(const void *a, const void *b)
{
    return ki_str_compare(((const struct ki_as_pair *)a)->name, ((const struct ki_as_pair *)b)->name);
}

/* Labels one after the other: "key":"value", in the text; or keyvaluekeyvalue in the copies, which end the block. */
static void fill_labels(struct ki_as_pair *out, const struct draft *draft, const char *block)
{
    size_t gap = draft->is_label_escaped ? 0 : 3;
    const char *at = block + draft->labels_at + 1;
    const char *key = NULL;
    json_t *value = NULL;
    if (draft->is_label_escaped) {
        at = block + draft->block.len;
        json_object_foreach((json_t *)draft->labels, key, value) at -=
            strlen(key) + json_string_length(value);
    }
    size_t count = 0;
    json_object_foreach((json_t *)draft->labels, key, value)
    {
        out[count].name = (ki_str){at, strlen(key)};
        out[count].value = (ki_str){at + strlen(key) + gap, json_string_length(value)};
        at = out[count].value.ptr + out[count].value.len + gap;
        count++;
    }
    if (count > 1)
        qsort(out, count, sizeof(*out), compare_pairs);
}

static void fill_fields(struct ki_as_pair *out, const struct draft *draft, const struct ki_as_pair *fields,
                        size_t field_count, const char *block)
{
    const char *end = block + draft->block.len;
    const char *key = NULL;
    json_t *value = NULL;
    if (draft->is_label_escaped)
        json_object_foreach((json_t *)draft->labels, key, value) end -=
            strlen(key) + json_string_length(value);
    for (size_t i = field_count; i > 0; i--) {
        end -= fields[i - 1].value.len;
        out[i - 1] = (struct ki_as_pair){fields[i - 1].name, {end, fields[i - 1].value.len}};
    }
}

static ki_str text_at(const char *block, struct span span)
{
    return (ki_str){block + span.at, span.len};
}

static struct ki_as_object *assemble(const struct draft *draft, const json_t *tree,
                                     const struct ki_as_pair *fields, size_t field_count)
{
    size_t label_count = json_object_size(draft->labels);
    size_t pair_bytes = (label_count + field_count) * sizeof(struct ki_as_pair);
    struct ki_as_object *object = ki_malloc(sizeof(*object) + pair_bytes + draft->block.len);
    if (object == NULL)
        return NULL;
    struct ki_as_pair *pairs = (struct ki_as_pair *)(object + 1);
    char *block = (char *)(pairs + label_count + field_count);
    memcpy(block, draft->block.data, draft->block.len);
    const json_t *metadata = json_object_get(tree, "metadata");
    const char *version = json_string_value(json_object_get(metadata, "resourceVersion"));
    *object = (struct ki_as_object){
        .label_count = (uint32_t)label_count,
        .field_count = (uint32_t)field_count,
        .version_at = draft->version.len == 0 ? 0 : (uint32_t)draft->version.at - 1,
        .version_digits = (uint32_t)draft->version.len,
        .block_bytes = (uint32_t)draft->block.len,
        .managed_at = (uint32_t)draft->managed_at,
        .managed_bytes = (uint32_t)draft->managed.len,
        .is_deleting = json_is_string(json_object_get(metadata, "deletionTimestamp")),
        .has_finalizers = json_array_size(json_object_get(metadata, "finalizers")) > 0,
        .version = version == NULL ? 0 : strtoull(version, NULL, 10),
        .ns = text_at(block, draft->ns),
        .name = text_at(block, draft->name),
        .uid = text_at(block, draft->uid),
        .text = {block + 1, draft->text_len},
        .labels = pairs,
        .fields = pairs + label_count,
    };
    ki_refcount_init(&object->refs);
    fill_labels(pairs, draft, block);
    fill_fields(pairs + label_count, draft, fields, field_count, block);
    return object;
}

struct ki_as_object *ki_as_object_new(const json_t *tree, const struct ki_as_pair *fields, size_t field_count)
{
    return ki_as_object_new_managed(tree, (ki_str){0}, fields, field_count);
}

struct ki_as_object *ki_as_object_new_managed(const json_t *tree, ki_str managed,
                                              const struct ki_as_pair *fields, size_t field_count)
{
    struct draft draft = {.managed = managed};
    struct ki_as_object *object = NULL;
    ki_buf_init(&draft.block, BLOCK_BYTES_MAX);
    int rc = append_text(&draft, tree);
    if (rc == 0)
        rc = append_copies(&draft, tree, fields, field_count);
    if (rc == 0)
        object = assemble(&draft, tree, fields, field_count);
    ki_buf_fini(&draft.block);
    return object;
}

struct ki_as_object *ki_as_object_ref(struct ki_as_object *object)
{
    ki_refcount_ref(&object->refs);
    return object;
}

void ki_as_object_unref(struct ki_as_object *object)
{
    if (object != NULL && ki_refcount_unref(&object->refs))
        ki_free(object);
}

/* From one block of texts to another, in which the version may have more or fewer digits. */
struct move {
    const char *from;
    const char *from_digits; /* what lies behind these moves by `shift` as well */
    const char *to;
    ptrdiff_t shift;
};

static ki_str moved(const struct move *move, ki_str text)
{
    ptrdiff_t shift = text.ptr > move->from_digits ? move->shift : 0;
    return (ki_str){move->to + (text.ptr - move->from) + shift, text.len};
}

static void move_pairs(struct ki_as_object *copy, const struct ki_as_object *object, const struct move *move)
{
    struct ki_as_pair *pairs = (struct ki_as_pair *)(copy + 1);
    for (size_t i = 0; i < object->label_count; i++)
        pairs[i] =
            (struct ki_as_pair){moved(move, object->labels[i].name), moved(move, object->labels[i].value)};
    copy->labels = pairs;
    pairs += object->label_count;
    for (size_t i = 0; i < object->field_count; i++)
        pairs[i] = (struct ki_as_pair){object->fields[i].name, moved(move, object->fields[i].value)};
    copy->fields = pairs;
}

struct ki_as_object *ki_as_object_with_version(const struct ki_as_object *object, uint64_t version)
{
    char digits[VERSION_BYTES];
    size_t digit_count = (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)version);
    size_t before = (size_t)object->version_at + 1;
    size_t behind = before + object->version_digits;
    size_t pair_bytes = ((size_t)object->label_count + object->field_count) * sizeof(struct ki_as_pair);
    size_t block_bytes = object->block_bytes - object->version_digits + digit_count;
    struct ki_as_object *copy = ki_malloc(sizeof(*copy) + pair_bytes + block_bytes);
    if (copy == NULL)
        return NULL;
    memcpy(copy, object, sizeof(*copy));
    const char *from = object->text.ptr - 1;
    char *to = (char *)(copy + 1) + pair_bytes;
    memcpy(to, from, before);
    memcpy(to + before, digits, digit_count);
    memcpy(to + before + digit_count, from + behind, object->block_bytes - behind);
    ptrdiff_t shift = (ptrdiff_t)digit_count - (ptrdiff_t)object->version_digits;
    struct move move = {from, from + before, to, shift};
    ki_refcount_init(&copy->refs);
    copy->version = version;
    copy->version_digits = (uint32_t)digit_count;
    copy->block_bytes = (uint32_t)block_bytes;
    copy->managed_at = (uint32_t)((ptrdiff_t)object->managed_at + shift); /* the version stands before it */
    copy->ns = moved(&move, object->ns);
    copy->name = moved(&move, object->name);
    copy->uid = moved(&move, object->uid);
    copy->text = (ki_str){to + 1, (size_t)((ptrdiff_t)object->text.len + shift)};
    move_pairs(copy, object, &move);
    return copy;
}

ki_str ki_as_object_managed(const struct ki_as_object *object)
{
    return (ki_str){object->text.ptr - 1 + object->managed_at, object->managed_bytes};
}

/* Takes the content over; NULL is a failure. */
static json_t *tree_of(json_t *content, const char *kind, const char *api_version)
{
    json_t *tree = json_pack("{s:s, s:s}", "kind", kind, "apiVersion", api_version);
    if (content == NULL || tree == NULL || json_object_update(tree, content) < 0) {
        json_decref(tree);
        tree = NULL;
    }
    json_decref(content);
    return tree;
}

json_t *ki_as_object_tree(const struct ki_as_object *object, const char *kind, const char *api_version)
{
    json_t *content = ki_as_decode((ki_str){object->text.ptr - 1, object->text.len + 1}, NULL);
    return tree_of(content, kind, api_version);
}

json_t *ki_as_object_bare_tree(const struct ki_as_object *object, const char *kind, const char *api_version)
{
    static const char key[] = ",\"managedFields\":"; /* names stand before it */
    const char *text = object->text.ptr - 1;
    size_t before = object->managed_at - (sizeof(key) - 1);
    size_t behind = object->managed_at + object->managed_bytes;
    size_t rest = object->text.len + 1 - behind;
    char *copy = ki_malloc(before + rest);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, before);
    memcpy(copy + before, text + behind, rest);
    json_t *content = ki_as_decode((ki_str){copy, before + rest}, NULL);
    ki_free(copy);
    return tree_of(content, kind, api_version);
}
