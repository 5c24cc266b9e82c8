/* SPDX-License-Identifier: Apache-2.0 */
/* patch_run - checks the result of a patch, or why it is refused; texts as in support/apiserver/trees.h. */
#ifndef KI_TESTS_SUPPORT_APISERVER_PATCH_RUN_H
#define KI_TESTS_SUPPORT_APISERVER_PATCH_RUN_H

#include "apiserver/patch/patch.h"

typedef int (*patch_cb)(const json_t *current, const json_t *patch, json_t **out,
                        struct ki_as_failure *failure);

/* The patched object must be this, and neither input may change. */
void assert_patched(patch_cb apply, const char *current, const char *patch, const char *expected);
/* The patch must be refused with 422, and the first cause must give this reason. */
void assert_patch_refused(patch_cb apply, const char *current, const char *patch, const char *why);
/* Whether a patch succeeded while allocations may fail; running out of memory must be the only failure.
 * Frees the results. */
bool patch_is_done(int rc, json_t *out, struct ki_as_failure *failure);
/* Each allocation fails once; see assert_survives_no_memory(). */
void assert_patch_survives_no_memory(patch_cb apply, const char *current, const char *patch);

#endif
