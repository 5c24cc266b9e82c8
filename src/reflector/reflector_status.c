/* SPDX-License-Identifier: Apache-2.0 */
/* The status of the reflector, and reports of failures. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "reflector/reflector_parts.h"

void ki_reflector_set_phase(ki_reflector *reflector, ki_phase phase)
{
    assert(reflector != NULL);
    if (reflector->report.phase == phase)
        return;
    reflector->report.phase = phase;
    reflector->report.phase_ns = ki_reflector_now_ns(reflector);
}

void ki_reflector_note_success(ki_reflector *reflector)
{
    assert(reflector != NULL);
    reflector->report.success_ns = reflector->report.byte_ns;
}

void ki_reflector_clear_failure(ki_reflector *reflector)
{
    assert(reflector != NULL);
    reflector->report.reason = KI_REASON_NONE;
    reflector->report.http_status = 0;
    reflector->report.message[0] = 0;
}

void ki_reflector_settle(ki_reflector *reflector)
{
    if (ki_reflector_is_polling(reflector))
        ki_reflector_explain_poll(reflector, NULL);
    else
        ki_reflector_clear_failure(reflector);
}

void ki_reflector_set_reason(ki_reflector *reflector, ki_reason reason, const char *message)
{
    assert(reflector != NULL);
    reflector->report.reason = reason;
    reflector->report.http_status = 0;
    (void)snprintf(reflector->report.message, sizeof(reflector->report.message), "%s", message);
}

/* Reports only changes that were published. Those that others followed at once are skipped. */
static void tell_status(ki_reflector *reflector)
{
    const ki_reflector_report *report = &reflector->report;
    if (report->phase == reflector->told_phase && report->reason == reflector->told_reason)
        return;
    reflector->told_phase = report->phase;
    reflector->told_reason = report->reason;
    if (reflector->options.on_status != NULL)
        reflector->options.on_status(reflector->options.user);
}

void ki_reflector_publish(ki_reflector *reflector)
{
    const ki_answer *answer = &reflector->answer;
    assert(reflector->report.phase != KI_PHASE_BACKING_OFF || reflector->report.reason != KI_REASON_NONE);
    reflector->report.is_unanswered = answer->is_open && answer->is_sent && !answer->is_begun;
    ki_mutex_lock(&reflector->status_mu);
    reflector->published = reflector->report;
    ki_mutex_unlock(&reflector->status_mu);
    tell_status(reflector);
}

/* Publishes the status first, since the callback may read it. */
static void tell(ki_reflector *reflector, ki_informer_error *error)
{
    ki_reflector_publish(reflector);
    error->since_success_ms = ki_ns_age_ms(ki_reflector_now_ns(reflector), reflector->report.success_ns);
    if (reflector->options.on_error != NULL)
        reflector->options.on_error(error, reflector->options.user);
}

void ki_reflector_tell_failure(ki_reflector *reflector, const ki_failure *failure, uint64_t delay_ns)
{
    assert(reflector != NULL);
    ki_counter_add(reflector->options.metrics->errors[failure->reason], 1);
    tell(reflector, &(ki_informer_error){.reason = failure->reason,
                                         .party = failure->party,
                                         .http_status = failure->http_status,
                                         .retry_ms = (delay_ns + KI_NS_PER_MS - 1) / KI_NS_PER_MS,
                                         .error = &failure->error,
                                         .key = ""});
}

void ki_reflector_report_failure(ki_reflector *reflector, const ki_failure *failure, uint64_t delay_ns)
{
    if (ki_reflector_is_polling(reflector) && reflector->poll.was_counted) {
        ki_reflector_explain_poll(reflector, failure);
    } else {
        ki_reflector_set_reason(reflector, failure->reason, failure->error.message);
        reflector->report.http_status = failure->http_status;
    }
    ki_reflector_tell_failure(reflector, failure, delay_ns);
}

static int makes_no_sense(int code)
{
    return code == KI_ERR_NOT_AN_EVENT || code == KI_ERR_METADATA || code == KI_ERR_JSON_DEPTH ||
           code == KI_ERR_JSON_ESCAPE || code == KI_ERR_JSON_UTF8 || code == KI_ERR_JSON_CONTROL;
}

void ki_reflector_report_refused(ki_reflector *reflector, const ki_error *error, ki_str key)
{
    assert(reflector != NULL);
    assert(key.ptr != NULL || key.len == 0);
    char text[1024]; /* a valid key has at most 507 bytes */
    snprintf(text, sizeof(text), "%.*s", KI_STR_ARGS(key));
    reflector->report.refused++;
    tell(reflector,
         &(ki_informer_error){.reason = makes_no_sense(error->code) ? KI_REASON_MALFORMED : KI_REASON_OTHER,
                              .error = error,
                              .key = text});
}

void ki_reflector_read_status(const ki_reflector *reflector, ki_informer_status *out_status)
{
    assert(reflector != NULL);
    ki_mutex_lock(&reflector->status_mu);
    const ki_reflector_report report = reflector->published;
    ki_mutex_unlock(&reflector->status_mu);
    uint64_t now = ki_reflector_now_ns(reflector);
    out_status->phase = report.phase;
    out_status->reason = report.reason;
    out_status->http_status = report.http_status;
    out_status->is_unanswered = report.is_unanswered;
    out_status->phase_age_ms = ki_ns_age_ms(now, report.phase_ns);
    out_status->byte_age_ms = ki_ns_age_ms(now, report.byte_ns);
    out_status->event_age_ms = ki_ns_age_ms(now, report.event_ns);
    out_status->bookmark_age_ms = ki_ns_age_ms(now, report.bookmark_ns);
    out_status->success_age_ms = ki_ns_age_ms(now, report.success_ns);
    out_status->retry_ms = report.phase == KI_PHASE_BACKING_OFF ? ki_ns_age_ms(report.retry_ns, now) : 0;
    out_status->lists = report.lists;
    out_status->watches = report.watches;
    out_status->reconnects = report.reconnects;
    out_status->events = report.events;
    out_status->refused = report.refused;
    out_status->bytes_read = report.bytes_read;
    out_status->wire = report.wire;
    out_status->unknown_fields = report.unknown_fields;
    out_status->unknown_message = report.unknown_message;
    out_status->unknown_number = report.unknown_number;
    memcpy(out_status->message, report.message, sizeof(out_status->message));
}
