/* SPDX-License-Identifier: Apache-2.0 */
/* Edge cases of the reflector: between two watches, across a stop, and between reflectors. */
#include <stdio.h>

#include "queue/delta_fifo.h"
#include "support/queue/fifo_text.h"
#include "support/reflector/reflector_run.h"
#include "support/unit.h"
#include "util/units.h"

/* ---- a pending relist, with a source that answers within begin ------------------------------ */

static int versions = 100;

static void answer_at_once(scripted_source *source, const ki_list_options *options, void *user)
{
    char text[400];
    (void)user;
    if (!options->watch) {
        scripted_whole(source, LIST("10", "", POD("a", "5")));
        return;
    }
    /* A bookmark that is always newer; the first watch also has a malformed event. */
    snprintf(text, sizeof(text), "%s" BOOKMARK("%d"),
             versions == 100 ? "{\"type\":\"DELETED\",\"object\":{\"metadata\":{}}}\n" : "", versions);
    versions++;
    scripted_whole(source, text);
}

static void a_pending_relist_is_done_even_if_each_watch_ends_at_once(void **state)
{
    reflector_run *run = *state;
    run->source.at_once = answer_at_once;
    reflector_run_start(run, "");
    reflector_run_wait_ms(run, 30 * 60 * 1000);
    ki_informer_status status = reflector_run_status(run);
    run->source.at_once = NULL;
    assert_true(status.lists >= 2);
}

/* ---- doubt after a stop ------------------------------------------------------------------------- */

static void after_a_stop_a_list_is_in_doubt_again(void **state)
{
    reflector_run *run = *state;
    run->informer.watch_list = KI_WATCH_LIST_AUTO;
    reflector_run_start(run, "10");
    scripted_error(&run->source, 410, "");
    scripted_body(&run->source, EVENT("ADDED", POD("a", "5")));
    assert_int_equal(run->doubtful_items, 1);
    ki_reflector_doubt_list(&run->reflector,
                            run->reflector.list.number); /* as for more than 10,000 held items */
    reflector_run_wait_ms(run, 2000);
    text_log_clear(&run->source.requests);
    run->doubtful_items = 0;
    ki_reflector_halt(&run->reflector);
    reflector_run_restart(run, "10"); /* stop and start during the LIST of the newest version */
    reflector_run_wait_ms(run, 5000);
    scripted_body(&run->source, EVENT("ADDED", POD("a", "5")));
    assert_int_equal(run->doubtful_items, 1);
}

/* ---- an old event makes nothing fresh ------------------------------------------------------------ */

static void an_old_event_is_not_a_success(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    reflector_run_wait_ms(run, 100 * 1000);
    scripted_body(&run->source, BOOKMARK("4"));
    uint64_t behind_bookmark = reflector_run_status(run).success_age_ms;
    scripted_body(&run->source, EVENT("MODIFIED", POD("a", "5")));
    uint64_t behind_event = reflector_run_status(run).success_age_ms;
    ki_delta_fifo fifo; /* the same for what ki_informer_age_ms() reads */
    fifo_init(&fifo);
    ki_delta_fifo_set_now(&fifo, 10);
    fifo_push_marker(&fifo, KI_CHANGE_LIST_END, 1, "10");
    fifo_assert_pops(&fifo, FIFO_ALL, "END1 10", "10");
    ki_delta_fifo_report_processed(&fifo, NULL);
    ki_delta_fifo_set_now(&fifo, 500);
    fifo_push_event(&fifo, KI_CHANGE_UPDATED, "a", 5);
    fifo_assert_pops(&fifo, FIFO_ALL, "default/a ~5", "10");
    ki_delta_fifo_report_processed(&fifo, NULL);
    uint64_t fresh_ns = ki_delta_fifo_fresh_ns(&fifo);
    ki_delta_fifo_fini(&fifo);
    assert_int_equal(fresh_ns, 10);
    assert_true(behind_bookmark >= 100 * 1000);
    assert_true(behind_event >= 100 * 1000);
}

/* ---- another informer of the same resource -------------------------------------------------------- */

static void informers_of_a_resource_share_what_they_know_about_streams(void **state)
{
    reflector_run *run = *state;
    reflector_run other;
    run->informer.watch_list = KI_WATCH_LIST_AUTO;
    reflector_run_start(run, "");
    reflector_run_fail(run, 503, 2);
    scripted_whole(&run->source, LIST("10", "", ""));
    reflector_run_init(&other);
    other.informer.watch_list = KI_WATCH_LIST_AUTO;
    other.streams = run->streams;
    ki_clock_set_now_ns(&other.clock, ki_clock_now_ns(&run->clock));
    reflector_run_start(&other, "");
    int is_list = strncmp(other.source.requests.text, "LIST", 4) == 0;
    reflector_run_fini(&other);
    assert_true(is_list);
}

/* ---- a list is as old as its beginning ------------------------------------------------------------ */

static void a_list_makes_the_store_as_old_as_its_first_page(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    scripted_whole(&run->source, LIST("10", "next", POD("a", "5"))); /* the snapshot is of this moment */
    for (int i = 0; i < 5; i++) {                                    /* a slow page from a busy server */
        reflector_run_wait_ms(run, 50 * 1000);
        scripted_body(&run->source,
                      i == 0 ? "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"10\"},\"items\":["
                             : " ");
    }
    scripted_whole(&run->source, POD("b", "6") "]}");
    uint64_t age = reflector_run_status(run).success_age_ms;
    assert_true(age >= 250 * 1000);
}

/* ---- a response to the probe says nothing about the watch ----------------------------------------- */

