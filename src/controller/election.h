/* SPDX-License-Identifier: Apache-2.0 */
/* election - when to read and write a Lease, and until when its holder may act: leader election without I/O.
 *
 *   From:     controller/leader.c (sends the requests that are made here, and passes the answers back)
 *   To:       controller/lease.c (the text of a Lease)
 *   Locks:    none; one owner.
 *   Not here: requests, timers, callbacks.
 *
 * Time is the caller's monotonic clock. What makes it safe, for clocks that run equally fast within 1/64:
 *
 *   - A holder may act for the duration of the lease, less 1/64, after it *sent* its last successful renewal.
 *     A contender takes over when a record has not changed for the whole duration since it was *seen*, which
 *     is later.
 *   - A process reads the Lease before it writes it, and the server rejects the write if the Lease has
 *     changed since. So a take-over succeeds only if no renewal came in between.
 *   - A release is written only after acting has ended, over a record that was just read and names us.
 *   - The holder of a Lease that was deleted creates it again, as a renewal. A contender that has seen the
 *     Lease creates it only when the Lease has been missing for the whole duration since that was *seen*: the
 *     holder may have renewed it just before the deletion. A contender that has never seen it creates it at
 *     once.
 *
 * Records are compared whole, byte for byte: a renewal within the same second is a change.
 */
#ifndef KI_CONTROLLER_ELECTION_H
#define KI_CONTROLLER_ELECTION_H

#include <kinformer/object.h>
#include <stdbool.h>

#include "util/buf.h"
#include "util/random.h"

typedef enum ki_election_phase {
    KI_ELECTION_STOPPED = 0,
    KI_ELECTION_SEEKING,  /* another process holds the lease, or none does */
    KI_ELECTION_LEADING,  /* we hold it */
    KI_ELECTION_ENDING,   /* lost or given up; waits for ki_election_acting_ended() */
    KI_ELECTION_RELEASING /* acting has ended; the lease is being released */
} ki_election_phase;

typedef enum ki_election_action {
    KI_ELECTION_NOTHING = 0,
    KI_ELECTION_GET,
    KI_ELECTION_CREATE,
    KI_ELECTION_UPDATE
} ki_election_action;

typedef enum ki_election_outcome {
    KI_ELECTION_DONE = 0, /* the object is the answer */
    KI_ELECTION_NOT_FOUND,
    KI_ELECTION_CONFLICT, /* changed since it was read, or created by another process */
    KI_ELECTION_REJECTED, /* another HTTP error; some servers answer so to a PUT of a deleted object */
    KI_ELECTION_UNCLEAR,  /* a 5xx, which may come after the request was processed; otherwise like REJECTED */
    KI_ELECTION_FAILED    /* no answer: the server may have processed the request */
} ki_election_outcome;

/* Constant for the life of an election; texts are borrowed. */
typedef struct ki_election_options {
    const char *ns;
    const char *name; /* of the Lease */
    const char *identity;
    uint64_t lease_ns; /* lease_ns > renew_ns > 1.2 * retry_ns > 0 */
    uint64_t renew_ns;
    uint64_t retry_ns;
    bool keeps_lease; /* the lease is not released when the election stops */
    uint64_t seed;
} ki_election_options;

/* What to send. The body is borrowed until the answer is passed back. */
typedef struct ki_election_request {
    ki_election_action action;
    ki_str body;         /* for create and update */
    uint64_t timeout_ns; /* without an answer after this time, the request has failed */
} ki_election_request;

typedef struct ki_election {
    ki_election_options options;
    ki_random random;
    ki_election_phase phase;
    bool is_stopping;           /* the election stops when acting has ended */
    ki_election_action pending; /* to send at once; NOTHING: what the phase sends, at due_ns */
    uint64_t due_ns;
    ki_election_action in_flight;
    ki_election_phase sent_in; /* an answer that arrives in another phase only updates the lease */
    uint64_t sent_ns;
    uint64_t renewed_ns;       /* when the last successful renewal was sent; LEADING only */
    uint64_t leads_until_ns;   /* 0: not leading */
    uint64_t doubted_until_ns; /* until then, a failed write may have acquired the lease; 0: none */
    uint64_t release_until_ns; /* in RELEASING: when to give up */
    unsigned rejected_writes;  /* since the last renewal; if any, the next renewal reads first */
    ki_object *lease;          /* as last read or written, even if missing now; NULL: never seen */
    bool is_missing;           /* it existed, and does not exist any more */
    uint64_t seen_ns;          /* when its present spec, or that it is missing, was first seen */
    uint64_t missed_ns;        /* when the last request that found it missing was sent */
    ki_buf body;               /* of the request in flight */
    uint64_t slow_renewals;    /* renewals that had to read first */
} ki_election;

/* Cannot fail. */
void ki_election_init(ki_election *election, const ki_election_options *options);
void ki_election_fini(ki_election *election);

/* STOPPED -> SEEKING; cancels a stop in progress. */
void ki_election_start(ki_election *election, uint64_t now_ns);

/* Goes to STOPPED: through ENDING and RELEASING if we lead, through RELEASING if the lease may be ours. */
void ki_election_stop(ki_election *election, uint64_t now_ns);

/* In ENDING: tells the election that acting has ended. */
void ki_election_acting_ended(ki_election *election, uint64_t now_ns);

/* Applies the passing of time: a lease that was not renewed in time is lost. Returns the request to send now;
 * its action is NOTHING while another request is in flight. `wall_ns` is real time, for the times in the
 * Lease. If there is no memory for a body, nothing is sent; the request is retried later. */
ki_election_request ki_election_step(ki_election *election, uint64_t now_ns, int64_t wall_ns);

/* When to call ki_election_step() again, unless something else happens first; UINT64_MAX: never. */
uint64_t ki_election_next_ns(const ki_election *election);

/* Passes the outcome of the request in flight. `lease` is the object that the server returned; NULL: there is
 * none. `now_ns` must not be before the arrival of the answer. */
void ki_election_answer(ki_election *election, ki_election_outcome outcome, ki_object *lease,
                        uint64_t now_ns);

/* The holder of the lease as last seen; empty: none. Borrowed until the next call. */
ki_str ki_election_holder(const ki_election *election);

#endif
