/* SPDX-License-Identifier: Apache-2.0 */
/* Silent watches, and servers that were restored from a backup. */
#include "support/reflector/reflector_run.h"
#include "support/unit.h"

/* A watch from version 10 after a lost connection. */
static void reconnect(reflector_run *run)
{
    reflector_run_start_watching(run);
    scripted_cut(&run->source, KI_REASON_CONNECTION_LOST);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "WATCH rv=10 bookmarks\n");
    expect_errors(run, "ConnectionLost\n");
}

static void a_silent_watch_after_a_failure_is_probed(void **state)
{
    reflector_run *run = *state;
    reconnect(run);
    scripted_head(&run->source, 200, 0);
    reflector_run_wait_ms(run, 9999);
    expect_requests(run, "");
    reflector_run_wait_ms(run, 1);
    expect_requests(run, "LIST rv= limit=1\n");
    scripted_probe_whole(&run->source, LIST("10", "t", POD("a", "5")));
    expect_requests(run, "");
    reflector_run_wait_ms(run, 200 * 1000);
    expect_requests(run, "");
    expect_errors(run, "");
    expect_changes(run, "");
}

/* The response tells which history the server has, but not what has changed. */
static void a_response_to_the_probe_is_not_a_success(void **state)
{
    reflector_run *run = *state;
    reconnect(run);
    uint64_t age_ms = reflector_run_status(run).success_age_ms;
    scripted_head(&run->source, 200, 0);
    reflector_run_wait_ms(run, 10000);
    scripted_probe_whole(&run->source, LIST("10", "t", POD("a", "5")));
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_WATCHING);
    assert_int_equal(reflector_run_status(run).success_age_ms, age_ms + 10000);
    scripted_body(&run->source, BOOKMARK("10"));
    assert_int_equal(reflector_run_status(run).success_age_ms, 0);
}

static void a_watch_that_receives_something_is_not_probed(void **state)
{
    reflector_run *run = *state;
    reconnect(run);
    scripted_body(&run->source, BOOKMARK("11"));
    reflector_run_wait_ms(run, 100 * 1000);
    expect_requests(run, "");
}

static void a_watch_after_a_list_is_not_probed(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    reflector_run_wait_ms(run, 200 * 1000);
    expect_requests(run, "");
}

static void a_watch_after_a_list_needs_no_probe_even_after_a_failure(void **state)
{
    reflector_run *run = *state;
    reconnect(run);
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    scripted_whole(&run->source, LIST("12", "", ""));
    expect_requests(run, "LIST rv=10 match=NotOlderThan limit=500\nWATCH rv=12 bookmarks\n");
    reflector_run_wait_ms(run, 100 * 1000);
    expect_requests(run, "");
}

static void a_watch_after_a_server_error_is_probed(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_error(&run->source, 503, "");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    reflector_run_wait_ms(run, 10000);
    expect_requests(run, "WATCH rv=10 bookmarks\nLIST rv= limit=1\n");
}

static void a_watch_after_a_restart_is_probed(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "33");
    reflector_run_wait_ms(run, 10000);
    expect_requests(run, "WATCH rv=33 bookmarks\nLIST rv= limit=1\n");
}

static void a_restored_server_is_relisted(void **state)
{
    reflector_run *run = *state;
    run->source.is_bytewise = 1;
    reconnect(run);
    reflector_run_wait_ms(run, 10000);
    scripted_probe_whole(&run->source, LIST("4", "", POD("z", "3")));
    expect_errors(run, "HistoryReset\n");
    expect_requests(run, "LIST rv= limit=1\ncancel\nLIST rv= limit=500\n");
    expect_changes(run, "RESET 2\n");
    scripted_whole(&run->source, LIST("4", "", POD("z", "3")));
    expect_changes(run, "REPLACED 2 d/z@3\nEND 2 4\n");
    expect_requests(run, "WATCH rv=4 bookmarks\n");
}

