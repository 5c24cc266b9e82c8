/* SPDX-License-Identifier: Apache-2.0 */
/* ascii - letters regardless of case and locale.
 *
 *   From:     api/resource/resource_find.c, api/resource/resource_suggest.c,
 *             api/resource/discovery_decoder.c, api/resource/resource_query.c
 *   Not here: anything beyond ASCII; names of Kubernetes resources are ASCII.
 */
#ifndef KI_API_RESOURCE_ASCII_H
#define KI_API_RESOURCE_ASCII_H

#include <kinformer/common.h>

static inline char ki_ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* 1 if both are equal, ignoring case. */
static inline int ki_ascii_equal_fold(ki_str a, ki_str b)
{
    if (a.len != b.len)
        return 0;
    for (size_t i = 0; i < a.len; i++)
        if (ki_ascii_lower(a.ptr[i]) != ki_ascii_lower(b.ptr[i]))
            return 0;
    return 1;
}

#endif
