/* SPDX-License-Identifier: Apache-2.0 */
/* error_log - logs failures of a collection and its recovery, with a limit for lines about refused objects.
 *
 *   From:     informer/informer_run.c, feed/feed_run.c, feed/feed_apply.c, reflector/life.c
 *   To:       util/log.h
 *   Locks:    none; io's.
 *   Not here: the program's error handler, which gets every error.
 *
 * A server may send invalid objects at any rate. The first few are logged at once. After that, one line is
 * written from time to time, with the number of objects left out. The back-off limits the lines about other
 * failures. One line says that lists replace broken watches, and one line after each loss says that the watch
 * has recovered; a second limit applies to both.
 */
#ifndef KI_REFLECTOR_ERROR_LOG_H
#define KI_REFLECTOR_ERROR_LOG_H

#include <kinformer/informer.h>
#include <stdbool.h>

#include "util/clock.h"
#include "util/token_bucket.h"

/* Whose errors these are. All pointers are borrowed. */
typedef struct ki_error_log_owner {
    const char *component; /* the component in the log */
    const char *name;      /* the name in metrics, since a resource may have several informers */
    const ki_resource *resource;
} ki_error_log_owner;

typedef struct ki_error_log {
    ki_error_log_owner owner; /* constant, like `clock` */
    const ki_clock *clock;
    ki_token_bucket bucket;
    uint64_t left_out; /* since the last line about an object */
    ki_token_bucket turns;
    uint64_t turns_left_out; /* since the last line about a turn */
    bool is_polling;
    bool is_lost;
    uint64_t lost_ns; /* when the loss began */
    uint64_t lists;   /* the number of lists started before the loss */
} ki_error_log;

void ki_error_log_init(ki_error_log *log, const ki_error_log_owner *owner, const ki_clock *clock);

void ki_error_log_write(ki_error_log *log, const ki_informer_error *error);

/* Call it at each change of phase or reason. Logs when lists begin to replace watches; and when a watch has
 * recovered, how long that took, and whether it was resumed or relisted. */
void ki_error_log_status(ki_error_log *log, const ki_informer_status *status);

/* Logs an error of one object. */
void ki_error_log_object(ki_error_log *log, ki_str key, const char *message);

#endif
