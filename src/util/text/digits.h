/* SPDX-License-Identifier: Apache-2.0 */
/* digits - decimal numbers of a fixed width, as in dates.
 *
 *   From:     util/date.h, util/timestamp.c, proto/leaf.c
 */
#ifndef KI_UTIL_TEXT_DIGITS_H
#define KI_UTIL_TEXT_DIGITS_H

#include <stdint.h>

/* Writes the last `count` digits of value >= 0, with leading zeros. Returns the position after them. */
static inline char *ki_digits_put(char *at, int64_t value, int count)
{
    for (int i = count - 1; i >= 0; i--) {
        at[i] = (char)('0' + value % 10);
        value /= 10;
    }
    return at + count;
}

#endif
