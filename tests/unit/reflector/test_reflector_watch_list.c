/* SPDX-License-Identifier: Apache-2.0 */
/* A watch that begins with the list. */
#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>

#include "support/decode/recorded.h"
#include "support/reflector/reflector_run.h"
#include "support/unit.h"

static void the_list_comes_on_the_stream_that_continues_as_a_watch(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_with(run, KI_WATCH_LIST_ALWAYS);
    expect_requests(run, "STREAM rv= match=NotOlderThan bookmarks\n");
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_STREAMING_LIST);
    scripted_body(&run->source, EVENT("ADDED", POD("a", "5")) EVENT("MODIFIED", POD("b", "6"))
                                    EVENT("DELETED", POD("b", "7")));
    expect_changes(run, "REPLACED 1 d/a@5\nREPLACED 1 d/b@6\nDELETED 1 d/b@7\n");
    scripted_body(&run->source, END_OF_LIST("10") EVENT("ADDED", POD("c", "11")));
    expect_changes(run, "END 1 10\nADDED d/c@11 11\n");
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_WATCHING);
    reflector_run_wait_ms(run, 2000);
    scripted_end(&run->source);
    expect_requests(run, "WATCH rv=11 bookmarks\n");
    expect_errors(run, "");
}

static void it_may_come_byte_by_byte(void **state)
{
    reflector_run *run = *state;
    run->source.is_bytewise = 1;
    reflector_run_start_with(run, KI_WATCH_LIST_ALWAYS);
    scripted_body(&run->source,
                  EVENT("ADDED", POD("a", "5")) END_OF_LIST("10") EVENT("ADDED", POD("c", "11")));
    expect_changes(run, "REPLACED 1 d/a@5\nEND 1 10\nADDED d/c@11 11\n");
}

static void a_recorded_one_is_a_list(void **state)
{
    reflector_run *run = *state;
    recorded answer;
    recorded_load(&answer, "pods-watchlist.http");
    reflector_run_start_with(run, KI_WATCH_LIST_ALWAYS);
    for (size_t i = 0; i < answer.body.len; i++)
        assert_int_equal(ki_answer_body(run->source.answer, answer.body.ptr + i, 1), 0);
    recorded_free(&answer);
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_WATCHING);
    expect_errors(run, "");
}

static void a_source_may_not_know_it(void **state)
{
    reflector_run *run = *state;
    run->no_watch_list = 1;
    run->informer.watch_list = KI_WATCH_LIST_AUTO;
    reflector_run_start_listing(run, "1");
    expect_requests(run, "LIST rv=1 match=NotOlderThan limit=500\n");
}

static void what_cannot_be_used_is_seen_nevertheless(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_with(run, KI_WATCH_LIST_ALWAYS);
    scripted_body(&run->source,
                  EVENT("ADDED", "{\"metadata\":{\"namespace\":\"d\",\"name\":\"b\",\"labels\":7}}")
                      END_OF_LIST("10"));
    expect_changes(run, "SEEN 1 d/b\nEND 1 10\n");
    expect_errors(run, "Malformed d/b\n");
    reflector_run_wait_ms(run, 100 * 1000);
    expect_requests(run, "STREAM rv= match=NotOlderThan bookmarks\n");
}

static void an_object_of_another_kind_is_not_an_item_and_leads_to_another_list(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_with(run, KI_WATCH_LIST_ALWAYS);
    text_log_clear(&run->source.requests);
    scripted_body(&run->source,
                  EVENT("ADDED", "{\"kind\":\"Service\",\"metadata\":{\"namespace\":\"d\",\"name\":\"b\","
                                 "\"resourceVersion\":\"5\"}}"));
    expect_changes(run, "");
    expect_errors(run, "Malformed d/b\n");
    scripted_body(&run->source, END_OF_LIST("10"));
    expect_changes(run, "END 1 10\n");
    reflector_run_wait_while(run, KI_PHASE_WATCHING);
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_STREAMING_LIST);
}

