/* SPDX-License-Identifier: Apache-2.0 */
/* Which list is requested: of which version, and plain or streamed. */
#include <string.h>

#include "support/reflector/reflector_run.h"
#include "support/unit.h"

static void the_first_list_is_a_plain_one_and_the_next_is_streamed(void **state)
{
    reflector_run *run = *state;
    run->informer.watch_list = KI_WATCH_LIST_AUTO;
    reflector_run_start_watching(run);
    text_log_clear(&run->source.requests);
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    expect_requests(run, "STREAM rv=10 match=NotOlderThan bookmarks\n");
}

static void the_newest_version_is_streamed_at_first_as_well(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_with(run, KI_WATCH_LIST_AUTO);
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    expect_requests(run, "LIST rv=0 limit=500\nSTREAM rv= match=NotOlderThan bookmarks\n");
}

static void a_first_list_that_fails_and_a_stream_are_tried_by_turns(void **state)
{
    reflector_run *run = *state;
    static const int codes[] = {503, 403, 404, 429};
    reflector_run_start_with(run, KI_WATCH_LIST_AUTO);
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        text_log_clear(&run->source.requests);
        scripted_error(&run->source, codes[i], "");
        assert_true(run->last_retry_ms >= 800);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
        expect_requests(run, "STREAM rv= match=NotOlderThan bookmarks\n");
        reflector_run_fail(run, codes[i], 1);
        expect_requests(run, "LIST rv=0 limit=500\n");
    }
}

static void a_stream_in_the_place_of_a_first_list_syncs(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_with(run, KI_WATCH_LIST_AUTO);
    reflector_run_fail(run, 500, 1);
    scripted_body(&run->source, EVENT("ADDED", POD("a", "5")) END_OF_LIST("10"));
    expect_changes(run, "REPLACED 2 d/a@5\nEND 2 10\n");
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_WATCHING);
}

static void a_first_list_that_was_not_sent_is_tried_again(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_with(run, KI_WATCH_LIST_AUTO);
    for (int i = 0; i < 3; i++) {
        text_log_clear(&run->source.requests);
        scripted_cut(&run->source, KI_REASON_CONNECTION_REFUSED);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
        expect_requests(run, "LIST rv=0 limit=500\n");
    }
}

/* Answers what is requested with 504 until it is a list of the newest version. */
static void refuse_until_newest(reflector_run *run)
{
    text_log *requests = &run->source.requests;
    for (int i = 0; i < 8 && strstr(requests->text, "LIST rv= limit=500\n") == NULL; i++)
        reflector_run_fail(run, 504, 1);
}

static void a_first_list_of_the_newest_version_is_tried_last(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_with(run, KI_WATCH_LIST_AUTO);
    refuse_until_newest(run);
    expect_requests(run, "LIST rv=0 limit=500\nSTREAM rv= match=NotOlderThan bookmarks\n"
                         "LIST rv=0 limit=500\nSTREAM rv= match=NotOlderThan bookmarks\n"
                         "LIST rv= limit=500\n");
    scripted_whole(&run->source, LIST("10", "", POD("a", "5")));
    expect_changes(run, "REPLACED 5 d/a@5\nEND 5 10\n");
}

static void first_lists_of_any_and_of_the_newest_version_are_tried_by_turns(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    reflector_run_fail(run, 504, 5);
    expect_requests(run, "LIST rv=0 limit=500\nLIST rv=0 limit=500\nLIST rv= limit=500\n"
                         "LIST rv=0 limit=500\nLIST rv= limit=500\nLIST rv=0 limit=500\n");
}

/* etcd may have no leader while the cache of the server still works, or the other way round. */
static void lists_of_the_newest_version_and_not_older_ones_are_tried_by_turns(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_listing(run, "33");
    reflector_run_fail(run, 500, 4);
    expect_requests(run, "LIST rv=33 match=NotOlderThan limit=500\n"
                         "LIST rv=33 match=NotOlderThan limit=500\nLIST rv= limit=500\n"
                         "LIST rv=33 match=NotOlderThan limit=500\nLIST rv= limit=500\n");
}

