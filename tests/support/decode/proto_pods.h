/* SPDX-License-Identifier: Apache-2.0 */
/* proto_pods - pods, lists of pods, events and errors in protobuf, made from parts.
 *
 *   From:     tests of the formats
 *   To:       support/decode/proto_records.h; the memory is from malloc
 */
#ifndef KI_TESTS_SUPPORT_DECODE_PROTO_PODS_H
#define KI_TESTS_SUPPORT_DECODE_PROTO_PODS_H

#include "support/decode/proto_records.h"

#define PROTOBUF "application/vnd.kubernetes.protobuf"

typedef struct proto_pod {
    const char *name; /* in the namespace "d" */
    const char *version;
    unsigned unknown; /* the number of a field of its spec that the tables do not have; 0: none */
    int ends_list;    /* of a bookmark: it has the annotation that ends the list */
} proto_pod;

proto_body proto_pods_list(const char *version, const char *token, const proto_pod *pods, size_t count);
proto_body proto_pods_event(const char *type, const proto_pod *pod);

/* A Status in its envelope. */
proto_body proto_pods_status(int code, const char *reason, const char *message);

#endif
