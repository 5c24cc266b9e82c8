/* SPDX-License-Identifier: Apache-2.0 */
/* walk - goes through the brackets of one block: nesting, matching, the end of the value, what the sink
 * wants to know.
 *
 *   From:     json/block.h
 *   To:       json/sink.c
 *   Not here: what may follow what (json/block.h).
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
    uint64_t brace; /* of those: { } */
    uint64_t comma;
    uint64_t colon;
    uint64_t in_object; /* proves that the container around it is an object, */
    uint64_t in_array;  /* ... is an array. At a bracket: the container before it opens or closes. */
    uint64_t mistakes;  /* against the grammar */
} ki_block;

enum { KI_BLOCK_NO_END = 64 };

static inline void ki_types_push(ki_json_scanner *s, uint64_t is_object)
{
    if ((s->depth & 63) == 0)
        s->outer_types[s->depth >> 6] = s->types;
    s->types = s->types << 1 | is_object;
    s->depth++;
}

static inline void ki_types_pop(ki_json_scanner *s)
{
    s->types >>= 1;
    s->depth--;
    if ((s->depth & 63) == 0)
        s->types = s->outer_types[s->depth >> 6];
}

/* Goes through the brackets with everything that may happen at one. Adds to block->mistakes. Returns the
 * position of the bracket that ends the value, or KI_BLOCK_NO_END. Too deep a nesting is set as the
 * scanner's error with its position in *out_too_deep. */
unsigned ki_block_walk(ki_json_scanner *s, ki_block *block, unsigned *out_too_deep);

#endif
