/* SPDX-License-Identifier: Apache-2.0 */
/* sample-controller while things go wrong: every Foo ends with its Deployment,
 * and the server is not flooded. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>

#include "flow/support/sample_world.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/clock.h"

#define CONTROLLER "sample-controller"

enum { FOOS = 30 }; /* fewer failures than the 100 that all keys together have at once */

static ki_apiserver *server;
static example_process process;

static int setup(void **state)
{
    (void)state;
    server = sample_server_start();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    if (process.pid > 0)
        (void)kill(process.pid, SIGKILL); /* of a test that failed */
    process = (example_process){0};
    ki_apiserver_free(server);
    return 0;
}

static void break_some(const ki_fault *fault)
{
    assert_int_equal(ki_apiserver_fault(server, fault, NULL), 0);
}

static size_t writes(const char *method, const char *resource, int status)
{
    return sample_count(
        server,
        &(sample_query){.method = method, .resource = resource, .user_agent = CONTROLLER, .status = status});
}

static void put_all(int replicas)
{
    for (int i = 0; i < FOOS; i++)
        sample_put_foo(server, i, replicas);
}

/* What a failed attempt costs is another one: the faults that were met bound all that was sent. */
static void assert_no_storm(void)
{
    size_t created = writes("POST", "deployments", 201);
    assert_int_equal(created, FOOS); /* none twice */
    assert_in_range(writes("POST", "deployments", 0), FOOS, 20 * FOOS);
    assert_in_range(writes("PUT", "foos", 0), FOOS, 40 * FOOS);
    assert_in_range(writes("POST", "events", 0), 0, 10 * FOOS);
}

static void writes_that_are_refused_are_tried_again(void **state)
{
    (void)state;
    /* Without an end of them, the unluckiest Foo would wait for its back-off alone. */
    break_some(&(ki_fault){
        .action = KI_FAULT_STATUS, .http_status = 409, .on = KI_FAULT_WRITE, .percent = 30, .times = 40});
    break_some(&(ki_fault){
        .action = KI_FAULT_STATUS, .http_status = 500, .on = KI_FAULT_WRITE, .percent = 30, .times = 40});
    sample_start(&process, server, "--workers 4");
    put_all(2);
    sample_wait_settled(server);
    assert_true(writes(NULL, NULL, 409) > 0);
    assert_true(writes(NULL, NULL, 500) > 0);
    assert_no_storm();
    example_end(&process);
}

static void a_server_that_puts_writes_off_is_waited_for(void **state)
{
    (void)state;
    break_some(&(ki_fault){.action = KI_FAULT_STATUS,
                           .http_status = 429,
                           .on = KI_FAULT_WRITE,
                           .retry_after_seconds = 1,
                           .times = 20});
    sample_start(&process, server, "--workers 4");
    put_all(2);
    sample_wait_settled(server);
    assert_int_equal(writes(NULL, NULL, 429), 20);
    assert_no_storm();
    example_end(&process);
}

/* The write is carried out, but the response is lost. */
static void answers_that_are_lost_make_nothing_twice(void **state)
{
    (void)state;
    break_some(&(ki_fault){.action = KI_FAULT_RESET, .on = KI_FAULT_WRITE, .after_bytes = 1, .percent = 40});
    break_some(&(ki_fault){.action = KI_FAULT_RESET, .on = KI_FAULT_WATCH, .after_events = 5});
    sample_start(&process, server, "--workers 4");
    put_all(2);
    SAMPLE_WAIT_UNTIL(ki_apiserver_count(server, &KI_APPS_V1_DEPLOYMENTS) == FOOS);
    ki_apiserver_heal(server);
    sample_wait_settled(server);
    assert_int_equal(ki_apiserver_count(server, &KI_APPS_V1_DEPLOYMENTS), FOOS);
    assert_in_range(writes("POST", "deployments", 0), FOOS, 20 * FOOS);
    example_end(&process);
}

static void a_server_that_goes_away_finds_its_foos_served_afterwards(void **state)
{
    (void)state;
    sample_start(&process, server, "--workers 4");
    for (int round = 1; round <= 2; round++) {
        put_all(round);
        ki_apiserver_down_for(server, 300);
        SAMPLE_WAIT_UNTIL(sample_count(server, &(sample_query){.status = 200}) > 0);
        ki_apiserver_cut(server, round % 2);
    }
    sample_wait_settled(server);
    example_end(&process);
    assert_no_storm();
}

static void a_controller_that_is_killed_continues_where_it_was(void **state)
{
    (void)state;
    for (int i = 0; i < FOOS; i++) {
        sample_put_foo(server, i, 1 + i % 3);
        if (i % 12 != 0)
            continue;
        if (process.pid > 0)
            example_kill(&process);
        sample_start(&process, server, "--workers 4");
        size_t before = ki_apiserver_count(server, &KI_APPS_V1_DEPLOYMENTS);
        SAMPLE_WAIT_UNTIL(ki_apiserver_count(server, &KI_APPS_V1_DEPLOYMENTS) > before);
    }
    sample_wait_settled(server);
    example_end(&process);
    assert_no_storm();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(writes_that_are_refused_are_tried_again, setup, teardown),
        cmocka_unit_test_setup_teardown(a_server_that_puts_writes_off_is_waited_for, setup, teardown),
        cmocka_unit_test_setup_teardown(answers_that_are_lost_make_nothing_twice, setup, teardown),
        cmocka_unit_test_setup_teardown(a_server_that_goes_away_finds_its_foos_served_afterwards, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_controller_that_is_killed_continues_where_it_was, setup, teardown),
    };
    return RUN_TESTS(tests);
}
