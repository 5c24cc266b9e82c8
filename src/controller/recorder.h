/* SPDX-License-Identifier: Apache-2.0 */
/* recorder - a queue of events, and the job that sends them.
 *
 *   From:     the program's calls (any thread); answers of single calls
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
    ki_counter *fates[KI_FATES];
    ki_gauge *queue_depth;

    ki_client_user alive;
    ki_job send;            /* on dispatch; owns what follows */
    ki_event_sender sender; /* its write is constant while it is in flight */
    ki_buf body;
    uint64_t ticket; /* of the event that the sender has */
    uint64_t call;   /* the request in flight, for ki_rest_cancel() */
    bool is_cancelled;
    bool is_unreachable; /* freed, and a request got no answer */

    ki_mutex mu;
    ki_list queue;          /* guarded by mu, as all below */
    size_t queued;          /* waits there, or the sender has it */
    uint64_t tickets;       /* given out */
    uint64_t tickets_done;  /* up to this one, all have ended */
    uint64_t number;        /* the last one that an event was given */
    bool is_full;           /* and waiting threads were notified */
    bool is_busy;           /* as the client knows it */
    bool is_freed;          /* nothing more is recorded */
    uint64_t send_until_ns; /* of the client's clock; when it is freed */
    bool has_answer;
    ki_event_answer answer;
    uint64_t counts[KI_FATES];
    uint64_t refreshed;
    uint64_t retries;
};

#endif
