/* SPDX-License-Identifier: Apache-2.0 */
/* Maps: each entry is a message {1: name, 2: value}. Go writes the entries sorted by name, each name
 * once. */
#include <assert.h>
#include <stdlib.h>

#include "proto/leaf.h"
#include "proto/message_parts.h"
#include "proto/plain.h"

typedef struct entry {
    ki_str name;
    ki_wire_value value;
} entry;

/* If a name or a value occurs several times, the last one counts. A missing name or value is empty. */
static int read_entry(const ki_proto_field *field, const ki_wire_value *message, entry *out)
{
    const uint8_t *at = message->at;
    const uint8_t *end = at + message->len;
    *out = (entry){.name = {(const char *)at, 0}, .value = {.at = at}};
    while (at < end) {
        uint64_t tag = 0;
        ki_wire_value value = KI_PROTO_NO_VALUE;
        at = ki_wire_varint(at, end, &tag);
        if (at == NULL)
            return KI_ERR_PROTOBUF;
        uint32_t number = ki_wire_number_of(tag);
        if (number == 1 || number == 2) {
            unsigned wanted = number == 1 ? KI_WIRE_BYTES : ki_proto_wire_type(field);
            at = ki_wire_type_of(tag) == wanted ? ki_wire_value_read(at, end, wanted, &value) : NULL;
            if (number == 1)
                out->name = ki_proto_bytes(&value);
            else
                out->value = value;
        } else {
            at = ki_wire_skip(at, end, tag);
        }
        if (at == NULL)
            return KI_ERR_PROTOBUF;
    }
    return 0;
}

/* Reads an entry of short texts as Go writes it: both fields, and nothing else. Returns 0 for other
 * entries. */
static inline int read_usual_entry(const ki_proto_field *field, const ki_wire_value *message, entry *out)
{
    const uint8_t *at = message->at;
    size_t n = message->len;
    if (n < 4 || at[0] != (1 << 3 | KI_WIRE_BYTES) || at[1] >= 0x80 || n - 2 < (size_t)at[1] + 2 ||
        ki_proto_wire_type(field) != KI_WIRE_BYTES)
        return 0;
    const uint8_t *value = at + 2 + at[1];
    if (value[0] != (2 << 3 | KI_WIRE_BYTES) || value[1] >= 0x80 || value + 2 + value[1] != at + n)
        return 0;
    out->name = (ki_str){(const char *)at + 2, at[1]};
    out->value = (ki_wire_value){.at = value + 2, .len = value[1]};
    return 1;
}

static inline int next_entry(ki_proto_reader *reader, const ki_proto_field *field, ki_proto_cursor *cursor,
                             entry *out)
{
    ki_wire_value message = KI_PROTO_NO_VALUE;
    int is_bytes = ki_wire_type_of(cursor->tag) == KI_WIRE_BYTES;
    cursor->at = is_bytes ? ki_wire_bytes(cursor->at, cursor->end, &message) : NULL;
    if (cursor->at == NULL ||
        (!read_usual_entry(field, &message, out) && read_entry(field, &message, out) < 0))
        return ki_proto_malformed(reader, "a map");
    return 0;
}

/* Finds the rule of a member like json/sink.c. Returns 1 if the projection has the name and it has occurred
 * before; then the first member counts. Two names can be equal only after invalid UTF-8
 * was replaced in them. */
static int rule_of_name(ki_proto_reader *reader, const ki_projection_node *node, ki_str quoted, uint64_t *met,
                        ki_proto_rule *out)
{
    const ki_projection *projection = reader->views.projection;
    const ki_projection_node *member = ki_projection_member(projection, node, quoted);
    size_t i = member == NULL ? SIZE_MAX : ki_projection_child_number(projection, node, member);
    uint64_t bit = i < 64 ? UINT64_C(1) << i : 0;
    int is_repeated = (*met & bit) != 0;
    *met |= bit;
    *out = ki_proto_rule_of(member, node);
    return is_repeated;
}

/* Writes one entry. `node` has the rules of the map; NULL keeps all entries. */
static int put_entry(ki_proto_reader *reader, const ki_proto_field *field, const entry *e,
                     const ki_projection_node *node, uint64_t *met)
{
    ki_proto_out *out = &reader->out;
    ki_proto_rule rule;
    size_t start = ki_proto_out_place(out);
    int rc = ki_proto_out_byte(out, ',');
    if (rc == 0)
        rc = ki_proto_out_string(out, e->name);
    if (rc < 0)
        return rc;
    const ki_str quoted = {out->sink->text.data + start + 1, ki_proto_out_place(out) - start - 1};
    if (node != NULL && (rule_of_name(reader, node, quoted, met, &rule) || !rule.is_needed)) {
        ki_proto_out_rewind(out, start);
        return 0;
    }
    rc = ki_proto_out_byte(out, ':');
    size_t value_start = ki_proto_out_place(out);
    if (rc == 0)
        rc = ki_proto_put_value(reader, field, &e->value, node == NULL ? NULL : &rule);
    return rc < 0 ? rc : ki_proto_settle(reader, node == NULL ? NULL : &rule, start, value_start);
}

/* The first eight bytes of a name as a number; the order of these numbers is the order of the bytes. */
static inline uint64_t beginning(ki_str name)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++)
        word = word << 8 | (uint8_t)name.ptr[i];
    return word;
}

