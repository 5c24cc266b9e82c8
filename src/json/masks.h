/* SPDX-License-Identifier: Apache-2.0 */
/* masks - which characters stand where in 64 bytes; what a variant of the kernel computes. */
#ifndef KI_JSON_MASKS_H
#define KI_JSON_MASKS_H

#include <stdint.h>

/* The compilers' own judgement leaves the hot loop in pieces, at a third of the speed. */
#define KI_INLINE static inline __attribute__((always_inline))

/* Bit i speaks of byte i. */
typedef struct ki_masks {
    uint64_t quote;
    uint64_t backslash;
    uint64_t open;  /* { [ */
    uint64_t close; /* } ] */
    uint64_t brace; /* at a bracket: set for { }, clear for [ ]; anything elsewhere */
    uint64_t comma;
    uint64_t colon;
    uint64_t digit; /* 0 … 9 */
    uint64_t zero;
    int has_low;  /* a byte below 0x20 is there */
    int has_high; /* a byte above 0x7f is there */
} ki_masks;

#endif
