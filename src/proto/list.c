/* SPDX-License-Identifier: Apache-2.0 */
/* Lists: adjacent fields with the same number, one per element. Several integers or doubles may also share
 * one field. */
#include "proto/message_parts.h"

#include <assert.h>

static int put_element(ki_proto_reader *reader, const ki_proto_field *field, const ki_wire_value *value,
                       ki_proto_rule *rule)
{
    if (rule != NULL && !rule->is_needed)
        return 0;
    size_t start = ki_proto_out_place(&reader->out);
    int rc = ki_proto_out_byte(&reader->out, ',');
    if (rc == 0)
        rc = ki_proto_put_value(reader, field, value, rule);
    return rc < 0 ? rc : ki_proto_settle(reader, rule, start, start + 1);
}

/* Writes several elements that share one field. Go does not write lists like that, but reads them. */
static int put_packed(ki_proto_reader *reader, const ki_proto_field *field, const ki_wire_value *value,
                      ki_proto_rule *rule)
{
    const uint8_t *at = value->at;
    const uint8_t *end = at + value->len;
    int rc = 0;
    while (rc == 0 && at < end) {
        ki_wire_value number = KI_PROTO_NO_VALUE;
        at = ki_wire_value_read(at, end, ki_proto_wire_type(field), &number);
        rc = at == NULL ? ki_proto_malformed(reader, "a list of numbers")
                        : put_element(reader, field, &number, rule);
    }
    return rc;
}

static int put_elements(ki_proto_reader *reader, const ki_proto_field *field, ki_proto_cursor *cursor,
                        ki_proto_rule *rule)
{
    const unsigned wanted = ki_proto_wire_type(field);
    int rc = 0;
    do {
        unsigned type = ki_wire_type_of(cursor->tag);
        ki_wire_value value = KI_PROTO_NO_VALUE;
        if (type != wanted && type != KI_WIRE_BYTES)
            return ki_proto_malformed(reader, "a list");
        cursor->at = ki_wire_value_read(cursor->at, cursor->end, type, &value);
        if (cursor->at == NULL)
            return ki_proto_malformed(reader, "a list");
        rc = type == wanted ? put_element(reader, field, &value, rule)
                            : put_packed(reader, field, &value, rule);
    } while (rc == 0 && ki_proto_next_same(cursor));
    return rc;
}

int ki_proto_put_list(ki_proto_reader *reader, const ki_proto_field *field, ki_proto_cursor *cursor,
                      const ki_proto_rule *rule)
{
    assert((field->flags & KI_PROTO_LIST) != 0);
    size_t start = ki_proto_out_place(&reader->out);
    ki_proto_rule element;
    int has_rule = rule != NULL && rule->node != NULL;
    if (has_rule)
        element = ki_proto_rule_of(ki_projection_element(reader->views.projection, rule->node), rule->node);
    int rc = ki_proto_enter(reader);
    if (rc == 0)
        rc = put_elements(reader, field, cursor, has_rule ? &element : NULL);
    if (rc < 0)
        return rc;
    ki_proto_leave(reader);
    return ki_proto_out_close(&reader->out, start, "[]");
}
