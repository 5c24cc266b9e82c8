/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/locate.h"

#include "util/error.h"

int ki_proto_malformed_field(ki_proto_reader *reader, const ki_proto_message *message, uint64_t tag)
{
    return ki_fail(reader->err, KI_ERR_PROTOBUF, "field %u of %.*s is malformed", ki_wire_number_of(tag),
                   KI_STR_ARGS(ki_proto_message_name(message)));
}

const uint8_t *ki_proto_skip_other(ki_proto_reader *reader, const ki_proto_scope *scope,
                                   const uint8_t *content, const uint8_t *end, uint64_t tag)
{
    const uint8_t *at = NULL;
    if (content != NULL)
        at = ki_wire_type_of(tag) == KI_WIRE_BYTES && !ki_wire_is_bad_tag(tag)
                 ? ki_proto_skip_known(content, end, KI_WIRE_BYTES)
                 : ki_wire_skip(content, end, tag);
    if (at == NULL)
        ki_proto_malformed_field(reader, scope->message, tag);
    if (at == NULL || (scope->view != NULL && !scope->view->keeps_unknown) ||
        ki_proto_place(scope->message, ki_wire_number_of(tag)) != 0)
        return at;
    ki_proto_unknown *unknown = &reader->unknown;
    if (unknown->count++ == 0) {
        unknown->message = ki_proto_message_name(scope->message);
        unknown->number = ki_wire_number_of(tag);
    }
    return at;
}

int ki_proto_note_packed(ki_proto_located *out, unsigned flags, uint64_t tag, uint64_t bit)
{
    if ((flags & KI_PROTO_LIST) == 0 || ki_wire_type_of(tag) != KI_WIRE_BYTES)
        return 0;
    out->packed |= bit;
    return 1;
}
