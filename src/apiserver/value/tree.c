/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/value/tree.h"

#include <assert.h>
#include <kinformer/error.h>
#include <stdlib.h>
#include <string.h>

#include "util/text/byte.h"

/* Splits a path into its first name and the rest. */
static ki_str first_name(const char *path, const char **out_rest)
{
    assert(path != NULL);
    const char *dot = strchr(path, '.');
    *out_rest = dot == NULL ? NULL : dot + 1;
    return dot == NULL ? ki_str_of(path) : (ki_str){path, (size_t)(dot - path)};
}

json_t *ki_as_json_member(const json_t *object, ki_str name)
{
    return json_is_object(object) ? json_object_getn(object, name.len > 0 ? name.ptr : "", name.len) : NULL;
}

json_t *ki_as_tree_at(const json_t *tree, const char *path)
{
    json_t *at = (json_t *)tree;
    for (const char *rest = path; rest != NULL && at != NULL;) {
        ki_str name = first_name(rest, &rest);
        if (json_is_array(at))
            at = json_array_get(at, (size_t)strtoul(name.ptr, NULL, 10));
        else
            at = ki_as_json_member(at, name);
    }
    return at;
}

const char *ki_as_tree_text(const json_t *tree, const char *path)
{
    const char *text = json_string_value(ki_as_tree_at(tree, path));
    return text == NULL ? "" : text;
}

json_t *ki_as_tree_find(const json_t *tree, const char *path, const char *name, const char *text)
{
    size_t index = 0;
    json_t *element = NULL;
    json_array_foreach(ki_as_tree_at(tree, path), index, element)
    {
        if (strcmp(ki_as_tree_text(element, name), text) == 0)
            return element;
    }
    return NULL;
}

int64_t ki_as_tree_integer(const json_t *tree, const char *path, int64_t otherwise)
{
    const json_t *value = ki_as_tree_at(tree, path);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

bool ki_as_tree_is_true(const json_t *tree, const char *path)
{
    return json_is_true(ki_as_tree_at(tree, path));
}

const char *ki_as_json_type_name(const json_t *value)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "object", [JSON_ARRAY] = "array", [JSON_STRING] = "string", [JSON_INTEGER] = "number",
        [JSON_REAL] = "number",   [JSON_TRUE] = "bool",   [JSON_FALSE] = "bool",    [JSON_NULL] = "null",
    };
    assert(value == NULL || json_typeof(value) < sizeof(names) / sizeof(names[0]));
    return value == NULL ? "null" : names[json_typeof(value)];
}

ki_str ki_as_json_str(const json_t *value)
{
    return json_is_string(value) ? (ki_str){json_string_value(value), json_string_length(value)}
                                 : (ki_str){0};
}

int ki_as_tree_object(json_t *tree, const char *path, json_t **out)
{
    assert(path != NULL && out != NULL);
    json_t *at = tree;
    for (const char *rest = path; rest != NULL && json_is_object(at);) {
        ki_str name = first_name(rest, &rest);
        json_t *next = json_object_getn(at, name.ptr, name.len);
        if (next == NULL || json_is_null(next)) {
            if (json_object_setn_new(at, name.ptr, name.len, json_object()) < 0)
                return KI_ERR_NO_MEMORY;
            next = json_object_getn(at, name.ptr, name.len);
        }
        at = next;
    }
    *out = json_is_object(at) ? at : NULL;
    return 0;
}

/* ---- copies -------------------------------------------------------------------------------------------- */

static json_t *copy_object(const json_t *object)
{
    assert(json_is_object(object));
    json_t *copy = json_object();
    for (void *at = json_object_iter((json_t *)object); copy != NULL && at != NULL;
         at = json_object_iter_next((json_t *)object, at)) {
        if (json_object_setn_new_nocheck(copy, json_object_iter_key(at), json_object_iter_key_len(at),
                                         ki_as_json_copy(json_object_iter_value(at))) < 0) {
            json_decref(copy);
            copy = NULL;
        }
    }
    return copy;
}

static json_t *copy_array(const json_t *array)
{
    assert(json_is_array(array));
    json_t *copy = json_array();
    size_t count = json_array_size(array);
    for (size_t i = 0; copy != NULL && i < count; i++) {
        if (json_array_append_new(copy, ki_as_json_copy(json_array_get(array, i))) < 0) {
            json_decref(copy);
            copy = NULL;
        }
    }
    return copy;
}

json_t *ki_as_json_copy(const json_t *value)
{
    if (value == NULL)
        return NULL;
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return copy_object(value);
    case JSON_ARRAY:
        return copy_array(value);
    case JSON_STRING:
        return json_stringn_nocheck(json_string_value(value), json_string_length(value));
    case JSON_INTEGER:
        return json_integer(json_integer_value(value));
    case JSON_REAL:
        return json_real(json_real_value(value));
    default:
        return json_incref((json_t *)value); /* a singleton in jansson */
    }
}

/* ---- equality ------------------------------------------------------------------------------------------ */

static bool is_same_text(ki_str a, ki_str b)
{
    return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}

static ki_str key_at(void *at)
{
    return (ki_str){json_object_iter_key(at), json_object_iter_key_len(at)};
}

