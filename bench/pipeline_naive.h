/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline_naive - the pipeline that one writes in an afternoon, to measure ours against.
 *
 *   From:     bench_pipeline.c
 *   To:       one handler
 *   Locks:    a mutex for each of its two queues, one for its map.
 *   Not here: what it leaves out: limits, changes of one key that wait together, readers without a lock,
 *             versions that go back, relists, handlers that come and go, measuring.
 *
 * A queue that is a list without a limit; a thread that takes from it and keeps a chained hash map with keys
 * of its own and an index by namespace; a second queue; a thread that calls the handler.
 */
#ifndef BENCH_PIPELINE_NAIVE_H
#define BENCH_PIPELINE_NAIVE_H

#include <kinformer/handler.h>

struct pipeline_naive;

/* Ends the program when it gets no thread or memory, as the other calls. */
struct pipeline_naive *pipeline_naive_new(ki_event_cb handler, void *user);

/* Queues one update. Takes a reference of its own. */
void pipeline_naive_push(struct pipeline_naive *naive, const ki_object *object);

/* Ends its threads, after what is queued, and frees it. */
void pipeline_naive_free(struct pipeline_naive *naive);

#endif
