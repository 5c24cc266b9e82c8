/* SPDX-License-Identifier: Apache-2.0 */
/* block - what 64 bytes of JSON mean, given bit masks of their characters. The one source of the grammar.
 *
 *   From:     json/kernel_*.c, each of which includes this once, after defining
 *               ki_masks ki_classify(const uint8_t bytes[64])
 *               void     ki_classify_low(const uint8_t bytes[64], uint64_t *control, uint64_t *blank)
 *               uint64_t ki_prefix_xor(uint64_t bits)          bit i = parity of the bits 0 … i
 *               ki_squeeze, ki_squeeze_for(keep), ki_squeeze_bits(squeeze, bits)   the bits that `keep` selects, moved together
 *   To:       json/walk.h, json/sink.c
 *   Not here: instruction sets.
 *
 * Most of the grammar of JSON is about neighbours: which token may stand behind which. Neighbours are adjacent bits once white space
 * is left out, so 64 characters are checked with a few dozen operations on words. What needs more than neighbours is
 * which kind of container encloses a comma: a string behind , or { is a name if a colon follows, which proves an object,
 * and anything else behind a comma proves an array. The proofs are held against the brackets in json/walk.h.
 */
#ifndef KI_JSON_BLOCK_H
#define KI_JSON_BLOCK_H

#include "json/escape.h"
#include "json/kernel.h"
#include "json/literal.h"
#include "json/utf8.h"
#include "json/walk.h"

#define KI_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define KI_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

enum { KI_NO_MISTAKE = 64 };

/* The first mistake in a block that is not one of grammar. */
typedef struct ki_mistake {
    unsigned at;
    int code;
} ki_mistake;

static inline void ki_mistake_add(ki_mistake *mistake, unsigned at, int code)
{
    if (at < mistake->at) {
        mistake->at = at;
        mistake->code = code;
    }
}

/* Bit i says whether the character before the i-th one was in `bits`. */
static inline uint64_t ki_behind(uint64_t bits, uint64_t carry)
{
    return bits << 1 | carry;
}

/* Finds the strings of the block. Sets *out_in to the bytes inside of one, with the opening quote, without the closing one. */
static inline uint64_t ki_find_strings(ki_json_carry *c, const ki_masks *m, unsigned n, uint64_t *out_in)
{
    uint64_t escaped = 0;
    if (KI_UNLIKELY((m->backslash | c->escaped) != 0)) {
        uint64_t overflow = 0;
        escaped = ki_escape_find(m->backslash, c->escaped, &overflow);
        c->escaped = n == 64 ? overflow : escaped >> n & 1;
    }
    uint64_t quotes = m->quote & ~escaped;
    *out_in = ki_prefix_xor(quotes) ^ c->in_string;
    c->in_string = (uint64_t)((int64_t)*out_in >> 63);
    return escaped;
}

/* Runs the automaton over the numbers and words of the block. `literal` marks their bytes. */
static inline void ki_check_literals(ki_json_carry *c, const uint8_t *bytes, unsigned n, uint64_t literal, ki_mistake *mistake)
{
    uint32_t state = c->literal_open ? c->literal_state : KI_LITERAL_START;
    if (c->literal_open && (literal & 1) == 0) {
        if (!ki_literal_may_end(state))
            ki_mistake_add(mistake, 0, KI_ERR_JSON_LITERAL);
        state = KI_LITERAL_START;
    }
    while (literal != 0) {
        unsigned at = (unsigned)__builtin_ctzll(literal);
        do {
            state = ki_literal_step(state, bytes[at]);
            if (KI_UNLIKELY(state == KI_LITERAL_BAD)) {
                ki_mistake_add(mistake, at, KI_ERR_JSON_LITERAL);
                return;
            }
            literal &= literal - 1;
            at++;
        } while (at < 64 && (literal >> at & 1));
        if (at >= n)
            break;
        if (!ki_literal_may_end(state)) {
            ki_mistake_add(mistake, at - 1, KI_ERR_JSON_LITERAL);
            return;
        }
        state = KI_LITERAL_START;
    }
    c->literal_state = state;
}

