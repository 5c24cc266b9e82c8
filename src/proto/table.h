/* SPDX-License-Identifier: Apache-2.0 */
/* table - the messages of the built-in kinds: which fields they have, and how Go writes each field as JSON.
 *
 *   From:     proto/proto_list.c, proto/proto_watch.c, proto/proto_status.c and reflector/reflector_wire.c
 *             (ki_proto_find()); all of proto/ that reads messages
 *   To:       proto/messages_table.c, which scripts/tables writes from the Go types
 *   Locks:    none; constant data.
 *   Not here: values.
 */
#ifndef KI_PROTO_TABLE_H
#define KI_PROTO_TABLE_H

#include <kinformer/common.h>

/* The type of a value, of the elements of a list, or of the values of a map. */
enum {
    KI_PROTO_STRING,
    KI_PROTO_BOOL,
    KI_PROTO_INT32,
    KI_PROTO_INT64,
    KI_PROTO_DOUBLE,
    KI_PROTO_BYTES,
    KI_PROTO_MESSAGE,
    KI_PROTO_INLINE, /* a message whose members are written among those of the outer message */
    KI_PROTO_TIME,
    KI_PROTO_MICRO_TIME,
    KI_PROTO_QUANTITY,
    KI_PROTO_INT_OR_STRING,
    KI_PROTO_RAW /* JSON text */
};

/* Flags of a field. */
enum {
    KI_PROTO_ABSENT_NOTHING = 0, /* a field that is not in the message is not in the JSON */
    KI_PROTO_ABSENT_ZERO = 1,    /* it is the zero value: "", 0, false, or {} with its required fields */
    KI_PROTO_ABSENT_NULL = 2,
    KI_PROTO_ABSENT = 3,    /* the mask of these three */
    KI_PROTO_OMIT_ZERO = 4, /* a zero value is omitted although it is in the message */
    KI_PROTO_LIST = 8,
    KI_PROTO_MAP = 16,     /* names are strings */
    KI_PROTO_VARINT = 128, /* the two upper bits are the wire type of the values, xor 2: 0 is bytes */
    KI_PROTO_FIXED64 = 192
};

/* How a message is written as JSON. */
enum {
    KI_PROTO_FORM_FIELDS,            /* an object with its fields */
    KI_PROTO_FORM_ITEMS,             /* the list in field 1 */
    KI_PROTO_FORM_SCHEMA_OR_BOOL,    /* {1: bool, 2: schema} */
    KI_PROTO_FORM_SCHEMA_OR_ARRAY,   /* {1: schema, 2: schemas} */
    KI_PROTO_FORM_SCHEMA_OR_STRINGS, /* {1: schema, 2: strings} */
};

typedef struct ki_proto_field {
    uint16_t name;    /* the position of `,"name":` in ki_proto_names */
    uint16_t message; /* if the type is a message: its index in ki_proto_messages */
    uint8_t name_len;
    uint8_t number;
    uint8_t type;
    uint8_t flags;
} ki_proto_field;

typedef struct ki_proto_message {
    uint64_t required; /* bit i: field i is in the JSON even if it is absent */
    uint16_t name;     /* position in ki_proto_words */
    uint16_t first;    /* index in ki_proto_fields, which are in the order of the JSON */
    uint16_t numbers;  /* index in ki_proto_numbers */
    uint8_t name_len;
    uint8_t number_max;
    uint8_t count; /* at most 64 */
    uint8_t form;
} ki_proto_message;

typedef struct ki_proto_kind {
    uint16_t api_version; /* position in ki_proto_words, like `kind` */
    uint16_t kind;
    uint16_t message;
    uint8_t api_version_len;
    uint8_t kind_len;
} ki_proto_kind;

extern const ki_proto_field ki_proto_fields[];
extern const ki_proto_message ki_proto_messages[];
extern const ki_proto_kind ki_proto_kinds[]; /* sorted by apiVersion, then kind */
extern const uint8_t ki_proto_numbers[];
extern const char ki_proto_names[]; /* 32 bytes after the last can be read */
extern const char ki_proto_words[];
extern const size_t ki_proto_kind_count;

/* The message of a kind, such as "v1", "Pod"; NULL if it is not a built-in kind. */
const ki_proto_message *ki_proto_find(ki_str api_version, ki_str kind);

/* The message of a field whose type is a message. */
static inline const ki_proto_message *ki_proto_message_of(const ki_proto_field *field)
{
    return &ki_proto_messages[field->message];
}

static inline ki_str ki_proto_message_name(const ki_proto_message *message)
{
    return (ki_str){ki_proto_words + message->name, message->name_len};
}

/* 1 + the place of the field in the message; 0 if the message has no field with this number. */
static inline unsigned ki_proto_place(const ki_proto_message *message, uint32_t number)
{
    return number <= message->number_max ? ki_proto_numbers[message->numbers + number] : 0;
}

#endif
