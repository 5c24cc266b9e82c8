/* SPDX-License-Identifier: Apache-2.0 */
/* literal - numbers, true, false and null, one byte at a time.
 *
 *   From:     json/kernel/tokens.h, json/scan.c
 *   Not here: the value of a number (json/number.c).
 */
#ifndef KI_JSON_LITERAL_H
#define KI_JSON_LITERAL_H

#include <stdint.h>

/* States of the automaton. A literal may end in those from KI_LITERAL_ZERO to KI_LITERAL_WORD. */
enum {
    KI_LITERAL_BAD = 0,
    KI_LITERAL_START,
    KI_LITERAL_ZERO,
    KI_LITERAL_DIGITS,
    KI_LITERAL_FRACTION,
    KI_LITERAL_EXPONENT,
    KI_LITERAL_WORD,
    KI_LITERAL_MINUS,
    KI_LITERAL_POINT,
    KI_LITERAL_E,
    KI_LITERAL_E_SIGN,
    KI_LITERAL_T,
    KI_LITERAL_TR,
    KI_LITERAL_TRU, /* also after "fals": only an e is missing */
    KI_LITERAL_F,
    KI_LITERAL_FA,
    KI_LITERAL_FAL,
    KI_LITERAL_N,
    KI_LITERAL_NU,
    KI_LITERAL_NUL,
    KI_LITERAL_STATES
};

static inline int ki_literal_may_end(uint32_t state)
{
    return state >= KI_LITERAL_ZERO && state <= KI_LITERAL_WORD;
}

/* Kinds of bytes, so that the table of states stays small. */
extern const uint8_t ki_literal_kind[256];
extern const uint8_t ki_literal_next[KI_LITERAL_STATES][16];

static inline uint32_t ki_literal_step(uint32_t state, uint8_t byte)
{
    return ki_literal_next[state][ki_literal_kind[byte]];
}

#endif
