/* SPDX-License-Identifier: Apache-2.0 */
/* strict - fieldValidation: reports fields that a kind does not have.
 *
 *   From:     apiserver/serve/handle_write.c (whole objects), apiserver/verbs/patch_verb.c (results of
 *             patches), apiserver/serve/direct.c (objects that a program puts)
 *   To:       apiserver/kind/prune.h; the call's warnings, which become headers
 *   Locks:    none
 *   Not here: removing unknown fields from stored objects (apiserver/kind/defaults.h)
 *
 * Each function returns 0, or -1 with the failure. Except for ki_as_strict_applied(), they do nothing if the
 * call ignores unknown fields, or would only warn but has no array for warnings.
 */
#ifndef KI_APISERVER_VERBS_STRICT_H
#define KI_APISERVER_VERBS_STRICT_H

#include "apiserver/verbs/verbs_parts.h"

/* Checks an object as sent, and removes its unknown fields. If there are any and the call is strict,
 * fails with 400. */
KI_NODISCARD int ki_as_strict_body(const struct ki_as_call *call, json_t *body,
                                   struct ki_as_failure *failure);
struct ki_as_strict_patch {
    const json_t *tree;  /* the result of the patch */
    const json_t *shown; /* the value that the 422 shows if the result is rejected */
};
KI_NODISCARD int ki_as_strict_patched(const struct ki_as_verb *verb, const struct ki_as_strict_patch *patch);
/* Checks an applied configuration. An unknown field cannot have an owner, so it fails with 500 whatever the
 * call says, as in Kubernetes. */
KI_NODISCARD int ki_as_strict_applied(const struct ki_as_verb *verb, const json_t *config);

#endif
