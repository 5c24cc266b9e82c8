/* SPDX-License-Identifier: Apache-2.0 */
/* error_log - what goes wrong with a collection, as lines of the log: not one for each object that is
 * refused.
 *
 *   From:     cache/informer_run.c, cache/feed_run.c, cache/feed_take.c
 *   To:       util/log.h
 *   Locks:    none; io's.
 *   Not here: the program's own handler, which hears of everything.
 *
 * A server may send objects that cannot be used as fast as it likes. So many lines about them are written at
 * once, and then one now and then, which says how many were left out.
 * Other failures are followed by a back-off.
 */
#ifndef KI_CACHE_ERROR_LOG_H
#define KI_CACHE_ERROR_LOG_H

#include <kinformer/informer.h>

#include "cache/token_bucket.h"
#include "util/clock.h"

typedef struct ki_error_log {
    const char *component; /* constant, as the next two; borrowed */
    const char *resource;
    const ki_clock *clock;
    ki_token_bucket bucket;
    uint64_t left_out; /* since the last line about an object */
} ki_error_log;

/* Of a resource; `component` as the log has it. */
void ki_error_log_init(ki_error_log *log, const char *component, const ki_resource *resource,
                       const ki_clock *clock);

void ki_error_log_write(ki_error_log *log, const ki_watch_error *error);

/* Of one object. */
void ki_error_log_object(ki_error_log *log, ki_str key, const char *message);

#endif
