/* SPDX-License-Identifier: Apache-2.0 */
#include "json/scan.h"

#include <kinformer/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/json/json_samples.h"
#include "support/json/scan_run.h"
#include "support/unit.h"

#define ANY_NUMBER SIZE_MAX

typedef struct expectation {
    int code;
    uint64_t offset;
    size_t values; /* ANY_NUMBER: not checked */
    ki_str kept;   /* of the last value; ptr NULL: not checked */
} expectation;

static void assert_run(scan_run *run, ki_str text, scan_split split, const expectation *expected)
{
    scan_run_text(run, text, split);
    if (run->code != expected->code || run->offset != expected->offset ||
        (expected->values != ANY_NUMBER && run->values != expected->values))
        fail_msg("%s, first %zu, others %zu: %s at %llu after %zu values, not %s at %llu: %.*s",
                 run->kernel->name, split.first, split.others, ki_error_name(run->code),
                 (unsigned long long)run->offset, run->values, ki_error_name(expected->code),
                 (unsigned long long)expected->offset, KI_STR_ARGS(text));
    if (expected->kept.ptr != NULL && !ki_str_equal(scan_run_kept(run), expected->kept))
        fail_msg("%s, first %zu, others %zu: kept %.*s, not %.*s", run->kernel->name, split.first,
                 split.others, KI_STR_ARGS(scan_run_kept(run)), KI_STR_ARGS(expected->kept));
}

/* Scans whole, byte by byte, and cut at every position, with every kernel. The text has its own memory, so
 * that a sanitizer detects a read beyond it. */
static void assert_scan_within(ki_str text, ki_json_limits limits, expectation expected)
{
    char *copy = malloc(text.len + (text.len == 0));
    assert_non_null(copy);
    if (text.len > 0)
        memcpy(copy, text.ptr, text.len);
    text.ptr = copy;
    scan_run run;
    scan_run_init(&run);
    run.limits = limits;
    for (const ki_json_kernel *const *kernel = ki_json_kernels(); *kernel != NULL; kernel++) {
        run.kernel = *kernel;
        assert_run(&run, text, (scan_split){0}, &expected);
        assert_run(&run, text, (scan_split){.others = 1}, &expected);
        for (size_t cut = 1; cut < text.len; cut++)
            assert_run(&run, text, (scan_split){.first = cut}, &expected);
    }
    scan_run_fini(&run);
    free(copy);
}

static void assert_scan(ki_str text, expectation expected)
{
    assert_scan_within(text, (ki_json_limits){0}, expected);
}

/* ---- verdicts ------------------------------------------------------------------------------------------ */

static void valid_values_are_accepted_and_kept_without_white_space(void **state)
{
    (void)state;
    for (size_t i = 0; i < json_good_count; i++) {
        const json_good *good = &json_good_samples[i];
        assert_scan(good->text, (expectation){0, good->text.len, 1, good->kept});
    }
}

static void malformed_text_is_refused_with_code_and_offset(void **state)
{
    (void)state;
    for (size_t i = 0; i < json_bad_count; i++) {
        const json_bad *bad = &json_bad_samples[i];
        assert_scan(bad->text, (expectation){bad->code, bad->offset, ANY_NUMBER, {0}});
    }
}

static void control_characters_in_strings_are_refused(void **state)
{
    (void)state;
    for (char c = 0; c < 0x20; c++) {
        char text[] = "[\"ab?\"]";
        text[4] = c;
        assert_scan((ki_str){text, 7}, (expectation){KI_ERR_JSON_CONTROL, 4, 0, {0}});
    }
}

static void only_four_bytes_are_white_space(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        char text[] = "[?]";
        text[1] = (char)c;
        scan_run run;
        scan_run_init(&run);
        scan_run_text(&run, (ki_str){text, 3}, (scan_split){0});
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
            assert_true(run.code == 0 && ki_str_equal(scan_run_kept(&run), KI_STR("[]")));
        else
            assert_true((run.code == 0) == (c >= '0' && c <= '9'));
        scan_run_fini(&run);
    }
}

