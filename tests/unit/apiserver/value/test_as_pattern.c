/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/value/pattern.h"

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

static void anchors_match_the_beginning_and_the_end(void **state)
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

static void classes_have_ranges_names_and_negations(void **state)
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

static void one_of_several_alternatives_is_enough(void **state)
{
    (void)state;
    matches("^(a|bc|d*)$", "bc");
    matches("^(a|bc|d*)$", "");
    differs("^(a|bc|d*)$", "b");
    matches("^a|b$", "xb");
    matches("^(|a)$", "a");
    matches("^([0-9]+(\\.[0-9]+)?(m|k|Ki|Mi))$", "1.5Mi");
}

static void flags_names_and_unicode_classes_are_known(void **state)
{
    (void)state;
    matches("^(?i)abc$", "aBC");
    matches("^\\p{Lu}+$", "ÄB");
    differs("^\\p{Lu}+$", "äb");
    matches("^(?P<name>x)$", "x");
    matches("^[[:^alpha:]]$", "1");
    matches("^\\Q(\\E$", "(");
}

static void malformed_patterns_are_refused(void **state)
{
    (void)state;
    static const char *const patterns[] = {"(a", "a)",    "[a",         "^[a-z",    "a**", "*",   "a{2,1}",
                                           "\\", "[z-a]", "[[:what:]]", "a{99999}", "\\y", "[[:", "\\x{z}"};
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
        assert_int_equal(match(patterns[i], "a"), KI_AS_PATTERN_WRONG);
}

static void classes_in_brackets_can_be_negated(void **state)
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

static void patterns_that_grow_too_large_are_refused(void **state)
{
    (void)state;
    enum { BYTES = 100000 };
    char *text = calloc(BYTES + 1, 1);
    assert_int_equal(match("((((a{100}){100}){100}){100}){100}", "a"), KI_AS_PATTERN_WRONG);
    memset(text, '(', 500);
    memset(text + 500, ')', 500);
    assert_int_equal(match(text, "a"), KI_AS_PATTERN_WRONG);
    memset(text, 'x', BYTES);
    assert_int_equal(match(text, "a"), KI_AS_PATTERN_WRONG);
    free(text);
}

static void compiling_counts_towards_the_budget(void **state)
{
    (void)state;
    size_t steps = 5000;
    struct ki_as_pattern *pattern = NULL;
    assert_int_equal(ki_as_pattern_new("^((ab){1000})?$", &steps, &pattern), KI_AS_PATTERN_TOO_LONG);
    assert_null(pattern);
    assert_int_equal(steps, 0);
}

/* Each of these takes exponential or quadratic time in a matcher that tries alternatives one after the
 * other. */
static void no_text_takes_long(void **state)
{
    (void)state;
    static const char *const patterns[] = {"^(a+)+$", "^(a|aa)+$", "(a*)*b", "^(a|a?)+$"};
    char *text = malloc(20001);
    memset(text, 'a', 20000);
    strcpy(text + 19999, "!");
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        size_t steps = 100000;
        struct ki_as_pattern *pattern = NULL;
        assert_int_equal(ki_as_pattern_new(patterns[i], &steps, &pattern), KI_AS_PATTERN_GOOD);
        enum ki_as_pattern_result result = ki_as_pattern_match(pattern, ki_str_of(text), &steps);
        assert_true(result == KI_AS_PATTERN_TOO_LONG || result == KI_AS_PATTERN_DIFFERS);
        assert_int_equal(steps == 0, result == KI_AS_PATTERN_TOO_LONG);
        ki_as_pattern_free(pattern);
    }
    free(text);
}

/* A group that is repeated for each character needs two backtracking points for each. The memory for 48,000
 * characters is below its limit, so the depth limit ends the match. */
static void depth_is_limited(void **state)
{
    (void)state;
    enum { BYTES = 48 * 1000 };
    static const enum ki_as_pattern_result wanted[] = {KI_AS_PATTERN_MATCHES, KI_AS_PATTERN_TOO_LONG};
    char *text = malloc(BYTES);
    memset(text, 'a', BYTES);
    for (size_t i = 0; i < 2; i++) {
        size_t steps = 1000 * 1000 * 1000;
        struct ki_as_pattern *pattern = NULL;
        assert_int_equal(ki_as_pattern_new("^(?:a|b)*$", &steps, &pattern), KI_AS_PATTERN_GOOD);
        assert_int_equal(ki_as_pattern_match(pattern, (ki_str){text, i == 0 ? BYTES / 4 : BYTES}, &steps),
                         wanted[i]);
        assert_int_equal(steps == 0, i == 1);
        ki_as_pattern_free(pattern);
    }
    free(text);
}

/* A match that needs more steps than the first attempt allows gets them, as long as some are left. */
static void a_long_match_is_tried_with_more_steps(void **state)
{
    (void)state;
    size_t steps = 10 * 1000 * 1000;
    struct ki_as_pattern *pattern = NULL;
    assert_int_equal(ki_as_pattern_new("^(a|aa)+$", &steps, &pattern), KI_AS_PATTERN_GOOD);
    assert_int_equal(ki_as_pattern_match(pattern, KI_STR("aaaaaaaaaaaaaaaaaaaa!"), &steps),
                     KI_AS_PATTERN_DIFFERS);
    assert_true(steps > 0 && steps < 9990 * 1000);
    ki_as_pattern_free(pattern);
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    size_t n = 0;
    enum ki_as_pattern_result result = KI_AS_PATTERN_OUT_OF_MEMORY;
    while (result == KI_AS_PATTERN_OUT_OF_MEMORY) {
        size_t steps = 1000;
        struct ki_as_pattern *pattern = NULL;
        failing_allocator_fail_at(++n);
        result = ki_as_pattern_new("a", &steps, &pattern);
        assert_int_equal(result == KI_AS_PATTERN_GOOD, pattern != NULL);
        ki_as_pattern_free(pattern);
    }
    assert_int_equal(result, KI_AS_PATTERN_GOOD);
    assert_true(n > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_are_found_anywhere),
        cmocka_unit_test(anchors_match_the_beginning_and_the_end),
        cmocka_unit_test(classes_have_ranges_names_and_negations),
        cmocka_unit_test(parts_are_repeated),
        cmocka_unit_test(one_of_several_alternatives_is_enough),
        cmocka_unit_test(flags_names_and_unicode_classes_are_known),
        cmocka_unit_test(malformed_patterns_are_refused),
        cmocka_unit_test(classes_in_brackets_can_be_negated),
        cmocka_unit_test(a_compiled_pattern_serves_many_texts),
        cmocka_unit_test(compiling_counts_towards_the_budget),
        cmocka_unit_test(patterns_that_grow_too_large_are_refused),
        cmocka_unit_test(no_text_takes_long),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(a_long_match_is_tried_with_more_steps),
        WITH_MEMORY_CHECK(out_of_memory_is_reported),
    };
    return RUN_TESTS(tests);
}
