/* SPDX-License-Identifier: Apache-2.0 */
/* Watches that bring nothing while lists work. */
#include <stdio.h>

#include "support/reflector/reflector_run.h"
#include "support/unit.h"
#include "util/units.h"

#define RELIST "LIST rv=10 match=NotOlderThan limit=500\n"

/* ---- three failures in a row --------------------------------------------------------------------------- */

typedef enum manner {
    ENDS_AT_ONCE,
    ENDS_AFTER_TWO_SECONDS,
    IS_CUT_AT_ONCE,
    IS_CUT_BEHIND_ITS_HEAD,
    IS_REFUSED,
    IS_NOT_ANSWERED,
    IS_NOT_JSON,
    HAS_AN_OLD_EVENT,
    MANNERS
} manner;

static void fail_watch(reflector_run *run, manner how, int code)
{
    scripted_source *source = &run->source;
    switch (how) {
    case ENDS_AT_ONCE:
        scripted_head(source, 200, 0);
        scripted_end(source);
        break;
    case ENDS_AFTER_TWO_SECONDS:
        scripted_head(source, 200, 0);
        reflector_run_wait_ms(run, 2000);
        scripted_end(source);
        break;
    case IS_CUT_BEHIND_ITS_HEAD:
        scripted_head(source, 200, 0);
        scripted_cut(source, KI_REASON_CONNECTION_LOST);
        break;
    case IS_REFUSED:
        scripted_error(source, code, "");
        break;
    case IS_NOT_ANSWERED:
        scripted_cut(source, KI_REASON_TIMEOUT);
        break;
    case IS_NOT_JSON:
        scripted_body(source, "}");
        break;
    case HAS_AN_OLD_EVENT:
        scripted_whole(source, EVENT("MODIFIED", POD("a", "5")));
        break;
    default:
        scripted_cut(source, KI_REASON_CONNECTION_LOST);
        break;
    }
}

/* Three watches fail; the last one is followed by a list. */
static void fail_three(reflector_run *run, manner how, int code)
{
    for (int i = 0; i < 3; i++) {
        assert_int_equal(run->reflector.doing, KI_STEP_WATCH);
        assert_true(reflector_run_status(run).reason != KI_REASON_POLLING);
        text_log_clear(&run->source.requests);
        fail_watch(run, how, code);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    }
}

static void expect_poll(reflector_run *run, manner how, int code)
{
    reflector_run_start_watching(run);
    fail_three(run, how, code);
    ki_informer_status status = reflector_run_status(run);
    assert_int_equal(status.phase, KI_PHASE_LISTING);
    assert_int_equal(status.lists, 2);
    assert_int_equal(status.reason, KI_REASON_POLLING);
    assert_int_equal(status.http_status, code);
    text_log_clear(&run->changes);
    text_log_clear(&run->source.requests);
    scripted_whole(&run->source, LIST("12", "", POD("a", "5") "," POD("b", "11")));
    expect_changes(run, "REPLACED 2 d/a@5\nREPLACED 2 d/b@11\nEND 2 12\n");
    assert_int_equal(reflector_run_status(run).reason, KI_REASON_POLLING);
    expect_requests(run, "WATCH rv=12 bookmarks\n");
}

static void three_watches_that_bring_nothing_are_followed_by_a_list(void **state)
{
    reflector_run *run = *state;
    for (manner how = 0; how < MANNERS; how++) {
        if (how == IS_REFUSED)
            continue;
        expect_poll(run, how, 0);
        reflector_run_fini(run);
        reflector_run_init(run);
    }
}

static void the_first_list_follows_at_once_or_when_the_server_allows_it(void **state)
{
    reflector_run *run = *state;
    for (uint32_t asked = 0; asked < 2; asked++) {
        reflector_run_start_watching(run);
        for (int i = 0; i < 3; i++) {
            scripted_head(&run->source, 503, i == 2 ? 20 * asked : 0);
            text_log_clear(&run->source.requests);
            scripted_end(&run->source);
            if (i < 2)
                reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
        }
        assert_int_equal(run->last_retry_ms, 20000 * asked);
        reflector_run_wait_ms(run, 20000 * (uint64_t)asked);
        expect_requests(run, RELIST);
        reflector_run_fini(run);
        reflector_run_init(run);
    }
}