static void an_element_is_followed_by_white_space_comma_or_bracket(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        char text[] = "[\"a\"?";
        text[4] = (char)c;
        scan_run run;
        scan_run_init(&run);
        scan_run_text(&run, (ki_str){text, 5}, (scan_split){0});
        int is_good = c != 0 && strchr(" \t\n\r,]", c) != NULL;
        assert_int_equal(run.code != KI_ERR_JSON_TRUNCATED && run.code != 0, !is_good);
        assert_int_equal(run.offset, is_good ? 5 : 4);
        scan_run_fini(&run);
    }
}

/* ---- sequences of values ------------------------------------------------------------------------------- */

/* If the text is split after the sign, the next block ends within another number, which is valid. */
static void a_number_without_digits_is_refused_in_every_split(void **state)
{
    (void)state;
    char text[128] = "[-,";
    memset(text + 3, '1', 100);
    text[103] = ']';
    assert_scan(ki_str_of(text), (expectation){.code = KI_ERR_JSON_LITERAL, .offset = 2});
}

static void values_may_follow_each_other(void **state)
{
    (void)state;
    assert_scan(KI_STR("1 2"), (expectation){0, 3, 2, KI_STR("2")});
    assert_scan(KI_STR("{}{}"), (expectation){0, 4, 2, KI_STR("{}")});
    assert_scan(KI_STR("{}\n[1]\n\"a\" true\n"), (expectation){0, 16, 4, KI_STR("true")});
    assert_scan(KI_STR("12\"a\""), (expectation){0, 5, 2, KI_STR("\"a\"")});
    assert_scan(KI_STR("1[2]"), (expectation){0, 4, 2, KI_STR("[2]")});
    assert_scan(KI_STR("null{\"a\":1}-1"), (expectation){0, 13, 3, KI_STR("-1")});
    assert_scan(KI_STR("\"a\"\"b\""), (expectation){0, 6, 2, KI_STR("\"b\"")});
    assert_scan(KI_STR("[]{}[]{}[]{}[]{}[]{}[]{}[]{}[]{}[]{}[]{}[]{}[]{}[]{}[]{}[]{}[]{}[]{}[{}]"),
                (expectation){0, 72, 35, KI_STR("[{}]")});
}

static void white_space_alone_is_not_a_value(void **state)
{
    (void)state;
    assert_scan(KI_STR(""), (expectation){0, 0, 0, {0}});
    assert_scan(KI_STR(" \t\r\n"), (expectation){0, 4, 0, {0}});
    ki_json_scanner scanner;
    size_t used = 9;
    ki_json_scanner_init(&scanner, NULL);
    ki_json_scan_begin(&scanner, NULL);
    assert_int_equal(ki_json_scan_end(&scanner), 0);
    assert_int_equal(ki_json_scan(&scanner, "  ", 2, &used), 0);
    assert_int_equal(used, 2);
    assert_int_equal(ki_json_scan(&scanner, NULL, 0, &used), 0);
    assert_int_equal(used, 0);
    assert_int_equal(ki_json_scan_end(&scanner), 0);
}

static void offsets_count_over_all_values(void **state)
{
    (void)state;
    assert_scan(KI_STR(" {} \n[1] [tru]"), (expectation){KI_ERR_JSON_LITERAL, 13, 2, KI_STR("[1]")});
    assert_scan(KI_STR("{}[1]\"a\\x\""), (expectation){KI_ERR_JSON_ESCAPE, 8, 2, KI_STR("[1]")});
}

static void a_container_ends_with_its_last_byte(void **state)
{
    (void)state;
    ki_json_scanner scanner;
    size_t used;
    ki_json_scanner_init(&scanner, NULL);
    ki_json_scan_begin(&scanner, NULL);
    assert_int_equal(ki_json_scan(&scanner, "  [1", 4, &used), 0);
    assert_int_equal(used, 4);
    assert_int_equal(ki_json_scan(&scanner, "]  x", 4, &used), 1);
    assert_int_equal(used, 1);
    assert_int_equal(ki_json_scan(&scanner, "  x", 3, &used), 1);
    assert_int_equal(used, 0);
    assert_int_equal(ki_json_scan_end(&scanner), 1);
    ki_json_scan_begin(&scanner, NULL);
    assert_int_equal(ki_json_scan(&scanner, "\"a\"", 3, &used), 1);
    assert_int_equal(used, 3);
}

