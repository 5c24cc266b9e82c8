/* SPDX-License-Identifier: Apache-2.0 */
/* election - when to read and write a Lease, and until when its holder may act: leader election without I/O.
 *
 *   From:     controller/leader.c (sends what is asked for here, and hands in the answers)
 *   To:       controller/lease.c (the text of a Lease)
 *   Locks:    none; one owner.
 *   Not here: requests, timers, callbacks.
 *
 * Time is the caller's monotonic clock. What makes it safe, for clocks that run equally fast within 1/64:
 *
 *   - A holder may act until its renewal was *sent*, plus the duration of the lease, less 1/64. A contender
 *     takes over when a record has not changed for the whole duration since it was *seen*, which is later.
 *   - Whoever writes has read before, and the server refuses the write if anything has changed since. So a
 *     take-over succeeds only if no renewal came in between.
 *   - A release is written only over a record that was just read and names us, after acting has ended.
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
    KI_ELECTION_SEEKING,  /* somebody else holds the lease, or nobody */
    KI_ELECTION_LEADING,  /* we hold it */
    KI_ELECTION_ENDING,   /* lost or given up; waits for ki_election_acting_ended() */
    KI_ELECTION_RELEASING /* acting has ended; the lease is given back */
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
    KI_ELECTION_CONFLICT, /* changed since it was read, or created by somebody else */
    KI_ELECTION_FAILED    /* refused, or no answer: whether it was carried out is unknown */
} ki_election_outcome;

/* Constant for the life of an election; texts are borrowed. */
typedef struct ki_election_options {
    const char *ns;
    const char *name; /* of the Lease */
    const char *identity;
    uint64_t lease_ns; /* lease_ns > renew_ns > 1.2 * retry_ns > 0 */
    uint64_t renew_ns;
    uint64_t retry_ns;
    bool keeps_lease; /* a stop does not release it */
    uint64_t seed;
} ki_election_options;

/* What to send. The body is borrowed until the answer is handed in. */
typedef struct ki_election_request {
    ki_election_action action;
    ki_str body;         /* of create and update */
    uint64_t timeout_ns; /* without an answer by then it has failed */
} ki_election_request;

typedef struct ki_election {
    ki_election_options options;
    ki_random random;
    ki_election_phase phase;
    bool is_stopping;           /* once acting has ended, it is over */
    ki_election_action pending; /* to be sent at once; else at due_ns what the phase sends */
    uint64_t due_ns;
    ki_election_action in_flight;
    ki_election_phase sent_in; /* an answer that comes in another phase tells of the lease, and that is all */
    uint64_t sent_ns;
    uint64_t renewed_ns;       /* when the last renewal that succeeded was sent; LEADING only */
    uint64_t leads_until_ns;   /* 0: not leading */
    uint64_t release_until_ns; /* RELEASING: then it is given up */
    bool has_conflicted;       /* the last write found another version */
    ki_object *lease;          /* as last read or written; NULL: never, or it was not there */
    uint64_t seen_ns;          /* when its spec, as it is now, was seen first */
    ki_buf body;               /* of the request in flight */
    uint64_t slow_renewals;    /* that had to read first */
} ki_election;

/* Nothing that can fail. */
void ki_election_init(ki_election *election, const ki_election_options *options);
void ki_election_fini(ki_election *election);

/* STOPPED -> SEEKING; takes back a stop that is under way. */
void ki_election_start(ki_election *election, uint64_t now_ns);

/* To STOPPED, by way of ENDING and RELEASING where we lead. */
void ki_election_stop(ki_election *election, uint64_t now_ns);

/* In ENDING: nobody acts any more. */
void ki_election_acting_ended(ki_election *election, uint64_t now_ns);

/* What time has changed: a lease that was not renewed in time is lost. Returns what to send now, which is
 * NOTHING while a request is in flight. `wall_ns` is the calendar's, for the texts of a record.
 * Without memory for a body nothing is sent, and it is tried again later. */
ki_election_request ki_election_step(ki_election *election, uint64_t now_ns, int64_t wall_ns);

/* When to call ki_election_step() again, unless something else happens first; UINT64_MAX: never. */
uint64_t ki_election_next_ns(const ki_election *election);

/* How the request in flight has ended. `lease` is what the server answered; NULL without an answer. */
void ki_election_answer(ki_election *election, ki_election_outcome outcome, ki_object *lease,
                        uint64_t now_ns);

/* Who holds the lease as far as we know; empty: nobody. Borrowed until the next call. */
ki_str ki_election_holder(const ki_election *election);

#endif
