/* SPDX-License-Identifier: Apache-2.0 */
#include "api/object/resource_version.h"

#include <string.h>

#include "support/failing_allocator.h"
#include "support/unit.h"

static ki_resource_version version_of(const char *text)
{
    ki_resource_version version = {0};
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
    int is = ki_resource_version_is_newer(&x, &y);
    ki_resource_version_clear(&x);
    ki_resource_version_clear(&y);
    return is;
}

static void assert_advances(const char *from, const char *other, const char *to)
{
    ki_resource_version version = version_of(from);
    ki_resource_version with = version_of(other);
    assert_int_equal(ki_resource_version_advance(&version, &with), strcmp(from, to) != 0);
    assert_version(&version, to);
    ki_resource_version_clear(&version);
    ki_resource_version_clear(&with);
}

static void a_zeroed_version_is_unset(void **state)
{
    (void)state;
    ki_resource_version version = {0};
    assert_false(ki_resource_version_is_set(&version));
    assert_version(&version, "");
}

static void a_version_has_the_text_that_was_set(void **state)
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
    assert_int_equal(ki_resource_version_set(&version, longest), 0);
    assert_true(ki_str_equal(ki_resource_version_str(&version), longest));
    assert_int_equal(ki_resource_version_set(&version, (ki_str){text, longest.len + 1}), KI_ERR_TOO_LARGE);
    assert_true(ki_str_equal(ki_resource_version_str(&version), longest));
    ki_resource_version_clear(&version);
    assert_false(ki_resource_version_is_set(&version));
}

/* Lengths around the limit up to which a version is stored in the value itself. */
static void versions_of_all_lengths_are_kept(void **state)
{
    (void)state;
    char text[KI_RESOURCE_VERSION_BYTES_MAX];
    char written[KI_RESOURCE_VERSION_BYTES_MAX + 1];
    ki_resource_version version = {0};
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)('a' + i % 26);
    for (size_t len = 0; len <= sizeof(text); len += len < 300 ? 1 : 949) {
        ki_str given = {text, len};
        assert_int_equal(ki_resource_version_set(&version, given), 0);
        assert_true(ki_str_equal(ki_resource_version_str(&version), given));
        assert_int_equal(ki_resource_version_is_set(&version), len > 0);
        assert_int_equal(ki_resource_version_write(&version, written, sizeof(written)), len);
        assert_int_equal(strlen(written), len);
        assert_int_equal(ki_resource_version_write(&version, written, 8), len);
        assert_int_equal(strlen(written), len < 7 ? len : 7);
        assert_int_equal(ki_resource_version_write(&version, NULL, 0), len);
    }
    ki_resource_version_clear(&version);
}

static const char long_text[] = "{\"member-1\":\"1234\",\"member-2\":\"99\"}";
static const char other_long_text[] = "{\"member-1\":\"1234\",\"member-2\":\"98\"}";

static void copies_of_a_long_version_outlive_it(void **state)
{
    (void)state;
    ki_resource_version a = version_of(long_text);
    ki_resource_version b = version_of(other_long_text);
    ki_resource_version c = {0};
    size_t live_count = failing_allocator_live_count();
    failing_allocator_fail_at(1);
    ki_resource_version_copy(&c, &a);
    ki_resource_version_copy(&a, &a);
    assert_false(ki_resource_version_equal(&b, &a));
    ki_resource_version_copy(&b, &a);
    assert_int_equal(failing_allocator_live_count(), live_count - 1); /* the other text was freed */
    ki_resource_version_clear(&a);
    assert_true(ki_resource_version_equal(&b, &c));
    assert_version(&b, long_text);
    ki_resource_version_clear(&b);
    assert_version(&c, long_text);
    assert_false(failing_allocator_has_failed());
    ki_resource_version_clear(&c);
}

static void out_of_memory_for_a_long_version_changes_nothing(void **state)
{
    (void)state;
    ki_resource_version version = version_of(long_text);
    failing_allocator_fail_at(1);
    assert_int_equal(ki_resource_version_set(&version, ki_str_of(other_long_text)), KI_ERR_NO_MEMORY);
    assert_version(&version, long_text);
    failing_allocator_fail_at(1);
    assert_int_equal(ki_resource_version_set(&version, KI_STR("18446744073709551615")), 0);
    assert_version(&version, "18446744073709551615");
}

static void the_latest_of_long_versions_is_the_last_one_received(void **state)
{
    (void)state;
    assert_advances(long_text, other_long_text, other_long_text);
    assert_advances(long_text, long_text, long_text);
    assert_advances(long_text, "", long_text);
    assert_advances("7", long_text, long_text);
    assert_advances(long_text, "7", "7");
    assert_advances("100000000000000000000000000000000000000000000",
                    "99999999999999999999999999999999999999999999",
                    "100000000000000000000000000000000000000000000");
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

static void neither_of_two_versions_is_newer_if_they_are_not_numbers(void **state)
{
    (void)state;
    assert_false(is_newer("b", "a"));
    assert_false(is_newer("a", "b"));
    assert_false(is_newer("7", "a"));
    assert_false(is_newer("a", "7"));
    assert_false(is_newer("8 ", "7"));
    assert_false(is_newer("-7", "-8"));
}

static void advance_keeps_the_newer_of_two_numbers(void **state)
{
    (void)state;
    assert_advances("9", "10", "10");
    assert_advances("10", "9", "10");
    assert_advances("10", "010", "10");
    assert_advances("", "3", "3");
}

static void advance_keeps_the_last_one_if_they_cannot_be_compared(void **state)
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
        WITH_MEMORY_CHECK(a_zeroed_version_is_unset),
        WITH_MEMORY_CHECK(a_version_has_the_text_that_was_set),
        WITH_MEMORY_CHECK(equal_versions_have_equal_bytes),
        WITH_MEMORY_CHECK(the_longest_version_fits_and_a_longer_one_changes_nothing),
        WITH_MEMORY_CHECK(versions_of_all_lengths_are_kept),
        WITH_MEMORY_CHECK(copies_of_a_long_version_outlive_it),
        WITH_MEMORY_CHECK(out_of_memory_for_a_long_version_changes_nothing),
        WITH_MEMORY_CHECK(the_latest_of_long_versions_is_the_last_one_received),
        WITH_MEMORY_CHECK(decimal_versions_compare_as_numbers_of_any_size),
        WITH_MEMORY_CHECK(any_version_is_newer_than_none),
        WITH_MEMORY_CHECK(neither_of_two_versions_is_newer_if_they_are_not_numbers),
        WITH_MEMORY_CHECK(advance_keeps_the_newer_of_two_numbers),
        WITH_MEMORY_CHECK(advance_keeps_the_last_one_if_they_cannot_be_compared),
        WITH_MEMORY_CHECK(advance_by_none_changes_nothing),
    };
    return RUN_TESTS(tests);
}
