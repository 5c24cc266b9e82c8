/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_pointer - lookups, iterators and getters over any bytes.
 *
 * Input: a JSON Pointer, a newline or NUL, and the text, valid or not. A value that is found must lie inside
 *        the value it was found in, and several calls for one value must agree.
 */
#include <kinformer/json.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 40 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void require_inside(ki_json inner, ki_json outer)
{
    require(inner.raw.len == 0 || (inner.raw.ptr >= outer.raw.ptr &&
                                   inner.raw.ptr + inner.raw.len <= outer.raw.ptr + outer.raw.len));
}

static void read_string(ki_json value)
{
    ki_str borrowed;
    size_t len = SIZE_MAX, short_len;
    char *copy = malloc(value.raw.len + 1);
    require(copy != NULL);
    int rc = ki_json_string(value, &borrowed);
    int rc_copy = ki_json_string_copy(value, copy, value.raw.len, &len);
    if (rc == 0)
        require(rc_copy == 0 && ki_str_equal(borrowed, (ki_str){copy, len}));
    if (rc == KI_ERR_TYPE)
        require(rc_copy == KI_ERR_TYPE && len == SIZE_MAX);
    if (rc_copy == 0) {
        require(len + 2 <= value.raw.len);
        require(ki_json_string_equals(value, (ki_str){copy, len}) == 1);
        require(ki_json_string_copy(value, copy, len, &short_len) == 0 && short_len == len);
        require(len == 0 || ki_json_string_copy(value, copy, len - 1, &short_len) == KI_ERR_TOO_LARGE);
        copy[len] = '!';
        require(ki_json_string_equals(value, (ki_str){copy, len + 1}) == 0);
    }
    free(copy);
}

static void read_scalar(ki_json value)
{
    int64_t integer;
    double real;
    int flag;
    int rc = ki_json_int64(value, &integer);
    int rc_real = ki_json_double(value, &real);
    if (rc == 0)
        require(rc_real == 0 && real == (double)integer);
    if (rc_real == KI_ERR_TYPE)
        require(rc == KI_ERR_TYPE);
    if (ki_json_bool(value, &flag) == 0)
        require(ki_json_type_of(value) == KI_JSON_BOOL && rc == KI_ERR_TYPE);
    read_string(value);
    require(ki_json_equal(value, value) != 0);
}

/* A lookup by that name finds this member or an earlier one. */
static void find_again(ki_json object, ki_json name, ki_json value)
{
    char *text = malloc(name.raw.len);
    size_t len;
    require(text != NULL);
    if (ki_json_string_copy(name, text, name.raw.len, &len) == 0) {
        ki_json found = ki_json_member(object, (ki_str){text, len});
        require(found.raw.ptr != NULL && found.raw.ptr <= value.raw.ptr);
    }
    free(text);
}

static void walk(ki_json value, int depth)
{
    ki_json_iter iter = ki_json_iterate(value);
    ki_json name, item, before = {{value.raw.ptr, 0}};
    read_scalar(value);
    while (depth < DEPTH_MAX && ki_json_next(&iter, &name, &item)) {
        require_inside(name, value);
        require_inside(item, value);
        require(item.raw.len > 0 && item.raw.ptr >= before.raw.ptr + before.raw.len);
        require(ki_json_equal(item, before) <= 1);
        if (ki_json_type_of(value) == KI_JSON_OBJECT)
            find_again(value, name, item);
        walk(item, depth + 1);
        before = item;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    size_t pointer_len = 0;
    while (pointer_len < size && text[pointer_len] != '\n' && text[pointer_len] != 0)
        pointer_len++;
    size_t skipped = pointer_len < size ? pointer_len + 1 : size;
    ki_json value = ki_json_of((ki_str){text + skipped, size - skipped});
    ki_json found = ki_json_find_str(value, (ki_str){text, pointer_len});
    require_inside(found, value);
    walk(found, 0);
    walk(value, 0);
    return 0;
}
