/* SPDX-License-Identifier: Apache-2.0 */
/* Formats, values and edits of bodies. Input: a byte that chooses the conversion of all arguments, the
 * format, and the values, each after a NUL. Each '%' in the format becomes that conversion,
 * so that the arguments match. */
#define _GNU_SOURCE /* memmem */
#include <jansson.h>
#include <kinformer/body.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support/json/json_reference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { VALUES = 4, TEXT_BYTES = 4096 };

typedef struct input {
    char format[TEXT_BYTES];
    char values[VALUES][TEXT_BYTES];
    int conversion;
} input;

static void require(int condition)
{
    if (!condition)
        abort();
}

/* ---- input --------------------------------------------------------------------------------------------- */

static const char *const conversions[] = {"%s", "%.*s", "%d", "%g"};

/* Returns 0 if the format has more arguments than there are values. */
static int read_format(input *in, ki_str text)
{
    size_t len = 0;
    int count = 0;
    for (size_t i = 0; i < text.len && len + 8 < TEXT_BYTES; i++) {
        if (text.ptr[i] != '%') {
            in->format[len++] = text.ptr[i];
            continue;
        }
        if (++count > VALUES)
            return 0;
        size_t n = strlen(conversions[in->conversion]);
        memcpy(in->format + len, conversions[in->conversion], n);
        len += n;
    }
    in->format[len] = 0;
    return 1;
}

static ki_str take_text(const uint8_t **data, size_t *size)
{
    const uint8_t *end = *size == 0 ? NULL : memchr(*data, 0, *size);
    ki_str text = {(const char *)*data, end == NULL ? *size : (size_t)(end - *data)};
    size_t used = text.len + (end != NULL);
    *data += used;
    *size -= used;
    return text;
}

static int read_input(input *in, const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    in->conversion = data[0] % 4;
    data++;
    size--;
    int is_good = read_format(in, take_text(&data, &size));
    for (int i = 0; i < VALUES; i++) {
        ki_str value = take_text(&data, &size);
        size_t len = value.len < TEXT_BYTES ? value.len : TEXT_BYTES - 1;
        memcpy(in->values[i], value.ptr, len);
        in->values[i][len] = 0;
    }
    return is_good;
}

/* ---- the result ---------------------------------------------------------------------------------------- */

static ki_body *format(const char *text, ...)
{
    va_list args;
    va_start(args, text);
    ki_body *body = ki_body_vformat(text, args);
    va_end(args);
    return body;
}

static ki_body *make(const input *in)
{
    const char(*v)[TEXT_BYTES] = in->values;
    switch (in->conversion) {
    case 0:
        return format(in->format, v[0], v[1], v[2], v[3]);
    case 1:
        return format(in->format, (int)strlen(v[0]), v[0], (int)strlen(v[1]), v[1], (int)strlen(v[2]), v[2],
                      (int)strlen(v[3]), v[3]);
    case 2:
        return format(in->format, atoi(v[0]), atoi(v[1]), atoi(v[2]), atoi(v[3]));
    default:
        return format(in->format, atof(v[0]), atof(v[1]), atof(v[2]), atof(v[3]));
    }
}

/* Either it failed and has a message, or it is JSON. */
static int check(const ki_body *body)
{
    ki_error err = {0};
    ki_json value = ki_body_json(body);
    int rc = ki_body_check(body, &err);
    require(body != NULL && rc <= 0 && err.code == rc);
    require((rc < 0) == (ki_json_type_of(value) == KI_JSON_NONE));
    require(rc == 0 || err.message[0] != 0);
    if (rc == 0)
        require(ki_json_validate(value.raw, &err) == 0);
    return rc == 0;
}

/* Text that jansson does not read, such as a number out of the range of doubles, is not compared. */
static void compare(const ki_body *body)
{
    json_t *reference = json_reference_parse(ki_body_json(body).raw);
    if (reference != NULL)
        require(json_reference_same(ki_body_json(body), reference));
    json_decref(reference);
}

/* ---- round trips --------------------------------------------------------------------------------------- */

