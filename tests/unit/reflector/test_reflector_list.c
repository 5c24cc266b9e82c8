/* SPDX-License-Identifier: Apache-2.0 */
/* LIST: requests, results, and malformed lists. */

#include "support/reflector/reflector_run.h"
#include "support/unit.h"

static void a_list_is_delivered_item_by_item_and_a_watch_follows(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    expect_requests(run, "LIST rv=0 limit=500\n");
    scripted_body(
        &run->source,
        "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[" POD("a", "5"));
    expect_changes(run, "REPLACED 1 d/a@5\n");
    scripted_body(&run->source, "," POD("b", "7") "]}");
    expect_changes(run, "REPLACED 1 d/b@7\n");
    scripted_end(&run->source);
    expect_changes(run, "END 1 10\n");
    expect_requests(run, "WATCH rv=10 bookmarks\n");
    expect_errors(run, "");
}

static void a_list_may_arrive_byte_by_byte(void **state)
{
    reflector_run *run = *state;
    run->source.is_bytewise = 1;
    reflector_run_start(run, "");
    scripted_whole(&run->source, LIST("10", "", POD("a", "5") "," POD("b", "7")));
    expect_changes(run, "REPLACED 1 d/a@5\nREPLACED 1 d/b@7\nEND 1 10\n");
}

static void an_empty_list_has_an_end(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    scripted_whole(&run->source, LIST("10", "", ""));
    expect_changes(run, "END 1 10\n");
}

static void pages_are_requested_by_their_token_alone(void **state)
{
    reflector_run *run = *state;
    run->source.is_bytewise = 1;
    reflector_run_start(run, "");
    scripted_whole(&run->source, LIST("10", "t1", POD("a", "5")));
    expect_requests(run, "LIST rv=0 limit=500\nLIST continue=t1 limit=500\n");
    scripted_whole(&run->source,
                   "{\"kind\":\"PodList\",\"metadata\":{\"continue\":\"t2\"},\"items\":[" POD("b", "6") "]}");
    scripted_whole(&run->source, LIST("12", "", POD("c", "7")));
    expect_changes(run, "REPLACED 1 d/a@5\nREPLACED 1 d/b@6\nREPLACED 1 d/c@7\nEND 1 10\n");
    expect_requests(run, "LIST continue=t2 limit=500\nWATCH rv=10 bookmarks\n");
}

static void the_page_size_is_an_option(void **state)
{
    reflector_run *run = *state;
    run->informer.page_size = 7;
    reflector_run_start(run, "");
    expect_requests(run, "LIST rv=0 limit=7\n");
}

static void pages_can_be_turned_off(void **state)
{
    reflector_run *run = *state;
    run->informer.page_size = -1;
    reflector_run_start(run, "");
    expect_requests(run, "LIST rv=0 limit=0\n");
}

static void tweak(ki_list_options *options, void *user)
{
    (*(int *)user)++;
    if (!options->watch)
        options->limit = 3;
    if (ki_str_equal(options->label_selector, KI_STR("app=web")))
        options->label_selector = KI_STR("app=tweaked");
}

static void selectors_are_sent_and_can_be_changed(void **state)
{
    reflector_run *run = *state;
    int calls = 0;
    run->informer.label_selector = "app=web";
    run->informer.field_selector = "spec.nodeName=n";
    run->informer.tweak = tweak;
    run->informer.tweak_user = &calls;
    reflector_run_start(run, "");
    scripted_whole(&run->source, LIST("10", "t", ""));
    scripted_whole(&run->source, LIST("10", "", ""));
    expect_requests(run, "LIST rv=0 limit=3 labels=app=tweaked fields=spec.nodeName=n\n"
                         "LIST continue=t limit=3 labels=app=tweaked fields=spec.nodeName=n\n"
                         "WATCH rv=10 labels=app=tweaked fields=spec.nodeName=n bookmarks\n");
    assert_int_equal(calls, 3);
}

static void an_item_that_cannot_be_decoded_is_still_seen(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    scripted_whole(&run->source,
                   LIST("10", "", "{\"metadata\":{\"namespace\":\"d\",\"name\":\"bad\",\"labels\":7}},7"));
    expect_changes(run, "SEEN 1 d/bad\nEND 1 10\n");
    expect_errors(run, "Malformed d/bad\nMalformed\n");
    assert_int_equal(reflector_run_status(run).refused, 2);
    assert_int_equal(reflector_run_status(run).reason, KI_REASON_NONE);
}

