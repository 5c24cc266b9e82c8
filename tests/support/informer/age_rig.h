/* SPDX-License-Identifier: Apache-2.0 */
/* age_rig - an informer of a simulated server whose loops are run one by one, to watch the age of its store.
 *
 *   From:     tests of the age that an informer reports
 *   To:       support/sim/sim_server.h, support/informer/heard.h
 */
#ifndef KI_TESTS_SUPPORT_INFORMER_AGE_RIG_H
#define KI_TESTS_SUPPORT_INFORMER_AGE_RIG_H

#include <kinformer.h>
#include <stdbool.h>

#include "support/informer/heard.h"
#include "support/sim/sim_server.h"

/* FAIL_OPEN_MS: the limit of programs that would rather work without the cache than with an old one. */
enum { FAIL_OPEN_MS = 180000, MINUTE_MS = 60000 };

typedef struct age_rig {
    ki_clock clock;
    sim_world *world; /* it has five objects */
    sim_server *server;
    ki_list_watch source;
    ki_client *client;
    ki_informer *informer;
    heard what;
    bool dispatch_is_held;
    bool handlers_are_held;
    uint64_t oldest_ms; /* the largest age seen while running */
} age_rig;

/* The informer is not started. */
void age_rig_init(age_rig *r, const ki_informer_options *options, uint64_t bookmark_ms);
void age_rig_init_world(age_rig *r, const ki_informer_options *options, uint64_t bookmark_ms,
                        const sim_world_options *world);
void age_rig_fini(age_rig *r);

/* Starts the informer; returns when it has synced. */
void age_rig_sync(age_rig *r);

/* Runs everything that happens within this many milliseconds. */
void age_rig_run(age_rig *r, uint64_t ms);

/* The age that the informer reports. */
uint64_t age_rig_age_ms(const age_rig *r);

/* Which objects were changed, and when. */
typedef struct age_rig_changes {
    struct {
        uint32_t key;
        uint64_t version;
        uint64_t at_ns;
    } items[600];
    size_t count;
    size_t met; /* how many of the first changes are in the store */
} age_rig_changes;

void age_rig_change(age_rig *r, age_rig_changes *all, uint32_t key);

/* How long the store has lacked the oldest change that it lacks, determined from its objects alone and not
 * from what the informer reports. */
uint64_t age_rig_missed_ms(const age_rig *r, age_rig_changes *all);

#endif