static void a_response_to_the_probe_is_not_a_response_to_the_watch(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_head(&run->source, 200, 0);
    scripted_cut(&run->source, KI_REASON_CONNECTION_LOST);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    text_log_clear(&run->statuses);
    reflector_run_wait_ms(run, 11 * 1000); /* the watch gets no response, the probe does */
    assert_non_null(run->source.probe);
    scripted_probe_whole(&run->source, LIST("10", "", ""));
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_BACKING_OFF);
}

/* ---- a response to a request not reported as sent -------------------------------------------------- */

static void a_request_with_a_response_counts_as_sent(void **state)
{
    reflector_run *run = *state;
    run->tells_sent = 1;
    reflector_run_start_watching(run);
    reflector_run_fail(run, 503, 6);
    assert_true(reflector_run_status(run).lists > 1);
}

/* ---- failures with a list between them ------------------------------------------------------------- */

static void failures_with_a_list_between_them_are_not_consecutive(void **state)
{
    reflector_run *run = *state;
    run->informer.watch_list = KI_WATCH_LIST_AUTO;
    reflector_run_start(run, "");
    scripted_error(&run->source, 500, "");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_error(&run->source, 429, "");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_whole(&run->source, LIST("10", "", "")); /* synced */
    scripted_head(&run->source, 200, 0);
    scripted_body(&run->source, BOOKMARK("11"));
    reflector_run_wait_ms(run, 100 * 1000);
    scripted_error(&run->source, 410, ""); /* much later */
    text_log_clear(&run->source.requests);
    scripted_error(&run->source, 500, "");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    assert_true(strncmp(run->source.requests.text, "STREAM", 6) == 0);
}

/* ---- changes read after a pause ---------------------------------------------------------------------- */

static void changes_that_waited_during_a_pause_are_as_old_as_the_pause(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_head(&run->source, 200, 0);
    run->is_full = 1;
    scripted_body(&run->source, EVENT("MODIFIED", POD("a", "11")));
    uint64_t paused_ns = ki_clock_now_ns(&run->clock);
    for (int i = 0; i < 5; i++) { /* each time there is space for only one more */
        reflector_run_wait_ms(run, 50 * 1000);
        ki_reflector_resume(&run->reflector);
        scripted_body(&run->source, EVENT("MODIFIED", POD("a", "12")));
        assert_int_equal(ki_reflector_received_ns(&run->reflector), paused_ns);
    }
    run->is_full = 0;
    ki_reflector_resume(&run->reflector);
    reflector_run_wait_ms(run, 2000); /* everything has been read */
    assert_int_equal(ki_reflector_received_ns(&run->reflector), ki_clock_now_ns(&run->clock));
}

/* ---- a list fails while polling ---------------------------------------------------------------------- */

static void begin_polling(reflector_run *run, const char *list)
{
    run->informer.watch_list = KI_WATCH_LIST_NEVER;
    reflector_run_start(run, "");
    scripted_whole(&run->source, list);
    reflector_run_fail(run, 500, 3);
    text_log_clear(&run->source.requests);
}

/* The store may be ahead of the watch, and unordered versions cannot tell. */
static void a_partial_list_of_unordered_versions_is_followed_by_a_list(void **state)
{
    reflector_run *run = *state;
    begin_polling(run, LIST("v-1", "", POD("a", "v-1")));
    scripted_whole(&run->source, LIST("v-5", "next", POD("a", "v-5")));
    text_log_clear(&run->source.requests);
    scripted_error(&run->source, 400, "");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    assert_int_equal(strncmp(run->source.requests.text, "LIST", 4), 0);
}

static void a_partial_list_of_numbers_is_followed_by_a_watch(void **state)
{
    reflector_run *run = *state;
    begin_polling(run, LIST("1", "", POD("a", "1")));
    scripted_whole(&run->source, LIST("5", "next", POD("a", "5")));
    text_log_clear(&run->source.requests);
    scripted_error(&run->source, 400, "");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    assert_int_equal(strncmp(run->source.requests.text, "WATCH", 5), 0);
}

static void a_reset_found_by_a_probe_is_reported_while_polling(void **state)
{
    reflector_run *run = *state;
    begin_polling(run, LIST("100", "", ""));
    scripted_whole(&run->source, LIST("100", "", ""));
    scripted_error(&run->source, 500, "");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    text_log_clear(&run->statuses);
    reflector_run_wait_ms(run, 11 * 1000); /* the watch gets no response */
    assert_non_null(run->source.probe);
    scripted_probe_whole(&run->source, LIST("7", "", ""));
    assert_non_null(strstr(run->statuses.text, "HistoryReset"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        reflector_test(a_pending_relist_is_done_even_if_each_watch_ends_at_once),
        reflector_test(after_a_stop_a_list_is_in_doubt_again),
        reflector_test(an_old_event_is_not_a_success),
        reflector_test(a_list_makes_the_store_as_old_as_its_first_page),
        reflector_test(a_response_to_the_probe_is_not_a_response_to_the_watch),
        reflector_test(a_request_with_a_response_counts_as_sent),
        reflector_test(failures_with_a_list_between_them_are_not_consecutive),
        reflector_test(informers_of_a_resource_share_what_they_know_about_streams),
        reflector_test(changes_that_waited_during_a_pause_are_as_old_as_the_pause),
        reflector_test(a_partial_list_of_unordered_versions_is_followed_by_a_list),
        reflector_test(a_partial_list_of_numbers_is_followed_by_a_watch),
        reflector_test(a_reset_found_by_a_probe_is_reported_while_polling),
    };
    return RUN_TESTS(tests);
}
