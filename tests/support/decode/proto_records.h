/* SPDX-License-Identifier: Apache-2.0 */
/* proto_records - messages with the JSON that Go makes from them, recorded by scripts/tables.
 *
 *   From:     tests of src/proto
 *   To:       files in tests/fixtures/proto, or elsewhere, compressed or not
 */
#ifndef KI_TESTS_SUPPORT_DECODE_PROTO_RECORDS_H
#define KI_TESTS_SUPPORT_DECODE_PROTO_RECORDS_H

#include <kinformer/common.h>

typedef struct proto_record {
    ki_str api_version;
    ki_str kind;
    ki_str message; /* in its envelope */
    ki_str json;
} proto_record;

typedef struct proto_records {
    proto_record *list;
    size_t count;
    char *data; /* owns all texts */
} proto_records;

/* Ends the program if the file cannot be read. `name` is relative to tests/fixtures/proto,
 * unless it begins with /. */
proto_records proto_records_load(const char *name);
void proto_records_free(proto_records *records);

/* A body made of one message; its memory is from malloc. */
typedef struct proto_body {
    char *data;
    size_t len;
    size_t cap;
} proto_body;

/* A watch with one event. */
proto_body proto_body_event(const char *type, ki_str message);
void proto_body_free(proto_body *body);

/* Build a body from parts: append raw bytes, a field with content, or a field with a number. */
void proto_body_put(proto_body *body, const void *bytes, size_t n);
void proto_body_field(proto_body *body, unsigned number, ki_str content);
void proto_body_number(proto_body *body, unsigned number, uint64_t value);

/* "k8s" and {1: {1: apiVersion, 2: kind}, 2: raw}. */
proto_body proto_body_typed(const char *api_version, const char *kind, ki_str raw);

static inline ki_str proto_body_str(const proto_body *body)
{
    return (ki_str){body->data, body->len};
}

#endif
