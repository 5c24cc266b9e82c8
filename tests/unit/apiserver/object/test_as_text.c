/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/object/text.h"

#include "support/unit.h"

static void text_is_indented_by_two(void **state)
{
    (void)state;
    ki_buf text;
    ki_buf_init(&text, 4096);
    assert_int_equal(
        ki_as_text_indent(&text, KI_STR("{\"a\":[1,{\"b\":\"x,{\\\"}:\"}],\"c\":{},\"d\":[]}\n")), 0);
    assert_true(ki_str_equal(
        ki_buf_str(&text),
        KI_STR("{\n  \"a\": [\n    1,\n    {\n      \"b\": \"x,{\\\"}:\"\n    }\n  ],\n  \"c\": {},\n  "
               "\"d\": []\n}")));
    ki_buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_indented_by_two),
    };
    return RUN_TESTS(tests);
}
