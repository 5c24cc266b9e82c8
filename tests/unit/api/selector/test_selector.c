/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/resources.h>
#include <kinformer/selector.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/unit.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static ki_selector *parsed(const char *text)
{
    ki_error err = {0};
    ki_selector *selector = ki_selector_parse(ki_str_of(text), &err);
    if (selector == NULL)
        fail_msg("\"%s\" is refused: %s", text, err.message);
    assert_int_equal(err.code, 0);
    return selector;
}

static void assert_canonical(const char *text, const char *canonical)
{
    char buffer[512];
    ki_selector *selector = parsed(text);
    int len = ki_selector_format(selector, buffer, sizeof(buffer));
    if (len != (int)strlen(canonical) || strcmp(buffer, canonical) != 0)
        fail_msg("\"%s\" becomes \"%s\", not \"%s\"", text, buffer, canonical);
    ki_selector_free(selector);
}

typedef struct spelling {
    const char *text;
    const char *canonical;
} spelling;

static void every_operator_is_read_and_written(void **state)
{
    (void)state;
    static const spelling table[] = {
        {"x=a", "x=a"},
        {"x==a", "x=a"},
        {"x!=a", "x!=a"},
        {"x in (a,b)", "x in (a,b)"},
        {"x notin (a,b)", "x notin (a,b)"},
        {"x", "x"},
        {"!x", "!x"},
        {"x>5", "x>5"},
        {"x<5", "x<5"},
        {"x>0", "x>0"},
        {"x<9223372036854775807", "x<9223372036854775807"},
        {"x=a,y!=b,z", "x=a,y!=b,z"},
        {"example.com/x=a", "example.com/x=a"},
        {"x-1_2.3=A-1_2.3", "x-1_2.3=A-1_2.3"},
    };
    for (size_t i = 0; i < COUNT(table); i++)
        assert_canonical(table[i].text, table[i].canonical);
}

static void an_empty_value_is_a_value(void **state)
{
    (void)state;
    static const spelling table[] = {
        {"x=", "x="},
        {"x==", "x="},
        {"x!=", "x!="},
        {"x= ,y", "x=,y"},
        {"x=,z=", "x=,z="},
        {"x in ()", "x="},
        {"x notin ()", "x!="},
        {"x in (,)", "x="},
        {"x in (a,)", "x in (,a)"},
        {"x in (,a)", "x in (,a)"},
        {"x in (a,,b)", "x in (,a,b)"},
        {"x in (a,,)", "x in (,a)"},
        {"x in (foo,,baz),y,z notin ()", "x in (,baz,foo),y,z!="},
    };
    for (size_t i = 0; i < COUNT(table); i++)
        assert_canonical(table[i].text, table[i].canonical);
}

static void white_space_is_allowed_between_any_two_parts(void **state)
{
    (void)state;
    static const spelling table[] = {
        {" x = a ", "x=a"},
        {"\tx\r\n==\ta\n", "x=a"},
        {"x !=a", "x!=a"},
        {"! x", "!x"},
        {" ! x , y ", "!x,y"},
        {"x in(a)", "x=a"},
        {"x  in  (  a  ,  b  )  ", "x in (a,b)"},
        {"x notin ( )", "x!="},
        {"x >\t1", "x>1"},
        {"   ", ""},
        {"\t\r\n", ""},
    };
    for (size_t i = 0; i < COUNT(table); i++)
        assert_canonical(table[i].text, table[i].canonical);
}

static void in_and_notin_are_names_where_no_operator_is_possible(void **state)
{
    (void)state;
    static const spelling table[] = {
        {"in", "in"},
        {"notin", "notin"},
        {"!in", "!in"},
        {"in in (in)", "in=in"},
        {"notin notin (notin,in)", "notin notin (in,notin)"},
        {"x=in", "x=in"},
        {"x!=notin", "x!=notin"},
        {"in=in,notin==notin", "in=in,notin=notin"},
        {"x in (in,notin)", "x in (in,notin)"},
    };
    for (size_t i = 0; i < COUNT(table); i++)
        assert_canonical(table[i].text, table[i].canonical);
}

