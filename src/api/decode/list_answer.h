/* SPDX-License-Identifier: Apache-2.0 */
/* list_answer - which responses are the list that was requested: its kind, or a Status in its place.
 *
 *   From:     api/decode/list_decoder.c, proto/proto_list.c
 *   To:       api/object/object_plan.h, api/decode/status.h
 *   Locks:    none.
 *   Not here: reading the response.
 */
#ifndef KI_API_DECODE_LIST_ANSWER_H
#define KI_API_DECODE_LIST_ANSWER_H

#include "api/decode/status.h"
#include "api/object/object_plan.h"

/* Returns 0 if a list of this kind has the objects of the plan, or if it is a Status, which is read to its
 * end for its content; else KI_ERR_NOT_A_LIST. */
KI_NODISCARD int ki_list_answer_check(const ki_object_plan *plan, ki_str kind, ki_error *err);

/* Whether the kind is a Status. */
int ki_list_answer_is_status(ki_str kind);

/* Takes the kind of the items from the list, if the resource does not have it.
 * Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_list_answer_learn(ki_object_plan *plan, ki_str kind, ki_str api_version, ki_error *err);

/* Reads a Status. Returns KI_ERR_NOT_A_LIST, or the error of reading it. */
KI_NODISCARD int ki_list_answer_fail(ki_str json, ki_status *out_status, ki_error *err);

#endif
