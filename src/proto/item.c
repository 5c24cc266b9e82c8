/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/item.h"

#include <assert.h>
#include <string.h>

#include "api/object/object_build.h"
#include "json/text.h"
#include "proto/message_write.h"
#include "proto/typed.h"
#include "util/error.h"

/* Limits the work for a message that is not as Go would write it: at most WORK_FACTOR times its size, plus
 * WORK_BYTES, may be copied, sorted or moved. */
enum { WORK_FACTOR = 64, WORK_BYTES = 64 * 1024 };

/* The numbers of fields: METADATA of an object, the others of its metadata. */
enum { METADATA = 1, NAME = 1, NAMESPACE = 3 };

/* ---- messages ------------------------------------------------------------------------------------------ */

/* Writes a member that the message does not contain: "kind" or "apiVersion". */
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
    /* A later occurrence of a field may replace one that is malformed or too large, so the message is read
     * again. */
    if (rc != KI_ERR_NO_MEMORY && (rc < 0 || reader->sink.overflowed)) {
        reader->unknown = unknown;
        reader->err = err;
        reader->is_careful = 1;
        rc = try_read(reader, source);
    }
    return rc == KI_ERR_NO_MEMORY ? ki_fail_no_memory(err) : rc;
}

/* ---- items --------------------------------------------------------------------------------------------- */

size_t ki_proto_item_bytes_max(const ki_object_plan *plan)
{
    return plan->bytes_max > KI_JSON_VALUE_BYTES_DEFAULT ? plan->bytes_max : KI_JSON_VALUE_BYTES_DEFAULT;
}

static int is_name(ki_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < 0x20 || text.ptr[i] == '/')
            return 0;
    return text.len <= KI_OBJECT_STRING_BYTES_MAX && ki_utf8_valid_len(text.ptr, text.len) == text.len;
}

/* Reads the key of an item that was not read to its end. The item may be cut or malformed, but the
 * metadata, its first field, may still be readable. Leaves the key empty if it cannot be read. */
static int read_key(const ki_proto_item *item, ki_buf *out_key)
{
    ki_str metadata = {"", 0};
    ki_str names[NAMESPACE] = {{"", 0}, {"", 0}, {"", 0}};
    if (ki_proto_typed_fields(item->bytes, 1, &metadata, METADATA) < 0 ||
        ki_proto_typed_fields(metadata, 1, names, NAMESPACE) < 0)
        return 0;
    ki_str name = names[NAME - 1];
    ki_str ns = names[NAMESPACE - 1];
    if (name.len == 0 || !is_name(name) || !is_name(ns))
        return 0;
    int rc = ki_buf_append_str(out_key, ns);
    if (rc == 0 && ns.len > 0)
        rc = ki_buf_append_byte(out_key, '/');
    return rc < 0 ? rc : ki_buf_append_str(out_key, name);
}

static int refuse_unread(const ki_proto_item *item, ki_refused *refused)
{
    if (item->message == NULL)
        ki_error_set(&refused->error, KI_ERR_PROTOBUF, 0, "no table for the messages of %.*s %.*s",
                     KI_STR_ARGS(item->api_version), KI_STR_ARGS(item->kind));
    else
        ki_error_set(&refused->error, KI_ERR_TOO_LARGE, 0, "the message is larger than the limit");
    return read_key(item, &refused->key);
}

int ki_proto_item_build(ki_proto_reader *reader, const ki_object_plan *plan, const ki_proto_item *item,
                        ki_object **out_object, ki_refused *refused)
{
    assert(out_object != NULL);
    refused->key.len = 0;
    if (item->message == NULL || item->is_cut)
        return refuse_unread(item, refused);
    const ki_proto_source source = {.message = item->message,
                                    .bytes = item->bytes,
                                    .ahead = item->ahead,
                                    .kind = item->has_names ? item->kind : (ki_str){0},
                                    .api_version = item->has_names ? item->api_version : (ki_str){0},
                                    .bytes_max = plan->bytes_max};
    int rc = ki_proto_read(reader, &source, &refused->error);
    int is_read = rc == 0 && !reader->sink.overflowed;
    if (rc == 0)
        rc = ki_object_build(plan, &reader->sink, out_object, &refused->error);
    if (rc == 0)
        return 1;
    if (rc == KI_ERR_NO_MEMORY)
        return rc;
    /* If reading has failed, it may have stopped before the metadata, or between name and namespace. */
    rc = is_read ? ki_object_read_key(&reader->sink, &refused->key) : read_key(item, &refused->key);
    return rc == KI_ERR_NO_MEMORY ? rc : 0;
}
