/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_equal_write - text that another library accepts is read in the same way, reformatted without loss, and
 * equal to itself.
 *
 * Input: JSON text, or two JSON texts separated by the byte 1, which are compared. Text that jansson refuses
 *        is compared and reformatted too, which must be safe.
 */
#include <kinformer/json.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support/json/json_reference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

/* The text as the writer formats it, borrowed from the writer; empty if the writer refuses it. */
static ki_str reformat(ki_json_writer *writer, ki_json value)
{
    ki_str text = {0};
    ki_json_writer_reset(writer);
    ki_json_write_value(writer, value);
    return ki_json_writer_finish(writer, &text, NULL) == 0 ? text : (ki_str){0};
}

/* Reading, writing and comparing agree with jansson. */
static void check_accepted(ki_json value, const json_t *reference, ki_json pretty)
{
    require(pretty.raw.len > 0);
    require(json_reference_same(value, reference));
    require(json_reference_same(pretty, reference));
    json_t *read = json_reference_parse(pretty.raw);
    require(read != NULL && json_equal(read, reference));
    json_decref(read);
    require(ki_json_equal(value, pretty) == 1);
    require(ki_json_equal(pretty, value) == 1);
}

/* Whether jansson may have turned a number into a double: one with a point or an exponent,
 * or with too many digits. */
static int may_have_reals(ki_str text)
{
    size_t digits = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        digits = c >= '0' && c <= '9' ? digits + 1 : 0;
        if (c == '.' || c == 'e' || c == 'E' || digits > 18)
            return 1;
    }
    return 0;
}

/* Two texts are equal if jansson says so, except for reals, which jansson rounds before it compares. */
static void compare_two(ki_json a, ki_json b)
{
    int forth = ki_json_equal(a, b);
    int back = ki_json_equal(b, a);
    require(forth < 0 || back < 0 || forth == back);
    if (a.raw.len == 0 || b.raw.len == 0)
        return;
    json_t *reference_a = json_reference_parse(a.raw);
    json_t *reference_b = json_reference_parse(b.raw);
    if (reference_a != NULL && reference_b != NULL) {
        require(forth >= 0 && forth == back);
        require(forth == 0 || json_reference_same(a, reference_b));
        if (!may_have_reals(a.raw) && !may_have_reals(b.raw))
            require(forth == json_equal(reference_a, reference_b));
    }
    json_decref(reference_a);
    json_decref(reference_b);
}

/* Splits at a byte that no JSON text contains, or in the middle. */
static void compare_parts(ki_json value)
{
    const char *end = value.raw.ptr + value.raw.len;
    const char *split = memchr(value.raw.ptr, 1, value.raw.len);
    const char *first_end = split == NULL ? value.raw.ptr + value.raw.len / 2 : split;
    const char *second = split == NULL ? first_end : split + 1;
    compare_two(ki_json_of((ki_str){value.raw.ptr, (size_t)(first_end - value.raw.ptr)}),
                ki_json_of((ki_str){second, (size_t)(end - second)}));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ki_json value = ki_json_of((ki_str){(const char *)data, size});
    ki_json_writer *pretty_writer = ki_json_writer_new(&(ki_json_writer_options){.indent = 1});
    ki_json_writer *compact_writer = ki_json_writer_new(NULL);
    require(pretty_writer != NULL && compact_writer != NULL);
    if (value.raw.len > 0) {
        ki_json pretty = {reformat(pretty_writer, value)};
        ki_json compact = {reformat(compact_writer, value)};
        json_t *reference = json_reference_parse(value.raw);
        require((pretty.raw.len > 0) == (compact.raw.len > 0));
        require(compact.raw.len == 0 || ki_json_equal(pretty, compact) != 0);
        if (reference != NULL)
            check_accepted(value, reference, pretty);
        json_decref(reference);
        compare_parts(value);
    }
    ki_json_writer_free(pretty_writer);
    ki_json_writer_free(compact_writer);
    return 0;
}
