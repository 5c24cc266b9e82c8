/* SPDX-License-Identifier: Apache-2.0 */
/* squeeze - packs selected bits of a word, for processors without an instruction for it.
 *
 *   From:     json/kernel/kernel_scalar.c, json/kernel/kernel_sse42.c, json/kernel/kernel_neon.c, for blocks
 *             with white space between tokens
 *
 * Each bit moves down by the number of unselected bits below it. It does so in six steps of 1, 2, 4 … 32,
 * according to the binary digits of that number. The steps depend only on the selection, so they are
 * computed once for all masks of a block.
 */
#ifndef KI_JSON_KERNEL_SQUEEZE_H
#define KI_JSON_KERNEL_SQUEEZE_H

#include <stdint.h>

typedef struct ki_squeeze {
    uint64_t keep;
    uint64_t move[6]; /* the bits that move in step i */
} ki_squeeze;

/* Bit i of the result is the parity of bits 0 … i. */
static inline uint64_t ki_parity_below(uint64_t bits)
{
    for (unsigned shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

static inline ki_squeeze ki_squeeze_for(uint64_t keep)
{
    ki_squeeze squeeze = {.keep = keep};
    uint64_t unselected_below = ~keep << 1;
    for (unsigned i = 0; i < 6; i++) {
        uint64_t odd = ki_parity_below(unselected_below);
        uint64_t move = odd & keep;
        squeeze.move[i] = move;
        keep = (keep ^ move) | move >> (1U << i);
        unselected_below &= ~odd;
    }
    return squeeze;
}

static inline uint64_t ki_squeeze_bits(const ki_squeeze *squeeze, uint64_t bits)
{
    bits &= squeeze->keep;
    for (unsigned i = 0; i < 6; i++) {
        uint64_t moving = bits & squeeze->move[i];
        bits = (bits ^ moving) | moving >> (1U << i);
    }
    return bits;
}

/* Like ki_squeeze_bits(), for a single mask with few selected bits. */
static inline uint64_t ki_gather(uint64_t bits, uint64_t select)
{
    uint64_t gathered = 0;
    for (unsigned i = 0; select != 0; i++, select &= select - 1)
        gathered |= (uint64_t)((bits & select & (0 - select)) != 0) << i;
    return gathered;
}

#endif
