/* SPDX-License-Identifier: Apache-2.0 */
#include <kinformer/selector.h>
#include <stdlib.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/unit.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void assert_canonical(const char *text, const char *canonical)
{
    char buffer[256];
    ki_error err = {0};
    int len = ki_field_selector_format(ki_str_of(text), buffer, sizeof(buffer), &err);
    if (len < 0)
        fail_msg("\"%s\" is refused: %s", text, err.message);
    assert_string_equal(buffer, canonical);
    assert_int_equal(len, strlen(canonical));
}

static void terms_are_read_and_written_canonically(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"", ""},
        {"metadata.name=web", "metadata.name=web"},
        {"metadata.name==web", "metadata.name=web"},
        {"status.phase!=Running", "status.phase!=Running"},
        {"status.phase!=Running,metadata.name=web", "metadata.name=web,status.phase!=Running"},
        {"b=1,a=2,b=1,a==2", "a=2,b=1"},
        {"a!=1,a=1,a=0", "a=0,a=1,a!=1"},
        {"a=", "a="},
        {"a!=", "a!="},
        {"a=,b=", "a=,b="},
        {",", ""},
        {",a=1,,", "a=1"},
        {"a = b c", "a = b c"},
        {"a=b!c", "a=b!c"},
        {"a!b=c", "a!b=c"},
        {"a=b\\,c", "a=b\\,c"},
        {"a=b\\=c\\\\d", "a=b\\=c\\\\d"},
        {"a=\\\\,b=c", "a=\\\\,b=c"},
        {"a==\\=", "a=\\="},
        {"a=\xc3\xa4", "a=\xc3\xa4"},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        assert_canonical(table[i][0], table[i][1]);
        assert_canonical(table[i][1], table[i][1]);
    }
}

static void an_invalid_field_selector_is_refused_with_the_position_of_the_error(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t offset;
        const char *says;
    } table[] = {
        {"a", 1, "expected =, == or !=, found the end"},
        {"a=1,b", 5, "expected =, == or !=, found the end"},
        {"a,b=1", 1, "expected =, == or !=, found ','"},
        {"!a", 2, "expected =, == or !="},
        {"a in (b)", 8, "expected =, == or !="},
        {"a>1", 3, "expected =, == or !="},
        {"=b", 0, "expected a field, found '='"},
        {"!=b", 0, "expected a field, found '!'"},
        {"a=b=c", 3, "expected a backslash before '=', found '='"},
        {"a===b", 3, "expected a backslash before '='"},
        {"a=b\\", 4, "after a backslash, found the end"},
        {"a=b\\n", 4, "expected '\\', ',' or '=' after a backslash, found 'n'"},
        {"a\\", 2, "expected =, == or !="},
        {"a=b\xff", 3, "expected UTF-8, found '\xff' at character 4"},
        {"\xc3=b", 0, "expected UTF-8"},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        ki_error err = {0};
        char buffer[8] = "~";
        int rc = ki_field_selector_format(ki_str_of(table[i].text), buffer, sizeof(buffer), &err);
        assert_int_equal(rc, KI_ERR_SELECTOR);
        assert_int_equal(err.code, KI_ERR_SELECTOR);
        if (err.offset != table[i].offset || strstr(err.message, table[i].says) == NULL)
            fail_msg("\"%s\": %d: %s", table[i].text, (int)err.offset, err.message);
        assert_string_equal(buffer, "~");
    }
}

static void a_short_buffer_gets_what_fits(void **state)
{
    (void)state;
    char buffer[8] = "~~~~~~~";
    assert_int_equal(ki_field_selector_format(KI_STR("a=bcdef"), NULL, 0, NULL), 7);
    assert_int_equal(ki_field_selector_format(KI_STR("a=bcdef"), buffer, 4, NULL), 7);
    assert_memory_equal(buffer, "a=b\0~~~", 7);
    assert_int_equal(ki_field_selector_format(KI_STR("a=b"), NULL, 4, NULL), KI_ERR_INVALID);
}

static void a_selector_that_is_too_long_is_refused(void **state)
{
    (void)state;
    char *text = malloc(KI_SELECTOR_BYTES_MAX + 1);
    assert_non_null(text);
    memset(text, ',', KI_SELECTOR_BYTES_MAX + 1);
    assert_int_equal(ki_field_selector_format((ki_str){text, KI_SELECTOR_BYTES_MAX}, NULL, 0, NULL), 0);
    assert_int_equal(ki_field_selector_format((ki_str){text, KI_SELECTOR_BYTES_MAX + 1}, NULL, 0, NULL),
                     KI_ERR_TOO_LARGE);
    free(text);
}

static void when_out_of_memory_nothing_is_written(void **state)
{
    (void)state;
    ki_error err = {0};
    failing_allocator_fail_at(1);
    assert_int_equal(ki_field_selector_format(KI_STR("a=b"), NULL, 0, &err), KI_ERR_NO_MEMORY);
    assert_int_equal(err.code, KI_ERR_NO_MEMORY);
    assert_int_equal(ki_field_selector_format(KI_STR("a=b"), NULL, 0, &err), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_are_read_and_written_canonically),
        cmocka_unit_test(an_invalid_field_selector_is_refused_with_the_position_of_the_error),
        cmocka_unit_test(a_short_buffer_gets_what_fits),
        cmocka_unit_test(a_selector_that_is_too_long_is_refused),
        WITH_MEMORY_CHECK(when_out_of_memory_nothing_is_written),
    };
    return RUN_TESTS(tests);
}