static void changes_received_during_a_probe_do_not_count(void **state)
{
    reflector_run *run = *state;
    reconnect(run);
    reflector_run_wait_ms(run, 10000);
    scripted_body(&run->source, EVENT("ADDED", POD("b", "15")));
    scripted_probe_whole(&run->source, LIST("12", "", ""));
    expect_errors(run, "");
    expect_changes(run, "ADDED d/b@15 15\n");
}

static void a_probe_of_a_server_without_pages_is_not_read_to_the_end(void **state)
{
    reflector_run *run = *state;
    reconnect(run);
    reflector_run_wait_ms(run, 10000);
    text_log_clear(&run->source.requests);
    assert_int_equal(ki_answer_body(run->source.probe, LIST("10", "", POD("a", "5") "," POD("b", "6")),
                                    sizeof(LIST("10", "", POD("a", "5") "," POD("b", "6"))) - 1),
                     KI_ERR_NOT_FOUND);
    expect_requests(run, "cancel probe\n");
    expect_errors(run, "");
    reflector_run_wait_ms(run, 100 * 1000);
    expect_requests(run, "");
}

static void a_restored_server_without_pages_is_detected(void **state)
{
    reflector_run *run = *state;
    static const char body[] = LIST("4", "", POD("a", "1") "," POD("b", "2"));
    reconnect(run);
    reflector_run_wait_ms(run, 10000);
    assert_int_equal(ki_answer_body(run->source.probe, body, sizeof(body) - 1), KI_ERR_NOT_FOUND);
    expect_errors(run, "HistoryReset\n");
}

static void a_probe_uses_the_same_selectors(void **state)
{
    reflector_run *run = *state;
    run->informer.label_selector = "app=web";
    reflector_run_start(run, "33");
    reflector_run_wait_ms(run, 10000);
    expect_requests(run, "WATCH rv=33 labels=app=web bookmarks\nLIST rv= limit=1 labels=app=web\n");
}

static void a_probe_is_rate_limited(void **state)
{
    reflector_run *run = *state;
    reconnect(run);
    reflector_run_wait_ms(run, 9999);
    for (int i = 0; i < 5; i++)
        assert_true(ki_token_bucket_take(&run->reflector.bucket, ki_clock_now_ns(&run->clock)) == 0);
    reflector_run_wait_ms(run, 999);
    expect_requests(run, "");
    reflector_run_wait_ms(run, 1);
    expect_requests(run, "LIST rv= limit=1\n");
}

static void a_failed_probe_is_repeated(void **state)
{
    reflector_run *run = *state;
    reconnect(run);
    reflector_run_wait_ms(run, 10000);
    scripted_probe_cut(&run->source, KI_REASON_CONNECTION_REFUSED);
    expect_requests(run, "LIST rv= limit=1\n");
    reflector_run_wait_ms(run, 30000);
    expect_requests(run, "LIST rv= limit=1\n");
    reflector_run_wait_ms(run, 60000);
    expect_requests(run, "cancel probe\n");
    reflector_run_wait_ms(run, 30000);
    expect_requests(run, "LIST rv= limit=1\n");
    expect_errors(run, "ConnectionRefused\nTimeout\n");
    scripted_head(&run->source, 200, 0);
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_WATCHING);
}

/* A watch that received two bookmarks, this many seconds apart. */
static void watch_with_bookmarks(reflector_run *run, uint64_t seconds)
{
    reflector_run_start_watching(run);
    scripted_body(&run->source, BOOKMARK("11"));
    reflector_run_wait_ms(run, seconds * 1000);
    scripted_body(&run->source, BOOKMARK("12"));
    expect_changes(run, "BOOKMARK 11\nBOOKMARK 12\n");
}

static void a_watch_without_its_bookmarks_is_cut_and_resumed(void **state)
{
    reflector_run *run = *state;
    watch_with_bookmarks(run, 10);
    reflector_run_wait_ms(run, 180 * 1000 - 1);
    expect_requests(run, "");
    reflector_run_wait_ms(run, 1);
    expect_requests(run, "LIST rv= limit=1\n");
    scripted_probe_whole(&run->source, LIST("12", "", ""));
    expect_errors(run, "Silent\n");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "cancel\nWATCH rv=12 bookmarks\n");
}

