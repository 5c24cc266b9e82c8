/* SPDX-License-Identifier: Apache-2.0 */
#include "json/write.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "json/number.h"
#include "json/text.h"
#include "util/alloc.h"
#include "util/error.h"

static const size_t BYTES_MAX_DEFAULT = (size_t)64 << 20;

/* ---- creating and freeing ------------------------------------------------------------------------------ */

ki_json_writer *ki_json_writer_new(const ki_json_writer_options *options)
{
    ki_json_writer *writer = ki_calloc(1, sizeof(*writer));
    if (writer == NULL)
        return NULL;
    size_t bytes_max = options == NULL ? 0 : options->bytes_max;
    ki_buf_init(&writer->text, bytes_max == 0 ? BYTES_MAX_DEFAULT : bytes_max);
    if (options != NULL && options->indent > 0)
        writer->indent = (size_t)options->indent;
    return writer;
}

void ki_json_writer_free(ki_json_writer *writer)
{
    if (writer == NULL)
        return;
    ki_buf_fini(&writer->text);
    ki_free(writer);
}

void ki_json_writer_reset(ki_json_writer *writer)
{
    if (writer == NULL)
        return;
    ki_buf_reset(&writer->text, SIZE_MAX);
    writer->depth = 0;
    writer->empty = writer->named = writer->done = 0;
    writer->error = 0;
}

void ki_json_writer_fail(ki_json_writer *writer, int code, const char *message)
{
    assert(writer != NULL);
    assert(code < 0 && message != NULL);
    if (writer->error != 0)
        return;
    writer->error = code;
    writer->message = message;
}

int ki_json_writer_finish(ki_json_writer *writer, ki_str *out_text, ki_error *err)
{
    if (writer == NULL)
        return ki_fail_missing(err, "no writer");
    if (out_text == NULL)
        return ki_fail(err, KI_ERR_INVALID, "the output must not be NULL");
    if (writer->error != 0)
        return ki_fail(err, writer->error, "%s", writer->message);
    if (writer->depth > 0)
        return ki_fail(err, KI_ERR_INVALID, "%zu arrays or objects are not ended", writer->depth);
    if (!writer->done)
        return ki_fail(err, KI_ERR_INVALID, "no value was written");
    *out_text = ki_buf_str(&writer->text);
    return 0;
}

int ki_json_writer_move(ki_json_writer *writer, ki_buf *out)
{
    assert(out != NULL);
    ki_str text = {0};
    int rc = writer == NULL ? KI_ERR_NO_MEMORY : ki_json_writer_finish(writer, &text, NULL);
    ki_buf_reset(out, out->max);
    if (rc == 0)
        rc = ki_buf_append_str(out, text);
    ki_json_writer_free(writer);
    return rc;
}

/* ---- bytes --------------------------------------------------------------------------------------------- */

static void check(ki_json_writer *writer, int rc)
{
    if (rc < 0)
        ki_json_writer_fail(writer, rc,
                            rc == KI_ERR_TOO_LARGE ? "the text exceeds bytes_max" : ki_error_text(rc));
}

static void put(ki_json_writer *writer, ki_str bytes)
{
    check(writer, ki_buf_append_str(&writer->text, bytes));
}

static void put_byte(ki_json_writer *writer, char byte)
{
    check(writer, ki_buf_append_byte(&writer->text, byte));
}

static void put_new_line(ki_json_writer *writer)
{
    if (writer->indent == 0)
        return;
    put_byte(writer, '\n');
    size_t spaces = writer->depth > SIZE_MAX / writer->indent ? SIZE_MAX : writer->depth * writer->indent;
    int rc = ki_buf_reserve(&writer->text, spaces);
    check(writer, rc);
    if (rc < 0 || spaces == 0)
        return;
    memset(writer->text.data + writer->text.len, ' ', spaces);
    writer->text.len += spaces;
}

