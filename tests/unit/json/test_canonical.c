/* SPDX-License-Identifier: Apache-2.0 */
#include "json/canonical.h"

#include <kinformer/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/json/json_generator.h"
#include "support/unit.h"

static char *copy_of(ki_str text)
{
    char *copy = malloc(text.len + 1);
    assert_non_null(copy);
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    return copy;
}

/* The canonical text; the caller frees it. */
static char *canonical(ki_str text, size_t *out_len)
{
    char *copy = copy_of(text);
    ki_capture none = {0};
    *out_len = ki_json_canonical(copy, text.len, &none, 0);
    assert_true(*out_len <= text.len);
    copy[*out_len] = 0;
    return copy;
}

static void assert_canonical(const char *text, const char *expected)
{
    size_t len = 0;
    char *result = canonical(ki_str_of(text), &len);
    assert_int_equal(len, strlen(expected));
    assert_string_equal(result, expected);
    free(result);
}

static void every_escape_gets_its_shortest_spelling(void **state)
{
    (void)state;
    assert_canonical("\"\\u003ca\\u003E \\u0026\"", "\"<a> &\"");
    assert_canonical("\"\\/\"", "\"/\"");
    assert_canonical("\"\\u002f\"", "\"/\"");
    assert_canonical("\"\\u0022\\u005c\\u005C\"", "\"\\\"\\\\\\\\\"");
    assert_canonical("\"\\u0008\\u000c\\u000a\\u000D\\u0009\"", "\"\\b\\f\\n\\r\\t\"");
    assert_canonical("\"\\u007f\\u00e4\\u07FF\\u2028\\uffff\"",
                     "\"\x7f\xc3\xa4\xdf\xbf\xe2\x80\xa8\xef\xbf\xbf\"");
    assert_canonical("\"\\ud83d\\ude00\\uDBFF\\uDFFF\"", "\"\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf\"");
}

static void escapes_without_a_shorter_spelling_get_one_spelling(void **state)
{
    (void)state;
    assert_canonical("\"\\u0000\\u001F\\u001f\\u000B\"", "\"\\u0000\\u001f\\u001f\\u000b\"");
    assert_canonical("\"\\b\\f\\n\\r\\t\\\"\\\\\"", "\"\\b\\f\\n\\r\\t\\\"\\\\\"");
}

static void text_without_escapes_is_unchanged(void **state)
{
    (void)state;
    assert_canonical("{\"a\":[1.50,-0,1E5,true,null,\"\xc3\xa4/<\"],\"b\":{}}",
                     "{\"a\":[1.50,-0,1E5,true,null,\"\xc3\xa4/<\"],\"b\":{}}");
    assert_canonical("", "");
    assert_canonical("7", "7");
}

static void names_are_strings_too(void **state)
{
    (void)state;
    assert_canonical("{\"\\u0061\":\"\\u0062\",\"\\/\":[\"\\u0063\"],\"\\\\\":1}",
                     "{\"a\":\"b\",\"/\":[\"c\"],\"\\\\\":1}");
}

/* An escaped backslash before a u does not begin an escape. */
static void a_backslash_escapes_only_one_character(void **state)
{
    (void)state;
    assert_canonical("\"\\\\u0041\\\\\\u0041\\\\\\\\u0041\"", "\"\\\\u0041\\\\A\\\\\\\\u0041\"");
}

/* ---- captures ------------------------------------------------------------------------------------------ */

static void captures_move_with_the_text(void **state)
{
    (void)state;
    char text[] = "{\"\\u0061\":\"\\u003cx\\u003e\",\"b\":[1,\"\\/\"],\"c\":\"\",\"d\":\"\\u0041\"}";
    const char *const values[] = {"\"\\u003cx\\u003e\"", "[1,\"\\/\"]", "\"\"", "\"\\u0041\""};
    const char *const expected[] = {"\"<x>\"", "[1,\"/\"]", "\"\"", "\"A\""};
    ki_capture captures[6] = {{0}};
    for (size_t i = 0; i < 4; i++) {
        size_t start = (size_t)(strstr(text, values[i]) - text);
        captures[i] = (ki_capture){(uint32_t)start, (uint32_t)(start + strlen(values[i])), KI_CAPTURE_TEXT};
    }
    captures[4] = (ki_capture){12, 20, KI_CAPTURE_SIDE};
    size_t len = ki_json_canonical(text, strlen(text), captures, 6);
    for (size_t i = 0; i < 4; i++) {
        ki_str value = {text + captures[i].start, captures[i].end - captures[i].start};
        if (captures[i].end > len || !ki_str_equal(value, ki_str_of(expected[i])))
            fail_msg("%.*s instead of %s", KI_STR_ARGS(value), expected[i]);
    }
    assert_true(captures[4].start == 12 && captures[4].end == 20 && captures[4].place == KI_CAPTURE_SIDE);
    assert_true(captures[5].start == 0 && captures[5].end == 0 && captures[5].place == KI_CAPTURE_NONE);
}