/* Compares the first eight bytes at once; most names differ in them. */
static inline int is_before(ki_str a, ki_str b)
{
    if (a.len >= 8 && b.len >= 8 && beginning(a) != beginning(b))
        return beginning(a) < beginning(b);
    return ki_str_compare(a, b) < 0;
}

/* Gets the text of a value that is a string or a usual quantity. Returns 0 for other values. */
static inline int usual_text(const ki_proto_field *field, const entry *e, ki_str *out_text)
{
    *out_text = ki_proto_bytes(&e->value);
    return field->type == KI_PROTO_STRING ||
           (field->type == KI_PROTO_QUANTITY && ki_proto_leaf_usual_quantity(*out_text, out_text));
}

/* Writes an entry of two texts without escapes, for a map that is kept whole. Returns 0 for other
 * entries. */
static inline int put_usual_entry(ki_proto_reader *reader, const ki_proto_field *field, const entry *e)
{
    enum { SPACE = 6 + 16 }; /* ,"":"" and the bytes that are copied beyond the end */
    ki_proto_out *out = &reader->out;
    char *to = out->at;
    ki_str text;
    if (!usual_text(field, e, &text) || (size_t)(out->end - to) < e->name.len + text.len + SPACE)
        return 0;
    *to++ = ',';
    *to++ = '"';
    if (!ki_proto_copy_plain(to, (const uint8_t *)e->name.ptr, e->name.len, reader->readable_end))
        return 0;
    to += e->name.len;
    *to++ = '"';
    *to++ = ':';
    *to++ = '"';
    if (!ki_proto_copy_plain(to, (const uint8_t *)text.ptr, text.len, reader->readable_end))
        return 0;
    to[text.len] = '"';
    out->at = to + text.len + 1;
    return 1;
}

static int put_sorted(ki_proto_reader *reader, const ki_proto_field *field, ki_proto_cursor *cursor,
                      const ki_projection_node *node)
{
    ki_proto_cursor next = *cursor;
    ki_str before = {NULL, 0};
    uint64_t met = 0;
    int rc = 0;
    do {
        entry now;
        rc = next_entry(reader, field, &next, &now);
        if (rc == 0 && before.ptr != NULL && !is_before(before, now.name))
            rc = ki_proto_irregular(reader);
        if (rc == 0 && (node != NULL || !put_usual_entry(reader, field, &now)))
            rc = put_entry(reader, field, &now, node, &met);
        if (rc == 0)
            before = now.name;
    } while (rc == 0 && ki_proto_next_same(&next));
    *cursor = next;
    return rc;
}

/* ---- maps that are not sorted -------------------------------------------------------------------------- */

typedef struct numbered {
    entry entry;
    size_t number;
} numbered;

static int compare_numbered(const void *a, const void *b)
{
    const numbered *left = a;
    const numbered *right = b;
    int order = ki_str_compare(left->entry.name, right->entry.name);
    return order != 0 ? order : (left->number > right->number) - (left->number < right->number);
}

static int collect(ki_proto_reader *reader, const ki_proto_field *field, ki_proto_cursor *cursor,
                   ki_buf *entries)
{
    int rc = 0;
    do {
        numbered next = {.number = entries->len / sizeof(next)};
        rc = next_entry(reader, field, cursor, &next.entry);
        if (rc == 0)
            rc = ki_buf_append(entries, &next, sizeof(next));
    } while (rc == 0 && ki_proto_next_same(cursor));
    return rc == KI_ERR_TOO_LARGE ? ki_proto_malformed(reader, "a large map that is not sorted") : rc;
}

static int put_unsorted(ki_proto_reader *reader, const ki_proto_field *field, ki_proto_cursor *cursor,
                        const ki_projection_node *node)
{
    ki_buf entries;
    uint64_t met = 0;
    ki_buf_init(&entries, reader->work);
    int rc = collect(reader, field, cursor, &entries);
    size_t count = entries.len / sizeof(numbered);
    numbered *list = (numbered *)(void *)entries.data;
    if (rc == 0)
        qsort(list, count, sizeof(*list), compare_numbered);
    assert(entries.len <= reader->work && entries.len % sizeof(numbered) == 0);
    reader->work -= rc == 0 ? entries.len : 0;
    for (size_t i = 0; rc == 0 && i < count; i++)
        if (i + 1 == count || !ki_str_equal(list[i].entry.name, list[i + 1].entry.name))
            rc = put_entry(reader, field, &list[i].entry, node, &met);
    ki_buf_fini(&entries);
    return rc;
}

int ki_proto_put_map(ki_proto_reader *reader, const ki_proto_field *field, ki_proto_cursor *cursor,
                     const ki_proto_rule *rule)
{
    assert((field->flags & KI_PROTO_MAP) != 0);
    const ki_projection_node *node = rule == NULL ? NULL : rule->node;
    size_t start = ki_proto_out_place(&reader->out);
    int rc = ki_proto_enter(reader);
    if (rc == 0)
        rc = reader->is_careful ? put_unsorted(reader, field, cursor, node)
                                : put_sorted(reader, field, cursor, node);
    if (rc < 0)
        return rc;
    ki_proto_leave(reader);
    return ki_proto_out_close(&reader->out, start, "{}");
}