static void three_refused_watches_are_followed_by_a_list(void **state)
{
    reflector_run *run = *state;
    static const int codes[] = {400, 401, 403, 404, 500, 502, 503, 504, 302};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        expect_poll(run, IS_REFUSED, codes[i]);
        reflector_run_fini(run);
        reflector_run_init(run);
    }
}

static void watches_that_fail_for_other_reasons_do_not_count(void **state)
{
    reflector_run *run = *state;
    static const ki_reason reasons[] = {KI_REASON_CONNECTION_REFUSED, KI_REASON_DNS,       KI_REASON_TLS,
                                        KI_REASON_NO_CREDENTIALS,     KI_REASON_NO_MEMORY, KI_REASON_NONE};
    reflector_run_start_watching(run);
    for (int i = 0; i < 24; i++) {
        ki_reason reason = reasons[i / 4];
        text_log_clear(&run->source.requests);
        if (reason == KI_REASON_NONE)
            scripted_error(&run->source, 429, "");
        else
            scripted_cut(&run->source, reason);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
        expect_requests(run, "WATCH rv=10 bookmarks\n");
    }
}

static void watches_that_were_not_sent_do_not_count(void **state)
{
    reflector_run *run = *state;
    run->tells_sent = 1;
    reflector_run_start_watching(run);
    for (int i = 0; i < 6; i++) {
        text_log_clear(&run->source.requests);
        scripted_cut(&run->source, i < 3 ? KI_REASON_TIMEOUT : KI_REASON_CONNECTION_LOST);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
        expect_requests(run, "WATCH rv=10 bookmarks\n");
    }
    for (int i = 0; i < 3; i++) {
        text_log_clear(&run->source.requests);
        ki_answer_sent(run->source.answer);
        scripted_cut(&run->source, KI_REASON_CONNECTION_LOST);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    }
    expect_requests(run, RELIST);
}

static void an_event_or_a_bookmark_restarts_the_count(void **state)
{
    reflector_run *run = *state;
    char text[200];
    reflector_run_start_watching(run);
    for (int i = 0; i < 6; i++) {
        fail_watch(run, ENDS_AT_ONCE, 0);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
        fail_watch(run, IS_CUT_AT_ONCE, 0);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
        if (i % 2 == 0)
            snprintf(text, sizeof(text), EVENT("ADDED", POD("b", "%d")), 11 + i);
        else
            snprintf(text, sizeof(text), BOOKMARK("%d"), 11 + i - 1);
        scripted_whole(&run->source, text);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    }
    assert_int_equal(reflector_run_status(run).lists, 1);
}

/* ---- status -------------------------------------------------------------------------------------------- */

static void the_status_is_polling_until_a_watch_brings_something(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    fail_three(run, IS_REFUSED, 503);
    assert_string_equal(
        reflector_run_status(run).message,
        "the last watches brought nothing: the collection is listed instead; the last watch: the "
        "server responded with 503");
    text_log_clear(&run->statuses);
    text_log_clear(&run->errors);
    scripted_whole(&run->source, LIST("10", "", ""));
    scripted_head(&run->source, 503, 0);
    scripted_end(&run->source);
    expect_errors(run, "ServerError 503\n"); /* the error handler gets the cause */
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_head(&run->source, 200, 0);
    scripted_end(&run->source);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_head(&run->source, 200, 0);
    expect_statuses(run, "BACKING_OFF Polling\nWATCHING Polling\nBACKING_OFF Polling\nWATCHING Polling\n");
    scripted_body(&run->source, BOOKMARK("10"));
    expect_statuses(run, "WATCHING \n");
    assert_string_equal(reflector_run_status(run).message, "");
}

static void a_server_that_refuses_connections_is_not_polled(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    fail_three(run, IS_CUT_AT_ONCE, 0);
    scripted_whole(&run->source, LIST("10", "", ""));
    scripted_cut(&run->source, KI_REASON_CONNECTION_REFUSED);
    assert_int_equal(reflector_run_status(run).reason, KI_REASON_CONNECTION_REFUSED);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    assert_int_equal(run->reflector.doing, KI_STEP_WATCH);
}

/* ---- the list ------------------------------------------------------------------------------------------ */

static void a_list_that_also_fails_is_followed_by_a_watch(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    fail_three(run, ENDS_AT_ONCE, 0);
    scripted_error(&run->source, 500, "");
    assert_int_equal(reflector_run_status(run).reason, KI_REASON_SERVER_ERROR);
    text_log_clear(&run->source.requests);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "WATCH rv=10 bookmarks\n");
    fail_watch(run, ENDS_AT_ONCE, 0);
    assert_int_equal(reflector_run_status(run).reason, KI_REASON_SHORT_WATCH);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    scripted_body(&run->source, EVENT("ADDED", POD("b", "11")));
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_WATCHING);
}

