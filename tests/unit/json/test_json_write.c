/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/decode/fixtures.h"
#include "support/failing_allocator.h"
#include "support/json/json_generator.h"
#include "support/json/json_reference.h"
#include "support/unit.h"

static ki_json_writer *new_writer(int indent)
{
    ki_json_writer *writer = ki_json_writer_new(&(ki_json_writer_options){.indent = indent});
    assert_non_null(writer);
    return writer;
}

/* Finishes the text, checks it and frees the writer. */
static void assert_written(ki_json_writer *writer, const char *expected)
{
    ki_str text;
    ki_error err = {0};
    if (ki_json_writer_finish(writer, &text, &err) != 0)
        fail_msg("%s", err.message);
    if (!ki_str_equal(text, ki_str_of(expected)))
        fail_msg("%.*s instead of %s", KI_STR_ARGS(text), expected);
    ki_json_writer_free(writer);
}

/* Checks that writing failed, and frees the writer. */
static void assert_failed(ki_json_writer *writer, int code)
{
    ki_str text = KI_STR("untouched");
    ki_error err = {0};
    assert_int_equal(ki_json_writer_finish(writer, &text, &err), code);
    assert_int_equal(err.code, code);
    assert_true(err.message[0] != 0);
    assert_string_equal(text.ptr, "untouched");
    ki_json_writer_free(writer);
}

/* ---- texts --------------------------------------------------------------------------------------------- */

static void write_sample(ki_json_writer *writer)
{
    ki_json_write_object_begin(writer);
    ki_json_write_name(writer, KI_STR("kind"));
    ki_json_write_string(writer, KI_STR("Pod"));
    ki_json_write_name(writer, KI_STR("ports"));
    ki_json_write_array_begin(writer);
    ki_json_write_int64(writer, 80);
    ki_json_write_double(writer, 0.5);
    ki_json_write_array_begin(writer);
    ki_json_write_array_end(writer);
    ki_json_write_array_end(writer);
    ki_json_write_name(writer, KI_STR(""));
    ki_json_write_object_begin(writer);
    ki_json_write_object_end(writer);
    ki_json_write_name(writer, KI_STR("ready"));
    ki_json_write_bool(writer, 7);
    ki_json_write_name(writer, KI_STR("failed"));
    ki_json_write_bool(writer, 0);
    ki_json_write_name(writer, KI_STR("node"));
    ki_json_write_null(writer);
    ki_json_write_object_end(writer);
}

static const char compact_sample[] =
    "{\"kind\":\"Pod\",\"ports\":[80,0.5,[]],\"\":{},\"ready\":true,\"failed\":false,\"node\":null}";

static const char pretty_sample[] = "{\n"
                                    "  \"kind\": \"Pod\",\n"
                                    "  \"ports\": [\n"
                                    "    80,\n"
                                    "    0.5,\n"
                                    "    []\n"
                                    "  ],\n"
                                    "  \"\": {},\n"
                                    "  \"ready\": true,\n"
                                    "  \"failed\": false,\n"
                                    "  \"node\": null\n"
                                    "}";

static void compact_text_has_no_white_space(void **state)
{
    (void)state;
    ki_json_writer *writer = ki_json_writer_new(NULL);
    write_sample(writer);
    assert_written(writer, compact_sample);
}

static void pretty_text_is_indented(void **state)
{
    (void)state;
    ki_json_writer *writer = new_writer(2);
    write_sample(writer);
    assert_written(writer, pretty_sample);
}

static void a_value_is_reformatted_either_way(void **state)
{
    (void)state;
    ki_json_writer *writer = new_writer(2);
    ki_json_write_value(writer, (ki_json){ki_str_of(compact_sample)});
    assert_written(writer, pretty_sample);
    writer = new_writer(0);
    ki_json_write_value(writer, (ki_json){ki_str_of(pretty_sample)});
    assert_written(writer, compact_sample);
}

static void a_value_is_written_inside_another(void **state)
{
    (void)state;
    ki_json_writer *writer = new_writer(1);
    ki_json_write_array_begin(writer);
    ki_json_write_value(writer, (ki_json){KI_STR("{\"a\":[1 , 2]}")});
    ki_json_write_value(writer, (ki_json){KI_STR("\"\\u003c\"")});
    ki_json_write_value(writer, (ki_json){KI_STR(" -1.50 ")});
    ki_json_write_array_end(writer);
    assert_failed(writer, KI_ERR_JSON_SYNTAX);
    writer = new_writer(1);
    ki_json_write_array_begin(writer);
    ki_json_write_value(writer, (ki_json){KI_STR("{\"a\":[1 , 2]}")});
    ki_json_write_value(writer, (ki_json){KI_STR("\"\\u003c\"")});
    ki_json_write_value(writer, (ki_json){KI_STR("-1.50")});
    ki_json_write_array_end(writer);
    assert_written(writer, "[\n {\n  \"a\": [\n   1,\n   2\n  ]\n },\n \"\\u003c\",\n -1.50\n]");
}