static void a_number_ends_with_the_byte_after_it(void **state)
{
    (void)state;
    ki_json_scanner scanner;
    size_t used;
    ki_json_scanner_init(&scanner, NULL);
    ki_json_scan_begin(&scanner, NULL);
    assert_int_equal(ki_json_scan(&scanner, "12", 2, &used), 0);
    assert_int_equal(used, 2);
    assert_int_equal(ki_json_scan(&scanner, "3 ", 2, &used), 1);
    assert_int_equal(used, 1);
    ki_json_scan_begin(&scanner, NULL);
    assert_int_equal(ki_json_scan(&scanner, " 45", 3, &used), 0);
    assert_int_equal(ki_json_scan(&scanner, ",", 1, &used), 1);
    assert_int_equal(used, 0);
    ki_json_scan_begin(&scanner, NULL);
    assert_int_equal(ki_json_scan(&scanner, "true", 4, &used), 0);
    assert_int_equal(ki_json_scan_end(&scanner), 1);
    assert_int_equal(ki_json_scan_end(&scanner), 1);
}

static void an_error_is_kept_until_the_next_value_begins(void **state)
{
    (void)state;
    ki_json_scanner scanner;
    size_t used;
    ki_json_scanner_init(&scanner, NULL);
    ki_json_scan_begin(&scanner, NULL);
    assert_int_equal(ki_json_scan(&scanner, "[1 2]", 5, &used), KI_ERR_JSON_SYNTAX);
    assert_int_equal(used, 3);
    assert_int_equal(ki_json_scan(&scanner, "]", 1, &used), KI_ERR_JSON_SYNTAX);
    assert_int_equal(used, 0);
    assert_int_equal(ki_json_scan_end(&scanner), KI_ERR_JSON_SYNTAX);
    ki_json_scan_begin(&scanner, NULL);
    assert_int_equal(ki_json_scan(&scanner, "[2]", 3, &used), 1);
}

/* ---- limits -------------------------------------------------------------------------------------------- */

/* Nested containers, of kinds chosen by the seed. Returns the text, which the caller frees, and the positions
 * where each opens (bracket[i]) and closes (bracket[2 * depth - 1 - i]). */
static char *nest(size_t depth, uint64_t seed, size_t *out_len, size_t *bracket)
{
    ki_random random;
    ki_random_init(&random, seed);
    char *text = malloc(8 * depth + 1);
    char *closers = malloc(depth + 1);
    assert_true(text != NULL && closers != NULL);
    size_t len = 0;
    for (size_t i = 0; i < depth; i++) {
        int is_object = seed == 0 ? 0 : seed == 1 ? 1 : ki_random_below(&random, 2) == 0;
        bracket[i] = len;
        len += (size_t)sprintf(text + len, "%s", !is_object ? "[" : i + 1 < depth ? "{\"a\":" : "{");
        closers[i] = is_object ? '}' : ']';
    }
    for (size_t i = 0; i < depth; i++) {
        bracket[depth + i] = len;
        text[len++] = closers[depth - 1 - i];
    }
    free(closers);
    *out_len = len;
    return text;
}

static void scan_nested(size_t depth, uint32_t depth_max, uint64_t seed)
{
    size_t bracket[2 * 1100];
    size_t len;
    char *text = nest(depth, seed, &len, bracket);
    size_t limit = depth_max == 0 ? 1000 : depth_max < 1024 ? depth_max : 1024;
    scan_run run;
    scan_run_init(&run);
    run.limits.depth_max = depth_max;
    expectation expected = {0, len, 1, {text, len}};
    if (depth > limit)
        expected = (expectation){KI_ERR_JSON_DEPTH, bracket[limit], 0, {0}};
    for (const ki_json_kernel *const *kernel = ki_json_kernels(); *kernel != NULL; kernel++) {
        run.kernel = *kernel;
        assert_run(&run, (ki_str){text, len}, (scan_split){0}, &expected);
        assert_run(&run, (ki_str){text, len}, (scan_split){.others = 1}, &expected);
        assert_run(&run, (ki_str){text, len}, (scan_split){.first = 61, .others = 67}, &expected);
    }
    scan_run_fini(&run);
    free(text);
}

