/* SPDX-License-Identifier: Apache-2.0 */
/* sink - collects the kept part of a value while it is scanned: minified, projected, with the positions of
 * captured fields.
 *
 *   From:     json/kernel/block.h and json/walk.c (the structural characters, in order), json/scan.c,
 *             api/decode/ (which sets projection and limit), proto/; also api/object/object_build.c
 *   To:       api/object/object_build.c  (text, side text and captures of one complete value)
 *   Locks:    none; one owner.
 *   Not here: which paths are kept (json/projection.c); whether the text is valid JSON: after a mistake, the
 *             scan fails or refuses the value.
 *
 * A container is *tracked* if the projection has rules for its members. Tracked containers are the outermost
 * `tracked` levels. Everything below is kept or dropped as a whole, 64 bytes at a time.
 */
#ifndef KI_JSON_SINK_H
#define KI_JSON_SINK_H

#include <kinformer/error.h>
#include <string.h>

#include "json/projection.h"
#include "util/buf.h"

/* Where a captured value is. */
typedef enum ki_capture_place {
    KI_CAPTURE_NONE = 0, /* not seen */
    KI_CAPTURE_TEXT,     /* in the kept text */
    KI_CAPTURE_SIDE      /* in the side text: captured, but not kept */
} ki_capture_place;

typedef struct ki_capture {
    uint32_t start;
    uint32_t end;
    ki_capture_place place;
} ki_capture;

/* One tracked container. */
typedef struct ki_sink_level {
    const ki_projection_node *node;
    const ki_projection_node *member; /* rule for the current member; NULL if the container's rule applies */
    size_t member_start;              /* in the text; at the comma before the member, if there is one */
    size_t value_start;
    uint32_t kept; /* the number of members in the text so far */
    uint64_t met;  /* bit i: the i-th named child of the node has occurred */
    uint8_t in_object;
    uint8_t has_value; /* the current member's name was read, or it is an element */
    uint8_t entered;   /* the member is a container */
    uint8_t dropped;   /* the member is not being copied */
} ki_sink_level;

#define KI_JSON_SINK_FEED_MAX 4096

typedef struct ki_json_sink {
    ki_buf text;
    ki_buf side;
    size_t bytes_max;
    const ki_projection *projection; /* borrowed; NULL keeps everything */
    const ki_projection_node *root;  /* the rules of the value itself */
    const uint8_t *block;            /* the characters being scanned, white space removed */
    unsigned from;                   /* the first of these characters that is not copied yet */
    uint32_t tracked;
    int emitting;
    int overflowed; /* the value exceeded the limit: text and captures cover its beginning only */
    int rewritable; /* an escape was seen that may have a shorter spelling */
    int is_typed;   /* the writer guarantees that metadata has the right types; 0 if the text is from JSON */
    int error;
    ki_capture captures[KI_PROJECTION_CAPTURES_MAX];
    ki_sink_level levels[KI_PROJECTION_DEPTH_MAX + 1];
} ki_json_sink;

/* `bytes_max` limits the text; the side text has a fixed limit. */
void ki_json_sink_init(ki_json_sink *sink, size_t bytes_max);
void ki_json_sink_fini(ki_json_sink *sink);

/* Sets another limit for the text. Call this before ki_json_sink_begin(); it clears the text. */
void ki_json_sink_limit(ki_json_sink *sink, size_t bytes_max);

/* Clears the content and prepares for one value. */
void ki_json_sink_begin(ki_json_sink *sink, const ki_projection *projection);

/* Like ki_json_sink_begin(), for a value inside the one that the projection is for. `node` has its
 * rules. */
void ki_json_sink_begin_at(ki_json_sink *sink, const ki_projection *projection,
                           const ki_projection_node *node);

/* Reserves space for `n` <= KI_JSON_SINK_FEED_MAX characters and for the rest of their last block. Returns
 * 0 or KI_ERR_NO_MEMORY. The caller must stop when the text exceeds bytes_max. */
KI_NODISCARD int ki_json_sink_reserve(ki_json_sink *sink, size_t n);

/* Call these for the structural characters of tracked containers, in order. `at` is the position in the
 * block. */
void ki_json_sink_open(ki_json_sink *sink, unsigned at, int is_object);
void ki_json_sink_close(ki_json_sink *sink, unsigned at);
void ki_json_sink_colon(ki_json_sink *sink, unsigned at);
void ki_json_sink_comma(ki_json_sink *sink, unsigned at);

/* Begins a block of characters. */
static inline void ki_json_sink_block(ki_json_sink *sink, const uint8_t *block)
{
    sink->block = block;
    sink->from = 0;
}

/* Copies up to position `at`, if the current member is kept. */
static inline void ki_json_sink_flush(ki_json_sink *sink, unsigned at)
{
    if (sink->emitting && at > sink->from) {
        memcpy(sink->text.data + sink->text.len, sink->block + sink->from, at - sink->from);
        sink->text.len += at - sink->from;
    }
    sink->from = at;
}

/* Copies characters, none of which is directly in a tracked container, if the current member is kept. */
static inline void ki_json_sink_take(ki_json_sink *sink, const uint8_t *chars, size_t n)
{
    if (sink->emitting) {
        memcpy(sink->text.data + sink->text.len, chars, n);
        sink->text.len += n;
    }
}

#endif
