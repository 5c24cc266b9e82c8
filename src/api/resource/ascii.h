/* SPDX-License-Identifier: Apache-2.0 */
/* ascii - letters without regard to their case and to the locale.
 *
 *   From:     api/resource/resource_find.c, api/resource/resource_suggest.c
 *   Not here: anything beyond ASCII; names of Kubernetes resources hold nothing else.
 */
#ifndef KI_API_RESOURCE_ASCII_H
#define KI_API_RESOURCE_ASCII_H

#include <kinformer/common.h>

static inline char ki_ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* 1 when both are the same but for the case of their letters. */
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
