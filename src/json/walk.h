/* SPDX-License-Identifier: Apache-2.0 */
/* walk - goes through the brackets of one block: nesting, matching, the end of the value, what the sink
 * wants to know.
 *
 *   From:     json/kernel/block.h
 *   To:       json/sink.c
 *   Not here: what may follow what (json/kernel/grammar.h).
 */
#ifndef KI_JSON_WALK_H
#define KI_JSON_WALK_H

#include "json/scan.h"

/* One block without the white space between tokens: bit i speaks of the i-th character. */
typedef struct ki_block {
    const uint8_t *chars;
    unsigned count;
    uint64_t valid; /* the low `count` bits */
    uint64_t open;  /* { [ */
    uint64_t close; /* } ] */
    uint64_t brace; /* of those: { }; anything elsewhere */
    uint64_t comma;
    uint64_t colon;
    uint64_t behind_name; /* what follows a string behind , or {: a colon in an object, none in an array */
    uint64_t nameless;    /* a bracket, number or word behind , or {: not in an object */
    uint64_t mistakes;    /* against the grammar, other than these */
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

/* Sets how many containers are open beyond depth_max. While there are, each block has to be walked. */
static inline void ki_depth_set_beyond(ki_json_scanner *s, uint32_t count)
{
    const uint32_t in_first_word = s->depth_max < 63 ? s->depth_max : 63;
    s->too_deep = count;
    s->inside_depth_max = count > 0 ? 0 : in_first_word;
}

/* Goes through the brackets with everything that may happen at one. Adds to block->mistakes. Returns the
 * position of the bracket that ends the value, or KI_BLOCK_NO_END. *out_too_deep, 64 before, is the first
 * bracket that opens beyond depth_max; what stands in it is not looked at if the scan goes on after it. */
unsigned ki_block_walk(ki_json_scanner *s, ki_block *block, unsigned *out_too_deep);

/* Tells the sink of the characters of tracked containers in a block that is right, that begins at `depth`
 * and in which the value does not end. */
void ki_block_tell(ki_json_sink *sink, const ki_block *block, uint32_t depth);

#endif
