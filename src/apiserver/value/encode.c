/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/value/encode.h"

#include <assert.h>
#include <kinformer/error.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/value/plain.h"

/* NUMBER_BYTES: "-1.2345678901234567e-308" with space to spare. */
enum { DEPTH_MAX = 2048, NUMBER_BYTES = 40 };

static int append_value(ki_buf *buf, const json_t *value, unsigned depth);

/* Copies a text of fewer than eight bytes. Returns true if all of its bytes are plain. The two halves of a
 * text of four to seven bytes may overlap, which is harmless. */
static bool copy_short(char *out, ki_str text)
{
    assert(text.len < 8);
    uint32_t first = 0;
    uint32_t last = 0;
    if (text.len >= 4) {
        memcpy(&first, text.ptr, 4);
        memcpy(&last, text.ptr + text.len - 4, 4);
        memcpy(out, &first, 4);
        memcpy(out + text.len - 4, &last, 4);
        return ki_as_word_marks((uint64_t)first << 32 | last) == 0;
    }
    bool is_plain = true;
    for (size_t i = 0; i < text.len; i++) {
        out[i] = text.ptr[i];
        is_plain = is_plain && ki_as_is_plain((unsigned char)text.ptr[i]);
    }
    return is_plain;
}

/* Copies the text up to the first word with a byte that needs escaping. Returns the number of bytes before
 * that word: text.len if nothing needs escaping. */
static size_t copy_plain(char *out, ki_str text)
{
    size_t at = 0;
    if (text.len < 8)
        return copy_short(out, text) ? text.len : 0;
    for (; at + 8 <= text.len; at += 8) {
        uint64_t word = ki_as_word_at(text.ptr + at);
        memcpy(out + at, text.ptr + at, 8);
        if (ki_as_word_marks(word) != 0)
            return at;
    }
    memcpy(out + text.len - 8, text.ptr + text.len - 8, 8);
    return ki_as_word_marks(ki_as_word_at(text.ptr + text.len - 8)) == 0 ? text.len : at;
}

static size_t escape(char out[6], unsigned char c)
{
    assert(!ki_as_is_plain(c));
    static const char digits[] = "0123456789abcdef";
    static const char shorts[] = "\bb\tt\nn\ff\rr\"\"\\\\";
    out[0] = '\\';
    for (size_t i = 0; i + 1 < sizeof(shorts); i += 2)
        if ((unsigned char)shorts[i] == c) {
            out[1] = shorts[i + 1];
            return 2;
        }
    out[1] = 'u';
    out[2] = out[3] = '0';
    out[4] = digits[c >> 4];
    out[5] = digits[c & 15];
    return 6;
}

/* Appends `rest` with escapes, and the closing quote. The first `written` bytes of the string are already in
 * the buffer, beyond its length. */
static int append_escaped(ki_buf *buf, size_t written, ki_str rest)
{
    assert(written > 0 && rest.len > 0);
    /* Growing the buffer keeps the bytes beyond its length, too. */
    int rc = ki_as_encode_reserve(buf, written + rest.len * 6 + 1);
    if (rc < 0)
        return rc;
    char *out = buf->data + buf->len + written;
    for (size_t i = 0; i < rest.len; i++) {
        unsigned char c = (unsigned char)rest.ptr[i];
        if (ki_as_is_plain(c))
            *out++ = (char)c;
        else
            out += escape(out, c);
    }
    *out++ = '"';
    assert(out <= buf->data + buf->cap);
    buf->len = (size_t)(out - buf->data);
    return 0;
}

