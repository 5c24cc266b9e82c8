/* SPDX-License-Identifier: Apache-2.0 */
/* backoff - how long to wait after a failure: twice as long each time, with jitter.
 *
 *   From:     reflector/reflector.c, reflector/reflector_list.c, reflector/reflector_watch.c
 *   Locks:    none; one owner.
 *   Not here: timers; what has failed.
 *
 * The delays start over only if two minutes pass between the first success after a failure and the next
 * failure, because a server that accepts a request and fails soon after has not recovered.
 */
#ifndef KI_REFLECTOR_BACKOFF_H
#define KI_REFLECTOR_BACKOFF_H

#include "util/random.h"

typedef struct ki_backoff {
    uint64_t first_ns;
    uint64_t max_ns;
    uint64_t delay_ns;         /* the delay after the next failure, before jitter */
    uint64_t healthy_since_ns; /* UINT64_MAX: nothing has succeeded since the last failure */
} ki_backoff;

/* 0 means 800 ms for the first delay, and 30 s for the maximum.
 * A maximum below the first delay is raised to it. */
void ki_backoff_init(ki_backoff *backoff, uint64_t first_ms, uint64_t max_ms);

/* Something has succeeded, or continues to work. */
void ki_backoff_set_healthy(ki_backoff *backoff, uint64_t now_ns);

/* Something has failed, and the caller chooses the delay itself. */
void ki_backoff_set_failed(ki_backoff *backoff, uint64_t now_ns);

/* The delays start over. */
void ki_backoff_reset(ki_backoff *backoff);

/* Something has failed: returns how long to wait, uniform in [d, 2d).
 * d doubles for the next failure, up to the maximum. */
uint64_t ki_backoff_next_ns(ki_backoff *backoff, ki_random *random, uint64_t now_ns);

#endif
