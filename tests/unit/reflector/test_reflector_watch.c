/* SPDX-License-Identifier: Apache-2.0 */
/* WATCH: events, bookmarks, and how a watch is resumed. */
#include <stdio.h>

#include "support/reflector/reflector_run.h"
#include "support/unit.h"

static void events_are_delivered_with_their_versions(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_body(&run->source, EVENT("ADDED", POD("b", "11")) EVENT("MODIFIED", POD("a", "12"))
                                    EVENT("DELETED", POD("b", "13")) BOOKMARK("20"));
    expect_changes(run, "ADDED d/b@11 11\nUPDATED d/a@12 12\nDELETED d/b@13 13\nBOOKMARK 20\n");
    assert_int_equal(reflector_run_status(run).events, 3);
}

static void events_may_arrive_byte_by_byte(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    run->source.is_bytewise = 1;
    scripted_body(&run->source,
                  EVENT("ADDED", POD("b", "11")) BOOKMARK("20") EVENT("DELETED", POD("b", "21")));
    expect_changes(run, "ADDED d/b@11 11\nBOOKMARK 20\nDELETED d/b@21 21\n");
}

static void the_phase_is_watching_once_a_watch_has_a_response(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    reflector_run_wait_ms(run, 5000);
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_LISTING);
    scripted_head(&run->source, 200, 0);
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_WATCHING);
    assert_int_equal(reflector_run_status(run).phase_age_ms, 0);
}

static void a_refused_watch_never_counts_as_watching(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    text_log_clear(&run->statuses);
    scripted_head(&run->source, 503, 0);
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_LISTING);
    scripted_end(&run->source);
    expect_statuses(run, "BACKING_OFF ServerError\n");
}

static void a_closed_watch_continues_at_once_from_the_received_version(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_body(&run->source, EVENT("ADDED", POD("b", "11")));
    reflector_run_wait_ms(run, 1000);
    scripted_end(&run->source);
    expect_requests(run, "WATCH rv=11 bookmarks\n");
    expect_errors(run, "");
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_WATCHING);
}

static void a_watch_closed_within_a_second_is_backed_off(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    reflector_run_wait_ms(run, 999);
    scripted_end(&run->source);
    expect_errors(run, "ShortWatch\n");
    expect_requests(run, "");
    assert_in_range(run->last_retry_ms, 800, 1600);
    assert_in_range(reflector_run_wait_while(run, KI_PHASE_BACKING_OFF), 799, 1600);
    expect_requests(run, "WATCH rv=10 bookmarks\n");
}

static void an_event_before_a_close_resets_the_backoff(void **state)
{
    reflector_run *run = *state;
    char event[200];
    reflector_run_start_watching(run);
    for (int i = 0; i < 8; i++) {
        snprintf(event, sizeof(event), EVENT("ADDED", POD("b", "%d")), 11 + i);
        scripted_whole(&run->source, event);
        assert_in_range(run->last_retry_ms, 800, 1600);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    }
    for (int i = 0; i < 2; i++) {
        scripted_whole(&run->source, EVENT("ADDED", POD("b", "11")));
        assert_true(run->last_retry_ms >= 800u << i);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    }
}

static void versions_never_go_back(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_body(&run->source,
                  EVENT("ADDED", POD("b", "15")) EVENT("MODIFIED", POD("a", "12")) BOOKMARK("9"));
    expect_changes(run, "ADDED d/b@15 15\nUPDATED d/a@12 12\nBOOKMARK 9\n");
    reflector_run_wait_ms(run, 2000);
    scripted_end(&run->source);
    expect_requests(run, "WATCH rv=15 bookmarks\n");
}

static void the_last_version_counts_if_versions_are_not_numbers(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_body(&run->source, EVENT("ADDED", POD("b", "x")) EVENT("ADDED", POD("c", "b")));
    reflector_run_wait_ms(run, 2000);
    scripted_end(&run->source);
    expect_requests(run, "WATCH rv=b bookmarks\n");
}

static void a_bookmark_without_a_version_is_reported_and_changes_nothing(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    text_log_clear(&run->source.requests);
    reflector_run_wait_ms(run, 1000);
    scripted_body(&run->source, EVENT("BOOKMARK", "{\"metadata\":{}}"));
    expect_changes(run, "");
    expect_errors(run, "Malformed\n");
    assert_int_equal(reflector_run_status(run).refused, 1);
    assert_true(reflector_run_status(run).success_age_ms >= 1000);
    reflector_run_wait_ms(run, 120 * 1000);
    expect_requests(run, ""); /* no list, as it was not a change */
}