static void a_delete_that_cannot_be_used_leads_to_another_list(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_with(run, KI_WATCH_LIST_ALWAYS);
    scripted_body(&run->source,
                  EVENT("DELETED", "{\"metadata\":{\"namespace\":\"d\",\"name\":\"b\",\"labels\":7}}")
                      END_OF_LIST("10"));
    expect_changes(run, "END 1 10\n");
    expect_errors(run, "Malformed d/b\n");
    text_log_clear(&run->source.requests);
    reflector_run_wait_ms(run, 2000);
    expect_requests(run, "cancel\nSTREAM rv=10 match=NotOlderThan bookmarks\n");
}

static int refuse(const ki_object **object, void *user)
{
    (void)object;
    (void)user;
    return KI_ERR_TYPE;
}

static void a_delete_whose_transform_fails_leads_to_another_list(void **state)
{
    reflector_run *run = *state;
    run->informer.transform = refuse;
    reflector_run_start_with(run, KI_WATCH_LIST_ALWAYS);
    scripted_body(&run->source, EVENT("DELETED", POD("b", "7")) END_OF_LIST("10"));
    expect_changes(run, "END 1 10\n");
    text_log_clear(&run->source.requests);
    reflector_run_wait_ms(run, 2000);
    expect_requests(run, "cancel\nSTREAM rv=10 match=NotOlderThan bookmarks\n");
}

/* An event whose object is larger than any bookmark or error may be. */
static void send_large(reflector_run *run, const char *type)
{
    enum { BYTES = 1100 * 1024 };
    static char text[BYTES + 100];
    int n = snprintf(text, sizeof(text), "{\"type\":\"%s\",\"object\":{\"kind\":\"", type);
    memset(text + n, 'x', BYTES);
    snprintf(text + n + BYTES, sizeof(text) - (size_t)n - BYTES, "\"}}");
    scripted_body(&run->source, text);
}

static void limit_objects(reflector_run *run)
{
    ki_object_plan_free(run->plan);
    run->plan = ki_object_plan_new(&KI_CORE_V1_PODS, &(ki_object_options){.bytes_max = 1000}, NULL);
    assert_non_null(run->plan);
}

static void a_bookmark_that_is_too_large_is_only_reported(void **state)
{
    reflector_run *run = *state;
    limit_objects(run);
    reflector_run_start_with(run, KI_WATCH_LIST_ALWAYS);
    send_large(run, "BOOKMARK");
    expect_errors(run, "Other\n");
    scripted_body(&run->source, END_OF_LIST("10"));
    send_large(run, "BOOKMARK");
    expect_errors(run, "Other\n");
    reflector_run_wait_ms(run, 100 * 1000);
    expect_requests(run, "STREAM rv= match=NotOlderThan bookmarks\n");
    assert_int_equal(reflector_run_status(run).refused, 2);
}

static void an_error_that_is_too_large_is_one(void **state)
{
    reflector_run *run = *state;
    limit_objects(run);
    reflector_run_start_with(run, KI_WATCH_LIST_ALWAYS);
    send_large(run, "ERROR");
    expect_errors(run, "Malformed\n");
    expect_requests(run, "STREAM rv= match=NotOlderThan bookmarks\ncancel\n");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_body(&run->source, END_OF_LIST("10"));
    text_log_clear(&run->source.requests);
    send_large(run, "ERROR");
    expect_errors(run, "Other\n");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "cancel\nSTREAM rv=10 match=NotOlderThan bookmarks\n");
}

/* Lets it stream again, from version 10. */
static void stream_again(reflector_run *run)
{
    reflector_run_start_with(run, KI_WATCH_LIST_ALWAYS);
    scripted_body(&run->source, END_OF_LIST("10"));
    expect_changes(run, "END 1 10\n");
    scripted_body(&run->source, EVENT("ERROR", STATUS("410", "Expired")));
    reflector_run_wait_ms(run, 0);
    expect_requests(run, "STREAM rv= match=NotOlderThan bookmarks\ncancel\n"
                         "STREAM rv=10 match=NotOlderThan bookmarks\n");
    expect_errors(run, "Expired 410\n");
}

static void a_version_that_is_not_there_leads_to_the_newest_at_once(void **state)
{
    reflector_run *run = *state;
    stream_again(run);
    scripted_error(&run->source, 504, TOO_LARGE);
    expect_requests(run, "STREAM rv= match=NotOlderThan bookmarks\n");
    scripted_body(&run->source, EVENT("ERROR", STATUS("410", "Expired")));
    expect_errors(run, "VersionTooLarge 504\nExpired 410\n");
    expect_requests(run, "cancel\n");
    assert_true(run->last_retry_ms >= 800);
}

