/* SPDX-License-Identifier: Apache-2.0 */
/* strict - fieldValidation: what is said about fields that a kind does not have.
 *
 *   From:     apiserver/serve/handle_write.c (whole objects), apiserver/verbs/patch_verb.c (what patches
 *             make)
 *   To:       prune; the call's warnings, which become headers
 *   Locks:    none of its own
 *   Not here: taking them away from what is stored (apiserver/kind/defaults.h)
 *
 * Each returns 0, or -1 with the failure. A call that ignores them, or only warns nobody, is not looked at.
 */
#ifndef KI_APISERVER_VERBS_STRICT_H
#define KI_APISERVER_VERBS_STRICT_H

#include "apiserver/verbs/verbs_parts.h"

/* An object as it was sent; they are taken away. 400 when it is strict. */
KI_NODISCARD int ki_as_strict_body(const struct ki_as_call *call, json_t *body,
                                   struct ki_as_failure *failure);
struct ki_as_strict_patch {
    const json_t *tree;  /* what the patch made of an object */
    const json_t *shown; /* the value that is shown if that is refused with 422 */
};
KI_NODISCARD int ki_as_strict_patched(const struct ki_as_verb *verb, const struct ki_as_strict_patch *patch);
/* What is applied: nobody can own an unknown field, so that it is 500 in any case, as in Kubernetes. */
KI_NODISCARD int ki_as_strict_applied(const struct ki_as_verb *verb, const json_t *config);

#endif
