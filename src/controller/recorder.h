/* SPDX-License-Identifier: Apache-2.0 */
/* recorder - a queue of events, and the job that sends them.
 *
 *   From:     controller/recorder.c: the program's calls (any thread), answers of single calls;
 *             controller/recorder_add.c
 *   To:       controller/event_sender.c; <kinformer/rest.h>
 *   Locks:    mu, for the queue, the answer and the counts. Taken under it: the client's, a loop's.
 *   Not here: whether an event is created, patched or dropped.
 *
 *   recorder.c       making, sending, freeing: what the job does
 *   recorder_add.c   the program's calls
 */
#ifndef KI_CONTROLLER_RECORDER_H
#define KI_CONTROLLER_RECORDER_H

#include <kinformer/recorder.h>

#include "client/client.h"
#include "controller/event_sender.h"
#include "metrics/metrics.h"

struct ki_recorder {
    ki_client *client; /* constant, as all up to the first blank line */
    size_t queue_max;
    size_t message_bytes_max;
    uint64_t free_timeout_ms;
    char *component;
    char *instance;
    ki_counter *outcomes[KI_OUTCOMES];
    ki_gauge *queue_depth;

    ki_client_user alive;
    ki_job send;            /* on dispatch; owns the members below, up to the blank line */
    ki_event_sender sender; /* sender.write does not change while it is in flight */
    ki_buf body;
    uint64_t ticket; /* of the event that the sender has */
    uint64_t call;   /* the request in flight, for ki_rest_cancel() */
    bool is_cancelled;
    bool is_unreachable; /* freed, and a request got no answer */

    ki_mutex mu;
    ki_list queue;          /* guarded by mu, as all below */
    size_t queued;          /* how many events are in the queue or at the sender */
    uint64_t tickets;       /* how many tickets were issued */
    uint64_t tickets_done;  /* all events up to this ticket have ended */
    uint64_t number;        /* of the last event that was recorded */
    bool is_full;           /* the queue was full, which was logged, and has not been empty since */
    bool is_busy;           /* what the client was last told with ki_client_set_busy() */
    bool is_freed;          /* no event is accepted any more */
    uint64_t send_until_ns; /* after the free: when to give up, by the client's clock */
    bool has_answer;
    ki_event_answer answer;
    uint64_t counts[KI_OUTCOMES];
    uint64_t refreshed;
    uint64_t retries;
};

#endif
