/* SPDX-License-Identifier: Apache-2.0 */
/* The status of a reflector, silence, and timeouts. */
#include <string.h>

#include "support/reflector/reflector_run.h"
#include "support/unit.h"

/* ---- status -------------------------------------------------------------------------------------------- */

static void the_status_shows_the_phase_and_the_reason(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_LISTING);
    assert_true(reflector_run_status(run).byte_age_ms == UINT64_MAX);
    scripted_error(&run->source, 403, STATUS("403", "Forbidden"));
    reflector_run_wait_ms(run, 100);
    ki_informer_status status = reflector_run_status(run);
    assert_int_equal(status.phase, KI_PHASE_BACKING_OFF);
    assert_int_equal(status.reason, KI_REASON_FORBIDDEN);
    assert_int_equal(status.http_status, 403);
    assert_int_equal(status.phase_age_ms, 100);
    assert_in_range(status.retry_ms, run->last_retry_ms - 101, run->last_retry_ms - 100);
    assert_string_equal(status.message, "the server responded with 403 Forbidden: no");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    assert_int_equal(reflector_run_status(run).reason, KI_REASON_FORBIDDEN);
    scripted_whole(&run->source, LIST("10", "", ""));
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_LISTING);
    scripted_head(&run->source, 200, 0);
    status = reflector_run_status(run);
    assert_int_equal(status.phase, KI_PHASE_WATCHING);
    assert_int_equal(status.reason, KI_REASON_NONE);
    assert_int_equal(status.http_status, 0);
    assert_string_equal(status.message, "");
    assert_int_equal(status.lists, 2);
    assert_int_equal(status.watches, 1);
    assert_int_equal(status.retry_ms, 0);
    assert_int_equal(status.bytes_read, strlen(LIST("10", "", "")));
}

static void the_status_has_the_ages_of_events_bookmarks_and_bytes(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    assert_true(reflector_run_status(run).event_age_ms == UINT64_MAX);
    assert_true(reflector_run_status(run).bookmark_age_ms == UINT64_MAX);
    scripted_body(&run->source, EVENT("ADDED", POD("b", "11")));
    reflector_run_wait_ms(run, 1000);
    scripted_body(&run->source, BOOKMARK("12"));
    reflector_run_wait_ms(run, 500);
    scripted_body(&run->source, " ");
    reflector_run_wait_ms(run, 20);
    ki_informer_status status = reflector_run_status(run);
    assert_int_equal(status.event_age_ms, 1520);
    assert_int_equal(status.bookmark_age_ms, 520);
    assert_int_equal(status.byte_age_ms, 20);
}

static void an_accepted_watch_ends_the_failure(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_cut(&run->source, KI_REASON_TLS);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    assert_int_equal(reflector_run_status(run).reason, KI_REASON_TLS);
    scripted_head(&run->source, 200, 0);
    assert_int_equal(reflector_run_status(run).reason, KI_REASON_NONE);
}

static void a_watch_attempt_on_a_closed_port_is_not_a_watch(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_head(&run->source, 200, 0);
    text_log_clear(&run->statuses);
    reflector_run_wait_ms(run, 40);
    for (int i = 0; i < 3; i++) {
        scripted_cut(&run->source, i == 0 ? KI_REASON_CONNECTION_LOST : KI_REASON_CONNECTION_REFUSED);
        assert_true(reflector_run_status(run).retry_ms > 0);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
        assert_int_equal(reflector_run_status(run).phase, KI_PHASE_BACKING_OFF);
        assert_int_equal(reflector_run_status(run).retry_ms, 0);
    }
    expect_statuses(run, "BACKING_OFF ConnectionLost\nBACKING_OFF ConnectionRefused\n");
    assert_int_equal(reflector_run_status(run).watches, 4);
    scripted_head(&run->source, 200, 0);
    expect_statuses(run, "WATCHING \n");
    assert_int_equal(reflector_run_status(run).phase_age_ms, 0);
}

static void the_status_has_the_time_since_the_last_success(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    scripted_cut(&run->source, KI_REASON_DNS);
    assert_true(reflector_run_status(run).success_age_ms == UINT64_MAX);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_whole(&run->source, LIST("10", "", ""));
    reflector_run_wait_ms(run, 300);
    scripted_cut(&run->source, KI_REASON_CONNECTION_REFUSED);
    uint64_t waited = reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    ki_informer_status status = reflector_run_status(run);
    assert_int_equal(status.reason, KI_REASON_CONNECTION_REFUSED);
    assert_in_range(status.success_age_ms, 300 + waited, 300 + waited + 1);
    scripted_head(&run->source, 200, 0);
    assert_in_range(reflector_run_status(run).success_age_ms, 300 + waited, 300 + waited + 1);
    scripted_body(&run->source, BOOKMARK("10"));
    assert_int_equal(reflector_run_status(run).success_age_ms, 0);
}