static void a_pending_list_must_succeed(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    for (int i = 0; i < 2; i++) {
        fail_watch(run, ENDS_AT_ONCE, 0);
        reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    }
    scripted_whole(&run->source, EVENT("NEW", POD("b", "11")));
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    assert_int_equal(reflector_run_status(run).phase, KI_PHASE_LISTING);
    scripted_error(&run->source, 500, "");
    text_log_clear(&run->source.requests);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, RELIST);
}

static void another_history_is_not_watched_from_an_old_version(void **state)
{
    reflector_run *run = *state;
    reflector_run_start_watching(run);
    fail_three(run, ENDS_AT_ONCE, 0);
    scripted_error(&run->source, 504, TOO_LARGE);
    text_log_clear(&run->source.requests);
    scripted_body(&run->source, "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"4\"},\"items\":[");
    scripted_cut(&run->source, KI_REASON_CONNECTION_LOST);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "LIST rv= limit=500\n");
}

static void if_lists_are_always_streamed_polling_uses_streams(void **state)
{
    reflector_run *run = *state;
    run->informer.watch_list = KI_WATCH_LIST_ALWAYS;
    reflector_run_start(run, "");
    scripted_body(&run->source, END_OF_LIST("10"));
    fail_three(run, ENDS_AT_ONCE, 0);
    expect_requests(run, "STREAM rv=10 match=NotOlderThan bookmarks\n");
    scripted_error(&run->source, 500, "");
    text_log_clear(&run->source.requests);
    reflector_run_wait_while(run, KI_PHASE_BACKING_OFF);
    expect_requests(run, "WATCH rv=10 bookmarks\n");
}

static void if_streams_are_optional_polling_uses_lists(void **state)
{
    reflector_run *run = *state;
    run->informer.watch_list = KI_WATCH_LIST_AUTO;
    reflector_run_start_listing(run, "1");
    scripted_body(&run->source, END_OF_LIST("10"));
    fail_three(run, ENDS_AT_ONCE, 0);
    expect_requests(run, RELIST);
}

/* ---- how often ----------------------------------------------------------------------------------------- */

enum { LISTS_MAX = 64 };

/* A server that answers lists, and ends each watch after a while. */
typedef struct broken_server {
    reflector_run *run;
    const char *list;
    const char *event; /* sent before a watch ends; NULL: none, and the connection is cut */
    uint64_t lists_ns[LISTS_MAX];
    unsigned lists;
    unsigned watches;
} broken_server;

static void answer_brokenly(scripted_source *source, const ki_list_options *options, void *user)
{
    broken_server *server = user;
    if (options->watch) {
        server->watches++;
        return; /* the test ends it */
    }
    assert_in_range(server->lists, 0, LISTS_MAX - 1);
    server->lists_ns[server->lists++] = ki_clock_now_ns(&server->run->clock);
    scripted_whole(source, server->list);
}

static void start_broken(broken_server *server, reflector_run *run)
{
    *server = (broken_server){.run = run, .list = LIST("10", "", POD("a", "5"))};
    run->source.at_once = answer_brokenly;
    run->source.user = server;
    reflector_run_start(run, "");
    server->lists = 0;
    server->watches = 0;
}

/* Runs for `ms`. Each watch lasts `lifetime_ms`. */
static void pass(broken_server *server, uint64_t ms, uint64_t lifetime_ms)
{
    reflector_run *run = server->run;
    uint64_t until_ns = ki_clock_now_ns(&run->clock) + ms * KI_NS_PER_MS;
    while (ki_clock_now_ns(&run->clock) < until_ns) {
        if (run->source.answer != NULL) {
            reflector_run_wait_ms(run, lifetime_ms);
            if (server->event != NULL)
                scripted_whole(&run->source, server->event);
            else
                scripted_cut(&run->source, KI_REASON_CONNECTION_LOST);
        } else {
            reflector_run_wait_ms(run, 100);
        }
    }
}

static uint64_t distance_s(const broken_server *server, unsigned number)
{
    return (server->lists_ns[number] - server->lists_ns[number - 1]) / KI_NS_PER_S;
}

