/* SPDX-License-Identifier: Apache-2.0 */
/* The messages on stderr, and how often they are written. */
#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>

#include "cli/watch_notes.h"
#include "support/text_log.h"
#include "support/unit.h"

static text_log said;

static void say(const char *line, void *user)
{
    (void)user;
    text_log_add(&said, "%s\n", line);
}

#define EXPECT_SAID(text) text_log_expect(&said, text, __FILE__, __LINE__)

static void a_few_lines_are_printed_at_once(void **state)
{
    (void)state;
    cli_notices notices = {.say = say};
    for (int i = 0; i < CLI_NOTICES_AT_ONCE; i++)
        cli_notices_add(&notices, 1000, "x");
    EXPECT_SAID("x\nx\nx\nx\nx\nx\n");
    assert_true(cli_notices_due_ms(&notices) == UINT64_MAX);
}

static void only_the_newest_waiting_line_is_printed_with_the_number_left_out(void **state)
{
    (void)state;
    cli_notices notices = {.say = say};
    for (int i = 0; i < CLI_NOTICES_AT_ONCE; i++)
        cli_notices_add(&notices, 1000, "x");
    text_log_clear(&said);
    cli_notices_add(&notices, 1001, "lost");
    cli_notices_add(&notices, 1002, "lost");
    cli_notices_add(&notices, 1003, "well");
    EXPECT_SAID("");
    assert_int_equal(cli_notices_due_ms(&notices), 1000 + CLI_NOTICES_PACE_MS);
    cli_notices_tick(&notices, 1000 + CLI_NOTICES_PACE_MS - 1);
    EXPECT_SAID("");
    cli_notices_tick(&notices, 1000 + CLI_NOTICES_PACE_MS);
    EXPECT_SAID("well (2 more left out)\n");
    assert_true(cli_notices_due_ms(&notices) == UINT64_MAX);
    cli_notices_tick(&notices, 1000 + 5 * CLI_NOTICES_PACE_MS);
    EXPECT_SAID("");
}