static void each_change_of_phase_or_reason_is_reported(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    expect_statuses(run, "LISTING \n");
    scripted_error(&run->source, 403, STATUS("403", "Forbidden"));
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_statuses(run, "BACKING_OFF Forbidden\nLISTING Forbidden\n");
    scripted_whole(&run->source, LIST("10", "", POD("a", "5")));
    expect_statuses(run, "LISTING \n");
    scripted_head(&run->source, 200, 0);
    expect_statuses(run, "WATCHING \n");
    scripted_body(&run->source, EVENT("ADDED", POD("b", "11")));
    expect_statuses(run, "");
    scripted_cut(&run->source, KI_REASON_CONNECTION_LOST);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_statuses(run, "BACKING_OFF ConnectionLost\n");
    scripted_head(&run->source, 200, 0);
    expect_statuses(run, "WATCHING \n");
    ki_reflector_halt(&run->reflector);
    expect_statuses(run, "STOPPED \n");
}

static void a_halt_ends_the_failure_and_every_timer(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    scripted_cut(&run->source, KI_REASON_DNS);
    assert_true(run->due_ns != UINT64_MAX);
    ki_reflector_halt(&run->reflector);
    assert_int_equal(reflector_run_status(run).reason, KI_REASON_NONE);
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_STOPPED);
    assert_true(run->due_ns == UINT64_MAX);
    reflector_run_wait_ms(run, 3600 * 1000);
    expect_requests(run, "LIST rv=0 limit=500\n");
}

static void lists_events_and_bookmarks_are_successes_and_nothing_else_is(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    scripted_body(&run->source, "{\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[" POD("a", "5"));
    assert_true(reflector_run_status(run).success_age_ms == UINT64_MAX);
    scripted_body(&run->source, "]}");
    scripted_end(&run->source);
    assert_int_equal(reflector_run_status(run).success_age_ms, 0);
    reflector_run_wait_ms(run, 700);
    scripted_head(&run->source, 200, 0);
    scripted_body(&run->source, " ");
    scripted_body(&run->source, BOOKMARK("9")); /* older than what was received */
    scripted_body(&run->source, EVENT("ADDED", "{\"metadata\":{\"name\":\"b\"}}"));
    assert_int_equal(reflector_run_status(run).success_age_ms, 700);
    scripted_body(&run->source, EVENT("ADDED", POD("b", "11")));
    assert_int_equal(reflector_run_status(run).success_age_ms, 0);
    reflector_run_wait_ms(run, 20);
    scripted_body(&run->source, BOOKMARK("11"));
    assert_int_equal(reflector_run_status(run).success_age_ms, 0);
}

/* After the first byte, at least 1,024 bytes per minute are required;
 * otherwise a trickling list would never end. */
static void a_trickling_list_is_abandoned(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    scripted_head(&run->source, 200, 0);
    reflector_run_wait_ms(run, 59 * 1000);
    scripted_body(&run->source, "{");
    for (int i = 0; i < 59; i++) {
        reflector_run_wait_ms(run, 1000);
        scripted_body(&run->source, " ");
    }
    expect_errors(run, "");
    reflector_run_wait_ms(run, 1000);
    expect_errors(run, "Timeout\n");
    ki_informer_status status = reflector_run_status(run);
    assert_int_equal(status.phase, KI_PHASE_BACKING_OFF);
    assert_string_equal(status.message, "fewer than 1,024 bytes of the list have arrived for too long");
    text_log_clear(&run->source.requests);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "LIST rv=0 limit=500\n");
}

static void a_slow_list_continues(void **state)
{
    reflector_run *run = *state;
    char blanks[512 + 1];
    memset(blanks, ' ', sizeof(blanks) - 1);
    blanks[sizeof(blanks) - 1] = 0;
    reflector_run_start(run, "");
    scripted_body(&run->source, "{");
    for (int i = 0; i < 1000; i++) {
        reflector_run_wait_ms(run, 29 * 1000);
        scripted_body(&run->source, blanks);
    }
    expect_errors(run, "");
    scripted_whole(&run->source, &LIST("10", "", POD("a", "5"))[1]);
    expect_changes(run, "REPLACED 1 d/a@5\nEND 1 10\n");
}

