/* SPDX-License-Identifier: Apache-2.0 */
/* queue_notes - pushes into a delta queue, and a consumer that records what it gets.
 *
 *   From:     tests of queue/delta_queue
 *   To:       <kinformer/delta_queue.h>, support/store/objects.h
 */
#ifndef KI_TESTS_SUPPORT_QUEUE_QUEUE_NOTES_H
#define KI_TESTS_SUPPORT_QUEUE_QUEUE_NOTES_H

#include <kinformer/delta_queue.h>

typedef struct queue_notes {
    char text[512]; /* "a:+1~2-3 b:=1 ": key, then each delta as a sign and a version; "!": a missed delete */
    int outcome;
    int is_initial;
    size_t bytes; /* of the last delta */
    ki_delta_queue *queue;
    int synced_inside;
} queue_notes;

/* A callback for ki_delta_queue_pop(), whose `user` is a queue_notes. */
int queue_note(const ki_deltas *deltas, void *user);

/* Pops everything; the text must be this. */
void queue_assert_pops(ki_delta_queue *queue, const char *expected);

int queue_push(ki_delta_queue *queue, ki_change_type type, const char *name, uint64_t version);
int queue_push_unseen_delete(ki_delta_queue *queue, const char *name, uint64_t version);

/* Replaces everything by up to two objects, each at version 9. */
int queue_replace(ki_delta_queue *queue, const char *first, const char *second);

/* A queue that knows that store, which may be NULL; a store with one object. */
ki_delta_queue *queue_of(ki_store *known);
ki_store *queue_store_with(const char *name, uint64_t version);

#endif
