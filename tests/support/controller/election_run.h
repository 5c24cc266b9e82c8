/* SPDX-License-Identifier: Apache-2.0 */
/* election_run - an election on a clock that is set by hand, and answers as a server would give them.
 *
 *   From:     tests of the election
 *   To:       controller/election.h
 */
#ifndef KI_TESTS_SUPPORT_CONTROLLER_ELECTION_RUN_H
#define KI_TESTS_SUPPORT_CONTROLLER_ELECTION_RUN_H

#include "controller/election.h"

enum { S = 1000000000 };

typedef struct election_run {
    ki_election election;
    uint64_t now_ns;
    int serial;
} election_run;

/* A lease of 15 seconds, a renew deadline of 10, a retry period of 2; "me" contends for default/lock. */
extern const ki_election_options election_run_defaults;

/* Ends the election of the run, and starts one with these options at 100 seconds. */
void election_run_restart(election_run *run, const ki_election_options *options);

void election_run_advance_s(election_run *run, unsigned seconds);

ki_election_request election_run_step(election_run *run);

/* A lease with `holder`, renewed for the `renewal`-th time. */
ki_object *election_run_lease(election_run *run, const char *holder, int seconds, int renewal);

/* Answers the request in flight without an object. */
void election_run_answer(election_run *run, ki_election_outcome outcome);

void election_run_answer_lease(election_run *run, const char *holder, int renewal);

/* What was written comes back as it was sent. */
void election_run_answer_body(election_run *run, ki_election_request request);

/* The next request reads the lease, and gets this answer. */
void election_run_read(election_run *run, const char *holder, int renewal);
void election_run_read_missing(election_run *run);

/* The next request writes the lease, and succeeds. */
void election_run_write(election_run *run, ki_election_action action);

/* Of an election that has just begun. */
void election_run_lead(election_run *run);

/* The same, and the first renewal is in flight. */
ki_election_request election_run_lead_and_renew(election_run *run);

/* The same as election_run_lead(), and then a stop that waits for its release. */
void election_run_lead_and_stop(election_run *run);

#define expect_phase(run, wanted) assert_int_equal((run)->election.phase, KI_ELECTION_##wanted)
#define expect_next(run, wanted) assert_int_equal(election_run_step(run).action, KI_ELECTION_##wanted)
#define expect_pending(run, wanted) assert_int_equal((run)->election.pending, KI_ELECTION_##wanted)

/* Setup and teardown of a test whose state is a run that has begun with the defaults. */
int election_run_setup(void **state);
int election_run_teardown(void **state);

#define election_test(function)                                                                              \
    cmocka_unit_test_setup_teardown(function, election_run_setup, election_run_teardown)

#endif
