/* SPDX-License-Identifier: Apache-2.0 */
/* whole - writes the members of a message that is kept whole: the usual types without a detour.
 *
 *   From:     proto/members.c
 *   To:       proto/members.c again, for what is not usual
 *   Locks:    none; one owner.
 *   Not here: projections.
 */
#ifndef KI_PROTO_WHOLE_H
#define KI_PROTO_WHOLE_H

#include "proto/locate.h"

/* A message as an object. It is not careful, and the message is one with fields. */
KI_NODISCARD int ki_proto_put_whole(ki_proto_reader *reader, const ki_proto_message *message,
                                    const ki_wire_value *value);

/* Its members alone, each with a comma before it. */
KI_NODISCARD int ki_proto_put_whole_members(ki_proto_reader *reader, const ki_proto_message *message,
                                            const ki_wire_value *value);

#endif
