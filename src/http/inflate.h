/* SPDX-License-Identifier: Apache-2.0 */
/* inflate - decompresses a gzip body in steps of a fixed size, so that a small response cannot expand at
 * once.
 *
 *   From:     http/transfer_receive.c   (compressed pieces), http/transfer.c   (their end)
 *   To:       the transfer's on_body
 *   Locks:    none; one owner.
 *   Not here: deciding whether a body is compressed.
 */
#ifndef KI_HTTP_INFLATE_H
#define KI_HTTP_INFLATE_H

#include <kinformer/common.h>
#include <kinformer/error.h>

#include "util/buf.h"

#define KI_INFLATE_STEP_BYTES ((size_t)32 * 1024)

/* The maximum of waiting compressed bytes: one piece from libcurl, and the rest after a pause. */
#define KI_INFLATE_WAITING_BYTES_MAX ((size_t)1024 * 1024)

typedef struct ki_inflate ki_inflate;

/* Takes the output of a step. Returns 0; 1 to pause until ki_inflate_go_on(); negative to stop. */
typedef int (*ki_inflate_cb)(const char *bytes, size_t n, void *user);

/* NULL when out of memory. */
KI_NODISCARD ki_inflate *ki_inflate_new(ki_inflate_cb take, void *user);
void ki_inflate_free(ki_inflate *inflater);

/* Feeds more compressed bytes, all of which are consumed. Returns the last result of `take` (0, 1 or
 * negative): after 1 the rest waits for ki_inflate_go_on(); KI_ERR_INVALID if this is not gzip;
 * KI_ERR_TOO_LARGE; KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_inflate_feed(ki_inflate *inflater, const char *bytes, size_t n);

/* Like ki_inflate_feed(), for waiting bytes. */
KI_NODISCARD int ki_inflate_go_on(ki_inflate *inflater);

/* Whether all input was decompressed, up to gzip's end marker; otherwise the body was truncated. */
int ki_inflate_is_complete(const ki_inflate *inflater);

#endif
