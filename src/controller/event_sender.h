/* SPDX-License-Identifier: Apache-2.0 */
/* event_sender - which event is sent next, and what the answer means: a recorder without its queue and I/O.
 *
 *   From:     controller/recorder.c (sends the requests that are made here, and passes the answers back)
 *   To:       controller/correlator.c, controller/series.c
 *   Locks:    none; one owner.
 *   Not here: requests, timers. The caller passes the time.
 *
 * There is one write at a time. As long as it gets no answer, later events wait, since the server probably
 * cannot be reached for them either. A patch of an event that the server no longer has becomes a create.
 */
#ifndef KI_CONTROLLER_EVENT_SENDER_H
#define KI_CONTROLLER_EVENT_SENDER_H

#include "controller/correlator.h"
#include "controller/series.h"
#include "util/random.h"

/* What has become of an event. */
typedef enum ki_event_outcome {
    KI_OUTCOME_NONE = 0, /* not decided yet */
    KI_OUTCOME_CREATED,
    KI_OUTCOME_PATCHED,
    KI_OUTCOME_COUNTED,
    KI_OUTCOME_QUEUE_FULL, /* this one and the next two are set by the queue */
    KI_OUTCOME_NO_MEMORY,
    KI_OUTCOME_STOPPED,
    KI_OUTCOME_SPAM,
    KI_OUTCOME_REFUSED,
    KI_OUTCOME_NO_ANSWER,
    KI_OUTCOMES
} ki_event_outcome;

typedef enum ki_event_answer {
    KI_ANSWER_DONE = 0,
    KI_ANSWER_NOT_FOUND,
    KI_ANSWER_EXISTS, /* an event of this name exists */
    KI_ANSWER_REFUSED,
    KI_ANSWER_NONE,   /* no answer: the server may have processed the request */
    KI_ANSWER_STOPPED /* no answer, and none will come */
} ki_event_answer;

typedef struct ki_event_sender {
    ki_event_source source;
    ki_correlator correlator; /* for the core API */
    ki_series series;         /* for events.k8s.io/v1 */
    ki_random random;
    ki_event_write write; /* write.event == NULL: there is nothing to send */
    bool is_refresh;      /* the write is the count of a series, and was not caused by an event */
    bool in_flight;
    uint32_t tries; /* tries of this write that got no answer */
    uint64_t due_ns;
    uint64_t refreshed; /* how many refreshes were written */
    uint64_t retries;
} ki_event_sender;

/* Cannot fail. `source` is copied, its texts are borrowed. */
void ki_event_sender_init(ki_event_sender *sender, const ki_event_source *source, uint64_t seed);
void ki_event_sender_fini(ki_event_sender *sender);

/* Records an event; there must be nothing to send. Returns KI_OUTCOME_NONE if the event must be sent, else
 * KI_OUTCOME_COUNTED or KI_OUTCOME_SPAM. */
ki_event_outcome ki_event_sender_take(ki_event_sender *sender, ki_recorded *event, uint64_t now_ns,
                                      int64_t wall_ns);

/* Returns whether `write` must be sent now; then it is in flight. `is_last`: does not wait for any delay. */
bool ki_event_sender_step(ki_event_sender *sender, uint64_t now_ns, bool is_last);

/* Passes the answer to the write in flight. Returns the outcome; KI_OUTCOME_NONE: it must be
 * sent again. `is_last`: a write without an answer is not retried. */
ki_event_outcome ki_event_sender_answer(ki_event_sender *sender, ki_event_answer answer, uint64_t now_ns,
                                        bool is_last);

/* Gives up a write that is not in flight. */
void ki_event_sender_drop(ki_event_sender *sender);

/* When to call ki_event_sender_step() again; UINT64_MAX: only after another call. */
uint64_t ki_event_sender_next_ns(const ki_event_sender *sender);

#endif
