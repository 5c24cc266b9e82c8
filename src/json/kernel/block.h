/* SPDX-License-Identifier: Apache-2.0 */
/* block - scans a value in blocks of 64 bytes, given bit masks of their characters.
 *
 *   From:     json/kernel/kernel_*.c, each of which includes this once, after defining
 *               ki_masks ki_classify(const uint8_t bytes[64])
 *               ki_rare  ki_classify_rare(const uint8_t bytes[64])
 *               uint64_t ki_prefix_xor(uint64_t bits)          bit i = parity of the bits 0 … i
 *               ki_squeeze, ki_squeeze_for(keep), ki_squeeze_bits(squeeze, bits)   the bits that `keep`
 *               selects, moved together
 *               uint64_t ki_gather(bits, select)               the same for a single mask of few bits
 *   To:       json/kernel/tokens.h, json/kernel/grammar.h, json/walk.h, json/sink.c
 *   Not here: instruction sets.
 *
 * Servers send compact text. Whole blocks of such text are processed several at a time: first everything
 * that does not depend on brackets (ki_find_ahead), then the brackets (ki_walk_found). Unusual blocks are
 * processed one by one, and text with white space takes the slow path (ki_take_any_block).
 */
#ifndef KI_JSON_KERNEL_BLOCK_H
#define KI_JSON_KERNEL_BLOCK_H

#include "json/kernel.h"
#include "json/kernel/grammar.h"
#include "json/kernel/tokens.h"
#include "json/utf8.h"
#include "json/walk.h"

/* Ends the scan: with the value, which ends before `end`, or with a mistake before `end`; `end` is n if the
 * value does not end in the block. Returns the bytes consumed of the block. */
static inline unsigned ki_finish(ki_json_scanner *s, unsigned end, ki_mistake mistake)
{
    if (mistake.at < end) {
        s->error = mistake.code;
        return mistake.at;
    }
    s->state = KI_SCAN_BEHIND;
    return end;
}

/* Takes a block of a string, number or word that is the whole value. A string ends with its closing quote,
 * others before the first byte that is not part of them. */
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
        end++; /* an unfinished literal is detected at the byte after it */
    if (stop == 0 && mistake.at >= n)
        return n;
    return ki_finish(s, end, mistake);
}

/* A block without its white space: its characters, which of its n bytes they were (`keep`), and its
 * position in the kernel's input. */
typedef struct ki_kept {
    const uint8_t *chars;
    uint64_t keep;
    unsigned n;
    const uint8_t *origin;
} ki_kept;

/* Notes the first mistake after which a lenient scan continues. */
static inline void ki_refuse(ki_json_scanner *s, const uint8_t *origin, ki_mistake mistake)
{
    const uint64_t offset = s->offset + (uint64_t)(origin - s->slice) + mistake.at;
    if (s->refused != 0 && s->refused_offset <= offset)
        return;
    s->refused = mistake.code;
    s->refused_offset = offset;
}

/* Takes a block that may contain a mistake, the end of the value, or nesting near the limit. */
static __attribute__((noinline)) unsigned ki_take_event(ki_json_scanner *s, ki_block *b, const ki_kept *kept,
                                                        ki_mistake mistake)
{
    const uint64_t keep = kept->keep;
    unsigned too_deep = KI_NO_MISTAKE;
    if (s->sink != NULL)
        ki_json_sink_block(s->sink, b->chars);
    unsigned end = ki_block_walk(s, b, &too_deep);
    if (s->sink != NULL)
        ki_json_sink_flush(s->sink, end == KI_BLOCK_NO_END ? b->count : end + 1);
    if (end != KI_BLOCK_NO_END)
        b->mistakes &= (UINT64_C(2) << end) - 1;
    if (b->mistakes != 0)
        ki_mistake_add(&mistake, ki_raw_position(keep, (unsigned)__builtin_ctzll(b->mistakes)),
                       KI_ERR_JSON_SYNTAX);
    if (too_deep != KI_NO_MISTAKE) {
        const ki_mistake depth = {ki_raw_position(keep, too_deep), KI_ERR_JSON_DEPTH};
        if (!s->is_lenient)
            ki_mistake_add(&mistake, depth.at, depth.code);
        else if (depth.at < mistake.at)
            ki_refuse(s, kept->origin, depth);
    }
    if (end == KI_BLOCK_NO_END && mistake.at == KI_NO_MISTAKE)
        return kept->n;
    return ki_finish(s, end == KI_BLOCK_NO_END ? kept->n : ki_raw_position(keep, end) + 1, mistake);
}