static void only_necessary_characters_are_escaped(void **state)
{
    (void)state;
    ki_json_writer *writer = new_writer(0);
    ki_json_write_string(writer, KI_STR("\"\\/\b\f\n\r\t\x01\x1f\x7f<>&\xc3\xa9\xf0\x9f\x98\x80\0."));
    assert_written(writer,
                   "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f<>&\xc3\xa9\xf0\x9f\x98\x80\\u0000.\"");
}

static void names_are_escaped_like_strings(void **state)
{
    (void)state;
    ki_json_writer *writer = new_writer(0);
    ki_json_write_object_begin(writer);
    ki_json_write_name(writer, KI_STR("a\"\n"));
    ki_json_write_string(writer, (ki_str){0});
    ki_json_write_object_end(writer);
    assert_written(writer, "{\"a\\\"\\n\":\"\"}");
}

static void numbers_are_written_in_full(void **state)
{
    (void)state;
    ki_json_writer *writer = new_writer(0);
    ki_json_write_array_begin(writer);
    ki_json_write_int64(writer, INT64_MIN);
    ki_json_write_int64(writer, INT64_MAX);
    ki_json_write_int64(writer, 0);
    ki_json_write_double(writer, 0.1);
    ki_json_write_double(writer, -0.0);
    ki_json_write_double(writer, 1e21);
    ki_json_write_array_end(writer);
    assert_written(writer, "[-9223372036854775808,9223372036854775807,0,0.1,-0,1e+21]");
}

static void a_scalar_is_a_text(void **state)
{
    (void)state;
    ki_json_writer *writer = new_writer(4);
    ki_json_write_null(writer);
    assert_written(writer, "null");
}

static void a_writer_starts_over_after_a_reset(void **state)
{
    (void)state;
    ki_json_writer *writer = new_writer(0);
    ki_json_write_object_begin(writer);
    ki_json_write_name(writer, KI_STR("a"));
    ki_json_writer_reset(writer);
    ki_json_write_object_end(writer);
    ki_json_writer_reset(writer);
    ki_json_write_int64(writer, 5);
    assert_written(writer, "5");
}

/* ---- errors -------------------------------------------------------------------------------------------- */

typedef void (*step)(ki_json_writer *writer);

static void name(ki_json_writer *writer)
{
    ki_json_write_name(writer, KI_STR("n"));
}

static void an_impossible_order_of_calls_is_an_error(void **state)
{
    (void)state;
    const step null = ki_json_write_null;
    const step object = ki_json_write_object_begin, end_object = ki_json_write_object_end;
    const step array = ki_json_write_array_begin, end_array = ki_json_write_array_end;
    const step wrong[][5] = {
        {NULL},                        /* no value */
        {null, null},                  /* two values */
        {array, end_array, object},    /* two values */
        {object, null},                /* no name */
        {object, array},               /* no name */
        {object, name, name},          /* two names */
        {object, name, end_object},    /* no value */
        {array, name},                 /* a name in an array */
        {name},                        /* a name without an object */
        {object, end_array},           /* the wrong end */
        {array, end_object},           /* the wrong end */
        {end_array},                   /* an end without a beginning */
        {array, end_array, end_array}, /* an end without a beginning */
        {array},                       /* no end */
        {object, name, array, end_array},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ki_json_writer *writer = new_writer((int)(i % 2));
        for (size_t at = 0; at < 5 && wrong[i][at] != NULL; at++)
            wrong[i][at](writer);
        assert_failed(writer, KI_ERR_INVALID);
    }
}

static void the_first_error_is_reported_and_the_rest_ignored(void **state)
{
    (void)state;
    ki_json_writer *writer = new_writer(0);
    ki_json_write_array_begin(writer);
    ki_json_write_string(writer, KI_STR("\xff"));
    ki_json_write_object_end(writer);
    ki_json_write_value(writer, (ki_json){KI_STR("[")});
    ki_json_write_array_end(writer);
    assert_failed(writer, KI_ERR_JSON_UTF8);
}

static void malformed_utf8_is_refused_in_names_too(void **state)
{
    (void)state;
    ki_json_writer *writer = new_writer(0);
    ki_json_write_object_begin(writer);
    ki_json_write_name(writer, KI_STR("a\xc3"));
    assert_failed(writer, KI_ERR_JSON_UTF8);
}

