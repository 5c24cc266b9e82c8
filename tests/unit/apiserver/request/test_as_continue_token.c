/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/request/continue_token.h"

#include <string.h>

#include "support/unit.h"
#include "util/alloc.h"

static void a_token_is_read_as_it_was_written(void **state)
{
    (void)state;
    static const struct {
        const char *ns;
        const char *name;
        const char *after;
    } cases[] = {
        {"default", "web-1", "default/web-1"}, {"", "node-1", "node-1"}, {"a", "b?c:\"d", "a/b?c:\"d"}};
    for (size_t i = 0; i < 3; i++) {
        ki_buf text;
        struct ki_as_continue token = {0};
        struct ki_as_failure failure = {0};
        ki_buf_init(&text, 4096);
        assert_int_equal(
            ki_as_continue_write(i == 0 ? -1 : 349, ki_str_of(cases[i].ns), ki_str_of(cases[i].name), &text),
            0);
        assert_null(strpbrk(text.data, "+/="));
        assert_int_equal(ki_as_continue_read(ki_buf_str(&text), &token, &failure), 0);
        assert_int_equal(token.version, i == 0 ? -1 : 349);
        assert_string_equal(token.after, cases[i].after);
        ki_free(token.after);
        ki_buf_fini(&text);
    }
}

static void tokens_of_a_real_server_are_understood(void **state)
{
    (void)state;
    struct ki_as_continue token = {0};
    struct ki_as_failure failure = {0};
    assert_int_equal(
        ki_as_continue_read(KI_STR("eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MzQ5LCJzdGFydCI6Ii9kZWZhdWx0L3dlYi03"
                                   "Yzg0NjliNDY4LTc5YnRxXHUwMDAwIn0"),
                            &token, &failure),
        0);
    assert_int_equal(token.version, 349);
    assert_string_equal(token.after, "default/web-7c8469b468-79btq");
    ki_free(token.after);
}

static void malformed_tokens_are_400(void **state)
{
    (void)state;
    /* In order: {} · another version · rv 0 · rv as a string · no start · an empty start. */
    static const char *const tokens[] = {"x",
                                         "e30",
                                         "eyJ2IjoidjIiLCJydiI6MSwic3RhcnQiOiJhIn0",
                                         "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MCwic3RhcnQiOiJhIn0",
                                         "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6IjEiLCJzdGFydCI6ImEifQ",
                                         "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MX0",
                                         "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIifQ",
                                         "%%%"};
    for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
        struct ki_as_continue token = {0};
        struct ki_as_failure failure = {0};
        assert_int_equal(ki_as_continue_read(ki_str_of(tokens[i]), &token, &failure), -1);
        assert_int_equal(failure.code, 400);
        assert_null(token.after);
        ki_as_failure_fini(&failure);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_is_read_as_it_was_written),
        cmocka_unit_test(tokens_of_a_real_server_are_understood),
        cmocka_unit_test(malformed_tokens_are_400),
    };
    return RUN_TESTS(tests);
}