static void a_list_that_is_older_has_an_end_and_the_newest_is_asked_for(void **state)
{
    reflector_run *run = *state;
    stream_again(run);
    scripted_body(&run->source, EVENT("ADDED", POD("z", "3")) END_OF_LIST("9"));
    assert_int_equal(run->source.last_result, KI_ERR_NOT_FOUND);
    expect_changes(run, "REPLACED 2 d/z@3\nEND 2 9\n");
    expect_errors(run, "Stale\n");
    reflector_run_wait_ms(run, 0);
    expect_requests(run, "cancel\nSTREAM rv= match=NotOlderThan bookmarks\n");
}

static void a_newest_list_that_is_older_is_another_history(void **state)
{
    reflector_run *run = *state;
    stream_again(run);
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    expect_requests(run, "STREAM rv= match=NotOlderThan bookmarks\n");
    scripted_body(&run->source, EVENT("ADDED", POD("z", "3")) END_OF_LIST("4"));
    expect_changes(run, "REPLACED 3 d/z@3\nEND 3 4\n");
    expect_errors(run, "Expired 410\nHistoryReset\n");
    reflector_run_wait_ms(run, 0);
    expect_requests(run, "cancel\nSTREAM rv= match=NotOlderThan bookmarks\n");
    expect_changes(run, "RESET 4\n");
    scripted_body(&run->source, EVENT("ADDED", POD("z", "3")) END_OF_LIST("4") BOOKMARK("5"));
    expect_changes(run, "REPLACED 4 d/z@3\nEND 4 4\nBOOKMARK 5\n");
}

static void a_reset_that_runs_out_of_memory_is_reported_later(void **state)
{
    reflector_run *run = *state;
    stream_again(run);
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    scripted_body(&run->source, END_OF_LIST("4"));
    expect_changes(run, "END 3 4\n");
    run->refuse_after = 1;
    reflector_run_wait_ms(run, 0);
    expect_errors(run, "Expired 410\nHistoryReset\nNoMemory\n");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_changes(run, "RESET 5\n");
}

static void an_end_without_a_version_is_none(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_with(run, KI_WATCH_LIST_ALWAYS);
    scripted_body(&run->source, END_OF_LIST(""));
    expect_errors(run, "Malformed\n");
    expect_changes(run, "");
}

static void a_change_without_memory_fails_the_attempt(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_with(run, KI_WATCH_LIST_ALWAYS);
    for (int i = 0; i < 3; i++) {
        run->refuse_after = 1;
        scripted_body(&run->source, i < 2 ? EVENT("ADDED", POD("a", "5")) : END_OF_LIST("10"));
        expect_errors(run, "NoMemory\n");
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
        assert_int_equal(reflector_run_status(run).phase, KI_PHASE_STREAMING_LIST);
    }
    scripted_body(&run->source, END_OF_LIST("10"));
    expect_changes(run, "END 4 10\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        reflector_test(the_list_comes_on_the_stream_that_continues_as_a_watch),
        reflector_test(it_may_come_byte_by_byte),
        reflector_test(a_recorded_one_is_a_list),
        reflector_test(a_source_may_not_know_it),
        reflector_test(what_cannot_be_used_is_seen_nevertheless),
        reflector_test(an_object_of_another_kind_is_not_an_item_and_leads_to_another_list),
        reflector_test(a_delete_that_cannot_be_used_leads_to_another_list),
        reflector_test(a_delete_whose_transform_fails_leads_to_another_list),
        reflector_test(a_bookmark_that_is_too_large_is_only_reported),
        reflector_test(an_error_that_is_too_large_is_one),
        reflector_test(a_version_that_is_not_there_leads_to_the_newest_at_once),
        reflector_test(a_list_that_is_older_has_an_end_and_the_newest_is_asked_for),
        reflector_test(a_newest_list_that_is_older_is_another_history),
        reflector_test(a_reset_that_runs_out_of_memory_is_reported_later),
        reflector_test(an_end_without_a_version_is_none),
        reflector_test(a_change_without_memory_fails_the_attempt),
    };
    return RUN_TESTS(tests);
}
