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

int ki_proto_put_raw(ki_proto_reader *reader, const ki_wire_value *value, const ki_proto_rule *rule)
{
    ki_str text = {0};
    const ki_projection_node *node = rule == NULL ? NULL : rule->node;
    int rc = ki_proto_leaf_bytes(ki_proto_bytes(value), &text);
    if (rc < 0)
        return ki_proto_malformed(reader, "JSON text");
    if (text.len == 0)
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