static void a_lost_connection_after_an_event_is_resumed_soon_without_a_list(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_body(&run->source, EVENT("ADDED", POD("b", "11")) "{\"type\":");
    scripted_cut(&run->source, KI_REASON_CONNECTION_LOST);
    expect_errors(run, "ConnectionLost\n");
    assert_in_range(run->last_retry_ms, 100, 999);
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_BACKING_OFF);
    assert_in_range(reflector_run_wait_while(run, KI_PHASE_BACKING_OFF), 100, 999);
    expect_requests(run, "WATCH rv=11 bookmarks\n");
    assert_int_equal(reflector_run_status(run).reconnects, 1);
}

static void a_close_within_an_event_is_a_lost_connection(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    reflector_run_wait_ms(run, 2000);
    scripted_whole(&run->source, "{\"type\":");
    expect_errors(run, "ConnectionLost\n");
    expect_requests(run, "");
}

static void a_lost_connection_without_events_is_backed_off_longer_each_time(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    for (int i = 0; i < 4; i++) {
        scripted_cut(&run->source, KI_REASON_CONNECTION_REFUSED);
        assert_in_range(run->last_retry_ms, 800u << i, 1600u << i);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
        expect_requests(run, "WATCH rv=10 bookmarks\n");
    }
}

static void a_lost_connection_that_only_the_source_reports_counts(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_cut(&run->source, KI_REASON_OTHER);
    expect_errors(run, "Other\n");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "WATCH rv=10 bookmarks\n");
}

static void timeouts_of_watches_differ(void **state)
{
    reflector_run *run = *state;
    uint32_t before = 0;
    int differ = 0;
    reflector_run_start_watching(run);
    for (int i = 0; i < 20; i++) {
        assert_in_range(run->source.timeout_seconds, 300, 599);
        differ |= before != 0 && before != run->source.timeout_seconds;
        before = run->source.timeout_seconds;
        reflector_run_wait_ms(run, 2000);
        scripted_whole(&run->source, BOOKMARK("10"));
    }
    assert_true(differ);
}

static void a_watch_that_exceeds_its_timeout_is_resumed(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    reflector_run_wait_ms(run, (run->source.timeout_seconds + 30) * 1000 - 1);
    expect_requests(run, "");
    reflector_run_wait_ms(run, 1);
    expect_requests(run, "cancel\n");
    expect_errors(run, "Timeout\n");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "WATCH rv=10 bookmarks\n");
}

static void an_expired_version_leads_to_a_list_at_once_and_then_to_backoff(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_body(&run->source, EVENT("ERROR", STATUS("410", "Expired")));
    expect_errors(run, "Expired 410\n");
    assert_int_equal(run->last_retry_ms, 0);
    reflector_run_wait_ms(run, 0);
    expect_requests(run, "cancel\nLIST rv=10 match=NotOlderThan limit=500\n");
    scripted_whole(&run->source, LIST("12", "", ""));
    expect_requests(run, "WATCH rv=12 bookmarks\n");
    scripted_error(&run->source, 410, STATUS("410", "Gone"));
    expect_errors(run, "Expired 410\n");
    assert_true(run->last_retry_ms >= 800);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "LIST rv=12 match=NotOlderThan limit=500\n");
}

static void after_an_event_an_expired_version_counts_as_the_first(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    scripted_whole(&run->source, LIST("12", "", ""));
    scripted_body(&run->source, BOOKMARK("13"));
    scripted_body(&run->source, EVENT("ERROR", STATUS("410", "Expired")));
    assert_int_equal(run->last_retry_ms, 0);
}

static void a_version_that_is_too_large_leads_to_the_newest_list(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_error(&run->source, 504, TOO_LARGE);
    expect_requests(run, "LIST rv= limit=500\n");
    expect_errors(run, "VersionTooLarge 504\n");
}

static void after_too_many_requests_the_wait_is_as_long_as_asked(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_head(&run->source, 429, 17);
    scripted_end(&run->source);
    expect_errors(run, "TooManyRequests 429\n");
    assert_int_equal(run->last_retry_ms, 17000);
    reflector_run_wait_ms(run, 16999);
    expect_requests(run, "");
    reflector_run_wait_ms(run, 1);
    expect_requests(run, "WATCH rv=10 bookmarks\n");
}

static void no_wait_is_longer_than_ten_minutes(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_head(&run->source, 429, 4000000000u);
    scripted_end(&run->source);
    assert_int_equal(run->last_retry_ms, 600 * 1000);
}

