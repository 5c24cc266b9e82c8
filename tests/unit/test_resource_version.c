/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/resource_version.h"

#include <string.h>

#include "support/unit.h"

static ki_resource_version version_of(const char *text)
{
    ki_resource_version version;
    memset(&version, 0xa5, sizeof(version));
    assert_int_equal(ki_resource_version_set(&version, ki_str_of(text)), 0);
    return version;
}

static void assert_version(const ki_resource_version *version, const char *text)
{
    ki_str is = ki_resource_version_str(version);
    if (!ki_str_equal(is, ki_str_of(text)))
        fail_msg("%.*s instead of %s", KI_STR_ARGS(is), text);
}

static int is_newer(const char *a, const char *b)
{
    ki_resource_version x = version_of(a);
    ki_resource_version y = version_of(b);
    return ki_resource_version_is_newer(&x, &y);
}

static void assert_advances(const char *from, const char *other, const char *to)
{
    ki_resource_version version = version_of(from);
    ki_resource_version with = version_of(other);
    ki_resource_version_advance(&version, &with);
    assert_version(&version, to);
}

static void a_zeroed_version_is_unset(void **state)
{
    (void)state;
    ki_resource_version version = {0};
    assert_false(ki_resource_version_is_set(&version));
    assert_version(&version, "");
}

static void a_version_is_the_text_that_was_set(void **state)
{
    (void)state;
    ki_resource_version version = version_of("12345");
    assert_true(ki_resource_version_is_set(&version));
    assert_version(&version, "12345");
    version = version_of("");
    assert_false(ki_resource_version_is_set(&version));
    assert_int_equal(ki_resource_version_set(&version, (ki_str){0}), 0);
    assert_false(ki_resource_version_is_set(&version));
}

static void equal_versions_have_equal_bytes(void **state)
{
    (void)state;
    ki_resource_version a = version_of("a-much-longer-version");
    ki_resource_version b = version_of("7");
    assert_int_equal(ki_resource_version_set(&a, KI_STR("7")), 0);
    assert_memory_equal(&a, &b, sizeof(a));
}

static void the_longest_version_fits_and_a_longer_one_changes_nothing(void **state)
{
    (void)state;
    char text[KI_RESOURCE_VERSION_BYTES_MAX + 2];
    memset(text, '9', sizeof(text));
    ki_resource_version version = version_of("5");
    ki_str longest = {text, KI_RESOURCE_VERSION_BYTES_MAX};
    assert_int_equal(ki_resource_version_set(&version, (ki_str){text, longest.len + 1}), KI_ERR_TOO_LARGE);
    assert_version(&version, "5");
    assert_int_equal(ki_resource_version_set(&version, (ki_str){text, 300}), KI_ERR_TOO_LARGE);
    assert_version(&version, "5");
    assert_int_equal(ki_resource_version_set(&version, longest), 0);
    assert_true(ki_str_equal(ki_resource_version_str(&version), longest));
}

static void decimal_versions_compare_as_numbers_of_any_size(void **state)
{
    (void)state;
    assert_true(is_newer("10", "9"));
    assert_false(is_newer("9", "10"));
    assert_false(is_newer("9", "9"));
    assert_false(is_newer("009", "9"));
    assert_true(is_newer("18446744073709551616", "18446744073709551615"));
    assert_true(is_newer("100000000000000000000000000000000000000000001",
                         "100000000000000000000000000000000000000000000"));
}

static void any_version_is_newer_than_none(void **state)
{
    (void)state;
    assert_true(is_newer("0", ""));
    assert_true(is_newer("x", ""));
    assert_false(is_newer("", "0"));
    assert_false(is_newer("", "x"));
    assert_false(is_newer("", ""));
}

static void of_versions_that_are_no_numbers_neither_is_newer(void **state)
{
    (void)state;
    assert_false(is_newer("b", "a"));
    assert_false(is_newer("a", "b"));
    assert_false(is_newer("7", "a"));
    assert_false(is_newer("a", "7"));
    assert_false(is_newer("8 ", "7"));
    assert_false(is_newer("-7", "-8"));
}

static void advance_takes_the_newer_of_two_numbers(void **state)
{
    (void)state;
    assert_advances("9", "10", "10");
    assert_advances("10", "9", "10");
    assert_advances("10", "010", "10");
    assert_advances("", "3", "3");
}

static void advance_takes_the_last_one_received_when_they_cannot_be_compared(void **state)
{
    (void)state;
    assert_advances("b", "a", "a");
    assert_advances("10", "a", "a");
    assert_advances("a", "10", "10");
    assert_advances("", "a", "a");
}

static void advance_by_none_changes_nothing(void **state)
{
    (void)state;
    assert_advances("9", "", "9");
    assert_advances("a", "", "a");
    assert_advances("", "", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_zeroed_version_is_unset),
        cmocka_unit_test(a_version_is_the_text_that_was_set),
        cmocka_unit_test(equal_versions_have_equal_bytes),
        cmocka_unit_test(the_longest_version_fits_and_a_longer_one_changes_nothing),
        cmocka_unit_test(decimal_versions_compare_as_numbers_of_any_size),
        cmocka_unit_test(any_version_is_newer_than_none),
        cmocka_unit_test(of_versions_that_are_no_numbers_neither_is_newer),
        cmocka_unit_test(advance_takes_the_newer_of_two_numbers),
        cmocka_unit_test(advance_takes_the_last_one_received_when_they_cannot_be_compared),
        cmocka_unit_test(advance_by_none_changes_nothing),
    };
    return RUN_TESTS(tests);
}
