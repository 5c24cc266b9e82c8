/* SPDX-License-Identifier: Apache-2.0 */
#include "reflector/answer.h"

#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/decode/recorded.h"
#include "support/failing_allocator.h"
#include "support/text_log.h"
#include "support/unit.h"

/* An answer whose owner and source record their calls. */
typedef struct probe {
    ki_answer answer;
    ki_list_watch source;
    ki_object_plan *plan;
    text_log log;
    ki_failure failure;
    int depth;
    ki_answer_place place; /* of the last leave call */
    int is_full;
    int cancels_at; /* the result at which the owner cancels; 0: never */
    int begin_result;
} probe;

static void enter(void *user)
{
    ((probe *)user)->depth++;
}

static void leave(ki_answer_place place, void *user)
{
    probe *test = user;
    test->place = place;
    test->depth--;
}

static void sent(ki_answer *answer, void *user)
{
    probe *test = user;
    assert_int_equal(test->depth, 1);
    assert_true(answer->is_sent);
    text_log_add(&test->log, "sent\n");
}

static void heard(ki_answer *answer, size_t bytes, void *user)
{
    probe *test = user;
    assert_ptr_equal(answer, &test->answer);
    assert_int_equal(test->depth, 1);
    if (bytes == 0)
        text_log_add(&test->log, "head\n");
}

static void error_head(ki_answer *answer, void *user)
{
    probe *test = user;
    assert_int_equal(test->depth, 1);
    assert_true(ki_answer_is_error(answer));
    text_log_add(&test->log, "error head\n");
}

static void take_result(ki_answer *answer, int result, void *user)
{
    probe *test = user;
    assert_int_equal(test->depth, 1);
    text_log_add(&test->log, "result %d\n", result);
    if (result == test->cancels_at)
        ki_answer_cancel(answer);
}

static void over(ki_answer *answer, const ki_failure *failure, void *user)
{
    probe *test = user;
    assert_false(answer->is_open);
    test->failure = *failure;
    text_log_add(&test->log, "over %s %d %u\n", ki_reason_name(failure->reason), failure->http_status,
                 failure->retry_after_seconds);
}

static void take_report(ki_answer *answer, const ki_answer_report *report, void *user)
{
    switch (report->event) {
    case KI_ANSWER_ENTERED:
        enter(user);
        break;
    case KI_ANSWER_SENT:
        sent(answer, user);
        break;
    case KI_ANSWER_HEARD:
        heard(answer, report->bytes, user);
        break;
    case KI_ANSWER_ERROR_HEAD:
        error_head(answer, user);
        break;
    case KI_ANSWER_RESULT:
        take_result(answer, report->result, user);
        break;
    case KI_ANSWER_OVER:
        over(answer, report->failure, user);
        break;
    case KI_ANSWER_LEFT:
        leave(report->place, user);
        break;
    }
}

static int begin(ki_answer *answer, const ki_list_options *options, void *user)
{
    (void)answer;
    (void)options;
    return ((probe *)user)->begin_result;
}

static void cancel(ki_answer *answer, void *user)
{
    assert_false(answer->is_open);
    text_log_add(&((probe *)user)->log, "cancel\n");
}

static void resume(ki_answer *answer, void *user)
{
    (void)answer;
    text_log_add(&((probe *)user)->log, "resume\n");
}

static int setup(void **state)
{
    static probe test;
    failing_allocator_install();
    test = (probe){.source = {.begin = begin, .cancel = cancel, .resume = resume, .user = &test}};
    test.plan = ki_object_plan_new(&KI_CORE_V1_PODS, NULL, NULL);
    assert_non_null(test.plan);
    ki_answer_init(&test.answer, &test.source, test.plan);
    ki_answer_set_owner(&test.answer, take_report, &test, &test.is_full);
    *state = &test;
    return 0;
}

static int teardown(void **state)
{
    probe *test = *state;
    ki_answer_cancel(&test->answer);
    ki_answer_fini(&test->answer);
    ki_object_plan_free(test->plan);
    text_log_free(&test->log);
    return failing_allocator_teardown(state);
}

#define expect_log(test, text) text_log_expect(&(test)->log, text, __FILE__, __LINE__)

static void begin_kind(probe *test, ki_answer_kind kind)
{
    ki_answer_begin(&test->answer, kind, &(ki_list_options){0});
}

static int body(probe *test, const char *text)
{
    return ki_answer_body(&test->answer, text, strlen(text));
}

static void end(probe *test)
{
    ki_answer_end(&test->answer, KI_REASON_NONE, NULL);
}

