/* SPDX-License-Identifier: Apache-2.0 */
/* block - what 64 bytes of JSON mean, given bit masks of their characters. The one source of the grammar.
 *
 *   From:     json/kernel_*.c, each of which includes this once, after defining
 *               ki_masks ki_classify(const uint8_t bytes[64])
 *               ki_rare  ki_classify_rare(const uint8_t bytes[64])
 *               uint64_t ki_prefix_xor(uint64_t bits)          bit i = parity of the bits 0 … i
 *               ki_squeeze, ki_squeeze_for(keep), ki_squeeze_bits(squeeze, bits)   the bits that `keep`
 *               selects, moved together
 *               uint64_t ki_gather(bits, select)               the same for one mask and few bits
 *   To:       json/walk.h, json/sink.c
 *   Not here: instruction sets.
 *
 * Most of the grammar of JSON is about neighbours: which token may stand behind which. Neighbours are
 * adjacent bits once white space is left out, so 64 characters are checked with a few dozen operations on
 * words. What needs more than neighbours is which kind of container encloses a comma: a string behind , or
 * { is a name if a colon follows, which proves an object, and anything else behind a comma proves an array.
 * The proofs are held against the brackets in json/walk.h.
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

enum { KI_NO_MISTAKE = 64, KI_TAKEN = 128 };

/* The characters of a block by what they are. Strings: `in` has their bytes with the opening quote, without
 * the closing one. */
typedef struct ki_tokens {
    uint64_t quote, in;
    uint64_t expects, bracket, marked; /* as in ki_masks, outside of strings */
    uint64_t literal, literal_start;   /* numbers and words */
} ki_tokens;

/* The first mistake in a block that is not one of grammar. */
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

/* Bit i says whether the character before the i-th one was in `bits`. */
KI_INLINE uint64_t ki_behind(uint64_t bits, uint64_t carry)
{
    return bits << 1 | carry;
}

/* Finds the bytes that a backslash escapes, of the first n; *out_next says so of the byte behind them. */
KI_INLINE uint64_t ki_find_escaped(uint64_t backslash, uint64_t escaped, unsigned n, uint64_t *out_next)
{
    uint64_t next = backslash >> 63;
    if (KI_LIKELY((backslash & (backslash << 1 | escaped)) == 0))
        escaped |= backslash << 1;
    else
        escaped = ki_escape_find(backslash, escaped, &next);
    *out_next = n == 64 ? next : escaped >> n & 1;
    return escaped;
}

/* Tells strings from what stands between them. */
KI_INLINE ki_tokens ki_find_tokens(const ki_json_carry *c, const ki_masks *m, uint64_t escaped)
{
    ki_tokens t = {.quote = m->quote & ~escaped};
    t.in = ki_prefix_xor(t.quote) ^ c->in_string;
    t.expects = m->expects & ~t.in;
    t.bracket = m->bracket & ~t.in;
    t.marked = m->marked & ~t.in;
    t.literal = ~(t.in | t.quote | t.expects | t.bracket);
    return t;
}

/* Runs the automaton over the numbers and words of a block. */
static inline void ki_check_literals(ki_json_carry *c, const uint8_t *bytes, unsigned n, uint64_t literal,
                                     ki_mistake *mistake)
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
            ki_mistake_add(mistake, at, KI_ERR_JSON_LITERAL); /* at the byte behind, as in the next block */
            return;
        }
        state = KI_LITERAL_START;
    }
    c->literal_state = state;
}

/* What may stand behind what. A value begins where one is expected and nowhere else, except that a bracket
 * may close behind the one that opens. */
