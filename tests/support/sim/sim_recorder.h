/* SPDX-License-Identifier: Apache-2.0 */
/* sim_recorder - a client that only records the answers of a simulated API server, parsed by jansson.
 *
 *   From:     tests of the simulated server itself
 *   To:       support/sim/sim_server.h
 *   Not here: the library's decoders, which it does not use.
 */
#ifndef KI_TESTS_SUPPORT_SIM_SIM_RECORDER_H
#define KI_TESTS_SUPPORT_SIM_SIM_RECORDER_H

#include <jansson.h>

#include "support/sim/sim_memory.h"
#include "support/sim/sim_server.h"

/* One request and its answer. Zero it before the first request; the settings may be changed before each. */
typedef struct sim_recorder {
    ki_list_watch source;
    int heads;
    int http_status;
    uint32_t retry_after_seconds;
    sim_text body;
    size_t pieces;
    int ends;
    ki_reason reason;
    /* settings */
    int pauses;           /* asks for a pause after each piece, until sim_recorder_resume() */
    size_t cancels_after; /* cancels inside that piece, counted from 1; 0: never */
    int paused;
    int cancelled;
} sim_recorder;

extern const sim_calls sim_recorder_calls;

/* Sends a request and drops the record of an earlier answer. Fails the test if `begin` fails. */
void sim_recorder_ask(sim_recorder *recorder, sim_server *server, const ki_list_options *options);
void sim_recorder_cancel(sim_recorder *recorder);
void sim_recorder_resume(sim_recorder *recorder);
void sim_recorder_fini(sim_recorder *recorder);

/* The body as one JSON document, or all complete documents in it as an array. Free it with json_decref(). */
json_t *sim_recorder_document(const sim_recorder *recorder);
json_t *sim_recorder_events(const sim_recorder *recorder);

/* ---- the set-up of a test of the server -------------------------------------------------------------- */

typedef struct sim_setup {
    ki_clock clock;
    sim_world *world; /* with some objects */
    sim_server *server;
    sim_recorder recorder;
} sim_setup;

/* `options` without world, clock and calls. */
void sim_setup_init(sim_setup *setup, uint64_t seed, sim_server_options options);

/* Fails the test if the client has misused the server. */
void sim_setup_fini(sim_setup *setup);

/* Sends a request, and runs for `seconds` of the clock or until the end of the answer. */
void sim_setup_ask(sim_setup *setup, const ki_list_options *options, uint64_t seconds);
void sim_setup_run(sim_setup *setup, uint64_t seconds);

/* ---- a replica made from the answers ----------------------------------------------------------------- */

/* A JSON object with the objects by "namespace/name". */
void sim_replica_put(json_t *replica, json_t *object);

/* Apply the items of a list, or events. Each returns the last resourceVersion that it saw, or 0. */
uint64_t sim_replica_apply_list(json_t *replica, const json_t *list);
uint64_t sim_replica_apply_events(json_t *replica, const json_t *events);

/* Fails the test unless the replica has exactly the objects of the world, now or at that version. */
void sim_replica_assert_is_world(const json_t *replica, const sim_world *world);
void sim_replica_assert_is_world_at(const json_t *replica, const sim_world *world, uint64_t version);

#endif
