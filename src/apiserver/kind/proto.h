/* SPDX-License-Identifier: Apache-2.0 */
/* proto - decodes objects in Kubernetes' protobuf, as sent by kubectl and Go programs.
 *
 *   From:     apiserver/serve/handle.c, apiserver/serve/handle_write.c, apiserver/serve/handle_review.c:
 *             requests with Content-Type: application/vnd.kubernetes.protobuf
 *   To:       JSON trees
 *   Locks:    none
 *   Not here: responses (apiserver/kind/proto_write.h)
 */
#ifndef KI_APISERVER_KIND_PROTO_H
#define KI_APISERVER_KIND_PROTO_H

#include <stdbool.h>

#include "apiserver/kind/failure.h"

bool ki_as_proto_is_type(ki_str media_type);

/* Parses an envelope ("k8s", NUL, runtime.Unknown) with an object of a built-in kind, or DeleteOptions. Fails
 * with 400 for anything else. */
KI_NODISCARD int ki_as_proto_parse(ki_str body, json_t **out, struct ki_as_failure *failure);

#endif
