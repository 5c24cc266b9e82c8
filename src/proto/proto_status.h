/* SPDX-License-Identifier: Apache-2.0 */
/* proto_status - reads a Status in protobuf: the body of an error response, or a Status sent instead of a
 * list.
 *
 *   From:     reflector/answer.c, proto/proto_list.c
 *   To:       api/decode/status.h, through proto/item.h
 *   Locks:    none; a pure function.
 *   Not here: a Status in a watch (proto/proto_watch.h).
 */
#ifndef KI_PROTO_PROTO_STATUS_H
#define KI_PROTO_PROTO_STATUS_H

#include "api/decode/status.h"
#include "proto/item.h"

/* Like ki_status_parse(), for a body that begins with the envelope of proto/typed.h. Also returns
 * KI_ERR_PROTOBUF or KI_ERR_TOO_LARGE. */
KI_NODISCARD int ki_proto_status_parse(ki_str body, ki_status *out, ki_error *err);

/* Reads the message without its envelope. Its JSON is then in the reader's sink. Returns 0,
 * KI_ERR_PROTOBUF, KI_ERR_TOO_LARGE or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_proto_status_read(ki_proto_reader *reader, ki_str bytes, ki_error *err);

#endif
