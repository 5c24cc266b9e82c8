/* SPDX-License-Identifier: Apache-2.0 */
/* encode - writes a JSON tree as compact text, fast.
 *
 *   From:     all code that writes JSON: apiserver/object/object_draft.c, and responses built as trees
 *   To:       a ki_buf
 *   Locks:    none
 *   Not here: indented output (jansson does that)
 *
 * Reals are written in the shortest form that reads back unchanged, whole numbers without a point, as in
 * Kubernetes.
 */
#ifndef KI_APISERVER_VALUE_ENCODE_H
#define KI_APISERVER_VALUE_ENCODE_H

#include <assert.h>
#include <jansson.h>
#include <string.h>

#include "util/buf.h"

/* Inline, because the buffer almost always has enough space. */
static inline KI_NODISCARD int ki_as_encode_reserve(ki_buf *buf, size_t extra)
{
    assert(buf->len <= buf->cap);
    return buf->cap - buf->len >= extra ? 0 : ki_buf_reserve(buf, extra);
}

static inline KI_NODISCARD int ki_as_encode_byte(ki_buf *buf, char byte)
{
    int rc = ki_as_encode_reserve(buf, 1);
    if (rc == 0)
        buf->data[buf->len++] = byte;
    return rc;
}

static inline KI_NODISCARD int ki_as_encode_plain(ki_buf *buf, ki_str text)
{
    assert(text.ptr != NULL || text.len == 0);
    int rc = ki_as_encode_reserve(buf, text.len);
    if (rc < 0 || text.len == 0)
        return rc;
    memcpy(buf->data + buf->len, text.ptr, text.len);
    buf->len += text.len;
    return 0;
}

/* Returns 0, KI_ERR_NO_MEMORY or KI_ERR_TOO_LARGE (the buffer's limit,
 * or a tree that is nested deeper than jansson can parse). */
KI_NODISCARD int ki_as_encode(ki_buf *buf, const json_t *tree);
KI_NODISCARD int ki_as_encode_string(ki_buf *buf, ki_str text);
/* Encodes a string that consists of `prefix`, which must need no escaping, and `text`. */
KI_NODISCARD int ki_as_encode_prefixed(ki_buf *buf, ki_str prefix, ki_str text);

#endif
