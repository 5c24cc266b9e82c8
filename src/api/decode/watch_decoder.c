/* SPDX-License-Identifier: Apache-2.0 */
#include "api/decode/watch_decoder.h"

#include <assert.h>
#include <string.h>

#include "api/object/object_build.h"
#include "util/error.h"

/* If the object of an event precedes the type, the whole object is buffered, so the limit for the part that
 * the projection keeps does not apply. */
#define WAITING_BYTES_MAX KI_JSON_VALUE_BYTES_DEFAULT

enum { TYPE_BYTES_MAX = 4096, VALUE_BYTES_KEPT = 64 * 1024 };

/* The members of an event that are used. */
enum { OTHER = 0, TYPE = 1, OBJECT = 2 };

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

void ki_watch_decoder_init(ki_watch_decoder *decoder, const ki_object_plan *plan)
{
    assert(decoder != NULL);
    *decoder = (ki_watch_decoder){.plan = plan};
    ki_envelope_init(&decoder->envelope, plan->depth_max);
    ki_buf_init(&decoder->type, TYPE_BYTES_MAX);
    ki_buf_init(&decoder->value, larger(plan->bytes_max, WAITING_BYTES_MAX));
    ki_decoded_init(&decoder->decoded);
}

void ki_watch_decoder_fini(ki_watch_decoder *decoder)
{
    assert(decoder != NULL);
    ki_decoded_fini(&decoder->decoded);
    ki_envelope_fini(&decoder->envelope);
    ki_buf_fini(&decoder->type);
    ki_buf_fini(&decoder->value);
}

/* The result for the type of the event; 0 if the type is missing or unknown. */
static int result_of_type(const ki_watch_decoder *decoder)
{
    return ki_event_result(ki_buf_str(&decoder->type));
}

/* The projection does not apply to bookmarks and errors. */
static const ki_projection *projection_for(const ki_watch_decoder *decoder, int result)
{
    return result == KI_CHANGE_BOOKMARK || result == KI_WATCH_ERROR ? NULL : decoder->plan->projection;
}

/* The limit for the event's object; `result` is 0 if the type is missing or unknown. */
static size_t limit_for(const ki_watch_decoder *decoder, int result)
{
    size_t bytes_max = decoder->plan->bytes_max;
    int is_whole = projection_for(decoder, result) == NULL;
    return is_whole ? larger(bytes_max, KI_ENVELOPE_TEXT_BYTES_MAX) : bytes_max;
}

static void begin_event(ki_watch_decoder *decoder)
{
    assert(!decoder->waits);
    decoder->seen = 0;
    decoder->result = KI_WATCH_MORE;
    decoder->is_refused = 0;
    decoder->type.len = 0;
    ki_buf_reset(&decoder->value, VALUE_BYTES_KEPT);
    ki_decoded_clear_event(&decoder->decoded);
}

/* Called when a name was read: decides how to take its value. An object that precedes the type of the event
 * is buffered whole until the type is known. */
static void begin_member(ki_watch_decoder *decoder)
{
    ki_json name = {ki_buf_str(&decoder->envelope.sink.text)};
    int is_type = ki_json_string_equals(name, KI_STR("type"));
    unsigned member = is_type ? TYPE : ki_json_string_equals(name, KI_STR("object")) ? OBJECT : OTHER;
    decoder->member = (decoder->seen & member) != 0 ? OTHER : member;
    decoder->seen |= member;
    if (decoder->member == OTHER) {
        ki_envelope_take(&decoder->envelope, KI_TAKE_SKIP, NULL, 0);
    } else if (decoder->member == TYPE) {
        ki_envelope_take(&decoder->envelope, KI_TAKE_VALUE, NULL, KI_ENVELOPE_TEXT_BYTES_MAX);
    } else if ((decoder->seen & TYPE) == 0) {
        ki_envelope_take(&decoder->envelope, KI_TAKE_OBJECT, NULL, decoder->value.max);
    } else {
        int result = result_of_type(decoder);
        ki_envelope_take(&decoder->envelope, KI_TAKE_OBJECT, projection_for(decoder, result),
                         limit_for(decoder, result));
    }
}

