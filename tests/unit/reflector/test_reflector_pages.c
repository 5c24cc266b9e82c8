/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of a LIST: failed pages, which are requested again, and empty pages. */
#include <stdio.h>

#include "support/reflector/reflector_run.h"
#include "support/unit.h"

/* Starts a list and answers its first page. */
static void start_second_page(reflector_run *run)
{
    reflector_run_start(run, "");
    scripted_whole(&run->source, LIST("10", "t1", POD("a", "5")));
    expect_requests(run, "LIST rv=0 limit=500\nLIST continue=t1 limit=500\n");
    expect_changes(run, "REPLACED 1 d/a@5\n");
}

static void a_temporarily_refused_page_is_requested_again(void **state)
{
    reflector_run *run = *state;
    static const int codes[] = {429, 500, 502, 503, 504};
    char page[300];
    start_second_page(run);
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        scripted_error(&run->source, codes[i], "");
        expect_requests(run, "");
        assert_true(run->last_retry_ms >= 800);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
        snprintf(page, sizeof(page), "LIST continue=t%zu limit=500\n", i + 1);
        expect_requests(run, page);
        snprintf(page, sizeof(page), LIST("12", "t%zu", POD("b", "6")), i + 2);
        scripted_whole(&run->source, page);
        expect_changes(run, "REPLACED 1 d/b@6\n");
        text_log_clear(&run->source.requests);
    }
    scripted_whole(&run->source, LIST("12", "", POD("b", "6")));
    expect_changes(run, "REPLACED 1 d/b@6\nEND 1 10\n");
    expect_requests(run, "WATCH rv=10 bookmarks\n");
    assert_int_equal(reflector_run_status(run).lists, 1);
}

static void the_phase_is_backing_off_with_a_reason_and_then_listing(void **state)
{
    reflector_run *run = *state;
    start_second_page(run);
    text_log_clear(&run->statuses);
    scripted_head(&run->source, 429, 7);
    scripted_end(&run->source);
    expect_errors(run, "TooManyRequests 429\n");
    assert_int_equal(run->last_retry_ms, 7000);
    reflector_run_wait_ms(run, 6999);
    expect_statuses(run, "BACKING_OFF TooManyRequests\n");
    reflector_run_wait_ms(run, 1);
    expect_statuses(run, "LISTING TooManyRequests\n");
    scripted_whole(&run->source, LIST("10", "", ""));
    expect_statuses(run, "LISTING \n");
}

static void a_page_cut_before_its_items_is_requested_again(void **state)
{
    reflector_run *run = *state;
    start_second_page(run);
    scripted_cut(&run->source, KI_REASON_CONNECTION_REFUSED);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_body(&run->source, "{\"kind\":\"PodList\",\"metadata\":{\"continue\":\"t2\"},\"items\":[");
    scripted_cut(&run->source, KI_REASON_CONNECTION_LOST);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_errors(run, "ConnectionRefused\nConnectionLost\n");
    expect_requests(run, "LIST continue=t1 limit=500\nLIST continue=t1 limit=500\n");
    scripted_whole(&run->source, LIST("10", "", POD("b", "6")));
    expect_changes(run, "REPLACED 1 d/b@6\nEND 1 10\n");
}

static void a_page_cut_between_its_items_restarts_the_list(void **state)
{
    reflector_run *run = *state;
    start_second_page(run);
    scripted_body(&run->source, "{\"kind\":\"PodList\",\"metadata\":{},\"items\":[" POD("b", "6"));
    scripted_cut(&run->source, KI_REASON_CONNECTION_LOST);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "LIST rv=0 limit=500\n");
    scripted_whole(&run->source, LIST("11", "", ""));
    expect_changes(run, "REPLACED 1 d/b@6\nEND 2 11\n");
}

static void the_first_page_that_fails_is_a_new_attempt(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    scripted_error(&run->source, 429, "");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_whole(&run->source, LIST("10", "", ""));
    expect_changes(run, "END 2 10\n");
}

static void a_token_that_has_expired_leads_to_a_whole_list(void **state)
{
    reflector_run *run = *state;
    start_second_page(run);
    scripted_error(&run->source, 503, "");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    expect_requests(run, "LIST continue=t1 limit=500\nLIST rv=0 limit=0\n");
    scripted_whole(&run->source, LIST("12", "", ""));
    expect_changes(run, "END 2 12\n");
}

static void other_errors_of_a_page_restart_the_list(void **state)
{
    reflector_run *run = *state;
    start_second_page(run);
    scripted_error(&run->source, 403, "");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "LIST rv=0 limit=500\n");
}

static void fail_page(reflector_run *run, int times)
{
    for (int i = 0; i < times; i++) {
        scripted_error(&run->source, 429, "");
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    }
}

static void a_page_that_failed_three_times_restarts_the_list(void **state)
{
    reflector_run *run = *state;
    start_second_page(run);
    for (int attempt = 2; attempt < 5; attempt++) {
        fail_page(run, 2);
        expect_requests(run, "LIST continue=t1 limit=500\nLIST continue=t1 limit=500\n");
        fail_page(run, 1);
        expect_requests(run, "LIST rv=0 limit=500\n");
        scripted_whole(&run->source, LIST("11", "t1", ""));
        reflector_run_wait_ms(run, 1000);
        text_log_clear(&run->source.requests);
    }
    scripted_whole(&run->source, LIST("11", "", ""));
    expect_changes(run, "END 4 11\n");
}

