/* SPDX-License-Identifier: Apache-2.0 */
/* tokens - the strings, brackets, separators and literals of 64 bytes, given bit masks of their characters.
 *
 *   From:     json/kernel/block.h, once for each kernel
 *   To:       json/literal.h, json/escape.h
 *   Not here: which token may follow which (json/kernel/grammar.h).
 */
#ifndef KI_JSON_KERNEL_TOKENS_H
#define KI_JSON_KERNEL_TOKENS_H

#include <assert.h>
#include <string.h>

#include "json/escape.h"
#include "json/kernel/masks.h"
#include "json/literal.h"
#include "json/scan.h"

#define KI_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define KI_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

enum { KI_NO_MISTAKE = 64 };

/* The characters of a block by their role. `in` covers the bytes of strings, including the opening quote
 * but not the closing quote. */
typedef struct ki_tokens {
    uint64_t quote, in;
    uint64_t expects, bracket;       /* as in ki_masks, only outside strings */
    uint64_t marked;                 /* as in ki_masks, unspecified inside strings */
    uint64_t literal, literal_start; /* numbers and words */
} ki_tokens;

/* The first mistake in a block, except mistakes in the order of tokens. */
typedef struct ki_mistake {
    unsigned at;
    int code;
} ki_mistake;

KI_INLINE void ki_mistake_add(ki_mistake *mistake, unsigned at, int code)
{
    if (at < mistake->at) {
        mistake->at = at;
        mistake->code = code;
    }
}

/* Bit i of the result says whether the character before the i-th one is in `bits`. */
KI_INLINE uint64_t ki_behind(uint64_t bits, uint64_t carry)
{
    return bits << 1 | carry;
}

/* Finds the escaped bytes among the first n. *out_next says whether the byte after them is escaped. */
KI_INLINE uint64_t ki_find_escaped(uint64_t backslash, uint64_t escaped, unsigned n, uint64_t *out_next)
{
    assert(n <= 64);
    uint64_t next = backslash >> 63;
    if (KI_LIKELY((backslash & (backslash << 1 | escaped)) == 0))
        escaped |= backslash << 1;
    else
        escaped = ki_escape_find(backslash, escaped, &next);
    *out_next = n == 64 ? next : escaped >> n & 1;
    return escaped;
}

/* The escapes that must be checked; \" and \\ are always valid. */
KI_INLINE uint64_t ki_unusual_escapes(const ki_masks *m, const ki_rare *rare, uint64_t escaped)
{
    return escaped & ~(m->quote | rare->backslash);
}

/* Separates strings from everything between them. */
KI_INLINE ki_tokens ki_find_tokens(uint64_t in_string, const ki_masks *m, uint64_t escaped)
{
    ki_tokens t = {.quote = m->quote & ~escaped};
    t.in = ki_prefix_xor(t.quote) ^ in_string;
    t.expects = m->expects & ~t.in;
    t.bracket = m->bracket & ~t.in;
    t.marked = m->marked;
    const uint64_t other = t.in | t.quote | t.expects | t.bracket;
    t.literal = ~other;
    t.literal_start = ~other & (other << 1 | 1);
    return t;
}

/* Runs the automaton over the numbers and words of a block. Leaves the carry unchanged if it finds a
 * mistake: the block is then processed again on another path, which must find it too. */
static inline void ki_check_literals(ki_json_carry *c, const uint8_t *bytes, unsigned n, uint64_t literal,
                                     ki_mistake *mistake)
{
    assert(n > 0 && n <= 64);
    uint32_t state = c->literal_open ? c->literal_state : KI_LITERAL_START;
    if (c->literal_open && (literal & 1) == 0) {
        if (!ki_literal_may_end(state)) {
            ki_mistake_add(mistake, 0, KI_ERR_JSON_LITERAL);
            return;
        }
        state = KI_LITERAL_START;
    }
    while (literal != 0) {
        unsigned at = (unsigned)__builtin_ctzll(literal);
        do {
            state = ki_literal_step(state, bytes[at]);
            if (state == KI_LITERAL_BAD) {
                ki_mistake_add(mistake, at, KI_ERR_JSON_LITERAL);
                return;
            }
            literal &= literal - 1;
            at++;
        } while (at < 64 && (literal >> at & 1));
        if (at >= n)
            break;
        if (!ki_literal_may_end(state)) {
            ki_mistake_add(mistake, at, KI_ERR_JSON_LITERAL); /* at the byte after the literal */
            return;
        }
        state = KI_LITERAL_START;
    }
    c->literal_state = state;
}

KI_INLINE int ki_is_word(const uint8_t *text, unsigned len)
{
    return (len == 4 && (memcmp(text, "true", 4) == 0 || memcmp(text, "null", 4) == 0)) ||
           (len == 5 && memcmp(text, "false", 5) == 0);
}

/* Whether the literals of a block need no further check: all end in the block, and are integers without a
 * sign, or words. */
static __attribute__((noinline)) int ki_are_plain_literals(const uint8_t *bytes, uint64_t literal,
                                                           uint64_t digit)
{
    if (literal >> 63 != 0)
        return 0;
    while (literal != 0) {
        const unsigned at = (unsigned)__builtin_ctzll(literal);
        const unsigned len = (unsigned)__builtin_ctzll(~(literal >> at));
        const uint64_t bits = ((UINT64_C(1) << len) - 1) << at;
        const int is_integer = (bits & ~digit) == 0 && (bytes[at] != '0' || len == 1);
        if (!is_integer && !ki_is_word(bytes + at, len))
            return 0;
        literal ^= bits;
    }
    return 1;
}

/* Copies the characters that `keep` selects, run by run. */
static inline void ki_squeeze_bytes(const uint8_t *bytes, uint64_t keep, uint8_t *out)
{
    while (keep != 0) {
        unsigned from = (unsigned)__builtin_ctzll(keep);
        uint64_t rest = ~(keep >> from);
        unsigned run = rest == 0 ? 64 : (unsigned)__builtin_ctzll(rest);
        memcpy(out, bytes + from, run);
        out += run;
        keep = from + run >= 64 ? 0 : keep & (~UINT64_C(0) << (from + run));
    }
}

/* Removes the white space from the masks. */
static inline void ki_squeeze_tokens(ki_tokens *t, uint64_t keep)
{
    const ki_squeeze squeeze = ki_squeeze_for(keep);
    t->quote = ki_squeeze_bits(&squeeze, t->quote);
    t->in = ki_squeeze_bits(&squeeze, t->in);
    t->expects = ki_squeeze_bits(&squeeze, t->expects);
    t->bracket = ki_squeeze_bits(&squeeze, t->bracket);
    t->marked = ki_squeeze_bits(&squeeze, t->marked);
    t->literal = ki_squeeze_bits(&squeeze, t->literal);
    t->literal_start = ki_squeeze_bits(&squeeze, t->literal_start);
}

/* The position of the i-th kept character in the block. */
static inline unsigned ki_raw_position(uint64_t keep, unsigned i)
{
    assert(i < 64);
    for (; i > 0; i--)
        keep &= keep - 1;
    return keep == 0 ? 64 : (unsigned)__builtin_ctzll(keep);
}

#endif
