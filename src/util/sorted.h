/* SPDX-License-Identifier: Apache-2.0 */
/* sorted - finds a text in a sorted array.
 *
 *   From:     api/selector/selector.c, apiserver/object/selector.c
 *   Locks:    none.
 */
#ifndef KI_UTIL_SORTED_H
#define KI_UTIL_SORTED_H

#include <kinformer/common.h>

/* Whether `text` is one of `count` texts, which are sorted by ki_str_compare(). */
static inline int ki_sorted_has(const ki_str *texts, size_t count, ki_str text)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = ki_str_compare(texts[middle], text);
        if (order == 0)
            return 1;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

#endif
