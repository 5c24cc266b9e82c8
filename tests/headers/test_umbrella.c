/* SPDX-License-Identifier: Apache-2.0 */
/* The header that programs include, before any other. */
#include <kinformer.h>

/* cmocka needs these four before its own header. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void version_is_that_of_the_build(void **state)
{
    (void)state;
    assert_string_equal(ki_version(), KI_PROJECT_VERSION);
}

static void a_string_literal_becomes_text(void **state)
{
    (void)state;
    ki_str text = KI_STR("default");
    assert_int_equal(text.len, 7);
    assert_true(ki_str_equal(text, ki_str_of("default")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_is_that_of_the_build),
        cmocka_unit_test(a_string_literal_becomes_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