/* What may stand behind what. `quote` and `in` speak of strings, `literal` and `literal_start` of numbers and words. */
static inline void ki_check_grammar(ki_json_carry *c, ki_block *b, uint64_t quote, uint64_t in, uint64_t literal,
                                    uint64_t literal_start)
{
    const unsigned last = b->count - 1;
    const uint64_t string_start = quote & in;
    const uint64_t string_end = quote & ~in;
    const uint64_t ends_value = string_end | literal | b->close;
    const uint64_t expects = b->colon | b->comma | b->open;
    const uint64_t before_name = b->comma | (b->open & b->brace);
    const uint64_t behind_before_name = ki_behind(before_name, c->may_begin_name);

    /* Adding the first byte of a run of ones carries to the bit behind its last: from opening to closing quotes. */
    const uint64_t name_start = string_start & behind_before_name;
    const uint64_t sum = in + name_start;
    const uint64_t total = sum + c->in_name;
    const uint64_t name_end = total & ~in & b->valid;
    const uint64_t behind_name = ki_behind(name_end, c->ended_name) & b->valid;

    const uint64_t value_start = string_start | literal_start | b->open;
    const uint64_t misplaced_value = value_start & ~ki_behind(expects, c->expects_value);
    const uint64_t misplaced_end = (b->comma | b->close) & ~(ki_behind(ends_value, c->ended_value) |
                                                             (b->close & ki_behind(b->open, c->opened)));
    const uint64_t misplaced_colon = b->colon & ~behind_name;
    b->mistakes = misplaced_value | misplaced_end | misplaced_colon;
    b->in_object = behind_name & b->colon;
    b->in_array = (behind_name & ~b->colon) | ((b->open | literal_start) & behind_before_name);

    c->in_name = b->count == 64 ? (sum < in) | (total < sum) : total >> b->count & 1;
    c->ended_name = name_end >> last & 1;
    c->expects_value = expects >> last & 1;
    c->may_begin_name = before_name >> last & 1;
    c->ended_value = ends_value >> last & 1;
    c->opened = b->open >> last & 1;
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

/* The position in the block of the i-th character. */
static inline unsigned ki_raw_position(uint64_t keep, unsigned i)
{
    for (; i > 0; i--)
        keep &= keep - 1;
    return keep == 0 ? 64 : (unsigned)__builtin_ctzll(keep);
}

/* The value ends before `end` (or goes on, end = n, with a mistake). Returns the bytes taken of the block. */
static inline unsigned ki_finish(ki_json_scanner *s, unsigned end, ki_mistake mistake)
{
    if (mistake.at < end) {
        s->error = mistake.code;
        return mistake.at;
    }
    s->state = KI_SCAN_BEHIND;
    return end;
}

/* A string, number or word that is the whole value: it ends with its closing quote, or before what is no part of it. */
static inline unsigned ki_take_scalar(ki_json_scanner *s, const uint8_t *bytes, unsigned n, uint64_t stop, ki_mistake mistake)
{
    const int is_string = s->scalar == KI_SCALAR_STRING;
    unsigned end = stop == 0 ? n : (unsigned)__builtin_ctzll(stop) + (unsigned)is_string;
    if (s->sink != NULL) {
        ki_json_sink_block(s->sink, bytes);
        ki_json_sink_finish_block(s->sink, end);
    }
    if (!is_string && mistake.at == end)
        end++; /* an unfinished literal is noticed at the byte behind it */
    if (stop == 0 && mistake.at >= n)
        return n;
    return ki_finish(s, end, mistake);
}

/* Takes the tokens of a container, white space left out; `keep` says which bytes of the block they are. Returns the bytes taken. */
static inline unsigned ki_take_tokens(ki_json_scanner *s, ki_block *b, unsigned n, uint64_t keep, ki_mistake mistake)
{
    unsigned end = KI_BLOCK_NO_END;
    unsigned too_deep = KI_NO_MISTAKE;
    if (s->sink != NULL)
        ki_json_sink_block(s->sink, b->chars);
    if (KI_LIKELY(ki_block_is_inside(s, b)))
        ki_block_walk_inside(s, b);
    else
        end = ki_block_walk(s, b, &too_deep);
    if (s->sink != NULL)
        ki_json_sink_finish_block(s->sink, end == KI_BLOCK_NO_END ? b->count : end + 1);
    if (end != KI_BLOCK_NO_END)
        b->mistakes &= (UINT64_C(2) << end) - 1;
    if (KI_LIKELY(end == KI_BLOCK_NO_END && b->mistakes == 0 && mistake.at == KI_NO_MISTAKE &&
                  too_deep == KI_NO_MISTAKE))
        return n;
    if (too_deep != KI_NO_MISTAKE)
        ki_mistake_add(&mistake, ki_raw_position(keep, too_deep), KI_ERR_JSON_DEPTH);
    if (b->mistakes != 0)
        ki_mistake_add(&mistake, ki_raw_position(keep, (unsigned)__builtin_ctzll(b->mistakes)), KI_ERR_JSON_SYNTAX);
    return ki_finish(s, end == KI_BLOCK_NO_END ? n : ki_raw_position(keep, end) + 1, mistake);
}

/* The characters of a block and what they are, still with white space. */
typedef struct ki_tokens {
    uint64_t quote, in, open, close, brace, comma, colon, literal, literal_start, white;
} ki_tokens;

/* Leaves the white space out. `room` takes the characters, when somebody wants them. */
static inline void ki_squeeze_tokens(ki_tokens *t, ki_block *b, uint64_t keep, uint8_t *room)
{
    const ki_squeeze squeeze = ki_squeeze_for(keep);
    t->quote = ki_squeeze_bits(&squeeze, t->quote);
    t->in = ki_squeeze_bits(&squeeze, t->in);
    t->open = ki_squeeze_bits(&squeeze, t->open);
    t->close = ki_squeeze_bits(&squeeze, t->close);
    t->brace = ki_squeeze_bits(&squeeze, t->brace);
    t->comma = ki_squeeze_bits(&squeeze, t->comma);
    t->colon = ki_squeeze_bits(&squeeze, t->colon);
    t->literal = ki_squeeze_bits(&squeeze, t->literal);
    t->literal_start = ki_squeeze_bits(&squeeze, t->literal_start);
    b->count = (unsigned)__builtin_popcountll(keep);
    b->valid = (UINT64_C(1) << b->count) - 1; /* some were left out: count < 64 */
    if (room != NULL) {
        ki_squeeze_bytes(b->chars, keep, room);
        b->chars = room;
    }
}

/* The checks that need the bytes themselves: escapes, control characters, UTF-8, numbers and words. */
static inline ki_mistake ki_check_bytes(ki_json_scanner *s, const uint8_t *bytes, unsigned n, const ki_masks *m,
                                        ki_tokens *t, uint64_t escaped, uint64_t control)
{
    ki_json_carry *c = &s->carry;
    ki_mistake mistake = {KI_NO_MISTAKE, 0};
    if (KI_UNLIKELY((escaped | c->escape_state) != 0)) {
        int rewritable = 0;
        ki_mistake_add(&mistake, ki_escape_check(c, bytes, n, escaped & t->in, &rewritable), KI_ERR_JSON_ESCAPE);
        if (s->sink != NULL)
            s->sink->rewritable |= rewritable;
    }
    if (KI_UNLIKELY((control & t->in) != 0))
        ki_mistake_add(&mistake, (unsigned)__builtin_ctzll(control & t->in), KI_ERR_JSON_CONTROL);
    if (KI_UNLIKELY(m->has_high | (c->utf8_need != 0)))
        ki_mistake_add(&mistake, ki_utf8_check(c, bytes, n), KI_ERR_JSON_UTF8);
    if ((t->literal | c->literal_open) != 0)
        ki_check_literals(c, bytes, n, t->literal, &mistake);
    c->literal_open = t->literal >> (n - 1) & 1;
    return mistake;
}

/* Takes a block of n <= 64 bytes (64 can be read; those behind n are blanks). Returns the bytes taken. */
static inline unsigned ki_take_block(ki_json_scanner *s, const uint8_t *bytes, unsigned n)
{
    const uint64_t valid = n == 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
    const ki_masks m = ki_classify(bytes);
    ki_tokens t;
    const uint64_t escaped = ki_find_strings(&s->carry, &m, n, &t.in);
    t.in &= valid;
    t.quote = m.quote & ~escaped;
    const uint64_t outside = valid & ~(t.in | t.quote);
    uint64_t control = 0;
    t.white = m.space & outside;
    if (KI_UNLIKELY(m.has_low)) {
        uint64_t blank = 0;
        ki_classify_low(bytes, &control, &blank);
        t.white |= blank & outside;
    }
    t.open = m.open & outside;
    t.close = m.close & outside;
    t.brace = m.brace;
    t.comma = m.comma & outside;
    t.colon = m.colon & outside;
    t.literal = outside & ~(t.open | t.close | t.comma | t.colon | t.white);
    t.literal_start = t.literal & ~ki_behind(t.literal, s->carry.literal_open);
    const ki_mistake mistake = ki_check_bytes(s, bytes, n, &m, &t, escaped, control);
    if (KI_UNLIKELY(s->scalar != KI_SCALAR_NONE))
        return ki_take_scalar(s, bytes, n, s->scalar == KI_SCALAR_STRING ? t.quote & ~t.in : valid & ~t.literal, mistake);

    uint8_t room[64];
    uint64_t keep = valid;
    ki_block b = {.chars = bytes, .count = n, .valid = valid};
    if (KI_UNLIKELY(t.white != 0)) {
        keep = valid & ~t.white;
        if (keep == 0)
            return n;
        ki_squeeze_tokens(&t, &b, keep, s->sink == NULL ? NULL : room);
    }
    b.open = t.open;
    b.close = t.close;
    b.brace = t.brace;
    b.comma = t.comma;
    b.colon = t.colon;
    ki_check_grammar(&s->carry, &b, t.quote, t.in, t.literal, t.literal_start);
    return ki_take_tokens(s, &b, n, keep, mistake);
}

static inline size_t ki_scan_blocks(ki_json_scanner *s, const char *bytes, size_t n)
{
    const uint8_t *at = (const uint8_t *)bytes;
    const uint8_t *end = at + n;
    while (end - at >= 64) {
        unsigned used = ki_take_block(s, at, 64);
        at += used;
        if (KI_UNLIKELY(s->state != KI_SCAN_INSIDE || s->error != 0))
            return (size_t)(at - (const uint8_t *)bytes);
    }
    if (at < end) {
        uint8_t padded[64];
        memset(padded, ' ', sizeof(padded));
        memcpy(padded, at, (size_t)(end - at));
        at += ki_take_block(s, padded, (unsigned)(end - at));
    }
    return (size_t)(at - (const uint8_t *)bytes);
}

/* Nesting and strings alone, for text that is known to be JSON. */
static inline size_t ki_skip_container_blocks(const char *text, size_t n)
{
    const uint8_t *bytes = (const uint8_t *)text;
    ki_json_carry carry = {0};
    uint64_t depth = 0;
    uint8_t padded[64];
    for (size_t at = 0; at < n; at += 64) {
        const uint8_t *block = bytes + at;
        unsigned count = 64;
        if (n - at < 64) {
            count = (unsigned)(n - at);
            memset(padded, ' ', sizeof(padded));
            memcpy(padded, block, count);
            block = padded;
        }
        const ki_masks m = ki_classify(block);
        uint64_t in = 0;
        ki_find_strings(&carry, &m, count, &in);
        uint64_t close = m.close & ~in;
        uint64_t open = m.open & ~in;
        if (KI_LIKELY(depth > (uint64_t)__builtin_popcountll(close))) {
            depth += (uint64_t)__builtin_popcountll(open) - (uint64_t)__builtin_popcountll(close);
            continue;
        }
        for (uint64_t left = open | close; left != 0; left &= left - 1) {
            unsigned i = (unsigned)__builtin_ctzll(left);
            depth += (open >> i & 1) ? 1 : UINT64_MAX;
            if (depth == 0)
                return at + i + 1;
        }
    }
    return 0;
}

#endif