static void an_expired_token_leads_to_one_whole_list_at_once(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    scripted_whole(&run->source, LIST("10", "t1", POD("a", "5")));
    text_log_clear(&run->source.requests);
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    expect_requests(run, "LIST rv=0 limit=0\n");
    expect_errors(run, "Expired 410\n");
    assert_int_equal(run->last_retry_ms, 0);
    scripted_whole(&run->source, LIST("12", "", POD("a", "5")));
    expect_changes(run, "REPLACED 1 d/a@5\nREPLACED 2 d/a@5\nEND 2 12\n");
    expect_requests(run, "WATCH rv=12 bookmarks\n");
}

static void an_expired_version_leads_to_the_newest_at_once_and_then_to_backoff(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    expect_requests(run, "LIST rv=0 limit=500\nLIST rv= limit=500\n");
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    expect_errors(run, "Expired 410\nExpired 410\n");
    expect_requests(run, "");
    assert_true(run->last_retry_ms >= 800);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "LIST rv=0 limit=500\n");
    scripted_whole(&run->source, LIST("10", "", ""));
    expect_requests(run, "WATCH rv=10 bookmarks\n");
}

static void a_version_that_is_too_large_leads_to_the_newest_at_once(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    expect_requests(run, "LIST rv=10 match=NotOlderThan limit=500\n");
    scripted_error(&run->source, 504, TOO_LARGE);
    expect_requests(run, "LIST rv= limit=500\n");
    expect_errors(run, "Expired 410\nVersionTooLarge 504\n");
}

/* Makes the reflector list again from version 10. */
static void relist(reflector_run *run)
{
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    expect_errors(run, "Expired 410\n");
    expect_requests(run, "LIST rv=10 match=NotOlderThan limit=500\n");
}

static void an_older_list_is_abandoned_before_its_items(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    relist(run);
    scripted_body(&run->source, LIST("9", "", POD("z", "3")));
    assert_int_equal(run->source.last_result, KI_ERR_NOT_FOUND);
    expect_requests(run, "cancel\n");
    expect_errors(run, "Stale\n");
    reflector_run_wait_ms(run, 0);
    expect_requests(run, "LIST rv= limit=500\n");
    expect_changes(run, "");
}

static void an_older_list_with_its_metadata_last_ends_without_effect(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    relist(run);
    scripted_whole(&run->source, LIST_METADATA_LAST("9", POD("z", "3")));
    expect_changes(run, "REPLACED 2 d/z@3\nEND 2 9\n");
    expect_errors(run, "Stale\n");
    reflector_run_wait_ms(run, 0);
    expect_requests(run, "cancel\nLIST rv= limit=500\n");
    scripted_whole(&run->source, LIST("10", "", ""));
    expect_changes(run, "END 3 10\n");
}

static void an_item_that_is_only_seen_counts_as_an_item(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    relist(run);
    scripted_whole(
        &run->source,
        LIST_METADATA_LAST("9", "{\"metadata\":{\"namespace\":\"d\",\"name\":\"bad\",\"labels\":7}}"));
    expect_changes(run, "SEEN 2 d/bad\nEND 2 9\n");
    expect_errors(run, "Malformed d/bad\nStale\n");
}

/* Makes the reflector list the newest version after version 10. */
static void relist_newest(reflector_run *run)
{
    relist(run);
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    expect_errors(run, "Expired 410\n");
    expect_requests(run, "LIST rv= limit=500\n");
}

static void an_older_list_of_the_newest_version_is_another_history_and_continues(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    relist_newest(run);
    scripted_whole(&run->source, LIST("4", "", POD("z", "3")));
    expect_changes(run, "RESET 3\nREPLACED 3 d/z@3\nEND 3 4\n");
    expect_errors(run, "HistoryReset\n");
    expect_requests(run, "WATCH rv=4 bookmarks\n");
}

