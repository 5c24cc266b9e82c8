/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/pattern.h"

#include <stdlib.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/unit.h"

static enum ki_as_pattern_result match(const char *pattern, const char *text)
{
    size_t steps = 1000000;
    struct ki_as_pattern *compiled = NULL;
    enum ki_as_pattern_result result = ki_as_pattern_new(pattern, &steps, &compiled);
    if (result == KI_AS_PATTERN_GOOD)
        result = ki_as_pattern_match(compiled, ki_str_of(text), &steps);
    ki_as_pattern_free(compiled);
    return result;
}

static void matches(const char *pattern, const char *text)
{
    if (match(pattern, text) != KI_AS_PATTERN_MATCHES)
        fail_msg("'%s' should match '%s'", text, pattern);
}

static void differs(const char *pattern, const char *text)
{
    if (match(pattern, text) != KI_AS_PATTERN_DIFFERS)
        fail_msg("'%s' should not match '%s'", text, pattern);
}

static void letters_are_found_anywhere(void **state)
{
    (void)state;
    matches("", "");
    matches("", "abc");
    matches("b", "abc");
    differs("d", "abc");
    matches("a.c", "xabcx");
    differs("a.c", "a\nc");
    matches("^.{2}$", "äö");
    matches("ä+$", "aää");
    matches("{a}", "{a}");
}

static void anchors_hold_begin_and_end(void **state)
{
    (void)state;
    matches("^abc$", "abc");
    differs("^abc$", "xabc");
    differs("^abc$", "abcx");
    differs("\\Aabc\\z", "abcabc");
    matches("\\bfoo\\b", "a foo b");
    differs("\\bfoo\\b", "afoo b");
    matches("a\\Bb", "ab");
}

static void classes_have_ranges_names_and_opposites(void **state)
{
    (void)state;
    matches("^[a-z0-9.-]+$", "a-1.b");
    differs("^[a-z0-9.-]+$", "a_b");
    matches("^[^/]+$", "abc");
    differs("^[^/]+$", "a/c");
    matches("^\\d+\\w\\s$", "12a ");
    differs("^\\D$", "1");
    matches("^[\\d\\w.]+$", "1_a.");
    matches("^[[:alpha:]_]+$", "ab_");
    differs("^[[:alpha:]]+$", "a1");
    matches("^[]a]+$", "a]");
    matches("^[\\]]$", "]");
    matches("^[ä-ü]$", "ö");
    matches("^\\x41\\x{e4}$", "Aä");
}

static void parts_are_repeated(void **state)
{
    (void)state;
    matches("^a{3}$", "aaa");
    differs("^a{3}$", "aa");
    differs("^a{3}$", "aaaa");
    matches("^a{2,}$", "aaaa");
    matches("^a{0,2}b$", "aab");
    differs("^a{0,2}b$", "aaab");
    matches("^(ab){2}$", "abab");
    matches("^(a*)*$", "aaaa");
    matches("^x{0}$", "");
    matches("^a+?$", "aaa");
    matches("^(?:\\d{1,3}\\.){3}\\d{1,3}$", "10.0.0.1");
    differs("^(?:\\d{1,3}\\.){3}\\d{1,3}$", "10.0.0");
}

static void one_of_several_is_enough(void **state)
{
    (void)state;
    matches("^(a|bc|d*)$", "bc");
    matches("^(a|bc|d*)$", "");
    differs("^(a|bc|d*)$", "b");
    matches("^a|b$", "xb");
    matches("^(|a)$", "a");
    matches("^([0-9]+(\\.[0-9]+)?(m|k|Ki|Mi))$", "1.5Mi");
}

static void what_is_not_known_is_said_to_be_so(void **state)
{
    (void)state;
    static const char *const patterns[] = {"(?<name>x)", "(?i)a",        "\\p{L}",
                                           "(a)\\1",     "[[:^alpha:]]", "\\Q(\\E"};
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
        assert_int_equal(match(patterns[i], "a"), KI_AS_PATTERN_UNKNOWN);
}

static void what_is_no_pattern_is_wrong(void **state)
{
    (void)state;
    static const char *const patterns[] = {"(a",      "a)",       "[a",  "^[a-z", "a**",
                                           "*",       "a{2,1}",   "\\",  "[z-a]", "[[:what:]]",
                                           "a{1001}", "a{99999}", "\\y", "[[:",   "\\x{z}"};
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
        assert_int_equal(match(patterns[i], "a"), KI_AS_PATTERN_WRONG);
}

static void classes_in_brackets_have_opposites(void **state)
{
    (void)state;
    matches("^[\\S]+$", "aß-");
    differs("^[\\S]+$", "a b");
    matches("^[\\W]$", "-");
    matches("^[\\W]$", "`");
    differs("^[\\W]$", "_");
    matches("^[\\D5]+$", "a5");
    differs("^[\\D5]+$", "a6");
    matches("^[^\\D]+$", "12");
    differs("^[^\\D]+$", "1a");
}