/* If the type is not a string or is very long, `type` stays empty, which counts as unknown. */
static int take_type(ki_watch_decoder *decoder, ki_error *err)
{
    assert(decoder->member == TYPE && decoder->type.len == 0);
    const ki_json_sink *sink = &decoder->envelope.sink;
    ki_json value = {ki_buf_str(&sink->text)};
    if (sink->overflowed || ki_json_type_of(value) != KI_JSON_STRING)
        return 0;
    int rc = ki_buf_reserve(&decoder->type, value.raw.len);
    if (rc == KI_ERR_NO_MEMORY)
        return ki_fail_no_memory(err);
    return rc < 0 ? 0 : ki_json_string_copy(value, decoder->type.data, decoder->type.cap, &decoder->type.len);
}

static int refuse(ki_watch_decoder *decoder, int type, ki_error *err)
{
    assert(decoder->decoded.object == NULL);
    decoder->result = KI_WATCH_REFUSED;
    decoder->decoded.refused_type = type;
    if (ki_object_read_key(&decoder->envelope.sink, &decoder->decoded.refused.key) == KI_ERR_NO_MEMORY)
        return ki_fail_no_memory(err);
    return 0;
}

static int take_bookmark(ki_watch_decoder *decoder, ki_error *err)
{
    ki_json object = {ki_buf_str(&decoder->envelope.sink.text)};
    decoder->result = KI_CHANGE_BOOKMARK;
    int rc = ki_event_bookmark(object, &decoder->value, &decoder->decoded.ends_initial_events);
    decoder->decoded.resource_version = ki_buf_str(&decoder->value);
    return rc < 0 ? ki_fail(err, rc, "%s", ki_error_text(rc)) : 0;
}

/* An ERROR event whose object is not a Status is still reported as an error, without details. */
static int take_error(ki_watch_decoder *decoder, ki_error *err)
{
    decoder->result = KI_WATCH_ERROR;
    int rc = ki_status_read((ki_json){ki_buf_str(&decoder->envelope.sink.text)}, &decoder->decoded.status);
    return rc == KI_ERR_NO_MEMORY ? ki_fail_no_memory(err) : 0;
}

/* The event's object is in the sink, scanned according to its type. */
static int interpret(ki_watch_decoder *decoder, ki_error *err)
{
    assert(!decoder->waits && decoder->decoded.object == NULL);
    int result = result_of_type(decoder);
    ki_json_sink *sink = &decoder->envelope.sink;
    ki_error *why = &decoder->decoded.refused.error;
    if (decoder->is_refused)
        return refuse(decoder, result, err);
    if (sink->overflowed) {
        ki_fail(why, KI_ERR_TOO_LARGE, "the object is larger than the limit of %zu bytes",
                limit_for(decoder, result));
        return refuse(decoder, result, err);
    }
    if (result == 0) {
        ki_fail(why, KI_ERR_NOT_AN_EVENT, "unknown event type \"%.*s\"",
                KI_STR_ARGS(ki_buf_str(&decoder->type)));
        return refuse(decoder, result, err);
    }
    if (result == KI_CHANGE_BOOKMARK)
        return take_bookmark(decoder, err);
    if (result == KI_WATCH_ERROR)
        return take_error(decoder, err);
    int rc = ki_object_build(decoder->plan, sink, &decoder->decoded.object, why);
    if (rc == KI_ERR_NO_MEMORY)
        return ki_fail_no_memory(err);
    decoder->result = result;
    return rc < 0 ? refuse(decoder, result, err) : 0;
}

/* Buffers an object that preceded the type in `value`. If the object is too large, only its beginning is
 * kept, which may contain the key. */
static int put_aside(ki_watch_decoder *decoder, ki_error *err)
{
    assert(!decoder->waits && (decoder->seen & TYPE) == 0);
    const ki_json_sink *sink = &decoder->envelope.sink;
    ki_str text = ki_buf_str(&sink->text);
    decoder->waits = 1;
    decoder->waiting_overflowed = sink->overflowed;
    decoder->value.len = 0;
    if (text.len > decoder->value.max)
        text.len = decoder->value.max;
    int rc = ki_buf_append_str(&decoder->value, text);
    return rc < 0 ? ki_fail(err, rc, "%s", ki_error_text(rc)) : 0;
}