static void another_history_detected_late_restarts_the_list(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    relist_newest(run);
    scripted_whole(&run->source, LIST_METADATA_LAST("4", POD("z", "3")));
    expect_changes(run, "REPLACED 3 d/z@3\nEND 3 4\n");
    expect_errors(run, "HistoryReset\n");
    reflector_run_wait_ms(run, 0);
    expect_changes(run, "RESET 4\n");
    expect_requests(run, "cancel\nLIST rv= limit=500\n");
    scripted_whole(&run->source, LIST("4", "", POD("z", "3")));
    expect_changes(run, "REPLACED 4 d/z@3\nEND 4 4\n");
    reflector_run_wait_ms(run, 1000); /* until a request is allowed again */
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_whole(&run->source, LIST("5", "", ""));
    expect_changes(run, "END 5 5\n");
}

static void a_reset_is_reported_once(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    relist_newest(run);
    scripted_whole(&run->source, LIST("4", "", ""));
    expect_changes(run, "RESET 3\nEND 3 4\n");
    text_log_clear(&run->source.requests);
    scripted_error(&run->source, 410, STATUS("410", "Expired"));
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "LIST rv=4 match=NotOlderThan limit=500\n");
    scripted_whole(&run->source, LIST("5", "", ""));
    expect_changes(run, "END 4 5\n");
}

static void a_reset_that_runs_out_of_memory_twice_is_reported_eventually(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    relist_newest(run);
    run->refuse_after = 1;
    scripted_body(&run->source, LIST("4", "", POD("z", "3")));
    run->refuse_after = 1;
    reflector_run_wait_ms(run, 1600);
    expect_errors(run, "HistoryReset\nNoMemory\nNoMemory\n");
    expect_requests(run, "cancel\n");
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_BACKING_OFF);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_changes(run, "RESET 5\n");
    expect_requests(run, "LIST rv= limit=500\n");
}

static void a_reset_that_runs_out_of_memory_is_reported_later(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    relist_newest(run);
    run->refuse_after = 1;
    scripted_body(&run->source, LIST("4", "", POD("z", "3")));
    expect_errors(run, "HistoryReset\nNoMemory\n");
    expect_changes(run, "");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_changes(run, "RESET 4\n");
    expect_requests(run, "cancel\nLIST rv= limit=500\n");
}

static void versions_that_are_not_numbers_are_never_older(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    relist(run);
    scripted_whole(&run->source, LIST("x9", "", ""));
    expect_changes(run, "END 2 x9\n");
    expect_requests(run, "WATCH rv=x9 bookmarks\n");
}

static void a_repeated_token_is_an_error(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    for (int i = 0; i < 2; i++)
        scripted_whole(&run->source, LIST("10", "t", POD("a", "5")));
    expect_errors(run, "EndlessList\n");
    assert_true(run->last_retry_ms >= 800);
    expect_requests(run, "LIST rv=0 limit=500\nLIST continue=t limit=500\n");
}

/* The tokens of a list: some at first, then a cycle of others without end. */
typedef struct token_round {
    unsigned before;
    unsigned length;
    unsigned pages;
} token_round;

static void answer_in_rounds(scripted_source *source, const ki_list_options *options, void *user)
{
    token_round *round = user;
    (void)options;
    unsigned number = round->pages++;
    if (number >= round->before)
        number = round->before + (number - round->before) % round->length;
    scripted_page(source, number, POD("a", "5"));
}

static void tokens_in_a_cycle_are_an_error(void **state)
{
    reflector_run *run = *state;
    for (unsigned before = 0; before < 20; before++)
        for (unsigned length = 1; length < 40; length++) {
            token_round round = {.before = before, .length = length};
            run->source.at_once = answer_in_rounds;
            run->source.user = &round;
            if (run->is_begun)
                reflector_run_restart(run, "");
            else
                reflector_run_start(run, "");
            expect_errors(run, "EndlessList\n");
            assert_true(round.pages <= 3 * (before + length) + 1);
            assert_true(run->last_retry_ms >= 800);
            ki_reflector_halt(&run->reflector);
            reflector_run_wait_ms(run, 10 * 1000);
        }
    run->source.at_once = NULL;
}

/* Each page has an item, as an empty page delays the next request. */
static void answer_page_at_once(scripted_source *source, const ki_list_options *options, void *user)
{
    unsigned *pages = user;
    if (options->watch)
        return;
    (*pages)++;
    scripted_page(source, *pages, POD("a", "5"));
}

