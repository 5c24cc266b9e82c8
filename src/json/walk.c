/* SPDX-License-Identifier: Apache-2.0 */
#include "json/walk.h"

#include <assert.h>

/* The characters in `range` that are not allowed in the current container. The container of a bracket is
 * the one around it. */
static uint64_t wrong_place(const ki_json_scanner *s, const ki_block *block, uint64_t range)
{
    const uint64_t in_object = 0 - ki_kinds_innermost(s);
    if (s->too_deep > 0)
        return 0;
    return ((block->colon ^ (block->behind_name & in_object)) | (block->nameless & in_object)) & range;
}

/* Reports the commas and colons in `range` to the sink, if they belong to a tracked container. */
static void tell_separators(const ki_json_scanner *s, const ki_block *block, uint64_t range)
{
    ki_json_sink *sink = s->sink;
    if (sink == NULL || s->depth != sink->tracked || s->depth == 0 || s->too_deep > 0)
        return;
    uint64_t left = (block->comma | block->colon) & range;
    for (; left != 0; left &= left - 1) {
        unsigned at = (unsigned)__builtin_ctzll(left);
        if (block->comma >> at & 1)
            ki_json_sink_comma(sink, at);
        else
            ki_json_sink_colon(sink, at);
    }
}

/* Returns 0 if the container is nested too deeply. */
static int open_container(ki_json_scanner *s, unsigned at, uint64_t is_object)
{
    if (s->depth == s->depth_max) {
        ki_depth_set_beyond(s, s->too_deep + 1);
        return 0;
    }
    if (s->sink != NULL && s->depth == s->sink->tracked)
        ki_json_sink_open(s->sink, at, (int)is_object);
    ki_kinds_push(s, is_object);
    return 1;
}

/* Returns 0 if a { is closed by ] or vice versa. */
static int close_container(ki_json_scanner *s, unsigned at, uint64_t is_object)
{
    if (s->too_deep > 0) {
        ki_depth_set_beyond(s, s->too_deep - 1);
        return 1;
    }
    if (ki_kinds_innermost(s) != is_object)
        return 0;
    if (s->sink != NULL && s->depth == s->sink->tracked)
        ki_json_sink_close(s->sink, at);
    ki_kinds_pop(s);
    return 1;
}

unsigned ki_block_walk(ki_json_scanner *s, ki_block *block, unsigned *out_too_deep)
{
    assert(out_too_deep != NULL);
    uint64_t before = 0;
    uint64_t brackets = block->open | block->close;
    for (; brackets != 0; brackets &= brackets - 1) {
        unsigned at = (unsigned)__builtin_ctzll(brackets);
        uint64_t bit = UINT64_C(1) << at;
        uint64_t upto = bit | (bit - 1);
        uint64_t is_object = block->brace >> at & 1;
        block->mistakes |= wrong_place(s, block, upto & ~before);
        if ((block->mistakes & upto) != 0)
            return KI_BLOCK_NO_END; /* nothing after a mistake matters */
        tell_separators(s, block, upto & ~before);
        before = upto;
        if ((block->open & bit) != 0) {
            int is_too_deep = !open_container(s, at, is_object);
            if (is_too_deep && at < *out_too_deep)
                *out_too_deep = at;
            if (is_too_deep && !s->is_lenient)
                return KI_BLOCK_NO_END;
        } else if (!close_container(s, at, is_object)) {
            block->mistakes |= bit;
            return KI_BLOCK_NO_END;
        } else if (s->depth == 0) {
            return at;
        }
    }
    block->mistakes |= wrong_place(s, block, ~before & block->valid);
    if ((block->mistakes & ~before) == 0)
        tell_separators(s, block, ~before & block->valid);
    return KI_BLOCK_NO_END;
}

void ki_block_tell(ki_json_sink *sink, const ki_block *block, uint32_t depth)
{
    assert(sink != NULL);
    const uint64_t brackets = block->open | block->close;
    const uint64_t all = brackets | block->comma | block->colon;
    uint64_t ahead = ~UINT64_C(0);
    for (;;) {
        const int is_tracked = depth == sink->tracked;
        const uint64_t next = ahead & (is_tracked ? all : brackets);
        if (next == 0)
            return;
        const unsigned at = (unsigned)__builtin_ctzll(next);
        const uint64_t bit = next & (0 - next);
        ahead = 0 - (bit << 1);
        if ((block->open & bit) != 0) {
            if (is_tracked)
                ki_json_sink_open(sink, at, (block->brace & bit) != 0);
            depth++;
        } else if ((block->close & bit) != 0) {
            if (is_tracked)
                ki_json_sink_close(sink, at);
            depth--;
        } else if ((block->comma & bit) != 0) {
            ki_json_sink_comma(sink, at);
        } else {
            ki_json_sink_colon(sink, at);
        }
    }
}