static void a_page_is_retried_for_at_most_half_a_minute(void **state)
{
    reflector_run *run = *state;
    start_second_page(run);
    reflector_run_wait_ms(run, 60 * 1000); /* the server is silent */
    expect_errors(run, "Timeout\n");
    text_log_clear(&run->source.requests);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "LIST rv=0 limit=500\n");
    scripted_whole(&run->source, LIST("10", "t1", POD("a", "5")));
    text_log_clear(&run->source.requests);
    scripted_head(&run->source, 429, 31); /* a retry after that time would be too late */
    scripted_end(&run->source);
    assert_int_equal(run->last_retry_ms, 31000);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "LIST rv=0 limit=500\n");
}

static void each_page_has_its_own_retries_and_delays(void **state)
{
    reflector_run *run = *state;
    start_second_page(run);
    fail_page(run, 2);
    scripted_whole(&run->source, LIST("10", "t2", POD("b", "6")));
    text_log_clear(&run->source.requests);
    scripted_error(&run->source, 429, "");
    assert_in_range(run->last_retry_ms, 800, 1600);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "LIST continue=t2 limit=500\n");
    fail_page(run, 1);
    scripted_whole(&run->source, LIST("10", "", ""));
    expect_changes(run, "REPLACED 1 d/b@6\nEND 1 10\n");
}

static void a_list_that_waits_for_a_page_can_be_halted(void **state)
{
    reflector_run *run = *state;
    start_second_page(run);
    scripted_error(&run->source, 429, "");
    ki_reflector_halt(&run->reflector);
    reflector_run_wait_ms(run, 3600 * 1000);
    expect_requests(run, "");
    reflector_run_restart(run, "9");
    expect_requests(run, "LIST rv=9 match=NotOlderThan limit=500\n");
}

static void a_server_that_failed_between_pages_is_probed(void **state)
{
    reflector_run *run = *state;
    start_second_page(run);
    scripted_cut(&run->source, KI_REASON_CONNECTION_LOST);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_whole(&run->source, LIST("10", "", POD("b", "6")));
    text_log_clear(&run->source.requests);
    reflector_run_wait_ms(run, 10 * 1000);
    expect_requests(run, "LIST rv= limit=1\n");
    scripted_probe_whole(&run->source, LIST("4", "", ""));
    expect_errors(run, "ConnectionLost\nHistoryReset\n");
    expect_requests(run, "cancel\nLIST rv= limit=500\n");
}

/* Endless pages; the second has a malformed item. */
static void answer_page_at_once(scripted_source *source, const ki_list_options *options, void *user)
{
    unsigned *pages = user;
    if (options->watch)
        return;
    (*pages)++;
    scripted_page(source, *pages, *pages == 2 ? "7" : "");
}

static void empty_pages_are_requested_once_a_second(void **state)
{
    reflector_run *run = *state;
    unsigned pages = 0;
    run->source.at_once = answer_page_at_once;
    run->source.user = &pages;
    reflector_run_start(run, "");
    assert_int_equal(pages, 5);
    reflector_run_wait_ms(run, 100 * 1000);
    assert_int_equal(pages, 105);
    expect_statuses(run, "LISTING \n");
    expect_errors(run, "Malformed\n");
    run->source.at_once = NULL;
}

static void a_page_that_fails_at_once_is_not_requested_again_too_soon(void **state)
{
    reflector_run *run = *state;
    run->informer.backoff_ms = 1;
    run->informer.backoff_max_ms = 1;
    start_second_page(run);
    for (int i = 0; i < 4; i++) { /* the page twice again, then the list, then its second page */
        scripted_error(&run->source, 500, "");
        reflector_run_wait_ms(run, 2);
        text_log_clear(&run->source.requests);
        if (i == 2)
            scripted_whole(&run->source, LIST("10", "t1", POD("a", "5")));
    }
    scripted_error(&run->source, 500, "");
    text_log_clear(&run->source.requests);
    reflector_run_wait_ms(run, 900);
    expect_requests(run, "");
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_BACKING_OFF);
    reflector_run_wait_ms(run, 100);
    expect_requests(run, "LIST continue=t1 limit=500\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        reflector_test(a_temporarily_refused_page_is_requested_again),
        reflector_test(the_phase_is_backing_off_with_a_reason_and_then_listing),
        reflector_test(a_page_cut_before_its_items_is_requested_again),
        reflector_test(a_page_cut_between_its_items_restarts_the_list),
        reflector_test(the_first_page_that_fails_is_a_new_attempt),
        reflector_test(a_token_that_has_expired_leads_to_a_whole_list),
        reflector_test(other_errors_of_a_page_restart_the_list),
        reflector_test(a_page_that_failed_three_times_restarts_the_list),
        reflector_test(a_page_is_retried_for_at_most_half_a_minute),
        reflector_test(each_page_has_its_own_retries_and_delays),
        reflector_test(a_list_that_waits_for_a_page_can_be_halted),
        reflector_test(a_server_that_failed_between_pages_is_probed),
        reflector_test(empty_pages_are_requested_once_a_second),
        reflector_test(a_page_that_fails_at_once_is_not_requested_again_too_soon),
    };
    return RUN_TESTS(tests);
}
