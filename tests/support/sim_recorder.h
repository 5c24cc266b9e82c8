/* SPDX-License-Identifier: Apache-2.0 */
/* sim_recorder - a client that only writes down what a simulated API server answers; jansson reads it.
 *
 *   From:     tests of the simulated server itself
 *   To:       support/sim_server.h
 *   Not here: anything of the library's decoders.
 */
#ifndef KI_TESTS_SUPPORT_SIM_RECORDER_H
#define KI_TESTS_SUPPORT_SIM_RECORDER_H

#include <jansson.h>

#include "support/sim_memory.h"
#include "support/sim_server.h"

/* One request and its answer. Zeroed before the first one; the orders may be set before any. */
typedef struct sim_recorder {
    ki_list_watch source;
    int heads;
    int http_status;
    uint32_t retry_after_seconds;
    sim_text body;
    size_t pieces;
    int ends;
    ki_reason reason;
    /* orders */
    int pauses;           /* each piece is one too many until sim_recorder_resume() */
    size_t cancels_after; /* cancels inside that piece, counted from 1; 0: never */
    int paused;
    int cancelled;
} sim_recorder;

extern const sim_calls sim_recorder_calls;

/* Asks; what an earlier answer left is forgotten. Fails the test when `begin` does. */
void sim_recorder_ask(sim_recorder *recorder, sim_server *server, const ki_list_options *options);
void sim_recorder_cancel(sim_recorder *recorder);
void sim_recorder_resume(sim_recorder *recorder);
void sim_recorder_fini(sim_recorder *recorder);

/* The body as one JSON document, or as all that are whole in it (an array). To be given to json_decref(). */
json_t *sim_recorder_document(const sim_recorder *recorder);
json_t *sim_recorder_events(const sim_recorder *recorder);

/* ---- all that a test of the server needs ------------------------------------------------------------- */

typedef struct sim_setup {
    ki_clock clock;
    sim_world *world; /* with some objects */
    sim_server *server;
    sim_recorder recorder;
} sim_setup;

/* `options` without world, clock and calls. */
void sim_setup_init(sim_setup *setup, uint64_t seed, sim_server_options options);

/* Fails the test when the server has something against the client. */
void sim_setup_fini(sim_setup *setup);

/* Asks, and runs for `seconds` of the clock, or until the end of the answer. */
void sim_setup_ask(sim_setup *setup, const ki_list_options *options, uint64_t seconds);
void sim_setup_run(sim_setup *setup, uint64_t seconds);

/* ---- what a cache would make of it ------------------------------------------------------------------- */

/* Objects by "namespace/name": a JSON object. */
void sim_replica_put(json_t *replica, json_t *object);

/* Applies items of a list, and events. Each returns the last resourceVersion that it saw, 0 for none. */
uint64_t sim_replica_apply_list(json_t *replica, const json_t *list);
uint64_t sim_replica_apply_events(json_t *replica, const json_t *events);

/* Fails the test unless the replica has just what the world has, or had at that version. */
void sim_replica_assert_is_world(const json_t *replica, const sim_world *world);
void sim_replica_assert_is_world_at(const json_t *replica, const sim_world *world, uint64_t version);

#endif
