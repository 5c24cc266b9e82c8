/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that are objects in JSON: writes their members, as far as the projection keeps them. */
#include <assert.h>

#include "proto/message_write.h"

static int is_zero(const ki_proto_field *field, const ki_wire_value *value)
{
    switch (field->type) {
    case KI_PROTO_STRING:
    case KI_PROTO_BYTES:
        return value->len == 0;
    case KI_PROTO_INT32:
        return (uint32_t)value->number == 0;
    case KI_PROTO_DOUBLE:
        return value->number << 1 == 0; /* -0 as well */
    case KI_PROTO_BOOL:
    case KI_PROTO_INT64:
        return value->number == 0;
    default:
        return 0;
    }
}

static ki_proto_rule *rule_at(const ki_proto_scope *s, unsigned place)
{
    assert(place < s->message->count);
    return s->view == NULL ? NULL : &s->view->rules[place];
}

static int put_name(ki_proto_reader *reader, const ki_proto_field *field)
{
    return ki_proto_out_name(&reader->out, ki_proto_names + field->name, field->name_len);
}

static int put_single(ki_proto_reader *reader, const ki_proto_field *field, const ki_wire_value *value,
                      ki_proto_rule *rule)
{
    size_t start = ki_proto_out_place(&reader->out);
    int rc = put_name(reader, field);
    if (rc == 0)
        rc = ki_proto_put_value(reader, field, value, rule);
    if (rc < 0)
        return rc;
    size_t value_start = start + field->name_len;
    if (field->type == KI_PROTO_TIME && (field->flags & KI_PROTO_OMIT_ZERO) != 0 &&
        reader->sink.text.data[value_start] == 'n') { /* null, which is the zero time */
        ki_proto_out_rewind(&reader->out, start);
        return 0;
    }
    return ki_proto_settle(reader, rule, start, value_start);
}

static int put_holder(ki_proto_reader *reader, const ki_proto_field *field, ki_proto_cursor *cursor,
                      const ki_proto_rule *rule)
{
    assert(ki_proto_is_holder(field));
    size_t start = ki_proto_out_place(&reader->out);
    int rc = put_name(reader, field);
    if (rc == 0)
        rc = (field->flags & KI_PROTO_LIST) != 0 ? ki_proto_put_list(reader, field, cursor, rule)
                                                 : ki_proto_put_map(reader, field, cursor, rule);
    return rc < 0 ? rc : ki_proto_settle(reader, rule, start, start + field->name_len);
}

int ki_proto_view_of(ki_proto_reader *reader, ki_proto_rule *rule, const ki_proto_message *message,
                     ki_proto_view **out_view)
{
    *out_view = NULL;
    if (rule == NULL || rule->node == NULL)
        return 0;
    if (rule->view == NULL || rule->view->message != message)
        rule->view = ki_proto_view_get(&reader->views, rule->node, message);
    *out_view = rule->view;
    return rule->view == NULL ? KI_ERR_NO_MEMORY : 0;
}

static int put_inline(ki_proto_reader *reader, const ki_proto_field *field, const ki_wire_value *value,
                      ki_proto_rule *rule)
{
    ki_proto_scope inner = {.message = ki_proto_message_of(field)};
    int rc = ki_proto_view_of(reader, rule, inner.message, &inner.view);
    return rc < 0 ? rc : ki_proto_put_members(reader, &inner, *value);
}

int ki_proto_put_absent(ki_proto_reader *reader, const ki_proto_scope *s, unsigned place)
{
    assert(place < s->message->count);
    const ki_proto_field *field = &ki_proto_fields[s->message->first + place];
    ki_proto_rule *rule = rule_at(s, place);
    if (field->type == KI_PROTO_INLINE)
        return put_inline(reader, field, &KI_PROTO_NO_VALUE, rule);
    if ((field->flags & KI_PROTO_ABSENT) == KI_PROTO_ABSENT_ZERO)
        return put_single(reader, field, &KI_PROTO_NO_VALUE, rule);
    size_t start = ki_proto_out_place(&reader->out);
    int rc = put_name(reader, field);
    if (rc == 0)
        rc = ki_proto_out_text(&reader->out, KI_STR("null"));
    return rc < 0 ? rc : ki_proto_settle(reader, rule, start, start + field->name_len);
}

static int put_holder_field(ki_proto_reader *reader, const ki_proto_scope *s, unsigned place,
                            ki_proto_cursor *cursor)
{
    const ki_proto_field *field = &ki_proto_fields[s->message->first + place];
    unsigned type = ki_wire_type_of(cursor->tag);
    ki_wire_value first;
    int is_packed = (field->flags & KI_PROTO_LIST) != 0 && type == KI_WIRE_BYTES;
    if ((type != ki_proto_wire_type(field) && !is_packed) ||
        ki_wire_value_read(cursor->at, cursor->end, type, &first) == NULL)
        return ki_proto_malformed_field(reader, s->message, cursor->tag);
    return put_holder(reader, field, cursor, rule_at(s, place));
}

int ki_proto_put_field(ki_proto_reader *reader, const ki_proto_scope *s, unsigned place,
                       ki_proto_cursor *cursor)
{
    assert(place < s->message->count && cursor->at <= cursor->end);
    const ki_proto_field *field = &ki_proto_fields[s->message->first + place];
    ki_proto_rule *rule = rule_at(s, place);
    unsigned type = ki_wire_type_of(cursor->tag);
    if (ki_proto_is_holder(field))
        return put_holder_field(reader, s, place, cursor);
    ki_wire_value value = KI_PROTO_NO_VALUE;
    cursor->at =
        type == ki_proto_wire_type(field) ? ki_wire_value_read(cursor->at, cursor->end, type, &value) : NULL;
    if (cursor->at == NULL)
        return ki_proto_malformed_field(reader, s->message, cursor->tag);
    if ((field->flags & KI_PROTO_OMIT_ZERO) != 0 && is_zero(field, &value))
        return 0;
    if (field->type == KI_PROTO_INLINE)
        return put_inline(reader, field, &value, rule);
    return put_single(reader, field, &value, rule);
}

int ki_proto_put_message(ki_proto_reader *reader, const ki_proto_message *message, const ki_wire_value *value,
                         ki_proto_rule *rule)
{
    ki_proto_scope s = {.message = message};
    if (message->form != KI_PROTO_FORM_FIELDS)
        return ki_proto_put_union(reader, message, value, rule);
    size_t start = ki_proto_out_place(&reader->out);
    int rc = ki_proto_view_of(reader, rule, message, &s.view);
    if (rc == 0)
        rc = ki_proto_enter(reader);
    if (rc == 0)
        rc = ki_proto_put_members(reader, &s, *value);
    if (rc < 0)
        return rc;
    ki_proto_leave(reader);
    return ki_proto_out_close(&reader->out, start, "{}");
}
