/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/proto_list.h"

#include <assert.h>
#include <string.h>

#include "api/decode/list_answer.h"
#include "proto/proto_status.h"
#include "proto/typed.h"
#include "proto/wire.h"
#include "util/error.h"

enum { TEXT_BYTES_MAX = 1024 * 1024 };

/* The states. AT_…: a tag comes next. IN_…: the content of a field is gathered or skipped. */
enum {
    IN_MAGIC,
    AT_OUTER, /* the tag of a field of the envelope */
    IN_TYPE,
    IN_OUTER_REST,
    AT_LIST, /* the tag of a field of the list */
    IN_METADATA,
    IN_ITEM,
    IN_LIST_REST,
    IN_STATUS,
    FAILED
};

/* The numbers of fields: METADATA and ITEMS of the list, the others of its metadata. */
enum { METADATA = 1, ITEMS = 2, RESOURCE_VERSION = 2, CONTINUE = 3, REMAINING = 4 };

void ki_proto_list_init(ki_proto_list *decoder, ki_object_plan *plan)
{
    assert(decoder != NULL);
    *decoder = (ki_proto_list){.plan = plan, .state = IN_MAGIC};
    ki_proto_reader_init(&decoder->reader, plan->projection, plan->depth_max);
    ki_proto_gather_init(&decoder->gather);
    ki_proto_gather_begin(&decoder->gather, KI_PROTO_MAGIC_BYTES, KI_PROTO_MAGIC_BYTES);
    ki_buf_init(&decoder->kind, TEXT_BYTES_MAX);
    ki_buf_init(&decoder->api_version, TEXT_BYTES_MAX);
    ki_buf_init(&decoder->resource_version, TEXT_BYTES_MAX);
    ki_buf_init(&decoder->continue_token, TEXT_BYTES_MAX);
    ki_decoded_init(&decoder->decoded);
}

void ki_proto_list_fini(ki_proto_list *decoder)
{
    assert(decoder != NULL);
    ki_decoded_fini(&decoder->decoded);
    ki_proto_reader_fini(&decoder->reader);
    ki_proto_gather_fini(&decoder->gather);
    ki_buf_fini(&decoder->kind);
    ki_buf_fini(&decoder->api_version);
    ki_buf_fini(&decoder->resource_version);
    ki_buf_fini(&decoder->continue_token);
}

static int malformed(ki_error *err)
{
    return ki_fail(err, KI_ERR_PROTOBUF, "the list is malformed");
}

static int keep(ki_buf *buf, ki_str text, ki_error *err)
{
    buf->len = 0;
    int rc = ki_buf_append_str(buf, text);
    return rc < 0 ? ki_fail(err, rc, "a member of the list other than its items: %s", ki_error_text(rc)) : 0;
}

/* ---- the parts of a list ------------------------------------------------------------------------------- */

/* Finds the message of the items by their kind: "Pod" for "PodList". */
static int find_message(ki_proto_list *decoder, ki_error *err)
{
    ki_str kind = ki_buf_str(&decoder->kind);
    ki_str api_version = ki_buf_str(&decoder->api_version);
    kind.len = kind.len < 4 ? 0 : kind.len - 4;
    decoder->message = ki_proto_find(api_version, kind);
    decoder->has_names = ki_str_equal(kind, KI_STR("PartialObjectMetadata"));
    if (decoder->message != NULL)
        return 0;
    decoder->is_unknown_kind = 1;
    return ki_fail(err, KI_ERR_NOT_A_LIST, "no table for the messages of %.*s %.*sList",
                   KI_STR_ARGS(api_version), KI_STR_ARGS(kind));
}

static int take_type(ki_proto_list *decoder, ki_str bytes, ki_error *err)
{
    ki_proto_typed type = {0};
    int rc = ki_proto_typed_read_type(bytes, &type, err);
    if (rc == 0)
        rc = keep(&decoder->kind, type.kind, err);
    if (rc == 0)
        rc = keep(&decoder->api_version, type.api_version, err);
    if (rc == 0)
        rc = ki_list_answer_check(decoder->plan, type.kind, err);
    if (rc < 0 || ki_list_answer_is_status(type.kind))
        return rc;
    rc = find_message(decoder, err);
    return rc < 0 ? rc : ki_list_answer_learn(decoder->plan, type.kind, type.api_version, err);
}

