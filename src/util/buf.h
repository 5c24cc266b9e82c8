/* SPDX-License-Identifier: Apache-2.0 */
/* buf - a growable run of bytes with a mandatory maximum.
 *
 *   From:     whoever collects bytes whose number the other side decides
 *   Locks:    none; one owner.
 *   Not here: formatting beyond the plainest; text handling.
 */
#ifndef KI_UTIL_BUF_H
#define KI_UTIL_BUF_H

#include <kinformer/common.h>

/* Read the fields freely; change them through the functions. len <= cap, and len <= max. */
typedef struct ki_buf {
    char *data;
    size_t len;
    size_t cap;
    size_t max;
} ki_buf;

/* `bytes_max` > 0 is the most that the buffer will ever hold. Allocates nothing. */
void ki_buf_init(ki_buf *buf, size_t bytes_max);

/* Frees the memory and leaves an empty buffer with the same maximum. Takes a zeroed struct as well. */
void ki_buf_fini(ki_buf *buf);

/* Makes room for `extra` bytes behind len, which the caller then writes and counts with len. Returns 0,
 * KI_ERR_TOO_LARGE when that would pass the maximum, or KI_ERR_NO_MEMORY; the buffer is unchanged on
 * failure. */
KI_NODISCARD int ki_buf_reserve(ki_buf *buf, size_t extra);

/* As ki_buf_reserve, then copies. */
KI_NODISCARD int ki_buf_append(ki_buf *buf, const void *bytes, size_t n);
KI_NODISCARD int ki_buf_append_str(ki_buf *buf, ki_str text);
KI_NODISCARD int ki_buf_append_byte(ki_buf *buf, char byte);

/* Empties the buffer; keeps the memory if it is at most `keep_bytes`, so one huge value does not pin it. */
void ki_buf_reset(ki_buf *buf, size_t keep_bytes);

/* What is in it, borrowed until the next change. */
ki_str ki_buf_str(const ki_buf *buf);

#endif
