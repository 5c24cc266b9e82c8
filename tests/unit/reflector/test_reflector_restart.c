/* SPDX-License-Identifier: Apache-2.0 */
/* What a halt ends, and what the reflector still knows after it. */
#include "support/reflector/reflector_run.h"
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

/* A watch from 33, and a server whose newest version is 4. */
static void meet_another_history(reflector_run *run)
{
    reflector_run_start(run, "33");
    reflector_run_wait_ms(run, 10000);
    scripted_probe_whole(&run->source, LIST("4", "", ""));
}

/* Version 15 was received, and 12 is applied. */
static void restart_behind(reflector_run *run)
{
    reflector_run_start_watching(run);
    scripted_body(&run->source, EVENT("ADDED", POD("b", "15")));
    restart(run, "12");
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

static void a_restart_continues_from_the_applied_version(void **state)
{
    reflector_run *run = *state;
    restart_behind(run);
    expect_requests(run, "WATCH rv=12 bookmarks\n");
    scripted_body(&run->source, EVENT("ADDED", POD("b", "15")));
    expect_changes(run, "ADDED d/b@15 15\n");
}

static void a_restart_does_not_require_the_newest_version(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    expect_requests(run, "LIST rv=0 limit=500\nLIST rv= limit=500\n");
    restart(run, "");
    expect_requests(run, "LIST rv=0 limit=500\n");
}

static void a_reset_that_was_not_reported_is_reported_after_a_restart(void **state)
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

static void after_a_reset_the_newest_version_is_requested_until_a_list_has_ended(void **state)
{
    reflector_run *run = *state;
    meet_another_history(run);
    expect_changes(run, "RESET 1\n");
    restart(run, "");
    expect_requests(run, "LIST rv= limit=500\n");
    scripted_whole(&run->source, LIST("4", "", ""));
    restart(run, "4");
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    expect_requests(run, "WATCH rv=4 bookmarks\nLIST rv=4 match=NotOlderThan limit=500\n");
}

static void a_restart_resets_the_backoff(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    reflector_run_fail(run, 500, 3);
    restart(run, "");
    scripted_error(&run->source, 500, "");
    assert_in_range(run->last_retry_ms, 800, 1600);
}

static void a_restart_retries_an_expired_version_at_once(void **state)
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

static void a_restart_forgets_the_lack_of_space(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    run->is_full = 1;
    scripted_body(&run->source, EVENT("ADDED", POD("b", "11")));
    restart(run, "10");
    expect_requests(run, "WATCH rv=10 bookmarks\n");
}

static void a_list_that_was_due_is_still_due_after_a_restart(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_body(&run->source, EVENT("NEW", POD("b", "11")));
    restart(run, "10");
    expect_requests(run, "LIST rv=10 match=NotOlderThan limit=500\n");
}

/* A change applied after that version may have been a delete,
 * and an older list would bring the object back. */
static void lists_after_a_restart_are_not_older_than_what_was_received(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_body(&run->source, EVENT("DELETED", POD("a", "15")));
    restart(run, "12");
    expect_requests(run, "WATCH rv=12 bookmarks\n");
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    expect_requests(run, "LIST rv=15 match=NotOlderThan limit=500\n");
    scripted_whole(&run->source, LIST("13", "", POD("a", "5")));
    reflector_run_wait_ms(run, 0);
    expect_requests(run, "cancel\nLIST rv= limit=500\n");
    expect_changes(run, "");
    scripted_whole(&run->source, LIST("15", "", ""));
    expect_changes(run, "END 3 15\n");
    expect_errors(run, "Expired 410\nStale\n");
    restart(run, "15");
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    expect_requests(run, "WATCH rv=15 bookmarks\nLIST rv=15 match=NotOlderThan limit=500\n");
}

static void a_second_restart_still_knows_the_received_version(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_body(&run->source, EVENT("ADDED", POD("b", "15")) EVENT("NEW", POD("c", "16")));
    restart(run, "");
    expect_requests(run, "LIST rv=15 match=NotOlderThan limit=500\n");
    restart(run, "");
    expect_requests(run, "LIST rv=15 match=NotOlderThan limit=500\n");
}

/* The consumer has reached 12 and would accept an end at 13. */
static void a_stream_older_than_what_was_received_has_no_end(void **state)
{
    reflector_run *run = *state;
    run->informer.watch_list = KI_WATCH_LIST_ALWAYS;
    reflector_run_start(run, "");
    scripted_body(&run->source,
                  END_OF_LIST("10") EVENT("ADDED", POD("b", "15")) EVENT("NEW", POD("c", "16")));
    restart(run, "12");
    expect_requests(run, "STREAM rv=15 match=NotOlderThan bookmarks\n");
    scripted_body(&run->source, EVENT("ADDED", POD("a", "5")) END_OF_LIST("13"));
    reflector_run_wait_ms(run, 0);
    expect_changes(run, "REPLACED 2 d/a@5\n");
    expect_requests(run, "cancel\nSTREAM rv= match=NotOlderThan bookmarks\n");
}

static void another_history_forgets_the_received_version(void **state)
{
    reflector_run *run = *state;
    restart_behind(run);
    reflector_run_wait_ms(run, 10000);
    scripted_probe_whole(&run->source, LIST("14", "", ""));
    expect_errors(run, "HistoryReset\n");
    scripted_whole(&run->source, LIST("14", "", ""));
    expect_changes(run, "RESET 2\nEND 2 14\n");
}

/* The end of the first list was dropped with the queue: for the consumer, no list of
 * the new history has ended. */
static void after_a_reset_the_newest_version_is_requested_until_a_list_was_applied(void **state)
{
    reflector_run *run = *state;
    meet_another_history(run);
    scripted_whole(&run->source, LIST("4", "", ""));
    expect_changes(run, "RESET 1\nEND 1 4\n");
    restart(run, "");
    expect_requests(run, "LIST rv= limit=500\n");
}

/* A feed drops RESET while it is being stopped. */
static void a_reset_whose_list_has_not_ended_is_reported_again(void **state)
{
    reflector_run *run = *state;
    meet_another_history(run);
    expect_changes(run, "RESET 1\n");
    restart(run, "");
    expect_requests(run, "LIST rv= limit=500\n");
    scripted_whole(&run->source, LIST("40", "", "")); /* the new history has passed 33 */
    expect_changes(run, "RESET 2\nEND 2 40\n");
}

/* There is no version of the old history to fall back to. */
static void a_new_history_requires_the_newest_version(void **state)
{
    reflector_run *run = *state;
    meet_another_history(run);
    restart(run, "");
    reflector_run_fail(run, 500, 3);
    expect_requests(run, "LIST rv= limit=500\nLIST rv= limit=500\nLIST rv= limit=500\nLIST rv= limit=500\n");
}

/* The watch from 12 brings changes since 12 from a server that has another history and is at version 14. */
static void events_older_than_what_was_received_do_not_prove_the_history(void **state)
{
    reflector_run *run = *state;
    restart_behind(run);
    scripted_body(&run->source, EVENT("ADDED", POD("x", "13")));
    text_log_clear(&run->source.requests);
    reflector_run_wait_ms(run, 10000);
    expect_requests(run, "LIST rv= limit=1\n");
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
        reflector_test(a_restart_continues_from_the_applied_version),
        reflector_test(a_restart_does_not_require_the_newest_version),
        reflector_test(a_reset_that_was_not_reported_is_reported_after_a_restart),
        reflector_test(after_a_reset_the_newest_version_is_requested_until_a_list_has_ended),
        reflector_test(a_restart_resets_the_backoff),
        reflector_test(a_restart_retries_an_expired_version_at_once),
        reflector_test(a_restart_forgets_the_lack_of_space),
        reflector_test(a_list_that_was_due_is_still_due_after_a_restart),
        reflector_test(lists_after_a_restart_are_not_older_than_what_was_received),
        reflector_test(a_second_restart_still_knows_the_received_version),
        reflector_test(a_stream_older_than_what_was_received_has_no_end),
        reflector_test(another_history_forgets_the_received_version),
        reflector_test(after_a_reset_the_newest_version_is_requested_until_a_list_was_applied),
        reflector_test(a_reset_whose_list_has_not_ended_is_reported_again),
        reflector_test(a_new_history_requires_the_newest_version),
        reflector_test(events_older_than_what_was_received_do_not_prove_the_history),
        reflector_test(the_head_of_a_watch_is_not_a_success),
    };
    return RUN_TESTS(tests);
}
