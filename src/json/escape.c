/* SPDX-License-Identifier: Apache-2.0 */
#include "json/escape.h"

#include <assert.h>

enum { NO_MISTAKE = 64 };

/* Digits have their value + 1, so that 0 means "not a hexadecimal digit". */
static const uint8_t hex_digit[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

static const uint8_t simple_escape[256] = {
    ['"'] = 1, ['\\'] = 1, ['/'] = 1, ['b'] = 1, ['f'] = 1, ['n'] = 1, ['r'] = 1, ['t'] = 1,
};

uint64_t ki_escape_find(uint64_t backslash, uint64_t carry, uint64_t *out_carry)
{
    assert(out_carry != NULL);
    uint64_t escaped = carry;
    uint64_t out = 0;
    backslash &= ~carry;
    while (backslash != 0) {
        uint64_t bit = backslash & (0 - backslash);
        escaped |= bit << 1;
        out = bit >> 63;
        backslash &= ~(bit | bit << 1);
    }
    *out_carry = out;
    return escaped;
}

static int is_high_surrogate(uint32_t unit)
{
    return (unit & 0xfc00) == 0xd800;
}

static int is_low_surrogate(uint32_t unit)
{
    return (unit & 0xfc00) == 0xdc00;
}

/* Checks a complete unit. Its upper half is the high surrogate that was read before, or 0. Returns 0 on a
 * mistake. */
static int finish_unit(ki_escape *escape)
{
    uint32_t unit = escape->unit & 0xffff;
    uint32_t high = escape->unit >> 16;
    escape->state = KI_ESCAPE_NONE;
    if (high != 0)
        return is_low_surrogate(unit);
    if (is_high_surrogate(unit)) {
        escape->unit = unit << 16;
        escape->state = KI_ESCAPE_WANT_BACKSLASH;
        return 1;
    }
    return !is_low_surrogate(unit);
}

/* Takes one byte of a \u escape, or of the \u that must follow a high surrogate. Returns 0 on a mistake. */
static int step(ki_escape *escape, uint8_t byte)
{
    if (escape->state == KI_ESCAPE_WANT_BACKSLASH) {
        escape->state = KI_ESCAPE_WANT_U;
        return byte == '\\';
    }
    if (escape->state == KI_ESCAPE_WANT_U) {
        escape->state = 4;
        return byte == 'u';
    }
    uint8_t digit = hex_digit[byte];
    if (digit == 0)
        return 0;
    uint32_t unit = (escape->unit & 0xffff) << 4 | (uint32_t)(digit - 1);
    escape->unit = (escape->unit & 0xffff0000) | (unit & 0xffff);
    escape->state--;
    return escape->state != KI_ESCAPE_NONE || finish_unit(escape);
}

unsigned ki_escape_check(ki_escape *escape, const uint8_t *bytes, unsigned n, uint64_t escaped,
                         int *rewritable)
{
    assert(escape != NULL);
    unsigned at = 0;
    for (;;) {
        for (; escape->state != KI_ESCAPE_NONE && at < n; at++)
            if (!step(escape, bytes[at]))
                return at;
        uint64_t left = at >= n ? 0 : escaped & (~UINT64_C(0) << at);
        if (left == 0)
            return NO_MISTAKE;
        at = (unsigned)__builtin_ctzll(left);
        if (at >= n)
            return NO_MISTAKE;
        if (bytes[at] == 'u') {
            escape->state = 4;
            escape->unit = 0;
            *rewritable = 1;
        } else if (!simple_escape[bytes[at]]) {
            return at;
        } else if (bytes[at] == '/') {
            *rewritable = 1;
        }
        at++;
    }
}
