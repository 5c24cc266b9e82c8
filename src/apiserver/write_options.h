/* SPDX-License-Identifier: Apache-2.0 */
/* write_options - whether what a write says beside the object can be followed: dryRun, fieldManager, ….
 *
 *   From:     handle_write.c, delete.c
 *   To:       a 422 with every cause
 *   Locks:    none
 *   Not here: what they do
 */
#ifndef KI_APISERVER_WRITE_OPTIONS_H
#define KI_APISERVER_WRITE_OPTIONS_H

#include "apiserver/request.h"

/* The query of a write; `is_apply` is for patches alone. */
KI_NODISCARD int ki_as_write_options_check(const struct ki_as_request *request, bool is_apply,
                                           struct ki_as_failure *failure);

/* DeleteOptions as they came, or NULL. */
KI_NODISCARD int ki_as_delete_options_check(const json_t *options, struct ki_as_failure *failure);

#endif
