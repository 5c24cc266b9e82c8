/* SPDX-License-Identifier: Apache-2.0 */
/* Two sample-controllers with leader election: only one acts.
 * The server's log and the history of the Lease show it. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow/support/sample_world.h"
#include "support/apiserver/api_rig.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/clock.h"

enum { FOOS = 8, WORKERS = 2, LEASE_MS = 2000, RETRY_MS = 100, LEASES_MAX = 4000 };

#define FLAGS                                                                                                \
    "--workers 2 --leader-elect --leader-elect-lease-duration 2s --leader-elect-renew-deadline 1500ms "      \
    "--leader-elect-retry-period 100ms --leader-elect-identity "

static ki_apiserver *server;
static example_process a, b;
static uint64_t first_version;
static int round_number;

static int setup(void **state)
{
    (void)state;
    server = sample_server_start();
    first_version = ki_apiserver_version(server);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    example_discard(&a);
    example_discard(&b);
    ki_apiserver_free(server);
    return 0;
}

/* ---- the lease --------------------------------------------------------------------------------------- */

/* A version of the Lease, as counted by the server. */
typedef struct lease_event {
    uint64_t version;
    char holder[16];
} lease_event;

typedef struct history {
    lease_event events[LEASES_MAX];
    size_t count;
} history;

static history lease;

static void count_write(const ki_apiserver_request *request, void *user)
{
    size_t *writes = user;
    *writes += strcmp(request->resource, "leases") == 0 && request->version != 0;
}

/* The log shows how many versions there are, so the watch that reads them ends with the last one. */
static void end_watch_after_last(void)
{
    size_t writes = 0;
    (void)ki_apiserver_requests(server, 0, count_write, &writes);
    assert_int_equal(ki_apiserver_fault(server,
                                        &(ki_fault){.on = KI_FAULT_WATCH,
                                                    .action = KI_FAULT_CLOSE,
                                                    .path = "/leases",
                                                    .after_events = (uint32_t)writes},
                                        NULL),
                     0);
}

static void read_history(void)
{
    char path[256];
    size_t at = 0;
    json_t *event;
    end_watch_after_last();
    snprintf(path, sizeof(path), LEASES_PATH "?watch=1&timeoutSeconds=1&resourceVersion=%llu",
             (unsigned long long)first_version);
    api_answer answer = api_get(server, path);
    assert_int_equal(answer.status, 200);
    lease.count = 0;
    while ((event = api_next_event(&answer, &at)) != NULL) {
        const char *holder = json_string_value(api_at(event, "object.spec.holderIdentity"));
        assert_true(lease.count < LEASES_MAX);
        lease_event *e = &lease.events[lease.count++];
        e->version = strtoull(json_string_value(api_at(event, "object.metadata.resourceVersion")), NULL, 10);
        snprintf(e->holder, sizeof(e->holder), "%s", holder == NULL ? "" : holder);
        json_decref(event);
    }
    api_answer_fini(&answer);
}

/* The holder just before a version. */
static const char *holder_before(uint64_t version)
{
    const char *holder = "";
    for (size_t i = 0; i < lease.count && lease.events[i].version < version; i++)
        holder = lease.events[i].holder;
    return holder;
}

static int is_held_by(const char *identity)
{
    api_answer answer = api_get(server, LEASES_PATH "/sample-controller");
    int is_held = answer.status == 200 && strcmp(api_text(&answer, "spec.holderIdentity"), identity) == 0;
    api_answer_fini(&answer);
    return is_held;
}

/* ---- checks ------------------------------------------------------------------------------------------ */

typedef struct verdict {
    size_t writes[2];   /* by a and b, to Foos and Deployments */
    size_t stray[2];    /* of these, and of refused ones: those made while the other held the Lease */
    const char *holder; /* in the order of the log */
    int is_whole;       /* no entry of the log was dropped */
    int64_t renewed_us; /* a's last write of the Lease, and b's first one */
    int64_t taken_us;
} verdict;

static void judge_lease(verdict *v, const ki_apiserver_request *request, int is_b)
{
    if (request->version == 0)
        return;
    v->holder = holder_before(request->version + 1);
    if (!is_b && v->taken_us == 0)
        v->renewed_us = request->time_us;
    if (is_b && v->taken_us == 0)
        v->taken_us = request->time_us;
}

