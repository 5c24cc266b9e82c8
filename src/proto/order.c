/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/order.h"

#include <assert.h>

/* [from, middle) and [middle, end) of the text have changed places; moves the captures in them
 * accordingly. */
static void move_captures(ki_json_sink *sink, size_t from, size_t middle, size_t end)
{
    for (unsigned i = 0; i < KI_PROJECTION_CAPTURES_MAX; i++) {
        ki_capture *capture = &sink->captures[i];
        if (capture->place != KI_CAPTURE_TEXT || capture->start < from)
            continue;
        uint32_t by = (uint32_t)(capture->start < middle ? end - middle : from - middle);
        capture->start += by;
        capture->end += by;
    }
}

/* Moving counts as work, because a hostile message could make it cost the square of its size. */
static int count_work(ki_proto_reader *reader, size_t n)
{
    if (reader->work >= n) {
        reader->work -= n;
        return 0;
    }
    return reader->is_careful ? ki_proto_too_much_work(reader) : ki_proto_irregular(reader);
}

/* Exchanges [from, middle) and [middle, end) of the text. The second part is copied to `raw`, which is not
 * in use here and has the same limit. The text itself has no space for the copy if it is close to its
 * limit. */
static int rotate(ki_proto_reader *reader, size_t from, size_t middle, size_t end)
{
    assert(from <= middle && middle <= end);
    ki_buf *aside = &reader->raw.text;
    char *text = reader->out.text;
    const size_t n = end - middle;
    aside->len = 0;
    int rc = ki_buf_reserve(aside, n);
    if (rc < 0)
        return rc;
    memcpy(aside->data, text + middle, n);
    memmove(text + from + n, text + from, middle - from);
    memcpy(text + from, aside->data, n);
    return 0;
}

char *ki_proto_order_move(ki_proto_reader *reader, ki_proto_order *order, uint64_t seen, unsigned place,
                          char *to)
{
    assert(place < KI_PROTO_FIELDS_MAX && seen >> place != 0);
    const uint64_t later = seen >> place;
    if ((later & 1) != 0)
        return ki_proto_stop(reader, to, ki_proto_irregular(reader));
    const size_t from = order->starts[place + (unsigned)__builtin_ctzll(later)];
    const size_t middle = order->starts[place];
    const size_t end = (size_t)(to - reader->out.text);
    const size_t n = end - middle;
    order->starts[place] = (uint32_t)from;
    if (n == 0)
        return to;
    int rc = count_work(reader, end - from);
    if (rc == 0)
        rc = rotate(reader, from, middle, end);
    if (rc < 0)
        return ki_proto_stop(reader, to, rc);
    for (uint64_t left = later; left != 0; left &= left - 1)
        order->starts[place + (unsigned)__builtin_ctzll(left)] += (uint32_t)n;
    if (order->has_captures)
        move_captures(&reader->sink, from, middle, end);
    return to;
}
