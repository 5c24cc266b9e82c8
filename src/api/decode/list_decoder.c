/* SPDX-License-Identifier: Apache-2.0 */
#include "api/decode/list_decoder.h"

#include <assert.h>
#include <string.h>

#include "api/decode/list_answer.h"
#include "api/object/object_build.h"
#include "util/error.h"
#include "util/text/byte.h"

enum { TEXT_BYTES_MAX = 1024 * 1024 };

enum { OPEN, COMPLETE, FAILED };

/* The members of a response that are used; those from STATUS on belong to a Status. */
enum { KIND, API_VERSION, METADATA, ITEMS, STATUS, MESSAGE, REASON, DETAILS, CODE, MEMBERS };

static const char *const names[MEMBERS] = {"kind",    "apiVersion", "metadata", "items", "status",
                                           "message", "reason",     "details",  "code"};

void ki_list_decoder_init(ki_list_decoder *decoder, ki_object_plan *plan)
{
    assert(decoder != NULL);
    *decoder = (ki_list_decoder){.plan = plan};
    ki_envelope_init(&decoder->envelope, plan->depth_max);
    ki_buf_init(&decoder->kind, TEXT_BYTES_MAX);
    ki_buf_init(&decoder->api_version, TEXT_BYTES_MAX);
    ki_buf_init(&decoder->resource_version, TEXT_BYTES_MAX);
    ki_buf_init(&decoder->continue_token, TEXT_BYTES_MAX);
    ki_buf_init(&decoder->document, TEXT_BYTES_MAX);
    ki_decoded_init(&decoder->decoded);
}

void ki_list_decoder_fini(ki_list_decoder *decoder)
{
    assert(decoder != NULL);
    ki_decoded_fini(&decoder->decoded);
    ki_envelope_fini(&decoder->envelope);
    ki_buf_fini(&decoder->kind);
    ki_buf_fini(&decoder->api_version);
    ki_buf_fini(&decoder->resource_version);
    ki_buf_fini(&decoder->continue_token);
    ki_buf_fini(&decoder->document);
}

static ki_json current_value(const ki_list_decoder *decoder)
{
    return (ki_json){ki_buf_str(&decoder->envelope.sink.text)};
}

static int not_a_list(ki_error *err, const char *why)
{
    return ki_fail(err, KI_ERR_NOT_A_LIST, "the response is not a list: %s", why);
}

/* Called when a name was read: decides how to take its value. */
static int begin_member(ki_list_decoder *decoder, ki_error *err)
{
    ki_json name = current_value(decoder);
    size_t i = 0;
    while (i < MEMBERS && !ki_json_string_equals(name, ki_str_of(names[i])))
        i++;
    decoder->member = i;
    unsigned bit = i < MEMBERS ? 1U << i : 0;
    if (i == ITEMS && (decoder->seen & bit) != 0)
        return not_a_list(err, "it has items twice");
    int is_status = ki_list_answer_is_status(ki_buf_str(&decoder->kind));
    if (i == MEMBERS || (decoder->seen & bit) != 0 || (i == ITEMS && is_status)) {
        decoder->member = MEMBERS;
        ki_envelope_take(&decoder->envelope, KI_TAKE_SKIP, NULL, 0);
    } else if (i == ITEMS) {
        ki_envelope_take(&decoder->envelope, KI_TAKE_ELEMENTS, decoder->plan->projection,
                         decoder->plan->bytes_max);
    } else {
        ki_envelope_take(&decoder->envelope, KI_TAKE_VALUE, NULL, KI_ENVELOPE_TEXT_BYTES_MAX);
    }
    decoder->seen |= bit;
    return 0;
}

/* Stores the unescaped text of a string; for other values `out` stays empty. */
static int keep_text(ki_json value, ki_buf *out, ki_error *err)
{
    if (ki_json_type_of(value) != KI_JSON_STRING)
        return 0;
    int rc = ki_buf_reserve(out, value.raw.len);
    if (rc < 0)
        return ki_fail(err, rc, "a member of the list other than its items: %s", ki_error_text(rc));
    return ki_json_string_copy(value, out->data, out->cap, &out->len);
}

static int take_metadata(ki_list_decoder *decoder, ki_error *err)
{
    ki_json value = current_value(decoder);
    int rc = keep_text(ki_json_member(value, KI_STR("resourceVersion")), &decoder->resource_version, err);
    if (rc == 0)
        rc = keep_text(ki_json_member(value, KI_STR("continue")), &decoder->continue_token, err);
    if (rc < 0)
        return rc;
    ki_list_metadata *metadata = &decoder->decoded.metadata;
    metadata->resource_version = ki_buf_str(&decoder->resource_version);
    metadata->continue_token = ki_buf_str(&decoder->continue_token);
    if (ki_json_int64(ki_json_member(value, KI_STR("remainingItemCount")), &metadata->remaining_items) < 0)
        metadata->remaining_items = -1;
    return KI_LIST_METADATA;
}

/* Adds a member to the text from which a Status is read. */
static int keep_member(ki_list_decoder *decoder, ki_error *err)
{
    assert(decoder->member < MEMBERS && decoder->member != ITEMS);
    ki_buf *document = &decoder->document;
    const char *name = names[decoder->member];
    ki_str value = current_value(decoder).raw;
    int rc = ki_buf_reserve(document, strlen(name) + value.len + 4);
    if (rc < 0)
        return ki_fail(err, rc, "a member of the list other than its items: %s", ki_error_text(rc));
    rc = ki_buf_append(document, document->len == 0 ? "{\"" : ",\"", 2);
    if (rc == 0)
        rc = ki_buf_append_str(document, ki_str_of(name));
    if (rc == 0)
        rc = ki_buf_append(document, "\":", 2);
    return rc < 0 ? rc : ki_buf_append_str(document, value);
}

