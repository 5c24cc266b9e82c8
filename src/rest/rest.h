/* SPDX-License-Identifier: Apache-2.0 */
/* rest - the calls of one client, from their beginning to their callback.
 *
 *   From:     the program's calls (any thread)
 *   To:       rest/rest_call.c (io); the program's callbacks (handler)
 *   Locks:    mu, for which calls there are and which have ended; no callback runs while it is held. Taken
 *             under it: a loop's.
 *   Not here: requests and answers.
 *
 * A call is io's from begin to end. Then it is put behind those that have ended, and the one job that calls
 * back takes it from there; or who waits for it is woken.
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
    ki_token_bucket limit; /* io's */
    bool has_limit;        /* constant, as the next */
    uint64_t in_flight_max;
    uint64_t in_flight; /* io's, as the next: calls that are sent and not answered */
    ki_list waiting;    /* those that would be sent if there were fewer, by wait_node */
    ki_job deliver;     /* on the handlers' loop */
    ki_mutex mu;
    ki_list calls; /* guarded by mu, as all below: those that are under way */
    ki_list ended; /* those that wait for their callback */
    size_t count;  /* of all that are not freed yet */
    uint64_t last_id;
    bool is_closed;
} ki_rest;

typedef struct ki_rest_call {
    ki_rest *rest; /* constant, as all up to the first blank line */
    uint64_t id;
    ki_rest_cb on_answer;
    void *user;
    bool is_waited_for; /* by ki_rest_run() */
    bool is_reading;    /* changes nothing on the server */
    ki_rest_message message;

    ki_list_node node; /* guarded by the rest's mu, as the next */
    bool is_done;
    _Atomic bool is_cancelled;

    ki_job job; /* io's, as all below */
    ki_rest_reader reader;
    struct ki_transfer *transfer; /* NULL: nothing is on its way */
    ki_list_node wait_node;
    bool is_in_flight;
    uint64_t deadline_ns;
    uint64_t due_ns; /* not sent before */
    bool has_turn;   /* the limit allows it to be sent then */
    bool was_unauthorized;
    bool is_sent; /* in this attempt: the server may have it */
    int retries_left;
} ki_rest_call;

/* Returns 0, KI_ERR_INVALID, KI_ERR_TOO_LARGE, KI_ERR_NO_MEMORY;
 * then nothing is to be ended. */
KI_NODISCARD int ki_rest_call_init(ki_rest_call *call, ki_rest *rest, const ki_rest_request *request,
                                   ki_error *err);

/* It has ended. */
void ki_rest_call_fini(ki_rest_call *call);

/* It has ended, with its answer in the reader. On io, and the last that io does with it. */
void ki_rest_ended(ki_rest_call *call);

#endif