/* The version of a write shows who held the Lease then; for a refused write, its position in the log does. */
static void judge_one(const ki_apiserver_request *request, void *user)
{
    verdict *v = user;
    v->is_whole |= request->number == 1;
    const char *end = strrchr(request->user_agent, ' ');
    if (strcmp(request->method, "GET") == 0 || end == NULL ||
        (strcmp(end, " a") != 0 && strcmp(end, " b") != 0))
        return;
    int is_b = end[1] == 'b';
    if (strcmp(request->resource, "leases") == 0)
        judge_lease(v, request, is_b);
    if (strcmp(request->resource, "foos") != 0 && strcmp(request->resource, "deployments") != 0)
        return;
    v->writes[is_b]++;
    v->stray[is_b] +=
        strcmp(request->version == 0 ? v->holder : holder_before(request->version), end + 1) != 0;
}

static verdict judge(void)
{
    verdict v = {.holder = ""};
    read_history();
    (void)ki_apiserver_requests(server, 0, judge_one, &v);
    assert_true(v.is_whole);
    return v;
}

/* Not before the lease had ended, and not much later, as far as the load of this machine allows; for the
 * exact bound see test_apiserver_leader_takeover.c. */
static void assert_taken_in_time(const verdict *v)
{
    int64_t took_ms = (v->taken_us - v->renewed_us) / 1000;
    assert_true(v->renewed_us > 0 && v->taken_us > 0);
    assert_in_range(took_ms, LEASE_MS, LEASE_MS + 22 * RETRY_MS / 10 + AT_ONCE_MS);
}

/* ---- the work ---------------------------------------------------------------------------------------- */

/* Makes sure that there is always something to write. */
static void churn(void)
{
    round_number++;
    sample_put_foo(server, round_number % FOOS, 1 + round_number % 7);
    (void)poll(NULL, 0, 5);
}