static void endless_pages_are_an_error_and_do_not_overflow_the_stack(void **state)
{
    reflector_run *run = *state;
    unsigned pages = 0;
    run->source.at_once = answer_page_at_once;
    run->source.user = &pages;
    reflector_run_start(run, "");
    assert_int_equal(pages, 100000);
    assert_int_equal(run->source.depth_max, 1);
    expect_errors(run, "EndlessList\n");
    run->source.at_once = NULL;
}

static void the_maximum_number_of_pages_can_be_set(void **state)
{
    reflector_run *run = *state;
    unsigned pages = 0;
    run->informer.pages_max = 7;
    run->source.at_once = answer_page_at_once;
    run->source.user = &pages;
    reflector_run_start(run, "");
    assert_int_equal(pages, 7);
    expect_errors(run, "EndlessList\n");
    run->source.at_once = NULL;
}

static void a_body_that_is_not_a_list_is_an_error_and_never_an_empty_list(void **state)
{
    reflector_run *run = *state;
    static const char *const bodies[] = {
        "{\"kind\":\"Table\",\"metadata\":{\"resourceVersion\":\"10\"},\"rows\":[]}",
        "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"10\"}}",
        POD("a", "5"),
        "[]",
        "{\"kind\":\"PodList\",\"metadata\":{},\"items\":[]}",
        LIST("10", "", "") "x",
    };
    reflector_run_start(run, "");
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        scripted_whole(&run->source, bodies[i]);
        expect_errors(run, "Malformed\n");
        expect_changes(run, "");
        assert_int_equal(reflector_run_status(run).phase, KI_PHASE_BACKING_OFF);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    }
}

static void a_status_in_place_of_a_list_is_reported_as_that_error(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    scripted_whole(&run->source, STATUS("403", "Forbidden"));
    expect_errors(run, "Forbidden 403\n");
    expect_changes(run, "");
}

static void a_list_that_is_cut_changes_nothing_but_its_items(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    scripted_body(
        &run->source,
        "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[" POD("a", "5"));
    scripted_end(&run->source);
    expect_errors(run, "ConnectionLost\n");
    expect_changes(run, "REPLACED 1 d/a@5\n");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_whole(&run->source, LIST("10", "", ""));
    expect_changes(run, "END 2 10\n");
}

static void a_list_that_is_silent_for_a_minute_is_abandoned(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    reflector_run_wait_ms(run, 59000);
    scripted_head(&run->source, 200, 0);
    assert_true(reflector_run_status(run).byte_age_ms == UINT64_MAX);
    scripted_body(&run->source, "{");
    reflector_run_wait_ms(run, 59999);
    expect_errors(run, "");
    reflector_run_wait_ms(run, 1);
    expect_errors(run, "Timeout\n");
    expect_requests(run, "LIST rv=0 limit=500\ncancel\n");
}

static void a_response_head_does_not_count_as_a_byte(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    reflector_run_wait_ms(run, 59000);
    scripted_head(&run->source, 200, 0);
    reflector_run_wait_ms(run, 1000);
    expect_errors(run, "Timeout\n");
}

static void a_transfer_waits_while_there_is_no_space_and_no_timer_runs(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    run->is_full = 1;
    scripted_body(&run->source,
                  "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[" POD(
                      "a", "5") "," POD("b", "6"));
    assert_int_equal(run->source.last_result, 1);
    expect_changes(run, "REPLACED 1 d/a@5\nREPLACED 1 d/b@6\n");
    reflector_run_wait_ms(run, 3600 * 1000);
    expect_errors(run, "");
    run->is_full = 0;
    text_log_clear(&run->source.requests);
    ki_reflector_resume(&run->reflector);
    expect_requests(run, "resume\n");
    ki_reflector_resume(&run->reflector);
    expect_requests(run, "");
    reflector_run_wait_ms(run, 59999);
    scripted_whole(&run->source, "]}");
    assert_int_equal(run->source.last_result, 0);
    expect_changes(run, "END 1 10\n");
}