static bool is_same_object(json_t *a, json_t *b)
{
    void *other = json_object_iter(b);
    if (json_object_size(a) != json_object_size(b))
        return false;
    for (void *at = json_object_iter(a); at != NULL; at = json_object_iter_next(a, at)) {
        ki_str key = key_at(at);
        bool is_beside = other != NULL && is_same_text(key, key_at(other));
        const json_t *value = is_beside ? json_object_iter_value(other) : ki_as_json_member(b, key);
        if (!ki_as_json_equal(json_object_iter_value(at), value))
            return false;
        other = other == NULL ? NULL : json_object_iter_next(b, other);
    }
    return true;
}

static bool is_same_array(const json_t *a, const json_t *b)
{
    size_t count = json_array_size(a);
    if (count != json_array_size(b))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!ki_as_json_equal(json_array_get(a, i), json_array_get(b, i)))
            return false;
    return true;
}

bool ki_as_json_equal(const json_t *a, const json_t *b)
{
    if (a == NULL || b == NULL || json_typeof(a) != json_typeof(b))
        return false;
    switch (json_typeof(a)) {
    case JSON_OBJECT:
        return a == b || is_same_object((json_t *)a, (json_t *)b);
    case JSON_ARRAY:
        return a == b || is_same_array(a, b);
    case JSON_STRING:
        return is_same_text(ki_as_json_str(a), ki_as_json_str(b));
    default:
        return json_equal(a, b);
    }
}

/* ---- values in messages -------------------------------------------------------------------------------- */

/* The length of the character that starts here; 0 if it is not valid UTF-8. */
static size_t character_bytes(ki_str text, size_t at)
{
    assert(at < text.len);
    unsigned char first = (unsigned char)text.ptr[at];
    size_t bytes = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
    if (bytes == 0 || first > 0xf4 || bytes > text.len - at)
        return 0;
    for (size_t i = 1; i < bytes; i++) {
        if (!ki_byte_is_continuation(text.ptr[at + i]))
            return 0;
    }
    return bytes;
}

static int quote_byte(ki_buf *out, unsigned char byte)
{
    assert(byte < ' ' || byte >= 0x7f || byte == '"' || byte == '\\');
    static const char digits[] = "0123456789abcdef";
    static const char named[] = "abtnvfr"; /* the escape letters of the bytes 7 to 13 */
    if (byte >= 7 && byte <= 13)
        return ki_buf_append(out, (char[]){'\\', named[byte - 7]}, 2);
    if (byte == '"' || byte == '\\')
        return ki_buf_append(out, (char[]){'\\', (char)byte}, 2);
    return ki_buf_append(out, (char[]){'\\', 'x', digits[byte >> 4], digits[byte & 15]}, 4);
}

int ki_as_quote(ki_buf *out, ki_str text)
{
    int rc = ki_buf_append_byte(out, '"');
    for (size_t i = 0; i < text.len && rc == 0;) {
        size_t bytes = character_bytes(text, i);
        unsigned char byte = (unsigned char)text.ptr[i];
        bool is_plain =
            bytes > 1 || (bytes == 1 && byte >= ' ' && byte != 0x7f && byte != '"' && byte != '\\');
        rc = is_plain ? ki_buf_append(out, text.ptr + i, bytes) : quote_byte(out, byte);
        i += bytes > 0 ? bytes : 1;
    }
    return rc < 0 ? rc : ki_buf_append_byte(out, '"');
}

enum { VALUE_BYTES_MAX = 16 * 1024 * 1024 };

char *ki_as_quoted(ki_str text)
{
    ki_buf buf;
    ki_buf_init(&buf, VALUE_BYTES_MAX);
    if (ki_as_quote(&buf, text) < 0 || ki_buf_append_byte(&buf, 0) < 0) {
        ki_buf_fini(&buf);
        return NULL;
    }
    return buf.data;
}

static int append_json(const char *bytes, size_t len, void *user)
{
    return ki_buf_append(user, bytes, len) < 0 ? -1 : 0;
}

char *ki_as_value_text(const json_t *value)
{
    if (json_is_string(value))
        return ki_as_quoted(ki_as_json_str(value));
    ki_buf buf;
    ki_buf_init(&buf, VALUE_BYTES_MAX);
    int rc = value == NULL ? ki_buf_append_str(&buf, KI_STR("null"))
                           : json_dump_callback(value, append_json, &buf, JSON_COMPACT | JSON_ENCODE_ANY);
    if (rc < 0 || ki_buf_append_byte(&buf, 0) < 0) {
        ki_buf_fini(&buf);
        return NULL;
    }
    return buf.data;
}

void ki_as_cut_at_character(char *text)
{
    enum { CONTINUATIONS_MAX = 3 };
    size_t len = strlen(text);
    size_t tail = 0;
    while (tail < len && tail < CONTINUATIONS_MAX && ki_byte_is_continuation(text[len - tail - 1]))
        tail++;
    if (tail == len)
        return;
    unsigned char lead = (unsigned char)text[len - tail - 1];
    size_t wanted = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
    if (tail < wanted)
        text[len - tail - 1] = '\0';
}
