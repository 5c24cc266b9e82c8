/* SPDX-License-Identifier: Apache-2.0 */
/* buf - a growable run of bytes with a mandatory maximum.
 *
 *   From:     code that collects bytes whose number the peer decides
 *   Locks:    none; one owner.
 *   Not here: formatting beyond the simplest; text handling.
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

/* Frees the memory and leaves an empty buffer with the same maximum. A zeroed struct is allowed. */
void ki_buf_fini(ki_buf *buf);

/* Reserves space for `extra` bytes after len; the caller writes them and adds them to len. Returns 0,
 * KI_ERR_TOO_LARGE if that would exceed the maximum, or KI_ERR_NO_MEMORY; the buffer is unchanged on
 * failure. */
KI_NODISCARD int ki_buf_reserve(ki_buf *buf, size_t extra);

/* Like ki_buf_reserve, then copies. */
KI_NODISCARD int ki_buf_append(ki_buf *buf, const void *bytes, size_t n);
KI_NODISCARD int ki_buf_append_str(ki_buf *buf, ki_str text);
KI_NODISCARD int ki_buf_append_byte(ki_buf *buf, char byte);

/* Empties the buffer. Keeps the memory if it is at most `keep_bytes`, so one huge value does not pin it. */
void ki_buf_reset(ki_buf *buf, size_t keep_bytes);

/* The content, borrowed until the next change. */
ki_str ki_buf_str(const ki_buf *buf);

#endif
