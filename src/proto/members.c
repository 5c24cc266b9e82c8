/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that are objects in JSON: their members, as the projection has them. */
#include "proto/locate.h"
#include "proto/normal.h"
#include "proto/whole.h"
#include "util/alloc.h"

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
        reader->sink.text.data[value_start] == 'n') { /* null is the zero time */
        ki_proto_out_rewind(&reader->out, start);
        return 0;
    }
    return ki_proto_settle(reader, rule, start, value_start);
}

static int put_holder(ki_proto_reader *reader, const ki_proto_field *field, ki_proto_cursor *cursor,
                      const ki_proto_rule *rule)
{
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

/* ki_proto_locate() has checked the wire type and the length. */
int ki_proto_put_field(ki_proto_reader *reader, const ki_proto_scope *s, unsigned place,
                       ki_proto_cursor *cursor)
{
    const ki_proto_field *field = &ki_proto_fields[s->message->first + place];
    ki_proto_rule *rule = rule_at(s, place);
    if (ki_proto_is_holder(field))
        return put_holder(reader, field, cursor, rule);
    ki_wire_value value = KI_PROTO_NO_VALUE;
    if (ki_wire_value_read(cursor->at, cursor->end, ki_wire_type_of(cursor->tag), &value) == NULL)
        return ki_proto_malformed(reader, "a field");
    if ((field->flags & KI_PROTO_OMIT_ZERO) != 0 && is_zero(field, &value))
        return 0;
    if (field->type == KI_PROTO_INLINE)
        return put_inline(reader, field, &value, rule);
    return put_single(reader, field, &value, rule);
}

/* Writes the fields that were located, and absent ones that are in the JSON. */
static int put_located(ki_proto_reader *reader, const ki_proto_scope *s, const ki_wire_value *value,
                       const ki_proto_located *located)
{
    int rc = 0;
    uint64_t required = s->message->required & s->view->needed;
    for (uint64_t left = located->present | required; rc == 0 && left != 0; left &= left - 1) {
        unsigned place = (unsigned)__builtin_ctzll(left);
        ki_proto_cursor cursor;
        if ((located->present >> place & 1) == 0)
            rc = ki_proto_put_absent(reader, s, place);
        else {
            cursor = ki_proto_cursor_at(s->message, value, located, place);
            rc = ki_proto_put_field(reader, s, place, &cursor);
        }
    }
    return rc;
}

/* What precedes a malformed field is written as well: a refused object has a key. */
static int put_regular(ki_proto_reader *reader, const ki_proto_scope *s, const ki_wire_value *value)
{
    ki_proto_located located;
    located.present = 0;
    if (s->view == NULL)
        return ki_proto_put_whole_members(reader, s->message, value);
    int rc = ki_proto_locate(reader, s, value, &located);
    if (reader->is_irregular)
        return rc;
    int written = put_located(reader, s, value, &located);
    return rc < 0 ? rc : written;
}

int ki_proto_put_members(ki_proto_reader *reader, const ki_proto_scope *s, ki_wire_value value)
{
    char *copy = NULL;
    if (!reader->is_careful)
        return put_regular(reader, s, &value);
    int rc = ki_proto_normal(reader, s->message, &value, &copy);
    if (rc == 0)
        rc = put_regular(reader, s, &value);
    ki_free(copy);
    return rc;
}

int ki_proto_put_message(ki_proto_reader *reader, const ki_proto_message *message, const ki_wire_value *value,
                         ki_proto_rule *rule)
{
    ki_proto_scope s = {.message = message};
    if (message->form != KI_PROTO_FORM_FIELDS)
        return ki_proto_put_union(reader, message, value, rule);
    if ((rule == NULL || rule->node == NULL) && !reader->is_careful)
        return ki_proto_put_whole(reader, message, value);
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
