/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/gather.h"

#include <assert.h>

/* KEEP_BYTES: how much memory is kept between uses. CUT_BYTES: how much is kept of a message that is too
 * large; this beginning contains its key. */
enum { KEEP_BYTES = 64 * 1024, CUT_BYTES = 64 * 1024 };

void ki_proto_gather_init(ki_proto_gather *gather)
{
    assert(gather != NULL);
    *gather = (ki_proto_gather){0};
    ki_buf_init(&gather->buf, SIZE_MAX);
}

void ki_proto_gather_fini(ki_proto_gather *gather)
{
    assert(gather != NULL);
    ki_buf_fini(&gather->buf);
}

void ki_proto_gather_begin(ki_proto_gather *gather, uint64_t wanted, size_t bytes_max)
{
    assert(bytes_max > 0);
    ki_buf_reset(&gather->buf, KEEP_BYTES);
    gather->left = wanted;
    gather->is_begun = 0;
    gather->is_cut = wanted > bytes_max;
    gather->buf.max = gather->is_cut && bytes_max > CUT_BYTES ? CUT_BYTES : bytes_max;
}

int ki_proto_gather_feed(ki_proto_gather *gather, ki_str bytes, size_t *out_used, ki_str *out_bytes)
{
    size_t n = bytes.len < gather->left ? bytes.len : (size_t)gather->left;
    *out_used = n;
    if (n == gather->left && !gather->is_begun && !gather->is_cut) {
        gather->left = 0;
        *out_bytes = n == 0 ? KI_STR("") : (ki_str){bytes.ptr, n};
        return 1;
    }
    size_t space = gather->buf.max - gather->buf.len;
    int rc = n == 0 ? 0 : ki_buf_append(&gather->buf, bytes.ptr, n < space ? n : space);
    if (rc < 0)
        return rc;
    gather->is_begun = 1;
    gather->left -= n;
    *out_bytes = ki_buf_str(&gather->buf);
    return gather->left == 0;
}
