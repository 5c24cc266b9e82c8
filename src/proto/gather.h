/* SPDX-License-Identifier: Apache-2.0 */
/* gather - collects a known number of bytes that arrive in any split.
 *
 *   From:     proto/proto_list.c, proto/proto_watch.c
 *   Locks:    none; one owner.
 *   Not here: what the bytes mean.
 *
 * Bytes that arrive in one piece are not copied. The buffer grows with the bytes that have arrived, not
 * with the number that was announced. If that number is larger than the limit, only the beginning is kept.
 */
#ifndef KI_PROTO_GATHER_H
#define KI_PROTO_GATHER_H

#include <kinformer/error.h>

#include "util/buf.h"

typedef struct ki_proto_gather {
    ki_buf buf;
    uint64_t left; /* the number of bytes to come */
    int is_cut;    /* more bytes than the limit; only the beginning is kept */
    int is_begun;  /* bytes have arrived */
} ki_proto_gather;

void ki_proto_gather_init(ki_proto_gather *gather);
void ki_proto_gather_fini(ki_proto_gather *gather);

/* Prepares for `wanted` bytes, of which at most `bytes_max` are kept. */
void ki_proto_gather_begin(ki_proto_gather *gather, uint64_t wanted, size_t bytes_max);

/* Takes up to `n` bytes. Returns 1 with all bytes, which are valid until the next call, but not longer than
 * `bytes`; 0 if more bytes are needed; or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_proto_gather_feed(ki_proto_gather *gather, ki_str bytes, size_t *out_used,
                                      ki_str *out_bytes);

#endif
