/* SPDX-License-Identifier: Apache-2.0 */
#include "rest/rest_reader.h"

#include <assert.h>
#include <string.h>

#include "api/decode/reason.h"
#include "api/decode/refusal.h"
#include "api/decode/status.h"
#include "api/object/object_build.h"
#include "util/alloc.h"
#include "util/error.h"

#define BODY_BYTES_MAX ((size_t)64 * 1024 * 1024)
#define TEXT_BYTES_MAX ((size_t)1024 * 1024)

/* The memory that the texts of an answer point to. */
typedef struct memory {
    ki_status status;
    ki_buf body;
    ki_buf continue_token;
    ki_buf resource_version;
} memory;

/* ---- answers ----------------------------------------------------------------------------------------- */

static void drop_objects(ki_rest_answer *answer)
{
    for (size_t i = 0; i < answer->object_count; i++)
        ki_object_unref(answer->objects[i]);
    ki_free(answer->objects);
    answer->objects = NULL;
    answer->object_count = 0;
}

/* The first reserved word of an answer points to its memory. */
static memory *memory_of(const ki_rest_answer *answer)
{
    void *found;
    memcpy(&found, &answer->reserved[0], sizeof(found));
    return found;
}

/* Clears the result of an attempt, and keeps the struct `memory` for the next. */
static void clear(ki_rest_answer *answer)
{
    memory *m = memory_of(answer);
    uint32_t attempts = answer->attempts;
    drop_objects(answer);
    ki_object_unref(answer->object);
    if (m != NULL) {
        ki_status_fini(&m->status);
        ki_buf_fini(&m->body);
        ki_buf_fini(&m->continue_token);
        ki_buf_fini(&m->resource_version);
    }
    *answer = (ki_rest_answer){.reserved = {(uintptr_t)m}, .attempts = attempts, .remaining_items = -1};
}

void ki_rest_answer_fini(ki_rest_answer *answer)
{
    if (answer == NULL)
        return;
    clear(answer);
    ki_free(memory_of(answer));
    *answer = (ki_rest_answer){0};
}

/* ---- creating and freeing ---------------------------------------------------------------------------- */

int ki_rest_reader_init(ki_rest_reader *reader, const ki_rest_request *request, ki_error *err)
{
    assert(reader != NULL && request != NULL);
    ki_error why = {0};
    ki_object_plan *plan = ki_object_plan_new(request->resource, request->objects, &why);
    memory *m = plan == NULL ? NULL : ki_calloc(1, sizeof(*m));
    if (m == NULL) {
        ki_object_plan_free(plan);
        if (plan != NULL)
            return ki_fail_no_memory(err);
        return ki_fail(err, why.code, "%s", why.message);
    }
    bool has_subresource = request->subresource != NULL && request->subresource[0] != 0;
    *reader = (ki_rest_reader){
        .plan = plan,
        .bytes_max = request->body_bytes_max > 0 ? request->body_bytes_max : BODY_BYTES_MAX,
        .is_list = request->verb == KI_REST_LIST,
        .is_plain = request->path != NULL,
        .may_be_dropped = request->verb == KI_REST_DELETE_COLLECTION,
        .may_lack_name = has_subresource || request->verb == KI_REST_CREATE ||
                         request->verb == KI_REST_DELETE || request->verb == KI_REST_DELETE_COLLECTION,
        .answer = {.reserved = {(uintptr_t)m}, .remaining_items = -1}};
    return 0;
}

static void drop_decoder(ki_rest_reader *reader)
{
    if (reader->has_decoder)
        ki_list_decoder_fini(&reader->decoder);
    reader->has_decoder = false;
}

void ki_rest_reader_fini(ki_rest_reader *reader)
{
    assert(reader != NULL);
    drop_decoder(reader);
    ki_rest_answer_fini(&reader->answer);
    ki_object_plan_free(reader->plan);
    reader->plan = NULL;
}

