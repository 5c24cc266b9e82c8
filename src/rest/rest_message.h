/* SPDX-License-Identifier: Apache-2.0 */
/* rest_message - the request that a call sends: method, target, content type and body.
 *
 *   From:     rest/rest_call.c
 *   To:       http/transfer.h, by that file
 *   Locks:    none; one owner.
 *   Not here: sending.
 *
 * Invalid requests are refused here, above all those without a name: a GET or DELETE without a name would
 * apply to the whole collection.
 */
#ifndef KI_REST_REST_MESSAGE_H
#define KI_REST_REST_MESSAGE_H

#include <kinformer/rest.h>

#include "util/buf.h"

/* A zeroed struct is empty. */
typedef struct ki_rest_message {
    const char *method;       /* a constant text, like content_type */
    const char *content_type; /* a header line; NULL if there is no body */
    ki_buf target;
    ki_buf accept; /* a header line; empty for the default */
    ki_buf body;
} ki_rest_message;

/* Returns 0, KI_ERR_INVALID, KI_ERR_TOO_LARGE or KI_ERR_NO_MEMORY; after a failure there is nothing to
 * free. */
KI_NODISCARD int ki_rest_message_init(ki_rest_message *message, const ki_rest_request *request,
                                      ki_error *err);
void ki_rest_message_fini(ki_rest_message *message);

#endif
