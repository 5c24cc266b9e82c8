/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/message_write.h"

#include "proto/fast_path.h"
#include "proto/order.h"
#include "proto/reorder.h"
#include "util/alloc.h"

static void note_unknown(ki_proto_reader *reader, const ki_proto_message *message, uint64_t tag)
{
    ki_proto_unknown *unknown = &reader->unknown;
    if (unknown->count++ > 0)
        return;
    unknown->message = ki_proto_message_name(message);
    unknown->number = ki_wire_number_of(tag);
}

/* Prefetches a little of the bytes that will be read next. Much of a message is skipped, so the processor
 * does not prefetch it by itself. Each call requests one cache line, because requests that are made all at
 * once wait for each other. */
static inline void look_ahead(ki_proto_reader *reader)
{
    enum { LINE_BYTES = 64 };
    if (reader->ahead.len < LINE_BYTES)
        return;
    __builtin_prefetch(reader->ahead.ptr);
    reader->ahead.ptr += LINE_BYTES;
    reader->ahead.len -= LINE_BYTES;
}

/* Skips a field that is not in the tables or is not needed. A field that is not in the tables is counted if
 * it could have been kept; otherwise every number in the range counts as known. The cursor is after the tag;
 * cursor.at is NULL if the tag is malformed. Returns the end of the field, or NULL if it is malformed. */
static inline const uint8_t *skip(ki_proto_reader *reader, const ki_proto_message *message,
                                  const ki_proto_view *view, ki_proto_cursor cursor)
{
    ki_wire_value ignored;
    const uint32_t number = ki_wire_number_of(cursor.tag);
    const int counts_unknown = view == NULL || view->keeps_unknown;
    const int is_known =
        number - 1 < message->number_max && (!counts_unknown || ki_proto_place(message, number) != 0);
    if (is_known && ki_wire_type_of(cursor.tag) <= KI_WIRE_BYTES)
        return ki_wire_value_read(cursor.at, cursor.end, ki_wire_type_of(cursor.tag), &ignored);
    const uint8_t *at = cursor.at == NULL ? NULL : ki_wire_skip(cursor.at, cursor.end, cursor.tag);
    if (at != NULL && !is_known && counts_unknown)
        note_unknown(reader, message, cursor.tag);
    return at;
}

/* Writes a field that the fast path does not handle, or a list, map or union with rules for its content.
 * Does nothing after an error. */
static __attribute__((noinline)) ki_proto_step detour(ki_proto_reader *reader,
                                                      const ki_proto_message *message, ki_proto_view *view,
                                                      ki_proto_cursor cursor, char *to)
{
    const ki_proto_scope scope = {message, view};
    if (reader->rc < 0)
        return KI_PROTO_NOT_USUAL;
    reader->out.at = to;
    int rc = ki_proto_put_field(reader, &scope, ki_proto_place(message, ki_wire_number_of(cursor.tag)) - 1,
                                &cursor);
    if (rc == 0)
        return (ki_proto_step){cursor.at, reader->out.at};
    reader->rc = rc;
    return KI_PROTO_NOT_USUAL;
}

static char *write_members(ki_proto_reader *reader, const ki_proto_scope *scope, ki_str bytes, char *to);

/* Writes a message with rules for its fields, for instance the metadata of each object. */
static ki_proto_step put_message_by_rule(ki_proto_reader *reader, const ki_proto_field *field,
                                         ki_proto_rule *rule, ki_proto_cursor cursor, char *to)
{
    ki_proto_scope inner = {.message = ki_proto_message_of(field)};
    const size_t start = (size_t)(to - reader->out.text);
    ki_wire_value value;
    const uint8_t *at = ki_wire_bytes(cursor.at, cursor.end, &value);
    if (at == NULL || inner.message->form != KI_PROTO_FORM_FIELDS || !ki_proto_has_space(reader, to, 0))
        return KI_PROTO_NOT_USUAL;
    int rc = ki_proto_view_of(reader, rule, inner.message, &inner.view);
    if (rc == 0)
        rc = ki_proto_enter(reader);
    if (rc < 0)
        return (ki_proto_step){at, ki_proto_stop(reader, to, rc)};
    to = write_members(reader, &inner, ki_proto_bytes(&value), ki_proto_put_name(to, field));
    if (to == NULL)
        return KI_PROTO_NOT_USUAL;
    ki_proto_leave(reader);
    to = ki_proto_end_container(reader, start + field->name_len, to, "{}");
    if (to == NULL)
        return KI_PROTO_NOT_USUAL;
    reader->out.at = to;
    rc = ki_proto_settle_by(reader, rule, start, start + field->name_len);
    return (ki_proto_step){at, rc < 0 ? ki_proto_stop(reader, reader->out.at, rc) : reader->out.at};
}

/* Writes one needed field, as its rule says. */
static inline ki_proto_step put_by_rule(ki_proto_reader *reader, const ki_proto_field *field,
                                        ki_proto_rule *rule, ki_proto_cursor cursor, char *to)
{
    const size_t start = (size_t)(to - reader->out.text);
    if (reader->is_careful)
        return KI_PROTO_NOT_USUAL;
    if (rule->node != NULL)
        return field->type == KI_PROTO_MESSAGE && field->flags < KI_PROTO_LIST &&
                       ki_wire_type_of(cursor.tag) == KI_WIRE_BYTES
                   ? put_message_by_rule(reader, field, rule, cursor, to)
                   : KI_PROTO_NOT_USUAL;
    ki_proto_step step = ki_proto_fast_field(reader, field, cursor, to);
    if (step.to == NULL || (size_t)(step.to - reader->out.text) == start || (rule->keep && rule->capture < 0))
        return step;
    reader->out.at = step.to;
    int rc = ki_proto_settle_by(reader, rule, start, start + field->name_len);
    step.to = rc < 0 ? ki_proto_stop(reader, reader->out.at, rc) : reader->out.at;
    return step;
}