/* The block that `found` describes: `count` characters, white space removed. */
KI_INLINE ki_block ki_block_of(const ki_found *f, const uint8_t *chars, unsigned count)
{
    return (ki_block){.chars = chars,
                      .count = count,
                      .valid = count == 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1,
                      .open = f->open,
                      .close = f->close,
                      .brace = f->brace,
                      .comma = f->separator & f->brace,
                      .colon = f->separator & ~f->brace,
                      .behind_name = f->behind_name,
                      .nameless = f->nameless,
                      .mistakes = f->mistakes};
}

/* Passes a block to the sink that contains characters directly in a tracked container. */
static __attribute__((noinline)) void ki_tell_sink(ki_json_sink *sink, const ki_block *b, uint32_t depth)
{
    ki_json_sink_block(sink, b->chars);
    ki_block_tell(sink, b, depth);
    ki_json_sink_flush(sink, b->count);
}

/* Takes the tokens of a block inside a container, white space removed. Returns the bytes consumed. */
static inline unsigned ki_take_tokens(ki_json_scanner *s, const ki_tokens *t, ki_kept kept,
                                      ki_mistake mistake)
{
    const unsigned count = (unsigned)__builtin_popcountll(kept.keep);
    const ki_found found = ki_check_grammar(&s->carry.grammar, t, count);
    const uint32_t depth = s->depth;
    ki_json_sink *sink = s->sink;
    ki_nesting nesting = {.kinds = s->kinds[0], .depth = depth};
    ki_block b = ki_block_of(&found, kept.chars, count);
    if (mistake.at != KI_NO_MISTAKE || ki_is_empty_value(&found, depth) ||
        !ki_walk_inside(&found, s->inside_depth_max, &nesting))
        return ki_take_event(s, &b, &kept, mistake);
    s->kinds[0] = nesting.kinds;
    s->depth = nesting.depth;
    if (sink != NULL && nesting.lowest > sink->tracked)
        ki_json_sink_take(sink, kept.chars, count);
    else if (sink != NULL)
        ki_tell_sink(sink, &b, depth);
    return kept.n;
}

/* Checks escapes and UTF-8, for which the masks are not enough. Does not change the carry if it finds a
 * mistake: the mistake may be after the end of the value, where it does not count. */
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

/* If the scan is lenient and inside a container, removes the mistake, which is in a string, from `mistake`,
 * resets the state of unfinished escapes and characters, and returns the mistake. */
static inline ki_mistake ki_pass_over(ki_json_scanner *s, ki_mistake *mistake)
{
    const ki_mistake none = {KI_NO_MISTAKE, 0};
    if (!s->is_lenient || s->scalar != KI_SCALAR_NONE || mistake->at == KI_NO_MISTAKE)
        return none;
    const ki_mistake passed = *mistake;
    *mistake = none;
    s->carry.escape = (ki_escape){0};
    s->carry.utf8 = (ki_utf8){0};
    return passed;
}

/* Takes any block of n <= 64 bytes, which are at `origin` in the input. 64 bytes can be read; those from n
 * on are blanks. Returns the bytes consumed. */
static __attribute__((noinline)) unsigned ki_take_any_block(ki_json_scanner *s, const uint8_t *bytes,
                                                            unsigned n, const uint8_t *origin)
{
    ki_json_carry *c = &s->carry;
    const uint64_t valid = n == 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
    ki_masks m = ki_classify(bytes);
    const ki_rare rare = ki_classify_rare(bytes);
    m.expects &= ~rare.control;
    const uint64_t escaped = ki_find_escaped(rare.backslash, c->escaped, n, &c->escaped);
    ki_tokens t = ki_find_tokens(c->in_string, &m, escaped);
    c->in_string = (uint64_t)((int64_t)t.in >> 63);
    t.in &= valid;
    const uint64_t white = rare.white & valid & ~t.in;
    t.literal &= valid & ~white;
    t.literal_start = t.literal & ~ki_behind(t.literal, c->literal_open);
    ki_mistake mistake = ki_check_strings(s, bytes, n, escaped & t.in, rare.has_high);
    if ((rare.control & t.in) != 0)
        ki_mistake_add(&mistake, (unsigned)__builtin_ctzll(rare.control & t.in), KI_ERR_JSON_CONTROL);
    const ki_mistake passed = ki_pass_over(s, &mistake);
    if ((t.literal | c->literal_open) != 0)
        ki_check_literals(c, bytes, n, t.literal, &mistake);
    c->literal_open = t.literal >> (n - 1) & 1;
    if (s->scalar != KI_SCALAR_NONE)
        return ki_take_scalar(s, bytes, n,
                              s->scalar == KI_SCALAR_STRING ? t.quote & ~t.in : valid & ~t.literal, mistake);

    uint8_t squeezed[64];
    const uint64_t keep = valid & ~white;
    if (keep == 0) /* a block of white space may follow an incomplete number or word */
        return mistake.at == KI_NO_MISTAKE ? n : ki_finish(s, n, mistake);
    if (white != 0)
        ki_squeeze_tokens(&t, keep);
    if (white != 0 && s->sink != NULL) {
        ki_squeeze_bytes(bytes, keep, squeezed);
        bytes = squeezed;
    }
    const unsigned taken = ki_take_tokens(s, &t, (ki_kept){bytes, keep, n, origin}, mistake);
    if (passed.at != KI_NO_MISTAKE &&
        passed.at < taken + (s->error != 0)) /* else the mistake is after the end of the value */
        ki_refuse(s, origin, passed);
    return taken;
}