void ki_rest_reader_take(ki_rest_reader *reader, ki_rest_answer *out_answer)
{
    assert(reader != NULL && out_answer != NULL);
    *out_answer = reader->answer;
    reader->answer = (ki_rest_answer){0};
}

/* ---- failures ---------------------------------------------------------------------------------------- */

/* Discards a partial page. */
void ki_rest_reader_fail(ki_rest_reader *reader, int code, ki_reason reason, const char *message)
{
    assert(reader != NULL);
    assert(code < 0);
    drop_objects(&reader->answer);
    reader->answer.reason = reason;
    ki_error_set(&reader->answer.error, code, 0, "%s",
                 message == NULL || message[0] == 0 ? ki_error_text(code) : message);
    ki_mask_error(&reader->mask, &reader->answer.error);
}

/* The response is not what the request asked for. */
static int refuse(ki_rest_reader *reader, const ki_error *why)
{
    assert(why->code < 0);
    ki_rest_reader_fail(reader, why->code,
                        why->code == KI_ERR_NO_MEMORY ? KI_REASON_NO_MEMORY : KI_REASON_MALFORMED,
                        why->message);
    return why->code;
}

static int refuse_code(ki_rest_reader *reader, int code)
{
    ki_error why = {.code = code};
    if (code == KI_ERR_TOO_LARGE)
        ki_error_set(&why, code, 0, "the response is larger than %zu bytes", reader->bytes_max);
    return refuse(reader, &why);
}

/* ---- pieces ------------------------------------------------------------------------------------------ */

static bool is_good(const ki_rest_reader *reader)
{
    return reader->answer.http_status >= 200 && reader->answer.http_status < 300;
}

void ki_rest_reader_begin(ki_rest_reader *reader)
{
    assert(reader != NULL);
    assert(memory_of(&reader->answer) != NULL);
    memory *m = memory_of(&reader->answer);
    drop_decoder(reader);
    clear(&reader->answer);
    reader->answer.attempts++;
    reader->bytes = 0;
    reader->objects_cap = 0;
    reader->retry_after_seconds = 0;
    reader->is_dropped = false;
    ki_buf_init(&m->body, reader->bytes_max);
    ki_buf_init(&m->continue_token, TEXT_BYTES_MAX);
    ki_buf_init(&m->resource_version, TEXT_BYTES_MAX);
    if (reader->is_list)
        ki_list_decoder_init(&reader->decoder, reader->plan);
    reader->has_decoder = reader->is_list;
}

void ki_rest_reader_head(ki_rest_reader *reader, const ki_response_head *head)
{
    assert(reader->answer.attempts > 0);
    memory *m = memory_of(&reader->answer);
    reader->answer.http_status = head->status;
    reader->retry_after_seconds = head->retry_after_seconds;
    if (!is_good(reader) && reader->bytes_max > KI_REST_ERROR_BYTES_MAX)
        ki_buf_init(&m->body, KI_REST_ERROR_BYTES_MAX);
}

/* Copies the texts, because those of the decoder are freed with it. */
static int take_metadata(ki_rest_reader *reader)
{
    assert(reader->has_decoder);
    const ki_list_metadata *metadata = &reader->decoder.decoded.metadata;
    memory *m = memory_of(&reader->answer);
    ki_buf_reset(&m->continue_token, 0);
    ki_buf_reset(&m->resource_version, 0);
    int rc = ki_buf_append_str(&m->continue_token, metadata->continue_token);
    if (rc == 0)
        rc = ki_buf_append_str(&m->resource_version, metadata->resource_version);
    reader->answer.continue_token = ki_buf_str(&m->continue_token);
    reader->answer.resource_version = ki_buf_str(&m->resource_version);
    reader->answer.remaining_items = metadata->remaining_items;
    return rc;
}

