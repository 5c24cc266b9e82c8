/* SPDX-License-Identifier: Apache-2.0 */
/* rest - the calls of one client, from start to callback.
 *
 *   From:     the program's calls (any thread)
 *   To:       rest/rest_call.c (io); the program's callbacks (handler)
 *   Locks:    mu guards the lists of calls; no callback runs while it is held. A loop's mutex is taken under
 *             it.
 *   Not here: requests and responses.
 *
 * A call belongs to io from start to end. Then it is added to the list of ended calls, from which one job
 * calls back; or the thread that waits for it is woken.
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
    bool has_limit;        /* constant, like the next */
    uint64_t in_flight_max;
    uint64_t in_flight; /* io only, like the next: calls sent but not answered */
    ki_list waiting;    /* calls that wait because in_flight is at its maximum, by wait_node */
    ki_job deliver;     /* on the handlers' loop */
    ki_mutex mu;
    ki_list calls; /* guarded by mu, like all below: calls under way */
    ki_list ended; /* calls that wait for their callback */
    size_t count;  /* all calls not freed yet */
    uint64_t last_id;
    bool is_closed;
} ki_rest;

typedef struct ki_rest_call {
    ki_rest *rest; /* constant, like all up to the first blank line */
    uint64_t id;
    ki_rest_cb on_answer;
    void *user;
    bool is_waited_for; /* by ki_rest_run() */
    bool is_reading;    /* changes nothing on the server */
    ki_rest_message message;

    ki_list_node node; /* guarded by the rest's mu, like the next */
    bool is_done;
    _Atomic bool is_cancelled;

    ki_job job; /* io only, like all below */
    ki_rest_reader reader;
    struct ki_transfer *transfer; /* NULL if no request is under way */
    ki_list_node wait_node;
    bool is_in_flight;
    uint64_t deadline_ns;
    uint64_t due_ns; /* not sent before this */
    bool has_turn;   /* the rate limit lets it be sent at that time */
    bool was_unauthorized;
    bool is_sent; /* in this attempt: the server may have received it */
    int retries_left;
} ki_rest_call;

/* Returns 0, KI_ERR_INVALID, KI_ERR_TOO_LARGE or KI_ERR_NO_MEMORY; after a failure there is nothing to
 * free. */
KI_NODISCARD int ki_rest_call_init(ki_rest_call *call, ki_rest *rest, const ki_rest_request *request,
                                   ki_error *err);

/* The call has ended. */
void ki_rest_call_fini(ki_rest_call *call);

/* The call has ended, and its answer is in the reader. Called on io, as its last step. */
void ki_rest_ended(ki_rest_call *call);

#endif
