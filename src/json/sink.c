/* SPDX-License-Identifier: Apache-2.0 */
#include "json/sink.h"

#include <assert.h>

/* KEEP_BYTES: how much memory is kept between values; more, for a huge value, is freed. BLOCK_BYTES: how
 * many bytes may be written past the last character. */
enum { KEEP_BYTES = 64 * 1024, BLOCK_BYTES = 64, SIDE_BYTES_MAX = 1024 * 1024 };

void ki_json_sink_init(ki_json_sink *sink, size_t bytes_max)
{
    assert(sink != NULL);
    *sink = (ki_json_sink){.bytes_max = bytes_max};
    ki_buf_init(&sink->text, bytes_max + KI_JSON_SINK_FEED_MAX + BLOCK_BYTES);
    ki_buf_init(&sink->side, SIDE_BYTES_MAX);
}

void ki_json_sink_limit(ki_json_sink *sink, size_t bytes_max)
{
    assert(sink != NULL);
    ki_buf_reset(&sink->text, KEEP_BYTES);
    sink->bytes_max = bytes_max;
    sink->text.max = bytes_max + KI_JSON_SINK_FEED_MAX + BLOCK_BYTES;
}

int ki_json_sink_reserve(ki_json_sink *sink, size_t n)
{
    assert(n <= KI_JSON_SINK_FEED_MAX && sink->text.len <= sink->bytes_max);
    return ki_buf_reserve(&sink->text, n + BLOCK_BYTES);
}

void ki_json_sink_fini(ki_json_sink *sink)
{
    assert(sink != NULL);
    ki_buf_fini(&sink->text);
    ki_buf_fini(&sink->side);
}

void ki_json_sink_begin(ki_json_sink *sink, const ki_projection *projection)
{
    ki_json_sink_begin_at(sink, projection, projection == NULL ? NULL : ki_projection_root(projection));
}

void ki_json_sink_begin_at(ki_json_sink *sink, const ki_projection *projection,
                           const ki_projection_node *node)
{
    assert(sink != NULL);
    ki_buf_reset(&sink->text, KEEP_BYTES);
    ki_buf_reset(&sink->side, KEEP_BYTES);
    sink->projection = projection;
    sink->root = node;
    sink->from = 0;
    sink->tracked = 0;
    sink->emitting = 1;
    sink->overflowed = 0;
    sink->rewritable = 0;
    sink->error = 0;
    memset(sink->captures, 0, sizeof(sink->captures));
}

static ki_sink_level *innermost(ki_json_sink *sink)
{
    assert(sink->tracked > 0);
    return &sink->levels[sink->tracked - 1];
}

static int keeps(const ki_sink_level *level)
{
    return level->member != NULL ? level->member->keep : level->node->keep;
}

static int captures(const ki_sink_level *level)
{
    return level->member != NULL && level->member->capture >= 0;
}

/* The position that the character at `at` of the block has, or will have, in the text: a block is copied in
 * as few pieces as possible. */
static size_t place_of(const ki_json_sink *sink, unsigned at)
{
    return sink->text.len + (sink->emitting ? at - sink->from : 0);
}

/* Removes everything from `place` on from the text, and continues copying with the character at `at`. */
static void cut_back(ki_json_sink *sink, size_t place, unsigned at)
{
    if (place > sink->text.len)
        ki_json_sink_flush(sink, sink->from + (unsigned)(place - sink->text.len));
    sink->text.len = place;
    sink->from = at;
}

static void drop_value(ki_json_sink *sink, ki_sink_level *level, unsigned at)
{
    level->has_value = 1;
    cut_back(sink, level->member_start, at);
    sink->emitting = 0;
    level->dropped = 1;
}

/* Of duplicate names in an object the first counts. So a member that the projection names is dropped when
 * it occurs again; the captures then agree with later reads. */
static int is_repeated(const ki_json_sink *sink, ki_sink_level *level)
{
    size_t i = ki_projection_child_number(sink->projection, level->node, level->member);
    uint64_t bit = i < 64 ? UINT64_C(1) << i : 0;
    int is_met = (level->met & bit) != 0;
    level->met |= bit;
    return is_met;
}

/* Called when the rule for a member is known. Stops copying if nothing of the value is kept or captured. */
static void begin_value(ki_json_sink *sink, ki_sink_level *level, unsigned at)
{
    level->has_value = 1;
    level->entered = 0;
    level->dropped = 0;
    int may_hold_kept = level->member != NULL && ki_projection_has_children(level->member);
    if (!keeps(level) && !captures(level) && !may_hold_kept)
        drop_value(sink, level, at);
}

/* Copies again, from `at` on, if copying had stopped. */
static void resume(ki_json_sink *sink, unsigned at)
{
    if (!sink->emitting)
        sink->from = at;
    sink->emitting = 1;
}

/* Begins a member at `at`. If `at` is a comma, it belongs to the member, unless no member was kept
 * before. */