static void a_thousand_levels_are_the_default_limit(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 6; seed++) {
        scan_nested(999, 0, seed);
        scan_nested(1000, 0, seed);
        scan_nested(1001, 0, seed);
        scan_nested(1025, 0, seed);
    }
}

static void the_depth_limit_holds_for_every_value(void **state)
{
    (void)state;
    static const uint32_t limits[] = {1,   2,   3,   62,  63,  64,  65,   66,  127,
                                      128, 129, 191, 192, 193, 500, 1023, 1024};
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        for (uint64_t seed = 0; seed < 4; seed++) {
            scan_nested(limits[i], limits[i], seed);
            scan_nested(limits[i] + 1, limits[i], seed);
        }
    }
}

static void a_depth_limit_that_is_too_large_is_reduced(void **state)
{
    (void)state;
    scan_nested(1024, 5000, 2);
    scan_nested(1025, 5000, 2);
    scan_nested(1025, UINT32_MAX, 3);
}

static void small_depth_limits_hold_in_every_split(void **state)
{
    (void)state;
    ki_json_limits one = {.depth_max = 1};
    ki_json_limits two = {.depth_max = 2};
    assert_scan_within(KI_STR("[1,2]"), one, (expectation){0, 5, 1, {0}});
    assert_scan_within(KI_STR("12"), one, (expectation){0, 2, 1, {0}});
    assert_scan_within(KI_STR("[1,[]]"), one, (expectation){KI_ERR_JSON_DEPTH, 3, 0, {0}});
    assert_scan_within(KI_STR("[{},[],{\"a\":1}]"), two, (expectation){0, 15, 1, {0}});
    assert_scan_within(KI_STR("[{},[],{\"a\":{}}]"), two, (expectation){KI_ERR_JSON_DEPTH, 12, 0, {0}});
    assert_scan_within(KI_STR("[[ [ ] ]]"), two, (expectation){KI_ERR_JSON_DEPTH, 3, 0, {0}});
    assert_scan_within(KI_STR("[[1 [ ] ]]"), two, (expectation){KI_ERR_JSON_SYNTAX, 4, 0, {0}});
    assert_scan_within(KI_STR("[[1.[]]]"), two, (expectation){KI_ERR_JSON_LITERAL, 4, 0, {0}});
}

/* A bracket of the other kind is found at every level, also at the end of a word of the bit stack. */
static void a_wrong_bracket_is_found_at_every_level(void **state)
{
    (void)state;
    enum { DEPTH = 200 };
    size_t bracket[2 * DEPTH];
    size_t len;
    scan_run run;
    scan_run_init(&run);
    for (uint64_t seed = 0; seed < 4; seed++) {
        char *text = nest(DEPTH, seed, &len, bracket);
        for (size_t i = DEPTH; i < 2 * DEPTH; i++) {
            expectation expected = {KI_ERR_JSON_SYNTAX, bracket[i], 0, {0}};
            char right = text[bracket[i]];
            text[bracket[i]] = right == ']' ? '}' : ']';
            for (const ki_json_kernel *const *kernel = ki_json_kernels(); *kernel != NULL; kernel++) {
                run.kernel = *kernel;
                assert_run(&run, (ki_str){text, len}, (scan_split){0}, &expected);
                assert_run(&run, (ki_str){text, len}, (scan_split){.others = 7}, &expected);
            }
            text[bracket[i]] = right;
        }
        free(text);
    }
    scan_run_fini(&run);
}

static void a_value_may_be_exactly_as_large_as_the_limit(void **state)
{
    (void)state;
    static const char *const values[] = {"[1,2,3]", "{\"a\" : 1}", "\"abcdef\"", "1234567",
                                         "-1.5e-3", "true",        "[[[]]]"};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        ki_str text = ki_str_of(values[i]);
        ki_json_limits exact = {.value_bytes_max = text.len};
        ki_json_limits less = {.value_bytes_max = text.len - 1};
        char around[64];
        assert_scan_within(text, exact, (expectation){0, text.len, 1, {0}});
        assert_scan_within(text, less, (expectation){KI_ERR_JSON_TOO_LARGE, text.len - 1, 0, {0}});
        snprintf(around, sizeof(around), "   %s  %s\n", values[i], values[i]);
        assert_scan_within(ki_str_of(around), exact,
                           (expectation){0, 2 * text.len + 6, 2, text.ptr[1] == '\"' ? (ki_str){0} : text});
        assert_scan_within(ki_str_of(around), less,
                           (expectation){KI_ERR_JSON_TOO_LARGE, text.len + 2, 0, {0}});
    }
}