#define CHURN_UNTIL(condition)                                                                               \
    do {                                                                                                     \
        uint64_t until_ms = ki_clock_now_ms(ki_clock_real()) + HANG_MS;                                      \
        while (!(condition)) {                                                                               \
            if (ki_clock_now_ms(ki_clock_real()) > until_ms)                                                 \
                fail_msg("not within %d ms: %s", HANG_MS, #condition);                                       \
            churn();                                                                                         \
        }                                                                                                    \
    } while (0)

static size_t writes_of(const char *agent)
{
    return sample_count(server, &(sample_query){.method = "PUT", .resource = "foos", .user_agent = agent});
}

/* a leads and works, b runs and waits. */
static void start_both(void)
{
    sample_start(&a, server, FLAGS "a");
    CHURN_UNTIL(writes_of(" a") > 0);
    sample_start(&b, server, FLAGS "b");
    CHURN_UNTIL(sample_count(server, &(sample_query){.resource = "leases", .user_agent = " b"}) > 2);
    assert_int_equal(writes_of(" b"), 0);
}

static void b_takes_over_from_a_killed_leader(void **state)
{
    (void)state;
    start_both();
    example_kill(&a);
    CHURN_UNTIL(writes_of(" b") > 10);
    sample_wait_settled(server);
    example_end(&b);
    assert_true(is_held_by("")); /* released */
    verdict v = judge();
    assert_int_equal(v.stray[0] + v.stray[1], 0);
    assert_taken_in_time(&v);
}

static void b_takes_over_at_once_from_a_leader_that_ends(void **state)
{
    (void)state;
    start_both();
    example_end(&a);
    CHURN_UNTIL(writes_of(" b") > 10);
    sample_wait_settled(server);
    example_end(&b);
    verdict v = judge();
    assert_true(v.writes[0] > 0 && v.writes[1] > 10);
    assert_int_equal(v.stray[0] + v.stray[1], 0);
}

/* Requests between the check and the socket when it was stopped may follow: one for each worker. */
static void a_paused_leader_does_not_act_when_it_continues(void **state)
{
    (void)state;
    start_both();
    example_signal(&a, SIGSTOP);
    CHURN_UNTIL(writes_of(" b") > 10);
    uint64_t since = sample_now(server);
    example_signal(&a, SIGCONT);
    CHURN_UNTIL(
        sample_count(server, &(sample_query){.resource = "leases", .user_agent = " a", .since = since}) > 2);
    sample_wait_settled(server);
    example_end(&a);
    example_end(&b);
    verdict v = judge();
    assert_in_range(v.stray[0], 0, WORKERS);
    assert_int_equal(v.stray[1], 0);
    assert_taken_in_time(&v);
}

/* Both workers of a are waiting for a response when a is paused,
 * and have to write the status of a Foo afterwards. */
static void a_paused_reconcile_writes_nothing_more(void **state)
{
    (void)state;
    sample_start(&a, server, FLAGS "a");
    SAMPLE_WAIT_UNTIL(is_held_by("a"));
    sample_start(&b, server, FLAGS "b");
    SAMPLE_WAIT_UNTIL(sample_count(server, &(sample_query){.resource = "leases", .user_agent = " b"}) > 2);
    assert_int_equal(ki_apiserver_fault(server,
                                        &(ki_fault){.action = KI_FAULT_STALL,
                                                    .methods = KI_FAULT_METHOD_POST,
                                                    .path = "/deployments",
                                                    .user_agent = " a",
                                                    .after_bytes = 1},
                                        NULL),
                     0);
    sample_put_foo(server, 1, 1);
    sample_put_foo(server, 2, 1);
    SAMPLE_WAIT_UNTIL(ki_apiserver_count(server, &KI_APPS_V1_DEPLOYMENTS) == 2);
    example_signal(&a, SIGSTOP);
    sample_wait_settled(server); /* done by b */
    example_signal(&a, SIGCONT);
    uint64_t since = sample_now(server);
    ki_apiserver_clear_faults(server);
    SAMPLE_WAIT_UNTIL(
        sample_count(server, &(sample_query){.resource = "leases", .user_agent = " a", .since = since}) > 2);
    example_end(&a);
    example_end(&b);
    verdict v = judge();
    assert_int_equal(v.stray[0] + v.stray[1], 0);
    assert_int_equal(v.writes[0], 2);
}

static void lose_contact(const ki_fault *fault)
{
    start_both();
    assert_int_equal(ki_apiserver_fault(server, fault, NULL), 0);
    ki_apiserver_cut(server, 1);
    CHURN_UNTIL(writes_of(" b") > 10);
    ki_apiserver_clear_faults(server);
    uint64_t since = sample_now(server);
    CHURN_UNTIL(
        sample_count(
            server,
            &(sample_query){.resource = "leases", .user_agent = " a", .status = 200, .since = since}) > 2);
    example_end(&b);
    since = sample_now(server);
    CHURN_UNTIL(
        sample_count(
            server,
            &(sample_query){.method = "PUT", .resource = "foos", .user_agent = " a", .since = since}) > 10);
    sample_wait_settled(server);
    example_end(&a);
    verdict v = judge();
    assert_int_equal(v.stray[0] + v.stray[1], 0);
}

static void a_leader_without_a_server_stops_acting_and_contends_again(void **state)
{
    (void)state;
    lose_contact(&(ki_fault){.action = KI_FAULT_RESET, .user_agent = " a"});
}

/* Its requests are carried out, but the responses are lost. */
static void a_leader_without_responses_stops_acting_and_contends_again(void **state)
{
    (void)state;
    lose_contact(&(ki_fault){.action = KI_FAULT_RESET, .user_agent = " a", .after_bytes = 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(b_takes_over_from_a_killed_leader, setup, teardown),
        cmocka_unit_test_setup_teardown(b_takes_over_at_once_from_a_leader_that_ends, setup, teardown),
        cmocka_unit_test_setup_teardown(a_paused_leader_does_not_act_when_it_continues, setup, teardown),
        cmocka_unit_test_setup_teardown(a_paused_reconcile_writes_nothing_more, setup, teardown),
        cmocka_unit_test_setup_teardown(a_leader_without_a_server_stops_acting_and_contends_again, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_leader_without_responses_stops_acting_and_contends_again, setup,
                                        teardown),
    };
    return RUN_TESTS(tests);
}
