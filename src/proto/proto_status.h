/* SPDX-License-Identifier: Apache-2.0 */
/* proto_status - reads a Status in protobuf: the body of an error response.
 *
 *   From:     reflector/answer.c
 *   To:       api/decode/status.h, through proto/message.h
 *   Locks:    none; a pure function.
 *   Not here: a Status in place of a list (proto/proto_list.h), or in a watch (proto/proto_watch.h).
 */
#ifndef KI_PROTO_PROTO_STATUS_H
#define KI_PROTO_PROTO_STATUS_H

#include "api/decode/status.h"

/* As ki_status_parse(), for a body that begins with the envelope of proto/typed.h. Returns also
 * KI_ERR_PROTOBUF. */
KI_NODISCARD int ki_proto_status_parse(ki_str body, ki_status *out, ki_error *err);

#endif
