/* SPDX-License-Identifier: Apache-2.0 */
/* inflate - a gzip body, opened in steps of a fixed size, so that a small answer cannot become a large one at
 * once.
 *
 *   From:     http/transfer.c   (compressed pieces)
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

/* The most compressed bytes that may wait: what libcurl hands over at a time, and what a pause leaves. */
#define KI_INFLATE_WAITING_BYTES_MAX ((size_t)1024 * 1024)

typedef struct ki_inflate ki_inflate;

/* Takes a step; returns 0; 1: the rest when it is asked for; negative: nothing more. */
typedef int (*ki_inflate_cb)(const char *bytes, size_t n, void *user);

/* Returns NULL without memory. */
KI_NODISCARD ki_inflate *ki_inflate_new(ki_inflate_cb take, void *user);
void ki_inflate_free(ki_inflate *inflater);

/* More compressed bytes, all of which are taken. Returns what `take` said last (0, 1 or negative): after 1
 * the rest waits for ki_inflate_go_on(); KI_ERR_INVALID: this is not gzip;
 * KI_ERR_TOO_LARGE; KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_inflate_feed(ki_inflate *inflater, const char *bytes, size_t n);

/* As ki_inflate_feed(), of what waits. */
KI_NODISCARD int ki_inflate_go_on(ki_inflate *inflater);

/* Whether all that was fed is out, up to the end that gzip marks; else it was cut. */
int ki_inflate_is_complete(const ki_inflate *inflater);

#endif