static void infinities_and_nan_are_refused(void **state)
{
    (void)state;
    const double numbers[] = {INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < 3; i++) {
        ki_json_writer *writer = new_writer(0);
        ki_json_write_double(writer, numbers[i]);
        assert_failed(writer, KI_ERR_INVALID);
    }
}

static void nesting_ends_at_a_thousand_levels(void **state)
{
    (void)state;
    for (int levels = 1000; levels <= 1001; levels++) {
        ki_json_writer *writer = new_writer(0);
        for (int i = 0; i < levels; i++)
            ki_json_write_array_begin(writer);
        for (int i = 0; i < levels; i++)
            ki_json_write_array_end(writer);
        ki_str text;
        int rc = ki_json_writer_finish(writer, &text, NULL);
        assert_int_equal(rc, levels == 1000 ? 0 : KI_ERR_JSON_DEPTH);
        ki_json_writer_free(writer);
    }
}

static void a_text_beyond_its_maximum_is_refused(void **state)
{
    (void)state;
    for (size_t bytes_max = 1; bytes_max <= sizeof(pretty_sample); bytes_max++) {
        ki_json_writer *writer =
            ki_json_writer_new(&(ki_json_writer_options){.indent = 2, .bytes_max = bytes_max});
        assert_non_null(writer);
        write_sample(writer);
        if (bytes_max < sizeof(pretty_sample) - 1)
            assert_failed(writer, KI_ERR_TOO_LARGE);
        else
            assert_written(writer, pretty_sample);
    }
    ki_json_writer *writer = new_writer(INT32_MAX);
    write_sample(writer);
    assert_failed(writer, KI_ERR_TOO_LARGE);
}

static void malformed_values_are_not_written(void **state)
{
    (void)state;
    const char *const wrong[] = {"[1 2]",  "[1,]",     "[,1]",       "{\"a\"}", "{\"a\":}",
                                 "{a:1}",  "[1}",      "{\"a\":1]",  "[1",      "\"a",
                                 "[1]]",   "1 2",      "nul",        "01",      "[tru]",
                                 "[1,,2]", "{,}",      "{\"a\":1,}", "x",       "{\"a\":1 \"b\":2}",
                                 "]",      "[\"a\\\"]"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ki_json_writer *writer = new_writer(0);
        ki_json_write_value(writer, (ki_json){ki_str_of(wrong[i])});
        assert_failed(writer, KI_ERR_JSON_SYNTAX);
    }
    ki_json_writer *writer = new_writer(0);
    ki_json_write_value(writer, (ki_json){0});
    assert_failed(writer, KI_ERR_INVALID);
}

static void a_null_writer_is_harmless(void **state)
{
    (void)state;
    ki_str text;
    write_sample(NULL);
    ki_json_write_value(NULL, (ki_json){KI_STR("1")});
    ki_json_writer_reset(NULL);
    ki_json_writer_free(NULL);
    assert_int_equal(ki_json_writer_finish(NULL, &text, NULL), KI_ERR_INVALID);
    ki_json_writer *writer = new_writer(0);
    ki_json_write_null(writer);
    assert_int_equal(ki_json_writer_finish(writer, NULL, NULL), KI_ERR_INVALID);
    assert_written(writer, "null");
}

/* ---- properties ---------------------------------------------------------------------------------------- */

static void check_same(ki_json_writer *writer, ki_str original, const json_t *reference)
{
    ki_str text;
    assert_int_equal(ki_json_writer_finish(writer, &text, NULL), 0);
    json_t *read = json_reference_parse(text);
    if (read == NULL || !json_reference_same(ki_json_of(text), reference) ||
        !json_reference_same(ki_json_of(original), read) ||
        ki_json_equal(ki_json_of(text), ki_json_of(original)) != 1)
        fail_msg("%.*s\nbecame\n%.*s", KI_STR_ARGS(original), KI_STR_ARGS(text));
    json_decref(read);
}

static void check_exactly(ki_json_writer *writer, const json_node *node, ki_random *random, unsigned style)
{
    ki_str text;
    size_t len;
    char *expected = json_node_print(node, random, style, &len);
    assert_int_equal(ki_json_writer_finish(writer, &text, NULL), 0);
    if (!ki_str_equal(text, (ki_str){expected, len}))
        fail_msg("%.*s instead of %.*s", KI_STR_ARGS(text), (int)len, expected);
    free(expected);
}

