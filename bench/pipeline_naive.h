/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline_naive - the pipeline that a programmer writes in an afternoon, as a reference for ours.
 *
 *   From:     bench_pipeline.c
 *   To:       one handler
 *   Locks:    a mutex for each of its two queues, one for its map.
 *   Not here: what it leaves out: limits, merging changes of one key, readers without a lock, versions that
 *             decrease, relists, adding and removing handlers, measuring.
 *
 * It has an unbounded queue, a thread that takes from it and keeps a chained hash map, with copied keys and
 * an index by namespace, a second queue, and a thread that calls the handler.
 */
#ifndef BENCH_PIPELINE_NAIVE_H
#define BENCH_PIPELINE_NAIVE_H

#include <kinformer/handler.h>

struct pipeline_naive;

/* Ends the program if it cannot get a thread or memory, as the other functions do. */
struct pipeline_naive *pipeline_naive_new(ki_event_cb handler, void *user);

/* Queues one update; takes its own reference. */
void pipeline_naive_push(struct pipeline_naive *naive, const ki_object *object);

/* Ends its threads once the queues are empty, and frees it. */
void pipeline_naive_free(struct pipeline_naive *naive);

#endif
