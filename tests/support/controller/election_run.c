/* SPDX-License-Identifier: Apache-2.0 */
#include "support/controller/election_run.h"

#include <kinformer/resources.h>
#include <stdio.h>

#include "support/unit.h"

const ki_election_options election_run_defaults = {.ns = "default",
                                                   .name = "lock",
                                                   .identity = "me",
                                                   .lease_ns = 15 * (uint64_t)S,
                                                   .renew_ns = 10 * (uint64_t)S,
                                                   .retry_ns = 2 * (uint64_t)S,
                                                   .seed = 1};

static void begin(election_run *run, const ki_election_options *options)
{
    *run = (election_run){.now_ns = 100 * (uint64_t)S};
    ki_election_init(&run->election, options);
    ki_election_start(&run->election, run->now_ns);
}

void election_run_restart(election_run *run, const ki_election_options *options)
{
    ki_election_fini(&run->election);
    begin(run, options);
}

void election_run_advance_s(election_run *run, unsigned seconds)
{
    run->now_ns += seconds * (uint64_t)S;
}

ki_election_request election_run_step(election_run *run)
{
    return ki_election_step(&run->election, run->now_ns,
                            1699999900 * (int64_t)S + 123456789 + (int64_t)run->now_ns);
}

ki_object *election_run_lease(election_run *run, const char *holder, int seconds, int renewal)
{
    char text[512];
    snprintf(
        text, sizeof(text),
        "{\"metadata\":{\"namespace\":\"default\",\"name\":\"lock\",\"resourceVersion\":\"%d\",\"labels\":"
        "{\"team\":\"a\"}},\"spec\":{\"holderIdentity\":\"%s\",\"leaseDurationSeconds\":%d,\"acquireTime\":"
        "\"2026-01-01T00:00:00.000000Z\",\"renewTime\":\"2026-01-01T00:00:00.%06dZ\",\"leaseTransitions\":3}"
        "}",
        ++run->serial, holder, seconds, renewal);
    ki_object *lease = ki_object_new(&KI_COORDINATION_V1_LEASES, ki_str_of(text), NULL, NULL);
    assert_non_null(lease);
    return lease;
}

void election_run_answer(election_run *run, ki_election_outcome outcome)
{
    ki_election_answer(&run->election, outcome, NULL, run->now_ns);
}

void election_run_answer_lease(election_run *run, const char *holder, int renewal)
{
    ki_object *lease = election_run_lease(run, holder, 15, renewal);
    ki_election_answer(&run->election, KI_ELECTION_DONE, lease, run->now_ns);
    ki_object_unref(lease);
}

void election_run_answer_body(election_run *run, ki_election_request request)
{
    ki_error err = {0};
    ki_object *lease = ki_object_new(&KI_COORDINATION_V1_LEASES, request.body, NULL, &err);
    assert_non_null(lease);
    ki_election_answer(&run->election, KI_ELECTION_DONE, lease, run->now_ns);
    ki_object_unref(lease);
}

void election_run_read(election_run *run, const char *holder, int renewal)
{
    expect_next(run, GET);
    election_run_answer_lease(run, holder, renewal);
}

void election_run_read_missing(election_run *run)
{
    expect_next(run, GET);
    election_run_answer(run, KI_ELECTION_NOT_FOUND);
}

void election_run_write(election_run *run, ki_election_action action)
{
    ki_election_request request = election_run_step(run);
    assert_int_equal(request.action, action);
    election_run_answer_body(run, request);
}

void election_run_lead(election_run *run)
{
    election_run_read_missing(run);
    election_run_write(run, KI_ELECTION_CREATE);
    expect_phase(run, LEADING);
}

ki_election_request election_run_lead_and_renew(election_run *run)
{
    election_run_lead(run);
    election_run_advance_s(run, 2);
    ki_election_request renewal = election_run_step(run);
    assert_int_equal(renewal.action, KI_ELECTION_UPDATE);
    return renewal;
}

void election_run_lead_and_stop(election_run *run)
{
    election_run_lead(run);
    ki_election_stop(&run->election, run->now_ns);
    ki_election_acting_ended(&run->election, run->now_ns);
}

int election_run_setup(void **state)
{
    static election_run run;
    begin(&run, &election_run_defaults);
    *state = &run;
    return 0;
}

int election_run_teardown(void **state)
{
    election_run *run = *state;
    ki_election_fini(&run->election);
    return 0;
}
