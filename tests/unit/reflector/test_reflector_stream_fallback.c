/* SPDX-License-Identifier: Apache-2.0 */
/* Streamed lists that fail: when plain lists replace them, and for how long. */
#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>

#include "support/decode/recorded.h"
#include "support/reflector/reflector_run.h"
#include "support/unit.h"
#include "util/units.h"

/* A list is requested although a version is known: such a list is streamed. */
static void start(reflector_run *run, ki_watch_list choice)
{
    run->informer.watch_list = (ki_watch_list)choice;
    reflector_run_start_listing(run, "1");
}

static void two_lost_connections_before_the_end_lead_to_a_list(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WATCH_LIST_AUTO);
    for (int i = 0; i < 2; i++) {
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
        scripted_body(&run->source, EVENT("ADDED", POD("a", "5")));
        scripted_cut(&run->source, KI_REASON_CONNECTION_LOST);
    }
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_LISTING);
}

/* Like a gateway that does not support streams. */
static void two_failures_of_any_kind_lead_to_a_list(void **state)
{
    reflector_run *run = *state;
    static const int codes[] = {500, 502, 503, 504, 501, 302, 409};
    start(run, KI_WATCH_LIST_AUTO);
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        text_log_clear(&run->source.requests);
        scripted_error(&run->source, codes[i], "");
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
        expect_requests(run, "STREAM rv=1 match=NotOlderThan bookmarks\n");
        scripted_head(&run->source, codes[i], 7);
        scripted_end(&run->source);
        assert_int_equal(run->last_retry_ms, 7000);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
        expect_requests(run, "LIST rv=1 match=NotOlderThan limit=500\n");
        ki_reflector_halt(&run->reflector);
        reflector_run_wait_ms(run, 600 * 1000);
        reflector_run_restart(run, "1");
    }
    scripted_cut(&run->source, KI_REASON_CONNECTION_LOST); /* before the head */
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    text_log_clear(&run->source.requests);
    scripted_cut(&run->source, KI_REASON_CONNECTION_LOST);
    expect_requests(run, "LIST rv=1 match=NotOlderThan limit=500\n");
}

static void a_request_that_was_not_sent_says_nothing_about_streams(void **state)
{
    reflector_run *run = *state;
    static const ki_reason reasons[] = {
        KI_REASON_CONNECTION_REFUSED, KI_REASON_DNS,     KI_REASON_TLS,
        KI_REASON_NO_CREDENTIALS,     KI_REASON_TIMEOUT, KI_REASON_CONNECTION_LOST};
    run->tells_sent = 1;
    start(run, KI_WATCH_LIST_AUTO);
    for (size_t i = 0; i < 12; i++) {
        scripted_cut(&run->source, reasons[i / 2]);
        assert_int_equal(reflector_run_status(run).phase, KI_PHASE_BACKING_OFF);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
        assert_int_equal(reflector_run_status(run).phase, KI_PHASE_STREAMING_LIST);
    }
}

static void a_server_that_cannot_be_reached_may_support_streams(void **state)
{
    reflector_run *run = *state;
    static const ki_reason reasons[] = {KI_REASON_CONNECTION_REFUSED, KI_REASON_DNS, KI_REASON_TLS};
    start(run, KI_WATCH_LIST_AUTO);
    for (size_t i = 0; i < 6; i++) {
        scripted_cut(&run->source, reasons[i / 2]);
        assert_int_equal(reflector_run_status(run).phase, KI_PHASE_BACKING_OFF);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
        assert_int_equal(reflector_run_status(run).phase, KI_PHASE_STREAMING_LIST);
    }
}

static void ten_seconds_of_silence_twice_lead_to_a_list(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WATCH_LIST_AUTO);
    scripted_head(&run->source, 200, 0);
    reflector_run_wait_ms(run, 9999);
    expect_errors(run, "");
    reflector_run_wait_ms(run, 1);
    expect_errors(run, "NoEndOfList\n");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_body(&run->source, EVENT("ADDED", POD("a", "5")));
    reflector_run_wait_ms(run, 10000);
    expect_errors(run, "NoEndOfList\n");
    expect_requests(
        run, "STREAM rv=1 match=NotOlderThan bookmarks\ncancel\n"
             "STREAM rv=1 match=NotOlderThan bookmarks\ncancel\nLIST rv=1 match=NotOlderThan limit=500\n");
}