static void lists_without_news_become_rare(void **state)
{
    static const uint64_t distances[] = {60, 120, 240, 300, 300, 300};
    broken_server server;
    start_broken(&server, *state);
    pass(&server, 2500 * 1000, 0);
    assert_true(server.lists > 6);
    for (unsigned i = 1; i <= 6; i++)
        assert_in_range(distance_s(&server, i), distances[i - 1], distances[i - 1] + 1);
    assert_in_range(server.watches, 2500 / 60, 2500 / 30 + 10); /* limited by the backoff */
}

static void lists_with_news_are_half_a_minute_apart(void **state)
{
    static const char *const lists[] = {
        LIST("20", "", POD("a", "5") "," POD("b", "11")), /* one added */
        LIST("30", "", POD("a", "5") "," POD("b", "21")), /* one changed */
        LIST("40", "", POD("b", "21")),                   /* one deleted */
    };
    broken_server server;
    start_broken(&server, *state);
    for (unsigned i = 0; i < 3; i++) {
        pass(&server, 2000 * 1000, 0); /* nothing changes */
        assert_true(distance_s(&server, server.lists - 1) >= 300);
        server.list = lists[i];
        unsigned before = server.lists;
        while (server.lists < before + 2)
            pass(&server, 100, 0);
        assert_in_range(distance_s(&server, before + 1), 30, 31);
    }
    server.run->source.at_once = NULL;
}

static void changes_of_other_collections_are_not_news(void **state)
{
    broken_server server;
    start_broken(&server, *state);
    for (unsigned i = 0; i < 20; i++) {
        char text[200];
        snprintf(text, sizeof(text), LIST("%u", "", POD("a", "5")), 100 + i);
        server.list = text;
        pass(&server, 100 * 1000, 0);
    }
    assert_in_range(server.lists, 5, 10);
}

static void versions_that_are_not_numbers_are_news_when_they_differ(void **state)
{
    broken_server server;
    start_broken(&server, *state);
    for (unsigned i = 0; i < 10; i++) {
        char text[200];
        snprintf(text, sizeof(text), LIST("x%u", "", POD("a", "y")), i);
        server.list = text;
        pass(&server, 100 * 1000, 0);
    }
    assert_true(server.lists >= 12);
}

/* Each such event makes a list necessary, but does not make it earlier. */
static void malformed_events_do_not_make_lists_more_frequent(void **state)
{
    broken_server server;
    start_broken(&server, *state);
    server.event = EVENT("NEW", POD("b", "11"));
    pass(&server, 1000 * 1000, 0);
    assert_in_range(server.lists, 1000 / 300, 1000 / 30);
    for (unsigned i = 3; i < server.lists; i++)
        assert_true(distance_s(&server, i) >= 30);
}

/* A load balancer cuts connections that are idle for a minute; the server works. */
static void a_quiet_collection_behind_a_load_balancer_is_rarely_listed(void **state)
{
    broken_server server;
    start_broken(&server, *state);
    pass(&server, 3600 * 1000, 60 * 1000);
    assert_in_range(server.lists, 8, 14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        reflector_test(three_watches_that_bring_nothing_are_followed_by_a_list),
        reflector_test(three_refused_watches_are_followed_by_a_list),
        reflector_test(the_first_list_follows_at_once_or_when_the_server_allows_it),
        reflector_test(watches_that_fail_for_other_reasons_do_not_count),
        reflector_test(watches_that_were_not_sent_do_not_count),
        reflector_test(an_event_or_a_bookmark_restarts_the_count),
        reflector_test(the_status_is_polling_until_a_watch_brings_something),
        reflector_test(a_server_that_refuses_connections_is_not_polled),
        reflector_test(a_list_that_also_fails_is_followed_by_a_watch),
        reflector_test(a_pending_list_must_succeed),
        reflector_test(another_history_is_not_watched_from_an_old_version),
        reflector_test(if_lists_are_always_streamed_polling_uses_streams),
        reflector_test(if_streams_are_optional_polling_uses_lists),
        reflector_test(lists_without_news_become_rare),
        reflector_test(lists_with_news_are_half_a_minute_apart),
        reflector_test(changes_of_other_collections_are_not_news),
        reflector_test(versions_that_are_not_numbers_are_news_when_they_differ),
        reflector_test(malformed_events_do_not_make_lists_more_frequent),
        reflector_test(a_quiet_collection_behind_a_load_balancer_is_rarely_listed),
    };
    return RUN_TESTS(tests);
}
