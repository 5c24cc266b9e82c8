/* SPDX-License-Identifier: Apache-2.0 */
/* sample_world - an embedded API server with Foos, and what sample-controller has made of them.
 *
 *   From:     tests/flow/test_example_sample*.c
 *   To:       the embedded API server; $KI_EXAMPLE_SOURCES, where the definition of Foos is
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

/* Replicas of Deployments become available after a moment. */
ki_apiserver *sample_server_start(void);

/* sample-controller with these flags besides --server; `flags` may be "". */
void sample_start(example_process *p, const ki_apiserver *server, const char *flags);

/* Creates or replaces the Foo foo-N, whose Deployment is foo-N too. Its status is gone. */
void sample_put_foo(ki_apiserver *server, int number, int replicas);

/* Whether every Foo has a Deployment that it controls, as many replicas as it wants, and a status that says
 * so; and there are no other Deployments. */
int sample_is_settled(ki_apiserver *server);

/* Fails the test when that takes too long. */
void sample_wait_settled(ki_apiserver *server);

/* Requests of the log behind `since` that are as said; NULL and 0 stand for any. */
typedef struct sample_query {
    const char *method;
    const char *resource;
    const char *user_agent; /* that contains this */
    int status;
    uint64_t since;
} sample_query;

size_t sample_count(ki_apiserver *server, const sample_query *query);

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
