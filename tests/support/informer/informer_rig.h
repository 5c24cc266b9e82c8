/* SPDX-License-Identifier: Apache-2.0 */
/* informer_rig - the environment of an informer in tests: a server, a client, a clock.
 *
 *   From:     tests
 *   To:       support/sim/sim_server.h under a virtual clock,
 *             support/reflector/local_source.h with the real one
 */
#ifndef KI_TESTS_SUPPORT_INFORMER_INFORMER_RIG_H
#define KI_TESTS_SUPPORT_INFORMER_INFORMER_RIG_H

#include <kinformer/informer.h>

#include "support/informer/heard.h"
#include "support/reflector/local_source.h"
#include "support/sim/sim_server.h"

/* ---- one thread, a virtual clock, KI_MODE_EVENT_LOOP ------------------------------------------------- */

typedef struct virtual_rig {
    ki_clock clock;
    sim_world *world; /* with five objects: keys 0 to 4 */
    sim_server *server;
    ki_list_watch source;
    ki_client *client;
    ki_informer *informer;
} virtual_rig;

/* `options` may be NULL; the source is the simulated server. Fails the test on an error. */
void virtual_rig_init(virtual_rig *rig, const ki_informer_options *options);

/* The same; responses come in pieces of at most this many bytes, up to this many milliseconds apart. */
void virtual_rig_init_slow(virtual_rig *rig, const ki_informer_options *options, size_t piece_bytes,
                           uint64_t latency_ms);

/* The same, with an empty world of a different size. */
void virtual_rig_init_world(virtual_rig *rig, const ki_informer_options *options,
                            const sim_world_options *world);

/* Frees everything; an informer that was freed must be NULL.
 * Fails the test if the client has misused the server. */
void virtual_rig_fini(virtual_rig *rig);

/* Runs for this many milliseconds. */
void virtual_rig_run(virtual_rig *rig, uint64_t ms);

/* Starts the informer and runs until it has synced. */
void virtual_rig_sync(virtual_rig *rig);

/* Fails the test unless store and world have the same objects and the store is consistent. */
void virtual_rig_assert_equal(virtual_rig *rig);

/* ---- real threads, or real descriptors, and the real clock ------------------------------------------- */

typedef struct local_rig {
    local_source *source; /* with a/n0, a/n1 and b/n2 */
    ki_client *client;
    ki_informer *informer; /* of pods; its first delay after a failure is 10 ms */
} local_rig;

/* `options` for the client; the rig sets the source. */
void local_rig_init(local_rig *rig, ki_client_options options);

/* Frees everything; the informer may be NULL. */
void local_rig_fini(local_rig *rig);

/* Starts the informer and waits until it has synced. */
void local_rig_sync(local_rig *rig);

/* Waits until the store has the current objects of the source. */
void local_rig_catch_up(local_rig *rig);

#endif
