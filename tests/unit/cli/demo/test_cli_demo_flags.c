/* SPDX-License-Identifier: Apache-2.0 */
/* The flags of the demonstration, and their effects. */
#include <stdio.h>
#include <string.h>

#include "cli/demo/demo_flags.h"
#include "support/unit.h"

/* The words are separated by spaces. Returns the result of the check. */
static int parse(const char *line, int is_terminal, cli_demo_flags *out)
{
    char words[256];
    char *items[16];
    int n = 0;
    char *rest = NULL;
    cli_flag_group groups[CLI_DEMO_GROUPS];
    cli_flag_set set = {"demo", groups, CLI_DEMO_GROUPS};
    cli_arguments arguments = {0};
    ki_error err = {0};
    snprintf(words, sizeof(words), "%s", line);
    for (char *word = strtok_r(words, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
        items[n++] = word;
    cli_demo_flags_init(out, groups);
    assert_int_equal(cli_flags_parse(&set, n, items, &arguments, &err), 0);
    return cli_demo_flags_check(out, is_terminal, &err);
}

static void without_flags_it_continues_quietly_on_a_terminal(void **state)
{
    (void)state;
    cli_demo_flags flags;
    assert_int_equal(parse("", 1, &flags), 0);
    assert_int_equal(flags.pods, 2000);
    assert_true(flags.writes_per_second == 50);
    assert_int_equal(flags.for_ms, 0);
    assert_int_equal(flags.trouble_ms, 6000);
}

static void without_a_terminal_it_ends_by_itself_by_default(void **state)
{
    (void)state;
    cli_demo_flags flags;
    assert_int_equal(parse("", 0, &flags), 0);
    assert_int_equal(flags.for_ms, 20000);
    assert_int_equal(parse("--for 0", 0, &flags), 0);
    assert_int_equal(flags.for_ms, 0);
    assert_int_equal(parse("--for 1m30s", 0, &flags), 0);
    assert_int_equal(flags.for_ms, 90000);
    assert_int_equal(parse("--for 2s", 1, &flags), 0);
    assert_int_equal(flags.for_ms, 2000);
}

static void churn_is_a_number_a_second_or_a_minute(void **state)
{
    (void)state;
    cli_demo_flags flags;
    assert_int_equal(parse("--churn 200/s", 1, &flags), 0);
    assert_true(flags.writes_per_second == 200);
    assert_int_equal(parse("--churn 30/m", 1, &flags), 0);
    assert_true(flags.writes_per_second == 0.5);
    assert_int_equal(parse("--churn 0", 1, &flags), 0);
    assert_true(flags.writes_per_second == 0);
    assert_int_equal(parse("--churn .25/s", 1, &flags), 0);
    assert_true(flags.writes_per_second == 0.25);
}

static void malformed_rates_are_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {"--churn fast", "--churn -1/s",  "--churn 50/h", "--churn /s",
                                        "--churn nan",  "--churn inf/s", "--churn 1e9/s"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        cli_demo_flags flags;
        assert_int_equal(parse(lines[i], 1, &flags), KI_ERR_INVALID);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_flags_it_continues_quietly_on_a_terminal),
        cmocka_unit_test(without_a_terminal_it_ends_by_itself_by_default),
        cmocka_unit_test(churn_is_a_number_a_second_or_a_minute),
        cmocka_unit_test(malformed_rates_are_refused),
    };
    return RUN_TESTS(tests);
}
