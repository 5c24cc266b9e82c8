/* SPDX-License-Identifier: Apache-2.0 */
/* sim_answer - the JSON that a simulated API server sends: objects, events, lists and Statuses.
 *
 *   From:     support/sim/sim_list.c, sim_watch.c, sim_server.c
 *   To:       text, modelled on the recorded responses of a real server
 *   Not here: when it is sent, and its failures.
 */
#ifndef KI_TESTS_SUPPORT_SIM_SIM_ANSWER_H
#define KI_TESTS_SUPPORT_SIM_SIM_ANSWER_H

#include "support/sim/sim_memory.h"
#include "support/sim/sim_world.h"
#include "util/random.h"

/* How an object is damaged. Its key remains readable in all cases. */
typedef enum sim_spoilt {
    SIM_SOUND = 0,
    SIM_MALFORMED, /* its UID is not a string */
    SIM_HUGE       /* longer than SIM_HUGE_BYTES */
} sim_spoilt;

#define SIM_HUGE_BYTES 65536

typedef struct sim_form {
    sim_spoilt spoilt;
    int with_kind; /* for an event; an item of a list has neither kind nor apiVersion */
} sim_form;

void sim_put_object(sim_text *out, const sim_world *world, const sim_record *record, sim_form form);

/* {"type":"ADDED","object":{…}} and a newline. `type` is usually the record's. */
void sim_put_event(sim_text *out, const sim_world *world, const sim_record *record, sim_spoilt spoilt);
void sim_put_initial_event(sim_text *out, const sim_world *world, const sim_record *record,
                           sim_spoilt spoilt);
void sim_put_bookmark(sim_text *out, uint64_t version, int ends_initial_events);

void sim_put_vain_bookmark(sim_text *out); /* without a version */

/* A JSON object that is not an event; and text that is not a JSON object,
 * after which reading cannot continue. */
void sim_put_no_event(sim_text *out, ki_random *random);
void sim_put_garbage(sim_text *out, ki_random *random);

/* A Status, as the body of a response or as an ERROR event. */
typedef struct sim_status {
    int code;
    const char *reason;
    const char *message;
    const char *details;        /* JSON, or NULL */
    const char *continue_token; /* or NULL */
} sim_status;

void sim_put_status(sim_text *out, const sim_status *status);
void sim_put_error_event(sim_text *out, const sim_status *status);

#endif
