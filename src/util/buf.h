/* SPDX-License-Identifier: Apache-2.0 */
/* buf - a growable run of bytes with a mandatory maximum.
 *
 *   From:     all code that collects bytes of which the peer decides the number
 *   Locks:    none; one owner.
 *   Not here: formatting; text handling.
 */
#ifndef KI_UTIL_BUF_H
#define KI_UTIL_BUF_H

#include <kinformer/common.h>

/* The fields may be read directly; change them with the functions. len <= cap, and len <= max. */
typedef struct ki_buf {
    char *data;
    size_t len;
    size_t cap;
    size_t max;
} ki_buf;

/* `bytes_max` > 0 is the maximum size of the content. Allocates nothing. */
void ki_buf_init(ki_buf *buf, size_t bytes_max);

/* Frees the memory and leaves an empty buffer with the same maximum. A zeroed struct is allowed. */
void ki_buf_fini(ki_buf *buf);

/* Reserves space for `extra` bytes after len; the caller writes them and adds them to len. Returns 0,
 * KI_ERR_TOO_LARGE if that would exceed the maximum, or KI_ERR_NO_MEMORY; the buffer is unchanged on
 * failure. */
KI_NODISCARD int ki_buf_reserve(ki_buf *buf, size_t extra);

/* Like ki_buf_reserve(), and then copies the bytes. */
KI_NODISCARD int ki_buf_append(ki_buf *buf, const void *bytes, size_t n);
KI_NODISCARD int ki_buf_append_str(ki_buf *buf, ki_str text);
KI_NODISCARD int ki_buf_append_byte(ki_buf *buf, char byte);

/* Empties the buffer. Frees its memory if it is larger than `keep_bytes`, so that one huge value does not
 * occupy it forever. */
void ki_buf_reset(ki_buf *buf, size_t keep_bytes);

/* The content, borrowed until the next change. */
ki_str ki_buf_str(const ki_buf *buf);

#endif
