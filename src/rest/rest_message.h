/* SPDX-License-Identifier: Apache-2.0 */
/* rest_message - what a call sends: method, target, content type and body of a ki_rest_request.
 *
 *   From:     rest/rest.c
 *   To:       rest/rest_call.c
 *   Locks:    none; one owner.
 *   Not here: sending.
 *
 * What no server could understand is refused here, above all a name that is missing: a GET or DELETE without
 * one would be one of the whole collection.
 */
#ifndef KI_REST_REST_MESSAGE_H
#define KI_REST_REST_MESSAGE_H

#include <kinformer/rest.h>

#include "util/buf.h"

/* A zeroed one is empty. */
typedef struct ki_rest_message {
    const char *method;       /* constant, as the next */
    const char *content_type; /* a header line; NULL: there is no body */
    ki_buf target;
    ki_buf accept; /* a header line; empty: as ever */
    ki_buf body;
} ki_rest_message;

/* Returns 0, KI_ERR_INVALID, KI_ERR_TOO_LARGE or KI_ERR_NO_MEMORY; then nothing is to be ended. */
KI_NODISCARD int ki_rest_message_init(ki_rest_message *message, const ki_rest_request *request,
                                      ki_error *err);
void ki_rest_message_fini(ki_rest_message *message);

#endif
