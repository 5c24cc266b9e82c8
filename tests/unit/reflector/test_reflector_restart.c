/* SPDX-License-Identifier: Apache-2.0 */
/* What a halt ends, and what is still known after it. */
#include "support/reflector_run.h"
#include "support/unit.h"

static void restart(reflector_run *run, const char *version)
{
    ki_reflector_halt(&run->reflector);
    text_log_clear(&run->source.requests);
    text_log_clear(&run->errors);
    text_log_clear(&run->changes);
    reflector_run_wait_ms(run, 10 * 1000);
    reflector_run_restart(run, version);
}

static void a_halt_ends_requests_and_timers(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    ki_reflector_halt(&run->reflector);
    expect_requests(run, "cancel\n");
    assert_true(run->due_ns == UINT64_MAX);
    ki_reflector_halt(&run->reflector);
    expect_requests(run, "");
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_STOPPED);
}

static void a_restart_continues_from_what_is_applied(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_body(&run->source, EVENT("ADDED", POD("b", "15")));
    restart(run, "12");
    expect_requests(run, "WATCH rv=12 bookmarks\n");
    scripted_body(&run->source, EVENT("ADDED", POD("b", "15")));
    expect_changes(run, "ADDED d/b@15 15\n");
}

static void a_restart_does_not_insist_on_the_newest(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    expect_requests(run, "LIST rv=0 limit=500\nLIST rv= limit=500\n");
    restart(run, "");
    expect_requests(run, "LIST rv=0 limit=500\n");
}

static void a_reset_that_was_not_told_is_owed_after_a_restart(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "33");
    reflector_run_wait_ms(run, 10000);
    run->refuse_after = 1;
    scripted_probe_whole(&run->source, LIST("4", "", ""));
    expect_errors(run, "HistoryReset\nNoMemory\n");
    run->refuse_after = 0;
    restart(run, "33");
    expect_requests(run, "LIST rv= limit=500\n");
    expect_changes(run, "RESET 2\n");
}

static void a_restart_begins_the_back_off_again(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    for (int i = 0; i < 3; i++) {
        scripted_error(&run->source, 500, "");
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    }
    restart(run, "");
    scripted_error(&run->source, 500, "");
    assert_in_range(run->last_retry_ms, 800, 1600);
}

static void a_restart_asks_at_once_after_an_expired_version(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    scripted_whole(&run->source, LIST("10", "", ""));
    restart(run, "10");
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    assert_int_equal(run->last_retry_ms, 0);
    expect_requests(run, "WATCH rv=10 bookmarks\nLIST rv=10 match=NotOlderThan limit=500\n");
}

static void a_restart_forgets_that_there_was_no_room(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    run->is_full = 1;
    scripted_body(&run->source, EVENT("ADDED", POD("b", "11")));
    restart(run, "10");
    expect_requests(run, "WATCH rv=10 bookmarks\n");
}

static void a_list_that_was_due_still_is(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_body(&run->source, EVENT("NEW", POD("b", "11")));
    restart(run, "10");
    expect_requests(run, "LIST rv=10 match=NotOlderThan limit=500\n");
}

static void the_head_of_a_watch_is_not_a_success(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "33");
    scripted_head(&run->source, 200, 0);
    assert_true(reflector_run_status(run).success_age_ms == UINT64_MAX);
    scripted_body(&run->source, BOOKMARK("33"));
    assert_int_equal(reflector_run_status(run).success_age_ms, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        reflector_test(a_halt_ends_requests_and_timers),
        reflector_test(a_restart_continues_from_what_is_applied),
        reflector_test(a_restart_does_not_insist_on_the_newest),
        reflector_test(a_reset_that_was_not_told_is_owed_after_a_restart),
        reflector_test(a_restart_begins_the_back_off_again),
        reflector_test(a_restart_asks_at_once_after_an_expired_version),
        reflector_test(a_restart_forgets_that_there_was_no_room),
        reflector_test(a_list_that_was_due_still_is),
        reflector_test(the_head_of_a_watch_is_not_a_success),
    };
    return RUN_TESTS(tests);
}