/* Reads the number of remaining items, the only field of the metadata that is not text. */
static int take_remaining(ki_proto_list *decoder, ki_str bytes)
{
    const uint8_t *at = (const uint8_t *)bytes.ptr;
    const uint8_t *end = at + bytes.len;
    while (at != NULL && at < end) {
        uint64_t tag = 0;
        uint64_t number = 0;
        at = ki_wire_varint(at, end, &tag);
        if (at != NULL && tag == (REMAINING << 3 | KI_WIRE_VARINT)) {
            at = ki_wire_varint(at, end, &number);
            decoder->decoded.metadata.remaining_items = (int64_t)number;
        } else if (at != NULL) {
            at = ki_wire_skip(at, end, tag);
        }
    }
    return at == NULL ? KI_ERR_PROTOBUF : 0;
}

static int take_metadata(ki_proto_list *decoder, ki_str bytes, ki_error *err)
{
    ki_str fields[CONTINUE] = {{"", 0}, {"", 0}, {"", 0}};
    if (ki_proto_typed_fields(bytes, 0, fields, CONTINUE) < 0 || take_remaining(decoder, bytes) < 0)
        return malformed(err);
    int rc = keep(&decoder->resource_version, fields[RESOURCE_VERSION - 1], err);
    if (rc == 0)
        rc = keep(&decoder->continue_token, fields[CONTINUE - 1], err);
    decoder->decoded.metadata.resource_version = ki_buf_str(&decoder->resource_version);
    decoder->decoded.metadata.continue_token = ki_buf_str(&decoder->continue_token);
    return rc < 0 ? rc : KI_LIST_METADATA;
}

static int take_item(ki_proto_list *decoder, ki_str bytes, ki_error *err)
{
    assert(decoder->decoded.object == NULL);
    const ki_proto_item item = {.message = decoder->message,
                                .bytes = bytes,
                                .ahead = decoder->ahead,
                                .is_cut = decoder->gather.is_cut,
                                .kind = KI_STR("PartialObjectMetadata"),
                                .api_version = ki_buf_str(&decoder->api_version),
                                .has_names = decoder->has_names};
    int rc = ki_proto_item_build(&decoder->reader, decoder->plan, &item, &decoder->decoded.object,
                                 &decoder->decoded.refused);
    if (rc < 0)
        return ki_fail_no_memory(err);
    return rc == 1 ? KI_LIST_OBJECT : KI_LIST_REFUSED;
}

static int take_status(ki_proto_list *decoder, ki_str bytes, ki_error *err)
{
    int rc = decoder->gather.is_cut ? malformed(err) : ki_proto_status_read(&decoder->reader, bytes, err);
    if (rc < 0)
        return rc;
    return ki_list_answer_fail(ki_buf_str(&decoder->reader.sink.text), &decoder->decoded.status, err);
}

/* ---- fields -------------------------------------------------------------------------------------------- */

static void go_to(ki_proto_list *decoder, int state)
{
    decoder->state = state;
    decoder->head_part = 0;
    decoder->head_bits = 0;
    decoder->head[0] = 0;
    decoder->head[1] = 0;
}

static void gather(ki_proto_list *decoder, int state, size_t bytes_max)
{
    unsigned type = ki_wire_type_of(decoder->head[0]);
    uint64_t length = type == KI_WIRE_FIXED32 ? 4 : type == KI_WIRE_FIXED64 ? 8 : decoder->head[1];
    ki_proto_gather_begin(&decoder->gather, length, bytes_max);
    decoder->state = state;
}

