/* SPDX-License-Identifier: Apache-2.0 */
/* demo_random - seeded random numbers for the simulated cluster.
 *
 *   From:     cli/demo/demo_cluster.c and its parts: cli/demo/demo_life.c, cli/demo/demo_pods.c
 *   To:       nothing
 *   Locks:    none; one owner.
 */
#ifndef KI_CLI_DEMO_DEMO_RANDOM_H
#define KI_CLI_DEMO_DEMO_RANDOM_H

#include <stdint.h>

/* splitmix64: any seed works. */
typedef struct cli_demo_random {
    uint64_t state;
} cli_demo_random;

static inline uint64_t cli_demo_random_next(cli_demo_random *random)
{
    uint64_t mixed = random->state += 0x9e3779b97f4a7c15U;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31);
}

/* In [0, bound); `bound` > 0 and far below 2^64, so that the bias does not matter. */
static inline uint32_t cli_demo_random_below(cli_demo_random *random, uint32_t bound)
{
    return (uint32_t)((cli_demo_random_next(random) >> 32) % bound);
}

#endif