static void a_compiled_pattern_serves_many_texts(void **state)
{
    (void)state;
    size_t steps = 1000000;
    struct ki_as_pattern *pattern = NULL;
    assert_int_equal(ki_as_pattern_new("^a+$", &steps, &pattern), KI_AS_PATTERN_GOOD);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(ki_as_pattern_match(pattern, KI_STR("aa"), &steps), KI_AS_PATTERN_MATCHES);
        assert_int_equal(ki_as_pattern_match(pattern, KI_STR("ab"), &steps), KI_AS_PATTERN_DIFFERS);
    }
    ki_as_pattern_free(pattern);
}

static void assert_too_long(const char *text, size_t steps)
{
    struct ki_as_pattern *pattern = NULL;
    assert_int_equal(ki_as_pattern_new(text, &steps, &pattern), KI_AS_PATTERN_TOO_LONG);
    assert_null(pattern);
    assert_int_equal(steps, 0);
}

/* Parts that make no instruction, or are never read, are work, too. */
static void compiling_is_charged(void **state)
{
    (void)state;
    enum { BYTES = 100000 };
    static const char before[] = "((";
    static const char behind[] = "){0}){1000}";
    char *text = calloc(BYTES + sizeof(before) + sizeof(behind), 1);
    assert_too_long("^((a{1000}){8})?$", 5000);
    assert_too_long("^(()|()|()|()){1000}$", 5000);
    strcpy(text, before);
    memset(text + strlen(before), 'x', BYTES);
    strcat(text, behind);
    assert_too_long(text, 10000000);
    free(text);
}

static void brackets_without_end_are_read_once(void **state)
{
    (void)state;
    enum { PAIRS = 500000 };
    char *text = calloc(2 * PAIRS + 2, 1);
    text[0] = '[';
    for (size_t i = 0; i < PAIRS; i++)
        memcpy(text + 1 + 2 * i, "[:", 2);
    assert_int_equal(match(text, "a"), KI_AS_PATTERN_TOO_LONG);
    free(text);
}

static void patterns_that_grow_without_end_are_too_large(void **state)
{
    (void)state;
    char deep[1200];
    assert_int_equal(match("((((a{100}){100}){100}){100}){100}", "a"), KI_AS_PATTERN_UNKNOWN);
    assert_int_equal(match("((((){1000}){1000}){1000}){1000}", "a"), KI_AS_PATTERN_UNKNOWN);
    memset(deep, '(', 500);
    memset(deep + 500, ')', 500);
    deep[1000] = 0;
    assert_int_equal(match(deep, "a"), KI_AS_PATTERN_UNKNOWN);
}

/* Each of them takes exponential or quadratic time where ways are tried one after the other. */
static void no_text_takes_long(void **state)
{
    (void)state;
    static const char *const patterns[] = {"^(a+)+$", "^(a|aa)+$", "(a*)*b", "^(a|a?)+$", "a*a*a*a*a*b"};
    char *text = malloc(20001);
    memset(text, 'a', 20000);
    strcpy(text + 19999, "!");
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
        differs(patterns[i], text);
    size_t steps = 1000;
    struct ki_as_pattern *pattern = NULL;
    assert_int_equal(ki_as_pattern_new("^(a+)+$", &steps, &pattern), KI_AS_PATTERN_GOOD);
    assert_int_equal(ki_as_pattern_match(pattern, ki_str_of(text), &steps), KI_AS_PATTERN_TOO_LONG);
    assert_int_equal(steps, 0);
    ki_as_pattern_free(pattern);
    free(text);
}

static void out_of_memory_is_said(void **state)
{
    (void)state;
    size_t steps = 100;
    struct ki_as_pattern *pattern = NULL;
    failing_allocator_fail_at(1);
    assert_int_equal(ki_as_pattern_new("a", &steps, &pattern), KI_AS_PATTERN_OUT_OF_MEMORY);
    assert_null(pattern);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_are_found_anywhere),
        cmocka_unit_test(anchors_hold_begin_and_end),
        cmocka_unit_test(classes_have_ranges_names_and_opposites),
        cmocka_unit_test(parts_are_repeated),
        cmocka_unit_test(one_of_several_is_enough),
        cmocka_unit_test(what_is_not_known_is_said_to_be_so),
        cmocka_unit_test(what_is_no_pattern_is_wrong),
        cmocka_unit_test(classes_in_brackets_have_opposites),
        cmocka_unit_test(a_compiled_pattern_serves_many_texts),
        cmocka_unit_test(compiling_is_charged),
        cmocka_unit_test(brackets_without_end_are_read_once),
        cmocka_unit_test(patterns_that_grow_without_end_are_too_large),
        cmocka_unit_test(no_text_takes_long),
        cmocka_unit_test_setup_teardown(out_of_memory_is_said, failing_allocator_setup,
                                        failing_allocator_teardown),
    };
    return RUN_TESTS(tests);
}