/* The time before a pause does not count. */
static void a_list_that_was_paused_has_a_full_minute_again(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    scripted_body(&run->source, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":");
    reflector_run_wait_ms(run, 50 * 1000);
    run->is_full = 1;
    scripted_body(&run->source, "{\"resourceVersion\":\"10\"},\"items\":[" POD("a", "5") ",");
    reflector_run_wait_ms(run, 500 * 1000);
    run->is_full = 0;
    ki_reflector_resume(&run->reflector);
    reflector_run_wait_ms(run, 59 * 1000);
    scripted_body(&run->source, " ");
    reflector_run_wait_ms(run, 59 * 1000);
    expect_errors(run, "");
    scripted_whole(&run->source, POD("b", "6") "]}");
    expect_changes(run, "REPLACED 1 d/a@5\nREPLACED 1 d/b@6\nEND 1 10\n");
}

static void an_endless_refusal_of_a_list_fails_with_its_status(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    reflector_run_wait_ms(run, 3000);
    scripted_head(&run->source, 403, 0);
    scripted_body(&run->source, "up");
    reflector_run_wait_ms(run, 9000);
    scripted_body(&run->source, "stream");
    expect_errors(run, "");
    reflector_run_wait_ms(run, 1001);
    expect_errors(run, "Forbidden 403\n");
    assert_string_equal(reflector_run_status(run).message, "the server responded with 403: upstream");
    assert_true(reflector_run_status(run).retry_ms > 0);
}

static void an_endless_refusal_of_a_watch_is_not_a_watch(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_head(&run->source, 200, 0);
    reflector_run_wait_ms(run, 2000);
    scripted_end(&run->source);
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_WATCHING);
    text_log_clear(&run->statuses);
    scripted_head(&run->source, 503, 0);
    expect_statuses(run, "BACKING_OFF ServerError\n");
    assert_int_equal(reflector_run_status(run).http_status, 503);
    assert_string_equal(reflector_run_status(run).message, "the server responded with 503");
    reflector_run_wait_ms(run, 10 * 1000 - 1);
    expect_errors(run, "");
    reflector_run_wait_ms(run, 2);
    expect_errors(run, "ServerError 503\n");
    assert_true(reflector_run_status(run).retry_ms > 0);
}

static int take_change(const ki_change *change, void *user)
{
    (void)change;
    (void)user;
    return 0;
}

static void take_due(uint64_t due_ns, void *user)
{
    (void)due_ns;
    (void)user;
}

static void without_a_seed_no_two_reflectors_are_alike(void **state)
{
    reflector_run *run = *state;
    static ki_reflector two[2];
    scripted_source source;
    scripted_source_init(&source);
    for (int i = 0; i < 2; i++) {
        ki_reflector_options options = {.list_watch = scripted_source_list_watch(&source),
                                        .plan = run->plan,
                                        .informer = &run->informer,
                                        .clock = &run->clock,
                                        .on_change = take_change,
                                        .schedule = take_due};
        assert_int_equal(ki_reflector_init(&two[i], &options, NULL), 0);
    }
    ki_informer_status status = {0};
    ki_reflector_read_status(&two[0], &status);
    assert_int_equal(status.phase, KI_PHASE_STOPPED);
    assert_int_equal(status.phase_age_ms, 0);
    assert_true(status.byte_age_ms == UINT64_MAX);
    assert_memory_not_equal(&two[0].random, &two[1].random, sizeof(ki_random));
    for (int i = 0; i < 2; i++)
        ki_reflector_fini(&two[i]);
    assert_int_equal(source.releases, 2);
    ki_reflector_fini(&(ki_reflector){0});
    scripted_source_fini(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        reflector_test(the_status_shows_the_phase_and_the_reason),
        reflector_test(the_status_has_the_ages_of_events_bookmarks_and_bytes),
        reflector_test(an_accepted_watch_ends_the_failure),
        reflector_test(a_watch_attempt_on_a_closed_port_is_not_a_watch),
        reflector_test(the_status_has_the_time_since_the_last_success),
        reflector_test(each_change_of_phase_or_reason_is_reported),
        reflector_test(a_trickling_list_is_abandoned),
        reflector_test(a_slow_list_continues),
        reflector_test(a_list_that_was_paused_has_a_full_minute_again),
        reflector_test(an_endless_refusal_of_a_list_fails_with_its_status),
        reflector_test(an_endless_refusal_of_a_watch_is_not_a_watch),
        reflector_test(a_halt_ends_the_failure_and_every_timer),
        reflector_test(lists_events_and_bookmarks_are_successes_and_nothing_else_is),
        reflector_test(without_a_seed_no_two_reflectors_are_alike),
    };
    return RUN_TESTS(tests);
}
