/* SPDX-License-Identifier: Apache-2.0 */
/* list_answer - decides by its kind whether a response is the requested list, or a Status instead of it.
 *
 *   From:     api/decode/list_decoder.c, proto/proto_list.c, proto/proto_status.c
 *   To:       api/object/object_plan.h, api/decode/status.h
 *   Locks:    none.
 *   Not here: reading the response.
 */
#ifndef KI_API_DECODE_LIST_ANSWER_H
#define KI_API_DECODE_LIST_ANSWER_H

#include "api/decode/status.h"
#include "api/object/object_plan.h"

/* Returns 0 if a list of this kind can contain the objects of the plan. Also returns 0 for a Status, which
 * is read to its end because it says what went wrong. Otherwise returns KI_ERR_NOT_A_LIST. */
KI_NODISCARD int ki_list_answer_check(const ki_object_plan *plan, ki_str kind, ki_error *err);

/* Whether the kind is a Status. */
int ki_list_answer_is_status(ki_str kind);

/* Takes kind and apiVersion of the items from the list, if the resource does not have a kind. Returns 0 or
 * KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_list_answer_learn(ki_object_plan *plan, ki_str kind, ki_str api_version, ki_error *err);

/* Reads a Status that came instead of a list. Returns KI_ERR_NOT_A_LIST, or an error of ki_status_read(). */
KI_NODISCARD int ki_list_answer_fail(ki_str json, ki_status *out_status, ki_error *err);

#endif