static void a_flapping_server_does_not_flood(void **state)
{
    (void)state;
    cli_notices notices = {.say = say};
    size_t lines = 0;
    for (uint64_t ms = 0; ms < 600 * 1000; ms += 100) {
        cli_notices_add(&notices, ms, "flap");
        cli_notices_tick(&notices, ms);
    }
    for (const char *at = said.text; at != NULL && (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    assert_in_range(lines, 60, 60 + CLI_NOTICES_AT_ONCE);
    text_log_clear(&said);
}

static void after_a_quiet_time_lines_are_printed_at_once_again(void **state)
{
    (void)state;
    cli_notices notices = {.say = say};
    for (int i = 0; i < CLI_NOTICES_AT_ONCE; i++)
        cli_notices_add(&notices, 1000, "x");
    text_log_clear(&said);
    for (int i = 0; i < 3; i++)
        cli_notices_add(&notices, 1000 + 3 * CLI_NOTICES_PACE_MS, "y");
    EXPECT_SAID("y\ny\ny\n");
}

/* Prints so many lines that the next one has to wait. */
static cli_notices exhausted(void)
{
    cli_notices notices = {.say = say};
    for (int i = 0; i < CLI_NOTICES_AT_ONCE; i++)
        cli_notices_add(&notices, 1000, "x");
    text_log_clear(&said);
    return notices;
}

static void the_end_of_a_reported_loss_is_reported_at_once(void **state)
{
    (void)state;
    cli_notices notices = {.say = say};
    cli_notices_lost(&notices, 1000, 1, "lost");
    for (int i = 0; i < 2 * CLI_NOTICES_AT_ONCE; i++)
        cli_notices_add(&notices, 1000, "x");
    text_log_clear(&said);
    cli_notices_lost(&notices, 1001, 1, "still lost");
    cli_notices_back(&notices, 1002, "back");
    EXPECT_SAID("back (7 more left out)\n");
    cli_notices_back(&notices, 1003, "back");
    EXPECT_SAID("");
}

static void the_end_of_an_unreported_loss_is_not_reported(void **state)
{
    (void)state;
    cli_notices notices = exhausted();
    notices.free_ms[1] = UINT64_MAX;
    cli_notices_lost(&notices, 1000, 1, "lost");
    cli_notices_back(&notices, 2000, "back");
    assert_true(cli_notices_due_ms(&notices) == UINT64_MAX);
    cli_notices_tick(&notices, 1000 + 5 * CLI_NOTICES_PACE_MS);
    EXPECT_SAID("");
}

static void a_lasting_loss_is_reported_whatever_else_is_reported(void **state)
{
    (void)state;
    cli_notices notices = exhausted();
    notices.free_ms[1] = UINT64_MAX;
    cli_notices_lost(&notices, 1001, 1, "lost");
    for (int i = 0; i < 100; i++)
        cli_notices_add(&notices, 1002, "y");
    assert_int_equal(cli_notices_due_ms(&notices), 1000 + CLI_NOTICES_PACE_MS);
    cli_notices_tick(&notices, 1000 + CLI_NOTICES_PACE_MS);
    EXPECT_SAID("lost (99 more left out)\n");
    cli_notices_back(&notices, 1000 + CLI_NOTICES_PACE_MS, "back");
    EXPECT_SAID("back\n");
}

static void a_server_that_fails_repeatedly_does_not_flood(void **state)
{
    (void)state;
    cli_notices notices = {.say = say};
    size_t lines = 0;
    for (uint64_t ms = 0; ms < 600 * 1000; ms += 100) {
        cli_notices_lost(&notices, ms, 1, "lost");
        cli_notices_back(&notices, ms + 50, "back");
        cli_notices_tick(&notices, ms + 60);
    }
    for (const char *at = said.text; at != NULL && (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    assert_in_range(lines, 60, 60 + 2 * CLI_NOTICES_AT_ONCE);
    assert_int_equal(lines % 2, 0);
    text_log_clear(&said);
}

static void a_new_cause_is_printed_at_once_and_then_at_intervals(void **state)
{
    (void)state;
    cli_notices notices = exhausted();
    cli_notices_lost(&notices, 1001, 1, "expired");
    cli_notices_lost(&notices, 1002, 2, "reset");
    EXPECT_SAID("expired\nreset\n");
    cli_notices_lost(&notices, 1003, 1, "expired");
    cli_notices_lost(&notices, 1004, 2, "reset");
    EXPECT_SAID("");
    cli_notices_lost(&notices, 1001 + CLI_NOTICE_CAUSE_MS, 1, "expired");
    EXPECT_SAID("expired (2 more left out)\n");
}

static void many_causes_in_turn_do_not_flood(void **state)
{
    (void)state;
    cli_notices notices = {.say = say};
    size_t lines = 0;
    for (uint64_t ms = 0; ms < 600 * 1000; ms += 100) {
        cli_notices_lost(&notices, ms, (unsigned)(ms / 100 % 4), "lost");
        cli_notices_tick(&notices, ms);
    }
    for (const char *at = said.text; at != NULL && (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    assert_in_range(lines, 40, 60 + CLI_NOTICES_AT_ONCE + 4);
    text_log_clear(&said);
}

/* ---- messages about a resource ------------------------------------------------------------------------- */

static cli_watch_flags flags;
static cli_watch watch = {.flags = &flags};
static const cli_resource pods = {.resource = &KI_CORE_V1_PODS, .name = "pods"};

static cli_follower follower_of_pods(void)
{
    return (cli_follower){.watch = &watch, .resource = &pods, .notices = {.say = say}};
}

static void note_error(cli_follower *follower, ki_reason reason, uint64_t retry_ms, const char *key)
{
    ki_error why = {.code = KI_ERR_HTTP, .message = "why"};
    ki_informer_status status = {.reason = key[0] == 0 ? reason : KI_REASON_NONE};
    cli_watch_note_error(
        follower, 0, &(ki_informer_error){.reason = reason, .retry_ms = retry_ms, .error = &why, .key = key},
        &status);
}

static void note_phase(cli_follower *follower, ki_phase phase, ki_reason reason)
{
    cli_watch_note_status(follower, 0, &(ki_informer_status){.phase = phase, .reason = reason});
}

static void errors_are_printed_with_their_reason_and_advice_once(void **state)
{
    (void)state;
    cli_follower follower = follower_of_pods();
    note_error(&follower, KI_REASON_TLS, 1234, "");
    EXPECT_SAID("pods: Tls: why; retrying in 1.2 s (check the address, --certificate-authority and "
                "--tls-server-name)\n");
    note_error(&follower, KI_REASON_TLS, 2345, "");
    EXPECT_SAID("");
    note_error(&follower, KI_REASON_EXPIRED, 0, "");
    EXPECT_SAID("pods: Expired: why; retrying\n");
    note_error(&follower, KI_REASON_OTHER, 0, "d/a");
    EXPECT_SAID("pods: d/a was not updated: why\n");
}

static void a_refusal_with_a_delay_gets_advice_after_one_without(void **state)
{
    (void)state;
    cli_follower follower = follower_of_pods();
    note_error(&follower, KI_REASON_FORBIDDEN, 0, "");
    EXPECT_SAID("pods: Forbidden: why; retrying\n");
    note_error(&follower, KI_REASON_FORBIDDEN, 1000, "");
    EXPECT_SAID("pods: Forbidden: why; retrying in 1.0 s (the user needs the verbs list and watch; "
                "check with `kubectl auth can-i --list`)\n");
    note_error(&follower, KI_REASON_FORBIDDEN, 0, "");
    note_error(&follower, KI_REASON_FORBIDDEN, 2000, "");
    EXPECT_SAID("");
}

static void a_proxy_that_refuses_is_not_called_the_server(void **state)
{
    (void)state;
    cli_follower follower = follower_of_pods();
    ki_error why = {.code = KI_ERR_HTTP, .message = "the proxy http://p:1 cannot be reached: why"};
    cli_watch_note_error(&follower, 0,
                         &(ki_informer_error){.reason = KI_REASON_CONNECTION_REFUSED,
                                              .party = KI_PARTY_PROXY,
                                              .retry_ms = 1000,
                                              .error = &why,
                                              .key = ""},
                         &(ki_informer_status){.reason = KI_REASON_CONNECTION_REFUSED});
    EXPECT_SAID("pods: ConnectionRefused: the proxy http://p:1 cannot be reached: why; retrying in 1.0 s "
                "(check the cluster's proxy-url, HTTPS_PROXY and NO_PROXY)\n");
}

static void a_malformed_response_may_be_a_login_page(void **state)
{
    (void)state;
    cli_follower follower = follower_of_pods();
    note_error(&follower, KI_REASON_MALFORMED, 1000, "");
    EXPECT_SAID("pods: Malformed: why; retrying in 1.0 s (is this a Kubernetes API server (--server), or a "
                "login page?)\n");
    ki_error why = {.code = KI_ERR_HTTP, .message = "why"};
    cli_watch_note_error(&follower, 0,
                         &(ki_informer_error){.reason = KI_REASON_BAD_REQUEST,
                                              .party = KI_PARTY_PROXY,
                                              .http_status = 407,
                                              .retry_ms = 1000,
                                              .error = &why,
                                              .key = ""},
                         &(ki_informer_status){.reason = KI_REASON_BAD_REQUEST});
    EXPECT_SAID("pods: BadRequest: why; retrying in 1.0 s (the proxy needs a user and a password; "
                "add them to proxy-url)\n");
}

static void a_change_of_reason_is_always_printed(void **state)
{
    (void)state;
    cli_follower follower = follower_of_pods();
    for (int i = 0; i < 10; i++)
        note_phase(&follower, KI_PHASE_LISTING, KI_REASON_NONE);
    text_log_clear(&said);
    note_error(&follower, KI_REASON_EXPIRED, 0, "");
    note_error(&follower, KI_REASON_HISTORY_RESET, 0, "");
    EXPECT_SAID("pods: Expired: why; retrying (3 more left out)\n"
                "pods: HistoryReset: why; retrying\n");
}

static void a_loss_is_reported_once_and_its_end_always(void **state)
{
    (void)state;
    cli_follower follower = follower_of_pods();
    note_phase(&follower, KI_PHASE_WATCHING, KI_REASON_NONE);
    text_log_clear(&said);
    for (int i = 0; i < 100; i++)
        note_error(&follower, KI_REASON_CONNECTION_REFUSED, 1000, "");
    for (int i = 0; i < 100; i++)
        note_error(&follower, KI_REASON_OTHER, 0, "d/a");
    assert_non_null(strstr(said.text, "pods: ConnectionRefused: why; retrying in 1.0 s (is the address"));
    text_log_clear(&said);
    note_phase(&follower, KI_PHASE_WATCHING, KI_REASON_NONE);
    EXPECT_SAID("pods: watching again after 0.0s: resumed (95 more left out)\n");
}

/* ---- long outages -------------------------------------------------------------------------------------- */

enum { SECOND_MS = 1000, MINUTE_MS = 60 * SECOND_MS };

static void fail_at(cli_follower *follower, uint64_t now_ms)
{
    ki_error why = {.code = KI_ERR_HTTP, .message = "why"};
    cli_watch_note_error(
        follower, now_ms,
        &(ki_informer_error){.reason = KI_REASON_TIMEOUT, .retry_ms = 1000, .error = &why, .key = ""},
        &(ki_informer_status){.reason = KI_REASON_TIMEOUT, .lists = 1});
}

static void watch_at(cli_follower *follower, uint64_t now_ms, uint64_t lists)
{
    cli_watch_note_status(follower, now_ms,
                          &(ki_informer_status){.phase = KI_PHASE_WATCHING, .lists = lists});
}

/* Fails every 30 s, and calls the follower when it is due. */
static void fail_until(cli_follower *follower, uint64_t from_ms, uint64_t until_ms)
{
    for (uint64_t now_ms = from_ms; now_ms < until_ms; now_ms += SECOND_MS) {
        if (cli_watch_note_due_ms(follower) <= now_ms)
            cli_watch_note_tick(follower, now_ms);
        if ((now_ms - from_ms) % (30 * SECOND_MS) == 0)
            fail_at(follower, now_ms);
    }
}

static void a_long_outage_is_reported_again_at_growing_intervals(void **state)
{
    (void)state;
    cli_follower follower = follower_of_pods();
    watch_at(&follower, 0, 1);
    text_log_clear(&said);
    fail_until(&follower, 0, 64 * MINUTE_MS);
    EXPECT_SAID("pods: Timeout: why; retrying in 1.0 s\n"
                "pods: still not watching after 1m0s and 2 failures, the last: Timeout: why\n"
                "pods: still not watching after 3m0s and 6 failures, the last: Timeout: why\n"
                "pods: still not watching after 7m0s and 14 failures, the last: Timeout: why\n"
                "pods: still not watching after 15m0s and 30 failures, the last: Timeout: why\n"
                "pods: still not watching after 31m0s and 62 failures, the last: Timeout: why\n"
                "pods: still not watching after 1h3m0s and 126 failures, the last: Timeout: why\n");
    fail_until(&follower, 64 * MINUTE_MS, 184 * MINUTE_MS);
    EXPECT_SAID("pods: still not watching after 2h3m0s and 246 failures, the last: Timeout: why\n"
                "pods: still not watching after 3h3m0s and 366 failures, the last: Timeout: why\n");
    watch_at(&follower, 184 * MINUTE_MS, 1);
    EXPECT_SAID("pods: watching again after 3h4m0s: resumed\n");
    assert_true(cli_watch_note_due_ms(&follower) == UINT64_MAX);
}

static void the_end_of_an_outage_says_whether_it_relisted(void **state)
{
    (void)state;
    cli_follower follower = follower_of_pods();
    watch_at(&follower, 0, 1);
    fail_until(&follower, 0, 90 * SECOND_MS);
    text_log_clear(&said);
    cli_watch_note_status(&follower, 90 * SECOND_MS,
                          &(ki_informer_status){.phase = KI_PHASE_LISTING, .lists = 2});
    EXPECT_SAID("pods: listing\n");
    cli_watch_note_tick(&follower, 60 * MINUTE_MS); /* a list may take long */
    EXPECT_SAID("");
    watch_at(&follower, 61 * MINUTE_MS, 2);
    EXPECT_SAID("pods: watching again after 1h1m0s: relisted\n");
    fail_at(&follower, 62 * MINUTE_MS); /* another outage starts from zero */
    text_log_clear(&said);
    watch_at(&follower, 62 * MINUTE_MS + 1500, 1);
    EXPECT_SAID("pods: watching again after 1.5s: resumed\n");
}

/* The list has succeeded before the first watch. */
static void a_failure_of_the_first_list_is_not_a_lost_watch(void **state)
{
    (void)state;
    cli_follower follower = follower_of_pods();
    const ki_informer_status synced = {.phase = KI_PHASE_WATCHING, .lists = 2, .has_synced = 1};
    fail_at(&follower, 0);
    text_log_clear(&said);
    cli_watch_note_status(&follower, 2 * SECOND_MS, &synced);
    EXPECT_SAID("pods: watching\n");
}

static void an_error_during_a_watch_is_not_a_loss(void **state)
{
    (void)state;
    cli_follower follower = follower_of_pods();
    ki_error why = {.code = KI_ERR_HTTP, .message = "why"};
    cli_watch_note_error(&follower, 0,
                         &(ki_informer_error){.reason = KI_REASON_TIMEOUT, .error = &why, .key = ""},
                         &(ki_informer_status){.phase = KI_PHASE_WATCHING});
    EXPECT_SAID("pods: Timeout: why\n");
    assert_int_equal(follower.trouble, KI_REASON_NONE);
}

static void phases_are_printed_without_errors(void **state)
{
    (void)state;
    cli_follower follower = follower_of_pods();
    cli_watch_note_status(&follower, 0, &(ki_informer_status){.phase = KI_PHASE_LISTING});
    cli_watch_note_status(&follower, 0, &(ki_informer_status){.phase = KI_PHASE_WATCHING});
    cli_watch_note_status(
        &follower, 0,
        &(ki_informer_status){.phase = KI_PHASE_BACKING_OFF, .reason = KI_REASON_CONNECTION_LOST});
    cli_watch_note_status(
        &follower, 0, &(ki_informer_status){.phase = KI_PHASE_WATCHING, .reason = KI_REASON_CONNECTION_LOST});
    cli_watch_note_status(&follower, 0, &(ki_informer_status){.phase = KI_PHASE_WATCHING});
    EXPECT_SAID("pods: listing\npods: watching\npods: watching again\n");
    follower.objects = 3;
    cli_watch_note_synced(&follower, 1250, "77");
    EXPECT_SAID("pods: synced: 3 objects at version 77, after 1.250 s\n");
}

static void polling_instead_of_watching_is_reported_once(void **state)
{
    (void)state;
    cli_follower follower = follower_of_pods();
    const ki_informer_status watching = {.phase = KI_PHASE_WATCHING};
    const ki_error why = {.code = KI_ERR_HTTP, .message = "why"};
    ki_informer_status polling = {.reason = KI_REASON_POLLING, .message = "watches bring nothing"};
    for (int i = 0; i < 2; i++) {
        polling.phase = KI_PHASE_BACKING_OFF;
        cli_watch_note_status(&follower, 0, &polling);
        polling.phase = KI_PHASE_LISTING;
        cli_watch_note_status(&follower, 0, &polling);
        cli_watch_note_error(&follower, 0,
                             &(ki_informer_error){.reason = KI_REASON_SERVER_ERROR, .error = &why, .key = ""},
                             &polling);
        EXPECT_SAID("pods: Polling: watches bring nothing\n");
        cli_watch_note_status(&follower, 0, &watching);
        EXPECT_SAID(i == 0 ? "pods: watching\n" : "pods: watching again\n");
    }
}

static int forget_said(void **state)
{
    (void)state;
    text_log_free(&said);
    said = (text_log){0};
    return 0;
}

#define NOTICE_TEST(test) cmocka_unit_test_teardown(test, forget_said)

int main(void)
{
    const struct CMUnitTest tests[] = {
        NOTICE_TEST(a_few_lines_are_printed_at_once),
        NOTICE_TEST(only_the_newest_waiting_line_is_printed_with_the_number_left_out),
        NOTICE_TEST(a_flapping_server_does_not_flood),
        NOTICE_TEST(after_a_quiet_time_lines_are_printed_at_once_again),
        NOTICE_TEST(the_end_of_a_reported_loss_is_reported_at_once),
        NOTICE_TEST(the_end_of_an_unreported_loss_is_not_reported),
        NOTICE_TEST(a_lasting_loss_is_reported_whatever_else_is_reported),
        NOTICE_TEST(a_server_that_fails_repeatedly_does_not_flood),
        NOTICE_TEST(a_new_cause_is_printed_at_once_and_then_at_intervals),
        NOTICE_TEST(many_causes_in_turn_do_not_flood),
        NOTICE_TEST(a_refusal_with_a_delay_gets_advice_after_one_without),
        NOTICE_TEST(a_proxy_that_refuses_is_not_called_the_server),
        NOTICE_TEST(a_malformed_response_may_be_a_login_page),
        NOTICE_TEST(a_change_of_reason_is_always_printed),
        NOTICE_TEST(a_loss_is_reported_once_and_its_end_always),
        NOTICE_TEST(a_long_outage_is_reported_again_at_growing_intervals),
        NOTICE_TEST(the_end_of_an_outage_says_whether_it_relisted),
        NOTICE_TEST(a_failure_of_the_first_list_is_not_a_lost_watch),
        NOTICE_TEST(an_error_during_a_watch_is_not_a_loss),
        NOTICE_TEST(errors_are_printed_with_their_reason_and_advice_once),
        NOTICE_TEST(phases_are_printed_without_errors),
        NOTICE_TEST(polling_instead_of_watching_is_reported_once),
    };
    return RUN_TESTS(tests);
}
