/* SPDX-License-Identifier: Apache-2.0 */
#include "support/seeds.h"

#include <stdlib.h>

void for_each_seed(uint64_t seeds, void (*run)(uint64_t seed))
{
    const char *only = getenv("KI_SEED");
    if (only != NULL)
        run(strtoull(only, NULL, 10));
    for (uint64_t seed = 1; seed <= seeds && only == NULL; seed++)
        run(seed);
}
