/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/proto_watch.h"

#include <assert.h>

#include "proto/typed.h"
#include "util/error.h"

/* FRAME_BYTES_MAX: no event is larger. The first four bytes of JSON, read as a length, are a larger
 * number. */
#define FRAME_BYTES_MAX ((uint64_t)1 << 30)
#define TEXT_BYTES_MAX ((size_t)1024 * 1024)

enum { LENGTH_BYTES = 4 };

/* The numbers of fields: TYPE and OBJECT of an event, RAW of the message that contains its object. */
enum { TYPE = 1, OBJECT = 2, RAW = 1 };

static void begin_length(ki_proto_watch *decoder)
{
    decoder->in_frame = 0;
    ki_proto_gather_begin(&decoder->gather, LENGTH_BYTES, LENGTH_BYTES);
}

void ki_proto_watch_init(ki_proto_watch *decoder, const ki_object_plan *plan)
{
    assert(decoder != NULL);
    *decoder = (ki_proto_watch){.plan = plan};
    ki_proto_reader_init(&decoder->reader, plan->projection, plan->depth_max);
    ki_proto_gather_init(&decoder->gather);
    ki_buf_init(&decoder->version, TEXT_BYTES_MAX);
    ki_buf_init(&decoder->kind, TEXT_BYTES_MAX);
    ki_buf_init(&decoder->api_version, TEXT_BYTES_MAX);
    ki_decoded_init(&decoder->decoded);
    begin_length(decoder);
}

void ki_proto_watch_fini(ki_proto_watch *decoder)
{
    assert(decoder != NULL);
    ki_decoded_fini(&decoder->decoded);
    ki_proto_reader_fini(&decoder->reader);
    ki_proto_gather_fini(&decoder->gather);
    ki_buf_fini(&decoder->version);
    ki_buf_fini(&decoder->kind);
    ki_buf_fini(&decoder->api_version);
}

static int refuse(ki_proto_watch *decoder, int result)
{
    decoder->decoded.refused_type = result;
    return KI_WATCH_REFUSED;
}

/* ---- one event ----------------------------------------------------------------------------------------- */

/* The events of a watch are nearly always of the same kind, so the last kind is remembered. */
static int find_message(ki_proto_watch *decoder, const ki_proto_typed *typed)
{
    if (decoder->message != NULL && ki_str_equal(ki_buf_str(&decoder->kind), typed->kind) &&
        ki_str_equal(ki_buf_str(&decoder->api_version), typed->api_version))
        return 0;
    decoder->message = ki_proto_find(typed->api_version, typed->kind);
    decoder->is_unknown_kind |= decoder->message == NULL;
    decoder->kind.len = 0;
    decoder->api_version.len = 0;
    if (decoder->message == NULL)
        return 0;
    int rc = ki_buf_append_str(&decoder->kind, typed->kind);
    return rc < 0 ? rc : ki_buf_append_str(&decoder->api_version, typed->api_version);
}

static int take_object(ki_proto_watch *decoder, const ki_proto_typed *typed, int result)
{
    const ki_object_plan *plan = decoder->plan;
    int rc = find_message(decoder, typed);
    if (rc < 0)
        return rc;
    const ki_proto_item item = {.message = decoder->message,
                                .bytes = typed->raw,
                                .is_cut = decoder->gather.is_cut,
                                .kind = typed->kind,
                                .api_version = typed->api_version,
                                .has_names = !ki_str_equal(typed->kind, plan->kind) ||
                                             !ki_str_equal(typed->api_version, plan->api_version)};
    rc = ki_proto_item_build(&decoder->reader, plan, &item, &decoder->decoded.object,
                             &decoder->decoded.refused);
    return rc < 0 ? rc : rc == 1 ? result : refuse(decoder, result);
}

/* Reads the whole object of a bookmark or an error, without the projection. Returns 1 if it is in the sink,
 * 0 if it cannot be read, or KI_ERR_NO_MEMORY. */
static int read_whole(ki_proto_watch *decoder, const ki_proto_typed *typed)
{
    size_t bytes_max = decoder->plan->bytes_max;
    const ki_proto_source source = {.message = ki_proto_find(typed->api_version, typed->kind),
                                    .bytes = typed->raw,
                                    .kind = typed->kind,
                                    .api_version = typed->api_version,
                                    .bytes_max = bytes_max > TEXT_BYTES_MAX ? bytes_max : TEXT_BYTES_MAX,
                                    .is_whole = 1};
    ki_error *why = &decoder->decoded.refused.error;
    if (source.message == NULL || decoder->gather.is_cut) {
        ki_fail(why, KI_ERR_PROTOBUF, "the object of the event cannot be read: %.*s %.*s",
                KI_STR_ARGS(typed->api_version), KI_STR_ARGS(typed->kind));
        return 0;
    }
    int rc = ki_proto_read(&decoder->reader, &source, why);
    if (rc == 0 && decoder->reader.sink.overflowed)
        rc = ki_fail(why, KI_ERR_TOO_LARGE, "the object of the event is larger than the limit");
    return rc == KI_ERR_NO_MEMORY ? rc : rc == 0;
}