static int take_object(ki_rest_reader *reader)
{
    ki_rest_answer *answer = &reader->answer;
    assert(answer->object_count <= reader->objects_cap);
    assert(answer->objects != NULL || reader->objects_cap == 0);
    if (answer->object_count == reader->objects_cap) {
        size_t cap = reader->objects_cap == 0 ? 64 : reader->objects_cap * 2;
        ki_object **larger = ki_realloc(answer->objects, cap * sizeof(ki_object *));
        if (larger == NULL)
            return KI_ERR_NO_MEMORY;
        answer->objects = larger;
        reader->objects_cap = cap;
    }
    answer->objects[answer->object_count++] = ki_decoded_take_object(&reader->decoder.decoded);
    return 0;
}

static int take_step(ki_rest_reader *reader, int step)
{
    switch (step) {
    case KI_LIST_METADATA:
        return take_metadata(reader);
    case KI_LIST_OBJECT:
        return take_object(reader);
    case KI_LIST_REFUSED:
        reader->answer.refused_count++;
        return 0;
    default:
        return 0;
    }
}

static int feed_list(ki_rest_reader *reader, ki_str bytes)
{
    assert(reader->is_list && reader->has_decoder);
    while (bytes.len > 0) {
        ki_error why = {0};
        size_t used = 0;
        int step = ki_list_decoder_feed(&reader->decoder, bytes.ptr, bytes.len, &used, &why);
        if (step < 0)
            return refuse(reader, &why);
        int rc = take_step(reader, step);
        if (rc < 0)
            return refuse_code(reader, rc);
        assert(used <= bytes.len);
        bytes.ptr += used;
        bytes.len -= used;
    }
    return 0;
}

int ki_rest_reader_body(ki_rest_reader *reader, const char *bytes, size_t n)
{
    assert(reader->bytes <= reader->bytes_max);
    memory *m = memory_of(&reader->answer);
    if (!is_good(reader)) { /* an error page of a proxy may be long, and is not needed */
        if (!reader->is_dropped)
            reader->is_dropped = ki_buf_append(&m->body, bytes, n) < 0;
        return 0;
    }
    if (reader->is_dropped)
        return 0;
    if (n > reader->bytes_max - reader->bytes && reader->may_be_dropped) {
        reader->is_dropped = true;
        ki_buf_fini(&m->body);
        return 0;
    }
    if (n > reader->bytes_max - reader->bytes)
        return refuse_code(reader, KI_ERR_TOO_LARGE);
    reader->bytes += n;
    if (reader->is_list)
        return feed_list(reader, (ki_str){bytes, n});
    int rc = ki_buf_append(&m->body, bytes, n);
    return rc < 0 ? refuse_code(reader, rc) : 0;
}

/* ---- ends -------------------------------------------------------------------------------------------- */

static int code_of_status(int http_status, const ki_status *status)
{
    switch (http_status) {
    case 401:
        return KI_ERR_UNAUTHORIZED;
    case 403:
        return KI_ERR_FORBIDDEN;
    case 404:
        return KI_ERR_NOT_FOUND;
    case 409:
        return ki_str_equal(status->reason, KI_STR("AlreadyExists")) ? KI_ERR_ALREADY_EXISTS
                                                                     : KI_ERR_CONFLICT;
    case 410:
        return KI_ERR_EXPIRED;
    case 504:
        return KI_ERR_TIMEOUT;
    default:
        return KI_ERR_HTTP;
    }
}

/* The header takes precedence over the Status. */
static uint32_t retry_after_ms(const ki_rest_reader *reader, const ki_status *status)
{
    uint32_t seconds = reader->retry_after_seconds;
    if (seconds == 0 && status->retry_after_seconds > 0)
        seconds = (uint32_t)status->retry_after_seconds;
    return seconds < KI_RETRY_AFTER_SECONDS_MAX ? seconds * 1000 : KI_RETRY_AFTER_SECONDS_MAX * 1000;
}

