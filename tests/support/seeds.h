/* SPDX-License-Identifier: Apache-2.0 */
/* seeds - runs of a model, one for each seed. */
#ifndef KI_TESTS_SUPPORT_SEEDS_H
#define KI_TESTS_SUPPORT_SEEDS_H

#include <stdint.h>

/* Runs seeds 1 to `seeds`; if $KI_SEED is set, only that one. */
void for_each_seed(uint64_t seeds, void (*run)(uint64_t seed));

#endif
