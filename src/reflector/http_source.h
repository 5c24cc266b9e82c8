/* SPDX-License-Identifier: Apache-2.0 */
/* http_source - a ki_list_watch for a Kubernetes API server.
 *
 *   From:     reflector/source.c (opens it); by callback, reflector/answer.c (begins, cancels and resumes
 *             requests), http/transfer_send.c, http/transfer_receive.c and http/transfer.c (responses)
 *   To:       http/transfer.c (requests), reflector/answer.c (heads, bodies and ends of responses)
 *   Locks:    none; io's.
 *   Not here: which request is made when; decoding bodies.
 */
#ifndef KI_REFLECTOR_HTTP_SOURCE_H
#define KI_REFLECTOR_HTTP_SOURCE_H

#include <kinformer/informer.h>
#include <kinformer/list_watch.h>
#include <kinformer/resource.h>

#include "http/http.h"

/* Opens the collection of `resource` in the namespace of the options; "" or NULL means all namespaces. `http`
 * is borrowed. Returns 0 with a list_watch that the caller releases; KI_ERR_INVALID if the namespace is not
 * valid; KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_http_source_open(ki_http *http, const ki_resource *resource,
                                     const ki_informer_options *options, ki_list_watch *out_list_watch,
                                     ki_error *err);

#endif
