/* SPDX-License-Identifier: Apache-2.0 */
/* message_parts - what the files that read messages share.
 *
 *   From:     proto/item.c, proto/message.c, proto/message_write.c, proto/members.c, proto/value.c,
 *             proto/list.c, proto/map.c, proto/union.c, proto/raw.c, proto/fast_path.c, proto/order.c,
 *             proto/reorder.c
 *   To:       proto/value.c, proto/members.c (also ki_proto_view_of()), proto/list.c, proto/map.c,
 *             proto/union.c, proto/raw.c, proto/message.c (ki_proto_settle_by())
 *   Locks:    none; one owner.
 *   Not here: all members of an object (proto/message_write.h).
 */
#ifndef KI_PROTO_MESSAGE_PARTS_H
#define KI_PROTO_MESSAGE_PARTS_H

#include <assert.h>

#include "proto/message.h"
#include "proto/wire.h"

#define KI_RARELY(condition) __builtin_expect((condition), 0)

/* A message that is being read: its table, and the rules for its fields, if the projection has any. */
typedef struct ki_proto_scope {
    const ki_proto_message *message;
    ki_proto_view *view;
} ki_proto_scope;

/* A position in a message: `at` is after the tag of a field. */
typedef struct ki_proto_cursor {
    const uint8_t *at;
    const uint8_t *end;
    uint64_t tag;
} ki_proto_cursor;

static inline ki_str ki_proto_bytes(const ki_wire_value *value)
{
    return (ki_str){(const char *)value->at, value->len};
}

/* The value of an absent field. */
#define KI_PROTO_NO_VALUE ((ki_wire_value){.at = (const uint8_t *)""})

/* ---- value.c ------------------------------------------------------------------------------------------- */

/* Writes one value of a member, an element, or an entry of a map. `rule` has the projection for its
 * content; NULL keeps everything. */
KI_NODISCARD int ki_proto_put_value(ki_proto_reader *reader, const ki_proto_field *field,
                                    const ki_wire_value *value, ki_proto_rule *rule);

/* ---- members.c ----------------------------------------------------------------------------------------- */

/* Writes one message; `rule` as for ki_proto_put_value(). */
KI_NODISCARD int ki_proto_put_message(ki_proto_reader *reader, const ki_proto_message *message,
                                      const ki_wire_value *value, ki_proto_rule *rule);

/* Writes one member. Its value is at the cursor, which moves past it; `place` is the place of its field in
 * the table. */
KI_NODISCARD int ki_proto_put_field(ki_proto_reader *reader, const ki_proto_scope *scope, unsigned place,
                                    ki_proto_cursor *cursor);

/* Writes a member that is in the JSON although its field is absent. */
KI_NODISCARD int ki_proto_put_absent(ki_proto_reader *reader, const ki_proto_scope *scope, unsigned place);

/* Finds the view of a message at the rule's node; NULL if the rule has none. Returns 0 or
 * KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_proto_view_of(ki_proto_reader *reader, ki_proto_rule *rule,
                                  const ki_proto_message *message, ki_proto_view **out_view);

/* ---- list.c, map.c ------------------------------------------------------------------------------------- */

/* Write a list or a map: the field at the cursor, and all adjacent fields with the same number. */
KI_NODISCARD int ki_proto_put_list(ki_proto_reader *reader, const ki_proto_field *field,
                                   ki_proto_cursor *cursor, const ki_proto_rule *rule);
KI_NODISCARD int ki_proto_put_map(ki_proto_reader *reader, const ki_proto_field *field,
                                  ki_proto_cursor *cursor, const ki_proto_rule *rule);

/* ---- union.c ------------------------------------------------------------------------------------------- */

/* Writes a message whose JSON is the value of one of its fields. */
KI_NODISCARD int ki_proto_put_union(ki_proto_reader *reader, const ki_proto_message *message,
                                    const ki_wire_value *value, ki_proto_rule *rule);

/* ---- raw.c --------------------------------------------------------------------------------------------- */

/* Writes JSON text. CBOR is written as null and counts as an unknown field. */
KI_NODISCARD int ki_proto_put_raw(ki_proto_reader *reader, const ki_wire_value *value,
                                  const ki_proto_rule *rule);

