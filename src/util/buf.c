/* SPDX-License-Identifier: Apache-2.0 */
#include "util/buf.h"

#include <assert.h>
#include <kinformer/error.h>
#include <string.h>

#include "util/alloc.h"
#include "util/annotations.h"

enum { BUF_BYTES_MIN = 256 };

/* The invariant. `cap` may be above `max`: the owner may lower `max` while the buffer is empty. */
static KI_DEBUG_ONLY bool is_sound(const ki_buf *buf)
{
    return buf->len <= buf->cap && (buf->data != NULL || buf->cap == 0);
}

void ki_buf_init(ki_buf *buf, size_t bytes_max)
{
    assert(bytes_max > 0);
    *buf = (ki_buf){.max = bytes_max};
}

void ki_buf_fini(ki_buf *buf)
{
    assert(is_sound(buf));
    ki_free(buf->data);
    *buf = (ki_buf){.max = buf->max};
}

/* Doubling makes the total cost of appends linear. The last step stops at the maximum. */
static size_t grown_capacity(const ki_buf *buf, size_t needed)
{
    size_t cap = buf->cap < BUF_BYTES_MIN ? BUF_BYTES_MIN : buf->cap;
    while (cap < needed)
        cap = cap > buf->max / 2 ? buf->max : cap * 2;
    return cap < buf->max ? cap : buf->max;
}

int ki_buf_reserve(ki_buf *buf, size_t extra)
{
    assert(is_sound(buf) && buf->len <= buf->max);
    if (extra <= buf->cap - buf->len)
        return 0;
    if (extra > buf->max - buf->len)
        return KI_ERR_TOO_LARGE;
    size_t cap = grown_capacity(buf, buf->len + extra);
    char *data = ki_realloc(buf->data, cap);
    if (data == NULL)
        return KI_ERR_NO_MEMORY;
    buf->data = data;
    buf->cap = cap;
    return 0;
}

int ki_buf_append(ki_buf *buf, const void *bytes, size_t n)
{
    assert(is_sound(buf));
    int rc = ki_buf_reserve(buf, n);
    if (rc < 0 || n == 0)
        return rc;
    memcpy(buf->data + buf->len, bytes, n);
    buf->len += n;
    return 0;
}

int ki_buf_append_str(ki_buf *buf, ki_str text)
{
    assert(text.ptr != NULL || text.len == 0);
    return ki_buf_append(buf, text.ptr, text.len);
}

int ki_buf_append_byte(ki_buf *buf, char byte)
{
    return ki_buf_append(buf, &byte, 1);
}

void ki_buf_reset(ki_buf *buf, size_t keep_bytes)
{
    assert(is_sound(buf));
    if (buf->cap > keep_bytes)
        ki_buf_fini(buf);
    buf->len = 0;
}

ki_str ki_buf_str(const ki_buf *buf)
{
    assert(is_sound(buf));
    return (ki_str){buf->data, buf->len};
}