/* Writes the absent fields that are in the JSON. */
static char *put_absent(ki_proto_reader *reader, const ki_proto_scope *scope, ki_proto_order *order,
                        uint64_t seen, char *to)
{
    const uint64_t needed = scope->view == NULL ? UINT64_MAX : scope->view->needed;
    for (uint64_t left = scope->message->required & needed & ~seen; left != 0; left &= left - 1) {
        unsigned place = (unsigned)__builtin_ctzll(left);
        order->starts[place] = (uint32_t)(to - reader->out.text);
        reader->out.at = to;
        int rc = ki_proto_put_absent(reader, scope, place);
        if (rc < 0)
            return ki_proto_stop(reader, reader->out.at, rc);
        to = reader->out.at;
        if (seen >> place != 0)
            to = ki_proto_order_move(reader, order, seen, place, to);
        if (to == NULL)
            return NULL;
        seen |= UINT64_C(1) << place;
    }
    return to;
}

/* The innermost loop. It is one function, so that its variables are in registers; rare cases are elsewhere,
 * and it is inlined into each caller. If `is_plain`, there is no view and the message is not read
 * carefully. */
static inline __attribute__((always_inline)) char *put_fields(ki_proto_reader *reader,
                                                              const ki_proto_scope *scope, int is_plain,
                                                              ki_str bytes, char *to)
{
    const ki_proto_message *message = scope->message;
    ki_proto_view *view = is_plain ? NULL : scope->view;
    const ki_proto_field *fields = &ki_proto_fields[message->first];
    const uint8_t *places = view == NULL ? &ki_proto_numbers[message->numbers] : ki_proto_view_places(view);
    const uint32_t number_max = message->number_max;
    const uint8_t *at = (const uint8_t *)bytes.ptr;
    const uint8_t *end = at + bytes.len;
    ki_proto_order order;
    uint64_t seen = 0; /* bit i: field i was read; its member may have been omitted */
    order.has_captures = view != NULL;
    while (at < end) {
        uint64_t tag = 0;
        if (!is_plain)
            look_ahead(reader);
        const uint8_t *content = ki_wire_varint(at, end, &tag);
        const uint32_t number = ki_wire_number_of(tag); /* 0 if the tag is malformed */
        const unsigned place = number <= number_max ? places[number] : 0;
        if (place == 0) {
            at = skip(reader, message, view, (ki_proto_cursor){content, end, tag});
            if (KI_RARELY(at == NULL))
                return ki_proto_stop(reader, to, ki_proto_malformed_field(reader, message, tag));
            continue;
        }
        order.starts[place - 1] = (uint32_t)(to - reader->out.text);
        const ki_proto_cursor cursor = {content, end, tag};
        ki_proto_step step =
            is_plain       ? ki_proto_fast_field(reader, &fields[place - 1], cursor, to)
            : view == NULL ? KI_PROTO_NOT_USUAL
                           : put_by_rule(reader, &fields[place - 1], &view->rules[place - 1], cursor, to);
        if (KI_RARELY(step.to == NULL)) {
            step = detour(reader, message, view, (ki_proto_cursor){content, end, tag}, to);
            if (step.to == NULL)
                return NULL;
        }
        at = step.at;
        to = step.to;
        const uint64_t bit = UINT64_C(1) << (place - 1);
        if (KI_RARELY(seen >= bit)) { /* this field, or a field with a later place, was read before */
            to = ki_proto_order_move(reader, &order, seen, place - 1, to);
            if (to == NULL)
                return NULL;
        }
        seen |= bit;
    }
    return KI_RARELY((message->required & ~seen) != 0) ? put_absent(reader, scope, &order, seen, to) : to;
}

static char *write_members(ki_proto_reader *reader, const ki_proto_scope *scope, ki_str bytes, char *to)
{
    return scope->view == NULL && !reader->is_careful ? put_fields(reader, scope, 1, bytes, to)
                                                      : put_fields(reader, scope, 0, bytes, to);
}

char *ki_proto_write_whole(ki_proto_reader *reader, const ki_proto_message *message, ki_str bytes, char *to)
{
    const ki_proto_scope scope = {.message = message};
    const size_t start = (size_t)(to - reader->out.text);
    int rc = ki_proto_enter(reader);
    look_ahead(reader);
    if (rc < 0)
        return ki_proto_stop(reader, to, rc);
    to = put_fields(reader, &scope, 1, bytes, to);
    if (to == NULL)
        return NULL;
    ki_proto_leave(reader);
    return ki_proto_end_container(reader, start, to, "{}");
}

char *ki_proto_write_inline(ki_proto_reader *reader, const ki_proto_message *message, ki_str bytes, char *to)
{
    return write_members(reader, &(ki_proto_scope){.message = message}, bytes, to);
}

static int write_all(ki_proto_reader *reader, const ki_proto_scope *s, const ki_wire_value *value)
{
    char *to = write_members(reader, s, ki_proto_bytes(value), reader->out.at);
    if (to == NULL)
        return reader->rc;
    reader->out.at = to;
    return 0;
}

int ki_proto_put_members(ki_proto_reader *reader, const ki_proto_scope *s, ki_wire_value value)
{
    char *copy = NULL;
    if (!reader->is_careful)
        return write_all(reader, s, &value);
    int rc = ki_proto_reorder(reader, s->message, &value, &copy);
    if (rc == 0)
        rc = write_all(reader, s, &value);
    ki_free(copy);
    return rc;
}