static void three_bookmark_intervals_may_be_longer(void **state)
{
    reflector_run *run = *state;
    watch_with_bookmarks(run, 70);
    reflector_run_wait_ms(run, 210 * 1000 - 1);
    expect_requests(run, "");
    reflector_run_wait_ms(run, 1);
    expect_requests(run, "LIST rv= limit=1\n");
}

static void a_silent_watch_is_cut_even_if_the_probe_fails(void **state)
{
    reflector_run *run = *state;
    watch_with_bookmarks(run, 10);
    reflector_run_wait_ms(run, 180 * 1000);
    scripted_probe_cut(&run->source, KI_REASON_CONNECTION_LOST);
    expect_errors(run, "ConnectionLost\nSilent\n");
    expect_requests(run, "LIST rv= limit=1\ncancel\n");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "WATCH rv=12 bookmarks\n");
}

static void a_silent_watch_on_a_restored_server_is_detected(void **state)
{
    reflector_run *run = *state;
    watch_with_bookmarks(run, 10);
    reflector_run_wait_ms(run, 180 * 1000);
    scripted_probe_whole(&run->source, LIST("4", "", ""));
    expect_errors(run, "HistoryReset\n");
    expect_changes(run, "RESET 2\n");
}

static void one_bookmark_is_enough_to_expect_more(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_body(&run->source, BOOKMARK("11"));
    reflector_run_wait_ms(run, 180 * 1000);
    expect_requests(run, "LIST rv= limit=1\n");
}

static void bookmarks_are_remembered_for_the_next_watch(void **state)
{
    reflector_run *run = *state;
    watch_with_bookmarks(run, 10);
    scripted_end(&run->source);
    text_log_clear(&run->source.requests);
    reflector_run_wait_ms(run, 180 * 1000);
    expect_requests(run, "LIST rv= limit=1\n");
}

static void silence_does_not_count_for_probes_while_there_is_no_space(void **state)
{
    reflector_run *run = *state;
    watch_with_bookmarks(run, 10);
    run->is_full = 1;
    scripted_body(&run->source, BOOKMARK("13"));
    reflector_run_wait_ms(run, 3600 * 1000);
    expect_requests(run, "");
    ki_reflector_resume(&run->reflector);
    expect_requests(run, "resume\n");
    reflector_run_wait_ms(run, 1000);
    assert_int_equal(run->source.probe == NULL, 1);
}

/* Pauses the reflector for lack of space. */
static void pause_for(reflector_run *run, uint64_t seconds)
{
    run->is_full = 1;
    scripted_body(&run->source, EVENT("ADDED", POD("b", "13")));
    reflector_run_wait_ms(run, seconds * 1000);
    run->is_full = 0;
    ki_reflector_resume(&run->reflector);
    text_log_clear(&run->source.requests);
}

static void a_pause_between_bookmarks_is_not_their_interval(void **state)
{
    reflector_run *run = *state;
    watch_with_bookmarks(run, 70);
    pause_for(run, 200);
    scripted_body(&run->source, BOOKMARK("14") BOOKMARK("15"));
    reflector_run_wait_ms(run, 210 * 1000 - 1);
    expect_requests(run, "");
    reflector_run_wait_ms(run, 1);
    expect_requests(run, "LIST rv= limit=1\n");
}

static void a_pause_of_the_list_does_not_affect_the_watch(void **state)
{
    reflector_run *run = *state;
    run->informer.watch_list = KI_WATCH_LIST_ALWAYS;
    reflector_run_start(run, "");
    run->is_full = 1;
    scripted_body(&run->source, EVENT("ADDED", POD("a", "5")));
    run->is_full = 0;
    ki_reflector_resume(&run->reflector);
    scripted_body(&run->source, END_OF_LIST("10") BOOKMARK("11"));
    reflector_run_wait_ms(run, 70 * 1000);
    scripted_body(&run->source, BOOKMARK("12"));
    text_log_clear(&run->source.requests);
    reflector_run_wait_ms(run, 210 * 1000 - 1);
    expect_requests(run, "");
    reflector_run_wait_ms(run, 1);
    expect_requests(run, "LIST rv= limit=1\n");
}

