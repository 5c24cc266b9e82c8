/* SPDX-License-Identifier: Apache-2.0 */
/* sample-controller while requests fail: every Foo ends with its Deployment,
 * and the server is not flooded. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>

#include "flow/support/sample_world.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/clock.h"

enum { FOOS = 30 }; /* fewer failures than the 100 that all keys together have at once */

static void break_some(const ki_fault *fault)
{
    assert_int_equal(ki_apiserver_fault(sample.server, fault, NULL), 0);
}

static size_t writes(const char *method, const char *resource, int status)
{
    return sample_count(
        sample.server,
        &(sample_query){.method = method, .resource = resource, .user_agent = CONTROLLER, .status = status});
}

static void put_all(int replicas)
{
    for (int i = 0; i < FOOS; i++)
        sample_put_foo(sample.server, i, replicas);
}

/* A failed attempt costs one more: the number of faults bounds the number of requests. */
static void assert_no_storm(void)
{
    size_t created = writes("POST", "deployments", 201);
    assert_int_equal(created, FOOS); /* none was created twice */
    assert_in_range(writes("POST", "deployments", 0), FOOS, 20 * FOOS);
    assert_in_range(writes("PUT", "foos", 0), FOOS, 40 * FOOS);
    assert_in_range(writes("POST", "events", 0), 0, 10 * FOOS);
}

static void refused_writes_are_retried(void **state)
{
    (void)state;
    /* The faults are limited; otherwise the unluckiest Foo would only wait for its back-off. */
    break_some(&(ki_fault){
        .action = KI_FAULT_STATUS, .http_status = 409, .on = KI_FAULT_WRITE, .percent = 30, .times = 40});
    break_some(&(ki_fault){
        .action = KI_FAULT_STATUS, .http_status = 500, .on = KI_FAULT_WRITE, .percent = 30, .times = 40});
    sample_start(&sample.process, sample.server, "--workers 4");
    put_all(2);
    sample_wait_settled(sample.server);
    assert_true(writes(NULL, NULL, 409) > 0);
    assert_true(writes(NULL, NULL, 500) > 0);
    assert_no_storm();
    example_end(&sample.process);
}

static void delayed_writes_are_retried_when_the_server_allows(void **state)
{
    (void)state;
    break_some(&(ki_fault){.action = KI_FAULT_STATUS,
                           .http_status = 429,
                           .on = KI_FAULT_WRITE,
                           .retry_after_seconds = 1,
                           .times = 20});
    sample_start(&sample.process, sample.server, "--workers 4");
    put_all(2);
    sample_wait_settled(sample.server);
    assert_int_equal(writes(NULL, NULL, 429), 20);
    assert_no_storm();
    example_end(&sample.process);
}

/* The write is carried out, but the response is lost. */
static void lost_responses_create_nothing_twice(void **state)
{
    (void)state;
    break_some(&(ki_fault){.action = KI_FAULT_RESET, .on = KI_FAULT_WRITE, .after_bytes = 1, .percent = 40});
    break_some(&(ki_fault){.action = KI_FAULT_RESET, .on = KI_FAULT_WATCH, .after_events = 5});
    sample_start(&sample.process, sample.server, "--workers 4");
    put_all(2);
    SAMPLE_WAIT_UNTIL(ki_apiserver_count(sample.server, &KI_APPS_V1_DEPLOYMENTS) == FOOS);
    ki_apiserver_clear_faults(sample.server);
    sample_wait_settled(sample.server);
    assert_int_equal(ki_apiserver_count(sample.server, &KI_APPS_V1_DEPLOYMENTS), FOOS);
    assert_in_range(writes("POST", "deployments", 0), FOOS, 20 * FOOS);
    example_end(&sample.process);
}

static void foos_are_served_after_the_server_was_down(void **state)
{
    (void)state;
    sample_start(&sample.process, sample.server, "--workers 4");
    for (int round = 1; round <= 2; round++) {
        put_all(round);
        ki_apiserver_down_for(sample.server, 300);
        SAMPLE_WAIT_UNTIL(sample_count(sample.server, &(sample_query){.status = 200}) > 0);
        ki_apiserver_cut(sample.server, round % 2);
    }
    sample_wait_settled(sample.server);
    example_end(&sample.process);
    assert_no_storm();
}

static void a_killed_controller_continues_after_its_restart(void **state)
{
    (void)state;
    for (int i = 0; i < FOOS; i++) {
        sample_put_foo(sample.server, i, 1 + i % 3);
        if (i % 12 != 0)
            continue;
        if (sample.process.pid > 0)
            example_kill(&sample.process);
        sample_start(&sample.process, sample.server, "--workers 4");
        size_t before = ki_apiserver_count(sample.server, &KI_APPS_V1_DEPLOYMENTS);
        SAMPLE_WAIT_UNTIL(ki_apiserver_count(sample.server, &KI_APPS_V1_DEPLOYMENTS) > before);
    }
    sample_wait_settled(sample.server);
    example_end(&sample.process);
    assert_no_storm();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        sample_test(refused_writes_are_retried),
        sample_test(delayed_writes_are_retried_when_the_server_allows),
        sample_test(lost_responses_create_nothing_twice),
        sample_test(foos_are_served_after_the_server_was_down),
        sample_test(a_killed_controller_continues_after_its_restart),
    };
    return RUN_TESTS(tests);
}