static void the_silence_of_a_stream_begins_when_it_is_sent(void **state)
{
    reflector_run *run = *state;
    run->tells_sent = 1;
    start(run, KI_WATCH_LIST_AUTO);
    for (int i = 0; i < 2; i++) {
        reflector_run_wait_ms(run, 30 * 1000); /* a slow credential plug-in */
        ki_answer_sent(run->source.answer);
        reflector_run_wait_ms(run, 5000);
        if (i == 0)
            scripted_head(&run->source, 200, 0); /* the head says nothing about the list */
        reflector_run_wait_ms(run, 4999);
        expect_errors(run, "");
        reflector_run_wait_ms(run, 1);
        expect_errors(run, i == 0 ? "NoEndOfList\n" : "Timeout\n");
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    }
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_LISTING);
}

static void a_stream_not_sent_within_a_minute_is_abandoned(void **state)
{
    reflector_run *run = *state;
    run->tells_sent = 1;
    start(run, KI_WATCH_LIST_AUTO);
    for (int i = 0; i < 3; i++) {
        reflector_run_wait_ms(run, 59999);
        expect_errors(run, "");
        reflector_run_wait_ms(run, 1);
        expect_errors(run, "Timeout\n");
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
        assert_int_equal(reflector_run_status(run).phase, KI_PHASE_STREAMING_LIST);
    }
}

static void two_streams_without_a_response_lead_to_lists_for_ten_minutes(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WATCH_LIST_AUTO);
    for (int i = 0; i < 2; i++) {
        reflector_run_wait_ms(run, 9999);
        expect_errors(run, "");
        reflector_run_wait_ms(run, 1);
        expect_errors(run, "Timeout\n");
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    }
    expect_requests(
        run, "STREAM rv=1 match=NotOlderThan bookmarks\ncancel\n"
             "STREAM rv=1 match=NotOlderThan bookmarks\ncancel\nLIST rv=1 match=NotOlderThan limit=500\n");
    scripted_whole(&run->source, LIST("10", "", ""));
    text_log_clear(&run->source.requests);
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    expect_requests(run, "LIST rv=10 match=NotOlderThan limit=500\n");
}

static void failures_of_two_resources_stop_streams_for_all(void **state)
{
    reflector_run *run = *state;
    uint64_t now = ki_clock_now_ns(&run->clock);
    ki_stream_memory_note(&run->streams, &KI_APPS_V1_DEPLOYMENTS, now);
    assert_int_equal(run->streams.again_ns, 0);
    start(run, KI_WATCH_LIST_AUTO);
    for (int i = 0; i < 2; i++) {
        scripted_whole(&run->source, EVENT("ADDED", POD("a", "5")));
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    }
    assert_int_equal(run->streams.again_ns, 0); /* the list may also fail */
    scripted_whole(&run->source, LIST("10", "", ""));
    assert_true(run->streams.again_ns > ki_clock_now_ns(&run->clock) + 590 * KI_NS_PER_S);
}

static void failures_of_one_resource_do_not_affect_the_others(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WATCH_LIST_AUTO);
    scripted_error(&run->source, 422, STATUS("422", "Invalid"));
    scripted_whole(&run->source, LIST("10", "", ""));
    assert_int_equal(run->streams.again_ns, 0);
    reflector_run_wait_ms(run, 600 * 1000);
    ki_stream_memory_note(&run->streams, &KI_APPS_V1_DEPLOYMENTS, ki_clock_now_ns(&run->clock));
    assert_int_equal(run->streams.again_ns, 0); /* too late */
}

static void errors_that_a_list_would_also_get_alternate_streams_and_lists(void **state)
{
    reflector_run *run = *state;
    static const int codes[] = {401, 403, 404, 429};
    start(run, KI_WATCH_LIST_AUTO);
    for (size_t i = 0; i < 2 * sizeof(codes) / sizeof(codes[0]); i++) {
        text_log_clear(&run->source.requests);
        scripted_error(&run->source, codes[i / 2], "");
        assert_true(run->last_retry_ms >= 800);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
        expect_requests(run, "LIST rv=1 match=NotOlderThan limit=500\n");
        scripted_error(&run->source, codes[i / 2], "");
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
        expect_requests(run, "STREAM rv=1 match=NotOlderThan bookmarks\n");
    }
    assert_int_equal(run->streams.listed_until_ns, 0);
}

static void permission_to_list_and_not_to_watch_is_enough_to_sync(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WATCH_LIST_AUTO);
    scripted_error(&run->source, 403, STATUS("403", "Forbidden"));
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_whole(&run->source, LIST("10", "", ""));
    expect_changes(run, "END 2 10\n");
}

static void a_server_that_ends_no_streamed_list_is_asked_for_a_plain_one(void **state)
{
    reflector_run *run = *state;
    run->streams.again_ns = ki_clock_now_ns(&run->clock) + 1;
    start(run, KI_WATCH_LIST_AUTO);
    expect_requests(run, "LIST rv=1 match=NotOlderThan limit=500\n");
}

