/* SPDX-License-Identifier: Apache-2.0 */
/* proto_encode - lists of pods in protobuf, as a Kubernetes API server writes them.
 *
 *   From:     bench_proto.c
 *   To:       documents.h (the same pods in JSON)
 *   Not here: the encoding, which is the API server's (apiserver/kind/proto_write.h). Its tables are not
 *             those of the decoder that is measured, so each checks the other.
 */
#ifndef BENCH_PROTO_ENCODE_H
#define BENCH_PROTO_ENCODE_H

#include "documents.h"

/* Ends the program if a document is not a list of pods, or if out of memory. */
void proto_encode_lists(struct documents *out, const struct documents *json);

#endif