static void all_spellings_of_a_selector_have_one_canonical_text(void **state)
{
    (void)state;
    static const spelling table[] = {
        {"y=b,x=a", "x=a,y=b"},
        {"x=a,x=a", "x=a"},
        {"x=a,x==a,x in (a),x in (a,a)", "x=a"},
        {"x!=a,x notin (a)", "x!=a"},
        {"x in (b,a,c,a)", "x in (a,b,c)"},
        {"!x,x", "x,!x"},
        {"x<5,x>1,!x,x,x!=b,x=a", "x=a,x!=b,x,!x,x>1,x<5"},
        {"x in (a,c),x in (a,b),x in (a)", "x=a,x in (a,b),x in (a,c)"},
        {"x>007", "x>7"},
        {"x<00", "x<0"},
        {"x>10,x>9", "x>9,x>10"},
        {"b.c/x,a/y,x,B", "B,a/y,b.c/x,x"},
    };
    for (size_t i = 0; i < COUNT(table); i++)
        assert_canonical(table[i].text, table[i].canonical);
}

typedef struct mistake {
    const char *text;
    uint64_t offset;
    const char *says; /* part of the message */
} mistake;

static void assert_mistakes(const mistake *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ki_error err = {0};
        ki_selector *selector = ki_selector_parse(ki_str_of(table[i].text), &err);
        if (selector != NULL)
            fail_msg("\"%s\" is accepted", table[i].text);
        assert_int_equal(err.code, KI_ERR_SELECTOR);
        if (err.offset != table[i].offset || strstr(err.message, table[i].says) == NULL)
            fail_msg("\"%s\": %d: %s", table[i].text, (int)err.offset, err.message);
        assert_null(ki_selector_parse(ki_str_of(table[i].text), NULL));
    }
}

static void an_invalid_selector_is_refused_with_the_position_of_the_error(void **state)
{
    (void)state;
    static const mistake table[] = {
        {",", 0, "expected a key or '!', found ','"},
        {"x,", 2, "expected a key or '!', found the end"},
        {",x", 0, "expected a key or '!', found ','"},
        {"x,,y", 2, "expected a key or '!', found ','"},
        {"=a", 0, "expected a key or '!', found '='"},
        {"!=a", 0, "expected a key or '!', found '!'"},
        {"(x)", 0, "expected a key or '!', found '('"},
        {"!", 1, "expected a key, found the end"},
        {"!!x", 1, "expected a key, found '!'"},
        {"!,x", 1, "expected a key, found ','"},
        {"!x=a", 2, "expected ',' or the end, found '='"},
        {"!x in (a)", 3, "expected ',' or the end, found 'i'"},
        {"x y", 2, "expected an operator (=, ==, !=, in, notin, >, <), ',' or the end, found 'y'"},
        {"x IN (a)", 2, "expected an operator"},
        {"x !", 2, "expected an operator"},
        {"x! =a", 1, "expected an operator"},
        {"x(a)", 1, "expected an operator"},
        {"x)", 1, "expected an operator"},
        {"x===a", 3, "expected a value, found '='"},
        {"x!==a", 3, "expected a value, found '='"},
        {"x=(a)", 2, "expected a value, found '('"},
        {"x=!a", 2, "expected a value, found '!'"},
        {"x=a b", 4, "expected ',' or the end, found 'b'"},
        {"x=a=b", 3, "expected ',' or the end, found '='"},
        {"x in", 4, "expected '(', found the end"},
        {"x in a", 5, "expected '(', found 'a'"},
        {"x in [a,b]", 5, "expected '(', found '['"},
        {"x in (a", 7, "expected ',' or ')', found the end"},
        {"x in (", 6, "expected ',' or ')', found the end"},
        {"x in (a b)", 8, "expected ',' or ')', found 'b'"},
        {"x in (a=b)", 7, "expected ',' or ')', found '='"},
        {"x in ((a))", 6, "expected ',' or ')', found '('"},
        {"x in (a)y", 8, "expected ',' or the end, found 'y'"},
        {"x in (a))", 8, "expected ',' or the end, found ')'"},
        {"x>", 2, "expected a whole number, found the end"},
        {"x>,y", 2, "expected a whole number, found ','"},
        {"x>a", 2, "expected a whole number, found 'a'"},
        {"x>-1", 2, "expected a whole number, found '-'"},
        {"x<1.5", 3, "expected a whole number, found '.'"},
        {"x>=1", 2, "expected a whole number, found '='"},
        {"x>9223372036854775808", 2, "expected a number up to 9223372036854775807"},
    };
    assert_mistakes(table, COUNT(table));
}

