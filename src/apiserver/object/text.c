/* SPDX-License-Identifier: Apache-2.0 */
#define ZLIB_CONST /* makes zlib's input pointer const */
#include "apiserver/object/text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "apiserver/object/convert.h"
#include "apiserver/value/encode.h"

/* CONVERTED_BYTES: an upper bound of the bytes that the longer names of the other form add. */
enum { NUMBER_BYTES = 24, CONVERTED_BYTES = 64 };

int ki_as_text_put(ki_buf *text, const char *word)
{
    assert(word != NULL);
    return ki_buf_append(text, word, strlen(word));
}

int ki_as_text_number(ki_buf *text, uint64_t number)
{
    char digits[NUMBER_BYTES];
    int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number);
    return ki_buf_append(text, digits, (size_t)len);
}

static int on_dump(const char *bytes, size_t n, void *user)
{
    return n == 0 ? 0 : ki_buf_append(user, bytes, n);
}

int ki_as_text_tree(ki_buf *text, const json_t *tree)
{
    if (tree == NULL || json_dump_callback(tree, on_dump, text, JSON_COMPACT | JSON_ENCODE_ANY) != 0)
        return KI_ERR_NO_MEMORY;
    return 0;
}

/* ---- objects ------------------------------------------------------------------------------------------- */

static int put_kind(ki_buf *text, const struct ki_as_resource *resource)
{
    int rc = ki_as_text_put(text, "{\"kind\":\"");
    if (rc == 0)
        rc = ki_as_text_put(text, resource->kind);
    if (rc == 0)
        rc = ki_as_text_put(text, "\",\"apiVersion\":\"");
    if (rc == 0)
        rc = ki_as_text_put(text, resource->api_version);
    return rc == 0 ? ki_as_text_put(text, "\",") : rc;
}

/* Writes an event in the form of events.k8s.io, which differs from the stored form. */
static int put_converted(ki_buf *text, const struct ki_as_resource *resource,
                         const struct ki_as_object *object, uint64_t version)
{
    char digits[NUMBER_BYTES];
    json_t *tree = ki_as_shown_tree(resource, object);
    json_t *metadata = json_object_get(tree, "metadata");
    (void)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)version);
    int rc = tree == NULL ? KI_ERR_NO_MEMORY : 0;
    if (rc == 0 && version != 0 && json_object_set_new(metadata, "resourceVersion", json_string(digits)) < 0)
        rc = KI_ERR_NO_MEMORY;
    if (rc == 0)
        rc = ki_as_encode(text, tree);
    json_decref(tree);
    return rc;
}

int ki_as_text_item(ki_buf *text, const struct ki_as_resource *resource, const struct ki_as_object *object)
{
    if (resource->is_custom)
        return ki_as_text_object(text, resource, object, 0);
    if (!ki_as_is_converted(resource)) {
        int rc = ki_as_text_put(text, "{");
        return rc == 0 ? ki_buf_append_str(text, object->text) : rc;
    }
    json_t *tree = ki_as_shown_tree(resource, object);
    (void)json_object_del(tree, "kind");
    (void)json_object_del(tree, "apiVersion");
    int rc = tree == NULL ? KI_ERR_NO_MEMORY : ki_as_encode(text, tree);
    json_decref(tree);
    return rc;
}

int ki_as_text_object(ki_buf *text, const struct ki_as_resource *resource, const struct ki_as_object *object,
                      uint64_t version)
{
    if (ki_as_is_converted(resource))
        return put_converted(text, resource, object, version);
    int rc = put_kind(text, resource);
    if (rc < 0)
        return rc;
    if (version == 0 || version == object->version)
        return ki_buf_append_str(text, object->text);
    assert(object->version_digits > 0);
    ki_str before = {object->text.ptr, object->version_at};
    size_t skip = (size_t)object->version_at + object->version_digits;
    assert(skip <= object->text.len);
    ki_str after = {object->text.ptr + skip, object->text.len - skip};
    rc = ki_buf_append_str(text, before);
    if (rc == 0)
        rc = ki_as_text_number(text, version);
    return rc == 0 ? ki_buf_append_str(text, after) : rc;
}