/* Called when the content of the envelope begins. */
static int begin_raw(ki_proto_list *decoder, ki_error *err)
{
    if (ki_buf_str(&decoder->kind).len == 0 || decoder->is_ended)
        return ki_fail(err, KI_ERR_NOT_A_LIST, "the response is not a list: it has %s",
                       decoder->is_ended ? "two" : "no kind");
    if (ki_list_answer_is_status(ki_buf_str(&decoder->kind))) {
        gather(decoder, IN_STATUS, TEXT_BYTES_MAX);
        return 0;
    }
    decoder->left = decoder->head[1];
    go_to(decoder, AT_LIST);
    return 0;
}

/* Called when a tag, and the length or number after it, were read. Decides how the content is taken. */
static int begin_outer(ki_proto_list *decoder, ki_error *err)
{
    uint32_t number = ki_wire_number_of(decoder->head[0]);
    int is_bytes = ki_wire_type_of(decoder->head[0]) == KI_WIRE_BYTES;
    if (number <= KI_TYPED_RAW && !is_bytes)
        return malformed(err);
    if (number == KI_TYPED_RAW)
        return begin_raw(decoder, err);
    if (number == KI_TYPED_TYPE && decoder->head[1] > TEXT_BYTES_MAX)
        return malformed(err);
    if (ki_wire_type_of(decoder->head[0]) == KI_WIRE_VARINT)
        go_to(decoder, AT_OUTER);
    else
        gather(decoder, number == KI_TYPED_TYPE && !decoder->is_ended ? IN_TYPE : IN_OUTER_REST,
               TEXT_BYTES_MAX);
    return 0;
}

static void note_unknown(ki_proto_list *decoder, uint32_t number)
{
    ki_proto_unknown *unknown = &decoder->reader.unknown;
    if (unknown->count++ > 0)
        return;
    unknown->message = KI_STR("List");
    unknown->number = number;
}

static int begin_inner(ki_proto_list *decoder, ki_error *err)
{
    uint32_t number = ki_wire_number_of(decoder->head[0]);
    unsigned type = ki_wire_type_of(decoder->head[0]);
    uint64_t length = type == KI_WIRE_FIXED32 ? 4 : type == KI_WIRE_FIXED64 ? 8 : decoder->head[1];
    if (number <= ITEMS ? type != KI_WIRE_BYTES : 0)
        return malformed(err);
    if (type != KI_WIRE_VARINT && length > decoder->left)
        return malformed(err);
    if (number == METADATA && length > TEXT_BYTES_MAX)
        return malformed(err);
    if (number > ITEMS)
        note_unknown(decoder, number);
    if (type == KI_WIRE_VARINT)
        go_to(decoder, AT_LIST);
    else if (number == ITEMS)
        gather(decoder, IN_ITEM, ki_proto_item_bytes_max(decoder->plan));
    else
        gather(decoder, number == METADATA ? IN_METADATA : IN_LIST_REST, TEXT_BYTES_MAX);
    return 0;
}

/* Takes one byte of a tag, or of the number after it. Returns 1 when both are complete, 0 if more bytes are
 * needed, or -1 if they are malformed. */
static int take_head_byte(ki_proto_list *decoder, uint8_t byte)
{
    if (decoder->head_bits == 7 * KI_WIRE_VARINT_BYTES_MAX)
        return -1;
    decoder->head[decoder->head_part] |= (uint64_t)(byte & 0x7f) << decoder->head_bits;
    decoder->head_bits += 7;
    if (byte >= 0x80)
        return 0;
    decoder->head_bits = 0;
    if (decoder->head_part++ == 1)
        return 1;
    unsigned type = ki_wire_type_of(decoder->head[0]);
    if (ki_wire_is_bad_tag(decoder->head[0]) || type == KI_WIRE_GROUP || type > KI_WIRE_FIXED32)
        return -1;
    return type == KI_WIRE_FIXED32 || type == KI_WIRE_FIXED64;
}

/* ---- bytes --------------------------------------------------------------------------------------------- */