static void no_page_is_requested_while_there_is_no_space(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    text_log_clear(&run->source.requests);
    run->is_full = 1;
    scripted_whole(&run->source, LIST("10", "t", POD("a", "5")));
    expect_requests(run, "");
    ki_reflector_resume(&run->reflector);
    expect_requests(run, "LIST continue=t limit=500\n");
}

static void a_change_that_runs_out_of_memory_fails_the_attempt(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    run->refuse_after = 2;
    scripted_body(&run->source, LIST("10", "", POD("a", "5") "," POD("b", "6")));
    expect_changes(run, "REPLACED 1 d/a@5\n");
    expect_errors(run, "NoMemory\n");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    run->refuse_after = 1;
    scripted_whole(&run->source, LIST("10", "", ""));
    expect_errors(run, "NoMemory\n");
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_whole(&run->source, LIST("10", "", ""));
    expect_changes(run, "END 3 10\n");
}

static void attempts_continue_to_count_after_a_halt(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    ki_reflector_halt(&run->reflector);
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_STOPPED);
    expect_requests(run, "LIST rv=0 limit=500\ncancel\n");
    reflector_run_restart(run, "");
    scripted_whole(&run->source, LIST("10", "", ""));
    expect_changes(run, "END 2 10\n");
}

static void late_calls_of_a_source_are_ignored(void **state)
{
    reflector_run *run = *state;
    reflector_run_start(run, "");
    ki_answer *answer = run->source.answer;
    ki_reflector_halt(&run->reflector);
    ki_answer_head(answer, 410, 0);
    assert_int_equal(ki_answer_body(answer, "{", 1), KI_ERR_NOT_FOUND);
    ki_answer_end(answer, KI_REASON_DNS, "late");
    expect_errors(run, "");
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_STOPPED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        reflector_test(a_list_is_delivered_item_by_item_and_a_watch_follows),
        reflector_test(a_list_may_arrive_byte_by_byte),
        reflector_test(an_empty_list_has_an_end),
        reflector_test(pages_are_requested_by_their_token_alone),
        reflector_test(the_page_size_is_an_option),
        reflector_test(pages_can_be_turned_off),
        reflector_test(selectors_are_sent_and_can_be_changed),
        reflector_test(an_item_that_cannot_be_decoded_is_still_seen),
        reflector_test(an_expired_token_leads_to_one_whole_list_at_once),
        reflector_test(an_expired_version_leads_to_the_newest_at_once_and_then_to_backoff),
        reflector_test(a_version_that_is_too_large_leads_to_the_newest_at_once),
        reflector_test(an_older_list_is_abandoned_before_its_items),
        reflector_test(an_older_list_with_its_metadata_last_ends_without_effect),
        reflector_test(an_item_that_is_only_seen_counts_as_an_item),
        reflector_test(an_older_list_of_the_newest_version_is_another_history_and_continues),
        reflector_test(another_history_detected_late_restarts_the_list),
        reflector_test(a_reset_is_reported_once),
        reflector_test(a_reset_that_runs_out_of_memory_twice_is_reported_eventually),
        reflector_test(a_reset_that_runs_out_of_memory_is_reported_later),
        reflector_test(versions_that_are_not_numbers_are_never_older),
        reflector_test(a_repeated_token_is_an_error),
        reflector_test(tokens_in_a_cycle_are_an_error),
        reflector_test(endless_pages_are_an_error_and_do_not_overflow_the_stack),
        reflector_test(the_maximum_number_of_pages_can_be_set),
        reflector_test(a_body_that_is_not_a_list_is_an_error_and_never_an_empty_list),
        reflector_test(a_status_in_place_of_a_list_is_reported_as_that_error),
        reflector_test(a_list_that_is_cut_changes_nothing_but_its_items),
        reflector_test(a_list_that_is_silent_for_a_minute_is_abandoned),
        reflector_test(a_response_head_does_not_count_as_a_byte),
        reflector_test(a_transfer_waits_while_there_is_no_space_and_no_timer_runs),
        reflector_test(no_page_is_requested_while_there_is_no_space),
        reflector_test(a_change_that_runs_out_of_memory_fails_the_attempt),
        reflector_test(attempts_continue_to_count_after_a_halt),
        reflector_test(late_calls_of_a_source_are_ignored),
    };
    return RUN_TESTS(tests);
}
