/* SPDX-License-Identifier: Apache-2.0 */
/* workqueue_plain - the work queue that programs write themselves: a mutex, a condition variable, a hash set,
 * a list.
 *
 *   From:     workqueue_contest.c, which compares ours with it
 *   Not here: delays, limits, priorities, metrics, errors.
 *
 * It has the essential property: a key is queued once, and is processed by one worker at a time.
 */
#ifndef BENCH_WORKQUEUE_PLAIN_H
#define BENCH_WORKQUEUE_PLAIN_H

#include <stddef.h>

struct plain_queue;

struct plain_queue *plain_queue_new(void);
void plain_queue_free(struct plain_queue *queue);

void plain_queue_add(struct plain_queue *queue, const char *key);

/* Returns the next key, to be passed to plain_queue_done(), or NULL if the queue is shut down and empty. */
const char *plain_queue_get(struct plain_queue *queue);
void plain_queue_done(struct plain_queue *queue, const char *key);

void plain_queue_shut_down(struct plain_queue *queue);

#endif
