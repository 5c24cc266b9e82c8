/* SPDX-License-Identifier: Apache-2.0 */
/* Copies a few fields into the caller's buffer. Nothing is allocated: a string with escapes is unescaped
 * into the buffer, so reading it does not make the object larger. */
#include <assert.h>
#include <kinformer/object.h>
#include <string.h>

#include "json/text.h"

/* Fields that an object stores beside its text, because a projection may have dropped them from the text.
 * The index is the length of the pointer; no two pointers have the same length. */
static const struct {
    const char *pointer;
    ki_str (*read)(const ki_object *object);
} beside[] = {
#define BESIDE(pointer, read) [sizeof(pointer) - 1] = {pointer, read}
    BESIDE("/kind", ki_object_kind),
    BESIDE("/apiVersion", ki_object_api_version),
    BESIDE("/metadata/uid", ki_object_uid),
    BESIDE("/metadata/name", ki_object_name),
    BESIDE("/metadata/namespace", ki_object_namespace),
    BESIDE("/metadata/resourceVersion", ki_object_resource_version),
#undef BESIDE
};

/* The caller's buffer. `used` also counts texts that no longer fit, and so becomes the size needed. */
typedef struct target {
    char *bytes;
    size_t size;
    size_t used;
} target;

/* Reserves `len` bytes and a NUL. Returns where to write them, or NULL if they do not fit. */
static char *take_space(target *to, size_t len)
{
    size_t at = to->used;
    to->used += len + 1;
    assert(to->used > at);
    return to->used > to->size ? NULL : to->bytes + at;
}

static ki_str copy_text(target *to, ki_str text)
{
    char *at = take_space(to, text.len);
    if (at == NULL)
        return (ki_str){0};
    if (text.len > 0)
        memcpy(at, text.ptr, text.len);
    at[text.len] = 0;
    return (ki_str){at, text.len};
}

/* `raw` is the text between the quotes. The text of an object has no invalid escapes. */
static ki_str copy_escaped(target *to, ki_str raw)
{
    size_t len = ki_json_unescaped_len(raw.ptr, raw.len);
    assert(len != KI_JSON_BAD_ESCAPE && len < raw.len);
    char *at = take_space(to, len);
    if (at == NULL)
        return (ki_str){0};
    (void)ki_json_unescape(raw.ptr, raw.len, at);
    at[len] = 0;
    return (ki_str){at, len};
}

static ki_str copy_value(target *to, ki_json value)
{
    ki_str text = {0};
    int rc = ki_json_string(value, &text);
    if (rc == 0)
        return copy_text(to, text);
    if (rc == KI_ERR_ESCAPED)
        return copy_escaped(to, (ki_str){value.raw.ptr + 1, value.raw.len - 2});
    ki_json_type type = ki_json_type_of(value);
    return type == KI_JSON_NONE || type == KI_JSON_NULL ? (ki_str){0} : copy_text(to, value.raw);
}

static ki_str copy_field(target *to, const ki_object *object, const char *pointer)
{
    if (pointer == NULL)
        return (ki_str){0};
    size_t len = strlen(pointer);
    if (len < sizeof(beside) / sizeof(beside[0]) && beside[len].pointer != NULL &&
        memcmp(pointer, beside[len].pointer, len) == 0) {
        ki_str text = beside[len].read(object);
        return text.len == 0 ? (ki_str){0} : copy_text(to, text);
    }
    return copy_value(to, ki_object_find(object, pointer));
}

static int fail(ki_fields *fields, int code)
{
    for (size_t i = 0; i < fields->count && fields->texts != NULL; i++)
        fields->texts[i] = (ki_str){0};
    return code;
}

int ki_object_copy_fields(const ki_object *object, ki_fields *fields)
{
    if (fields == NULL)
        return KI_ERR_INVALID;
    if (object == NULL || (fields->count > 0 && (fields->pointers == NULL || fields->texts == NULL)) ||
        (fields->buffer == NULL && fields->buffer_bytes > 0))
        return fail(fields, KI_ERR_INVALID);
    target to = {fields->buffer, fields->buffer_bytes, 0};
    for (size_t i = 0; i < fields->count; i++)
        fields->texts[i] = copy_field(&to, object, fields->pointers[i]);
    fields->bytes_needed = to.used;
    return to.used > to.size ? fail(fields, KI_ERR_TOO_LARGE) : 0;
}
