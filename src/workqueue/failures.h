/* SPDX-License-Identifier: Apache-2.0 */
/* failures - how many times each key has failed since its count was reset.
 *
 *   From:     workqueue/limiter_item.c
 *   Locks:    the limiter's mutex.
 *   Not here: the delay that results from the number.
 */
#ifndef KI_WORKQUEUE_FAILURES_H
#define KI_WORKQUEUE_FAILURES_H

#include "util/hash.h"
#include "util/map.h"

typedef struct ki_failures {
    ki_hash_key secret;
    ki_map keys;
} ki_failures;

/* Returns 0 or KI_ERR_SYSTEM. */
KI_NODISCARD int ki_failures_init(ki_failures *failures);

/* A zeroed struct is allowed. */
void ki_failures_fini(ki_failures *failures);

/* Counts a failure; *out_before is the number before it. Returns 0, KI_ERR_TOO_LARGE for a key that is too
 * long for a queue, or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_failures_add(ki_failures *failures, ki_str key, uint32_t *out_before);

uint32_t ki_failures_count(const ki_failures *failures, ki_str key);

void ki_failures_forget(ki_failures *failures, ki_str key);

#endif
