/* SPDX-License-Identifier: Apache-2.0 */
/* chance - random fractions from a seeded generator, for faults that happen now and then.
 *
 *   From:     simulated servers and worlds, models
 *   To:       util/random.h
 */
#ifndef KI_TESTS_SUPPORT_CHANCE_H
#define KI_TESTS_SUPPORT_CHANCE_H

#include "util/random.h"

/* Uniform in [0, 1), a multiple of 2^-53. */
static inline double random_fraction(ki_random *random)
{
    return (double)(ki_random_next(random) >> 11) * 0x1.0p-53;
}

#endif