static int take_gathered(ki_proto_list *decoder, ki_str bytes, ki_error *err)
{
    int state = decoder->state;
    go_to(decoder, state == IN_METADATA || state == IN_ITEM || state == IN_LIST_REST ? AT_LIST : AT_OUTER);
    switch (state) {
    case IN_MAGIC:
        if (memcmp(bytes.ptr, KI_PROTO_MAGIC, KI_PROTO_MAGIC_BYTES) == 0)
            return 0;
        return ki_fail(err, KI_ERR_PROTOBUF, "the response does not begin as Kubernetes' protobuf does");
    case IN_TYPE:
        return take_type(decoder, bytes, err);
    case IN_METADATA:
        return take_metadata(decoder, bytes, err);
    case IN_ITEM:
        return take_item(decoder, bytes, err);
    case IN_STATUS:
        return take_status(decoder, bytes, err);
    default:
        return 0;
    }
}

static int is_in_list(const ki_proto_list *decoder)
{
    return decoder->state == AT_LIST || decoder->state == IN_METADATA || decoder->state == IN_ITEM ||
           decoder->state == IN_LIST_REST;
}

/* Takes some bytes. A field without content is complete as soon as its length was read. */
static int take_some(ki_proto_list *decoder, ki_str bytes, size_t *out_used, ki_error *err)
{
    int is_list = is_in_list(decoder);
    ki_str gathered = {0};
    int rc = 0;
    *out_used = 0;
    if (decoder->state == AT_OUTER || decoder->state == AT_LIST) {
        *out_used = 1;
        decoder->left -= (uint64_t)is_list;
        rc = take_head_byte(decoder, (uint8_t)bytes.ptr[0]);
        if (rc < 0)
            return malformed(err);
        if (rc == 1)
            rc = is_list ? begin_inner(decoder, err) : begin_outer(decoder, err);
        if (rc < 0 || decoder->state == AT_OUTER || decoder->state == AT_LIST || decoder->gather.left > 0)
            return rc;
        rc = ki_proto_gather_feed(&decoder->gather, (ki_str){0}, &(size_t){0}, &gathered);
    } else {
        rc = ki_proto_gather_feed(&decoder->gather, bytes, out_used, &gathered);
        decoder->left -= is_list ? *out_used : 0;
    }
    decoder->ahead = (ki_str){bytes.ptr + *out_used, bytes.len - *out_used};
    if (rc < 0)
        return ki_fail_no_memory(err);
    return rc == 0 ? 0 : take_gathered(decoder, gathered, err);
}

/* Called when all bytes of the list were taken. */
static int finish_list(ki_proto_list *decoder, ki_error *err)
{
    if (decoder->head_part != 0 || decoder->head_bits != 0)
        return malformed(err);
    decoder->is_ended = 1;
    go_to(decoder, AT_OUTER);
    return KI_LIST_END;
}

int ki_proto_list_feed(ki_proto_list *decoder, const char *bytes, size_t n, size_t *out_used, ki_error *err)
{
    assert(decoder->state != FAILED);
    decoder->decoded.object = ki_object_unref(decoder->decoded.object);
    size_t at = 0;
    int rc = KI_LIST_MORE;
    while (rc == KI_LIST_MORE && at < n) {
        size_t used = 0;
        if (decoder->state == AT_LIST && decoder->left == 0)
            rc = finish_list(decoder, err);
        else
            rc = take_some(decoder, (ki_str){bytes + at, n - at}, &used, err);
        assert(used <= n - at);
        at += used;
    }
    *out_used = at;
    if (rc < 0)
        decoder->state = FAILED;
    return rc;
}

int ki_proto_list_end(ki_proto_list *decoder, ki_error *err)
{
    assert(decoder != NULL);
    int is_between = decoder->head_part == 0 && decoder->head_bits == 0;
    if (is_between && ((decoder->state == AT_OUTER && decoder->is_ended) ||
                       (decoder->state == AT_LIST && decoder->left == 0)))
        return 0;
    return ki_fail(err, KI_ERR_PROTOBUF_TRUNCATED, "the list ends early");
}
