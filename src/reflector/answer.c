/* SPDX-License-Identifier: Apache-2.0 */
#include "reflector/answer.h"

#include <assert.h>
#include <string.h>

#include "api/decode/reason.h"
#include "api/decode/refusal.h"
#include "proto/proto_status.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/text/str.h"

void ki_answer_init(ki_answer *answer, const ki_list_watch *source, ki_object_plan *plan)
{
    assert(answer != NULL);
    *answer = (ki_answer){.source = source, .plan = plan};
    ki_buf_init(&answer->error_body, KI_ANSWER_ERROR_BYTES_MAX);
}

void ki_answer_set_owner(ki_answer *answer, ki_answer_cb on_report, void *user, const int *is_full)
{
    assert(answer != NULL);
    answer->on_report = on_report;
    answer->user = user;
    answer->is_full = is_full;
}

/* on_report is take_report() in reflector/reflector.c. */
static void report(ki_answer *answer, ki_answer_report what)
{
    assert(answer->on_report != NULL);
    answer->on_report(answer, &what, answer->user);
}

static void enter(ki_answer *answer)
{
    report(answer, (ki_answer_report){.event = KI_ANSWER_ENTERED});
}

static void leave(ki_answer *answer, ki_answer_place place)
{
    report(answer, (ki_answer_report){.event = KI_ANSWER_LEFT, .place = place});
}

static void report_over(ki_answer *answer, const ki_failure *failure)
{
    assert(!answer->is_open);
    report(answer, (ki_answer_report){.event = KI_ANSWER_OVER, .failure = failure});
}

static void drop_decoder(ki_answer *answer)
{
    ki_body_decoder_fini(&answer->decoder);
    ki_buf_fini(&answer->error_body);
}

void ki_answer_fini(ki_answer *answer)
{
    assert(!answer->is_open);
    drop_decoder(answer);
}

static ki_body_form form_of(const ki_answer *answer)
{
    int is_proto = answer->wire == KI_WIRE_PROTOBUF;
    if (answer->kind == KI_ANSWER_LIST)
        return is_proto ? KI_BODY_PROTO_LIST : KI_BODY_JSON_LIST;
    return is_proto ? KI_BODY_PROTO_WATCH : KI_BODY_JSON_WATCH;
}

static void open_answer(ki_answer *answer, ki_answer_kind kind)
{
    assert(!answer->is_open && answer->decoder.form == KI_BODY_NONE);
    answer->kind = kind;
    answer->data = NULL;
    answer->is_open = 1;
    answer->is_sent = !answer->source->tells_sent;
    answer->is_begun = answer->is_proxys = 0;
    answer->is_waiting = 0;
    answer->http_status = 200;
    answer->retry_after_seconds = 0;
    answer->wire = KI_WIRE_AUTO;
    answer->seen_unknown = 0;
    ki_body_decoder_init(&answer->decoder, form_of(answer), answer->plan);
}

/* While the decoder is in use, ki_answer_body() ends it later. */
static void close_answer(ki_answer *answer, const ki_failure *failure)
{
    assert(answer->is_open);
    answer->is_open = 0;
    report_over(answer, failure);
    if (!answer->is_feeding)
        drop_decoder(answer);
}

void ki_answer_begin(ki_answer *answer, ki_answer_kind kind, const ki_list_options *options)
{
    open_answer(answer, kind);
    answer->asked_wire = options->wire;
    int rc = answer->source->begin(answer, options, answer->source->user);
    if (rc >= 0 || !answer->is_open)
        return;
    ki_failure failure = {.reason = rc == KI_ERR_NO_MEMORY ? KI_REASON_NO_MEMORY : KI_REASON_CONNECTION_LOST};
    answer->is_sent = rc == KI_ERR_INVALID;
    if (rc == KI_ERR_INVALID) { /* the source does not support this request */
        failure.reason = KI_REASON_BAD_REQUEST;
        failure.http_status = 400;
    }
    ki_error_set(&failure.error, rc, 0, "the request cannot be sent: %s", ki_error_text(rc));
    failure.party = KI_PARTY_SELF;
    close_answer(answer, &failure);
}

void ki_answer_cancel(ki_answer *answer)
{
    if (!answer->is_open)
        return;
    answer->is_open = 0;
    answer->source->cancel(answer, answer->source->user);
    if (!answer->is_feeding)
        drop_decoder(answer);
}

void ki_answer_resume(ki_answer *answer)
{
    if (!answer->is_open || !answer->is_waiting)
        return;
    answer->is_waiting = 0;
    answer->source->resume(answer, answer->source->user);
}

static int is_good(const ki_answer *answer)
{
    return answer->http_status >= 200 && answer->http_status < 300;
}