static void malformed_keys_and_values_are_refused_at_the_character(void **state)
{
    (void)state;
    static const mistake table[] = {
        {"-x", 0, "expected a letter or digit, found '-'"},
        {"x-", 1, "expected a letter or digit, found '-'"},
        {".x", 0, "expected a letter or digit"},
        {"x_", 1, "expected a letter or digit"},
        {"x$y", 1, "expected a letter, digit, '-', '_' or '.', found '$'"},
        {"x=a@b", 3, "expected a letter, digit, '-', '_' or '.', found '@'"},
        {"x=a/b", 3, "found '/'"},
        {"x=-a", 2, "expected a letter or digit, found '-'"},
        {"x=a.", 3, "expected a letter or digit, found '.'"},
        {"x in (a,b-)", 9, "expected a letter or digit, found '-'"},
        {"x=a,y=\"b\"", 6, "expected a letter or digit, found '\"'"},
        {"/x", 0, "expected a prefix before the '/', found '/'"},
        {"a/", 2, "expected a letter or digit, found the end"},
        {"a/,b", 2, "expected a letter or digit, found ','"},
        {"a/b/c", 3, "expected a letter, digit, '-', '_' or '.', found '/'"},
        {"a//c", 2, "expected a letter or digit, found '/'"},
        {"A/x", 0, "expected a lower-case letter or digit, found 'A'"},
        {"aB/x", 1, "expected a lower-case letter, digit, '-' or '.', found 'B'"},
        {"a_b/x", 1, "expected a lower-case letter, digit, '-' or '.', found '_'"},
        {"a..b/x", 2, "expected a lower-case letter or digit, found '.'"},
        {".a/x", 0, "expected a lower-case letter or digit, found '.'"},
        {"a./x", 1, "expected a lower-case letter or digit, found '.'"},
        {"a.-b/x", 2, "expected a lower-case letter or digit, found '-'"},
        {"a-.b/x", 1, "expected a lower-case letter or digit, found '-'"},
        {"-a/x", 0, "expected a lower-case letter or digit, found '-'"},
        {"a-/x", 1, "expected a lower-case letter or digit, found '-'"},
        {"x=\xc3\xa4", 2, "found '\xc3\xa4' at character 3: \"x=^\xc3\xa4\""},
        {"a\xc3\xa4z=b", 1, "found '\xc3\xa4' at character 2"},
    };
    assert_mistakes(table, COUNT(table));
    ki_error err = {0};
    assert_null(ki_selector_parse((ki_str){"x=a\0b", 5}, &err));
    assert_int_equal(err.offset, 3);
}

static void an_error_is_marked_with_a_caret(void **state)
{
    (void)state;
    ki_error err = {0};
    assert_null(ki_selector_parse(KI_STR("app in [a,b]"), &err));
    assert_string_equal(err.message, "expected '(', found '[' at character 8: \"app in ^[a,b]\"");
    const char *text =
        "aaaaaaaaaa=bbbbbbbbbb,cccccccccc=dddddddddd,,eeeeeeeeee=ffffffffff,gggggggggg=hhhhhhhhhh";
    assert_null(ki_selector_parse(ki_str_of(text), &err));
    assert_int_equal(err.offset, 44);
    assert_string_equal(err.message, "expected a key or '!', found ',' at character 45: "
                                     "\"bbbbbbbbb,cccccccccc=dddddddddd,^,eeeeeeeeee=ffffffffff,ggggggggg\"");
}

static void assert_length_limit(const char *before, size_t limit, const char *behind, size_t offset)
{
    char text[600];
    for (size_t len = limit; len <= limit + 1; len++) {
        ki_error err = {0};
        size_t at = strlen(before);
        memcpy(text, before, at);
        memset(text + at, 'a', len);
        snprintf(text + at + len, sizeof(text) - at - len, "%s", behind);
        ki_selector *selector = ki_selector_parse(ki_str_of(text), &err);
        assert_int_equal(selector != NULL, len == limit);
        if (selector == NULL)
            assert_int_equal(err.offset, offset);
        ki_selector_free(selector);
    }
}

