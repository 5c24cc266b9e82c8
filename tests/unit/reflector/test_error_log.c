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
                       &(ki_informer_error){.reason = KI_REASON_MALFORMED, .error = &error, .key = key});
}

static void many_refused_objects_are_logged_in_a_few_lines(void **state)
{
    (void)state;
    for (int i = 0; i < 10000; i++)
        write_error("web/a");
    assert_int_equal(lines, 10);
    assert_string_equal(last, "test: no use");
}

static void the_next_line_counts_the_lines_left_out(void **state)
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

static void errors_without_an_object_are_always_logged(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++)
        write_error("");
    assert_int_equal(lines, 1000);
}

/* ---- status changes ------------------------------------------------------------------------------------ */

static void write_status(ki_phase phase, ki_reason reason, uint64_t lists)
{
    ki_error_log_status(&error_log, &(ki_informer_status){.phase = phase,
                                                          .reason = reason,
                                                          .lists = lists,
                                                          .message = "watches bring nothing"});
}

static void polling_is_logged_when_it_begins_and_when_it_ends(void **state)
{
    (void)state;
    for (int i = 1; i <= 3; i++) {
        write_status(KI_PHASE_BACKING_OFF, KI_REASON_POLLING, 1);
        assert_string_equal(last, "test: watches bring nothing");
        write_status(KI_PHASE_LISTING, KI_REASON_POLLING, 2);
        write_status(KI_PHASE_WATCHING, KI_REASON_POLLING, 2);
        write_status(KI_PHASE_BACKING_OFF, KI_REASON_POLLING, 2);
        assert_int_equal(lines, 2 * i - 1);
        write_status(KI_PHASE_WATCHING, KI_REASON_NONE, 2);
        assert_string_equal(last, "test: watches bring events again");
        write_status(KI_PHASE_WATCHING, KI_REASON_NONE, 2);
        assert_int_equal(lines, 2 * i);
    }
}

static void a_restored_watch_is_logged_with_the_duration_and_how_it_resumed(void **state)
{
    (void)state;
    write_status(KI_PHASE_LISTING, KI_REASON_NONE, 1);
    write_status(KI_PHASE_WATCHING, KI_REASON_NONE, 1);
    assert_int_equal(lines, 0); /* no connection was lost */
    write_status(KI_PHASE_BACKING_OFF, KI_REASON_CONNECTION_LOST, 1);
    ki_clock_advance_ms(&test_clock, 60 * 1000);
    write_status(KI_PHASE_BACKING_OFF, KI_REASON_CONNECTION_REFUSED, 1);
    ki_clock_advance_ms(&test_clock, 1234);
    write_status(KI_PHASE_WATCHING, KI_REASON_NONE, 1);
    assert_string_equal(last, "test: watching again after 61.234 s: resumed");
    write_status(KI_PHASE_BACKING_OFF, KI_REASON_EXPIRED, 1);
    write_status(KI_PHASE_LISTING, KI_REASON_NONE, 2);
    ki_clock_advance_ms(&test_clock, 5);
    write_status(KI_PHASE_WATCHING, KI_REASON_NONE, 2);
    assert_string_equal(last, "test: watching again after 0.005 s: relisted");
    assert_int_equal(lines, 2);
}

static void a_wait_or_a_stop_is_not_a_lost_connection(void **state)
{
    (void)state;
    write_status(KI_PHASE_BACKING_OFF, KI_REASON_PACED, 1);
    write_status(KI_PHASE_BACKING_OFF, KI_REASON_RESUMING, 1);
    write_status(KI_PHASE_WATCHING, KI_REASON_NONE, 1);
    write_status(KI_PHASE_WATCHING, KI_REASON_NO_MEMORY, 1); /* the watch continues */
    write_status(KI_PHASE_WATCHING, KI_REASON_NONE, 1);
    write_status(KI_PHASE_BACKING_OFF, KI_REASON_CONNECTION_LOST, 1);
    write_status(KI_PHASE_STOPPED, KI_REASON_NONE, 1);
    write_status(KI_PHASE_WATCHING, KI_REASON_NONE, 1);
    assert_int_equal(lines, 0);
}

static void frequent_losses_are_logged_in_a_few_lines(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        write_status(KI_PHASE_BACKING_OFF, KI_REASON_CONNECTION_LOST, 1);
        write_status(KI_PHASE_WATCHING, KI_REASON_NONE, 1);
    }
    assert_int_equal(lines, 10);
    ki_clock_advance_ms(&test_clock, 30 * 1000);
    write_status(KI_PHASE_BACKING_OFF, KI_REASON_CONNECTION_LOST, 1);
    write_status(KI_PHASE_WATCHING, KI_REASON_NONE, 1);
    assert_string_equal(last, "test: watching again after 0.000 s: resumed (and 990 more such changes since "
                              "the last such line)");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(many_refused_objects_are_logged_in_a_few_lines),
        TEST(the_next_line_counts_the_lines_left_out),
        TEST(errors_without_an_object_are_always_logged),
        TEST(polling_is_logged_when_it_begins_and_when_it_ends),
        TEST(a_restored_watch_is_logged_with_the_duration_and_how_it_resumed),
        TEST(a_wait_or_a_stop_is_not_a_lost_connection),
        TEST(frequent_losses_are_logged_in_a_few_lines),
    };
    return RUN_TESTS(tests);
}