/* Scans the buffered object again, according to the type of the event. If it has none, refuses the object. */
static int take_waiting(ki_watch_decoder *decoder, ki_error *err)
{
    assert(decoder->waits);
    ki_json_scanner scanner;
    ki_json_sink *sink = &decoder->envelope.sink;
    ki_str text = ki_buf_str(&decoder->value);
    size_t used = 0;
    decoder->waits = 0;
    ki_json_sink_limit(sink, limit_for(decoder, result_of_type(decoder)));
    ki_json_sink_begin(sink, projection_for(decoder, result_of_type(decoder)));
    ki_json_scanner_init(&scanner, &(ki_json_limits){decoder->plan->depth_max, SIZE_MAX});
    ki_json_scan_begin_lenient(&scanner, sink);
    int rc = decoder->waiting_overflowed ? ki_json_scan(&scanner, text.ptr, text.len, &used)
                                         : ki_json_scan_whole(&scanner, text);
    sink->overflowed |= decoder->waiting_overflowed;
    return rc < 0 ? ki_json_scan_explain(&scanner, rc, err) : interpret(decoder, err);
}

static int take_value(ki_watch_decoder *decoder, ki_error *err)
{
    if (decoder->member == TYPE)
        return take_type(decoder, err);
    if (decoder->member != OBJECT)
        return 0;
    const ki_json_scanner *scanner = &decoder->envelope.scanner;
    decoder->is_refused = scanner->refused != 0;
    if (decoder->is_refused)
        ki_json_scan_explain_refused(scanner, &decoder->decoded.refused.error);
    return (decoder->seen & TYPE) != 0 ? interpret(decoder, err) : put_aside(decoder, err);
}

/* Called when the event is complete. Returns its result. */
static int finish(ki_watch_decoder *decoder, ki_error *err)
{
    assert(!decoder->between);
    int rc = 0;
    if (decoder->waits)
        rc = take_waiting(decoder, err);
    if (rc < 0)
        return rc;
    if (decoder->seen != (TYPE | OBJECT)) {
        const char *missing = (decoder->seen & TYPE) == 0 ? "type" : "object";
        ki_fail(&decoder->decoded.refused.error, KI_ERR_NOT_AN_EVENT, "the event has no %s", missing);
        decoder->decoded.object = ki_object_unref(decoder->decoded.object);
        decoder->result = KI_WATCH_REFUSED;
        decoder->decoded.refused_type = (decoder->seen & TYPE) == 0 ? 0 : result_of_type(decoder);
    }
    ki_envelope_begin(&decoder->envelope);
    decoder->between = 1;
    return decoder->result;
}

static int take_step(ki_watch_decoder *decoder, int step, ki_error *err)
{
    switch (step) {
    case KI_ENVELOPE_NAME:
        begin_member(decoder);
        return 0;
    case KI_ENVELOPE_VALUE:
        return take_value(decoder, err);
    case KI_ENVELOPE_END:
        return finish(decoder, err);
    default:
        return 0;
    }
}

int ki_watch_decoder_feed(ki_watch_decoder *decoder, const char *bytes, size_t n, size_t *out_used,
                          ki_error *err)
{
    assert(!decoder->failed);
    size_t at = 0;
    int rc = 0;
    if (decoder->between) {
        begin_event(decoder);
        decoder->between = 0;
    }
    while (rc == 0 && at < n) {
        size_t used = 0;
        int step = ki_envelope_feed(&decoder->envelope, bytes + at, n - at, &used);
        assert(used <= n - at);
        at += used;
        rc = step < 0 ? ki_json_scan_explain(&decoder->envelope.scanner, step, err)
                      : take_step(decoder, step, err);
    }
    *out_used = at;
    decoder->failed = rc < 0;
    return rc;
}

int ki_watch_decoder_end(ki_watch_decoder *decoder, ki_error *err)
{
    assert(decoder != NULL);
    int rc = ki_envelope_end(&decoder->envelope);
    return rc < 0 ? ki_json_scan_explain(&decoder->envelope.scanner, rc, err) : 0;
}
