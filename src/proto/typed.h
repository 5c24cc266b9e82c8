/* SPDX-License-Identifier: Apache-2.0 */
/* typed - the envelope of a Kubernetes message: "k8s", a zero byte, {1: {1: apiVersion, 2: kind}, 2:
 * message}.
 *
 *   From:     proto/proto_list.c, proto/proto_watch.c, proto/item.c, proto/proto_status.c
 *   To:       proto/wire.h
 *   Locks:    none; pure functions.
 *   Not here: the message.
 */
#ifndef KI_PROTO_TYPED_H
#define KI_PROTO_TYPED_H

#include <kinformer/error.h>

#define KI_PROTO_MAGIC "k8s" /* with the zero byte after it */
enum { KI_PROTO_MAGIC_BYTES = 4 };

/* The numbers of fields: of the envelope, and of the message that contains the type. */
enum {
    KI_TYPED_TYPE = 1,
    KI_TYPED_RAW = 2,
    KI_TYPED_API_VERSION = 1,
    KI_TYPED_KIND = 2,
};

/* Kind, apiVersion and message; all are borrowed. */
typedef struct ki_proto_typed {
    ki_str api_version;
    ki_str kind;
    ki_str raw;
} ki_proto_typed;

/* Reads an envelope. If `is_cut`, `bytes` are only its beginning. Returns 0 or KI_ERR_PROTOBUF. */
KI_NODISCARD int ki_proto_typed_read(ki_str bytes, int is_cut, ki_proto_typed *out, ki_error *err);

/* Reads only the message that contains the type. Returns 0 or KI_ERR_PROTOBUF. */
KI_NODISCARD int ki_proto_typed_read_type(ki_str bytes, ki_proto_typed *out, ki_error *err);

/* Reads the fields 1 to `count`, which must be bytes; other fields are skipped. If a field occurs several
 * times, the last one counts. If `is_cut`, the message may end anywhere. Returns 0 or KI_ERR_PROTOBUF. */
KI_NODISCARD int ki_proto_typed_fields(ki_str bytes, int is_cut, ki_str *out_fields, unsigned count);

#endif
