/* SPDX-License-Identifier: Apache-2.0 */
/* How sample-controller ends while a reconcile runs. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flow/support/sample_world.h"
#include "support/apiserver/api_rig.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/clock.h"

/* Its reconcile hangs: the Deployment is created at once, and the answer comes when the fault is gone. */
static void start_and_stall(const char *flags)
{
    const ki_fault stall = {
        .action = KI_FAULT_STALL, .path = "/deployments", .methods = KI_FAULT_METHOD_POST, .after_bytes = 1};
    assert_int_equal(ki_apiserver_fault(sample.server, &stall, NULL), 0);
    sample_put_foo(sample.server, 1, 1);
    sample_start(&sample.process, sample.server, flags);
    SAMPLE_WAIT_UNTIL(ki_apiserver_count(sample.server, &KI_APPS_V1_DEPLOYMENTS) == 1);
}

static void a_reconcile_that_runs_ends_before_the_process_does(void **state)
{
    (void)state;
    start_and_stall("");
    example_signal(&sample.process, SIGTERM);
    (void)poll(NULL, 0, 300); /* time to end for one that does not wait */
    ki_apiserver_clear_faults(sample.server);
    example_wait(&sample.process);
    /* The status was written by the reconcile that had created the Deployment. */
    assert_int_equal(
        sample_count(
            sample.server,
            &(sample_query){.method = "PUT", .resource = "foos", .user_agent = CONTROLLER, .status = 200}),
        1);
}

/* Its Deployment is made, but the response is lost, and then nothing of the lease is answered either. Without
 * a limit it would wait for a minute, which is how long a call may take. */
static void a_reconcile_that_hangs_is_cut_off(void **state)
{
    (void)state;
    enum { CALL_MS = 60 * 1000 };
    start_and_stall("--stop-timeout 100ms --leader-elect --leader-elect-lease-duration 3s "
                    "--leader-elect-renew-deadline 2s --leader-elect-retry-period 200ms");
    assert_int_equal(
        ki_apiserver_fault(sample.server, &(ki_fault){.action = KI_FAULT_STALL, .path = "/leases"}, NULL), 0);
    uint64_t began_ms = ki_clock_now_ms(ki_clock_real());
    example_end(&sample.process);
    assert_in_range(ki_clock_now_ms(ki_clock_real()) - began_ms, 0, CALL_MS / 2);
}

/* One that comes too early is one with the first. */
static void another_signal_ends_it_at_once(void **state)
{
    (void)state;
    int status = 0;
    start_and_stall("--stop-timeout 1h");
    for (int i = 0; i < AT_ONCE_MS / 10 && waitpid(sample.process.pid, &status, WNOHANG) == 0; i++) {
        example_signal(&sample.process, SIGTERM);
        (void)poll(NULL, 0, 10);
    }
    assert_true(WIFSIGNALED(status));
    close(sample.process.input);
    sample.process = (example_process){0};
}

/* Whether it has read the signal: the next one would end it at once. */
static int is_ending(void)
{
    char path[64], line[256];
    unsigned long long blocked = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)sample.process.pid);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL)
        (void)sscanf(line, "SigBlk: %llx", &blocked);
    fclose(file);
    return (blocked >> (SIGTERM - 1) & 1) == 0;
}

static int has_holder(void)
{
    api_answer lease = api_get(sample.server, LEASES_PATH "/sample-controller");
    int has = api_at(lease.tree, "spec.holderIdentity") != NULL;
    api_answer_fini(&lease);
    return has;
}

/* An event of the time when it led is not answered, so it takes a while to end; meanwhile it leads again. */
static void a_lease_that_is_acquired_while_it_ends_starts_nothing(void **state)
{
    (void)state;
    const ki_fault stall = {
        .action = KI_FAULT_STALL, .path = "/events", .methods = KI_FAULT_METHOD_POST, .after_bytes = 1};
    assert_int_equal(ki_apiserver_fault(sample.server, &stall, NULL), 0);
    sample_put_foo(sample.server, 1, 1);
    sample_start(&sample.process, sample.server, "--leader-elect --leader-elect-retry-period 100ms");
    SAMPLE_WAIT_UNTIL(ki_apiserver_count(sample.server, &KI_CORE_V1_EVENTS) == 1);
    sample_wait_settled(sample.server);
    sample_patch(LEASES_PATH "/sample-controller",
                 "{\"spec\":{\"holderIdentity\":\"other\",\"leaseDurationSeconds\":3600}}");
    size_t reads = sample_lease_reads();
    SAMPLE_WAIT_UNTIL(sample_lease_reads() > reads + 2); /* it contends: it has stopped acting */
    sample_put_foo(sample.server, 2, 1);
    example_signal(&sample.process, SIGTERM);
    SAMPLE_WAIT_UNTIL(is_ending());
    sample_patch(LEASES_PATH "/sample-controller", "{\"spec\":{\"holderIdentity\":null}}");
    SAMPLE_WAIT_UNTIL(has_holder());
    (void)poll(NULL, 0, 300); /* time to act for one that does */
    ki_apiserver_clear_faults(sample.server);
    example_wait(&sample.process);
    assert_int_equal(ki_apiserver_count(sample.server, &KI_APPS_V1_DEPLOYMENTS), 1);
    assert_false(has_holder());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        sample_test(a_reconcile_that_runs_ends_before_the_process_does),
        sample_test(a_reconcile_that_hangs_is_cut_off),
        sample_test(another_signal_ends_it_at_once),
        sample_test(a_lease_that_is_acquired_while_it_ends_starts_nothing),
    };
    return RUN_TESTS(tests);
}
