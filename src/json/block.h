/* SPDX-License-Identifier: Apache-2.0 */
/* block - what 64 bytes of JSON mean, given bit masks of their characters. The one source of the grammar.
 *
 *   From:     json/kernel_*.c, each of which includes this once, after defining
 *               ki_masks ki_classify(const uint8_t bytes[64])
 *               void     ki_classify_low(const uint8_t bytes[64], uint64_t *control, uint64_t *white)
 *               uint64_t ki_prefix_xor(uint64_t bits)          bit i = parity of the bits 0 … i
 *               ki_squeeze, ki_squeeze_for(keep), ki_squeeze_bits(squeeze, bits)   the bits that `keep`
 *               selects, moved together
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

enum { KI_NO_MISTAKE = 64 };

/* The characters of a block by what they are. Strings: `in` has their bytes with the opening quote, without
 * the closing one. */
typedef struct ki_tokens {
    uint64_t quote, in, open, close, brace, comma, colon;
    uint64_t literal, literal_start; /* numbers and words */
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

/* Finds the strings of a block and the bytes that a backslash escapes; *out_escaped_next says so of the
 * byte behind it. */
KI_INLINE uint64_t ki_find_strings(const ki_json_carry *c, const ki_masks *m, unsigned n, ki_tokens *t,
                                   uint64_t *out_escaped_next)
{
    uint64_t escaped = c->escaped;
    uint64_t next = 0;
    if (KI_UNLIKELY((m->backslash | escaped) != 0)) {
        next = m->backslash >> 63;
        if (KI_LIKELY((m->backslash & (m->backslash << 1 | escaped)) == 0))
            escaped |= m->backslash << 1;
        else
            escaped = ki_escape_find(m->backslash, escaped, &next);
        next = n == 64 ? next : escaped >> n & 1;
    }
    t->quote = m->quote & ~escaped;
    t->in = ki_prefix_xor(t->quote) ^ c->in_string;
    *out_escaped_next = next;
    return escaped;
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

/* What may stand behind what. */
KI_INLINE void ki_check_grammar(ki_json_carry *c, ki_block *b, const ki_tokens *t)
{
    const unsigned last = b->count - 1;
    const uint64_t string_start = t->quote & t->in;
    const uint64_t expects = t->colon | t->comma | t->open;
    const uint64_t before_name = t->comma | (t->open & t->brace);
    const uint64_t behind_expects = ki_behind(expects, c->expects_value);
    const uint64_t behind_open = ki_behind(t->open, c->opened);
    const uint64_t behind_before_name = ki_behind(before_name, c->may_begin_name);

    /* Adding the first byte of a run of ones carries to the bit behind its last: from opening to closing
     * quotes. */
    const uint64_t sum = t->in + (string_start & behind_before_name);
    const uint64_t total = sum + c->in_name;
    const uint64_t name_end = total & ~t->in & b->valid;
    const uint64_t behind_name = ki_behind(name_end, c->ended_name) & b->valid;

    const uint64_t value_start = string_start | t->literal_start | t->open;
    b->mistakes = (value_start & ~behind_expects) |
                  (behind_expects & (t->comma | (t->close & ~behind_open))) | (t->colon & ~behind_name);
    b->in_object = behind_name & t->colon;
    b->in_array = (behind_name & ~t->colon) | ((t->open | t->literal_start) & behind_before_name);

    c->in_name = b->count == 64 ? (sum < t->in) | (total < sum) : total >> b->count & 1;
    c->ended_name = name_end >> last & 1;
    c->expects_value = expects >> last & 1;
    c->may_begin_name = before_name >> last & 1;
    c->opened = t->open >> last & 1;
}

/* Follows the kinds of the containers over one bracket, or over none (bit = 0). Sets `turns` where the kind
 * changes: no branches, since nothing about the next bracket can be foretold. */
KI_INLINE uint64_t ki_step_bracket(const ki_block *b, uint64_t types, uint64_t bit, uint64_t *turns)
{
    const uint64_t opens = (b->open & bit) != 0;
    const uint64_t closes = (b->close & bit) != 0;
    const uint64_t is_object = (b->open & b->brace & bit) != 0;
    const uint64_t now = (types << opens | is_object) >> closes;
    *turns ^= (0 - ((now ^ types) & 1)) & (bit << 1);
    return now;
}

/* As ki_block_walk, for a block in which neither the value nor a tracked container can end and no limit can
 * be met. Only the kinds of the containers must be followed from bracket to bracket; everything else is
 * asked of all 64 characters at once. `pairs` are the opening halves of {} and [], which match at sight. */
KI_INLINE void ki_block_walk_inside(ki_json_scanner *s, ki_block *b, uint64_t pairs)
{
    uint64_t types = s->types;
    /* Bit i: the innermost container is of another kind at character i than at the one before. */
    uint64_t turns = types & 1;
    const uint64_t closes = b->close & ~(pairs << 1);
    uint64_t brackets = (b->open & ~pairs) | closes;
    while (brackets != 0) {
        types = ki_step_bracket(b, types, brackets & (0 - brackets), &turns);
        brackets &= brackets - 1;
        types = ki_step_bracket(b, types, brackets & (0 - brackets), &turns);
        brackets &= brackets - 1;
    }
    const uint64_t in_object =
        ki_prefix_xor(turns); /* at a bracket: the container before it opens or closes */
    b->mistakes |=
        (b->in_array & in_object) | (b->in_object & ~in_object) | (closes & (in_object ^ b->brace));
    s->types = types;
    s->depth += (uint32_t)__builtin_popcountll(b->open) - (uint32_t)__builtin_popcountll(b->close);
}

KI_INLINE uint64_t ki_block_pairs(const ki_block *b)
{
    return b->open & (b->close >> 1) & ~(b->brace ^ (b->brace >> 1));
}

/* Whether a block may go that way. */
KI_INLINE int ki_block_is_inside(const ki_json_scanner *s, const ki_block *b, uint64_t pairs)
{
    const uint32_t tracked = s->sink == NULL ? 0 : s->sink->tracked;
    const uint32_t opens = (uint32_t)__builtin_popcountll(b->open);
    const uint32_t closes = (uint32_t)__builtin_popcountll(b->close & ~(pairs << 1));
    return (s->depth > tracked + closes) & (s->depth + opens <= s->inside_depth_max);
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
    t->open = ki_squeeze_bits(&squeeze, t->open);
    t->close = ki_squeeze_bits(&squeeze, t->close);
    t->brace = ki_squeeze_bits(&squeeze, t->brace);
    t->comma = ki_squeeze_bits(&squeeze, t->comma);
    t->colon = ki_squeeze_bits(&squeeze, t->colon);
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
        ki_json_sink_finish_block(s->sink, end);
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
    unsigned end = ki_block_walk(s, b, &too_deep);
    if (s->sink != NULL)
        ki_json_sink_finish_block(s->sink, end == KI_BLOCK_NO_END ? b->count : end + 1);
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
 * Returns the bytes taken. */
KI_INLINE unsigned ki_take_tokens(ki_json_scanner *s, ki_block b, unsigned n, uint64_t keep,
                                  ki_mistake mistake)
{
    if (s->sink != NULL)
        ki_json_sink_block(s->sink, b.chars);
    const uint64_t pairs = ki_block_pairs(&b);
    if (KI_UNLIKELY(mistake.at != KI_NO_MISTAKE || !ki_block_is_inside(s, &b, pairs))) {
        ki_block block = b; /* b itself stays in registers */
        return ki_take_event(s, &block, n, keep, mistake);
    }
    ki_block_walk_inside(s, &b, pairs);
    if (s->sink != NULL)
        ki_json_sink_finish_block(s->sink, b.count);
    if (KI_LIKELY(b.mistakes == 0))
        return n;
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
                      .open = t->open,
                      .close = t->close,
                      .brace = t->brace,
                      .comma = t->comma,
                      .colon = t->colon};
}

/* Any block of n <= 64 bytes (64 can be read; those behind n are blanks). Returns the bytes taken. */
static __attribute__((noinline)) unsigned ki_take_any_block(ki_json_scanner *s, const uint8_t *bytes,
                                                            unsigned n)
{
    ki_json_carry *c = &s->carry;
    const uint64_t valid = n == 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
    const ki_masks m = ki_classify(bytes);
    uint64_t control = 0;
    uint64_t white = 0;
    ki_classify_low(bytes, &control, &white);
    ki_tokens t;
    const uint64_t escaped = ki_find_strings(c, &m, n, &t, &c->escaped);
    c->in_string = (uint64_t)((int64_t)t.in >> 63);
    t.in &= valid;
    const uint64_t outside = valid & ~(t.in | t.quote);
    white &= outside;
    t.open = m.open & outside;
    t.close = m.close & outside;
    t.brace = m.brace;
    t.comma = m.comma & outside;
    t.colon = m.colon & outside;
    t.literal = outside & ~(t.open | t.close | t.comma | t.colon | white);
    t.literal_start = t.literal & ~ki_behind(t.literal, c->literal_open);
    ki_mistake mistake = ki_check_strings(s, bytes, n, escaped & t.in, m.has_high);
    if ((control & t.in) != 0)
        ki_mistake_add(&mistake, (unsigned)__builtin_ctzll(control & t.in), KI_ERR_JSON_CONTROL);
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
    return ki_take_tokens(s, b, n, keep, mistake);
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

/* The usual block: 64 bytes inside of a container, no white space between tokens. Hands anything else on,
 * before it has changed anything. */
KI_INLINE unsigned ki_take_block(ki_json_scanner *s, const uint8_t *bytes)
{
    ki_json_carry *c = &s->carry;
    const ki_masks m = ki_classify(bytes);
    ki_tokens t;
    uint64_t escaped_next = 0;
    const uint64_t escaped = ki_find_strings(c, &m, 64, &t, &escaped_next);
    const uint64_t outside = ~(t.in | t.quote);
    t.open = m.open & outside;
    t.close = m.close & outside;
    t.brace = m.brace;
    t.comma = m.comma & outside;
    t.colon = m.colon & outside;
    t.literal = outside & ~(t.open | t.close | t.comma | t.colon);
    t.literal_start = t.literal & ~(t.literal << 1);
    /* Integers of digits alone are right at sight, if they begin and end here and no 0 leads them. */
    const uint64_t strange = t.literal & ~m.digit;
    const uint64_t leading_zero = (t.literal_start & m.zero) << 1 & t.literal;
    if (KI_UNLIKELY(((strange | leading_zero | c->literal_open | t.literal >> 63) != 0) | m.has_low)) {
        const uint64_t words = ki_find_words(bytes, t.literal_start & strange, t.literal);
        if (((strange & ~words) | leading_zero | c->literal_open | t.literal >> 63) != 0 || m.has_low)
            return ki_take_any_block(s, bytes, 64);
    }
    /* \" and \\ are right at sight. */
    const uint64_t unusual = escaped & ~(m.quote | m.backslash);
    if (KI_UNLIKELY((unusual | c->escape.state | c->utf8.need) != 0 || m.has_high) &&
        ki_check_strings(s, bytes, 64, escaped, m.has_high).at != KI_NO_MISTAKE)
        return ki_take_any_block(s, bytes, 64);
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
        at += KI_UNLIKELY(is_scalar) ? ki_take_any_block(s, at, 64) : ki_take_block(s, at);
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
        ki_tokens t;
        ki_find_strings(&carry, &m, count, &t, &carry.escaped);
        carry.in_string = (uint64_t)((int64_t)t.in >> 63);
        const uint64_t close = m.close & ~t.in;
        const uint64_t open = m.open & ~t.in;
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