/* ---- message.c: what is kept --------------------------------------------------------------------------- */

/* Keeps the member or element that was written from `start` on, or removes it, as the rule says. Its value
 * begins at `value_start`. */
KI_NODISCARD int ki_proto_settle_by(ki_proto_reader *reader, const ki_proto_rule *rule, size_t start,
                                    size_t value_start);

static inline int ki_proto_settle(ki_proto_reader *reader, const ki_proto_rule *rule, size_t start,
                                  size_t value_start)
{
    return rule == NULL ? 0 : ki_proto_settle_by(reader, rule, start, value_start);
}

/* ---- tags and wire types ------------------------------------------------------------------------------- */

/* If the next field has the same number, moves past its tag and returns 1. */
static inline int ki_proto_next_same(ki_proto_cursor *cursor)
{
    uint64_t tag = 0;
    if (cursor->tag < 0x80 && cursor->at < cursor->end && *cursor->at == cursor->tag) {
        cursor->at++;
        return 1;
    }
    const uint8_t *at = cursor->at < cursor->end ? ki_wire_varint(cursor->at, cursor->end, &tag) : NULL;
    if (at == NULL || ki_wire_number_of(tag) != ki_wire_number_of(cursor->tag))
        return 0;
    cursor->at = at;
    cursor->tag = tag;
    return 1;
}

/* The wire type of a value. */
static inline unsigned ki_proto_wire_type_of(unsigned flags)
{
    return flags >> 6 ^ KI_WIRE_BYTES;
}

static inline unsigned ki_proto_wire_type(const ki_proto_field *field)
{
    return ki_proto_wire_type_of(field->flags);
}

/* Whether it is a list or a map. */
static inline int ki_proto_is_holder(const ki_proto_field *field)
{
    return (field->flags & (KI_PROTO_LIST | KI_PROTO_MAP)) != 0;
}

/* ---- message.c: limits and errors ---------------------------------------------------------------------- */

int ki_proto_too_deep(ki_proto_reader *reader);

/* Call this at the beginning of a container, and ki_proto_leave() at its end. */
KI_NODISCARD static inline int ki_proto_enter(ki_proto_reader *reader)
{
    assert(reader->depth <= reader->depth_max);
    if (reader->depth == reader->depth_max)
        return ki_proto_too_deep(reader);
    reader->depth++;
    return 0;
}

static inline void ki_proto_leave(ki_proto_reader *reader)
{
    assert(reader->depth > 0);
    reader->depth--;
}

void ki_proto_note_malformed(ki_proto_reader *reader, const char *what);

/* Sets the error; an expression whose value is the code. It is a macro so that analysers see the code. */
#define ki_proto_malformed(reader, what) (ki_proto_note_malformed((reader), (what)), KI_ERR_PROTOBUF)

/* Reports that the field with this tag is malformed. Returns the code. */
int ki_proto_malformed_field(ki_proto_reader *reader, const ki_proto_message *message, uint64_t tag);

/* Reports that more would have to be copied or moved than is allowed. Returns the code. */
int ki_proto_too_much_work(ki_proto_reader *reader);

/* Call this if the message must be read carefully. Returns an error, which stops the first reading. */
int ki_proto_irregular(const ki_proto_reader *reader);

/* ---- for proto/message_write.c and proto/fast_path.h ------------------------------------------------- */

/* Ends writing with an error; `to` is the end of what was written. Returns NULL. */
static inline char *ki_proto_stop(ki_proto_reader *reader, char *to, int rc)
{
    reader->out.at = to;
    reader->rc = rc;
    return NULL;
}

/* Ends a container that began at `start`, like ki_proto_out_close(). Returns the end of the text, or NULL
 * after an error. */
static inline char *ki_proto_end_container(ki_proto_reader *reader, size_t start, char *to,
                                           const char brackets[2])
{
    if (KI_RARELY(reader->out.end - to < 2)) {
        reader->out.at = to;
        int rc = ki_proto_out_reserve(&reader->out, 2);
        if (rc < 0)
            return ki_proto_stop(reader, to, rc);
        to = reader->out.at;
    }
    char *first = reader->out.text + start;
    to += to == first;
    *first = brackets[0];
    *to = brackets[1];
    return to + 1;
}

#endif