KI_INLINE void ki_check_grammar(ki_json_carry *c, ki_block *b, const ki_tokens *t)
{
    const unsigned last = b->count - 1;
    const uint64_t string_start = t->quote & t->in;
    const uint64_t before_name = t->expects & t->marked;
    const uint64_t behind_expects = ki_behind(t->expects, c->expects_value) & b->valid;
    const uint64_t behind_open = ki_behind(b->open, c->opened);
    const uint64_t behind_before_name = ki_behind(before_name, c->may_begin_name);

    /* Adding the first byte of a run of ones carries to the bit behind its last: from opening to closing
     * quotes. */
    uint64_t sum = 0;
    uint64_t total = 0;
    const int overflow = __builtin_add_overflow(t->in, string_start & behind_before_name, &sum) |
                         __builtin_add_overflow(sum, c->in_name, &total);
    const uint64_t name_end = total & ~t->in & b->valid;

    const uint64_t bare_start = t->literal_start | b->open;
    b->mistakes = ((string_start | bare_start) ^ behind_expects) & ~(b->close & behind_open);
    b->nameless = bare_start & behind_before_name;
    b->behind_name = ki_behind(name_end, c->ended_name) & b->valid;

    c->in_name = b->count == 64 ? (uint64_t)overflow : total >> b->count & 1;
    c->ended_name = name_end >> last & 1;
    c->expects_value = t->expects >> last & 1;
    c->may_begin_name = before_name >> last & 1;
    c->opened = b->open >> last & 1;
}

KI_INLINE uint64_t ki_block_pairs(const ki_block *b)
{
    return b->open & (b->close >> 1) & ~(b->brace ^ (b->brace >> 1));
}

/* Pushes the kinds of the containers that `opens` begins, all at once: the first becomes number depth + 1. */
KI_INLINE uint64_t ki_push_kinds(uint64_t kinds, uint32_t depth, const ki_block *b, uint64_t opens)
{
    const uint64_t below = (UINT64_C(2) << depth) - 1;
    return (kinds & below) | ki_gather(b->brace, opens) << 1 << depth;
}

/* As ki_block_walk, for a block in which neither the value nor one of the `tracked` outermost containers
 * ends and no limit can be met; returns 0 and has done nothing when it is not such a block. Only closing
 * brackets are followed one by one, and {} and [], which match at sight, not even then; everything else is
 * asked of all 64 characters at once. */