void ki_answer_sent(ki_answer *answer)
{
    if (answer == NULL || !answer->is_open)
        return;
    enter(answer);
    answer->is_sent = 1;
    report(answer, (ki_answer_report){.event = KI_ANSWER_SENT});
    leave(answer, KI_ANSWER_INSIDE);
}

/* All types other than protobuf are decoded as JSON, because servers may send JSON under another type. */
void ki_answer_set_content_type(ki_answer *answer, ki_str content_type)
{
    if (answer == NULL || !answer->is_open || answer->is_begun)
        return;
    size_t n = 0;
    while (n < content_type.len && strchr("; \t", content_type.ptr[n]) == NULL)
        n++;
    content_type.len = n;
    if (ki_str_is_word(content_type, KI_CONTENT_TYPE_PROTOBUF))
        answer->wire = KI_WIRE_PROTOBUF;
    else
        answer->wire = ki_str_is_word(content_type, KI_CONTENT_TYPE_JSON) ? KI_WIRE_JSON : KI_WIRE_AUTO;
    if (answer->decoder.form == form_of(answer))
        return;
    ki_body_decoder_fini(&answer->decoder);
    ki_body_decoder_init(&answer->decoder, form_of(answer), answer->plan);
}

void ki_answer_head(ki_answer *answer, int http_status, uint32_t retry_after_seconds)
{
    if (answer == NULL || !answer->is_open)
        return;
    enter(answer);
    answer->is_sent = 1; /* even if the source has not called ki_answer_sent() */
    answer->is_begun = 1;
    answer->http_status = http_status;
    answer->retry_after_seconds = retry_after_seconds;
    if (is_good(answer))
        report(answer, (ki_answer_report){.event = KI_ANSWER_HEARD});
    else
        report(answer, (ki_answer_report){.event = KI_ANSWER_ERROR_HEAD});
    leave(answer, KI_ANSWER_INSIDE);
}

/* ---- bodies -------------------------------------------------------------------------------------------- */

/* The decoder has failed. If the body is a Status instead of a list,
 * the failure has the reason of the Status. */
static void give_up(ki_answer *answer, const ki_error *err)
{
    assert(answer->is_open && answer->is_feeding);
    ki_failure failure = {.reason = KI_REASON_MALFORMED, .error = *err};
    const ki_status *status =
        answer->kind == KI_ANSWER_LIST ? &ki_body_decoder_result(&answer->decoder)->status : NULL;
    ki_mask_error(&answer->mask, &failure.error);
    if (err->code == KI_ERR_NO_MEMORY) {
        failure.reason = KI_REASON_NO_MEMORY;
    } else if (status != NULL && ki_status_is_present(status)) {
        failure.reason = ki_reason_of_status(answer->http_status, status);
        failure.http_status = status->http_status;
        failure.retry_after_seconds = (uint32_t)status->retry_after_seconds;
        if (failure.reason == KI_REASON_OTHER)
            failure.reason = KI_REASON_MALFORMED;
    }
    answer->is_open = 0;
    answer->source->cancel(answer, answer->source->user);
    report_over(answer, &failure);
}

/* Masks the server's text before errors and refusals quote it. */
static void mask_result(ki_answer *answer, int result)
{
    if (result == (answer->kind == KI_ANSWER_LIST ? (int)KI_LIST_REFUSED : (int)KI_WATCH_REFUSED))
        ki_mask_error(&answer->mask, &ki_body_decoder_result(&answer->decoder)->refused.error);
    else if (answer->kind == KI_ANSWER_WATCH && result == KI_WATCH_ERROR)
        ki_status_mask(&ki_body_decoder_result(&answer->decoder)->status, &answer->mask);
}

static void take_body(ki_answer *answer, ki_str bytes)
{
    assert(answer->is_feeding && answer->decoder.form != KI_BODY_NONE);
    ki_error err = {0};
    report(answer, (ki_answer_report){.event = KI_ANSWER_HEARD, .bytes = bytes.len});
    ki_alloc_expect(bytes.len);
    while (answer->is_open && bytes.len > 0) {
        size_t used = 0;
        int result = ki_body_decoder_feed(&answer->decoder, bytes, &used, &err);
        bytes.ptr += used;
        bytes.len -= used;
        mask_result(answer, result);
        if (result < 0)
            give_up(answer, &err);
        else if (result > 0)
            report(answer, (ki_answer_report){.event = KI_ANSWER_RESULT,
                                              .result = result,
                                              .decoded = ki_body_decoder_result(&answer->decoder)});
    }
}

/* A body that exceeds the limit is probably the error page of a proxy.
 * It is not needed: drops it, and does not wait for its end. */
