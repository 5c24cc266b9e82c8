/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/message.h"

#include <assert.h>

#include "proto/message_parts.h"
#include "util/error.h"

/* What one message may cost beyond being read once, times its size, if it is not as Go would write it. */
enum { WORK_FACTOR = 64, WORK_BYTES = 64 * 1024 };

void ki_proto_reader_init(ki_proto_reader *reader, const ki_projection *projection, uint32_t depth_max)
{
    assert(reader != NULL);
    *reader = (ki_proto_reader){.views.projection = projection};
    reader->depth_max = depth_max == 0 ? KI_JSON_DEPTH_DEFAULT : depth_max;
    if (reader->depth_max > KI_JSON_DEPTH_LIMIT)
        reader->depth_max = KI_JSON_DEPTH_LIMIT;
    ki_json_sink_init(&reader->sink, KI_JSON_VALUE_BYTES_DEFAULT);
    reader->sink.is_typed = 1; /* as the tables say */
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

/* A captured value that is not kept goes to the side text. */
static int capture_aside(ki_proto_reader *reader, const ki_proto_rule *rule, size_t value_start)
{
    ki_buf *side = &reader->sink.side;
    size_t start = side->len;
    size_t n = ki_proto_out_place(&reader->out) - value_start;
    int rc = ki_buf_append(side, reader->sink.text.data + value_start, n);
    if (rc == KI_ERR_TOO_LARGE)
        reader->sink.overflowed = 1; /* later fields are still captured: a refused object has a key */
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

/* ---- objects ------------------------------------------------------------------------------------------- */

/* A member that is not in the message: "kind" or "apiVersion". */
static int put_given(ki_proto_reader *reader, const ki_proto_scope *s, ki_str name, ki_str text)
{
    if (text.len == 0)
        return 0;
    size_t start = ki_proto_out_place(&reader->out);
    ki_proto_rule rule;
    if (s->view != NULL)
        rule = ki_proto_rule_of(ki_projection_member(reader->views.projection, s->view->node,
                                                     (ki_str){name.ptr + 1, name.len - 2}),
                                s->view->node);
    int rc = ki_proto_out_text(&reader->out, name);
    if (rc == 0)
        rc = ki_proto_out_string(&reader->out, text);
    return rc < 0 ? rc : ki_proto_settle(reader, s->view == NULL ? NULL : &rule, start, start + name.len);
}

static int put_object(ki_proto_reader *reader, const ki_proto_source *source)
{
    const ki_wire_value value = {.at = (const uint8_t *)source->bytes.ptr, .len = source->bytes.len};
    const ki_projection *projection = source->is_whole ? NULL : reader->views.projection;
    ki_proto_scope s = {.message = source->message};
    ki_proto_rule root = {.node = projection == NULL ? NULL : ki_projection_root(projection)};
    size_t start = ki_proto_out_place(&reader->out);
    int rc = ki_proto_view_of(reader, &root, s.message, &s.view);
    if (rc == 0)
        rc = ki_proto_enter(reader);
    if (rc == 0)
        rc = put_given(reader, &s, KI_STR(",\"kind\":"), source->kind);
    if (rc == 0)
        rc = put_given(reader, &s, KI_STR(",\"apiVersion\":"), source->api_version);
    if (rc == 0)
        rc = ki_proto_put_members(reader, &s, value);
    return rc < 0 ? rc : ki_proto_out_close(&reader->out, start, "{}");
}

static int try_read(ki_proto_reader *reader, const ki_proto_source *source)
{
    ki_json_sink *sink = &reader->sink;
    ki_json_sink_limit(sink, source->bytes_max);
    ki_json_sink_begin(sink, NULL);
    ki_json_sink_limit(&reader->raw, source->bytes_max);
    reader->depth = 0;
    reader->rc = 0;
    reader->ahead = source->ahead;
    if (reader->ahead.len > source->bytes.len)
        reader->ahead.len = source->bytes.len; /* the next message is probably as large */
    reader->work = source->bytes.len > (SIZE_MAX - WORK_BYTES) / WORK_FACTOR
                       ? SIZE_MAX
                       : source->bytes.len * WORK_FACTOR + WORK_BYTES;
    reader->readable_end = reader->is_careful ? NULL : (const uint8_t *)source->bytes.ptr + source->bytes.len;
    ki_proto_out_begin(&reader->out, sink);
    int rc = ki_proto_out_reserve(&reader->out, 1);
    if (rc == 0)
        rc = put_object(reader, source);
    ki_proto_out_end(&reader->out);
    if (rc == KI_ERR_TOO_LARGE || sink->text.len > sink->bytes_max) {
        sink->overflowed = 1;
        rc = rc == KI_ERR_TOO_LARGE ? 0 : rc;
    }
    return rc;
}

int ki_proto_read(ki_proto_reader *reader, const ki_proto_source *source, ki_error *err)
{
    assert(source->message != NULL && source->message->form == KI_PROTO_FORM_FIELDS);
    ki_proto_unknown unknown = reader->unknown;
    reader->err = NULL;
    reader->is_careful = 0;
    int rc = try_read(reader, source);
    /* What is malformed or too large may be replaced by a later occurrence of its field. */
    if (rc != KI_ERR_NO_MEMORY && (rc < 0 || reader->sink.overflowed)) {
        reader->unknown = unknown;
        reader->err = err;
        reader->is_careful = 1;
        rc = try_read(reader, source);
    }
    return rc == KI_ERR_NO_MEMORY ? ki_fail_no_memory(err) : rc;
}
