/* SPDX-License-Identifier: Apache-2.0 */
/* leader - drives an election: sends its requests, runs its timers, calls the callbacks.
 *
 *   From:     controller/leader.c: the program's calls (any thread), answers of single calls;
 *             controller/leader_guard.c
 *   To:       controller/election.c; <kinformer/rest.h>; the program's callbacks
 *   Locks:    mu, for requests, answers and pending callbacks; no callback runs while it is held. Taken
 *             under it: the client's, a loop's.
 *   Not here: when the lease is ours.
 *
 * There are two jobs. `steer`, on dispatch, owns the election and never waits. `tell`, on the handlers' loop,
 * calls the program. Acting ends when on_stopped returns; only then does the election continue.
 */
#ifndef KI_CONTROLLER_LEADER_H
#define KI_CONTROLLER_LEADER_H

#include <kinformer/leader.h>

#include "client/client.h"
#include "controller/election.h"
#include "metrics/metrics.h"

struct ki_leader {
    ki_client *client; /* constant, as all up to the first blank line */
    ki_leader_options options;
    char *identity;
    char *name;
    char *ns;
    ki_gauge *is_master;
    ki_counter *slow_renewals;

    _Atomic uint64_t leads_until_ns; /* of the client's clock; 0: not leading. Written by steer */

    ki_client_user alive;
    ki_job steer;
    ki_job tell;
    ki_election election; /* owned by steer */
    bool is_creating;     /* the request in flight is a create; written before it is sent */
    bool is_reading;      /* the same for a get */

    ki_mutex mu;
    bool is_wanted; /* started; guarded by mu, as all below */
    bool is_freed;
    bool has_answer;
    ki_election_outcome outcome;
    ki_object *answer;
    ki_election_phase phase; /* as steer saw it last */
    bool is_told_started;    /* on_started was called, or is about to be; on_stopped was not yet */
    bool is_acting_ended;    /* on_stopped has returned, or there was nothing to stop */
    bool is_quiet;           /* the election is over, and no request is in flight */
    bool is_told_all;        /* the election is over, and all callbacks have been called */
    char *holder;            /* NULL: not read yet */
    int64_t failure;         /* which failure was logged last; 0: it has ended */
    bool has_read_failed;    /* it was that of a get */
    uint64_t log_again_ns;   /* when to log the same failure again */
    ki_list guards;          /* clients whose writes are refused while we do not lead */
    uint64_t holders;        /* how many times the holder has changed */
    uint64_t holders_told;   /* the value of holders when on_new_leader was last called */
};

/* The leader is being freed: from now on, the guarded clients refuse all writes. */
void ki_leader_end_guards(ki_leader *leader);

#endif