static void put_escape(ki_json_writer *writer, unsigned char byte)
{
    assert(byte < 0x20 || byte == '"' || byte == '\\');
    static const char letters[] = {
        ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't', ['"'] = '"', ['\\'] = '\\'};
    static const char hex[] = "0123456789abcdef";
    if (letters[byte] != 0) {
        put(writer, (ki_str){(const char[]){'\\', letters[byte]}, 2});
        return;
    }
    put(writer, (ki_str){(const char[]){'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]}, 6});
}

/* The number of bytes at the beginning that need no escapes in a JSON string. */
static size_t plain_len(const char *text, size_t n)
{
    size_t at = 0;
    while (at < n && (unsigned char)text[at] >= 0x20 && text[at] != '"' && text[at] != '\\')
        at++;
    return at;
}

static void put_string(ki_json_writer *writer, ki_str text)
{
    put_byte(writer, '"');
    for (size_t at = 0; at < text.len; at++) {
        size_t plain = plain_len(text.ptr + at, text.len - at);
        put(writer, (ki_str){text.ptr + at, plain});
        at += plain;
        if (at < text.len)
            put_escape(writer, (unsigned char)text.ptr[at]);
    }
    put_byte(writer, '"');
}

static int is_utf8(ki_json_writer *writer, ki_str text)
{
    if (ki_utf8_valid_len(text.ptr, text.len) == text.len)
        return 1;
    ki_json_writer_fail(writer, KI_ERR_JSON_UTF8, ki_error_text(KI_ERR_JSON_UTF8));
    return 0;
}

/* ---- what is allowed next ------------------------------------------------------------------------------ */

int ki_json_writer_in_object(const ki_json_writer *writer)
{
    assert(writer != NULL);
    assert(writer->depth <= KI_JSON_WRITE_DEPTH_MAX);
    size_t level = writer->depth - 1;
    return writer->depth > 0 && (writer->objects[level / 64] >> level % 64 & 1) != 0;
}

static int is_usable(const ki_json_writer *writer)
{
    return writer != NULL && writer->error == 0;
}

static int refuse(ki_json_writer *writer, const char *message)
{
    ki_json_writer_fail(writer, KI_ERR_INVALID, message);
    return 0;
}

static void put_separator(ki_json_writer *writer)
{
    assert(writer->depth > 0 && !writer->named);
    if (!writer->empty)
        put_byte(writer, ',');
    writer->empty = 0;
    put_new_line(writer);
}

/* Writes what must precede a name. Returns 0 if no name is allowed here. */
static int begin_name(ki_json_writer *writer)
{
    if (!is_usable(writer))
        return 0;
    if (!ki_json_writer_in_object(writer))
        return refuse(writer, "a name outside an object");
    if (writer->named)
        return refuse(writer, "two names in a row");
    put_separator(writer);
    return 1;
}

static void end_name(ki_json_writer *writer)
{
    assert(!writer->named);
    put_byte(writer, ':');
    if (writer->indent > 0)
        put_byte(writer, ' ');
    writer->named = 1;
}

/* Writes what must precede a value. Returns 0 if no value is allowed here. */
static int begin_value(ki_json_writer *writer)
{
    if (!is_usable(writer))
        return 0;
    if (writer->done)
        return refuse(writer, "a second value after the first");
    if (ki_json_writer_in_object(writer)) {
        if (!writer->named)
            return refuse(writer, "a value without a name in an object");
        writer->named = 0;
    } else if (writer->depth > 0) {
        put_separator(writer);
    }
    return 1;
}

static void end_value(ki_json_writer *writer)
{
    assert(!writer->named && !writer->done);
    writer->done = writer->depth == 0;
}

/* ---- removing ------------------------------------------------------------------------------------------ */

ki_json_mark ki_json_writer_mark(const ki_json_writer *writer)
{
    return (ki_json_mark){writer->text.len, writer->empty};
}

void ki_json_writer_rewind(ki_json_writer *writer, ki_json_mark mark)
{
    if (writer->error != 0)
        return;
    assert(mark.len <= writer->text.len);
    writer->text.len = mark.len;
    writer->empty = mark.empty;
    writer->named = 0;
}

/* ---- containers ---------------------------------------------------------------------------------------- */

static void begin_container(ki_json_writer *writer, int is_object)
{
    if (!begin_value(writer))
        return;
    if (writer->depth == KI_JSON_WRITE_DEPTH_MAX) {
        ki_json_writer_fail(writer, KI_ERR_JSON_DEPTH, ki_error_text(KI_ERR_JSON_DEPTH));
        return;
    }
    uint64_t *word = &writer->objects[writer->depth / 64];
    uint64_t bit = (uint64_t)1 << writer->depth % 64;
    *word = is_object ? *word | bit : *word & ~bit;
    writer->depth++;
    writer->empty = 1;
    put_byte(writer, is_object ? '{' : '[');
}

static void end_container(ki_json_writer *writer, int is_object)
{
    if (!is_usable(writer))
        return;
    if (writer->depth == 0 || ki_json_writer_in_object(writer) != is_object || writer->named) {
        refuse(writer, "an end that does not match its beginning");
        return;
    }
    writer->depth--;
    if (!writer->empty)
        put_new_line(writer);
    writer->empty = 0;
    put_byte(writer, is_object ? '}' : ']');
    end_value(writer);
}

void ki_json_write_object_begin(ki_json_writer *writer)
{
    begin_container(writer, 1);
}

void ki_json_write_object_end(ki_json_writer *writer)
{
    end_container(writer, 1);
}

void ki_json_write_array_begin(ki_json_writer *writer)
{
    begin_container(writer, 0);
}

void ki_json_write_array_end(ki_json_writer *writer)
{
    end_container(writer, 0);
}

/* ---- names and scalars --------------------------------------------------------------------------------- */

void ki_json_writer_raw_name(ki_json_writer *writer, ki_str raw)
{
    assert(raw.ptr != NULL || raw.len == 0);
    if (!begin_name(writer))
        return;
    put(writer, raw);
    end_name(writer);
}

void ki_json_writer_raw_scalar(ki_json_writer *writer, ki_str raw)
{
    assert(raw.ptr != NULL || raw.len == 0);
    if (!begin_value(writer))
        return;
    put(writer, raw);
    end_value(writer);
}

void ki_json_write_name(ki_json_writer *writer, ki_str name)
{
    if (!begin_name(writer) || !is_utf8(writer, name))
        return;
    put_string(writer, name);
    end_name(writer);
}

void ki_json_write_string(ki_json_writer *writer, ki_str text)
{
    if (!begin_value(writer) || !is_utf8(writer, text))
        return;
    put_string(writer, text);
    end_value(writer);
}

void ki_json_write_int64(ki_json_writer *writer, int64_t number)
{
    char text[24];
    int len = snprintf(text, sizeof(text), "%" PRId64, number);
    ki_json_writer_raw_scalar(writer, (ki_str){text, (size_t)len});
}

void ki_json_write_double(ki_json_writer *writer, double number)
{
    if (!is_usable(writer))
        return;
    if (!isfinite(number)) {
        refuse(writer, "JSON has no infinity and no NaN");
        return;
    }
    char text[KI_JSON_DOUBLE_BYTES];
    size_t len = ki_json_double_format(number, text);
    ki_json_writer_raw_scalar(writer, (ki_str){text, len});
}

void ki_json_write_bool(ki_json_writer *writer, int flag)
{
    ki_json_writer_raw_scalar(writer, flag ? KI_STR("true") : KI_STR("false"));
}

void ki_json_write_null(ki_json_writer *writer)
{
    ki_json_writer_raw_scalar(writer, KI_STR("null"));
}
