/* SPDX-License-Identifier: Apache-2.0 */
/* encode - a JSON tree as compact text, quickly.
 *
 *   From:     apiserver/object/object_draft.c, and answers that are made of trees
 *   To:       a ki_buf
 *   Locks:    none
 *   Not here: indentation (jansson has it)
 *
 * Real numbers are written as shortly as they can be read back, and whole ones without a point,
 * as Kubernetes does.
 */
#ifndef KI_APISERVER_VALUE_ENCODE_H
#define KI_APISERVER_VALUE_ENCODE_H

#include <jansson.h>
#include <string.h>

#include "util/buf.h"

/* Almost always there is room, and no call is needed to see it. */
static inline KI_NODISCARD int ki_as_encode_reserve(ki_buf *buf, size_t extra)
{
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
    int rc = ki_as_encode_reserve(buf, text.len);
    if (rc < 0 || text.len == 0)
        return rc;
    memcpy(buf->data + buf->len, text.ptr, text.len);
    buf->len += text.len;
    return 0;
}

/* Returns 0, KI_ERR_NO_MEMORY or KI_ERR_TOO_LARGE (of the buffer,
 * or nested deeper than jansson itself reads). */
KI_NODISCARD int ki_as_encode(ki_buf *buf, const json_t *tree);
KI_NODISCARD int ki_as_encode_string(ki_buf *buf, ki_str text);
/* A string that begins with `prefix`, in which nothing needs escaping. */
KI_NODISCARD int ki_as_encode_prefixed(ki_buf *buf, ki_str prefix, ki_str text);

#endif