#define EMPTY_LIST "{\"kind\":\"PodList\",\"metadata\":{},\"items\":[]}"
#define BOOKMARK "{\"type\":\"BOOKMARK\",\"object\":{}}"

static void a_source_is_inside_until_it_ends_the_answer(void **state)
{
    probe *test = *state;
    begin_kind(test, KI_ANSWER_WATCH);
    test->place = KI_ANSWER_OUTSIDE;
    assert_int_equal(body(test, BOOKMARK), 0);
    assert_int_equal(test->place, KI_ANSWER_INSIDE);
    end(test);
    assert_int_equal(test->place, KI_ANSWER_OUTSIDE);
}

static void a_body_that_ends_the_answer_leaves_the_source_inside(void **state)
{
    probe *test = *state;
    begin_kind(test, KI_ANSWER_WATCH);
    test->place = KI_ANSWER_OUTSIDE;
    test->cancels_at = KI_CHANGE_BOOKMARK;
    assert_int_equal(body(test, BOOKMARK), KI_ERR_NOT_FOUND);
    assert_int_equal(test->place, KI_ANSWER_INSIDE);
}

static void a_list_is_reported_result_by_result(void **state)
{
    probe *test = *state;
    begin_kind(test, KI_ANSWER_LIST);
    ki_answer_head(&test->answer, 200, 0);
    assert_int_equal(body(test, EMPTY_LIST), 0);
    expect_log(test, "head\nresult 1\nresult 4\n");
    end(test);
    expect_log(test, "over  0 0\n");
}

static void a_request_counts_as_sent_when_the_source_reports_it(void **state)
{
    probe *test = *state;
    ki_answer_begin(&test->answer, KI_ANSWER_LIST, &(ki_list_options){0});
    assert_true(test->answer.is_sent);
    ki_answer_cancel(&test->answer);
    test->source.tells_sent = 1;
    ki_answer_begin(&test->answer, KI_ANSWER_LIST, &(ki_list_options){0});
    assert_false(test->answer.is_sent);
    ki_answer_sent(&test->answer);
    ki_answer_cancel(&test->answer);
    ki_answer_sent(&test->answer); /* too late */
    expect_log(test, "cancel\nsent\ncancel\n");
    ki_answer_sent(NULL);
}

static void a_watch_is_reported_event_by_event(void **state)
{
    probe *test = *state;
    begin_kind(test, KI_ANSWER_WATCH);
    assert_int_equal(body(test, BOOKMARK BOOKMARK), 0);
    expect_log(test, "result 8\nresult 8\n");
    end(test);
    expect_log(test, "over  0 0\n");
}

static void an_answer_can_be_used_again(void **state)
{
    probe *test = *state;
    for (int i = 0; i < 3; i++) {
        begin_kind(test, i == 1 ? KI_ANSWER_WATCH : KI_ANSWER_LIST);
        if (i == 2)
            ki_answer_head(&test->answer, 500, 9);
        end(test);
    }
    expect_log(test, "over ConnectionLost 0 0\nover  0 0\nerror head\nover ServerError 500 9\n");
    begin_kind(test, KI_ANSWER_LIST);
    (void)!body(test, EMPTY_LIST);
    end(test);
    expect_log(test, "result 1\nresult 4\nover  0 0\n");
}

static void a_body_that_is_not_json_is_cancelled(void **state)
{
    probe *test = *state;
    begin_kind(test, KI_ANSWER_WATCH);
    assert_int_equal(body(test, BOOKMARK "]"), KI_ERR_NOT_FOUND);
    expect_log(test, "result 8\ncancel\nover Malformed 0 0\n");
    assert_int_equal(test->failure.error.code, KI_ERR_JSON_SYNTAX);
    assert_int_equal(body(test, BOOKMARK), KI_ERR_NOT_FOUND);
    end(test);
    expect_log(test, "");
}

static void an_owner_may_cancel_in_the_middle(void **state)
{
    probe *test = *state;
    test->cancels_at = KI_CHANGE_BOOKMARK;
    begin_kind(test, KI_ANSWER_WATCH);
    assert_int_equal(body(test, BOOKMARK BOOKMARK), KI_ERR_NOT_FOUND);
    expect_log(test, "result 8\ncancel\n");
}

static void a_full_owner_makes_the_source_wait(void **state)
{
    probe *test = *state;
    begin_kind(test, KI_ANSWER_WATCH);
    ki_answer_resume(&test->answer);
    expect_log(test, "");
    test->is_full = 1;
    assert_int_equal(body(test, " "), 1);
    ki_answer_resume(&test->answer);
    ki_answer_resume(&test->answer);
    expect_log(test, "resume\n");
}