static void keys_and_values_have_the_lengths_of_kubernetes(void **state)
{
    (void)state;
    assert_length_limit("", 63, "", 63);
    assert_length_limit("example.com/", 63, "=b", 12 + 63);
    assert_length_limit("", 253, "/x", 253);
    assert_length_limit("x=", 63, "", 2 + 63);
    assert_length_limit("x in (a,", 63, ")", 8 + 63);
    /* A number may have leading zeros up to the length of a label value. */
    char text[80] = "x>";
    memset(text + 2, '0', 63);
    assert_canonical(text, "x>0");
    text[65] = '0';
    assert_null(ki_selector_parse(ki_str_of(text), NULL));
}

typedef struct match {
    const char *selector;
    const char *labels; /* JSON */
    int matches;
} match;

static void assert_matches(const match *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char json[512];
        snprintf(json, sizeof(json), "{\"metadata\":{\"name\":\"n\"%s%s}}",
                 table[i].labels ? ",\"labels\":" : "", table[i].labels ? table[i].labels : "");
        ki_object *object = ki_object_new(&KI_CORE_V1_PODS, ki_str_of(json), NULL, NULL);
        assert_non_null(object);
        ki_selector *selector = parsed(table[i].selector);
        if (ki_selector_matches(selector, object) != table[i].matches)
            fail_msg("\"%s\" and %s", table[i].selector, json);
        ki_json labels = ki_object_labels(object);
        assert_int_equal(ki_selector_matches_labels(selector, labels), table[i].matches);
        ki_selector_free(selector);
        ki_object_unref(object);
    }
}

static void labels_are_matched_as_kubernetes_does(void **state)
{
    (void)state;
    static const match table[] = {
        {"", NULL, 1},
        {"", "{\"x\":\"a\"}", 1},
        {"x=a", "{\"x\":\"a\"}", 1},
        {"x=a", "{\"x\":\"b\"}", 0},
        {"x=a", "{\"y\":\"a\"}", 0},
        {"x=a", NULL, 0},
        {"x=", "{\"x\":\"\"}", 1},
        {"x=", "{}", 0},
        {"x!=a", "{\"x\":\"b\"}", 1},
        {"x!=a", "{\"x\":\"a\"}", 0},
        {"x!=a", "{}", 1},
        {"x!=a", NULL, 1},
        {"x in (a,b)", "{\"x\":\"b\"}", 1},
        {"x in (a,b)", "{\"x\":\"c\"}", 0},
        {"x in (a,b)", "{}", 0},
        {"x in (,b)", "{\"x\":\"\"}", 1},
        {"x notin (a,b)", "{\"x\":\"c\"}", 1},
        {"x notin (a,b)", "{\"x\":\"a\"}", 0},
        {"x notin (a,b)", "{}", 1},
        {"x", "{\"x\":\"\"}", 1},
        {"x", "{\"X\":\"\"}", 0},
        {"x", NULL, 0},
        {"!x", NULL, 1},
        {"!x", "{\"y\":\"a\"}", 1},
        {"!x", "{\"x\":\"a\"}", 0},
        {"x=a,y=b", "{\"y\":\"b\",\"z\":\"c\",\"x\":\"a\"}", 1},
        {"x=a,y=b", "{\"y\":\"c\",\"x\":\"a\"}", 0},
        {"x=a,x=b", "{\"x\":\"a\"}", 0},
        {"x,!x", "{\"x\":\"a\"}", 0},
        {"example.com/x=a", "{\"example.com/x\":\"a\"}", 1},
        {"example.com/x=a", "{\"x\":\"a\"}", 0},
    };
    assert_matches(table, COUNT(table));
}

static void whole_numbers_are_compared_as_numbers(void **state)
{
    (void)state;
    static const match table[] = {
        {"x>5", "{\"x\":\"6\"}", 1},
        {"x>5", "{\"x\":\"5\"}", 0},
        {"x>5", "{\"x\":\"10\"}", 1},
        {"x<5", "{\"x\":\"4\"}", 1},
        {"x<5", "{\"x\":\"5\"}", 0},
        {"x<5", "{\"x\":\"-1\"}", 1},
        {"x<5", "{\"x\":\"+1\"}", 1},
        {"x<5", "{\"x\":\"0004\"}", 1},
        {"x<5", "{\"x\":\"-9223372036854775808\"}", 1},
        {"x<5", "{\"x\":\"-9223372036854775809\"}", 0},
        {"x>5", "{\"x\":\"9223372036854775807\"}", 1},
        {"x>5", "{\"x\":\"9223372036854775808\"}", 0},
        {"x>5", "{\"x\":\"99999999999999999999\"}", 0},
        {"x>5", "{\"x\":\"\\u0037\"}", 1},
        {"x>5", "{\"x\":\"7a\"}", 0},
        {"x<5", "{\"x\":\"\"}", 0},
        {"x<5", "{\"x\":\"-\"}", 0},
        {"x>5", "{}", 0},
        {"x<5", NULL, 0},
        {"x>1,x<3", "{\"x\":\"2\"}", 1},
    };
    assert_matches(table, COUNT(table));
}

