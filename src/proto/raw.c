/* SPDX-License-Identifier: Apache-2.0 */
/* JSON text inside a message. The scanner checks it like any JSON; then it is copied without its white
 * space. */
#include "proto/leaf.h"
#include "proto/message_parts.h"

static int scan(ki_proto_reader *reader, ki_str text)
{
    ki_json_scanner scanner;
    const ki_json_limits limits = {.depth_max = reader->depth_max - reader->depth,
                                   .value_bytes_max = SIZE_MAX};
    ki_json_scanner_init(&scanner, &limits);
    ki_json_scan_begin(&scanner, &reader->raw);
    int rc = ki_json_scan_whole(&scanner, text);
    return rc < 0 ? ki_json_scan_explain(&scanner, rc, reader->err) : 0;
}

/* Instead of JSON, a server may store CBOR, which begins with 0xd9 or, in FieldsV1, with another byte that
 * begins no JSON text. */
static int is_cbor(ki_str text)
{
    return text.len > 0 && (uint8_t)text.ptr[0] >= 0x80;
}

/* Counts the text as an unknown field, so that the object is read as JSON where that is possible. */
static void note_cbor(ki_proto_reader *reader)
{
    ki_proto_unknown *unknown = &reader->unknown;
    if (unknown->count++ == 0)
        *unknown = (ki_proto_unknown){.count = 1, .message = KI_STR("RawExtension in CBOR"), .number = 1};
}

int ki_proto_put_raw(ki_proto_reader *reader, const ki_wire_value *value, const ki_proto_rule *rule)
{
    ki_str text = {0};
    const ki_projection_node *node = rule == NULL ? NULL : rule->node;
    int rc = ki_proto_leaf_bytes(ki_proto_bytes(value), &text);
    if (rc < 0)
        return ki_proto_malformed(reader, "JSON text");
    if (is_cbor(text))
        note_cbor(reader);
    if (text.len == 0 || is_cbor(text))
        return ki_proto_out_text(&reader->out, KI_STR("null"));
    rc = ki_proto_enter(reader);
    if (rc < 0)
        return rc;
    ki_proto_leave(reader);
    ki_json_sink_begin_at(&reader->raw, node == NULL ? NULL : reader->views.projection, node);
    rc = scan(reader, text);
    if (rc < 0)
        return rc;
    if (reader->raw.overflowed)
        return KI_ERR_TOO_LARGE;
    reader->sink.rewritable |= reader->raw.rewritable;
    return ki_proto_out_text(&reader->out, ki_buf_str(&reader->raw.text));
}
