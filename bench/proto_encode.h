/* SPDX-License-Identifier: Apache-2.0 */
/* proto_encode - lists of pods in protobuf, as a Kubernetes API server writes them.
 *
 *   From:     bench/documents.c   (the same pods in JSON)
 *   To:       bench_proto.c
 *   Not here: kinds whose fields pods do not have.
 *
 * Like Go, it writes fields by their number, and scalars and messages that are not pointers even if they are
 * zero.
 */
#ifndef BENCH_PROTO_ENCODE_H
#define BENCH_PROTO_ENCODE_H

#include "documents.h"

/* Ends the program when a document is not a list of pods, or when memory is out. */
void proto_encode_lists(struct documents *out, const struct documents *json);

#endif