static void begin_member(ki_json_sink *sink, ki_sink_level *level, unsigned at, int is_comma)
{
    resume(sink, at);
    unsigned start = at + (unsigned)is_comma;
    if (is_comma && level->kept == 0) {
        ki_json_sink_flush(sink, at);
        sink->from = start;
        at = start;
    }
    level->member_start = place_of(sink, at);
    level->has_value = 0;
    level->member = NULL;
    if (level->in_object)
        return;
    level->value_start = place_of(sink, start); /* an element's text begins after the comma */
    level->member = ki_projection_element(sink->projection, level->node);
    begin_value(sink, level, start);
}

static void set_capture(ki_json_sink *sink, const ki_sink_level *level, ki_capture_place place, size_t start,
                        size_t end)
{
    assert(captures(level) && level->member->capture < KI_PROJECTION_CAPTURES_MAX);
    assert(start <= end && end <= UINT32_MAX);
    ki_capture *capture = &sink->captures[level->member->capture];
    if (capture->place == KI_CAPTURE_NONE)
        *capture = (ki_capture){(uint32_t)start, (uint32_t)end, place};
}

/* Copies a captured value that is not kept to the side text. */
static void capture_aside(ki_json_sink *sink, const ki_sink_level *level)
{
    size_t start = sink->side.len;
    size_t n = sink->text.len - level->value_start;
    int rc = ki_buf_append(&sink->side, sink->text.data + level->value_start, n);
    if (rc == KI_ERR_TOO_LARGE)
        sink->overflowed = 1; /* later fields are still captured: a refused object needs its key */
    else if (rc < 0)
        sink->error = rc;
    else
        set_capture(sink, level, KI_CAPTURE_SIDE, start, start + n);
}

/* Ends the current member before `at`: the member stays in the text, or is removed from it. In an empty
 * container there is no member to end, although ki_json_sink_open() has begun one. */
static void end_member(ki_json_sink *sink, ki_sink_level *level, unsigned at)
{
    const size_t end = place_of(sink, at);
    if (level->dropped || !level->has_value || end == level->value_start)
        return;
    if (keeps(level) || (level->entered && level->member->shell)) {
        if (captures(level))
            set_capture(sink, level, KI_CAPTURE_TEXT, level->value_start, end);
        level->kept++;
        return;
    }
    if (captures(level) && level->member->aside) {
        ki_json_sink_flush(sink, at);
        capture_aside(sink, level);
    }
    cut_back(sink, level->member_start, at);
}

/* Returns the rule of the container that opens, if its members must be tracked. */
static const ki_projection_node *node_to_track(const ki_json_sink *sink)
{
    if (sink->tracked == 0)
        return sink->root;
    const ki_sink_level *level = &sink->levels[sink->tracked - 1];
    return level->dropped || !level->has_value ? NULL : level->member;
}

void ki_json_sink_open(ki_json_sink *sink, unsigned at, int is_object)
{
    assert(sink != NULL);
    const ki_projection_node *node = node_to_track(sink);
    if (node == NULL || !ki_projection_has_children(node))
        return;
    if (sink->tracked > 0)
        innermost(sink)->entered = 1;
    assert(sink->tracked <= KI_PROJECTION_DEPTH_MAX);
    ki_sink_level *level = &sink->levels[sink->tracked++];
    *level = (ki_sink_level){.node = node, .in_object = (uint8_t)is_object};
    begin_member(sink, level, at + 1, 0);
}

void ki_json_sink_close(ki_json_sink *sink, unsigned at)
{
    assert(sink != NULL);
    end_member(sink, innermost(sink), at);
    resume(sink, at);
    sink->tracked--;
}

/* The characters from `place` up to the one at `at`: in the block if none of them was copied yet, else in
 * the text. */
static ki_str text_from(ki_json_sink *sink, size_t place, unsigned at)
{
    const size_t len = place_of(sink, at) - place;
    if (place >= sink->text.len)
        return (ki_str){(const char *)sink->block + sink->from + (place - sink->text.len), len};
    ki_json_sink_flush(sink, at);
    return (ki_str){sink->text.data + place, len};
}

void ki_json_sink_colon(ki_json_sink *sink, unsigned at)
{
    assert(sink != NULL);
    ki_sink_level *level = innermost(sink);
    if (!level->in_object || level->has_value)
        return; /* invalid JSON, which the grammar check reports for this block */
    size_t start = level->member_start + (level->kept > 0);
    if (start > place_of(sink, at))
        return;
    level->value_start = place_of(sink, at) + 1;
    level->member = ki_projection_member(sink->projection, level->node, text_from(sink, start, at));
    if (is_repeated(sink, level))
        drop_value(sink, level, at);
    else
        begin_value(sink, level, at);
}

void ki_json_sink_comma(ki_json_sink *sink, unsigned at)
{
    ki_sink_level *level = innermost(sink);
    end_member(sink, level, at);
    begin_member(sink, level, at, 1);
}
