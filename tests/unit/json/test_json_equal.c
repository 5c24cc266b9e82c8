/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/decode/fixtures.h"
#include "support/failing_allocator.h"
#include "support/json/json_generator.h"
#include "support/unit.h"

static ki_json json(const char *text)
{
    return ki_json_of(ki_str_of(text));
}

static void assert_equal(const char *a, const char *b, int expected)
{
    int forth = ki_json_equal(json(a), json(b));
    int back = ki_json_equal(json(b), json(a));
    if (forth != expected || back != expected)
        fail_msg("%d and %d instead of %d: %s and %s", forth, back, expected, a, b);
}

/* ---- examples ------------------------------------------------------------------------------------------ */

static void spelling_and_white_space_are_ignored(void **state)
{
    (void)state;
    assert_equal("[1,\"a\",null,true]", " [ 1.0 , \"\\u0061\" ,\n null, true ] ", 1);
    assert_equal("{\"a\":{\"b\":[]}}", "{ \"\\u0061\" : { \"b\" : [ ] } }", 1);
    assert_equal("\"\\/\"", "\"/\"", 1);
    assert_equal("1e2", "100", 1);
    assert_equal("-0", "0", 1);
}

static void the_order_of_names_is_ignored(void **state)
{
    (void)state;
    assert_equal("{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", 1);
    assert_equal("{\"a\":1,\"b\":2,\"c\":[{\"x\":1,\"y\":2}]}", "{\"a\":1,\"c\":[{\"y\":2,\"x\":1}],\"b\":2}",
                 1);
    assert_equal("{\"a\":1,\"b\":2}", "{\"b\":1,\"a\":2}", 0);
    assert_equal("{\"a\":1,\"b\":2,\"c\":3}", "{\"a\":1,\"c\":2,\"b\":3}", 0);
    assert_equal("[{\"a\":1,\"b\":2},7]", "[{\"b\":2,\"a\":1},8]", 0);
    assert_equal("[{\"a\":1,\"b\":2},7]", "[{\"b\":2,\"a\":1},7]", 1);
}

static void the_order_of_elements_matters(void **state)
{
    (void)state;
    assert_equal("[1,2]", "[2,1]", 0);
    assert_equal("[1,2]", "[1,2,3]", 0);
    assert_equal("[]", "[[]]", 0);
    assert_equal("[[],[]]", "[[[]]]", 0);
}

static void different_values_are_different(void **state)
{
    (void)state;
    const char *const values[] = {"null", "true",      "false",       "0",      "1",           "\"0\"",
                                  "\"\"", "[]",        "{}",          "[null]", "{\"\":null}", "\"null\"",
                                  "[0]",  "{\"0\":0}", "\"\\u0000\"", "[[]]",   "[{}]",        "{\"\":{}}"};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        for (size_t j = 0; j < sizeof(values) / sizeof(values[0]); j++)
            assert_equal(values[i], values[j], i == j);
}

static void a_missing_or_additional_name_is_a_difference(void **state)
{
    (void)state;
    assert_equal("{\"a\":1}", "{}", 0);
    assert_equal("{\"a\":1}", "{\"a\":1,\"b\":null}", 0);
    assert_equal("{\"a\":1,\"b\":1}", "{\"a\":1,\"c\":1}", 0);
    assert_equal("{\"b\":1,\"a\":1}", "{\"a\":1,\"c\":1}", 0);
}

static void no_value_equals_no_value(void **state)
{
    (void)state;
    assert_equal("", "", 1);
    assert_equal("", "null", 0);
    assert_equal("", "{}", 0);
}

static void the_first_of_equal_names_counts(void **state)
{
    (void)state;
    assert_equal("{\"a\":1,\"a\":2}", "{\"a\":1}", 1);
    assert_equal("{\"a\":1,\"a\":2}", "{\"a\":2}", 0);
    assert_equal("{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":3}", 1);
    assert_equal("{\"a\":1,\"b\":5,\"a\":2,\"c\":3}", "{\"a\":1,\"b\":5,\"a\":7,\"c\":3}", 1);
    assert_equal("{\"a\":1,\"b\":5,\"a\":2,\"c\":3}", "{\"a\":1,\"b\":5,\"a\":7,\"c\":4}", 0);
    assert_equal("{\"a\":[1],\"a\":[{\"x\":[2]}],\"b\":6}", "{\"a\":[1],\"a\":[{\"x\":[3]}],\"b\":6}", 1);
    assert_equal("{\"a\":[1],\"a\":[{\"x\":[2]}],\"b\":6}", "{\"a\":[1],\"a\":[{\"x\":[3]}],\"b\":7}", 0);
    assert_equal("[{\"a\":1,\"a\":2},{\"a\":1}]", "[{\"a\":1,\"a\":3},{\"a\":2}]", 0);
    assert_equal("[{\"a\":1,\"a\":2},{\"a\":1}]", "[{\"a\":1,\"a\":3},{\"a\":1}]", 1);
    assert_equal("{\"a\":1,\"a\":{},\"a\":2}", "{\"a\":1,\"a\":[],\"a\":3,\"a\":4}", 1);
}

