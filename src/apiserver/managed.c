/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/verbs_parts.h"

int ki_as_managed_update(const struct ki_as_verb *verb, json_t *tree, const json_t *before)
{
    (void)verb;
    (void)tree;
    (void)before;
    return 0;
}
