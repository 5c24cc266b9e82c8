/* SPDX-License-Identifier: Apache-2.0 */
#include "json/number.h"
#include "json/skip.h"
#include "json/write.h"

/* A value is copied in one pass over its tokens, without recursion: the writer tracks the nesting. Strings
 * keep their spelling. */

typedef struct source {
    const char *at;
    const char *end;
    int behind_item; /* a comma or the end of the container comes next */
} source;

static void malformed(ki_json_writer *writer)
{
    ki_json_writer_fail(writer, KI_ERR_JSON_SYNTAX, "the value to write is not valid JSON");
}

static int is_scalar(ki_str raw)
{
    ki_json_decimal ignored;
    return raw.ptr[0] == '"' || ki_str_equal(raw, KI_STR("null")) || ki_str_equal(raw, KI_STR("true")) ||
           ki_str_equal(raw, KI_STR("false")) || ki_json_decimal_parse(raw, &ignored) == 0;
}

static void copy_scalar(ki_json_writer *writer, source *from)
{
    ki_str raw = {from->at, ki_json_skip_value(from->at, (size_t)(from->end - from->at))};
    if (raw.len == 0 || !is_scalar(raw)) {
        malformed(writer);
        return;
    }
    ki_json_writer_raw_scalar(writer, raw);
    from->at += raw.len;
    from->behind_item = 1;
}

static void copy_value(ki_json_writer *writer, source *from)
{
    char first = from->at < from->end ? *from->at : 0;
    if (first != '{' && first != '[') {
        copy_scalar(writer, from);
        return;
    }
    if (first == '{')
        ki_json_write_object_begin(writer);
    else
        ki_json_write_array_begin(writer);
    from->at++;
    from->behind_item = 0;
}

static void copy_name(ki_json_writer *writer, source *from)
{
    size_t left = (size_t)(from->end - from->at);
    ki_str raw = {from->at, left > 0 && *from->at == '"' ? ki_json_skip_string(from->at, left) : 0};
    const char *colon = ki_json_skip_space(from->at + raw.len, from->end);
    if (raw.len == 0 || colon == from->end || *colon != ':') {
        malformed(writer);
        return;
    }
    ki_json_writer_raw_name(writer, raw);
    from->at = ki_json_skip_space(colon + 1, from->end);
}

static void close_container(ki_json_writer *writer, source *from, int in_object)
{
    if (in_object)
        ki_json_write_object_end(writer);
    else
        ki_json_write_array_end(writer);
    from->at++;
    from->behind_item = 1;
}

/* Copies one item of the innermost container, or ends the container. */
static void copy_item(ki_json_writer *writer, source *from)
{
    int in_object = ki_json_writer_in_object(writer);
    from->at = ki_json_skip_space(from->at, from->end);
    if (from->at < from->end && *from->at == (in_object ? '}' : ']')) {
        close_container(writer, from, in_object);
        return;
    }
    if (from->behind_item) {
        if (from->at == from->end || *from->at != ',') {
            malformed(writer);
            return;
        }
        from->at = ki_json_skip_space(from->at + 1, from->end);
    }
    if (in_object)
        copy_name(writer, from);
    if (writer->error == 0)
        copy_value(writer, from);
}

void ki_json_write_value(ki_json_writer *writer, ki_json value)
{
    if (writer == NULL || writer->error != 0)
        return;
    if (value.raw.len == 0) {
        ki_json_writer_fail(writer, KI_ERR_INVALID, "the value to write is empty");
        return;
    }
    source from = {.at = value.raw.ptr, .end = value.raw.ptr + value.raw.len};
    size_t depth = writer->depth;
    copy_value(writer, &from);
    while (writer->error == 0 && writer->depth > depth)
        copy_item(writer, &from);
    if (writer->error == 0 && ki_json_skip_space(from.at, from.end) != from.end)
        malformed(writer);
}