/* Checks the literals of a block byte by byte. Returns 0 on a mistake, with the carry unchanged. */
KI_INLINE int ki_take_literals(ki_json_carry *c, const uint8_t *bytes, ki_tokens *t)
{
    ki_mistake mistake = {KI_NO_MISTAKE, 0};
    t->literal_start &= ~c->literal_open;
    ki_check_literals(c, bytes, 64, t->literal, &mistake);
    if (mistake.at == KI_NO_MISTAKE)
        c->literal_open = t->literal >> 63;
    return mistake.at == KI_NO_MISTAKE;
}

/* Takes a block of 64 bytes inside a container, without white space between tokens. Leaves other blocks to
 * ki_take_any_block(), with the scanner unchanged. Returns the bytes consumed. */
static __attribute__((noinline)) unsigned ki_take_dense_block(ki_json_scanner *s, const uint8_t *bytes)
{
    ki_json_carry *c = &s->carry;
    const ki_masks m = ki_classify(bytes);
    const ki_rare rare = ki_classify_rare(bytes);
    uint64_t escaped_next = 0;
    const uint64_t escaped = ki_find_escaped(rare.backslash, c->escaped, 64, &escaped_next);
    if (rare.control != 0)
        return ki_take_any_block(s, bytes, 64, bytes);
    ki_tokens t = ki_find_tokens(c->in_string, &m, escaped);
    const uint64_t literal_open = c->literal_open;
    const uint32_t literal_state = c->literal_state;
    if ((t.literal | literal_open) != 0 && !ki_take_literals(c, bytes, &t))
        return ki_take_any_block(s, bytes, 64, bytes);
    if ((ki_unusual_escapes(&m, &rare, escaped) | c->escape.state | c->utf8.need | (uint64_t)rare.has_high) !=
            0 &&
        ki_check_strings(s, bytes, 64, escaped, rare.has_high).at != KI_NO_MISTAKE) {
        c->literal_open = literal_open;
        c->literal_state = literal_state;
        return ki_take_any_block(s, bytes, 64, bytes);
    }
    c->escaped = escaped_next;
    c->in_string = (uint64_t)((int64_t)t.in >> 63);
    return ki_take_tokens(s, &t, (ki_kept){bytes, ~UINT64_C(0), 64, bytes}, (ki_mistake){KI_NO_MISTAKE, 0});
}

/* A usual block has only plain bytes, \" and \\, and only literals that need no closer look. Processes the
 * first of `count` blocks as long as they are usual, but not their brackets, and returns the number of these
 * blocks. Neither strings nor the order of tokens depend on brackets, so this can run ahead: two short loops
 * keep a processor busier than one long loop. */
static __attribute__((noinline)) size_t ki_find_ahead(ki_json_carry *c, const uint8_t *bytes, size_t count,
                                                      ki_found *out)
{
    const uint8_t *at = bytes;
    const uint8_t *end = bytes + count * 64;
    uint64_t in_string = c->in_string;
    uint64_t escaped_next = c->escaped;
    for (; at < end; at += 64) {
        const ki_masks m = ki_classify(at);
        uint64_t escaped = 0;
        uint64_t next = 0;
        if (KI_UNLIKELY(m.is_rare) || KI_UNLIKELY(escaped_next != 0)) {
            const ki_rare rare = ki_classify_rare(at);
            escaped = ki_find_escaped(rare.backslash, escaped_next, 64, &next);
            if ((ki_unusual_escapes(&m, &rare, escaped) | rare.control | (uint64_t)rare.has_high) != 0)
                break;
        }
        ki_tokens t = ki_find_tokens(in_string, &m, escaped);
        /* A single digit needs no check if the number ends with it in this block. */
        const uint64_t digit_start = t.literal_start & t.marked & ~(UINT64_C(1) << 63);
        if (KI_UNLIKELY((t.literal & ~digit_start) != 0) && !ki_are_plain_literals(at, t.literal, t.marked))
            break;
        in_string = (uint64_t)((int64_t)t.in >> 63);
        escaped_next = next;
        *out++ = ki_check_grammar(&c->grammar, &t, 64);
    }
    c->in_string = in_string;
    c->escaped = escaped_next;
    return (size_t)(at - bytes) / 64;
}