/* The server has refused the request. Normally a Status says why. */
static void explain_refusal(ki_rest_reader *reader, int http_status)
{
    const memory *m = memory_of(&reader->answer);
    const ki_status *status = &m->status;
    int code = code_of_status(http_status, status);
    reader->answer.reason = ki_reason_of_status(http_status, status);
    ki_refusal_explain(&(ki_refusal){.code = code,
                                     .http_status = http_status,
                                     .status = reader->answer.status,
                                     .body = ki_buf_str(&m->body),
                                     .withheld = reader->withheld},
                       &reader->answer.error);
    ki_mask_error(&reader->mask, &reader->answer.error);
    reader->answer.error.retry_after_ms = retry_after_ms(reader, status);
}

/* Looks for a Status in the body. Returns what ki_status_parse() returns. */
static int read_status(ki_rest_reader *reader, ki_error *err)
{
    memory *m = memory_of(&reader->answer);
    int rc = reader->is_dropped ? KI_ERR_TYPE : ki_status_parse(ki_buf_str(&m->body), &m->status, err);
    if (rc == 0) {
        ki_status_mask(&m->status, &reader->mask);
        reader->answer.status = &m->status;
    }
    return rc;
}

static void end_refused(ki_rest_reader *reader)
{
    (void)!read_status(reader, NULL);
    explain_refusal(reader, reader->answer.http_status);
}

/* A Status may report success, as after a delete, or a failure. Anything else without a name is accepted only
 * if the response may lack a name. */
static void end_without_name(ki_rest_reader *reader, const ki_error *why)
{
    assert(why->code < 0);
    ki_error err = *why;
    int rc = read_status(reader, NULL);
    if (rc == KI_ERR_NO_MEMORY) {
        (void)refuse_code(reader, rc);
    } else if (rc == 0 && ki_str_equal(reader->answer.status->status, KI_STR("Failure"))) {
        explain_refusal(reader, reader->answer.status->http_status);
    } else if (!reader->may_lack_name) {
        (void)refuse(reader, &err);
    }
}

static void end_object(ki_rest_reader *reader)
{
    assert(reader->answer.object == NULL && !reader->is_dropped);
    const memory *m = memory_of(&reader->answer);
    ki_error why = {0};
    int rc = ki_object_build_text(reader->plan, ki_buf_str(&m->body), &reader->answer.object, &why);
    if (rc == KI_ERR_METADATA)
        end_without_name(reader, &why);
    else if (rc < 0 && (m->body.len > 0 || !reader->may_lack_name))
        (void)refuse(reader, &why);
}

static void end_list(ki_rest_reader *reader)
{
    assert(reader->has_decoder);
    ki_error why = {0};
    if (ki_list_decoder_end(&reader->decoder, &why) < 0)
        (void)refuse(reader, &why);
}

static int code_of_reason(ki_reason reason)
{
    switch (reason) {
    case KI_REASON_TIMEOUT:
        return KI_ERR_TIMEOUT;
    case KI_REASON_NO_MEMORY:
        return KI_ERR_NO_MEMORY;
    case KI_REASON_UNAUTHORIZED:
    case KI_REASON_NO_CREDENTIALS:
        return KI_ERR_UNAUTHORIZED;
    default:
        return KI_ERR_HTTP;
    }
}

void ki_rest_reader_end(ki_rest_reader *reader, ki_reason reason, const char *message)
{
    const memory *m = memory_of(&reader->answer);
    bool is_refused = reader->answer.http_status != 0 && !is_good(reader) && reason != KI_REASON_REDIRECTED;
    if (is_refused)
        end_refused(reader);
    else if (reason != KI_REASON_NONE)
        ki_rest_reader_fail(reader, code_of_reason(reason), reason, message);
    else if (reader->is_list)
        end_list(reader);
    else if (!reader->is_plain && !reader->is_dropped)
        end_object(reader);
    reader->answer.body = ki_buf_str(&m->body);
    drop_decoder(reader);
}
