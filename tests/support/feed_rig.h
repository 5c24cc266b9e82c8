/* SPDX-License-Identifier: Apache-2.0 */
/* feed_rig - a feed between a simulated server and its destination, on one thread under a virtual clock.
 *
 *   From:     tests of feed/feed
 *   To:       support/sim_server.h, kinformer/feed.h
 */
#ifndef KI_TESTS_SUPPORT_FEED_RIG_H
#define KI_TESTS_SUPPORT_FEED_RIG_H

#include <kinformer.h>

#include "support/sim_server.h"

enum { FEED_RIG_KEYS_MAX = 128 };

/* Everything between a world and a destination. */
typedef struct feed_rig {
    ki_clock clock;
    sim_world *world;
    sim_server *server;
    ki_list_watch source;
    ki_client *client;
    ki_feed *feed;
    ki_store *store; /* the destination, or what the queue knows */
    ki_delta_queue *queue;
    int errors;
    int releases;
    int processed; /* deltas, as the next three */
    int syncs;
    int unseen_deletes;
    int replaced;
    int answer;      /* of `process` */
    int frees_after; /* deltas or changes, then frees the feed from the callback; 0: never */
    int stops_after; /* likewise */
    int changes;     /* that on_change took */
    int full_after;  /* changes, then says that it is full; 0: never */
    int is_full;
    char versions[FEED_RIG_KEYS_MAX][24]; /* by on_change; "" is absent */
    uint32_t lists[FEED_RIG_KEYS_MAX];
    char complete[24];
} feed_rig;

/* A world with objects and its server. */
void feed_rig_init(feed_rig *r, uint64_t seed);

/* The client is made here, so that it counts with a failing allocator. Returns whether there is one. */
int feed_rig_make_client(feed_rig *r);

/* Source, errors and release are added to the options. The feed is NULL when they are refused. */
void feed_rig_make_feed(feed_rig *r, ki_feed_options options);

void feed_rig_start(feed_rig *r);

/* All of this, with a store, a queue that knows a store, or feed_rig_on_change() as the destination. */
void feed_rig_start_store(feed_rig *r, uint64_t seed);
void feed_rig_start_queue(feed_rig *r, uint64_t seed, ki_feed_options options);
void feed_rig_start_callback(feed_rig *r, uint64_t seed, ki_feed_options options);

/* Frees all; a feed that was freed is NULL. Fails the test when the server has something against the
 * client. */
void feed_rig_fini(feed_rig *r);

/* What happens next; everything that happens in this many seconds. */
void feed_rig_step(feed_rig *r);
void feed_rig_run(feed_rig *r, uint64_t seconds);

/* Changes, cuts, and histories that are forgotten, so that the client lists again; the latter with all that a
 * server may do to a client and should not, and time to recover. */
void feed_rig_disturb(feed_rig *r, int rounds);
void feed_rig_disturb_with_faults(feed_rig *r, int rounds);

/* Callbacks of a feed whose `user` is the rig. */
int feed_rig_on_change(const ki_change *change, void *user);
int feed_rig_process(const ki_deltas *deltas, void *user);

/* Fail the test unless the destination is what the server has. */
void feed_rig_assert_store_is_world(feed_rig *r);
void feed_rig_assert_array_is_world(feed_rig *r);
void feed_rig_assert_version_is_the_worlds(const feed_rig *r);

#endif