static void too_many_requests_within_a_watch_do_not_lead_to_a_list(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_body(&run->source,
                  EVENT("ERROR", "{\"kind\":\"Status\",\"code\":429,\"details\":{\"retryAfterSeconds\":5}}"));
    expect_errors(run, "TooManyRequests 429\n");
    assert_int_equal(run->last_retry_ms, 5000);
    reflector_run_wait_ms(run, 5000);
    expect_requests(run, "cancel\nWATCH rv=10 bookmarks\n");
}

static void other_errors_within_a_watch_lead_to_a_list_after_backoff(void **state)
{
    reflector_run *run = *state;
    static const char *const events[] = {EVENT("ERROR", STATUS("500", "InternalError")), EVENT("ERROR", "{}"),
                                         EVENT("ERROR", STATUS("403", "Forbidden"))};
    static const char *const errors[] = {"ServerError 500\n", "Other\n", "Forbidden 403\n"};
    for (size_t i = 0; i < 3; i++) {
        if (i == 0)
            reflector_run_start_watching(run);
        text_log_clear(&run->source.requests);
        scripted_body(&run->source, events[i]);
        expect_errors(run, errors[i]);
        assert_true(run->last_retry_ms >= 800);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
        expect_requests(run, "cancel\nLIST rv=10 match=NotOlderThan limit=500\n");
        scripted_whole(&run->source, LIST("10", "", ""));
    }
}

static void error_responses_lead_to_another_watch(void **state)
{
    reflector_run *run = *state;
    static const int codes[] = {401, 403, 404, 400, 500, 503, 302, 429};
    reflector_run_start_watching(run);
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        text_log_clear(&run->source.requests);
        scripted_error(&run->source, codes[i], "<html>");
        assert_int_equal(reflector_run_status(run).phase, KI_PHASE_BACKING_OFF);
        assert_int_equal(reflector_run_status(run).http_status, codes[i]);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
        expect_requests(run, "WATCH rv=10 bookmarks\n");
        scripted_body(&run->source, BOOKMARK("10"));
        assert_int_equal(reflector_run_status(run).phase, KI_PHASE_WATCHING);
    }
}

static void refused_credentials_lead_to_the_same_watch_again(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_body(&run->source, EVENT("ADDED", POD("b", "11")));
    expect_changes(run, "ADDED d/b@11 11\n");
    reflector_run_wait_ms(run, 2000);
    scripted_end(&run->source);
    text_log_clear(&run->source.requests);
    for (unsigned i = 0; i < 2; i++) {
        scripted_error(&run->source, 401, STATUS("401", "Unauthorized"));
        expect_errors(run, "Unauthorized 401\n");
        assert_int_equal(reflector_run_status(run).reason, KI_REASON_UNAUTHORIZED);
        assert_in_range(run->last_retry_ms, 800u << i, 1600u << i);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
        expect_requests(run, "WATCH rv=11 bookmarks\n");
    }
    scripted_body(&run->source, EVENT("ADDED", POD("c", "12")));
    expect_changes(run, "ADDED d/c@12 12\n");
    assert_int_equal(reflector_run_status(run).lists, 1);
    assert_int_equal(reflector_run_status(run).reason, KI_REASON_NONE);
}

static void a_stream_that_is_not_json_is_resumed_and_then_listed(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_body(&run->source, EVENT("ADDED", POD("b", "11")) "}");
    expect_errors(run, "Malformed\n");
    assert_true(run->last_retry_ms >= 800);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    for (int i = 0; i < 3; i++) {
        expect_requests(run, "cancel\nWATCH rv=11 bookmarks\n");
        scripted_body(&run->source, "}");
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    }
    expect_requests(run, "cancel\nLIST rv=11 match=NotOlderThan limit=500\n");
}

#define OF_KIND(kind, name, version)                                                                         \
    "{\"kind\":\"" kind "\",\"metadata\":{\"namespace\":\"d\",\"name\":\"" name                              \
    "\",\"resourceVersion\":\"" version "\"}}"

static void objects_of_the_kind_and_metadata_alone_are_accepted(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_body(&run->source, EVENT("ADDED", OF_KIND("Pod", "b", "11"))
                                    EVENT("ADDED", OF_KIND("PartialObjectMetadata", "c", "12")));
    expect_changes(run, "ADDED d/b@11 11\nADDED d/c@12 12\n");
    expect_errors(run, "");
}