/* Follows the brackets of up to `count` blocks. Stops before the first block that ki_walk_inside() does not
 * take, for example because the value ends in it. Returns the number of blocks before that. */
static __attribute__((noinline)) size_t ki_walk_found(ki_json_scanner *s, const uint8_t *bytes,
                                                      const ki_found *found, size_t count)
{
    ki_json_sink *sink = s->sink;
    ki_nesting nesting = {.kinds = s->kinds[0], .depth = s->depth};
    const uint32_t depth_max = s->inside_depth_max;
    uint32_t tracked = sink == NULL ? 0 : sink->tracked;
    const uint8_t *kept = bytes; /* everything before this was passed to the sink */
    size_t i = 0;
    if (count == 0 || ki_is_empty_value(found, nesting.depth))
        return 0;
    for (; i < count; i++) {
        const uint32_t depth = nesting.depth;
        if (KI_UNLIKELY(!ki_walk_inside(&found[i], depth_max, &nesting)))
            break;
        if (KI_LIKELY(nesting.lowest > tracked) || sink == NULL)
            continue;
        const ki_block b = ki_block_of(&found[i], bytes + i * 64, 64);
        ki_json_sink_take(sink, kept, (size_t)(b.chars - kept));
        ki_tell_sink(sink, &b, depth);
        tracked = sink->tracked;
        kept = b.chars + 64;
    }
    s->kinds[0] = nesting.kinds;
    s->depth = nesting.depth;
    if (sink != NULL)
        ki_json_sink_take(sink, kept, (size_t)(bytes + i * 64 - kept));
    return i;
}

/* Whether an escape, a character or a literal that began in the previous block is unfinished. */
KI_INLINE uint64_t ki_has_unfinished(const ki_json_carry *c)
{
    return c->escape.state | c->utf8.need | c->literal_open;
}

/* The number of blocks that ki_find_ahead() processes at a time. Its work past the end of the value is
 * discarded. */
enum { KI_AHEAD = 8 };

/* Scans whole blocks inside a container. Returns the bytes consumed. */
KI_INLINE size_t ki_scan_whole_blocks(ki_json_scanner *s, const uint8_t *bytes, size_t count)
{
    ki_found found[KI_AHEAD];
    const uint8_t *at = bytes;
    const uint8_t *end = bytes + count * 64;
    while (at < end) {
        const size_t left = (size_t)(end - at) / 64;
        const size_t ahead = ki_has_unfinished(&s->carry) ? 0 : left < KI_AHEAD ? left : KI_AHEAD;
        const size_t usual = ki_find_ahead(&s->carry, at, ahead, found);
        for (size_t i = 0; i < usual; i++) {
            const size_t walked = ki_walk_found(s, at, found + i, usual - i);
            at += walked * 64;
            i += walked;
            if (i == usual)
                break;
            ki_block b = ki_block_of(&found[i], at, 64);
            const ki_kept kept = {at, ~UINT64_C(0), 64, at};
            at += ki_take_event(s, &b, &kept, (ki_mistake){KI_NO_MISTAKE, 0});
            if (s->state != KI_SCAN_INSIDE || s->error != 0)
                return (size_t)(at - bytes);
        }
        if (usual == KI_AHEAD || at == end)
            continue;
        at += ki_take_dense_block(s, at);
        if (s->state != KI_SCAN_INSIDE || s->error != 0)
            return (size_t)(at - bytes);
    }
    return (size_t)(at - bytes);
}

static size_t ki_scan_blocks(ki_json_scanner *s, const char *bytes, size_t n)
{
    const uint8_t *at = (const uint8_t *)bytes;
    const uint8_t *end = at + n;
    s->slice = at;
    if (s->scalar == KI_SCALAR_NONE)
        at += ki_scan_whole_blocks(s, at, n / 64);
    while (at < end && s->state == KI_SCAN_INSIDE && s->error == 0) {
        uint8_t padded[64];
        const unsigned count = end - at < 64 ? (unsigned)(end - at) : 64;
        memset(padded, ' ', sizeof(padded));
        memcpy(padded, at, count);
        at += ki_take_any_block(s, padded, count, at);
    }
    return (size_t)(at - (const uint8_t *)bytes);
}

/* Looks at brackets and strings only, for text that is known to be JSON. */
static size_t ki_skip_container_blocks(const char *text, size_t n)
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
            escaped =
                ki_find_escaped(ki_classify_rare(block).backslash, carry.escaped, count, &carry.escaped);
        const ki_tokens t = ki_find_tokens(carry.in_string, &m, escaped);
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