static void a_watch_that_ends_cancels_the_probe(void **state)
{
    reflector_run *run = *state;
    reconnect(run);
    reflector_run_wait_ms(run, 10000);
    scripted_end(&run->source);
    expect_requests(run, "LIST rv= limit=1\ncancel probe\nWATCH rv=10 bookmarks\n");
}

static void a_watch_that_ends_with_an_error_cancels_the_probe(void **state)
{
    reflector_run *run = *state;
    reconnect(run);
    reflector_run_wait_ms(run, 10000);
    scripted_body(&run->source, EVENT("ERROR", STATUS("410", "Expired")));
    reflector_run_wait_ms(run, 0);
    expect_requests(run, "LIST rv= limit=1\ncancel\ncancel probe\nLIST rv=10 match=NotOlderThan limit=500\n");
}

static void a_list_that_is_due_cancels_the_probe(void **state)
{
    reflector_run *run = *state;
    reconnect(run);
    reflector_run_wait_ms(run, 10000);
    scripted_body(&run->source, EVENT("NEW", "{}"));
    reflector_run_wait_ms(run, 3200);
    expect_requests(run, "LIST rv= limit=1\ncancel\ncancel probe\nLIST rv=10 match=NotOlderThan limit=500\n");
}

static void a_halt_cancels_the_watch_and_the_probe(void **state)
{
    reflector_run *run = *state;
    reconnect(run);
    reflector_run_wait_ms(run, 10000);
    ki_reflector_halt(&run->reflector);
    expect_requests(run, "LIST rv= limit=1\ncancel\ncancel probe\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        reflector_test(a_silent_watch_after_a_failure_is_probed),
        reflector_test(a_response_to_the_probe_is_not_a_success),
        reflector_test(a_watch_that_receives_something_is_not_probed),
        reflector_test(a_watch_after_a_list_is_not_probed),
        reflector_test(a_watch_after_a_list_needs_no_probe_even_after_a_failure),
        reflector_test(a_watch_after_a_server_error_is_probed),
        reflector_test(a_watch_after_a_restart_is_probed),
        reflector_test(a_restored_server_is_relisted),
        reflector_test(changes_received_during_a_probe_do_not_count),
        reflector_test(a_probe_of_a_server_without_pages_is_not_read_to_the_end),
        reflector_test(a_restored_server_without_pages_is_detected),
        reflector_test(a_probe_uses_the_same_selectors),
        reflector_test(a_probe_is_rate_limited),
        reflector_test(a_failed_probe_is_repeated),
        reflector_test(a_watch_without_its_bookmarks_is_cut_and_resumed),
        reflector_test(three_bookmark_intervals_may_be_longer),
        reflector_test(a_silent_watch_is_cut_even_if_the_probe_fails),
        reflector_test(a_silent_watch_on_a_restored_server_is_detected),
        reflector_test(one_bookmark_is_enough_to_expect_more),
        reflector_test(bookmarks_are_remembered_for_the_next_watch),
        reflector_test(silence_does_not_count_for_probes_while_there_is_no_space),
        reflector_test(a_pause_between_bookmarks_is_not_their_interval),
        reflector_test(a_pause_of_the_list_does_not_affect_the_watch),
        reflector_test(a_watch_that_ends_cancels_the_probe),
        reflector_test(a_watch_that_ends_with_an_error_cancels_the_probe),
        reflector_test(a_list_that_is_due_cancels_the_probe),
        reflector_test(a_halt_cancels_the_watch_and_the_probe),
    };
    return RUN_TESTS(tests);
}