static void malformed_events_change_nothing_and_lead_to_a_list(void **state)
{
    reflector_run *run = *state;
    static const char *const events[] = {
        EVENT("NEW", POD("b", "11")),
        "{\"object\":" POD("b", "11") "}",
        EVENT("ADDED", "{\"metadata\":{\"resourceVersion\":\"11\"}}"),
        EVENT("ADDED", "{\"metadata\":{\"namespace\":\"d\",\"name\":\"b\"}}"),
        EVENT("DELETED", "{\"metadata\":{\"namespace\":\"d\",\"name\":\"b\",\"labels\":7}}"),
        EVENT("ADDED", OF_KIND("Service", "b", "11")),
        EVENT("DELETED", OF_KIND("Table", "a", "11")),
    };
    reflector_run_start_watching(run);
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        text_log_clear(&run->source.requests);
        scripted_body(&run->source, events[i]);
        assert_int_equal(run->source.last_result, 0);
        text_log_clear(&run->errors);
        assert_int_equal(reflector_run_status(run).refused, i + 1);
        expect_changes(run, "");
        expect_requests(run, "");
        uint64_t waited = reflector_run_wait_while(run, KI_PHASE_WATCHING);
        assert_in_range(waited, i == 0 ? 800 : 59000, i == 0 ? 1600 : 60000);
        expect_requests(run, "cancel\nLIST rv=10 match=NotOlderThan limit=500\n");
        scripted_whole(&run->source, LIST("10", "", ""));
        text_log_clear(&run->changes);
    }
}

static void a_refused_event_that_is_understood_changes_nothing(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_body(&run->source,
                  EVENT("MODIFIED", "{\"metadata\":{\"namespace\":\"d\",\"name\":\"b\",\"labels\":7,"
                                    "\"resourceVersion\":\"11\"}}"));
    expect_errors(run, "Malformed d/b\n");
    expect_changes(run, "");
    reflector_run_wait_ms(run, 100 * 1000);
    expect_requests(run, "");
    scripted_end(&run->source);
    expect_requests(run, "WATCH rv=10 bookmarks\n");
}

static void an_event_that_runs_out_of_memory_is_requested_again(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    run->refuse_after = 2;
    scripted_body(&run->source, EVENT("ADDED", POD("b", "11")) EVENT("ADDED", POD("c", "12")));
    expect_changes(run, "ADDED d/b@11 11\n");
    expect_errors(run, "NoMemory\n");
    assert_true(run->last_retry_ms >= 800);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "cancel\nWATCH rv=11 bookmarks\n");
    run->refuse_after = 1;
    scripted_body(&run->source, BOOKMARK("13"));
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "cancel\nWATCH rv=11 bookmarks\n");
}

static void a_watch_waits_while_there_is_no_space(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    run->is_full = 1;
    scripted_body(&run->source, EVENT("ADDED", POD("b", "11")) EVENT("ADDED", POD("c", "12")));
    assert_int_equal(run->source.last_result, 1);
    expect_changes(run, "ADDED d/b@11 11\nADDED d/c@12 12\n");
    reflector_run_wait_ms(run, 3600 * 1000);
    expect_requests(run, "");
    expect_errors(run, "");
    ki_reflector_resume(&run->reflector);
    expect_requests(run, "resume\n");
}

static void a_known_version_continues_with_a_watch(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "33");
    expect_requests(run, "WATCH rv=33 bookmarks\n");
    expect_statuses(run, "BACKING_OFF Resuming\n");
    scripted_head(&run->source, 200, 0);
    expect_statuses(run, "WATCHING \n");
}

static void the_server_gets_at_most_five_requests_and_then_one_a_second(void **state)
{
    reflector_run *run = *state;
    char text[300];
    reflector_run_start_watching(run);
    for (int version = 11; version < 20 && run->source.answer != NULL; version++) {
        snprintf(text, sizeof(text), BOOKMARK("%d") EVENT("ERROR", STATUS("410", "Expired")), version);
        scripted_body(&run->source, text);
        reflector_run_wait_ms(run, 0);
        snprintf(text, sizeof(text), LIST("%d", "", ""), version);
        if (run->source.answer != NULL)
            scripted_whole(&run->source, text);
    }
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_BACKING_OFF);
    assert_int_equal(reflector_run_status(run).lists + reflector_run_status(run).watches, 5);
    assert_int_equal(reflector_run_status(run).retry_ms, 1000);
    assert_int_equal(reflector_run_wait_while(run, KI_PHASE_BACKING_OFF), 1000);
}