static void an_error_is_explained_by_its_status(void **state)
{
    probe *test = *state;
    recorded answer;
    recorded_load(&answer, "error-504-rv-too-large.http");
    begin_kind(test, KI_ANSWER_LIST);
    ki_answer_head(&test->answer, 504, 0);
    for (size_t i = 0; i < answer.body.len; i++)
        assert_int_equal(ki_answer_body(&test->answer, answer.body.ptr + i, 1), 0);
    end(test);
    recorded_free(&answer);
    expect_log(test, "error head\nover VersionTooLarge 504 1\n");
    assert_string_equal(
        test->failure.error.message,
        "the server responded with 504 Timeout: Timeout: Too large resource version: 99999999, current: 349");
}

static void the_head_decides_how_long_to_wait(void **state)
{
    probe *test = *state;
    begin_kind(test, KI_ANSWER_LIST);
    ki_answer_head(&test->answer, 429, 5);
    (void)!body(test, "{\"kind\":\"Status\",\"details\":{\"retryAfterSeconds\":9}}");
    end(test);
    expect_log(test, "error head\nover TooManyRequests 429 5\n");
}

static void a_long_error_body_of_any_text_is_cut(void **state)
{
    probe *test = *state;
    char page[1000];
    memset(page, 'x', sizeof(page));
    begin_kind(test, KI_ANSWER_WATCH);
    ki_answer_head(&test->answer, 502, 0);
    for (size_t i = 0; i < KI_ANSWER_ERROR_BYTES_MAX / sizeof(page); i++)
        assert_int_equal(ki_answer_body(&test->answer, page, sizeof(page)), 0);
    expect_log(test, "error head\n");
    assert_int_equal(ki_answer_body(&test->answer, page, sizeof(page)), KI_ERR_NOT_FOUND);
    expect_log(test, "cancel\nover ServerError 502 0\n");
    assert_int_equal(body(test, "{\"kind\":\"Status\",\"code\":410}"), KI_ERR_NOT_FOUND);
    end(test);
    expect_log(test, "");
    assert_string_equal(test->failure.error.message, "the server responded with 502");
}

static void a_truncated_error_is_still_reported(void **state)
{
    probe *test = *state;
    begin_kind(test, KI_ANSWER_WATCH);
    ki_answer_head(&test->answer, 410, 0);
    (void)!body(test, "{\"kind\":");
    ki_answer_end(&test->answer, KI_REASON_CONNECTION_LOST, "gone");
    expect_log(test, "error head\nover Expired 410 0\n");
}

static void an_endless_error_is_cut_with_the_text_received(void **state)
{
    probe *test = *state;
    begin_kind(test, KI_ANSWER_WATCH);
    assert_false(ki_answer_is_error(&test->answer));
    ki_answer_head(&test->answer, 503, 3);
    assert_int_equal(body(test, "upstream"), 0);
    ki_answer_cut_error(&test->answer);
    expect_log(test, "error head\ncancel\nover ServerError 503 3\n");
    assert_string_equal(test->failure.error.message, "the server responded with 503: upstream");
    assert_false(ki_answer_is_error(&test->answer));
}

static void a_lost_connection_has_a_message(void **state)
{
    probe *test = *state;
    begin_kind(test, KI_ANSWER_WATCH);
    ki_answer_end(&test->answer, KI_REASON_DNS, "no such host");
    expect_log(test, "over Dns 0 0\n");
    assert_string_equal(test->failure.error.message, "no such host");
    begin_kind(test, KI_ANSWER_WATCH);
    ki_answer_end(&test->answer, KI_REASON_DNS, NULL);
    assert_string_equal(test->failure.error.message, "Dns");
}

static size_t hide_secret(char *text, size_t len, const void *user)
{
    return ki_mask_secret(text, len, user);
}

#define ECHO                                                                                                 \
    "{\"kind\":\"Status\",\"code\":401,\"reason\":\"Unauthorized\",\"message\":\"not sek\\u0072et-1\"}"

static void a_secret_echoed_in_an_error_is_masked(void **state)
{
    probe *test = *state;
    const struct {
        int status;
        const char *body;
        const char *expected;
    } rows[] = {
        {401, ECHO, "the server responded with 401 Unauthorized: not <masked>"},
        {401, "no, sekret-1\n", "the server responded with 401: no, <masked>"},
        {200, ECHO, "the response is not a list but a Status, reason \"Unauthorized\": not <masked>"},
        {200, "{\"kind\":\"sekret-1\"}", "the response is not a list of Pod: its kind is \"<masked>\""},
    };
    test->answer.mask = (ki_mask){hide_secret, "sekret-1"};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin_kind(test, KI_ANSWER_LIST);
        ki_answer_head(&test->answer, rows[i].status, 0);
        (void)!body(test, rows[i].body);
        end(test);
        assert_string_equal(test->failure.error.message, rows[i].expected);
    }
}

