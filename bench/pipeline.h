/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline - a running informer without a network: bodies come from a function, or changes go straight to its
 * queue.
 *
 *   From:     bench_pipeline.c, pipeline_memory.c
 *   To:       the informer, in KI_MODE_THREADS
 *   Not here: what is measured.
 */
#ifndef BENCH_PIPELINE_H
#define BENCH_PIPELINE_H

#include <kinformer/informer.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "util/loop/loop.h"

/* Answers the informer's requests: one list, then a watch that stays open. */
struct pipeline_source {
    /* Returns the next piece of the body that is being sent; false at its end. NULL: an empty list at version
     * 1, and a silent watch. Runs on io. */
    bool (*next)(struct pipeline_source *source, ki_str *out_piece);
    void *user;
    bool is_watch;  /* a watch is being sent, otherwise a list */
    uint64_t piece; /* number of the piece, from 0 */
    unsigned lists; /* lists started so far; `next` decides the versions that the informer sees */
    ki_answer *answer;
};

struct pipeline {
    struct pipeline_source source;
    ki_client *client;
    ki_informer *informer;
    ki_job expire;    /* on io */
    ki_list deferred; /* holds the wake-up of dispatch until the end of a piece */
};

/* `pipeline` is zeroed except for the source; `options` may be NULL. The informer is not started. Returns
 * false on failure; the pipeline must be closed even then. */
bool pipeline_open(struct pipeline *pipeline, const ki_informer_options *options);
void pipeline_close(struct pipeline *pipeline);

/* Starts it and waits for the first list. */
bool pipeline_start(struct pipeline *pipeline);

/* Queues one update, as io does; from one thread only, while the watch is silent. Borrows the object.
 * Versions must be consecutive numbers. If the queue is full, waits until a part of it has been applied. */
bool pipeline_push(struct pipeline *pipeline, const ki_object *object, uint64_t version);

/* Wakes dispatch for the updates since the last complete piece,
 * which would otherwise wait for the next one. */
void pipeline_end_pushes(struct pipeline *pipeline);

/* Waits until everything up to the version is in the store. */
bool pipeline_wait(struct pipeline *pipeline, uint64_t version);

/* Ends the watch with 410, so that the informer lists again. Does not wait. */
void pipeline_expire(struct pipeline *pipeline);

/* A handler that counts. */
struct pipeline_counter {
    atomic_ullong events;
    uint64_t checksum; /* of the events it has seen; written by the handler's thread */
    uint64_t wanted;   /* the number of events after which `is_done` is posted */
    sem_t is_done;
};

void pipeline_counter_init(struct pipeline_counter *counter, uint64_t wanted);
void pipeline_counter_fini(struct pipeline_counter *counter);
void pipeline_counter_wait(struct pipeline_counter *counter);

/* A ki_event_cb; `user` is the counter. */
void pipeline_count(const ki_event *event, void *user);
ki_handler pipeline_counting_handler(struct pipeline_counter *counter);

#endif
