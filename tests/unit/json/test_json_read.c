/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/decode/fixtures.h"
#include "support/json/json_generator.h"
#include "support/json/json_reference.h"
#include "support/unit.h"

static ki_json json(const char *text)
{
    return ki_json_of(ki_str_of(text));
}

static void assert_raw(ki_json value, const char *expected)
{
    if (!ki_str_equal(value.raw, ki_str_of(expected)))
        fail_msg("%.*s instead of %s", KI_STR_ARGS(value.raw), expected);
}

static void assert_none(ki_json value)
{
    if (ki_json_type_of(value) != KI_JSON_NONE)
        fail_msg("%.*s instead of nothing", KI_STR_ARGS(value.raw));
}

/* ---- values -------------------------------------------------------------------------------------------- */

static void a_value_has_no_white_space_around_it(void **state)
{
    (void)state;
    assert_raw(json(" \t\r\n[1, 2]\n "), "[1, 2]");
    assert_raw(json("7"), "7");
    assert_none(json(" \n"));
    assert_none(json(""));
    assert_none(ki_json_of((ki_str){0}));
}

static void the_first_character_tells_the_type(void **state)
{
    (void)state;
    assert_int_equal(ki_json_type_of(json("{}")), KI_JSON_OBJECT);
    assert_int_equal(ki_json_type_of(json("[]")), KI_JSON_ARRAY);
    assert_int_equal(ki_json_type_of(json("\"\"")), KI_JSON_STRING);
    assert_int_equal(ki_json_type_of(json("-1")), KI_JSON_NUMBER);
    assert_int_equal(ki_json_type_of(json("0")), KI_JSON_NUMBER);
    assert_int_equal(ki_json_type_of(json("9e9")), KI_JSON_NUMBER);
    assert_int_equal(ki_json_type_of(json("true")), KI_JSON_BOOL);
    assert_int_equal(ki_json_type_of(json("false")), KI_JSON_BOOL);
    assert_int_equal(ki_json_type_of(json("null")), KI_JSON_NULL);
    assert_int_equal(ki_json_type_of(json("+1")), KI_JSON_NONE);
    assert_int_equal(ki_json_type_of(json("\xff")), KI_JSON_NONE);
    assert_int_equal(ki_json_type_of((ki_json){0}), KI_JSON_NONE);
}

static void only_true_and_false_are_booleans(void **state)
{
    (void)state;
    int flag = 7;
    assert_int_equal(ki_json_bool(json("true"), &flag), 0);
    assert_int_equal(flag, 1);
    assert_int_equal(ki_json_bool(json("false"), &flag), 0);
    assert_int_equal(flag, 0);
    flag = 7;
    assert_int_equal(ki_json_bool(json("null"), &flag), KI_ERR_TYPE);
    assert_int_equal(ki_json_bool(json("truth"), &flag), KI_ERR_TYPE);
    assert_int_equal(ki_json_bool(json("1"), &flag), KI_ERR_TYPE);
    assert_int_equal(ki_json_bool((ki_json){0}, &flag), KI_ERR_TYPE);
    assert_int_equal(ki_json_bool(json("true"), NULL), KI_ERR_INVALID);
    assert_int_equal(flag, 7);
}

/* ---- pointers ------------------------------------------------------------------------------------------ */

static const char rfc6901[] = "{\n"
                              "   \"foo\": [\"bar\", \"baz\"],\n"
                              "   \"\": 0,\n"
                              "   \"a/b\": 1,\n"
                              "   \"c%d\": 2,\n"
                              "   \"e^f\": 3,\n"
                              "   \"g|h\": 4,\n"
                              "   \"i\\\\j\": 5,\n"
                              "   \"k\\\"l\": 6,\n"
                              "   \" \": 7,\n"
                              "   \"m~n\": 8\n"
                              "}";

