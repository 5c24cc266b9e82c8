/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/message.h"

#include <assert.h>

#include "proto/message_parts.h"
#include "util/error.h"

void ki_proto_reader_init(ki_proto_reader *reader, const ki_projection *projection, uint32_t depth_max)
{
    assert(reader != NULL);
    *reader = (ki_proto_reader){.views.projection = projection};
    reader->depth_max = depth_max == 0 ? KI_JSON_DEPTH_DEFAULT : depth_max;
    if (reader->depth_max > KI_JSON_DEPTH_LIMIT)
        reader->depth_max = KI_JSON_DEPTH_LIMIT;
    ki_json_sink_init(&reader->sink, KI_JSON_VALUE_BYTES_DEFAULT);
    reader->sink.is_typed = 1; /* the tables guarantee the types */
    ki_json_sink_init(&reader->raw, KI_JSON_VALUE_BYTES_DEFAULT);
}

void ki_proto_reader_fini(ki_proto_reader *reader)
{
    assert(reader != NULL);
    ki_proto_views_fini(&reader->views);
    ki_json_sink_fini(&reader->sink);
    ki_json_sink_fini(&reader->raw);
}

void ki_proto_note_malformed(ki_proto_reader *reader, const char *what)
{
    ki_error_set(reader->err, KI_ERR_PROTOBUF, 0, "%s is malformed", what);
}

int ki_proto_malformed_field(ki_proto_reader *reader, const ki_proto_message *message, uint64_t tag)
{
    return ki_fail(reader->err, KI_ERR_PROTOBUF, "field %u of %.*s is malformed", ki_wire_number_of(tag),
                   KI_STR_ARGS(ki_proto_message_name(message)));
}

int ki_proto_irregular(const ki_proto_reader *reader)
{
    assert(!reader->is_careful);
    (void)reader;
    return KI_ERR_PROTOBUF;
}

int ki_proto_too_much_work(ki_proto_reader *reader)
{
    return ki_fail(reader->err, KI_ERR_PROTOBUF,
                   "too many fields of the message are out of order or occur more than once");
}

int ki_proto_too_deep(ki_proto_reader *reader)
{
    return ki_fail(reader->err, KI_ERR_JSON_DEPTH, "%s", ki_error_text(KI_ERR_JSON_DEPTH));
}

/* ---- captures ------------------------------------------------------------------------------------------ */

static void set_capture(ki_proto_reader *reader, const ki_proto_rule *rule, ki_capture capture)
{
    ki_capture *at = &reader->sink.captures[rule->capture];
    if (at->place == KI_CAPTURE_NONE)
        *at = capture;
}

/* Copies a captured value that is not kept to the side text. */
static int capture_aside(ki_proto_reader *reader, const ki_proto_rule *rule, size_t value_start)
{
    ki_buf *side = &reader->sink.side;
    size_t start = side->len;
    size_t n = ki_proto_out_place(&reader->out) - value_start;
    int rc = ki_buf_append(side, reader->sink.text.data + value_start, n);
    if (rc == KI_ERR_TOO_LARGE)
        reader->sink.overflowed = 1; /* later fields are still captured: a refused object needs its key */
    else if (rc < 0)
        return rc;
    else
        set_capture(reader, rule, (ki_capture){(uint32_t)start, (uint32_t)(start + n), KI_CAPTURE_SIDE});
    return 0;
}

int ki_proto_settle_by(ki_proto_reader *reader, const ki_proto_rule *rule, size_t start, size_t value_start)
{
    int rc = 0;
    char first = reader->out.text[value_start];
    int is_container = first == '{' || first == '[';
    if (rule->keep || (is_container && rule->node != NULL && rule->shell)) {
        size_t end = ki_proto_out_place(&reader->out);
        if (rule->capture >= 0)
            set_capture(reader, rule, (ki_capture){(uint32_t)value_start, (uint32_t)end, KI_CAPTURE_TEXT});
        return 0;
    }
    if (rule->capture >= 0 && rule->aside)
        rc = capture_aside(reader, rule, value_start);
    ki_proto_out_rewind(&reader->out, start);
    return rc;
}
