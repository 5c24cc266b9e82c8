/* SPDX-License-Identifier: Apache-2.0 */
/* proto_write - encodes objects of built-in kinds in Kubernetes' protobuf, as Go writes them.
 *
 *   From:     apiserver/serve/render.c, apiserver/serve/stream.c, apiserver/serve/handle.c
 *   To:       apiserver/kind/schemas_table.h, a ki_buf
 *   Locks:    none
 *   Not here: reading (apiserver/kind/proto.h); which format a client wants (apiserver/request/accept.h)
 *
 * The kind and apiVersion of a tree say which message it is: one of a built-in kind, Status or
 * PartialObjectMetadata. Values that do not have the type of their field are written as zero. All functions
 * return 0, KI_ERR_NO_MEMORY, KI_ERR_TOO_LARGE, or KI_ERR_RESOURCE if the kind has no message; after an error
 * the bytes must not be used.
 */
#ifndef KI_APISERVER_KIND_PROTO_WRITE_H
#define KI_APISERVER_KIND_PROTO_WRITE_H

#include <jansson.h>
#include <stdbool.h>

#include "util/buf.h"

/* Whether objects of this kind can be written: the schemas table must have the kind in exactly this
 * version. */
bool ki_as_proto_has(const char *api_version, const char *kind);

/* Appends an object in its envelope: "k8s", NUL, runtime.Unknown. */
KI_NODISCARD int ki_as_proto_object(ki_buf *out, const json_t *tree);

/* Appends a list in its envelope. Call begin, whose `head` has kind, apiVersion and metadata; item for each
 * item; then end with the position that begin has set. */
KI_NODISCARD int ki_as_proto_list_begin(ki_buf *out, const json_t *head, size_t *out_at);
KI_NODISCARD int ki_as_proto_list_item(ki_buf *out, const json_t *tree);
KI_NODISCARD int ki_as_proto_list_end(ki_buf *out, size_t at);

/* Appends an event of a watch, {"type": …, "object": …}, as a frame with its length. */
KI_NODISCARD int ki_as_proto_event(ki_buf *out, const json_t *event);

#endif