static void the_examples_of_rfc_6901_are_found(void **state)
{
    (void)state;
    ki_json document = json(rfc6901);
    assert_raw(ki_json_find(document, ""), rfc6901);
    assert_raw(ki_json_find(document, "/foo"), "[\"bar\", \"baz\"]");
    assert_raw(ki_json_find(document, "/foo/0"), "\"bar\"");
    assert_raw(ki_json_find(document, "/"), "0");
    assert_raw(ki_json_find(document, "/a~1b"), "1");
    assert_raw(ki_json_find(document, "/c%d"), "2");
    assert_raw(ki_json_find(document, "/e^f"), "3");
    assert_raw(ki_json_find(document, "/g|h"), "4");
    assert_raw(ki_json_find(document, "/i\\j"), "5");
    assert_raw(ki_json_find(document, "/k\"l"), "6");
    assert_raw(ki_json_find(document, "/ "), "7");
    assert_raw(ki_json_find(document, "/m~0n"), "8");
}

static void tilde_escapes_are_undone_once(void **state)
{
    (void)state;
    ki_json document = json("{\"~1\":1,\"/\":2,\"~0\":3,\"~\":4,\"a\\u002fb~\":5}");
    assert_raw(ki_json_find(document, "/~01"), "1");
    assert_raw(ki_json_find(document, "/~1"), "2");
    assert_raw(ki_json_find(document, "/~00"), "3");
    assert_raw(ki_json_find(document, "/~0"), "4");
    assert_raw(ki_json_find(document, "/a~1b~0"), "5");
}

static void a_malformed_pointer_finds_nothing(void **state)
{
    (void)state;
    ki_json document = json("{\"a\":{\"~2\":1,\"~\":2,\"b\":3},\"~2\":4}");
    assert_none(ki_json_find(document, "a"));
    assert_none(ki_json_find(document, "a/b"));
    assert_none(ki_json_find(document, "/~2"));
    assert_none(ki_json_find(document, "/a/~"));
    assert_none(ki_json_find(document, "/~2/b"));
    assert_none(ki_json_find(document, NULL));
    assert_raw(ki_json_find_str(document, (ki_str){0}), document.raw.ptr);
    assert_raw(ki_json_find_str(document, (ki_str){"/a/bcd", 4}), "3");
}

