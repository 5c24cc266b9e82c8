/* SPDX-License-Identifier: Apache-2.0 */
/* error_log - what goes wrong with a collection, and when it is well again, as lines of the log: not one for
 * each object that is refused.
 *
 *   From:     informer/informer_run.c, feed/feed_run.c, feed/feed_apply.c
 *   To:       util/log.h
 *   Locks:    none; io's.
 *   Not here: the program's own handler, which hears of everything.
 *
 * A server may send objects that cannot be used as fast as it likes. So many lines about them are written at
 * once, and then one now and then, which says how many were left out.
 * Other failures are followed by a back-off. That lists make up for watches is written once, and that a
 * watch is there again once for each loss; both keep such a pace as well.
 */
#ifndef KI_REFLECTOR_ERROR_LOG_H
#define KI_REFLECTOR_ERROR_LOG_H

#include <kinformer/informer.h>
#include <stdbool.h>

#include "util/clock.h"
#include "util/token_bucket.h"

/* Whose errors they are. All is borrowed. */
typedef struct ki_error_log_owner {
    const char *component; /* as the log has it */
    const char *name;      /* as metrics have it, too: there may be several of one resource */
    const ki_resource *resource;
} ki_error_log_owner;

typedef struct ki_error_log {
    ki_error_log_owner owner; /* constant, as the next */
    const ki_clock *clock;
    ki_token_bucket bucket;
    uint64_t left_out; /* since the last line about an object */
    ki_token_bucket turns;
    uint64_t turns_left_out; /* since the last line about a turn */
    bool is_polling;
    bool is_lost;
    uint64_t lost_ns; /* since when */
    uint64_t lists;   /* that had been begun then */
} ki_error_log;

void ki_error_log_init(ki_error_log *log, const ki_error_log_owner *owner, const ki_clock *clock);

void ki_error_log_write(ki_error_log *log, const ki_watch_error *error);

/* At each change of phase or reason: writes a line when lists begin to make up for watches, and when a watch
 * is there again, after how long and by which way. */
void ki_error_log_status(ki_error_log *log, const ki_informer_status *status);

/* Of one object. */
void ki_error_log_object(ki_error_log *log, ki_str key, const char *message);

#endif
