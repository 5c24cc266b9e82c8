/* SPDX-License-Identifier: Apache-2.0 */
/* rest - the calls of one client, from start to callback.
 *
 *   From:     rest/rest.c, rest/rest_call.c: the program's calls (any thread)
 *   To:       rest/rest_call.c (io); the program's callbacks (handler)
 *   Locks:    mu guards the lists of calls; no callback runs while it is held. A loop's mutex is taken under
 *             it.
 *   Not here: requests and responses.
 *
 * A call belongs to io from start to end. After its end, the thread that waits for it is woken; or, if none
 * waits, the call is added to the list of ended calls, for which one job runs the callbacks.
 */
#ifndef KI_REST_REST_H
#define KI_REST_REST_H

#include <kinformer/rest.h>

#include "client/client.h"
#include "rest/rest_message.h"
#include "rest/rest_reader.h"
#include "util/token_bucket.h"

struct ki_transfer;

typedef struct ki_rest {
    ki_client_part part;
    ki_client *client;
    ki_token_bucket limit; /* io only */
    bool has_limit;        /* constant, like in_flight_max */
    uint64_t in_flight_max;
    uint64_t in_flight; /* number of calls sent but not answered; io only, like `waiting` */
    ki_list waiting;    /* calls that wait because in_flight is at its maximum, linked by wait_node */
    ki_job deliver;     /* on the handlers' loop: runs callbacks */
    ki_mutex mu;
    ki_list calls; /* calls in progress; guarded by mu, like all members below */
    ki_list ended; /* calls that wait for their callback */
    size_t count;  /* number of calls not freed yet */
    uint64_t last_id;
    bool is_closed;
} ki_rest;

typedef struct ki_rest_call {
    ki_rest *rest; /* constant, like all members up to the first blank line */
    uint64_t id;
    ki_rest_cb on_answer;
    void *user;
    bool is_waited_for;   /* ki_rest_run() waits for it */
    bool is_reading;      /* a read: changes nothing on the server */
    bool is_of_reconcile; /* started by a reconcile function */
    ki_rest_message message;

    ki_list_node node; /* guarded by the rest's mu, like is_done */
    bool is_done;
    _Atomic bool is_cancelled;

    ki_job job; /* io only, like all members below */
    ki_rest_reader reader;
    struct ki_transfer *transfer; /* NULL if no request is in progress */
    ki_list_node wait_node;
    bool is_in_flight;
    uint64_t deadline_ns;
    uint64_t due_ns; /* not sent before this time */
    bool has_turn;   /* the rate limit allows it to be sent at due_ns */
    bool was_unauthorized;
    bool is_sent; /* sent in this attempt: the server may have received it */
    int retries_left;
} ki_rest_call;

/* Returns 0, KI_ERR_INVALID, KI_ERR_TOO_LARGE or KI_ERR_NO_MEMORY; after a failure there is nothing to
 * free. */
KI_NODISCARD int ki_rest_call_init(ki_rest_call *call, ki_rest *rest, const ki_rest_request *request,
                                   ki_error *err);

/* The call must have ended. */
void ki_rest_call_fini(ki_rest_call *call);

/* The call has ended, and its answer is in the reader. Called on io, as its last step. */
void ki_rest_ended(ki_rest_call *call);

#endif
