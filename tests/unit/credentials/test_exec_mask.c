/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets passed to a plug-in do not appear in messages about it. */
#include "credentials/exec_mask.h"

#include <stdlib.h>
#include <string.h>

#include "support/unit.h"

static const char *masked(const ki_config_exec *exec, const char *text)
{
    static char buffer[256];
    size_t len = strlen(text);
    memcpy(buffer, text, len);
    buffer[ki_exec_mask(exec, buffer, len)] = 0;
    return buffer;
}

static void values_of_its_environment_are_masked(void **state)
{
    (void)state;
    ki_config_pair env[] = {{"ROLE", "some-long-role"}, {"PIN_TOKEN", "abcdef"}, {"MODE", "strict!"}};
    const ki_config_exec exec = {.env = env, .env_count = 3};
    assert_string_equal(masked(&exec, "role some-long-role, token abcdef"), "role <masked>, token ***");
    assert_string_equal(masked(&exec, "mode strict!"),
                        "mode strict!"); /* too short to be distinguished from a word */
    assert_string_equal(masked(&exec, "in base64: c29tZS1sb25nLXJvbGU="), "in base64: <masked>");
    assert_string_equal(masked(&exec, ""), "");
}

static void each_line_of_a_value_is_masked(void **state)
{
    (void)state;
    ki_config_pair env[] = {{"KEY", "-----BEGIN-----\nAAAAAAAAAA\r\nBBBBBBBBBB\n"}};
    const ki_config_exec exec = {.env = env, .env_count = 1};
    assert_string_equal(masked(&exec, "bad key: BBBBBBBBBB"), "bad key: <masked>");
    assert_string_equal(masked(&exec, "bad key: AAAAAAAAAA"), "bad key: <masked>");
}

static void arguments_named_as_secrets_are_masked(void **state)
{
    (void)state;
    char *args[] = {"get-token", "--server", "login.example", "--client-secret=hunter2-hunter2",
                    "--token",   "abcdefgh", "--token-file",  "/run/the-token",
                    "--secret",  NULL};
    const ki_config_exec exec = {.args = args};
    assert_string_equal(masked(&exec, "login.example refuses hunter2-hunter2"),
                        "login.example refuses <masked>");
    assert_string_equal(masked(&exec, "abcdefgh of /run/the-token"), "<masked> of /run/the-token");
}

static void variables_with_a_token_are_masked(void **state)
{
    (void)state;
    const ki_config_exec exec = {0};
    assert_int_equal(setenv("KI_TEST_SESSION_TOKEN", "session-1234", 1), 0);
    assert_int_equal(setenv("ki_test_password", "hunter2-hunter2", 1), 0);
    assert_int_equal(setenv("KI_TEST_TOKEN_FILE", "/run/the-token", 1), 0);
    assert_int_equal(setenv("KI_TEST_PROFILE", "production", 1), 0);
    assert_string_equal(masked(&exec, "production: session-1234, hunter2-hunter2, /run/the-token"),
                        "production: <masked>, <masked>, /run/the-token");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_its_environment_are_masked),
        cmocka_unit_test(each_line_of_a_value_is_masked),
        cmocka_unit_test(arguments_named_as_secrets_are_masked),
        cmocka_unit_test(variables_with_a_token_are_masked),
    };
    return RUN_TESTS(tests);
}