static void the_newest_version_is_not_insisted_on(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_listing(run, "33");
    scripted_error(&run->source, 504, TOO_LARGE);
    expect_requests(run, "LIST rv=33 match=NotOlderThan limit=500\nLIST rv= limit=500\n");
    reflector_run_fail(run, 500, 1);
    expect_requests(run, "LIST rv=33 match=NotOlderThan limit=500\n");
    scripted_error(&run->source, 504, TOO_LARGE);
    expect_requests(run, ""); /* not at once again */
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "LIST rv= limit=500\n");
    reflector_run_fail(run, 500, 1);
    scripted_whole(&run->source, LIST("33", "", POD("a", "5")));
    expect_changes(run, "REPLACED 5 d/a@5\nEND 5 33\n");
}

/* A first list of any version that was expired once is used again when
 * the newest one fails. */
static void the_newest_version_is_not_insisted_on_for_a_first_list(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    expect_requests(run, "LIST rv=0 limit=500\nLIST rv= limit=500\n");
    reflector_run_fail(run, 500, 1);
    expect_requests(run, "LIST rv=0 limit=500\n");
}

static void streams_of_the_newest_version_and_not_older_ones_are_tried_by_turns(void **state)
{
    reflector_run *run = *state;
    run->informer.watch_list = KI_WATCH_LIST_ALWAYS;
    reflector_run_start_listing(run, "33");
    reflector_run_fail(run, 500, 3);
    expect_requests(run, "STREAM rv=33 match=NotOlderThan bookmarks\n"
                         "STREAM rv=33 match=NotOlderThan bookmarks\n"
                         "STREAM rv= match=NotOlderThan bookmarks\n"
                         "STREAM rv=33 match=NotOlderThan bookmarks\n");
}

static void the_newest_version_of_a_stream_is_not_insisted_on(void **state)
{
    reflector_run *run = *state;
    run->informer.watch_list = KI_WATCH_LIST_ALWAYS;
    reflector_run_start_listing(run, "33");
    scripted_error(&run->source, 504, TOO_LARGE);
    reflector_run_fail(run, 500, 2);
    expect_requests(run, "STREAM rv=33 match=NotOlderThan bookmarks\n"
                         "STREAM rv= match=NotOlderThan bookmarks\n"
                         "STREAM rv=33 match=NotOlderThan bookmarks\n"
                         "STREAM rv= match=NotOlderThan bookmarks\n");
}

/* A LIST not older than what was received would do: its metadata come first. */
static void a_doubted_list_does_not_insist_on_the_newest_version(void **state)
{
    reflector_run *run = *state;
    run->informer.watch_list = KI_WATCH_LIST_AUTO;
    reflector_run_start_listing(run, "33");
    scripted_body(&run->source, EVENT("ADDED", POD("b", "6")));
    ki_reflector_doubt_list(&run->reflector, 1);
    run->informer.watch_list = KI_WATCH_LIST_NEVER;
    text_log_clear(&run->source.requests);
    reflector_run_fail(run, 500, 6);
    assert_non_null(strstr(run->source.requests.text, "rv=33"));
}

static void a_busy_server_is_not_asked_for_the_newest_version(void **state)
{
    reflector_run *run = *state;
    static const int codes[] = {429, 401, 403, 404};
    reflector_run_start(run, "");
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        text_log_clear(&run->source.requests);
        reflector_run_fail(run, codes[i], 1);
        expect_requests(run, "LIST rv=0 limit=500\n");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        reflector_test(the_first_list_is_a_plain_one_and_the_next_is_streamed),
        reflector_test(the_newest_version_is_streamed_at_first_as_well),
        reflector_test(a_first_list_that_fails_and_a_stream_are_tried_by_turns),
        reflector_test(a_stream_in_the_place_of_a_first_list_syncs),
        reflector_test(a_first_list_that_was_not_sent_is_tried_again),
        reflector_test(a_first_list_of_the_newest_version_is_tried_last),
        reflector_test(first_lists_of_any_and_of_the_newest_version_are_tried_by_turns),
        reflector_test(lists_of_the_newest_version_and_not_older_ones_are_tried_by_turns),
        reflector_test(the_newest_version_is_not_insisted_on),
        reflector_test(the_newest_version_is_not_insisted_on_for_a_first_list),
        reflector_test(streams_of_the_newest_version_and_not_older_ones_are_tried_by_turns),
        reflector_test(the_newest_version_of_a_stream_is_not_insisted_on),
        reflector_test(a_doubted_list_does_not_insist_on_the_newest_version),
        reflector_test(a_busy_server_is_not_asked_for_the_newest_version),
    };
    return RUN_TESTS(tests);
}