static void an_error_before_the_limit_is_reported_first(void **state)
{
    (void)state;
    ki_json_limits limits = {.value_bytes_max = 4};
    assert_scan_within(KI_STR("[1 2,3]"), limits, (expectation){KI_ERR_JSON_SYNTAX, 3, 0, {0}});
    assert_scan_within(KI_STR("[1,2 3]"), limits, (expectation){KI_ERR_JSON_TOO_LARGE, 4, 0, {0}});
    assert_scan_within(KI_STR("123.]"), limits, (expectation){KI_ERR_JSON_LITERAL, 4, 0, {0}});
    assert_scan_within(KI_STR("12345"), limits, (expectation){KI_ERR_JSON_TOO_LARGE, 4, 0, {0}});
    assert_scan_within(KI_STR("1234]"), limits, (expectation){KI_ERR_JSON_SYNTAX, 4, 1, {0}});
}

static void a_large_value_reaches_its_limit_at_the_right_byte(void **state)
{
    (void)state;
    enum { LEN = 20000, LIMIT = 12345 };
    char *text = malloc(LEN);
    assert_non_null(text);
    memset(text, ' ', LEN);
    text[0] = '[';
    scan_run run;
    scan_run_init(&run);
    run.limits.value_bytes_max = LIMIT;
    run.kernel = ki_json_kernel_best();
    expectation expected = {KI_ERR_JSON_TOO_LARGE, LIMIT, 0, {0}};
    assert_run(&run, (ki_str){text, LEN}, (scan_split){0}, &expected);
    assert_run(&run, (ki_str){text, LEN}, (scan_split){.others = 1000}, &expected);
    text[LIMIT - 1] = ']';
    expected = (expectation){0, LEN, 1, KI_STR("[]")};
    assert_run(&run, (ki_str){text, LEN}, (scan_split){0}, &expected);
    assert_run(&run, (ki_str){text, LEN}, (scan_split){.others = 1000}, &expected);
    scan_run_fini(&run);
    free(text);
}

/* ---- notices for the sink ------------------------------------------------------------------------------ */

static void assert_rewritable(const char *text, int expected)
{
    scan_run run;
    scan_run_init(&run);
    for (const ki_json_kernel *const *kernel = ki_json_kernels(); *kernel != NULL; kernel++) {
        run.kernel = *kernel;
        for (size_t first = 0; first <= strlen(text); first++) {
            scan_run_text(&run, ki_str_of(text), (scan_split){.first = first});
            assert_true(run.values > 0);
            assert_int_equal(run.rewritable, expected);
        }
    }
    scan_run_fini(&run);
}

static void escapes_with_a_shorter_spelling_are_noticed(void **state)
{
    (void)state;
    assert_rewritable("{\"a\":\"\\u003c\"}", 1);
    assert_rewritable("[\"a\\/b\"]", 1);
    assert_rewritable("\"\\u0041\"", 1);
    assert_rewritable("{\"\\u0061\":1}", 1);
    assert_rewritable("[\"\\\"\\\\\\b\\f\\n\\r\\t/\"]", 0);
    assert_rewritable("[\"\\\\u0041\"]", 0);
    assert_rewritable("[\"\xc3\xa9\"]", 0);
    /* Also if the next value, in the same block, is malformed. */
    assert_rewritable("{\"a\":\"\\u003c\"}\"\\x\"", 1);
    assert_rewritable("{\"a\":\"\\u003c\"}\"\xff\"", 1);
}

/* ---- whole texts --------------------------------------------------------------------------------------- */

