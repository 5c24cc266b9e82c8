/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of failures, the status, transforms, and sources that behave unexpectedly. */
#include <string.h>

#include "support/reflector/reflector_run.h"
#include "support/unit.h"

/* ---- failures ------------------------------------------------------------------------------------------ */

static void a_failure_reports_the_time_since_the_last_success(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    scripted_cut(&run->source, KI_REASON_DNS);
    expect_errors(run, "Dns\n");
    assert_true(run->last_success_ms == UINT64_MAX);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_whole(&run->source, LIST("10", "", ""));
    reflector_run_wait_ms(run, 1234);
    scripted_cut(&run->source, KI_REASON_CONNECTION_LOST);
    assert_int_equal(run->last_success_ms, 1234);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_body(&run->source, BOOKMARK("10"));
    reflector_run_wait_ms(run, 55);
    scripted_cut(&run->source, KI_REASON_CONNECTION_LOST);
    assert_int_equal(run->last_success_ms, 55);
}

static void delays_of_lists_grow_and_restart_after_two_healthy_minutes(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    for (int i = 0; i < 4; i++) {
        scripted_error(&run->source, 500, "");
        assert_in_range(run->last_retry_ms, 800u << i, 1600u << i);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    }
    scripted_whole(&run->source, LIST("10", "", ""));
    scripted_head(&run->source, 200, 0);
    reflector_run_wait_ms(run, 119 * 1000);
    scripted_cut(&run->source, KI_REASON_CONNECTION_LOST);
    assert_in_range(run->last_retry_ms, 800u << 4, 1600u << 4);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_head(&run->source, 200, 0);
    reflector_run_wait_ms(run, 120 * 1000);
    scripted_cut(&run->source, KI_REASON_CONNECTION_LOST);
    assert_in_range(run->last_retry_ms, 800, 1600);
}

static void the_backoff_is_an_option(void **state)
{
    reflector_run *run = *state;
    run->informer.backoff_ms = 50;
    run->informer.backoff_max_ms = 60;
    reflector_run_start(run, "");
    for (int i = 0; i < 3; i++) {
        scripted_error(&run->source, 500, "");
        assert_in_range(run->last_retry_ms, 50, 120);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    }
}

static void a_list_waits_as_long_as_the_server_asks(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    scripted_head(&run->source, 503, 0);
    scripted_whole(&run->source, "{\"kind\":\"Status\",\"code\":503,\"details\":{\"retryAfterSeconds\":7}}");
    assert_int_equal(run->last_retry_ms, 7000);
    expect_errors(run, "ServerError 503\n");
}

static void a_redirect_is_an_error(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    scripted_error(&run->source, 307, "");
    expect_errors(run, "Redirected 307\n");
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_BACKING_OFF);
}

static void an_error_handler_is_optional(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    run->reflector.options.on_error = NULL;
    scripted_cut(&run->source, KI_REASON_DNS);
    assert_int_equal(reflector_run_status(run).reason, KI_REASON_DNS);
}

/* ---- sources ------------------------------------------------------------------------------------------- */

static void a_request_that_the_source_refuses_is_repeated(void **state)
{
    reflector_run *run = *state;
    run->source.begin_result = KI_ERR_SYSTEM;
    reflector_run_start(run, "");
    expect_errors(run, "ConnectionLost\n");
    run->source.begin_result = KI_ERR_NO_MEMORY;
    reflector_run_wait_ms(run, 1600);
    expect_errors(run, "NoMemory\n");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_whole(&run->source, LIST("10", "", ""));
    expect_changes(run, "END 3 10\n");
}

static void a_watch_that_the_source_refuses_is_repeated(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    run->source.begin_result = KI_ERR_SYSTEM;
    scripted_whole(&run->source, LIST("10", "", ""));
    expect_errors(run, "ConnectionLost\n");
    text_log_clear(&run->source.requests);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "WATCH rv=10 bookmarks\n");
}

static void answer_at_once(scripted_source *source, const ki_list_options *options, void *user)
{
    (void)user;
    if (!options->watch) {
        scripted_whole(source, LIST("10", "", POD("a", "5")));
        return;
    }
    scripted_head(source, 200, 0);
    scripted_body(source, EVENT("ADDED", POD("b", "11")));
}

static void a_source_may_answer_within_begin(void **state)
{
    reflector_run *run = *state;
    run->source.at_once = answer_at_once;
    reflector_run_start(run, "");
    expect_changes(run, "REPLACED 1 d/a@5\nEND 1 10\nADDED d/b@11 11\n");
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_WATCHING);
    assert_int_equal(run->source.depth_max, 1);
}

static void fail_at_once(scripted_source *source, const ki_list_options *options, void *user)
{
    (void)options;
    (void)user;
    ki_answer *answer = source->answer;
    scripted_cut(source, KI_REASON_CONNECTION_REFUSED);
    ki_answer_end(answer, KI_REASON_DNS, "once more");
}

static void an_answer_ends_once(void **state)
{
    reflector_run *run = *state;
    run->source.at_once = fail_at_once;
    reflector_run_start(run, "");
    expect_errors(run, "ConnectionRefused\n");
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_BACKING_OFF);
}

static void a_source_has_a_pointer_for_each_request(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    ki_answer *answer = run->source.answer;
    assert_null(ki_answer_data(answer));
    ki_answer_set_data(answer, run);
    assert_ptr_equal(ki_answer_data(answer), run);
    scripted_whole(&run->source, LIST("10", "", ""));
    assert_null(ki_answer_data(run->source.answer));
}

