/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/reorder.h"

#include <assert.h>

#include "util/alloc.h"

enum { FIELDS_MAX = 64, HEAD_BYTES_MAX = 2 * KI_WIRE_VARINT_BYTES_MAX };

/* What is kept if a field occurs several times: the last occurrence, their joined content, or all of
 * them. */
enum { LAST, JOINED, ALL };

/* The occurrences of one field of the message, or (at index FIELDS_MAX) of all unknown fields. */
typedef struct group {
    size_t count;
    size_t bytes; /* the size of the occurrences that are kept, or of their content if they are joined */
    const uint8_t *last; /* the last occurrence */
    char *to;            /* where the next occurrence is copied to */
} group;

typedef struct plan {
    const ki_proto_message *message;
    group groups[FIELDS_MAX + 1];
    unsigned before; /* the group of the previous field */
    unsigned last;   /* the number of the last known field */
    int is_regular;
} plan;

/* One occurrence of a field: from its tag to its end, and its content if it has a length. */
typedef struct occurrence {
    uint64_t tag; /* 0 if the tag is malformed */
    const uint8_t *start;
    const uint8_t *end;
    ki_wire_value content;
    unsigned group;
} occurrence;

static int way_of(const plan *p, unsigned group_number)
{
    if (group_number == FIELDS_MAX)
        return ALL;
    const ki_proto_field *field = &ki_proto_fields[p->message->first + group_number];
    if ((field->flags & (KI_PROTO_LIST | KI_PROTO_MAP)) != 0)
        return ALL;
    switch (field->type) {
    case KI_PROTO_MESSAGE:
    case KI_PROTO_INLINE:
    case KI_PROTO_RAW:
    case KI_PROTO_QUANTITY:
    case KI_PROTO_INT_OR_STRING:
        return JOINED;
    default:
        return LAST;
    }
}

static const uint8_t *read_occurrence(const plan *p, const uint8_t *at, const uint8_t *end, occurrence *out)
{
    uint64_t tag = 0;
    out->start = at;
    at = ki_wire_varint(at, end, &tag);
    out->tag = tag;
    if (at == NULL)
        return NULL;
    unsigned place = ki_proto_place(p->message, ki_wire_number_of(tag));
    out->group = place == 0 ? FIELDS_MAX : place - 1;
    out->content = KI_PROTO_NO_VALUE;
    if (way_of(p, out->group) != ALL &&
        ki_wire_type_of(tag) != ki_proto_wire_type(&ki_proto_fields[p->message->first + out->group]))
        return NULL;
    out->end = ki_wire_type_of(tag) == KI_WIRE_BYTES ? ki_wire_bytes(at, end, &out->content)
                                                     : ki_wire_skip(at, end, tag);
    return out->end;
}

static void count_occurrence(plan *p, const occurrence *o)
{
    group *g = &p->groups[o->group];
    size_t whole = (size_t)(o->end - o->start);
    int way = way_of(p, o->group);
    if (o->group != FIELDS_MAX) {
        unsigned number = ki_proto_fields[p->message->first + o->group].number;
        if (number < p->last || (g->count > 0 && (way != ALL || p->before != o->group)))
            p->is_regular = 0;
        p->last = number;
    }
    p->before = o->group;
    g->count++;
    g->last = o->start;
    g->bytes = way == LAST ? whole : g->bytes + (way == JOINED ? o->content.len : whole);
}

static int count_all(ki_proto_reader *reader, plan *p, const ki_wire_value *value)
{
    const uint8_t *end = value->at + value->len;
    occurrence o;
    for (const uint8_t *at = value->at; at < end; at = o.end) {
        if (read_occurrence(p, at, end, &o) == NULL)
            return ki_proto_malformed_field(reader, p->message, o.tag);
        count_occurrence(p, &o);
    }
    return 0;
}

static char *put_varint(char *to, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *to++ = (char)(number | 0x80);
    *to++ = (char)number;
    return to;
}

/* Reserves space for each group, and writes the tag and length of joined groups. Returns the end of the
 * message. */
static char *lay_out(plan *p, char *to)
{
    for (unsigned i = 0; i <= FIELDS_MAX; i++) {
        group *g = &p->groups[i];
        if (g->count == 0)
            continue;
        if (way_of(p, i) == JOINED) {
            to = put_varint(to, (uint64_t)ki_proto_fields[p->message->first + i].number << 3 | KI_WIRE_BYTES);
            to = put_varint(to, g->bytes);
        }
        g->to = to;
        to += g->bytes;
    }
    return to;
}

static void copy_all(plan *p, const ki_wire_value *value)
{
    const uint8_t *end = value->at + value->len;
    occurrence o;
    for (const uint8_t *at = value->at; at < end; at = o.end) {
        const uint8_t *read = read_occurrence(p, at, end, &o);
        assert(read != NULL);
        (void)read;
        group *g = &p->groups[o.group];
        int way = way_of(p, o.group);
        if (way == LAST && o.start != g->last)
            continue;
        const uint8_t *from = way == JOINED ? o.content.at : o.start;
        size_t n = way == JOINED ? o.content.len : (size_t)(o.end - o.start);
        memcpy(g->to, from, n);
        g->to += n;
    }
}

int ki_proto_reorder(ki_proto_reader *reader, const ki_proto_message *message, ki_wire_value *value,
                     char **out_copy)
{
    plan p = {.message = message, .before = FIELDS_MAX, .is_regular = 1};
    int rc = count_all(reader, &p, value);
    if (rc < 0)
        return rc;
    if (p.is_regular)
        return 0;
    if (reader->work < value->len)
        return ki_proto_too_much_work(reader);
    reader->work -= value->len;
    char *copy = ki_malloc(value->len + (size_t)message->count * HEAD_BYTES_MAX);
    if (copy == NULL)
        return KI_ERR_NO_MEMORY;
    const char *end = lay_out(&p, copy);
    copy_all(&p, value);
    *value = (ki_wire_value){.at = (const uint8_t *)copy, .len = (size_t)(end - copy)};
    *out_copy = copy;
    return 0;
}
