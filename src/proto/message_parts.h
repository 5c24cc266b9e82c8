/* SPDX-License-Identifier: Apache-2.0 */
/* message_parts - what the files that read messages share.
 *
 *   From:     proto/message.c, proto/pass.c, proto/members.c, proto/value.c, proto/list.c, proto/map.c,
 *             proto/union.c, proto/raw.c
 */
#ifndef KI_PROTO_MESSAGE_PARTS_H
#define KI_PROTO_MESSAGE_PARTS_H

#include "proto/message.h"
#include "proto/wire.h"

#define KI_RARELY(condition) __builtin_expect((condition), 0)

/* A message that is being read: its table, and the rules for its fields if the projection has some. */
typedef struct ki_proto_scope {
    const ki_proto_message *message;
    ki_proto_view *view;
} ki_proto_scope;

/* Reads on in a message: `at` is behind the tag of a field. */
typedef struct ki_proto_cursor {
    const uint8_t *at;
    const uint8_t *end;
    uint64_t tag;
} ki_proto_cursor;

static inline ki_str ki_proto_bytes(const ki_wire_value *value)
{
    return (ki_str){(const char *)value->at, value->len};
}

/* What an absent field has. */
#define KI_PROTO_NO_VALUE ((ki_wire_value){.at = (const uint8_t *)""})

/* One value: of a member, an element, or a map. `rule` has the projection for its content; NULL keeps it. */
KI_NODISCARD int ki_proto_put_value(ki_proto_reader *reader, const ki_proto_field *field,
                                    const ki_wire_value *value, ki_proto_rule *rule);
KI_NODISCARD int ki_proto_put_message(ki_proto_reader *reader, const ki_proto_message *message,
                                      const ki_wire_value *value, ki_proto_rule *rule);

/* All members of an object, each with a comma before it. */
KI_NODISCARD int ki_proto_put_members(ki_proto_reader *reader, const ki_proto_scope *scope,
                                      ki_wire_value value);

/* One member whose value is at the cursor, which moves behind it; `place` is that of its field. */
KI_NODISCARD int ki_proto_put_field(ki_proto_reader *reader, const ki_proto_scope *scope, unsigned place,
                                    ki_proto_cursor *cursor);

/* A member that is in the JSON although its field is absent. */
KI_NODISCARD int ki_proto_put_absent(ki_proto_reader *reader, const ki_proto_scope *scope, unsigned place);

/* The view of a message for the content of a rule. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_proto_view_of(ki_proto_reader *reader, ki_proto_rule *rule,
                                  const ki_proto_message *message, ki_proto_view **out_view);

/* All adjacent occurrences of a list or map, from the one at the cursor on. */
KI_NODISCARD int ki_proto_put_list(ki_proto_reader *reader, const ki_proto_field *field,
                                   ki_proto_cursor *cursor, const ki_proto_rule *rule);
KI_NODISCARD int ki_proto_put_map(ki_proto_reader *reader, const ki_proto_field *field,
                                  ki_proto_cursor *cursor, const ki_proto_rule *rule);

/* A message whose JSON is one of its fields. */
KI_NODISCARD int ki_proto_put_union(ki_proto_reader *reader, const ki_proto_message *message,
                                    const ki_wire_value *value, ki_proto_rule *rule);

/* JSON text. */
KI_NODISCARD int ki_proto_put_raw(ki_proto_reader *reader, const ki_wire_value *value,
                                  const ki_proto_rule *rule);

/* Keeps what was written from `start` on, or removes it, as the rule says;
 * the value begins at `value_start`. */
KI_NODISCARD int ki_proto_settle_by(ki_proto_reader *reader, const ki_proto_rule *rule, size_t start,
                                    size_t value_start);

static inline int ki_proto_settle(ki_proto_reader *reader, const ki_proto_rule *rule, size_t start,
                                  size_t value_start)
{
    return rule == NULL ? 0 : ki_proto_settle_by(reader, rule, start, value_start);
}

/* Moves past the tag of the next field if it is of the same one. */
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

static inline int ki_proto_is_holder(const ki_proto_field *field)
{
    return (field->flags & (KI_PROTO_LIST | KI_PROTO_MAP)) != 0;
}

int ki_proto_too_deep(ki_proto_reader *reader);

/* A container begins; call ki_proto_leave() at its end. */
KI_NODISCARD static inline int ki_proto_enter(ki_proto_reader *reader)
{
    if (reader->depth == reader->depth_max)
        return ki_proto_too_deep(reader);
    reader->depth++;
    return 0;
}

static inline void ki_proto_leave(ki_proto_reader *reader)
{
    reader->depth--;
}

void ki_proto_note_malformed(ki_proto_reader *reader, const char *what);

/* An expression whose value is the code; a macro, so that analysers see the code. */
#define ki_proto_malformed(reader, what) (ki_proto_note_malformed((reader), (what)), KI_ERR_PROTOBUF)

/* The field with this tag is malformed. */
int ki_proto_malformed_field(ki_proto_reader *reader, const ki_proto_message *message, uint64_t tag);

/* What is out of order is more than may be copied. */
int ki_proto_too_much_work(ki_proto_reader *reader);

/* The message must be read carefully. Returns an error, which stops the first reading. */
int ki_proto_irregular(const ki_proto_reader *reader);

/* Ends a pass with an error; `to` is the end of what was written. */
static inline char *ki_proto_stop(ki_proto_reader *reader, char *to, int rc)
{
    reader->out.at = to;
    reader->rc = rc;
    return NULL;
}

/* Ends a container that began at `start`, as ki_proto_out_close() does. Returns its end, or NULL. */
static inline char *ki_proto_end_container(ki_proto_reader *reader, size_t start, char *to,
                                           const char brackets[2])
{
    reader->out.at = to;
    int rc = ki_proto_out_close(&reader->out, start, brackets);
    return KI_RARELY(rc < 0) ? ki_proto_stop(reader, to, rc) : reader->out.at;
}

#endif