static int take_bookmark(ki_proto_watch *decoder, const ki_proto_typed *typed)
{
    ki_proto_unknown unknown = decoder->reader.unknown; /* unknown fields of a bookmark do not count */
    int rc = read_whole(decoder, typed);
    decoder->reader.unknown = unknown;
    if (rc <= 0)
        return rc < 0 ? rc : refuse(decoder, KI_CHANGE_BOOKMARK);
    ki_json object = {ki_buf_str(&decoder->reader.sink.text)};
    rc = ki_event_bookmark(object, &decoder->version, &decoder->decoded.ends_initial_events);
    decoder->decoded.resource_version = ki_buf_str(&decoder->version);
    return rc < 0 ? rc : KI_CHANGE_BOOKMARK;
}

/* An ERROR event whose object is not a Status is still reported as an error, without details. */
static int take_error(ki_proto_watch *decoder, const ki_proto_typed *typed)
{
    int rc = read_whole(decoder, typed);
    if (rc == 1)
        rc = ki_status_read((ki_json){ki_buf_str(&decoder->reader.sink.text)}, &decoder->decoded.status);
    return rc == KI_ERR_NO_MEMORY ? rc : KI_WATCH_ERROR;
}

static int take_typed(ki_proto_watch *decoder, const ki_proto_typed *typed, int result)
{
    if (result == KI_CHANGE_BOOKMARK)
        return take_bookmark(decoder, typed);
    if (result == KI_WATCH_ERROR)
        return take_error(decoder, typed);
    return take_object(decoder, typed, result);
}

/* Called when the frame is complete; `frame` is only its beginning if it is too large. */
static int take_frame(ki_proto_watch *decoder, ki_str frame)
{
    int is_cut = decoder->gather.is_cut;
    ki_str fields[OBJECT] = {{"", 0}, {NULL, 0}};
    ki_str raw = {"", 0};
    ki_proto_typed typed = {0};
    ki_error *why = &decoder->decoded.refused.error;
    if (ki_proto_typed_fields(frame, is_cut, fields, OBJECT) < 0) {
        ki_fail(why, KI_ERR_PROTOBUF, "the event is malformed");
        return refuse(decoder, 0);
    }
    int result = ki_event_result(fields[TYPE - 1]);
    if (result == 0 || fields[OBJECT - 1].ptr == NULL) {
        if (fields[OBJECT - 1].ptr == NULL || fields[TYPE - 1].len == 0)
            ki_fail(why, KI_ERR_NOT_AN_EVENT, "the event has no %s",
                    fields[TYPE - 1].len == 0 ? "type" : "object");
        else
            ki_fail(why, KI_ERR_NOT_AN_EVENT, "unknown event type \"%.*s\"", KI_STR_ARGS(fields[TYPE - 1]));
        return refuse(decoder, result);
    }
    if (ki_proto_typed_fields(fields[OBJECT - 1], is_cut, &raw, RAW) < 0) {
        ki_fail(why, KI_ERR_PROTOBUF, "the object of the event is malformed");
        return refuse(decoder, result);
    }
    if (ki_proto_typed_read(raw, is_cut, &typed, why) < 0)
        return refuse(decoder, result);
    return take_typed(decoder, &typed, result);
}

/* ---- bytes --------------------------------------------------------------------------------------------- */

static int begin_frame(ki_proto_watch *decoder, ki_str length, ki_error *err)
{
    uint64_t n = 0;
    for (size_t i = 0; i < LENGTH_BYTES; i++)
        n = n << 8 | (unsigned char)length.ptr[i];
    if (n > FRAME_BYTES_MAX)
        return ki_fail(err, KI_ERR_PROTOBUF, "an event of %llu bytes: this is not a watch in protobuf",
                       (unsigned long long)n);
    decoder->in_frame = 1;
    ki_proto_gather_begin(&decoder->gather, n, ki_proto_item_bytes_max(decoder->plan));
    return 0;
}

/* Called when the length or the content of a frame is complete. */
static int take_gathered(ki_proto_watch *decoder, ki_str bytes, ki_error *err)
{
    int rc = 0;
    if (!decoder->in_frame) {
        rc = begin_frame(decoder, bytes, err);
        if (rc < 0 || decoder->gather.left > 0)
            return rc;
        bytes = KI_STR("");
    }
    rc = take_frame(decoder, bytes);
    begin_length(decoder);
    return rc < 0 ? ki_fail(err, rc, "%s", ki_error_text(rc)) : rc;
}

int ki_proto_watch_feed(ki_proto_watch *decoder, const char *bytes, size_t n, size_t *out_used, ki_error *err)
{
    assert(!decoder->failed);
    size_t at = 0;
    int rc = 0;
    ki_decoded_clear_event(&decoder->decoded);
    while (rc == 0 && at < n) {
        size_t used = 0;
        ki_str gathered = {0};
        rc = ki_proto_gather_feed(&decoder->gather, (ki_str){bytes + at, n - at}, &used, &gathered);
        at += used;
        if (rc < 0)
            rc = ki_fail_no_memory(err);
        else if (rc == 1)
            rc = take_gathered(decoder, gathered, err);
    }
    *out_used = at;
    decoder->failed = rc < 0;
    return rc;
}

int ki_proto_watch_end(ki_proto_watch *decoder, ki_error *err)
{
    assert(decoder != NULL);
    if (!decoder->failed && !decoder->in_frame && !decoder->gather.is_begun)
        return 0;
    return ki_fail(err, KI_ERR_PROTOBUF_TRUNCATED, "the watch ends inside an event");
}