size_t ki_as_text_object_bytes(const struct ki_as_resource *resource, const struct ki_as_object *object)
{
    size_t names = strlen(resource->kind) + strlen(resource->api_version) + 32;
    return object->text.len + NUMBER_BYTES + 1 + names + (ki_as_is_converted(resource) ? CONVERTED_BYTES : 0);
}

/* ---- indented output ----------------------------------------------------------------------------------- */

static int put_line(ki_buf *text, size_t depth)
{
    int rc = ki_buf_reserve(text, depth * 2 + 1);
    if (rc < 0)
        return rc;
    text->data[text->len] = '\n';
    memset(text->data + text->len + 1, ' ', depth * 2);
    text->len += depth * 2 + 1;
    return 0;
}

static size_t string_bytes(ki_str json, size_t at)
{
    assert(json.ptr[at] == '"');
    size_t end = at + 1;
    while (end < json.len && json.ptr[end] != '"')
        end += json.ptr[end] == '\\' ? 2 : 1;
    return (end < json.len ? end + 1 : json.len) - at;
}

/* Appends a character that is not in a string, with line breaks and indentation. */
static int put_mark(ki_buf *text, char mark, char next, size_t *depth)
{
    bool is_open = mark == '{' || mark == '[';
    bool is_close = mark == '}' || mark == ']';
    char last = text->len == 0 ? 0 : text->data[text->len - 1];
    int rc = 0;
    if (is_close) {
        *depth -= *depth > 0;
        if (last != '{' && last != '[')
            rc = put_line(text, *depth);
    }
    if (rc == 0)
        rc = ki_buf_append_byte(text, mark);
    if (is_open && rc == 0) {
        ++*depth;
        if (next != '}' && next != ']')
            rc = put_line(text, *depth);
    }
    if (mark == ',' && rc == 0)
        rc = put_line(text, *depth);
    return mark == ':' && rc == 0 ? ki_buf_append_byte(text, ' ') : rc;
}

int ki_as_text_indent(ki_buf *text, ki_str json)
{
    size_t depth = 0;
    for (size_t at = 0; at < json.len;) {
        size_t n = 1;
        int rc;
        if (json.ptr[at] == '"') {
            n = string_bytes(json, at);
            rc = ki_buf_append(text, json.ptr + at, n);
        } else if (json.ptr[at] == '\n') {
            rc = 0;
        } else {
            rc = put_mark(text, json.ptr[at], at + 1 < json.len ? json.ptr[at + 1] : 0, &depth);
        }
        if (rc < 0)
            return rc;
        at += n;
    }
    return 0;
}

/* ---- gzip ---------------------------------------------------------------------------------------------- */

int ki_as_text_gzip(ki_buf *out, ki_str text)
{
    enum { GZIP = 16, FAST = 1, MEMORY = 8 };
    z_stream stream = {0};
    if (text.len > UINT32_MAX)
        return KI_ERR_TOO_LARGE;
    if (deflateInit2(&stream, FAST, Z_DEFLATED, MAX_WBITS + GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        return KI_ERR_NO_MEMORY;
    size_t bound = deflateBound(&stream, (uLong)text.len);
    int rc = bound > UINT32_MAX ? KI_ERR_TOO_LARGE : ki_buf_reserve(out, bound);
    if (rc == 0) {
        stream.next_in = (const Bytef *)text.ptr;
        stream.avail_in = (uInt)text.len;
        stream.next_out = (Bytef *)out->data + out->len;
        stream.avail_out = (uInt)bound;
        rc = deflate(&stream, Z_FINISH) == Z_STREAM_END ? 0 : KI_ERR_NO_MEMORY;
    }
    if (rc == 0)
        out->len += bound - stream.avail_out;
    (void)deflateEnd(&stream);
    return rc;
}