static int take_value(ki_list_decoder *decoder, ki_error *err)
{
    int rc = 0;
    ki_json value = current_value(decoder);
    if (decoder->member == MEMBERS)
        return 0;
    if (decoder->envelope.sink.overflowed)
        return ki_fail(err, KI_ERR_TOO_LARGE, "\"%s\" of the list is too large", names[decoder->member]);
    if (decoder->member == ITEMS)
        return ki_json_type_of(value) == KI_JSON_NULL ? 0 : not_a_list(err, "its items are not an array");
    if (decoder->member == METADATA)
        return take_metadata(decoder, err);
    if (decoder->member == KIND || decoder->member == API_VERSION)
        rc = keep_text(value, decoder->member == KIND ? &decoder->kind : &decoder->api_version, err);
    if (rc == 0 && decoder->member == KIND)
        rc = ki_list_answer_check(decoder->plan, ki_buf_str(&decoder->kind), err);
    if (rc == 0 && (decoder->member == KIND || decoder->member == API_VERSION))
        rc = ki_list_answer_learn(decoder->plan, ki_buf_str(&decoder->kind),
                                  ki_buf_str(&decoder->api_version), err);
    return rc < 0 ? rc : keep_member(decoder, err);
}

static int take_item(ki_list_decoder *decoder, ki_error *err)
{
    assert(decoder->decoded.object == NULL);
    ki_refused *refused = &decoder->decoded.refused;
    ki_json_sink *sink = &decoder->envelope.sink;
    const ki_json_scanner *scanner = &decoder->envelope.scanner;
    refused->key.len = 0;
    int rc = scanner->refused != 0
                 ? ki_json_scan_explain_refused(scanner, &refused->error)
                 : ki_object_build(decoder->plan, sink, &decoder->decoded.object, &refused->error);
    if (rc == 0)
        return KI_LIST_OBJECT;
    if (rc == KI_ERR_NO_MEMORY || ki_object_read_key(sink, &refused->key) == KI_ERR_NO_MEMORY)
        return ki_fail_no_memory(err);
    return KI_LIST_REFUSED;
}

static int fail_with_status(ki_list_decoder *decoder, ki_error *err)
{
    int rc = ki_buf_append_byte(&decoder->document, '}');
    if (rc < 0)
        return ki_fail(err, rc, "%s", ki_error_text(rc));
    return ki_list_answer_fail(ki_buf_str(&decoder->document), &decoder->decoded.status, err);
}

static int finish(ki_list_decoder *decoder, ki_error *err)
{
    assert(decoder->state == OPEN);
    if (ki_list_answer_is_status(ki_buf_str(&decoder->kind)))
        return fail_with_status(decoder, err);
    if ((decoder->seen & 1U << ITEMS) == 0)
        return not_a_list(err, "it has no items");
    decoder->state = COMPLETE;
    return KI_LIST_END;
}

/* Turns a step of the envelope into a ki_list_step, or KI_LIST_MORE if the caller need not know about it. */
static int take_step(ki_list_decoder *decoder, int step, ki_error *err)
{
    switch (step) {
    case KI_ENVELOPE_NAME:
        return begin_member(decoder, err);
    case KI_ENVELOPE_VALUE:
        return take_value(decoder, err);
    case KI_ENVELOPE_ELEMENT:
        return take_item(decoder, err);
    case KI_ENVELOPE_END:
        return finish(decoder, err);
    default:
        return KI_LIST_MORE;
    }
}

static int fail(ki_list_decoder *decoder, int code)
{
    assert(code < 0);
    decoder->state = FAILED;
    return code;
}

/* Only white space may follow the list. */
static int take_rest(ki_list_decoder *decoder, const char *bytes, size_t n, size_t *at, ki_error *err)
{
    assert(decoder->state == COMPLETE && *at <= n);
    ki_json_scanner *scanner = &decoder->envelope.scanner;
    for (; *at < n; (*at)++, scanner->offset++) {
        if (ki_byte_is_space(bytes[*at]))
            continue;
        scanner->error_offset = scanner->offset;
        return ki_json_scan_explain(scanner, KI_ERR_JSON_TRAILING, err);
    }
    return 0;
}

int ki_list_decoder_feed(ki_list_decoder *decoder, const char *bytes, size_t n, size_t *out_used,
                         ki_error *err)
{
    assert(decoder->state != FAILED);
    decoder->decoded.object = ki_object_unref(decoder->decoded.object);
    size_t at = 0;
    int rc = KI_LIST_MORE;
    while (rc == KI_LIST_MORE && at < n && decoder->state == OPEN) {
        size_t used = 0;
        int step = ki_envelope_feed(&decoder->envelope, bytes + at, n - at, &used);
        assert(used <= n - at);
        at += used;
        rc = step < 0 ? ki_json_scan_explain(&decoder->envelope.scanner, step, err)
                      : take_step(decoder, step, err);
    }
    if (rc == KI_LIST_MORE && decoder->state == COMPLETE)
        rc = take_rest(decoder, bytes, n, &at, err);
    *out_used = at;
    return rc < 0 ? fail(decoder, rc) : rc;
}

int ki_list_decoder_end(ki_list_decoder *decoder, ki_error *err)
{
    assert(decoder != NULL);
    if (decoder->state == COMPLETE)
        return 0;
    return ki_fail_at(err, KI_ERR_JSON_TRUNCATED, decoder->envelope.scanner.offset,
                      "the list ends early, after %llu bytes",
                      (unsigned long long)decoder->envelope.scanner.offset);
}
