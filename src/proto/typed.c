/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/typed.h"

#include <string.h>

#include "proto/wire.h"
#include "util/error.h"

/* Reads a field of a message that may be cut: the last field then contains only the bytes that are
 * there. */
static const uint8_t *read_cut(const uint8_t *at, const uint8_t *end, ki_wire_value *out)
{
    uint64_t len = 0;
    at = ki_wire_varint(at, end, &len);
    if (at == NULL)
        return NULL;
    size_t left = (size_t)(end - at);
    out->at = at;
    out->len = len < left ? (size_t)len : left;
    return at + out->len;
}

int ki_proto_typed_fields(ki_str bytes, int is_cut, ki_str *out_fields, unsigned count)
{
    const uint8_t *at = (const uint8_t *)(bytes.len > 0 ? bytes.ptr : "");
    const uint8_t *end = at + bytes.len;
    while (at < end) {
        uint64_t tag = 0;
        ki_wire_value value = {0};
        at = ki_wire_varint(at, end, &tag);
        if (at == NULL || ki_wire_is_bad_tag(tag))
            return is_cut ? 0 : KI_ERR_PROTOBUF;
        uint32_t number = ki_wire_number_of(tag);
        if (number > count) {
            at = ki_wire_skip(at, end, tag);
        } else if (ki_wire_type_of(tag) != KI_WIRE_BYTES) {
            return KI_ERR_PROTOBUF;
        } else {
            at = is_cut ? read_cut(at, end, &value) : ki_wire_bytes(at, end, &value);
            if (at != NULL)
                out_fields[number - 1] = (ki_str){(const char *)value.at, value.len};
        }
        if (at == NULL)
            return is_cut ? 0 : KI_ERR_PROTOBUF;
    }
    return 0;
}

static int malformed(ki_error *err, const char *what)
{
    return ki_fail(err, KI_ERR_PROTOBUF, "%s", what);
}

int ki_proto_typed_read_type(ki_str bytes, ki_proto_typed *out, ki_error *err)
{
    ki_str fields[2] = {{"", 0}, {"", 0}};
    if (ki_proto_typed_fields(bytes, 0, fields, 2) < 0)
        return malformed(err, "the type of the message is malformed");
    out->api_version = fields[KI_TYPED_API_VERSION - 1];
    out->kind = fields[KI_TYPED_KIND - 1];
    return 0;
}

int ki_proto_typed_read(ki_str bytes, int is_cut, ki_proto_typed *out, ki_error *err)
{
    ki_str fields[2] = {{"", 0}, {"", 0}};
    if (bytes.len < KI_PROTO_MAGIC_BYTES || memcmp(bytes.ptr, KI_PROTO_MAGIC, KI_PROTO_MAGIC_BYTES) != 0)
        return malformed(err, "the message does not begin as Kubernetes' do");
    bytes.ptr += KI_PROTO_MAGIC_BYTES;
    bytes.len -= KI_PROTO_MAGIC_BYTES;
    if (ki_proto_typed_fields(bytes, is_cut, fields, 2) < 0)
        return malformed(err, "the envelope of the message is malformed");
    out->raw = fields[KI_TYPED_RAW - 1];
    return ki_proto_typed_read_type(fields[KI_TYPED_TYPE - 1], out, err);
}
