/* SPDX-License-Identifier: Apache-2.0 */
/* masks - the positions of characters in 64 bytes; computed by each variant of the kernel.
 *
 *   From:     json/kernel/
 *
 * Moving bits from wide registers to words is the most expensive part, so the six structural characters of
 * JSON share three masks:
 *
 *              {  }  [  ]  ,  :  0…9
 *   expects    1  0  1  0  1  1   0     followed by a value, a name or an end
 *   bracket    1  1  1  1  0  0   0
 *   marked     1  1  0  0  1  0   1     distinguishes characters that are alike in the other two
 */
#ifndef KI_JSON_KERNEL_MASKS_H
#define KI_JSON_KERNEL_MASKS_H

#include <stdint.h>

/* Without this attribute, compilers do not inline the hot loop, which then runs at a third of the speed. */
#define KI_INLINE static inline __attribute__((always_inline))

/* Bit i stands for byte i. */
typedef struct ki_masks {
    uint64_t quote;
    uint64_t expects; /* also set for 0x0c and 0x1a, which set is_rare too */
    uint64_t bracket;
    uint64_t marked;
    int is_rare; /* there is a backslash, or a byte below 0x20 or above 0x7f */
} ki_masks;

/* Masks that only few blocks need. */
typedef struct ki_rare {
    uint64_t backslash;
    uint64_t control; /* below 0x20 */
    uint64_t white;   /* blank, tab, line feed, carriage return */
    int has_high;     /* there is a byte above 0x7f */
} ki_rare;

/* Tables of the characters of a mask. The index is the low four bits of a character, which differ among the
 * characters of one mask. Byte x is in the mask if the entry at its index is x itself. For the first two
 * masks, bit 5 of x is set first, which turns [ and ] into { and }. */
#define KI_TABLE_EXPECTS 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ':', '{', ',', 0, 0, 0
#define KI_TABLE_BRACKET 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '{', 0, '}', 0, 0
#define KI_TABLE_MARKED '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 0, '{', ',', '}', 0, 0

#endif