/* Watches that last only a second use up the rate limit. */
static void a_wait_for_the_rate_limit_alone_is_paced(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    while (ki_token_bucket_take(&run->reflector.bucket, ki_clock_now_ns(&run->clock)) == 0)
        continue;
    scripted_head(&run->source, 200, 0);
    reflector_run_wait_ms(run, 1000);
    while (ki_token_bucket_take(&run->reflector.bucket, ki_clock_now_ns(&run->clock)) == 0)
        continue;
    text_log_clear(&run->statuses);
    scripted_end(&run->source);
    expect_statuses(run, "BACKING_OFF Paced\n");
    assert_string_equal(reflector_run_status(run).message, "at most one request is sent per second");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_head(&run->source, 200, 0);
    expect_statuses(run, "WATCHING \n");
    expect_errors(run, "");
}

static void a_list_that_may_begin_is_no_longer_paced(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    ki_reflector_halt(&run->reflector);
    while (ki_token_bucket_take(&run->reflector.bucket, ki_clock_now_ns(&run->clock)) == 0)
        continue;
    text_log_clear(&run->statuses);
    reflector_run_restart(run, "");
    reflector_run_wait_ms(run, 1000);
    expect_statuses(run, "BACKING_OFF Paced\nLISTING \n");
}

static void a_user_may_end_the_backoff(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_error(&run->source, 403, "");
    ki_reflector_retry_now(&run->reflector);
    expect_requests(run, "WATCH rv=10 bookmarks\n");
    ki_reflector_retry_now(&run->reflector);
    expect_requests(run, "");
}

static void ending_the_backoff_is_for_one_request(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_error(&run->source, 403, "");
    while (ki_token_bucket_take(&run->reflector.bucket, ki_clock_now_ns(&run->clock)) == 0)
        continue;
    ki_reflector_retry_now(&run->reflector);
    expect_requests(run, "WATCH rv=10 bookmarks\n");
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    expect_requests(run, "");
    assert_int_equal(reflector_run_wait_while(run, KI_PHASE_BACKING_OFF), 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        reflector_test(events_are_delivered_with_their_versions),
        reflector_test(events_may_arrive_byte_by_byte),
        reflector_test(the_phase_is_watching_once_a_watch_has_a_response),
        reflector_test(a_refused_watch_never_counts_as_watching),
        reflector_test(a_closed_watch_continues_at_once_from_the_received_version),
        reflector_test(a_watch_closed_within_a_second_is_backed_off),
        reflector_test(an_event_before_a_close_resets_the_backoff),
        reflector_test(versions_never_go_back),
        reflector_test(the_last_version_counts_if_versions_are_not_numbers),
        reflector_test(a_bookmark_without_a_version_is_reported_and_changes_nothing),
        reflector_test(a_lost_connection_after_an_event_is_resumed_soon_without_a_list),
        reflector_test(a_close_within_an_event_is_a_lost_connection),
        reflector_test(a_lost_connection_without_events_is_backed_off_longer_each_time),
        reflector_test(a_lost_connection_that_only_the_source_reports_counts),
        reflector_test(timeouts_of_watches_differ),
        reflector_test(a_watch_that_exceeds_its_timeout_is_resumed),
        reflector_test(an_expired_version_leads_to_a_list_at_once_and_then_to_backoff),
        reflector_test(after_an_event_an_expired_version_counts_as_the_first),
        reflector_test(a_version_that_is_too_large_leads_to_the_newest_list),
        reflector_test(after_too_many_requests_the_wait_is_as_long_as_asked),
        reflector_test(no_wait_is_longer_than_ten_minutes),
        reflector_test(too_many_requests_within_a_watch_do_not_lead_to_a_list),
        reflector_test(other_errors_within_a_watch_lead_to_a_list_after_backoff),
        reflector_test(error_responses_lead_to_another_watch),
        reflector_test(refused_credentials_lead_to_the_same_watch_again),
        reflector_test(a_stream_that_is_not_json_is_resumed_and_then_listed),
        reflector_test(objects_of_the_kind_and_metadata_alone_are_accepted),
        reflector_test(malformed_events_change_nothing_and_lead_to_a_list),
        reflector_test(a_refused_event_that_is_understood_changes_nothing),
        reflector_test(an_event_that_runs_out_of_memory_is_requested_again),
        reflector_test(a_watch_waits_while_there_is_no_space),
        reflector_test(a_known_version_continues_with_a_watch),
        reflector_test(the_server_gets_at_most_five_requests_and_then_one_a_second),
        reflector_test(a_wait_for_the_rate_limit_alone_is_paced),
        reflector_test(a_list_that_may_begin_is_no_longer_paced),
        reflector_test(a_user_may_end_the_backoff),
        reflector_test(ending_the_backoff_is_for_one_request),
    };
    return RUN_TESTS(tests);
}
