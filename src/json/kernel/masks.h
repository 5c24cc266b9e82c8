/* SPDX-License-Identifier: Apache-2.0 */
/* masks - which characters stand where in 64 bytes; what a variant of the kernel computes.
 *
 * Moving bits from wide registers to words is what a block costs most, so the six characters that structure
 * JSON share three masks:
 *
 *              {  }  [  ]  ,  :  0…9
 *   expects    1  0  1  0  1  1   0     what a value, a name or an end follows
 *   bracket    1  1  1  1  0  0   0
 *   marked     1  1  0  0  1  0   1     tells apart those that are alike in the other two
 */
#ifndef KI_JSON_KERNEL_MASKS_H
#define KI_JSON_KERNEL_MASKS_H

#include <stdint.h>

/* The compilers' own judgement leaves the hot loop in pieces, at a third of the speed. */
#define KI_INLINE static inline __attribute__((always_inline))

/* Bit i speaks of byte i. */
typedef struct ki_masks {
    uint64_t quote;
    uint64_t expects; /* 0x0c and 0x1a as well, which is_rare tells of */
    uint64_t bracket;
    uint64_t marked;
    int is_rare; /* a backslash, a byte below 0x20 or above 0x7f is there */
} ki_masks;

/* What few blocks have. */
typedef struct ki_rare {
    uint64_t backslash;
    uint64_t control; /* below 0x20 */
    uint64_t white;   /* blank, tab, line feed, carriage return */
    int has_high;     /* a byte above 0x7f is there */
} ki_rare;

/* Characters by the lower half of their code, which no two of a mask share: byte x is in the mask when the
 * entry for its lower half is x itself. Bit 5 is set in x first for the first two, which makes [ and ] of
 * { and }. */
#define KI_TABLE_EXPECTS 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ':', '{', ',', 0, 0, 0
#define KI_TABLE_BRACKET 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '{', 0, '}', 0, 0
#define KI_TABLE_MARKED '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 0, '{', ',', '}', 0, 0

#endif
