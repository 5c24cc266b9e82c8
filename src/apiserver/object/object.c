/* SPDX-License-Identifier: Apache-2.0 */
/* One allocation: the struct, labels, fields, then the text with its '{', then copies: the values of fields,
 * and strings that are escaped in the text. */
#include "apiserver/object/object.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/object/object_draft.h"
#include "apiserver/value/decode.h"
#include "util/alloc.h"

enum { VERSION_BYTES = 24 };

#define BLOCK_BYTES_MAX ((size_t)1 << 31)

static int compare_pairs(const void *a, const void *b)
{
    return ki_str_compare(((const struct ki_as_pair *)a)->name, ((const struct ki_as_pair *)b)->name);
}

/* The labels are adjacent: in the text as "key":"value", or, if they were copied,
 * as keyvaluekeyvalue at the end of the block. */
static void fill_labels(struct ki_as_pair *out, const struct ki_as_draft *draft, const char *block)
{
    assert(draft->labels_at < draft->block->len);
    size_t gap = draft->is_label_escaped ? 0 : 3;
    const char *at = block + draft->labels_at + 1;
    const char *key = NULL;
    json_t *value = NULL;
    if (draft->is_label_escaped) {
        at = block + draft->block->len;
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

static void fill_fields(struct ki_as_pair *out, const struct ki_as_draft *draft, const char *block)
{
    const struct ki_as_pair *fields = draft->parts->fields;
    const char *end = block + draft->block->len;
    const char *key = NULL;
    json_t *value = NULL;
    if (draft->is_label_escaped)
        json_object_foreach((json_t *)draft->labels, key, value) end -=
            strlen(key) + json_string_length(value);
    for (size_t i = draft->parts->field_count; i > 0; i--) {
        end -= fields[i - 1].value.len;
        out[i - 1] = (struct ki_as_pair){fields[i - 1].name, {end, fields[i - 1].value.len}};
        if (draft->parts->has_own_names)
            out[i - 1].name.ptr = end -= fields[i - 1].name.len;
        assert(end > block + draft->text_len);
    }
}

static ki_str text_at(const char *block, struct ki_as_span span)
{
    assert(span.len == 0 || span.at > 0);
    return (ki_str){block + span.at, span.len};
}

/* The version as a number, from the digits in the block. */
static uint64_t version_of(const struct ki_as_draft *draft)
{
    assert(draft->version.at + draft->version.len <= draft->block->len);
    uint64_t version = 0;
    for (size_t i = 0; i < draft->version.len; i++) {
        char digit = draft->block->data[draft->version.at + i];
        if (digit < '0' || digit > '9')
            break;
        version = version * 10 + (uint64_t)(digit - '0');
    }
    return version;
}

static struct ki_as_object *assemble(const struct ki_as_draft *draft)
{
    assert(draft->block->data[0] == '{' && draft->text_len + 2 <= draft->block->len);
    size_t label_count = json_object_size(draft->labels);
    size_t field_count = draft->parts->field_count;
    size_t pair_bytes = (label_count + field_count) * sizeof(struct ki_as_pair);
    struct ki_as_object *object = ki_malloc(sizeof(*object) + pair_bytes + draft->block->len);
    if (object == NULL)
        return NULL;
    struct ki_as_pair *pairs = (struct ki_as_pair *)(object + 1);
    char *block = (char *)(pairs + label_count + field_count);
    memcpy(block, draft->block->data, draft->block->len);
    *object = (struct ki_as_object){
        .label_count = (uint32_t)label_count,
        .field_count = (uint32_t)field_count,
        .version_at = draft->version.len == 0 ? 0 : (uint32_t)draft->version.at - 1,
        .version_digits = (uint32_t)draft->version.len,
        .block_bytes = (uint32_t)draft->block->len,
        .is_deleting = draft->is_deleting,
        .has_finalizers = draft->has_finalizers,
        .has_own_names = draft->parts->has_own_names,
        .version = version_of(draft),
        .ns = text_at(block, draft->ns),
        .name = text_at(block, draft->name),
        .uid = text_at(block, draft->uid),
        .text = {block + 1, draft->text_len},
        .labels = pairs,
        .fields = pairs + label_count,
    };
    ki_refcount_init(&object->refs);
    fill_labels(pairs, draft, block);
    fill_fields(pairs + label_count, draft, block);
    return object;
}

struct ki_as_object *ki_as_object_make(const struct ki_as_object_parts *parts)
{
    assert(parts != NULL && json_is_object(parts->tree));
    assert(parts->scratch == NULL || parts->scratch->len == 0);
    ki_buf own;
    ki_buf_init(&own, BLOCK_BYTES_MAX);
    struct ki_as_draft draft = {.parts = parts, .block = parts->scratch == NULL ? &own : parts->scratch};
    struct ki_as_object *object = ki_as_draft_write(&draft) == 0 ? assemble(&draft) : NULL;
    ki_buf_fini(&own);
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

/* Maps pointers from one block of texts to another, in which the version may have more or fewer digits. */
struct move {
    const char *from;
    const char *from_digits; /* pointers after these also move by `shift` */
    const char *to;
    ptrdiff_t shift;
};

static ki_str moved(const struct move *move, ki_str text)
{
    assert(text.ptr >= move->from);
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
    for (size_t i = 0; i < object->field_count; i++) {
        ki_str name = object->fields[i].name;
        pairs[i] = (struct ki_as_pair){object->has_own_names ? moved(move, name) : name,
                                       moved(move, object->fields[i].value)};
    }
    copy->fields = pairs;
}

struct ki_as_object *ki_as_object_with_version(const struct ki_as_object *object, uint64_t version)
{
    assert(object->version_digits > 0);
    char digits[VERSION_BYTES];
    size_t digit_count = (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)version);
    size_t before = (size_t)object->version_at + 1;
    size_t behind = before + object->version_digits;
    assert(behind <= object->block_bytes);
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
    copy->ns = moved(&move, object->ns);
    copy->name = moved(&move, object->name);
    copy->uid = moved(&move, object->uid);
    copy->text = (ki_str){to + 1, (size_t)((ptrdiff_t)object->text.len + shift)};
    move_pairs(copy, object, &move);
    return copy;
}

json_t *ki_as_object_tree(const struct ki_as_object *object, const char *kind, const char *api_version)
{
    assert(kind != NULL && api_version != NULL);
    json_t *content = ki_as_decode((ki_str){object->text.ptr - 1, object->text.len + 1}, NULL);
    json_t *tree = json_pack("{s:s, s:s}", "kind", kind, "apiVersion", api_version);
    if (content == NULL || tree == NULL || json_object_update(tree, content) < 0) {
        json_decref(tree);
        tree = NULL;
    }
    json_decref(content);
    return tree;
}