static void assert_validate(ki_str text, int code, uint64_t offset)
{
    ki_error err = {0};
    assert_int_equal(ki_json_validate(text, &err), code);
    assert_int_equal(err.code, code);
    assert_int_equal(err.offset, offset);
    assert_int_equal(ki_json_validate(text, NULL), code);
}

static void a_text_is_exactly_one_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < json_good_count; i++)
        assert_validate(json_good_samples[i].text, 0, 0);
    assert_validate(KI_STR(""), KI_ERR_JSON_TRUNCATED, 0);
    assert_validate(KI_STR("  "), KI_ERR_JSON_TRUNCATED, 2);
    assert_validate((ki_str){0}, KI_ERR_JSON_TRUNCATED, 0);
    assert_validate(KI_STR("{} x"), KI_ERR_JSON_TRAILING, 3);
    assert_validate(KI_STR("1 2"), KI_ERR_JSON_TRAILING, 2);
    assert_validate(KI_STR(" []\n]"), KI_ERR_JSON_TRAILING, 4);
    assert_validate(KI_STR("\"a\"\"b\""), KI_ERR_JSON_TRAILING, 3);
    assert_validate(KI_STR("[1}"), KI_ERR_JSON_SYNTAX, 2);
    assert_validate(KI_STR("nul"), KI_ERR_JSON_TRUNCATED, 3);
}

static void an_error_has_its_message_and_offset(void **state)
{
    (void)state;
    ki_error err = {0};
    assert_int_equal(ki_json_validate(KI_STR("[\"\\ud800\"]"), &err), KI_ERR_JSON_ESCAPE);
    assert_string_equal(err.message, "JSON: malformed escape or lone surrogate in a string at byte 8");
}

static void a_text_has_no_size_limit(void **state)
{
    (void)state;
    size_t len = KI_JSON_VALUE_BYTES_DEFAULT + 2;
    char *text = malloc(len);
    assert_non_null(text);
    memset(text, 'a', len);
    text[0] = '"';
    text[len - 1] = '"';
    assert_validate((ki_str){text, len}, 0, 0);
    ki_json_scanner scanner;
    size_t used;
    ki_json_scanner_init(&scanner, NULL);
    ki_json_scan_begin(&scanner, NULL);
    assert_int_equal(ki_json_scan(&scanner, text, len, &used), KI_ERR_JSON_TOO_LARGE);
    assert_int_equal(scanner.error_offset, KI_JSON_VALUE_BYTES_DEFAULT);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_values_are_accepted_and_kept_without_white_space),
        cmocka_unit_test(malformed_text_is_refused_with_code_and_offset),
        cmocka_unit_test(control_characters_in_strings_are_refused),
        cmocka_unit_test(only_four_bytes_are_white_space),
        cmocka_unit_test(an_element_is_followed_by_white_space_comma_or_bracket),
        cmocka_unit_test(a_number_without_digits_is_refused_in_every_split),
        cmocka_unit_test(values_may_follow_each_other),
        cmocka_unit_test(white_space_alone_is_not_a_value),
        cmocka_unit_test(offsets_count_over_all_values),
        cmocka_unit_test(a_container_ends_with_its_last_byte),
        cmocka_unit_test(a_number_ends_with_the_byte_after_it),
        cmocka_unit_test(an_error_is_kept_until_the_next_value_begins),
        cmocka_unit_test(a_thousand_levels_are_the_default_limit),
        cmocka_unit_test(the_depth_limit_holds_for_every_value),
        cmocka_unit_test(a_depth_limit_that_is_too_large_is_reduced),
        cmocka_unit_test(small_depth_limits_hold_in_every_split),
        cmocka_unit_test(a_wrong_bracket_is_found_at_every_level),
        cmocka_unit_test(a_value_may_be_exactly_as_large_as_the_limit),
        cmocka_unit_test(an_error_before_the_limit_is_reported_first),
        cmocka_unit_test(a_large_value_reaches_its_limit_at_the_right_byte),
        cmocka_unit_test(escapes_with_a_shorter_spelling_are_noticed),
        cmocka_unit_test(a_text_is_exactly_one_value),
        cmocka_unit_test(an_error_has_its_message_and_offset),
        cmocka_unit_test(a_text_has_no_size_limit),
    };
    return RUN_TESTS(tests);
}
