/* SPDX-License-Identifier: Apache-2.0 */
/* workqueue_plain - the work queue that programs write themselves: a mutex, a condition, a hash set, a list.
 *
 *   From:     workqueue_contest.c, which measures ours against it
 *   Not here: delays, limits, priorities, metrics, errors.
 *
 * It keeps the promise that matters: a key is there once, and on one worker at a time.
 */
#ifndef BENCH_WORKQUEUE_PLAIN_H
#define BENCH_WORKQUEUE_PLAIN_H

#include <stddef.h>

struct plain_queue;

struct plain_queue *plain_queue_new(void);
void plain_queue_free(struct plain_queue *queue);

void plain_queue_add(struct plain_queue *queue, const char *key);

/* The next key, to be given to plain_queue_done(); NULL when the queue is shut down and empty. */
const char *plain_queue_get(struct plain_queue *queue);
void plain_queue_done(struct plain_queue *queue, const char *key);

void plain_queue_shut_down(struct plain_queue *queue);

#endif
