/* SPDX-License-Identifier: Apache-2.0 */
/* pass - reads the fields of a message once, and writes each as it comes.
 *
 *   From:     proto/members.c, proto/usual.h
 *   To:       proto/usual.h; proto/members.c for what is not usual
 *   Locks:    none; one owner.
 *   Not here: the values; messages in which a field occurs again (proto/normal.c).
 *
 * Go writes fields by their number, and JSON in the order of the Go type, which is the same for most
 * messages. A member that the JSON has earlier is moved there after it was written, and so is one that the
 * JSON has although its field is absent.
 */
#ifndef KI_PROTO_PASS_H
#define KI_PROTO_PASS_H

#include "proto/message_parts.h"

/* These write at `to`, which replaces out.at, and return where they ended. After an error they return NULL;
 * reader->rc has it, and out.at is the end of what was written. */

/* A message with fields as an object; it is kept whole, and not read carefully. */
char *ki_proto_pass_whole(ki_proto_reader *reader, const ki_proto_message *message, ki_str bytes, char *to);

/* The members of a message, each with a comma before it. */
char *ki_proto_pass_members(ki_proto_reader *reader, const ki_proto_scope *scope, ki_str bytes, char *to);

#endif
