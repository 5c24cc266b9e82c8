/* SPDX-License-Identifier: Apache-2.0 */
/* grammar - checks which token may follow which, and in which container, for 64 characters at once.
 *
 *   From:     json/kernel/block.h, once for each kernel
 *   Not here: calling the sink; blocks with a mistake or the end of a value (json/walk.c).
 *
 * Most of JSON's grammar is about neighbours: which token may follow which. Neighbours are adjacent bits once
 * white space is removed, so 64 characters are checked with a few dozen operations on words. Only one thing
 * needs more: the kind of container around a comma. A string after , or { is a name if a colon follows, which
 * proves an object; anything else after a comma proves an array. These proofs are compared with the brackets.
 */
#ifndef KI_JSON_KERNEL_GRAMMAR_H
#define KI_JSON_KERNEL_GRAMMAR_H

#include "json/kernel/tokens.h"

#include <assert.h>

/* The containers around a character. */
typedef struct ki_nesting {
    uint64_t kinds; /* the first word of the scanner's `kinds` */
    uint32_t depth;
    uint32_t lowest; /* the lowest depth in the last block walked */
} ki_nesting;

/* What is known about a block before its brackets are followed. The masks are those of ki_block. */
typedef struct ki_found {
    uint64_t open, close, brace, separator; /* , : */
    uint64_t behind_name, nameless, mistakes;
} ki_found;

/* Checks which token may follow which in a block of `count` characters. A value must begin where one is
 * expected, and nowhere else. The exception: a container may close directly after it opens. */
KI_INLINE ki_found ki_check_grammar(ki_json_grammar *g, const ki_tokens *t, unsigned count)
{
    assert(count > 0 && count <= 64);
    const unsigned last = count - 1;
    const uint64_t valid = count == 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
    const uint64_t open = t->bracket & t->expects;
    const uint64_t close = t->bracket & ~t->expects;
    const uint64_t string_start = t->quote & t->in;
    const uint64_t before_name = t->expects & t->marked;
    const uint64_t behind_expects = ki_behind(t->expects, g->expects_value) & valid;
    const uint64_t behind_open = ki_behind(open, g->opened);
    const uint64_t behind_before_name = ki_behind(before_name, g->may_begin_name);

    /* Adding the first bit of a run of ones carries into the bit after the run. A run begins at an opening
     * quote, so the carry marks the closing quote. */
    uint64_t sum = 0;
    const int overflow =
        __builtin_add_overflow(t->in, (string_start & behind_before_name) | g->in_name, &sum);
    const uint64_t name_end = sum & ~t->in & valid;
    const uint64_t bare_start = t->literal_start | open;
    const ki_found found = {
        .open = open,
        .close = close,
        .brace = t->marked,
        .separator = t->expects & ~t->bracket,
        .behind_name = ki_behind(name_end, g->ended_name) & valid,
        .nameless = bare_start & behind_before_name,
        .mistakes = ((string_start | bare_start) ^ behind_expects) & ~(close & behind_open),
    };
    g->in_name = count == 64 ? (uint64_t)overflow : sum >> count & 1;
    g->ended_name = name_end >> last & 1;
    g->expects_value = t->expects >> last & 1;
    g->may_begin_name = before_name >> last & 1;
    g->opened = open >> last & 1;
    return found;
}

/* The opening brackets of {} and []. */
KI_INLINE uint64_t ki_found_pairs(const ki_found *f)
{
    return f->open & (f->close >> 1) & ~(f->brace ^ (f->brace >> 1));
}

/* The kinds of all containers that `opens` begins, as bits of `kinds`. The first of them is number depth +
 * 1. */
KI_INLINE uint64_t ki_new_kinds(uint64_t brace, uint64_t opens, uint32_t depth)
{
    return ki_gather(brace, opens) << 1 << depth;
}

/* Whether the whole value is {} or []. ki_walk_inside() does not follow the brackets of these, and so would
 * not see the end of the value. */
KI_INLINE int ki_is_empty_value(const ki_found *f, uint32_t depth)
{
    return depth == 0 && (f->close & 2) != 0;
}

/* Like ki_block_walk(), for a block that has no mistake, does not end the value and cannot reach the depth
 * limit. Returns 0, with nothing changed, for other blocks. Does not call the sink. Only closing brackets
 * are followed one by one, except those of {} and [], which always match. Everything else is computed for
 * all 64 characters at once. */
KI_INLINE int ki_walk_inside(const ki_found *f, uint32_t depth_max, ki_nesting *nesting)
{
    const uint64_t pairs = ki_found_pairs(f);
    const uint64_t closes = f->close & ~(pairs << 1);
    uint64_t opens = f->open & ~pairs;
    const uint64_t between = ~(opens | closes);
    uint64_t kinds = nesting->kinds;
    uint32_t depth = nesting->depth;
    uint32_t lowest = depth;
    if (KI_UNLIKELY(depth + (uint32_t)__builtin_popcountll(f->open) > depth_max))
        return 0;
    /* Bit i: from character i up to and including the next bracket, the innermost container is an object. */
    uint64_t object_from = (opens & f->brace) << 1 | (kinds >> depth & 1);
    for (uint64_t left = closes; left != 0; left &= left - 1) {
        const uint64_t bit = left & (0 - left);
        const uint64_t before = opens & (bit - 1);
        kinds |= ki_new_kinds(f->brace, before, depth);
        opens ^= before;
        depth += (uint32_t)__builtin_popcountll(before);
        kinds &= ~(UINT64_C(1) << depth--);
        if (KI_UNLIKELY(depth == 0))
            return 0;
        lowest = lowest < depth ? lowest : depth;
        object_from |= (0 - (kinds >> depth & 1)) & bit << 1;
    }
    /* Adding the first bit of a run of ones clears the run and sets the bit after it. */
    const uint64_t in_object = between ^ (between + object_from);
    const uint64_t colon = f->separator & ~f->brace;
    if (KI_UNLIKELY((f->mistakes | (colon ^ (f->behind_name & in_object)) | (f->nameless & in_object) |
                     (closes & (in_object ^ f->brace))) != 0))
        return 0;
    nesting->kinds = kinds | ki_new_kinds(f->brace, opens, depth);
    nesting->depth = depth + (uint32_t)__builtin_popcountll(opens);
    nesting->lowest = lowest;
    return 1;
}

#endif
