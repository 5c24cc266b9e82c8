/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/message.h"

#include <assert.h>

#include "proto/leaf.h"
#include "proto/message_parts.h"
#include "proto/normal.h"
#include "util/alloc.h"
#include "util/error.h"

/* What one message may cost beyond being read once, times its size, if it is not as Go would write it. */
enum { WORK_FACTOR = 64, WORK_BYTES = 64 * 1024 };

enum { FIELDS_MAX = 64 };

/* A message that is being read: its table, and the rules for its fields if the projection has some. */
typedef struct scope {
    const ki_proto_message *message;
    ki_proto_view *view;
} scope;

void ki_proto_reader_init(ki_proto_reader *reader, const ki_projection *projection, uint32_t depth_max)
{
    assert(reader != NULL);
    *reader = (ki_proto_reader){.views.projection = projection};
    reader->depth_max = depth_max == 0 ? KI_JSON_DEPTH_DEFAULT : depth_max;
    if (reader->depth_max > KI_JSON_DEPTH_LIMIT)
        reader->depth_max = KI_JSON_DEPTH_LIMIT;
    ki_json_sink_init(&reader->sink, KI_JSON_VALUE_BYTES_DEFAULT);
    ki_json_sink_init(&reader->raw, KI_JSON_VALUE_BYTES_DEFAULT);
}

void ki_proto_reader_fini(ki_proto_reader *reader)
{
    assert(reader != NULL);
    ki_proto_views_fini(&reader->views);
    ki_json_sink_fini(&reader->sink);
    ki_json_sink_fini(&reader->raw);
}

int ki_proto_malformed(ki_proto_reader *reader, const char *what)
{
    return ki_fail(reader->err, KI_ERR_PROTOBUF, "%s is malformed", what);
}

static int malformed_field(ki_proto_reader *reader, const ki_proto_message *message, uint64_t tag)
{
    return ki_fail(reader->err, KI_ERR_PROTOBUF, "field %u of %.*s is malformed", ki_wire_number_of(tag),
                   KI_STR_ARGS(ki_proto_message_name(message)));
}

int ki_proto_irregular(ki_proto_reader *reader)
{
    assert(!reader->is_careful);
    reader->is_irregular = 1;
    return KI_ERR_PROTOBUF; /* not reported: the message is read again */
}

int ki_proto_enter(ki_proto_reader *reader)
{
    if (reader->depth == reader->depth_max)
        return ki_fail(reader->err, KI_ERR_JSON_DEPTH, "%s", ki_error_text(KI_ERR_JSON_DEPTH));
    reader->depth++;
    return 0;
}

void ki_proto_leave(ki_proto_reader *reader)
{
    assert(reader->depth > 0);
    reader->depth--;
}

/* ---- members ------------------------------------------------------------------------------------------- */

static void set_capture(ki_proto_reader *reader, const ki_proto_rule *rule, ki_capture capture)
{
    ki_capture *at = &reader->sink.captures[rule->capture];
    if (at->place == KI_CAPTURE_NONE)
        *at = capture;
}

/* A captured value that is not kept goes to the side text. */
static int capture_aside(ki_proto_reader *reader, const ki_proto_rule *rule, size_t value_start)
{
    ki_buf *side = &reader->sink.side;
    size_t start = side->len;
    size_t n = ki_proto_out_place(&reader->out) - value_start;
    int rc = ki_buf_append(side, reader->sink.text.data + value_start, n);
    if (rc == KI_ERR_TOO_LARGE)
        reader->sink.overflowed = 1; /* later fields are still captured: a refused object has a key */
    else if (rc < 0)
        return rc;
    else
        set_capture(reader, rule, (ki_capture){(uint32_t)start, (uint32_t)(start + n), KI_CAPTURE_SIDE});
    return 0;
}