/* ---- limits -------------------------------------------------------------------------------------------- */

/* `levels` arrays or objects around a number; the caller frees the text. */
static char *nested(int levels, int objects, char leaf)
{
    char *text = malloc((size_t)levels * 6 + 2);
    size_t at = 0;
    assert_non_null(text);
    for (int i = 0; i < levels; i++) {
        memcpy(text + at, "{\"\":", 4);
        text[at] = objects ? '{' : '[';
        at += objects ? 4 : 1;
    }
    text[at++] = leaf;
    memset(text + at, objects ? '}' : ']', (size_t)levels);
    text[at + (size_t)levels] = 0;
    return text;
}

static void a_thousand_levels_are_compared_and_no_more(void **state)
{
    (void)state;
    for (int objects = 0; objects < 2; objects++) {
        char *deep = nested(1000, objects, '1');
        char *other = nested(1000, objects, '2');
        char *deeper = nested(1001, objects, '1');
        char *deeper_other = nested(1001, objects, '2');
        assert_equal(deep, other, 0);
        assert_equal(deeper, deeper_other, KI_ERR_JSON_DEPTH);
        free(deep);
        free(other);
        free(deeper);
        free(deeper_other);
    }
}

static void malformed_text_is_an_error(void **state)
{
    (void)state;
    assert_equal("[1,2", "[1,2]", KI_ERR_JSON_SYNTAX);
    assert_equal("[1,]", "[1,2]", KI_ERR_JSON_SYNTAX);
    assert_equal("[1 2]", "[1,2]", KI_ERR_JSON_SYNTAX);
    assert_equal("{\"a\"}", "{\"a\":1}", KI_ERR_JSON_SYNTAX);
    assert_equal("{\"a\":1", "{\"b\":1}", KI_ERR_JSON_SYNTAX);
    assert_equal("{\"a\":1]", "{\"b\":1}", KI_ERR_JSON_SYNTAX);
    assert_equal("[01]", "[1]", KI_ERR_JSON_SYNTAX);
    assert_equal("[nul]", "[null]", KI_ERR_JSON_SYNTAX);
    assert_equal("[1]]", "[1]", KI_ERR_JSON_SYNTAX);
    assert_equal("[1],", "[1]", KI_ERR_JSON_SYNTAX);
    assert_equal("\"a\"b", "\"a\"", KI_ERR_JSON_SYNTAX);
    assert_equal("\"a", "\"a\"", KI_ERR_JSON_SYNTAX);
    assert_equal("+1", "1", KI_ERR_JSON_SYNTAX);
}

/* Many names in opposite orders, all with one prefix: quadratic time would be minutes here. */
static void hostile_objects_take_no_longer_than_sorting(void **state)
{
    (void)state;
    const int count = 50000;
    char *up = malloc((size_t)count * 40);
    char *down = malloc((size_t)count * 40);
    assert_true(up != NULL && down != NULL);
    size_t up_len = 0, down_len = 0;
    for (int i = 0; i < count; i++) {
        const char *separator = i == 0 ? "{" : ",";
        up_len += (size_t)sprintf(up + up_len, "%s\"app.kubernetes.io/%07d\":%d", separator, i, i);
        down_len += (size_t)sprintf(down + down_len, "%s\"app.kubernetes.io/%07d\":%d", separator,
                                    count - 1 - i, count - 1 - i);
    }
    strcpy(up + up_len, "}");
    strcpy(down + down_len, "}");
    assert_int_equal(ki_json_equal(json(up), json(down)), 1);
    down[down_len - 1] = '1';
    assert_int_equal(ki_json_equal(json(up), json(down)), 0);
    free(up);
    free(down);
}

/* Each level has an ignored difference after a value. If this caused the value to be compared again, the work
 * would double at each level and never end. */
static void hostile_duplicates_are_not_compared_again(void **state)
{
    (void)state;
    const int levels = 300;
    char *texts[2];
    for (int which = 0; which < 2; which++) {
        char *text = texts[which] = malloc((size_t)levels * 40);
        size_t len = 0;
        assert_non_null(text);
        for (int i = 0; i < levels; i++)
            len += (size_t)sprintf(text + len, "{\"a\":");
        len += (size_t)sprintf(text + len, "0");
        for (int i = 0; i < levels; i++)
            len += (size_t)sprintf(text + len, ",\"a\":%d,\"a\":%d}", which, which);
    }
    assert_equal(texts[0], texts[1], 1);
    free(texts[0]);
    free(texts[1]);
}

