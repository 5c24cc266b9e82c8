/* SPDX-License-Identifier: Apache-2.0 */
/* A list that is streamed, and how long its end is waited for. */
#include "support/reflector/reflector_run.h"
#include "support/unit.h"

/* A list is due although a version is known: such lists are streamed. */
static void start_auto(reflector_run *run)
{
    run->informer.watch_list = KI_WATCH_LIST_AUTO;
    reflector_run_start_listing(run, "1");
}

static void a_list_is_news_and_health(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_with(run, KI_WATCH_LIST_ALWAYS);
    for (int i = 0; i < 3; i++) {
        scripted_cut(&run->source, KI_REASON_CONNECTION_REFUSED);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    }
    scripted_body(&run->source, END_OF_LIST("10"));
    reflector_run_wait_ms(run, 120 * 1000);
    scripted_cut(&run->source, KI_REASON_CONNECTION_LOST);
    assert_in_range(run->last_retry_ms, 100, 999);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_cut(&run->source, KI_REASON_CONNECTION_REFUSED);
    assert_in_range(run->last_retry_ms, 800, 1600);
}

static void two_ends_without_a_list_lead_to_a_list_for_ten_minutes(void **state)
{
    reflector_run *run = *state;
    start_auto(run);
    scripted_whole(&run->source, EVENT("ADDED", POD("a", "5")));
    expect_errors(run, "NoEndOfList\n");
    assert_true(run->last_retry_ms >= 800);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    text_log_clear(&run->source.requests);
    scripted_whole(&run->source, EVENT("ADDED", POD("a", "5")));
    expect_errors(run, "NoEndOfList\n");
    expect_requests(run, "LIST rv=1 match=NotOlderThan limit=500\n");
    expect_changes(run, "REPLACED 1 d/a@5\nREPLACED 2 d/a@5\n");
    scripted_whole(&run->source, LIST("10", "", ""));
    expect_changes(run, "END 3 10\n");
    text_log_clear(&run->source.requests);
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    expect_requests(run, "LIST rv=10 match=NotOlderThan limit=500\n");
    scripted_whole(&run->source, LIST("10", "", ""));
    reflector_run_wait_ms(run, 300 * 1000);
    scripted_body(&run->source, EVENT("ADDED", POD("b", "11")));
    scripted_end(&run->source);
    reflector_run_wait_ms(run, 300 * 1000);
    text_log_clear(&run->source.requests);
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    expect_requests(run, "STREAM rv=11 match=NotOlderThan bookmarks\n");
    scripted_whole(&run->source, "");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "STREAM rv=11 match=NotOlderThan bookmarks\n");
}

static void a_bookmark_before_the_end_is_ignored(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_with(run, KI_WATCH_LIST_ALWAYS);
    scripted_body(&run->source,
                  EVENT("ADDED", POD("a", "5")) BOOKMARK("8") EVENT("ADDED", POD("b", "9")) END_OF_LIST("9"));
    expect_changes(run, "REPLACED 1 d/a@5\nREPLACED 1 d/b@9\nEND 1 9\n");
    expect_errors(run, "");
}

static void a_bookmark_before_the_end_does_not_count_as_progress(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_with(run, KI_WATCH_LIST_ALWAYS);
    reflector_run_wait_ms(run, 6000);
    scripted_body(&run->source, BOOKMARK("8") EVENT("ADDED", POD("a", "5")) BOOKMARK("8"));
    reflector_run_wait_ms(run, 6000);
    scripted_body(&run->source, BOOKMARK("8"));
    reflector_run_wait_ms(run, 3999);
    expect_errors(run, "");
    reflector_run_wait_ms(run, 1);
    expect_errors(run, "NoEndOfList\n");
    expect_changes(run, "REPLACED 1 d/a@5\n");
}

/* Neither does something that may not be an item at all: a gateway that talks for ten minutes would keep it
 * from syncing. */