int ki_proto_settle_by(ki_proto_reader *reader, const ki_proto_rule *rule, size_t start, size_t value_start)
{
    int rc = 0;
    char first = reader->sink.text.data[value_start];
    int is_container = first == '{' || first == '[';
    if (rule->keep || (is_container && rule->node != NULL && rule->shell)) {
        size_t end = ki_proto_out_place(&reader->out);
        if (rule->capture >= 0)
            set_capture(reader, rule, (ki_capture){(uint32_t)value_start, (uint32_t)end, KI_CAPTURE_TEXT});
        return 0;
    }
    if (rule->capture >= 0 && rule->aside)
        rc = capture_aside(reader, rule, value_start);
    ki_proto_out_rewind(&reader->out, start);
    return rc;
}

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

/* ---- lists --------------------------------------------------------------------------------------------- */

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

/* Numbers of a list may share one field. Go does not write them so, but reads them. */
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

/* ---- messages ------------------------------------------------------------------------------------------ */

static int put_members(ki_proto_reader *reader, const scope *s, ki_wire_value value);

static ki_proto_rule *rule_at(const scope *s, unsigned place)
{
    return s->view == NULL ? NULL : &s->view->rules[place];
}

static int is_holder(const ki_proto_field *field)
{
    return (field->flags & (KI_PROTO_LIST | KI_PROTO_MAP)) != 0;
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

/* The view of a message for the content of a rule. */
static int view_of(ki_proto_reader *reader, ki_proto_rule *rule, const ki_proto_message *message,
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
    scope inner = {.message = ki_proto_message_of(field)};
    int rc = view_of(reader, rule, inner.message, &inner.view);
    return rc < 0 ? rc : put_members(reader, &inner, *value);
}

/* A field that is in the JSON although it is not on the wire. */
static int put_absent(ki_proto_reader *reader, const scope *s, unsigned place)
{
    const ki_proto_field *field = &ki_proto_fields[s->message->first + place];
    ki_proto_rule *rule = rule_at(s, place);
    if (rule != NULL && !rule->is_needed)
        return 0;
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

static inline int skip_field(ki_proto_reader *reader, const scope *s, ki_proto_cursor *cursor)
{
    ki_wire_value ignored;
    const uint8_t *at = NULL;
    if (ki_wire_type_of(cursor->tag) == KI_WIRE_BYTES && cursor->tag < 0x80 && cursor->tag >= 8)
        at = ki_wire_bytes(cursor->at, cursor->end, &ignored);
    else
        at = ki_wire_skip(cursor->at, cursor->end, cursor->tag);
    if (at == NULL)
        return malformed_field(reader, s->message, cursor->tag);
    cursor->at = at;
    return 0;
}

/* A field that the tables do not have. It is counted if it could have been kept. */
static int pass_unknown(ki_proto_reader *reader, const scope *s, ki_proto_cursor *cursor)
{
    int rc = skip_field(reader, s, cursor);
    if (rc < 0 || (s->view != NULL && !s->view->keeps_unknown))
        return rc;
    ki_proto_unknown *unknown = &reader->unknown;
    if (unknown->count++ == 0) {
        unknown->message = ki_proto_message_name(s->message);
        unknown->number = ki_wire_number_of(cursor->tag);
    }
    return 0;
}

/* A field that is kept. */
static int put_field(ki_proto_reader *reader, const scope *s, unsigned place, ki_proto_cursor *cursor)
{
    const ki_proto_field *field = &ki_proto_fields[s->message->first + place];
    ki_proto_rule *rule = rule_at(s, place);
    if (is_holder(field))
        return put_holder(reader, field, cursor, rule);
    ki_wire_value value = KI_PROTO_NO_VALUE;
    unsigned type = ki_wire_type_of(cursor->tag);
    const uint8_t *at =
        type == ki_proto_wire_type(field) ? ki_wire_value_read(cursor->at, cursor->end, type, &value) : NULL;
    if (at == NULL)
        return malformed_field(reader, s->message, cursor->tag);
    cursor->at = at;
    if ((field->flags & KI_PROTO_OMIT_ZERO) != 0 && is_zero(field, &value))
        return 0;
    if (field->type == KI_PROTO_INLINE)
        return put_inline(reader, field, &value, rule);
    return put_single(reader, field, &value, rule);
}

/* Most fields are zero: an empty text or time, 0 and false are one byte. Such a field is left out. */
static inline int is_omitted(const ki_proto_field *field, uint64_t tag, const uint8_t *at, const uint8_t *end)
{
    return (field->flags & KI_PROTO_OMIT_ZERO) != 0 && at < end && *at == 0 &&
           ki_wire_type_of(tag) == ki_proto_wire_type(field);
}

/* A number or truth value. */
static inline int put_plain_number(ki_proto_reader *reader, const ki_proto_field *field, uint64_t number)
{
    int rc = put_name(reader, field);
    if (rc < 0)
        return rc;
    if (field->type == KI_PROTO_BOOL)
        return ki_proto_out_text(&reader->out, number != 0 ? KI_STR("true") : KI_STR("false"));
    return ki_proto_out_int(&reader->out,
                            field->type == KI_PROTO_INT32 ? (int32_t)(uint32_t)number : (int64_t)number);
}

/* The frequent fields, if they are kept whole: a text without escapes, a message, a number. Returns 1 if it
 * was one of them, 0 if put_field() must handle it, or an error. */
static inline int put_plain(ki_proto_reader *reader, const ki_proto_field *field, ki_proto_cursor *cursor)
{
    ki_wire_value value = KI_PROTO_NO_VALUE;
    const uint8_t *next = NULL;
    int rc = 0;
    if (is_holder(field) || ki_wire_type_of(cursor->tag) != ki_proto_wire_type(field))
        return 0;
    switch (field->type) {
    case KI_PROTO_STRING:
        next = ki_wire_bytes(cursor->at, cursor->end, &value);
        if (next == NULL || (value.len == 0 && (field->flags & KI_PROTO_OMIT_ZERO) != 0) ||
            !ki_proto_out_plain(&reader->out, (ki_str){ki_proto_names + field->name, field->name_len},
                                ki_proto_bytes(&value)))
            return 0;
        break;
    case KI_PROTO_MESSAGE:
        next = ki_wire_bytes(cursor->at, cursor->end, &value);
        if (next == NULL)
            return 0;
        rc = put_name(reader, field);
        if (rc == 0)
            rc = ki_proto_put_message(reader, ki_proto_message_of(field), &value, NULL);
        break;
    case KI_PROTO_BOOL:
    case KI_PROTO_INT32:
    case KI_PROTO_INT64:
        next = ki_wire_varint(cursor->at, cursor->end, &value.number);
        if (next == NULL || ((field->flags & KI_PROTO_OMIT_ZERO) != 0 && is_zero(field, &value)))
            return 0;
        rc = put_plain_number(reader, field, value.number);
        break;
    default:
        return 0;
    }
    cursor->at = next;
    return rc < 0 ? rc : 1;
}

/* The fields of a message that were held back. */
typedef struct held {
    const ki_wire_value *value;
    uint64_t mask;
    uint32_t starts[FIELDS_MAX]; /* of their tags, from the beginning of the message */
} held;

/* Writes the fields that precede a later one: those that were held back,
 * and absent ones that are in the JSON. */
static int put_due(ki_proto_reader *reader, const scope *s, const held *h, uint64_t due)
{
    int rc = 0;
    for (; rc == 0 && due != 0; due &= due - 1) {
        unsigned place = (unsigned)__builtin_ctzll(due);
        if ((h->mask & due & (0 - due)) == 0) {
            rc = put_absent(reader, s, place);
            continue;
        }
        const uint8_t *end = h->value->at + h->value->len;
        ki_proto_cursor cursor = {.at = h->value->at + h->starts[place], .end = end};
        cursor.at = ki_wire_varint(cursor.at, end, &cursor.tag);
        rc = s->view == NULL ? put_plain(reader, &ki_proto_fields[s->message->first + place], &cursor) : 0;
        rc = rc == 0 ? put_field(reader, s, place, &cursor) : rc < 0 ? rc : 0;
    }
    return rc;
}

/* Moves past a field that is held back, to the end of a list or map. Returns its end, or NULL. */
static inline const uint8_t *hold_back(ki_proto_reader *reader, const scope *s, const ki_proto_field *field,
                                       ki_proto_cursor cursor)
{
    do
        if (skip_field(reader, s, &cursor) < 0)
            return NULL;
    while (is_holder(field) && ki_proto_next_same(&cursor));
    return cursor.at;
}

/* A field that is unknown or not needed. Returns its end, or NULL. */
static const uint8_t *pass_field(ki_proto_reader *reader, const scope *s, unsigned place,
                                 const uint8_t *start, const uint8_t *end)
{
    ki_proto_cursor cursor = {.at = start, .end = end};
    cursor.at = ki_wire_varint(start, end, &cursor.tag);
    int rc = place == 0 ? pass_unknown(reader, s, &cursor) : skip_field(reader, s, &cursor);
    return rc < 0 ? NULL : cursor.at;
}

/* The innermost loop: most of the time is spent here. Its state is in local variables whose address nobody
 * has, and the usual cases make few calls. */
static int put_fields(ki_proto_reader *reader, const scope *s, const ki_wire_value *value)
{
    const ki_proto_message *message = s->message;
    const ki_proto_field *fields = &ki_proto_fields[message->first];
    const ki_proto_view *view = s->view;
    const uint8_t *at = value->at;
    const uint8_t *end = at + value->len;
    uint64_t last = 0; /* the bit of the last field that was written; fields have an order */
    uint64_t pending = message->required; /* what must be written before a later field */
    uint64_t held_back = 0;
    held h;
    h.value = value;
    while (at < end) {
        ki_proto_cursor cursor = {.end = end};
        int rc = 0;
        cursor.at = ki_wire_varint(at, end, &cursor.tag);
        if (cursor.at == NULL)
            return malformed_field(reader, message, 0);
        unsigned place = ki_proto_place(message, ki_wire_number_of(cursor.tag));
        if (place == 0 || (view != NULL && !view->rules[place - 1].is_needed)) {
            at = pass_field(reader, s, place, at, end);
            if (at == NULL)
                return KI_ERR_PROTOBUF;
            continue;
        }
        const ki_proto_field *field = &fields[--place];
        const uint64_t bit = UINT64_C(1) << place;
        if (last >= bit || (held_back & bit) != 0)
            return ki_proto_irregular(reader);
        if (is_omitted(field, cursor.tag, cursor.at, end)) {
            at = cursor.at + 1;
            continue;
        }
        if ((field->flags & KI_PROTO_HELD) != 0) {
            h.starts[place] = (uint32_t)(at - value->at);
            held_back |= bit;
            pending |= bit;
            at = hold_back(reader, s, field, cursor);
            if (at == NULL)
                return KI_ERR_PROTOBUF;
            continue;
        }
        const uint64_t due = pending & (bit - 1);
        last = bit;
        pending &= ~(bit | (bit - 1));
        h.mask = held_back;
        if (due != 0 && (rc = put_due(reader, s, &h, due)) < 0)
            return rc;
        rc = view == NULL ? put_plain(reader, field, &cursor) : 0;
        if (rc == 0)
            rc = put_field(reader, s, place, &cursor);
        if (rc < 0)
            return rc;
        at = cursor.at;
    }
    h.mask = held_back;
    return pending == 0 ? 0 : put_due(reader, s, &h, pending);
}

/* All members of an object, each with a comma before it. */
static int put_members(ki_proto_reader *reader, const scope *s, ki_wire_value value)
{
    char *copy = NULL;
    if (!reader->is_careful)
        return put_fields(reader, s, &value);
    int rc = ki_proto_normal(reader, s->message, &value, &copy);
    if (rc == 0)
        rc = put_fields(reader, s, &value);
    ki_free(copy);
    return rc;
}

int ki_proto_put_message(ki_proto_reader *reader, const ki_proto_message *message, const ki_wire_value *value,
                         ki_proto_rule *rule)
{
    scope s = {.message = message};
    if (message->form != KI_PROTO_FORM_FIELDS)
        return ki_proto_put_union(reader, message, value, rule);
    size_t start = ki_proto_out_place(&reader->out);
    int rc = view_of(reader, rule, message, &s.view);
    if (rc == 0)
        rc = ki_proto_enter(reader);
    if (rc == 0)
        rc = put_members(reader, &s, *value);
    if (rc < 0)
        return rc;
    ki_proto_leave(reader);
    return ki_proto_out_close(&reader->out, start, "{}");
}

/* ---- objects ------------------------------------------------------------------------------------------- */

/* A member that is not in the message: "kind" or "apiVersion". */
static int put_given(ki_proto_reader *reader, const scope *s, ki_str name, ki_str text)
{
    if (text.len == 0)
        return 0;
    size_t start = ki_proto_out_place(&reader->out);
    ki_proto_rule rule;
    if (s->view != NULL)
        rule = ki_proto_rule_of(ki_projection_member(reader->views.projection, s->view->node,
                                                     (ki_str){name.ptr + 1, name.len - 2}),
                                s->view->node);
    int rc = ki_proto_out_text(&reader->out, name);
    if (rc == 0)
        rc = ki_proto_out_string(&reader->out, text);
    return rc < 0 ? rc : ki_proto_settle(reader, s->view == NULL ? NULL : &rule, start, start + name.len);
}

static int put_object(ki_proto_reader *reader, const ki_proto_source *source)
{
    const ki_wire_value value = {.at = (const uint8_t *)source->bytes.ptr, .len = source->bytes.len};
    const ki_projection *projection = source->is_whole ? NULL : reader->views.projection;
    scope s = {.message = source->message};
    ki_proto_rule root = {.node = projection == NULL ? NULL : ki_projection_root(projection)};
    size_t start = ki_proto_out_place(&reader->out);
    int rc = view_of(reader, &root, s.message, &s.view);
    if (rc == 0)
        rc = ki_proto_enter(reader);
    if (rc == 0)
        rc = put_given(reader, &s, KI_STR(",\"kind\":"), source->kind);
    if (rc == 0)
        rc = put_given(reader, &s, KI_STR(",\"apiVersion\":"), source->api_version);
    if (rc == 0)
        rc = put_members(reader, &s, value);
    return rc < 0 ? rc : ki_proto_out_close(&reader->out, start, "{}");
}

static int try_read(ki_proto_reader *reader, const ki_proto_source *source)
{
    ki_json_sink *sink = &reader->sink;
    ki_json_sink_limit(sink, source->bytes_max);
    ki_json_sink_begin(sink, NULL);
    reader->raw.bytes_max = source->bytes_max;
    reader->depth = 0;
    reader->is_irregular = 0;
    ki_proto_out_begin(&reader->out, sink);
    int rc = ki_proto_out_reserve(&reader->out, 1);
    if (rc == 0)
        rc = put_object(reader, source);
    ki_proto_out_end(&reader->out);
    if (rc == KI_ERR_TOO_LARGE || sink->text.len > sink->bytes_max) {
        sink->overflowed = 1;
        rc = rc == KI_ERR_TOO_LARGE ? 0 : rc;
    }
    return rc;
}

int ki_proto_read(ki_proto_reader *reader, const ki_proto_source *source, ki_error *err)
{
    assert(source->message != NULL && source->message->form == KI_PROTO_FORM_FIELDS);
    ki_proto_unknown unknown = reader->unknown;
    reader->err = err;
    reader->is_careful = 0;
    int rc = try_read(reader, source);
    if (reader->is_irregular) {
        reader->unknown = unknown;
        reader->is_careful = 1;
        reader->work = source->bytes.len > (SIZE_MAX - WORK_BYTES) / WORK_FACTOR
                           ? SIZE_MAX
                           : source->bytes.len * WORK_FACTOR + WORK_BYTES;
        rc = try_read(reader, source);
    }
    return rc == KI_ERR_NO_MEMORY ? ki_fail_no_memory(err) : rc;
}
