/* SPDX-License-Identifier: Apache-2.0 */
#include "reflector/error_log.h"

#include <kinformer/log.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>

#include "support/unit.h"

static int lines;
static char last[512];

static void count(const ki_log_record *record, void *user)
{
    (void)user;
    lines++;
    (void)snprintf(last, sizeof(last), "%s: %s", record->component, record->message);
    assert_string_equal(record->fields[0].name, "name");
    assert_true(ki_str_equal(record->fields[0].value, KI_STR("my-pods")));
}

static ki_clock test_clock;
static ki_error_log error_log;

static int set_up(void **state)
{
    (void)state;
    lines = 0;
    ki_set_log(count, KI_LOG_INFO, NULL);
    ki_clock_init_virtual(&test_clock, 1, 0);
    ki_error_log_init(&error_log, &(ki_error_log_owner){"test", "my-pods", &KI_CORE_V1_PODS}, &test_clock);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    ki_set_log(NULL, KI_LOG_TRACE, NULL);
    return 0;
}

static void write_error(const char *key)
{
    ki_error error = {.message = "no use"};
    ki_error_log_write(&error_log,
                       &(ki_watch_error){.reason = KI_REASON_MALFORMED, .error = &error, .key = key});
}

static void a_flood_of_objects_is_a_few_lines(void **state)
{
    (void)state;
    for (int i = 0; i < 10000; i++)
        write_error("web/a");
    assert_int_equal(lines, 10);
    assert_string_equal(last, "test: no use");
}

static void the_next_line_says_how_many_were_left_out(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++)
        write_error("web/a");
    ki_clock_advance_ms(&test_clock, 30 * 1000);
    ki_error_log_object(&error_log, KI_STR("web/b"), "no key");
    assert_int_equal(lines, 11);
    assert_string_equal(last, "test: no key (and 990 more objects since the last such line)");
    ki_clock_advance_ms(&test_clock, 30 * 1000);
    write_error("web/a");
    assert_string_equal(last, "test: no use");
}

static void what_concerns_no_object_is_always_written(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++)
        write_error("");
    assert_int_equal(lines, 1000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_flood_of_objects_is_a_few_lines),
        TEST(the_next_line_says_how_many_were_left_out),
        TEST(what_concerns_no_object_is_always_written),
    };
    return RUN_TESTS(tests);
}