KI_INLINE int ki_block_walk_inside(ki_json_scanner *s, ki_block *b, uint32_t tracked)
{
    const uint64_t pairs = ki_block_pairs(b);
    const uint64_t closes = b->close & ~(pairs << 1);
    uint64_t opens = b->open & ~pairs;
    const uint64_t between = ~(opens | closes);
    uint64_t kinds = s->kinds[0];
    uint32_t depth = s->depth;
    if (KI_UNLIKELY((depth <= tracked) |
                    (depth + (uint32_t)__builtin_popcountll(b->open) > s->inside_depth_max)))
        return 0;
    /* Bit i: from character i to the next bracket, with it, the innermost container is an object. */
    uint64_t object_from = (opens & b->brace) << 1 | (kinds >> depth & 1);
    for (uint64_t left = closes; left != 0; left &= left - 1) {
        const uint64_t bit = left & (0 - left);
        const uint64_t before = opens & (bit - 1);
        kinds = ki_push_kinds(kinds, depth, b, before);
        opens ^= before;
        depth += (uint32_t)__builtin_popcountll(before) - 1;
        if (KI_UNLIKELY(depth <= tracked))
            return 0;
        object_from |= (0 - (kinds >> depth & 1)) & bit << 1;
    }
    s->kinds[0] = ki_push_kinds(kinds, depth, b, opens);
    s->depth = depth + (uint32_t)__builtin_popcountll(opens);
    /* Adding the first bit of a run of ones clears the run and sets the bit behind it. */
    const uint64_t in_object = between ^ (between + object_from);
    b->mistakes |= (b->colon ^ (b->behind_name & in_object)) | (b->nameless & in_object) |
                   (closes & (in_object ^ b->brace));
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

/* Leaves the white space out. */
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

/* A string, number or word that is the whole value: it ends with its closing quote, or before what is no
 * part of it. */
static inline unsigned ki_take_scalar(ki_json_scanner *s, const uint8_t *bytes, unsigned n, uint64_t stop,
                                      ki_mistake mistake)
{
    const int is_string = s->scalar == KI_SCALAR_STRING;
    unsigned end = stop == 0 ? n : (unsigned)__builtin_ctzll(stop) + (unsigned)is_string;
    if (s->sink != NULL) {
        ki_json_sink_block(s->sink, bytes);
        ki_json_sink_flush(s->sink, end);
    }
    if (!is_string && mistake.at == end)
        end++; /* an unfinished literal is noticed at the byte behind it */
    if (stop == 0 && mistake.at >= n)
        return n;
    return ki_finish(s, end, mistake);
}

/* A block in which something happens: a mistake, the end of the value, a member of a tracked container. */
static __attribute__((noinline)) unsigned ki_take_event(ki_json_scanner *s, ki_block *b, unsigned n,
                                                        uint64_t keep, ki_mistake mistake)
{
    unsigned too_deep = KI_NO_MISTAKE;
    if (s->sink != NULL)
        ki_json_sink_block(s->sink, b->chars);
    unsigned end = ki_block_walk(s, b, &too_deep);
    if (s->sink != NULL)
        ki_json_sink_flush(s->sink, end == KI_BLOCK_NO_END ? b->count : end + 1);
    if (end != KI_BLOCK_NO_END)
        b->mistakes &= (UINT64_C(2) << end) - 1;
    if (too_deep != KI_NO_MISTAKE)
        ki_mistake_add(&mistake, ki_raw_position(keep, too_deep), KI_ERR_JSON_DEPTH);
    if (b->mistakes != 0)
        ki_mistake_add(&mistake, ki_raw_position(keep, (unsigned)__builtin_ctzll(b->mistakes)),
                       KI_ERR_JSON_SYNTAX);
    if (end == KI_BLOCK_NO_END && mistake.at == KI_NO_MISTAKE)
        return n;
    return ki_finish(s, end == KI_BLOCK_NO_END ? n : ki_raw_position(keep, end) + 1, mistake);
}

/* Takes the tokens of a container, white space left out; `keep` says which bytes of the block they are.
 * Returns the bytes taken, or KI_TAKEN when that is all of them and nothing else is to be said. */
KI_INLINE unsigned ki_take_tokens(ki_json_scanner *s, ki_block b, unsigned n, uint64_t keep,
                                  ki_mistake mistake)
{
    ki_json_sink *sink = s->sink;
    if (KI_UNLIKELY(mistake.at != KI_NO_MISTAKE ||
                    !ki_block_walk_inside(s, &b, sink == NULL ? 0 : sink->tracked))) {
        ki_block block = b; /* b itself stays in registers */
        return ki_take_event(s, &block, n, keep, mistake);
    }
    if (sink != NULL)
        ki_json_sink_take_block(sink, b.chars, b.count);
    if (KI_LIKELY(b.mistakes == 0))
        return KI_TAKEN;
    s->error = KI_ERR_JSON_SYNTAX;
    return ki_raw_position(keep, (unsigned)__builtin_ctzll(b.mistakes));
}

/* Escapes and UTF-8, which need the bytes themselves. Does not change the carry where it finds a mistake,
 * which may stand behind the value; what was seen before it counts all the same. */
static __attribute__((noinline)) ki_mistake ki_check_strings(ki_json_scanner *s, const uint8_t *bytes,
                                                             unsigned n, uint64_t escaped, int has_high)
{
    ki_escape escape = s->carry.escape;
    ki_utf8 utf8 = s->carry.utf8;
    ki_mistake mistake = {KI_NO_MISTAKE, 0};
    int rewritable = 0;
    ki_mistake_add(&mistake, ki_escape_check(&escape, bytes, n, escaped, &rewritable), KI_ERR_JSON_ESCAPE);
    if (has_high || utf8.need != 0)
        ki_mistake_add(&mistake, ki_utf8_check(&utf8, bytes, n), KI_ERR_JSON_UTF8);
    if (s->sink != NULL)
        s->sink->rewritable |= rewritable;
    if (mistake.at != KI_NO_MISTAKE)
        return mistake;
    s->carry.escape = escape;
    s->carry.utf8 = utf8;
    return mistake;
}

/* `keep` has a bit for each character that is in the tokens. */
KI_INLINE ki_block ki_block_of(const ki_tokens *t, const uint8_t *chars, uint64_t keep)
{
    const unsigned count = (unsigned)__builtin_popcountll(keep);
    return (ki_block){.chars = chars,
                      .count = count,
                      .valid = count == 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1,
                      .open = t->bracket & t->expects,
                      .close = t->bracket & ~t->expects,
                      .brace = t->marked,
                      .comma = t->expects & ~t->bracket & t->marked,
                      .colon = t->expects & ~t->bracket & ~t->marked};
}

/* Any block of n <= 64 bytes (64 can be read; those behind n are blanks). Returns the bytes taken. */
static __attribute__((noinline)) unsigned ki_take_any_block(ki_json_scanner *s, const uint8_t *bytes,
                                                            unsigned n)
{
    ki_json_carry *c = &s->carry;
    const uint64_t valid = n == 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
    ki_masks m = ki_classify(bytes);
    const ki_rare rare = ki_classify_rare(bytes);
    m.expects &= ~rare.control;
    const uint64_t escaped = ki_find_escaped(rare.backslash, c->escaped, n, &c->escaped);
    ki_tokens t = ki_find_tokens(c, &m, escaped);
    c->in_string = (uint64_t)((int64_t)t.in >> 63);
    t.in &= valid;
    const uint64_t white = rare.white & valid & ~t.in;
    t.literal &= valid & ~white;
    t.literal_start = t.literal & ~ki_behind(t.literal, c->literal_open);
    ki_mistake mistake = ki_check_strings(s, bytes, n, escaped & t.in, rare.has_high);
    if ((rare.control & t.in) != 0)
        ki_mistake_add(&mistake, (unsigned)__builtin_ctzll(rare.control & t.in), KI_ERR_JSON_CONTROL);
    if ((t.literal | c->literal_open) != 0)
        ki_check_literals(c, bytes, n, t.literal, &mistake);
    c->literal_open = t.literal >> (n - 1) & 1;
    if (s->scalar != KI_SCALAR_NONE)
        return ki_take_scalar(s, bytes, n,
                              s->scalar == KI_SCALAR_STRING ? t.quote & ~t.in : valid & ~t.literal, mistake);

    uint8_t room[64];
    const uint64_t keep = valid & ~white;
    if (keep == 0) /* white space may still end what was no number or word */
        return mistake.at == KI_NO_MISTAKE ? n : ki_finish(s, n, mistake);
    if (white != 0)
        ki_squeeze_tokens(&t, keep);
    ki_block b = ki_block_of(&t, bytes, keep);
    if (white != 0 && s->sink != NULL) {
        ki_squeeze_bytes(bytes, keep, room);
        b.chars = room;
    }
    ki_check_grammar(c, &b, &t);
    const unsigned taken = ki_take_tokens(s, b, n, keep, mistake);
    return taken == KI_TAKEN ? n : taken;
}

/* Words that are true, false or null, whole, in this block: those bits of `literal`. */
KI_INLINE uint64_t ki_find_words(const uint8_t *bytes, uint64_t starts, uint64_t literal)
{
    uint64_t words = 0;
    for (; starts != 0; starts &= starts - 1) {
        const unsigned at = (unsigned)__builtin_ctzll(starts);
        if (at > 58)
            break;
        uint32_t four;
        memcpy(&four, bytes + at, 4);
        const uint64_t run = literal >> at & 0x3f;
        if (run == 0x1f && bytes[at + 4] == 'e' && memcmp(bytes + at, "fals", 4) == 0)
            words |= UINT64_C(0x1f) << at;
        else if ((run & 0x1f) == 0xf && (memcmp(&four, "true", 4) == 0 || memcmp(&four, "null", 4) == 0))
            words |= UINT64_C(0xf) << at;
    }
    return words;
}

/* Checks the literals of a block that are more than integers in its midst. Returns 0 for a mistake, with
 * nothing changed. */
KI_INLINE int ki_take_literals(ki_json_carry *c, const uint8_t *bytes, ki_tokens *t, uint64_t leading_zero)
{
    ki_mistake mistake = {KI_NO_MISTAKE, 0};
    const uint64_t strange = t->literal & ~t->marked;
    const uint64_t starts = t->literal_start & ~c->literal_open;
    const uint64_t words = ki_find_words(bytes, starts & strange, t->literal);
    if (((strange & ~words) | leading_zero | c->literal_open | t->literal >> 63) != 0) {
        ki_check_literals(c, bytes, 64, t->literal & ~words, &mistake);
        if (mistake.at != KI_NO_MISTAKE)
            return 0;
    }
    t->literal_start = starts;
    c->literal_open = t->literal >> 63;
    return 1;
}

/* The usual block: 64 bytes inside of a container, no white space between tokens. Hands anything else on,
 * before it has changed anything. Returns as ki_take_tokens. */
KI_INLINE unsigned ki_take_block(ki_json_scanner *s, const uint8_t *bytes)
{
    ki_json_carry *c = &s->carry;
    const ki_masks m = ki_classify(bytes);
    const int is_rare = m.is_rare | ((c->escaped | c->escape.state | c->utf8.need) != 0);
    ki_rare rare = {0};
    uint64_t escaped = 0;
    uint64_t escaped_next = 0;
    if (KI_UNLIKELY(is_rare)) {
        rare = ki_classify_rare(bytes);
        escaped = ki_find_escaped(rare.backslash, c->escaped, 64, &escaped_next);
        if (rare.control != 0)
            return ki_take_any_block(s, bytes, 64);
    }
    ki_tokens t = ki_find_tokens(c, &m, escaped);
    t.literal_start = t.literal & ~(t.literal << 1);
    /* Integers of digits alone are right at sight, if they begin and end here and no 0 leads them. */
    const uint64_t leading_zero = (t.literal_start & m.zero) << 1 & t.literal;
    const uint64_t literal_open = c->literal_open;
    const uint32_t literal_state = c->literal_state;
    if (KI_UNLIKELY(((t.literal & ~t.marked) | leading_zero | literal_open | t.literal >> 63) != 0) &&
        !ki_take_literals(c, bytes, &t, leading_zero))
        return ki_take_any_block(s, bytes, 64);
    /* \" and \\ are right at sight. */
    if (KI_UNLIKELY(is_rare) &&
        ((escaped & ~(m.quote | rare.backslash)) | c->escape.state | c->utf8.need | (uint64_t)rare.has_high) != 0 &&
        ki_check_strings(s, bytes, 64, escaped, rare.has_high).at != KI_NO_MISTAKE) {
        c->literal_open = literal_open;
        c->literal_state = literal_state;
        return ki_take_any_block(s, bytes, 64);
    }
    if (KI_UNLIKELY(is_rare))
        c->escaped = escaped_next;
    c->in_string = (uint64_t)((int64_t)t.in >> 63);
    ki_block b = ki_block_of(&t, bytes, ~UINT64_C(0));
    ki_check_grammar(c, &b, &t);
    return ki_take_tokens(s, b, 64, ~UINT64_C(0), (ki_mistake){KI_NO_MISTAKE, 0});
}

KI_INLINE size_t ki_scan_blocks(ki_json_scanner *s, const char *bytes, size_t n)
{
    const uint8_t *at = (const uint8_t *)bytes;
    const uint8_t *end = at + n;
    const int is_scalar = s->scalar != KI_SCALAR_NONE;
    while (end - at >= 64) {
        const unsigned taken = KI_UNLIKELY(is_scalar) ? ki_take_any_block(s, at, 64) : ki_take_block(s, at);
        if (KI_LIKELY(taken == KI_TAKEN)) {
            at += 64;
            continue;
        }
        at += taken;
        if (KI_UNLIKELY(s->state != KI_SCAN_INSIDE || s->error != 0))
            return (size_t)(at - (const uint8_t *)bytes);
    }
    if (at < end) {
        uint8_t padded[64];
        memset(padded, ' ', sizeof(padded));
        memcpy(padded, at, (size_t)(end - at));
        at += ki_take_any_block(s, padded, (unsigned)(end - at));
    }
    return (size_t)(at - (const uint8_t *)bytes);
}

/* Nesting and strings alone, for text that is known to be JSON. */
KI_INLINE size_t ki_skip_container_blocks(const char *text, size_t n)
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
        uint64_t escaped = 0;
        if (KI_UNLIKELY((uint64_t)m.is_rare | carry.escaped))
            escaped = ki_find_escaped(ki_classify_rare(block).backslash, carry.escaped, count, &carry.escaped);
        const ki_tokens t = ki_find_tokens(&carry, &m, escaped);
        carry.in_string = (uint64_t)((int64_t)t.in >> 63);
        const uint64_t close = t.bracket & ~t.expects;
        const uint64_t open = t.bracket & t.expects;
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