/* ---- any value ----------------------------------------------------------------------------------------- */

enum { ROUNDS = 3000 };

/* Every string has the spelling that the writer would use. */
static void assert_spelling(ki_json value, ki_json_writer *writer)
{
    ki_json_iter iter = ki_json_iterate(value);
    ki_json name, item;
    if (ki_json_type_of(value) == KI_JSON_STRING) {
        size_t len = 0;
        ki_str written = {0};
        char *text = malloc(value.raw.len);
        assert_non_null(text);
        assert_int_equal(ki_json_string_copy(value, text, value.raw.len, &len), 0);
        ki_json_writer_reset(writer);
        ki_json_write_string(writer, (ki_str){text, len});
        assert_int_equal(ki_json_writer_finish(writer, &written, NULL), 0);
        if (!ki_str_equal(value.raw, written))
            fail_msg("%.*s instead of %.*s", KI_STR_ARGS(value.raw), KI_STR_ARGS(written));
        free(text);
    }
    while (ki_json_next(&iter, &name, &item)) {
        if (ki_json_type_of(name) == KI_JSON_STRING)
            assert_spelling(name, writer);
        assert_spelling(item, writer);
    }
}

static void any_value_keeps_its_meaning_and_gets_one_spelling(void **state)
{
    (void)state;
    ki_json_writer *writer = ki_json_writer_new(NULL);
    ki_random random;
    ki_random_init(&random, 7);
    for (int i = 0; i < ROUNDS; i++) {
        json_node *node =
            json_node_random(&random, &(json_limits){.depth = 3, .items = 5, .chars = 20, .nul = 1});
        size_t len = 0, canonical_len = 0, again_len = 0;
        char *text = json_node_print(node, &random, JSON_RESPELT, &len);
        char *once = canonical((ki_str){text, len}, &canonical_len);
        char *twice = canonical((ki_str){once, canonical_len}, &again_len);
        ki_json value = ki_json_of((ki_str){once, canonical_len});
        assert_int_equal(ki_json_validate(value.raw, NULL), 0);
        assert_int_equal(ki_json_equal(ki_json_of((ki_str){text, len}), value), 1);
        assert_true(ki_str_equal((ki_str){twice, again_len}, value.raw));
        assert_spelling(value, writer);
        free(twice);
        free(once);
        free(text);
        json_node_free(node);
    }
    ki_json_writer_free(writer);
}

/* Captures of the members of a random object, and of the object itself. */
static size_t capture_members(ki_str text, ki_capture *captures, size_t max)
{
    ki_json_iter iter = ki_json_iterate(ki_json_of(text));
    ki_json item;
    size_t count = 0;
    captures[count++] = (ki_capture){0, (uint32_t)text.len, KI_CAPTURE_TEXT};
    while (count < max && ki_json_next(&iter, NULL, &item)) {
        size_t start = (size_t)(item.raw.ptr - text.ptr);
        captures[count++] = (ki_capture){(uint32_t)start, (uint32_t)(start + item.raw.len), KI_CAPTURE_TEXT};
    }
    return count;
}

static void captures_of_any_value_still_enclose_it(void **state)
{
    (void)state;
    ki_random random;
    ki_random_init(&random, 8);
    for (int i = 0; i < ROUNDS; i++) {
        json_node *node = json_node_random(&random, &(json_limits){.depth = 2, .items = 12, .chars = 9});
        size_t len = 0;
        char *text = json_node_print(node, &random, JSON_RESPELT, &len);
        ki_capture captures[KI_PROJECTION_CAPTURES_MAX], moved[KI_PROJECTION_CAPTURES_MAX];
        size_t count = capture_members((ki_str){text, len}, captures, KI_PROJECTION_CAPTURES_MAX);
        memcpy(moved, captures, sizeof(moved));
        char *copy = copy_of((ki_str){text, len});
        size_t copy_len = ki_json_canonical(copy, len, moved, count);
        for (size_t j = 0; j < count; j++) {
            size_t alone_len = 0;
            char *alone = canonical((ki_str){text + captures[j].start, captures[j].end - captures[j].start},
                                    &alone_len);
            assert_true(moved[j].start <= moved[j].end && moved[j].end <= copy_len);
            assert_true(ki_str_equal((ki_str){copy + moved[j].start, moved[j].end - moved[j].start},
                                     (ki_str){alone, alone_len}));
            free(alone);
        }
        free(copy);
        free(text);
        json_node_free(node);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_escape_gets_its_shortest_spelling),
        cmocka_unit_test(escapes_without_a_shorter_spelling_get_one_spelling),
        cmocka_unit_test(text_without_escapes_is_unchanged),
        cmocka_unit_test(names_are_strings_too),
        cmocka_unit_test(a_backslash_escapes_only_one_character),
        cmocka_unit_test(captures_move_with_the_text),
        cmocka_unit_test(any_value_keeps_its_meaning_and_gets_one_spelling),
        cmocka_unit_test(captures_of_any_value_still_enclose_it),
    };
    return RUN_TESTS(tests);
}