static void labels_with_escapes_are_compared_unescaped(void **state)
{
    (void)state;
    static const match table[] = {
        {"x=a", "{\"x\":\"\\u0061\"}", 1},
        {"x=a", "{\"\\u0078\":\"a\"}", 1},
        {"a/x in (b,c)", "{\"a\\/x\":\"\\u0063\"}", 1},
        {"a/x notin (b,c)", "{\"a\\/x\":\"\\u0063\"}", 0},
        {"x!=a", "{\"x\":\"\\n\"}", 1},
        /* Longer than any label value, with and without an escape. */
        {"x!=a", "{\"x\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\\n\"}", 1},
        {"x=a", "{\"x\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\\n\"}", 0},
        {"x>1", "{\"x\":\"00000000000000000000000000000000000000000000000000000000000000000000005\"}", 0},
        {"x", "{\"x\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\\n\"}", 1},
    };
    assert_matches(table, COUNT(table));
}

static void a_label_that_is_not_a_string_has_no_value(void **state)
{
    (void)state;
    static const struct {
        const char *selector;
        int matches;
    } table[] = {{"x", 1}, {"!x", 0}, {"x=1", 0}, {"x!=1", 1}, {"x>0", 0}, {"x notin (1,2)", 1}};
    for (size_t i = 0; i < COUNT(table); i++) {
        ki_selector *selector = parsed(table[i].selector);
        ki_json labels = ki_json_of(KI_STR("{\"x\":1}"));
        assert_int_equal(ki_selector_matches_labels(selector, labels), table[i].matches);
        ki_selector_free(selector);
    }
}

static void everything_matches_all_and_nothing_matches_none(void **state)
{
    (void)state;
    char text[64];
    ki_object *object =
        ki_object_new(&KI_CORE_V1_PODS,
                      KI_STR("{\"metadata\":{\"name\":\"n\",\"labels\":{\"nothing\":\"\"}}}"), NULL, NULL);
    assert_non_null(object);
    assert_true(ki_selector_matches(ki_selector_everything(), object));
    assert_false(ki_selector_matches(ki_selector_nothing(), object));
    assert_false(ki_selector_matches_labels(ki_selector_nothing(), (ki_json){0}));
    assert_true(ki_selector_matches_labels(ki_selector_everything(), (ki_json){0}));
    assert_true(ki_selector_is_everything(ki_selector_everything()));
    assert_false(ki_selector_is_everything(ki_selector_nothing()));
    assert_int_equal(ki_selector_format(ki_selector_everything(), text, sizeof(text)), 0);
    assert_string_equal(text, "");
    assert_int_equal(ki_selector_format(ki_selector_nothing(), text, sizeof(text)), 16);
    assert_canonical(text, "nothing,!nothing");

    ki_selector *empty = ki_selector_parse((ki_str){0}, NULL);
    assert_true(ki_selector_is_everything(empty));
    assert_true(ki_selector_matches(empty, object));
    ki_selector_free(empty);
    ki_object_unref(object);
}

static void null_selects_nothing_and_is_refused(void **state)
{
    (void)state;
    char text[4];
    assert_false(ki_selector_matches(NULL, NULL));
    assert_false(ki_selector_matches(ki_selector_everything(), NULL));
    assert_false(ki_selector_matches_labels(NULL, (ki_json){0}));
    assert_false(ki_selector_is_everything(NULL));
    assert_int_equal(ki_selector_format(NULL, text, sizeof(text)), KI_ERR_INVALID);
    assert_int_equal(ki_selector_format(ki_selector_nothing(), NULL, 4), KI_ERR_INVALID);
    ki_selector_free(NULL);
}