static void no_request_begins_while_a_body_is_processed(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_body(&run->source, EVENT("ERROR", STATUS("410", "Expired")));
    expect_requests(run, "cancel\n");
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_BACKING_OFF);
    assert_int_equal(reflector_run_status(run).retry_ms, 0);
    assert_true(run->due_ns <= ki_clock_now_ns(&run->clock));
    reflector_run_wait_ms(run, 0);
    expect_requests(run, "LIST rv=10 match=NotOlderThan limit=500\n");
}

/* ---- transforms ---------------------------------------------------------------------------------------- */

typedef struct transform_case {
    const char *json; /* its replacement; NULL: none */
    int result;
    int makes_none;
    unsigned calls;
} transform_case;

static int transform(const ki_object **object, void *user)
{
    transform_case *test = user;
    test->calls++;
    if (test->makes_none)
        *object = NULL;
    if (test->json != NULL)
        *object = ki_object_new(NULL, ki_str_of(test->json), NULL, NULL);
    return test->result;
}

#define OTHER_POD(uid, version)                                                                              \
    "{\"metadata\":{\"namespace\":\"d\",\"name\":\"a\",\"uid\":\"" uid "\",\"resourceVersion\":\"" version   \
    "\"}}"

static void a_transform_sees_every_object(void **state)
{
    reflector_run *run = *state;
    transform_case test = {.json = POD("a", "5")};
    run->informer.transform = transform;
    run->informer.transform_user = &test;
    reflector_run_start_watching(run);
    test.json = NULL;
    scripted_body(&run->source, EVENT("ADDED", POD("b", "11")) EVENT("MODIFIED", POD("b", "12"))
                                    EVENT("DELETED", POD("b", "13")));
    expect_changes(run, "ADDED d/b@11 11\nUPDATED d/b@12 12\nDELETED d/b@13 13\n");
    assert_int_equal(test.calls, 4);
    expect_errors(run, "");
}

static void an_item_whose_transform_fails_is_seen(void **state)
{
    reflector_run *run = *state;
    transform_case tests[] = {{.result = KI_ERR_TYPE},
                              {.json = POD("a", "5"), .result = KI_ERR_TYPE},
                              {.makes_none = 1},
                              {.json = POD("b", "5")},
                              {.json = OTHER_POD("", "6")},
                              {.json = OTHER_POD("u", "5")}};
    run->informer.transform = transform;
    run->informer.transform_user = &tests[0];
    reflector_run_start(run, "");
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        run->informer.transform_user = &tests[i];
        scripted_body(&run->source, LIST("10", "t", POD("a", "5")));
        expect_changes(run, i == 0   ? "SEEN 1 d/a\n"
                            : i == 1 ? "SEEN 2 d/a\n"
                            : i == 2 ? "SEEN 3 d/a\n"
                            : i == 3 ? "SEEN 4 d/a\n"
                            : i == 4 ? "SEEN 5 d/a\n"
                                     : "SEEN 6 d/a\n");
        expect_errors(run, "Other d/a\n");
        assert_int_equal(run->last_code, i < 2 ? KI_ERR_TYPE : KI_ERR_INVALID);
        ki_reflector_halt(&run->reflector);
        reflector_run_wait_ms(run, 10000);
        reflector_run_restart(run, "");
    }
}

static void an_event_whose_transform_fails_is_ignored(void **state)
{
    reflector_run *run = *state;
    transform_case test = {0};
    run->informer.transform = transform;
    run->informer.transform_user = &test;
    reflector_run_start_watching(run);
    test.result = KI_ERR_TYPE;
    scripted_body(&run->source, EVENT("MODIFIED", POD("a", "11")));
    expect_errors(run, "Other d/a\n");
    expect_changes(run, "");
    reflector_run_wait_ms(run, 100 * 1000);
    expect_requests(run, "");
    scripted_end(&run->source);
    expect_requests(run, "WATCH rv=10 bookmarks\n");
}

static void a_delete_whose_transform_fails_leads_to_a_list(void **state)
{
    reflector_run *run = *state;
    transform_case test = {0};
    run->informer.transform = transform;
    run->informer.transform_user = &test;
    reflector_run_start_watching(run);
    test.result = KI_ERR_TYPE;
    scripted_body(&run->source, EVENT("DELETED", POD("a", "11")));
    reflector_run_wait_while(run, KI_PHASE_WATCHING);
    expect_requests(run, "cancel\nLIST rv=10 match=NotOlderThan limit=500\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        reflector_test(a_failure_reports_the_time_since_the_last_success),
        reflector_test(delays_of_lists_grow_and_restart_after_two_healthy_minutes),
        reflector_test(the_backoff_is_an_option),
        reflector_test(a_list_waits_as_long_as_the_server_asks),
        reflector_test(a_redirect_is_an_error),
        reflector_test(an_error_handler_is_optional),
        reflector_test(a_request_that_the_source_refuses_is_repeated),
        reflector_test(a_watch_that_the_source_refuses_is_repeated),
        reflector_test(a_source_may_answer_within_begin),
        reflector_test(an_answer_ends_once),
        reflector_test(a_source_has_a_pointer_for_each_request),
        reflector_test(no_request_begins_while_a_body_is_processed),
        reflector_test(a_transform_sees_every_object),
        reflector_test(an_item_whose_transform_fails_is_seen),
        reflector_test(an_event_whose_transform_fails_is_ignored),
        reflector_test(a_delete_whose_transform_fails_leads_to_a_list),
    };
    return RUN_TESTS(tests);
}
