/* SPDX-License-Identifier: Apache-2.0 */
/* random - a seeded generator, and seeds from the system for runs that need not be repeated.
 *
 *   From:     all code that needs random numbers: back-off jitter, watch deadlines, hash keys, simulated
 *             faults
 *   To:       getrandom(2), for seeds and keys only
 *   Locks:    none; a generator has one owner.
 *   Not here: secrets; the output can be predicted from a few numbers.
 */
#ifndef KI_UTIL_RANDOM_H
#define KI_UTIL_RANDOM_H

#include <kinformer/common.h>

/* xoshiro256**. At least one word is not zero. */
typedef struct ki_random {
    uint64_t state[4];
} ki_random;

/* Any seed works; the same seed gives the same numbers on every machine. */
void ki_random_init(ki_random *random, uint64_t seed);

uint64_t ki_random_next(ki_random *random);

/* A number in [0, bound), uniformly distributed; `bound` > 0. */
uint64_t ki_random_below(ki_random *random, uint64_t bound);

/* Fills `out` with up to 256 unpredictable bytes. Returns 0, or KI_ERR_SYSTEM if the system has none;
 * `out` is unspecified then. Blocks only shortly after boot, while the system has no entropy yet. */
KI_NODISCARD int ki_random_system_bytes(void *out, size_t n);

/* A seed for ki_random_init; log it if the run may have to be repeated. Returns 0 or KI_ERR_SYSTEM. */
KI_NODISCARD int ki_random_system_seed(uint64_t *out_seed);

#endif
