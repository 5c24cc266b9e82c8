/* SPDX-License-Identifier: Apache-2.0 */
/* status - a Kubernetes Status: how a server says what went wrong.
 *
 *   From:     error answers, ERROR events of a watch, answers that should have been a list
 *   To:       <kinformer/status.h>
 *   Locks:    none; plain data with an owner.
 *   Not here: what to do about it.
 */
#ifndef KI_API_DECODE_STATUS_H
#define KI_API_DECODE_STATUS_H

#include <kinformer/error.h>
#include <kinformer/json.h>
#include <kinformer/status.h>

#include "util/mask.h"

/* Reads valid JSON. Members that are missing or of a wrong type are left empty. Returns 0; KI_ERR_TYPE when
 * it is no object with the kind Status, KI_ERR_NO_MEMORY. `out` is written on success only; the caller ends
 * it with ki_status_fini(). */
KI_NODISCARD int ki_status_read(ki_json json, ki_status *out);

/* As above for a text that may be anything: the body of an answer. Returns also the errors of JSON. */
KI_NODISCARD int ki_status_parse(ki_str body, ki_status *out, ki_error *err);

/* Takes secrets out of the texts that are for people. */
void ki_status_mask(ki_status *status, const ki_mask *mask);

void ki_status_fini(ki_status *status);

#endif