static void a_secret_echoed_in_a_watch_is_masked(void **state)
{
    probe *test = *state;
    const ki_decoded *event = &test->answer.decoder.as.json_watch.decoded;
    test->answer.mask = (ki_mask){hide_secret, "sekret-1"};
    begin_kind(test, KI_ANSWER_WATCH);
    assert_int_equal(body(test, "{\"type\":\"ERROR\",\"object\":" ECHO "}"), 0);
    assert_true(ki_str_equal(event->status.message, KI_STR("not <masked>")));
    assert_int_equal(body(test, "{\"type\":\"sekret-1\",\"object\":{}}"), 0);
    assert_string_equal(event->refused.error.message, "unknown event type \"<masked>\"");
}

static void an_answer_whose_source_refuses_is_over(void **state)
{
    probe *test = *state;
    test->begin_result = KI_ERR_SYSTEM;
    begin_kind(test, KI_ANSWER_WATCH);
    expect_log(test, "over ConnectionLost 0 0\n");
    test->begin_result = KI_ERR_INVALID;
    begin_kind(test, KI_ANSWER_WATCH);
    expect_log(test, "over BadRequest 400 0\n");
    test->begin_result = KI_ERR_NO_MEMORY;
    begin_kind(test, KI_ANSWER_WATCH);
    expect_log(test, "over NoMemory 0 0\n");
}

static void a_decoder_that_runs_out_of_memory_reports_it(void **state)
{
    probe *test = *state;
    begin_kind(test, KI_ANSWER_WATCH);
    failing_allocator_fail_at(1);
    assert_int_equal(body(test, BOOKMARK), KI_ERR_NOT_FOUND);
    failing_allocator_fail_at(0);
    expect_log(test, "cancel\nover NoMemory 0 0\n");
}

static void a_null_answer_is_harmless(void **state)
{
    (void)state;
    ki_answer_head(NULL, 200, 0);
    assert_int_equal(ki_answer_body(NULL, "", 0), KI_ERR_NOT_FOUND);
    ki_answer_end(NULL, KI_REASON_NONE, NULL);
    ki_answer_set_data(NULL, NULL);
    assert_null(ki_answer_data(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_list_is_reported_result_by_result, setup, teardown),
        cmocka_unit_test_setup_teardown(a_request_counts_as_sent_when_the_source_reports_it, setup, teardown),
        cmocka_unit_test_setup_teardown(a_watch_is_reported_event_by_event, setup, teardown),
        cmocka_unit_test_setup_teardown(an_answer_can_be_used_again, setup, teardown),
        cmocka_unit_test_setup_teardown(a_body_that_is_not_json_is_cancelled, setup, teardown),
        cmocka_unit_test_setup_teardown(a_secret_echoed_in_an_error_is_masked, setup, teardown),
        cmocka_unit_test_setup_teardown(a_secret_echoed_in_a_watch_is_masked, setup, teardown),
        cmocka_unit_test_setup_teardown(an_owner_may_cancel_in_the_middle, setup, teardown),
        cmocka_unit_test_setup_teardown(a_full_owner_makes_the_source_wait, setup, teardown),
        cmocka_unit_test_setup_teardown(an_error_is_explained_by_its_status, setup, teardown),
        cmocka_unit_test_setup_teardown(the_head_decides_how_long_to_wait, setup, teardown),
        cmocka_unit_test_setup_teardown(a_long_error_body_of_any_text_is_cut, setup, teardown),
        cmocka_unit_test_setup_teardown(a_truncated_error_is_still_reported, setup, teardown),
        cmocka_unit_test_setup_teardown(an_endless_error_is_cut_with_the_text_received, setup, teardown),
        cmocka_unit_test_setup_teardown(a_lost_connection_has_a_message, setup, teardown),
        cmocka_unit_test_setup_teardown(an_answer_whose_source_refuses_is_over, setup, teardown),
        cmocka_unit_test_setup_teardown(a_source_is_inside_until_it_ends_the_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(a_body_that_ends_the_answer_leaves_the_source_inside, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_decoder_that_runs_out_of_memory_reports_it, setup, teardown),
        cmocka_unit_test_setup_teardown(a_null_answer_is_harmless, setup, teardown),
    };
    return RUN_TESTS(tests);
}
