/* SPDX-License-Identifier: Apache-2.0 */
/* Writes one value of any type. */
#include <assert.h>

#include "proto/leaf.h"
#include "proto/message_parts.h"

static int put_scalar(ki_proto_reader *reader, const ki_proto_field *field, const ki_wire_value *value)
{
    ki_proto_out *out = &reader->out;
    switch (field->type) {
    case KI_PROTO_BOOL:
        return ki_proto_out_text(out, value->number != 0 ? KI_STR("true") : KI_STR("false"));
    case KI_PROTO_INT32:
        return ki_proto_out_int(out, (int32_t)(uint32_t)value->number);
    case KI_PROTO_INT64:
        return ki_proto_out_int(out, (int64_t)value->number);
    case KI_PROTO_DOUBLE:
        return ki_proto_leaf_double(out, value->number);
    case KI_PROTO_BYTES:
        return ki_proto_out_base64(out, ki_proto_bytes(value));
    case KI_PROTO_TIME:
        return ki_proto_leaf_time(out, ki_proto_bytes(value));
    case KI_PROTO_MICRO_TIME:
        return ki_proto_leaf_micro_time(out, ki_proto_bytes(value));
    case KI_PROTO_QUANTITY:
        return ki_proto_leaf_quantity(out, ki_proto_bytes(value));
    default:
        assert(field->type == KI_PROTO_INT_OR_STRING);
        return ki_proto_leaf_int_or_string(out, ki_proto_bytes(value));
    }
}

int ki_proto_put_value(ki_proto_reader *reader, const ki_proto_field *field, const ki_wire_value *value,
                       ki_proto_rule *rule)
{
    if (field->type == KI_PROTO_STRING)
        return ki_proto_out_string(&reader->out, ki_proto_bytes(value));
    if (field->type == KI_PROTO_MESSAGE)
        return ki_proto_put_message(reader, ki_proto_message_of(field), value, rule);
    if (field->type == KI_PROTO_RAW)
        return ki_proto_put_raw(reader, value, rule);
    int rc = put_scalar(reader, field, value);
    return rc == KI_ERR_PROTOBUF ? ki_proto_malformed(reader, "a time, quantity or number") : rc;
}
