/* SPDX-License-Identifier: Apache-2.0 */
/* messages_table - how protobuf numbers the fields of all built-in kinds, as data.
 *
 *   From:     messages.txt, by scripts/generate_messages.py
 *   To:       protobuf.h
 *   Locks:    none: constant
 *   Not here: what the fields mean (schema.h)
 */
#ifndef KI_APISERVER_MESSAGES_TABLE_H
#define KI_APISERVER_MESSAGES_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types without numbered fields of their own. Larger ones, less KI_AS_WIRE_COUNT, are places in ki_as_messages. In the
 * order of the script. */
enum ki_as_wire_type {
    KI_AS_WIRE_STRING,
    KI_AS_WIRE_BYTES, /* base64 in JSON */
    KI_AS_WIRE_INT,
    KI_AS_WIRE_BOOL,
    KI_AS_WIRE_DOUBLE,
    KI_AS_WIRE_TIME,
    KI_AS_WIRE_MICRO_TIME,
    KI_AS_WIRE_INT_OR_STRING,
    KI_AS_WIRE_QUANTITY,
    KI_AS_WIRE_JSON,    /* a message with text that is JSON */
    KI_AS_WIRE_STRINGS, /* a message with a list, which it stands for */
    KI_AS_WIRE_SCHEMA_OR_BOOL,
    KI_AS_WIRE_SCHEMA_OR_LIST,
    KI_AS_WIRE_SCHEMA_OR_STRINGS,
    KI_AS_WIRE_COUNT,
};

enum ki_as_wire_shape { KI_AS_WIRE_ONE, KI_AS_WIRE_LIST, KI_AS_WIRE_MAP, KI_AS_WIRE_INLINE };

struct ki_as_message_field {
    const char *name; /* in JSON; NULL: its own fields stand for it */
    uint16_t type;    /* of the element, if it is a list or map */
    uint8_t number;
    uint8_t shape;
    bool is_pointer; /* zero is a value, too */
};

struct ki_as_message {
    const char *api_version; /* of a kind; NULL: only a part of others */
    const char *kind;
    uint16_t first_field; /* in ki_as_message_fields, ordered by number */
    uint16_t field_count;
};

extern const struct ki_as_message_field ki_as_message_fields[];
extern const struct ki_as_message ki_as_messages[];
extern const size_t ki_as_message_count;
extern const uint16_t ki_as_message_schema; /* the type of a JSON schema */

#endif