int ki_as_encode_prefixed(ki_buf *buf, ki_str prefix, ki_str text)
{
    /* Enough for a text that needs no escaping; append_escaped() reserves more. */
    int rc =
        text.len > (SIZE_MAX / 8) ? KI_ERR_TOO_LARGE : ki_as_encode_reserve(buf, prefix.len + text.len + 2);
    if (rc < 0)
        return rc;
    char *start = buf->data + buf->len;
    *start = '"';
    for (size_t i = 0; i < prefix.len; i++)
        start[i + 1] = prefix.ptr[i];
    size_t plain = copy_plain(start + 1 + prefix.len, text);
    assert(plain <= text.len);
    if (plain < text.len)
        return append_escaped(buf, 1 + prefix.len + plain, (ki_str){text.ptr + plain, text.len - plain});
    start[1 + prefix.len + plain] = '"';
    buf->len += prefix.len + plain + 2;
    return 0;
}

int ki_as_encode_string(ki_buf *buf, ki_str text)
{
    return ki_as_encode_prefixed(buf, (ki_str){0}, text);
}

static int append_integer(ki_buf *buf, json_int_t number)
{
    char digits[NUMBER_BYTES];
    size_t at = sizeof(digits);
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0)
        digits[--at] = '-';
    assert(at < sizeof(digits));
    return ki_buf_append(buf, digits + at, sizeof(digits) - at);
}

static int append_real(ki_buf *buf, double number)
{
    char text[NUMBER_BYTES];
    if (fabs(number) < 1e15 && floor(number) == number)
        return append_integer(buf, (json_int_t)number);
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof(text), "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    /* The decimal point depends on the locale. */
    size_t len = strlen(text);
    for (size_t i = 0; i < len; i++)
        if (strchr("0123456789+-e", text[i]) == NULL)
            text[i] = '.';
    return ki_buf_append(buf, text, len);
}

static int append_object(ki_buf *buf, const json_t *object, unsigned depth)
{
    /* jansson's iterators want a non-const object but do not modify it. */
    json_t *tree = (json_t *)object;
    int rc = ki_as_encode_byte(buf, '{');
    bool is_first = true;
    for (void *at = json_object_iter(tree); rc == 0 && at != NULL; at = json_object_iter_next(tree, at)) {
        if (!is_first)
            rc = ki_as_encode_byte(buf, ',');
        is_first = false;
        if (rc == 0)
            rc = ki_as_encode_string(buf, (ki_str){json_object_iter_key(at), json_object_iter_key_len(at)});
        if (rc == 0)
            rc = ki_as_encode_byte(buf, ':');
        if (rc == 0)
            rc = append_value(buf, json_object_iter_value(at), depth + 1);
    }
    return rc < 0 ? rc : ki_as_encode_byte(buf, '}');
}

static int append_array(ki_buf *buf, const json_t *array, unsigned depth)
{
    size_t count = json_array_size(array);
    int rc = ki_as_encode_byte(buf, '[');
    for (size_t i = 0; rc == 0 && i < count; i++) {
        if (i > 0)
            rc = ki_as_encode_byte(buf, ',');
        if (rc == 0)
            rc = append_value(buf, json_array_get(array, i), depth + 1);
    }
    return rc < 0 ? rc : ki_as_encode_byte(buf, ']');
}

static int append_value(ki_buf *buf, const json_t *value, unsigned depth)
{
    if (depth > DEPTH_MAX)
        return KI_ERR_TOO_LARGE;
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return append_object(buf, value, depth);
    case JSON_ARRAY:
        return append_array(buf, value, depth);
    case JSON_STRING:
        return ki_as_encode_string(buf, (ki_str){json_string_value(value), json_string_length(value)});
    case JSON_INTEGER:
        return append_integer(buf, json_integer_value(value));
    case JSON_REAL:
        return append_real(buf, json_real_value(value));
    case JSON_TRUE:
        return ki_as_encode_plain(buf, KI_STR("true"));
    case JSON_FALSE:
        return ki_as_encode_plain(buf, KI_STR("false"));
    case JSON_NULL:
        return ki_as_encode_plain(buf, KI_STR("null"));
    }
    return KI_ERR_TOO_LARGE;
}

int ki_as_encode(ki_buf *buf, const json_t *tree)
{
    assert(buf != NULL && tree != NULL);
    return append_value(buf, tree, 0);
}