static void an_index_is_digits_without_a_leading_zero(void **state)
{
    (void)state;
    ki_json document = json("[10, [ ], {\"0\":12}, [13 ,14] ]");
    assert_raw(ki_json_find(document, "/0"), "10");
    assert_raw(ki_json_find(document, "/1"), "[ ]");
    assert_raw(ki_json_find(document, "/2/0"), "12");
    assert_raw(ki_json_find(document, "/3/1"), "14");
    const char *const wrong[] = {"/00",  "/01", "/4",  "/-",   "/-1",   "/+1",  "/1e0",
                                 "/ 1",  "/",   "/1/", "/1/0", "/3/2",  "/a",   "/99999999999999999999",
                                 "/0/0", "/~0", "/1 ", "/0x1", "/3/01", "/3//1"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_none(ki_json_find(document, wrong[i]));
}

static void a_scalar_has_no_children(void **state)
{
    (void)state;
    assert_none(ki_json_find(json("\"{\\\"a\\\":1}\""), "/a"));
    assert_none(ki_json_find(json("12"), "/0"));
    assert_none(ki_json_find(json("null"), "/"));
    assert_none(ki_json_find((ki_json){0}, "/a"));
    assert_none(ki_json_find((ki_json){0}, ""));
    assert_none(ki_json_member(json("[\"a\",1]"), KI_STR("a")));
    assert_none(ki_json_member((ki_json){0}, KI_STR("a")));
}

static void the_first_of_equal_names_counts(void **state)
{
    (void)state;
    ki_json document = json("{\"b\":0,\"\\u0061\":1,\"a\":2}");
    assert_raw(ki_json_find(document, "/a"), "1");
    assert_raw(ki_json_member(document, KI_STR("a")), "1");
}

static void names_are_compared_unescaped_and_never_with_values(void **state)
{
    (void)state;
    ki_json document = json("{\"x\":\"a\",\"y\":{\"a\":1},\"\\ud83d\\ude00\":[\"a\"],\"a\":true,\"\":false}");
    assert_raw(ki_json_member(document, KI_STR("a")), "true");
    assert_raw(ki_json_member(document, KI_STR("\xf0\x9f\x98\x80")), "[\"a\"]");
    assert_raw(ki_json_member(document, KI_STR("")), "false");
    assert_raw(ki_json_member(document, (ki_str){0}), "false");
    assert_none(ki_json_member(document, KI_STR("\\ud83d\\ude00")));
    assert_none(ki_json_member(document, KI_STR("ab")));
}

static void a_large_document_is_searched_to_its_end(void **state)
{
    (void)state;
    char text[20000];
    int len = snprintf(text, sizeof(text), "{\"brackets\":\"}]\\\"}\\\\\",\"deep\":");
    memset(text + len, '[', 500);
    memset(text + len + 500, ']', 500);
    len += 1000;
    for (int i = 0; i < 500; i++)
        len += snprintf(text + len, sizeof(text) - (size_t)len, ",\"n%d\":{\"v\":[\"{\",%d]}", i, i);
    snprintf(text + len, sizeof(text) - (size_t)len, "}");
    assert_raw(ki_json_find(json(text), "/n499/v/1"), "499");
    assert_raw(ki_json_find(json(text), "/n0/v/0"), "\"{\"");
    assert_none(ki_json_find(json(text), "/n500"));
}

/* ---- iteration ----------------------------------------------------------------------------------------- */

static void members_are_iterated_in_order(void **state)
{
    (void)state;
    ki_json_iter iter = ki_json_iterate(json("{ \"a\" : 1 , \"\\n\":[ 2,{}] ,\"c\":\"]\"}"));
    ki_json name, value;
    assert_int_equal(ki_json_next(&iter, &name, &value), 1);
    assert_raw(name, "\"a\"");
    assert_raw(value, "1");
    assert_int_equal(ki_json_next(&iter, &name, &value), 1);
    assert_raw(name, "\"\\n\"");
    assert_raw(value, "[ 2,{}]");
    assert_int_equal(ki_json_next(&iter, NULL, &value), 1);
    assert_raw(value, "\"]\"");
    assert_int_equal(ki_json_next(&iter, &name, &value), 0);
    assert_int_equal(ki_json_next(&iter, &name, &value), 0);
    assert_raw(value, "\"]\"");
}

static void elements_have_no_names(void **state)
{
    (void)state;
    ki_json_iter iter = ki_json_iterate(json("[null,\"x\"]"));
    ki_json name = json("7"), value;
    assert_int_equal(ki_json_next(&iter, &name, &value), 1);
    assert_none(name);
    assert_raw(value, "null");
    assert_int_equal(ki_json_next(&iter, &name, NULL), 1);
    assert_int_equal(ki_json_next(&iter, &name, &value), 0);
}

static size_t count_items(const char *text)
{
    ki_json_iter iter = ki_json_iterate(json(text));
    size_t count = 0;
    while (ki_json_next(&iter, NULL, NULL))
        count++;
    return count;
}

static void only_containers_are_iterated(void **state)
{
    (void)state;
    assert_int_equal(count_items("{}"), 0);
    assert_int_equal(count_items("[ ]"), 0);
    assert_int_equal(count_items("\"[1]\""), 0);
    assert_int_equal(count_items("1"), 0);
    assert_int_equal(count_items(""), 0);
    assert_int_equal(ki_json_next(NULL, NULL, NULL), 0);
    assert_int_equal(ki_json_next(&(ki_json_iter){0}, NULL, NULL), 0);
}

static void iteration_stops_at_malformed_text(void **state)
{
    (void)state;
    assert_int_equal(count_items("[1 2]"), 1);
    assert_int_equal(count_items("[1,]"), 1);
    assert_int_equal(count_items("[,1]"), 0);
    assert_int_equal(count_items("["), 0);
    assert_int_equal(count_items("[1"), 1);
    assert_int_equal(count_items("[1,\"a"), 1);
    assert_int_equal(count_items("[1}"), 1);
    assert_int_equal(count_items("{\"a\"}"), 0);
    assert_int_equal(count_items("{\"a\":}"), 0);
    assert_int_equal(count_items("{a:1}"), 0);
    assert_int_equal(count_items("{\"a\":1,2}"), 1);
    assert_int_equal(count_items("{\"a\":1]"), 1);
    assert_int_equal(count_items("{\"a\":1,\"b\\"), 1);
}

/* ---- any bytes ----------------------------------------------------------------------------------------- */

static size_t visit(ki_json value, int depth)
{
    ki_str text;
    int64_t integer;
    double real;
    int flag;
    ki_json_iter iter = ki_json_iterate(value);
    ki_json name, item;
    size_t count = 1;
    count += ki_json_string(value, &text) == 0 ? text.len : 0;
    count += ki_json_int64(value, &integer) == 0;
    count += ki_json_double(value, &real) == 0;
    count += ki_json_bool(value, &flag) == 0;
    while (depth > 0 && ki_json_next(&iter, &name, &item))
        count += visit(name, 0) + visit(item, depth - 1);
    return count;
}

/* Reads text that ends at the end of its memory, so that a sanitizer detects a byte too many. */
static void read_exactly(const char *text, size_t len)
{
    char *copy = malloc(len == 0 ? 1 : len);
    assert_non_null(copy);
    memcpy(copy, text, len);
    ki_json value = ki_json_of((ki_str){copy, len});
    assert_true(visit(value, 50) > 0);
    ki_json found = ki_json_find(value, "/spec/containers/0/name");
    assert_true(found.raw.len <= len);
    free(copy);
}

static void a_recorded_pod_cut_anywhere_is_read_safely(void **state)
{
    (void)state;
    fixture file = {0};
    fixture_http answer;
    assert_int_equal(fixture_load(&file, "pods-one.http", NULL), 0);
    assert_int_equal(fixture_split_http((ki_str){file.data, file.len}, &answer), 0);
    for (size_t len = 0; len <= answer.body.len; len++)
        read_exactly(answer.body.ptr, len);
    for (size_t from = 0; from <= answer.body.len; from++)
        read_exactly(answer.body.ptr + from, answer.body.len - from);
    fixture_free(&file);
}

static void random_bytes_are_read_safely(void **state)
{
    (void)state;
    static const char alphabet[] = "{{[[}}]]\"\"\"\\\\,,::  \n019-+.eEtrufalsn/bu\x80\xff";
    ki_random random;
    ki_random_init(&random, 4);
    for (int i = 0; i < 20000; i++) {
        char text[200];
        size_t len = ki_random_below(&random, sizeof(text));
        for (size_t at = 0; at < len; at++)
            text[at] = alphabet[ki_random_below(&random, sizeof(alphabet))];
        read_exactly(text, len);
    }
}

/* ---- against jansson ----------------------------------------------------------------------------------- */

static void recorded_responses_are_read_as_by_jansson(void **state)
{
    (void)state;
    const char *const names[] = {"pods-list.http",      "pods-list-pretty.http",          "nodes-list.http",
                                 "crds-list.http",      "configmaps-list.http",           "events-list.http",
                                 "error-403-list.http", "discovery-aggregated-apis.http", "version.http"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        fixture file = {0};
        fixture_http answer;
        assert_int_equal(fixture_load(&file, names[i], NULL), 0);
        assert_int_equal(fixture_split_http((ki_str){file.data, file.len}, &answer), 0);
        json_t *reference = json_reference_parse(answer.body);
        assert_non_null(reference);
        assert_true(json_reference_same(ki_json_of(answer.body), reference));
        json_decref(reference);
        fixture_free(&file);
    }
}

static void random_values_are_read_as_by_jansson(void **state)
{
    (void)state;
    static const unsigned styles[] = {0, JSON_SPACES, JSON_RESPELT,
                                      JSON_SPACES | JSON_RESPELT | JSON_SHUFFLED};
    for (uint64_t seed = 0; seed < 1500; seed++) {
        ki_random random;
        ki_random_init(&random, seed);
        json_limits limits = {.depth = 1 + (int)(seed % 6), .items = 7, .chars = 40, .nul = 1};
        json_node *node = json_node_random(&random, &limits);
        size_t len;
        char *text = json_node_print(node, &random, styles[seed % 4], &len);
        json_t *reference = json_reference_parse((ki_str){text, len});
        if (reference == NULL || !json_reference_same(ki_json_of((ki_str){text, len}), reference))
            fail_msg("seed %u: %.*s", (unsigned)seed, (int)len, text);
        json_decref(reference);
        free(text);
        json_node_free(node);
    }
}

/* The pointer of each value below `value` finds exactly that value. */
static void check_pointers(ki_json document, ki_json value, char *pointer, size_t len)
{
    ki_json_iter iter = ki_json_iterate(value);
    ki_json name, item;
    for (int index = 0; ki_json_next(&iter, &name, &item); index++) {
        size_t at = len;
        pointer[at++] = '/';
        if (ki_json_type_of(name) == KI_JSON_NONE) {
            at += (size_t)sprintf(pointer + at, "%d", index);
        } else {
            char text[400];
            size_t text_len;
            assert_int_equal(ki_json_string_copy(name, text, sizeof(text), &text_len), 0);
            for (size_t i = 0; i < text_len; i++) {
                if (text[i] == '~' || text[i] == '/')
                    pointer[at++] = '~';
                pointer[at++] = text[i] == '~' ? '0' : text[i] == '/' ? '1' : text[i];
            }
        }
        ki_json found = ki_json_find_str(document, (ki_str){pointer, at});
        assert_ptr_equal(found.raw.ptr, item.raw.ptr);
        assert_int_equal(found.raw.len, item.raw.len);
        check_pointers(document, item, pointer, at);
    }
}

static void every_value_is_found_by_its_pointer(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        ki_random random;
        ki_random_init(&random, seed);
        json_limits limits = {.depth = 5, .items = 5, .chars = 20};
        json_node *node = json_node_random(&random, &limits);
        size_t len;
        char *text = json_node_print(node, &random, JSON_RESPELT | (seed % 2 ? JSON_SPACES : 0), &len);
        char pointer[2000];
        ki_json document = ki_json_of((ki_str){text, len});
        check_pointers(document, document, pointer, 0);
        free(text);
        json_node_free(node);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_has_no_white_space_around_it),
        cmocka_unit_test(the_first_character_tells_the_type),
        cmocka_unit_test(only_true_and_false_are_booleans),
        cmocka_unit_test(the_examples_of_rfc_6901_are_found),
        cmocka_unit_test(tilde_escapes_are_undone_once),
        cmocka_unit_test(a_malformed_pointer_finds_nothing),
        cmocka_unit_test(an_index_is_digits_without_a_leading_zero),
        cmocka_unit_test(a_scalar_has_no_children),
        cmocka_unit_test(the_first_of_equal_names_counts),
        cmocka_unit_test(names_are_compared_unescaped_and_never_with_values),
        cmocka_unit_test(a_large_document_is_searched_to_its_end),
        cmocka_unit_test(members_are_iterated_in_order),
        cmocka_unit_test(elements_have_no_names),
        cmocka_unit_test(only_containers_are_iterated),
        cmocka_unit_test(iteration_stops_at_malformed_text),
        cmocka_unit_test(a_recorded_pod_cut_anywhere_is_read_safely),
        cmocka_unit_test(random_bytes_are_read_safely),
        cmocka_unit_test(recorded_responses_are_read_as_by_jansson),
        cmocka_unit_test(random_values_are_read_as_by_jansson),
        cmocka_unit_test(every_value_is_found_by_its_pointer),
    };
    return RUN_TESTS(tests);
}
