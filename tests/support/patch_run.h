/* SPDX-License-Identifier: Apache-2.0 */
/* patch_run - what a patch makes of an object, or why it is refused; texts as in support/trees.h. */
#ifndef KI_TESTS_SUPPORT_PATCH_RUN_H
#define KI_TESTS_SUPPORT_PATCH_RUN_H

#include "apiserver/patch/patch.h"

typedef int (*patch_cb)(const json_t *current, const json_t *patch, json_t **out,
                        struct ki_as_failure *failure);

/* The patch makes this of the object, and changes neither the object nor itself. */
void assert_patched(patch_cb apply, const char *current, const char *patch, const char *expected);
/* It is refused with 422, and the first cause says why. */
void assert_patch_refused(patch_cb apply, const char *current, const char *patch, const char *why);
/* Each allocation fails once; see assert_survives_no_memory(). */
void assert_patch_survives_no_memory(patch_cb apply, const char *current, const char *patch);

#endif