static void take_error_body(ki_answer *answer, ki_str bytes)
{
    if (ki_buf_append_str(&answer->error_body, bytes) == 0)
        return;
    ki_buf_fini(&answer->error_body);
    ki_answer_cut_error(answer);
}

int ki_answer_body(ki_answer *answer, const char *bytes, size_t n)
{
    if (answer == NULL || !answer->is_open)
        return KI_ERR_NOT_FOUND;
    enter(answer);
    answer->is_feeding = 1;
    answer->is_sent = answer->is_begun = 1;
    if (is_good(answer))
        take_body(answer, (ki_str){bytes, n});
    else if (n > 0)
        take_error_body(answer, (ki_str){bytes, n});
    answer->is_feeding = 0;
    if (!answer->is_open)
        drop_decoder(answer);
    else
        answer->is_waiting = answer->is_full != NULL && *answer->is_full;
    int rc = !answer->is_open ? KI_ERR_NOT_FOUND : answer->is_waiting;
    leave(answer, KI_ANSWER_INSIDE);
    return rc;
}

/* ---- ends ---------------------------------------------------------------------------------------------- */

/* The server has answered with an error, and normally describes it in a Status. */
static void explain_error(ki_answer *answer, ki_failure *failure)
{
    ki_status status = {0};
    int is_proto = answer->wire == KI_WIRE_PROTOBUF;
    ki_str body = ki_buf_str(&answer->error_body);
    int rc = is_proto ? ki_proto_status_parse(body, &status, NULL) : ki_status_parse(body, &status, NULL);
    failure->reason = ki_reason_of_status(answer->http_status, &status);
    failure->retry_after_seconds = answer->retry_after_seconds;
    if (failure->retry_after_seconds == 0)
        failure->retry_after_seconds = (uint32_t)status.retry_after_seconds;
    ki_refusal_explain(&(ki_refusal){.code = KI_ERR_INVALID,
                                     .http_status = answer->http_status,
                                     .status = rc == 0 ? &status : NULL,
                                     .body = is_proto ? KI_STR("") : body,
                                     .withheld = answer->withheld},
                       &failure->error);
    ki_status_fini(&status);
}

void ki_answer_fail_in_proxy(ki_answer *answer)
{
    answer->is_proxys = 1;
}

/* Which party has failed. */
static ki_party party_of(const ki_answer *answer, const ki_failure *failure)
{
    enum { PROXY_AUTHENTICATION = 407 };
    if (answer->is_proxys || failure->http_status == PROXY_AUTHENTICATION)
        return KI_PARTY_PROXY;
    return ki_reason_is_ours(failure->reason) ? KI_PARTY_SELF : KI_PARTY_SERVER;
}

static ki_failure failure_of(ki_answer *answer, ki_reason reason, const char *message)
{
    ki_failure failure = {.reason = reason, .http_status = is_good(answer) ? 0 : answer->http_status};
    if (!is_good(answer)) {
        explain_error(answer, &failure);
        if (reason == KI_REASON_REDIRECTED && message != NULL)
            ki_error_set(&failure.error, KI_ERR_INVALID, 0, "%s", message); /* the message has the target */
    } else if (reason != KI_REASON_NONE) {
        ki_error_set(&failure.error, KI_ERR_SYSTEM, 0, "%s",
                     message != NULL && message[0] != 0 ? message : ki_reason_name(reason));
    } else if (ki_body_decoder_end(&answer->decoder, &failure.error) < 0) {
        failure.reason = KI_REASON_CONNECTION_LOST; /* the body is incomplete */
    }
    failure.party = party_of(answer, &failure);
    ki_mask_error(&answer->mask, &failure.error);
    return failure;
}

void ki_answer_end(ki_answer *answer, ki_reason reason, const char *message)
{
    if (answer == NULL || !answer->is_open || answer->is_feeding)
        return;
    enter(answer);
    ki_failure failure = failure_of(answer, reason, message);
    close_answer(answer, &failure);
    leave(answer, KI_ANSWER_OUTSIDE);
}

int ki_answer_is_error(const ki_answer *answer)
{
    assert(answer != NULL);
    return answer->is_open && !is_good(answer);
}

void ki_answer_cut_error(ki_answer *answer)
{
    ki_failure failure = failure_of(answer, KI_REASON_NONE, NULL);
    answer->is_open = 0;
    answer->source->cancel(answer, answer->source->user);
    report_over(answer, &failure);
    if (!answer->is_feeding)
        drop_decoder(answer);
}

void ki_answer_set_data(ki_answer *answer, void *data)
{
    if (answer != NULL)
        answer->data = data;
}

void *ki_answer_data(const ki_answer *answer)
{
    return answer == NULL ? NULL : answer->data;
}
