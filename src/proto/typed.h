/* SPDX-License-Identifier: Apache-2.0 */
/* typed - the envelope of a Kubernetes message: "k8s", a zero byte, {1: {1: apiVersion, 2: kind}, 2:
 * message}.
 *
 *   From:     proto/proto_list.c, proto/proto_watch.c
 *   To:       proto/wire.h
 *   Locks:    none; pure functions.
 *   Not here: the message.
 */
#ifndef KI_PROTO_TYPED_H
#define KI_PROTO_TYPED_H

#include <kinformer/error.h>

#define KI_PROTO_MAGIC "k8s" /* with the zero byte behind it */
enum { KI_PROTO_MAGIC_BYTES = 4 };

/* Of the envelope, and of the message that names the type. */
enum {
    KI_TYPED_TYPE = 1,
    KI_TYPED_RAW = 2,
    KI_TYPED_API_VERSION = 1,
    KI_TYPED_KIND = 2,
};

/* All text is borrowed. */
typedef struct ki_proto_typed {
    ki_str api_version;
    ki_str kind;
    ki_str raw;
} ki_proto_typed;

/* If `is_cut`, only the beginning is there. Returns 0 or KI_ERR_PROTOBUF. */
KI_NODISCARD int ki_proto_typed_read(ki_str bytes, int is_cut, ki_proto_typed *out, ki_error *err);

/* Reads the message that names the type alone. */
KI_NODISCARD int ki_proto_typed_read_type(ki_str bytes, ki_proto_typed *out, ki_error *err);

/* Up to `count` fields, numbered from 1 on, that are bytes; others are skipped. Of each the last one counts.
 * If `is_cut`, the message may end anywhere. Returns 0 or KI_ERR_PROTOBUF. */
KI_NODISCARD int ki_proto_typed_fields(ki_str bytes, int is_cut, ki_str *out_fields, unsigned count);

#endif
