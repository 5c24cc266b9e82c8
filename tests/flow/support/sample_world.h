/* SPDX-License-Identifier: Apache-2.0 */
/* sample_world - an embedded API server with Foos, and sample-controller's work on them.
 *
 *   From:     tests/flow/example/test_example_sample*.c
 *   To:       the embedded API server; $KI_EXAMPLE_SOURCES, which has the definition of Foos
 *   Not here: the process; see example_process.h
 */
#ifndef KI_TESTS_FLOW_SUPPORT_SAMPLE_WORLD_H
#define KI_TESTS_FLOW_SUPPORT_SAMPLE_WORLD_H

#include <kinformer/apiserver.h>
#include <kinformer/resources.h>

#include "flow/support/example_process.h"

#define FOOS_PATH "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos"
#define DEPLOYMENTS_PATH "/apis/apps/v1/namespaces/default/deployments"
#define LEASES_PATH "/apis/coordination.k8s.io/v1/namespaces/default/leases"

#define CONTROLLER "sample-controller"

/* Of the test that runs. */
typedef struct sample_world {
    ki_apiserver *server;
    example_process process;
} sample_world;

extern sample_world sample;

/* Starts the server of a test; and frees it, after a process that a test which failed has left. */
int sample_setup(void **state);
int sample_teardown(void **state);

#define sample_test(function) cmocka_unit_test_setup_teardown(function, sample_setup, sample_teardown)

/* The replicas of Deployments become available after a moment. */
ki_apiserver *sample_server_start(void);

/* Starts sample-controller with these flags in addition to --server; `flags` may be "". */
void sample_start(example_process *p, const ki_apiserver *server, const char *flags);

/* Creates or replaces the Foo foo-N, whose Deployment is foo-N, too. Its status is removed. */
void sample_put_foo(ki_apiserver *server, int number, int replicas);

/* A JSON merge patch, which succeeds. */
void sample_patch(const char *path, const char *body);

/* Whether every Foo has a Deployment that it controls, the number of replicas that it asks for, and a status
 * that says so; and there are no other Deployments. */
int sample_is_settled(ki_apiserver *server);

/* Waits for that; fails the test if it takes too long. */
void sample_wait_settled(ki_apiserver *server);

/* Requests in the log after `since` that match; NULL and 0 match any. */
typedef struct sample_query {
    const char *method;
    const char *resource;
    const char *user_agent; /* a part of the user agent */
    int status;
    uint64_t since;
} sample_query;

size_t sample_count(ki_apiserver *server, const sample_query *query);

/* How often sample-controller has read its lease: while it does not lead, every retry period. */
size_t sample_lease_reads(void);

/* The number of the latest request. */
uint64_t sample_now(ki_apiserver *server);

#define SAMPLE_WAIT_UNTIL(condition)                                                                         \
    do {                                                                                                     \
        uint64_t until_ms = ki_clock_now_ms(ki_clock_real()) + HANG_MS;                                      \
        while (!(condition)) {                                                                               \
            if (ki_clock_now_ms(ki_clock_real()) > until_ms)                                                 \
                fail_msg("not within %d ms: %s", HANG_MS, #condition);                                       \
            (void)poll(NULL, 0, 10);                                                                         \
        }                                                                                                    \
    } while (0)

#endif
