/* SPDX-License-Identifier: Apache-2.0 */
/* feed_rig - a feed between a simulated server and its destination, on one thread under a virtual clock.
 *
 *   From:     tests of feed/feed
 *   To:       support/sim/sim_server.h, <kinformer/feed.h>
 */
#ifndef KI_TESTS_SUPPORT_INFORMER_FEED_RIG_H
#define KI_TESTS_SUPPORT_INFORMER_FEED_RIG_H

#include <kinformer.h>

#include "support/sim/sim_server.h"

enum { FEED_RIG_KEYS_MAX = 128 };

/* Everything between a world and a destination. */
typedef struct feed_rig {
    ki_clock clock;
    sim_world *world;
    sim_server *server;
    ki_list_watch source;
    ki_client *client;
    ki_feed *feed;
    ki_store *store; /* the destination, or the store that the queue knows */
    ki_delta_queue *queue;
    int errors;
    int releases;
    int processed; /* deltas, like the next three */
    int syncs;
    int unseen_deletes;
    int replaced;
    int answer;      /* the result of `process` */
    int frees_after; /* the callback frees the feed after this many deltas or changes; 0: never */
    int stops_after; /* the callback stops the feed after this many */
    int changes;     /* that on_change has accepted */
    int full_after;  /* on_change reports that it is full after this many; 0: never */
    int is_full;
    char versions[FEED_RIG_KEYS_MAX][24]; /* written by on_change; "": no such object */
    uint32_t lists[FEED_RIG_KEYS_MAX];
    char complete[24];
} feed_rig;

/* Makes a world with objects, and its server. */
void feed_rig_init(feed_rig *r, uint64_t seed);

/* Makes the client, separately, so that a failing allocator counts it. Returns whether it succeeded. */
int feed_rig_make_client(feed_rig *r);

/* Adds source, error handler and release handler to the options. The feed is NULL if they are refused. */
void feed_rig_make_feed(feed_rig *r, ki_feed_options options);

void feed_rig_start(feed_rig *r);

/* All of these steps, with a store, a queue that knows a store,
 * or feed_rig_on_change() as the destination. */
void feed_rig_start_store(feed_rig *r, uint64_t seed);
void feed_rig_start_queue(feed_rig *r, uint64_t seed, ki_feed_options options);
void feed_rig_start_callback(feed_rig *r, uint64_t seed, ki_feed_options options);

/* Frees everything; a feed that was freed must be NULL. Fails the test if the client has misused the
 * server. */
void feed_rig_fini(feed_rig *r);

/* Runs the next step, or for this many seconds. */
void feed_rig_step(feed_rig *r);
void feed_rig_run(feed_rig *r, uint64_t seconds);

/* Changes objects, cuts connections and drops the history, so that the client lists again. The second one
 * also makes everything happen that a server may or should not do to a client, and leaves time to recover. */
void feed_rig_disturb(feed_rig *r, int rounds);
void feed_rig_disturb_with_faults(feed_rig *r, int rounds);

/* Callbacks of a feed whose `user` is the rig. */
int feed_rig_on_change(const ki_change *change, void *user);
int feed_rig_process(const ki_deltas *deltas, void *user);

/* Fail the test unless the destination has the same objects as the server. */
void feed_rig_assert_store_is_world(feed_rig *r);
void feed_rig_assert_array_is_world(feed_rig *r);
void feed_rig_assert_version_is_the_worlds(const feed_rig *r);

#endif