static int is_text(const json_t *value, const char *expected)
{
    return json_is_string(value) && strcmp(json_string_value(value), expected) == 0;
}

/* No value appears outside its place. */
static void check_values(const input *in)
{
    const char(*v)[TEXT_BYTES] = in->values;
    ki_body *body = ki_body_format("[%s,'%s%s',{%s:%s}]", v[0], v[1], v[2], v[3], v[0]);
    if (check(body)) {
        char both[2 * TEXT_BYTES];
        json_t *read = json_reference_parse(ki_body_json(body).raw);
        require(read != NULL && json_array_size(read) == 3);
        strcpy(both, v[1]);
        strcat(both, v[2]);
        require(is_text(json_array_get(read, 0), v[0]) && is_text(json_array_get(read, 1), both));
        require(json_object_size(json_array_get(read, 2)) == 1);
        require(is_text(json_object_get(json_array_get(read, 2), v[3]), v[0]));
        json_decref(read);
    }
    ki_body_free(body);
}

/* ---- edits --------------------------------------------------------------------------------------------- */

/* As in RFC 7386. */
static json_t *merge(json_t *target, const json_t *patch)
{
    const char *name;
    json_t *value;
    if (!json_is_object(patch))
        return json_deep_copy(patch);
    json_t *made = json_is_object(target) ? json_copy(target) : json_object();
    json_object_foreach((json_t *)(uintptr_t)patch, name, value)
    {
        if (json_is_null(value))
            json_object_del(made, name);
        else
            json_object_set_new(made, name, merge(json_object_get(made, name), value));
    }
    return made;
}

static int contains(ki_str text, const char *word)
{
    return memmem(text.ptr, text.len, word, strlen(word)) != NULL;
}

/* The patch turns the first into the second, except for nulls and duplicate names. */
static void check_patch(const ki_body *from, const ki_body *to)
{
    ki_body *patch = ki_body_merge_patch(ki_body_json(from), to);
    if (check(patch)) {
        json_t *old = json_reference_parse(ki_body_json(from).raw);
        json_t *new = json_reference_parse(ki_body_json(to).raw);
        json_t *read = json_reference_parse(ki_body_json(patch).raw);
        int has_null = contains(ki_body_json(to).raw, "null") || contains(ki_body_json(from).raw, "null");
        if (old != NULL && new != NULL && read != NULL && !has_null) {
            json_t *merged = merge(old, read);
            require(json_equal(merged, new));
            json_decref(merged);
        }
        json_decref(old);
        json_decref(new);
        json_decref(read);
    }
    ki_body_free(patch);
}

static void check_edits(const input *in, const ki_body *body)
{
    const char *pointer = in->values[0];
    ki_body *edited = ki_body_copy(ki_body_json(body));
    int rc = ki_body_set(edited, pointer, "{v?:%s}", in->values[1]);
    require((rc == 0) == check(edited));
    if (rc == 0 && strstr(pointer, "/-") == NULL) {
        ki_json found = ki_json_member(ki_json_find(ki_body_json(edited), pointer), KI_STR("v"));
        require(in->values[1][0] == 0 || ki_json_string_equals(found, ki_str_of(in->values[1])));
    }
    if (rc == 0)
        check_patch(body, edited);
    if (rc == 0 && pointer[0] != 0)
        require(ki_body_remove(edited, in->values[2]) < 0 || check(edited));
    (void)ki_body_set_label(edited, ki_str_of(in->values[2]), ki_str_of(in->values[3]));
    (void)ki_body_add_finalizer(edited, ki_str_of(in->values[3]));
    (void)ki_body_set_condition(
        edited, &(ki_condition){.condition_type = ki_str_of(in->values[2]), .status = KI_STR("True")});
    (void)check(edited);
    ki_body_free(edited);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static input in;
    if (!read_input(&in, data, size))
        return 0;
    ki_body *body = make(&in);
    if (check(body)) {
        compare(body);
        check_edits(&in, body);
    }
    check_values(&in);
    ki_body_free(body);
    return 0;
}