static void a_short_buffer_gets_what_fits(void **state)
{
    (void)state;
    char text[8] = "~~~~~~~";
    ki_selector *selector = parsed("x in (a,b)");
    assert_int_equal(ki_selector_format(selector, NULL, 0), 10);
    assert_int_equal(ki_selector_format(selector, text, 5), 10);
    assert_memory_equal(text, "x in\0~~", 7);
    ki_selector_free(selector);
}

static void a_selector_does_not_need_its_text(void **state)
{
    (void)state;
    char text[] = "x in (b,a)";
    ki_selector *selector = ki_selector_parse((ki_str){text, strlen(text)}, NULL);
    memset(text, '~', sizeof(text));
    char out[32];
    assert_int_equal(ki_selector_format(selector, out, sizeof(out)), 10);
    assert_string_equal(out, "x in (a,b)");
    ki_selector_free(selector);
}

static void a_text_of_any_length_is_read_or_refused(void **state)
{
    (void)state;
    size_t len = KI_SELECTOR_BYTES_MAX;
    char *text = malloc(len + 1);
    assert_non_null(text);
    memset(text, ',', len + 1);
    memcpy(text, "x in (", 6);
    text[len - 1] = ')';
    ki_selector *selector = ki_selector_parse((ki_str){text, len}, NULL);
    assert_non_null(selector);
    assert_int_equal(ki_selector_format(selector, NULL, 0), 2);
    ki_selector_free(selector);
    ki_error err = {0};
    assert_null(ki_selector_parse((ki_str){text, len + 1}, &err));
    assert_int_equal(err.code, KI_ERR_TOO_LARGE);
    free(text);
}

static void when_out_of_memory_no_selector_is_created(void **state)
{
    (void)state;
    ki_error err = {0};
    failing_allocator_fail_at(1);
    assert_null(ki_selector_parse(KI_STR("x in (a,b)"), &err));
    assert_int_equal(err.code, KI_ERR_NO_MEMORY);
    assert_true(failing_allocator_has_failed());
    failing_allocator_fail_at(0);
}

static void a_selector_is_one_allocation_and_matching_needs_none(void **state)
{
    (void)state;
    failing_allocator_fail_at(0);
    ki_selector *selector = parsed("a=b,c in (d,e),!f,g>5");
    assert_int_equal(failing_allocator_attempts(), 1);
    ki_json labels = ki_json_of(KI_STR("{\"a\":\"\\u0062\",\"c\":\"e\",\"g\":\"\\u0036\"}"));
    assert_true(ki_selector_matches_labels(selector, labels));
    assert_int_equal(failing_allocator_attempts(), 1);
    ki_selector_free(selector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operator_is_read_and_written),
        cmocka_unit_test(an_empty_value_is_a_value),
        cmocka_unit_test(white_space_is_allowed_between_any_two_parts),
        cmocka_unit_test(in_and_notin_are_names_where_no_operator_is_possible),
        cmocka_unit_test(all_spellings_of_a_selector_have_one_canonical_text),
        cmocka_unit_test(an_invalid_selector_is_refused_with_the_position_of_the_error),
        cmocka_unit_test(malformed_keys_and_values_are_refused_at_the_character),
        cmocka_unit_test(an_error_is_marked_with_a_caret),
        cmocka_unit_test(keys_and_values_have_the_lengths_of_kubernetes),
        cmocka_unit_test(labels_are_matched_as_kubernetes_does),
        cmocka_unit_test(whole_numbers_are_compared_as_numbers),
        cmocka_unit_test(labels_with_escapes_are_compared_unescaped),
        cmocka_unit_test(a_label_that_is_not_a_string_has_no_value),
        cmocka_unit_test(everything_matches_all_and_nothing_matches_none),
        cmocka_unit_test(null_selects_nothing_and_is_refused),
        cmocka_unit_test(a_short_buffer_gets_what_fits),
        cmocka_unit_test(a_selector_does_not_need_its_text),
        cmocka_unit_test(a_text_of_any_length_is_read_or_refused),
        WITH_MEMORY_CHECK(when_out_of_memory_no_selector_is_created),
        WITH_MEMORY_CHECK(a_selector_is_one_allocation_and_matching_needs_none),
    };
    return RUN_TESTS(tests);
}
