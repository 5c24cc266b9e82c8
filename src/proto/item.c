/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/item.h"

#include <assert.h>
#include <string.h>

#include "api/object/object_build.h"
#include "json/text.h"
#include "proto/typed.h"
#include "util/error.h"

/* Fields of every object, and of its metadata. */
enum { METADATA = 1, NAME = 1, NAMESPACE = 3 };

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

/* The key of an item that was not read to its end: it may be cut or malformed elsewhere than in the metadata,
 * its first field. Leaves the key empty if there is none. */
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
    /* Reading may have stopped before the metadata, or between name and namespace. */
    rc = is_read ? ki_object_read_key(&reader->sink, &refused->key) : read_key(item, &refused->key);
    return rc == KI_ERR_NO_MEMORY ? rc : 0;
}