static void nonsense_before_the_end_does_not_count_as_progress(void **state)
{
    static const char *const texts[] = {
        EVENT("NEW", POD("b", "6")),
        "{\"object\":" POD("b", "6") "}\n",
        EVENT("ADDED", "{\"metadata\":{\"name\":5}}"),
        EVENT("DELETED", "{\"metadata\":{}}"),
        EVENT("ADDED", "{\"kind\":\"Service\",\"metadata\":{\"namespace\":\"d\",\"name\":\"b\","
                       "\"resourceVersion\":\"5\"}}"),
    };
    reflector_run *run = *state;
    reflector_run_start_with(run, KI_WATCH_LIST_ALWAYS);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        scripted_body(&run->source, EVENT("ADDED", POD("a", "5")));
        reflector_run_wait_ms(run, 6000);
        scripted_body(&run->source, texts[i]);
        text_log_clear(&run->errors);
        reflector_run_wait_ms(run, 3999);
        expect_errors(run, "");
        reflector_run_wait_ms(run, 1);
        expect_errors(run, "NoEndOfList\n");
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
        assert_int_equal(reflector_run_status(run).phase, KI_PHASE_STREAMING_LIST);
        scripted_head(&run->source, 200, 0);
    }
}

static void an_item_that_cannot_be_used_is_a_sign_of_life(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_with(run, KI_WATCH_LIST_ALWAYS);
    for (int i = 0; i < 4; i++) {
        reflector_run_wait_ms(run, 9000);
        scripted_body(&run->source, EVENT("ADDED", "{\"metadata\":{\"namespace\":\"d\",\"name\":\"b\","
                                                   "\"labels\":7}}"));
        expect_errors(run, "Malformed d/b\n");
    }
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_STREAMING_LIST);
}

/* An old server, and a collection in which something always happens. */
static void a_bookmark_after_a_minute_is_of_a_server_without_an_end(void **state)
{
    reflector_run *run = *state;
    start_auto(run);
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < 10; i++) {
            reflector_run_wait_ms(run, 5900);
            scripted_body(&run->source, EVENT("MODIFIED", POD("a", "5")) BOOKMARK("8"));
        }
        expect_errors(run, "");
        reflector_run_wait_ms(run, 1000);
        scripted_body(&run->source, BOOKMARK("8"));
        expect_errors(run, "NoEndOfList\n");
        text_log_clear(&run->source.requests);
        reflector_run_wait_ms(run, 1600);
    }
    expect_requests(run, "LIST rv=1 match=NotOlderThan limit=500\n");
}

/* As with a LIST: a minute with next to nothing is as good as silence. */
static void a_stream_that_trickles_is_given_up(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_with(run, KI_WATCH_LIST_ALWAYS);
    scripted_head(&run->source, 200, 0);
    for (int i = 0; i < 60; i++) {
        scripted_body(&run->source, i == 0 ? "{" : " ");
        reflector_run_wait_ms(run, 1000 - (i == 59));
    }
    expect_errors(run, "");
    reflector_run_wait_ms(run, 1);
    expect_errors(run, "NoEndOfList\n");
}

static void after_a_pause_a_bookmark_takes_no_time_back(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_with(run, KI_WATCH_LIST_ALWAYS);
    run->is_full = 1;
    scripted_body(&run->source, EVENT("ADDED", POD("a", "5")));
    reflector_run_wait_ms(run, 100 * 1000);
    run->is_full = 0;
    ki_reflector_resume(&run->reflector);
    scripted_body(&run->source, BOOKMARK("8"));
    reflector_run_wait_ms(run, 9999);
    expect_errors(run, "");
    reflector_run_wait_ms(run, 1);
    expect_errors(run, "NoEndOfList\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        reflector_test(a_list_is_news_and_health),
        reflector_test(two_ends_without_a_list_lead_to_a_list_for_ten_minutes),
        reflector_test(a_bookmark_before_the_end_is_ignored),
        reflector_test(a_bookmark_before_the_end_does_not_count_as_progress),
        reflector_test(nonsense_before_the_end_does_not_count_as_progress),
        reflector_test(an_item_that_cannot_be_used_is_a_sign_of_life),
        reflector_test(a_bookmark_after_a_minute_is_of_a_server_without_an_end),
        reflector_test(a_stream_that_trickles_is_given_up),
        reflector_test(after_a_pause_a_bookmark_takes_no_time_back),
    };
    return RUN_TESTS(tests);
}