/* ---- properties ---------------------------------------------------------------------------------------- */

static const json_limits usual = {.depth = 5, .items = 6, .chars = 12, .wild_numbers = 1, .nul = 1};

static ki_json print(const json_node *node, ki_random *random, unsigned style)
{
    size_t len;
    char *text = json_node_print(node, random, style, &len);
    return (ki_json){{text, len}};
}

static void check_printed(const json_node *node, ki_random *random, ki_json reference, unsigned style,
                          int expected)
{
    ki_json other = print(node, random, style);
    ki_json a = ki_json_of(reference.raw);
    ki_json b = ki_json_of(other.raw);
    int forth = ki_json_equal(a, b);
    int back = ki_json_equal(b, a);
    if (forth != expected || back != expected)
        fail_msg("%d and %d instead of %d:\n%.*s\n%.*s", forth, back, expected, KI_STR_ARGS(a.raw),
                 KI_STR_ARGS(b.raw));
    free((char *)other.raw.ptr);
}

static void a_value_equals_all_its_spellings_and_no_mutant(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        ki_random random;
        ki_random_init(&random, seed);
        json_node *node = json_node_random(&random, &usual);
        ki_json reference = print(node, &random, 0);
        for (unsigned style = 0; style < 16; style++)
            check_printed(node, &random, reference, style, 1);
        json_node_mutate(node, &random);
        for (unsigned style = 0; style < 16; style++)
            check_printed(node, &random, reference, style, 0);
        free((char *)reference.raw.ptr);
        json_node_free(node);
    }
}

static void recorded_pods_equal_themselves_only(void **state)
{
    (void)state;
    fixture file = {0};
    fixture_http answer;
    assert_int_equal(fixture_load(&file, "pods-list.http", NULL), 0);
    assert_int_equal(fixture_split_http((ki_str){file.data, file.len}, &answer), 0);
    ki_json items = ki_json_find(ki_json_of(answer.body), "/items");
    ki_json_iter left = ki_json_iterate(items);
    ki_json a, b;
    for (int i = 0; ki_json_next(&left, NULL, &a); i++) {
        ki_json_iter right = ki_json_iterate(items);
        for (int j = 0; ki_json_next(&right, NULL, &b); j++)
            assert_int_equal(ki_json_equal(a, b), i == j);
    }
    fixture_free(&file);
}

/* ---- out of memory ------------------------------------------------------------------------------------- */

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    ki_random random;
    ki_random_init(&random, 5);
    json_limits limits = {.depth = 12, .items = 6, .chars = 4};
    json_node *node = json_node_random(&random, &limits);
    ki_json reference = print(node, &random, 0);
    ki_json other = print(node, &random, JSON_SHUFFLED | JSON_DUPLICATES);
    size_t failures = 0;
    for (size_t n = 1;; n++) {
        failing_allocator_fail_at(n);
        int rc = ki_json_equal(reference, other);
        if (!failing_allocator_has_failed()) {
            assert_int_equal(rc, 1);
            break;
        }
        failures++;
        assert_int_equal(rc, KI_ERR_NO_MEMORY);
        assert_int_equal(failing_allocator_live_count(), 0);
    }
    assert_true(failures > 3);
    free((char *)reference.raw.ptr);
    free((char *)other.raw.ptr);
    json_node_free(node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spelling_and_white_space_are_ignored),
        cmocka_unit_test(the_order_of_names_is_ignored),
        cmocka_unit_test(the_order_of_elements_matters),
        cmocka_unit_test(different_values_are_different),
        cmocka_unit_test(a_missing_or_additional_name_is_a_difference),
        cmocka_unit_test(no_value_equals_no_value),
        cmocka_unit_test(the_first_of_equal_names_counts),
        cmocka_unit_test(a_thousand_levels_are_compared_and_no_more),
        cmocka_unit_test(malformed_text_is_an_error),
        cmocka_unit_test(hostile_objects_take_no_longer_than_sorting),
        cmocka_unit_test(hostile_duplicates_are_not_compared_again),
        cmocka_unit_test(a_value_equals_all_its_spellings_and_no_mutant),
        cmocka_unit_test(recorded_pods_equal_themselves_only),
        WITH_MEMORY_CHECK(every_failed_allocation_is_reported),
    };
    return RUN_TESTS(tests);
}
