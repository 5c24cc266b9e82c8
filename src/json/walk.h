/* SPDX-License-Identifier: Apache-2.0 */
/* walk - follows the brackets of one block: nesting, matching, the end of the value, and calls of the sink.
 *
 *   From:     json/kernel/block.h, json/scan.c (the depth at the beginning)
 *   To:       json/sink.c
 *   Not here: which token may follow which (json/kernel/grammar.h).
 */
#ifndef KI_JSON_WALK_H
#define KI_JSON_WALK_H

#include "json/scan.h"

/* One block without the white space between tokens: bit i stands for the i-th character. */
typedef struct ki_block {
    const uint8_t *chars;
    unsigned count;
    uint64_t valid; /* the low `count` bits */
    uint64_t open;  /* { [ */
    uint64_t close; /* } ] */
    uint64_t brace; /* which of these are { }; unspecified for other characters */
    uint64_t comma;
    uint64_t colon;
    uint64_t behind_name; /* after a string that follows , or {: in an object, this must be a colon */
    uint64_t nameless;    /* a bracket, number or word after , or {: not allowed in an object */
    uint64_t mistakes;    /* other violations of the grammar */
} ki_block;

enum { KI_BLOCK_NO_END = 64 };

/* Whether the innermost container is an object. */
static inline uint64_t ki_kinds_innermost(const ki_json_scanner *s)
{
    return s->kinds[s->depth >> 6] >> (s->depth & 63) & 1;
}

static inline void ki_kinds_push(ki_json_scanner *s, uint64_t is_object)
{
    s->depth++;
    s->kinds[s->depth >> 6] |= is_object << (s->depth & 63);
}

static inline void ki_kinds_pop(ki_json_scanner *s)
{
    s->kinds[s->depth >> 6] &= ~(UINT64_C(1) << (s->depth & 63));
    s->depth--;
}

/* Sets how many containers are open beyond depth_max. While there are any, each block must be walked. */
static inline void ki_depth_set_beyond(ki_json_scanner *s, uint32_t count)
{
    const uint32_t in_first_word = s->depth_max < 63 ? s->depth_max : 63;
    s->too_deep = count;
    s->inside_depth_max = count > 0 ? 0 : in_first_word;
}

/* Follows the brackets one by one, in any block. Adds to block->mistakes. Returns the position of the
 * bracket that ends the value, or KI_BLOCK_NO_END. *out_too_deep must be 64; it is set to the first bracket
 * that opens a container beyond depth_max. A lenient scan continues after it, without checking the order of
 * tokens in it. */
unsigned ki_block_walk(ki_json_scanner *s, ki_block *block, unsigned *out_too_deep);

/* Reports the structural characters of tracked containers to the sink. The block begins at `depth`, is
 * valid, and does not end the value. */
void ki_block_tell(ki_json_sink *sink, const ki_block *block, uint32_t depth);

#endif