static void an_endless_refusal_does_not_count_as_silence(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WATCH_LIST_AUTO);
    reflector_run_wait_ms(run, 5000);
    scripted_head(&run->source, 403, 0);
    reflector_run_wait_ms(run, 9999);
    expect_errors(run, "");
    reflector_run_wait_ms(run, 1);
    expect_errors(run, "Forbidden 403\n");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(
        run, "STREAM rv=1 match=NotOlderThan bookmarks\ncancel\nLIST rv=1 match=NotOlderThan limit=500\n");
}

static void silence_does_not_count_while_there_is_no_space(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WATCH_LIST_AUTO);
    run->is_full = 1;
    scripted_body(&run->source, EVENT("ADDED", POD("a", "5")));
    reflector_run_wait_ms(run, 100 * 1000);
    expect_errors(run, "");
    ki_reflector_resume(&run->reflector);
    reflector_run_wait_ms(run, 9999);
    expect_errors(run, "");
    reflector_run_wait_ms(run, 1);
    expect_errors(run, "NoEndOfList\n");
}

static void the_end_of_a_list_clears_earlier_failures(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WATCH_LIST_AUTO);
    scripted_whole(&run->source, EVENT("ADDED", POD("a", "5")));
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_body(&run->source, END_OF_LIST("10") EVENT("ERROR", STATUS("500", "InternalError")));
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_whole(&run->source, EVENT("ADDED", POD("a", "5")));
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_STREAMING_LIST);
}

static void a_refusal_leads_to_a_list_at_once(void **state)
{
    reflector_run *run = *state;
    static const int codes[] = {400, 405, 406, 415, 422};
    start(run, KI_WATCH_LIST_AUTO);
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        text_log_clear(&run->source.requests);
        scripted_error(&run->source, codes[i], "");
        assert_int_equal(run->last_retry_ms, 0);
        reflector_run_wait_ms(run, 1000);
        expect_requests(run, "LIST rv=1 match=NotOlderThan limit=500\n");
        reflector_run_wait_ms(run, 5000);
        scripted_error(&run->source, codes[i], "");
        assert_int_equal(reflector_run_status(run).phase, KI_PHASE_BACKING_OFF);
        assert_int_equal(reflector_run_status(run).http_status, codes[i]);
        ki_reflector_halt(&run->reflector);
        reflector_run_wait_ms(run, 600 * 1000);
        reflector_run_restart(run, "1");
    }
}

static void always_means_that_no_plain_list_is_requested(void **state)
{
    reflector_run *run = *state;
    start(run, KI_WATCH_LIST_ALWAYS);
    for (int i = 0; i < 4; i++) {
        if (i < 2)
            scripted_error(&run->source, 422, STATUS("422", "Invalid"));
        else
            scripted_whole(&run->source, "");
        assert_int_equal(reflector_run_status(run).phase, KI_PHASE_BACKING_OFF);
        assert_int_equal(reflector_run_status(run).reason,
                         i < 2 ? KI_REASON_BAD_REQUEST : KI_REASON_NO_END_OF_LIST);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
        assert_int_equal(reflector_run_status(run).phase, KI_PHASE_STREAMING_LIST);
    }
    scripted_cut(&run->source, KI_REASON_TIMEOUT);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_STREAMING_LIST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        reflector_test(two_lost_connections_before_the_end_lead_to_a_list),
        reflector_test(two_failures_of_any_kind_lead_to_a_list),
        reflector_test(a_request_that_was_not_sent_says_nothing_about_streams),
        reflector_test(a_server_that_cannot_be_reached_may_support_streams),
        reflector_test(ten_seconds_of_silence_twice_lead_to_a_list),
        reflector_test(the_silence_of_a_stream_begins_when_it_is_sent),
        reflector_test(a_stream_not_sent_within_a_minute_is_abandoned),
        reflector_test(two_streams_without_a_response_lead_to_lists_for_ten_minutes),
        reflector_test(failures_of_two_resources_stop_streams_for_all),
        reflector_test(failures_of_one_resource_do_not_affect_the_others),
        reflector_test(errors_that_a_list_would_also_get_alternate_streams_and_lists),
        reflector_test(permission_to_list_and_not_to_watch_is_enough_to_sync),
        reflector_test(a_server_that_ends_no_streamed_list_is_asked_for_a_plain_one),
        reflector_test(an_endless_refusal_does_not_count_as_silence),
        reflector_test(silence_does_not_count_while_there_is_no_space),
        reflector_test(the_end_of_a_list_clears_earlier_failures),
        reflector_test(a_refusal_leads_to_a_list_at_once),
        reflector_test(always_means_that_no_plain_list_is_requested),
    };
    return RUN_TESTS(tests);
}