static void written_values_read_back_unchanged(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 1500; seed++) {
        ki_random random;
        ki_random_init(&random, seed);
        json_limits limits = {.depth = (int)(seed % 7), .items = 6, .chars = 60, .nul = 1};
        json_node *node = json_node_random(&random, &limits);
        size_t len;
        char *text = json_node_print(node, &random, JSON_SPACES | JSON_RESPELT, &len);
        ki_str original = {text, len};
        json_t *reference = json_reference_parse(original);
        assert_non_null(reference);
        int indent = (int)(seed % 3);
        ki_json_writer *writer = new_writer(indent);
        json_node_write(node, writer);
        check_same(writer, original, reference);
        ki_json_writer_reset(writer);
        ki_json_write_value(writer, ki_json_of(original));
        check_same(writer, original, reference);
        json_decref(reference);
        ki_json_writer_free(writer);
        free(text);
        json_node_free(node);
    }
}

static void reformatting_gives_the_text_byte_by_byte(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        ki_random random;
        ki_random_init(&random, seed);
        json_limits limits = {.depth = 5, .items = 6, .chars = 20, .wild_numbers = 1, .nul = 1};
        json_node *node = json_node_random(&random, &limits);
        size_t len;
        char *text = json_node_print(node, &random, JSON_SPACES, &len);
        ki_json_writer *writer = new_writer(0);
        ki_json_write_value(writer, ki_json_of((ki_str){text, len}));
        check_exactly(writer, node, &random, 0);
        ki_json_writer_free(writer);
        writer = new_writer(2);
        ki_json_write_value(writer, ki_json_of((ki_str){text, len}));
        check_exactly(writer, node, &random, JSON_INDENTED);
        ki_json_writer_free(writer);
        free(text);
        json_node_free(node);
    }
}

static void recorded_responses_survive_reformatting(void **state)
{
    (void)state;
    const char *const names[] = {"pods-list.http", "crds-list.http", "nodes-list.http", "events-list.http"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        fixture file = {0};
        fixture_http answer;
        assert_int_equal(fixture_load(&file, names[i], NULL), 0);
        assert_int_equal(fixture_split_http((ki_str){file.data, file.len}, &answer), 0);
        json_t *reference = json_reference_parse(answer.body);
        ki_json_writer *writer = new_writer(2);
        ki_json_write_value(writer, ki_json_of(answer.body));
        check_same(writer, answer.body, reference);
        ki_json_writer_free(writer);
        json_decref(reference);
        fixture_free(&file);
    }
}

/* ---- out of memory ------------------------------------------------------------------------------------- */

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    ki_random random;
    ki_random_init(&random, 3);
    json_node *node = json_node_random(&random, &(json_limits){.depth = 7, .items = 6, .chars = 40});
    size_t failures = 0;
    for (size_t n = 1;; n++) {
        failing_allocator_fail_at(n);
        ki_json_writer *writer = ki_json_writer_new(NULL);
        ki_str text;
        ki_error err = {0};
        json_node_write(node, writer);
        int rc = writer == NULL ? KI_ERR_NO_MEMORY : ki_json_writer_finish(writer, &text, &err);
        ki_json_writer_free(writer);
        assert_int_equal(failing_allocator_live_count(), 0);
        if (!failing_allocator_has_failed()) {
            assert_int_equal(rc, 0);
            break;
        }
        failures++;
        assert_int_equal(rc, KI_ERR_NO_MEMORY);
    }
    assert_true(failures > 3);
    json_node_free(node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compact_text_has_no_white_space),
        cmocka_unit_test(pretty_text_is_indented),
        cmocka_unit_test(a_value_is_reformatted_either_way),
        cmocka_unit_test(a_value_is_written_inside_another),
        cmocka_unit_test(only_necessary_characters_are_escaped),
        cmocka_unit_test(names_are_escaped_like_strings),
        cmocka_unit_test(numbers_are_written_in_full),
        cmocka_unit_test(a_scalar_is_a_text),
        cmocka_unit_test(a_writer_starts_over_after_a_reset),
        cmocka_unit_test(an_impossible_order_of_calls_is_an_error),
        cmocka_unit_test(the_first_error_is_reported_and_the_rest_ignored),
        cmocka_unit_test(malformed_utf8_is_refused_in_names_too),
        cmocka_unit_test(infinities_and_nan_are_refused),
        cmocka_unit_test(nesting_ends_at_a_thousand_levels),
        cmocka_unit_test(a_text_beyond_its_maximum_is_refused),
        cmocka_unit_test(malformed_values_are_not_written),
        cmocka_unit_test(a_null_writer_is_harmless),
        cmocka_unit_test(written_values_read_back_unchanged),
        cmocka_unit_test(reformatting_gives_the_text_byte_by_byte),
        cmocka_unit_test(recorded_responses_survive_reformatting),
        WITH_MEMORY_CHECK(every_failed_allocation_is_reported),
    };
    return RUN_TESTS(tests);
}
