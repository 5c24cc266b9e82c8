/* SPDX-License-Identifier: Apache-2.0 */
/* The public calls: recording, waiting, reading counts. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "client/callback.h"
#include "controller/recorder.h"
#include "util/alloc.h"
#include "util/log.h"

static int check(const ki_recorder *recorder, const ki_record *record)
{
    if (recorder == NULL || record == NULL || record->object == NULL || record->reason.len == 0)
        return KI_ERR_INVALID;
    return ki_client_check_process(recorder->client, NULL);
}

static void count_locked(ki_recorder *recorder, ki_event_outcome outcome) KI_REQUIRES(recorder->mu)
{
    KI_ASSERT_HELD(recorder->mu);
    recorder->counts[outcome]++;
    ki_counter_add(recorder->outcomes[outcome], 1);
}

/* The time is taken under the lock, so that the names are in the order of the queue. */
static void push_locked(ki_recorder *recorder, ki_recorded *event) KI_REQUIRES(recorder->mu)
{
    KI_ASSERT_HELD(recorder->mu);
    assert(recorder->is_busy && recorder->queued < recorder->queue_max);
    int64_t wall_ns = ki_clock_wall_ns(recorder->client->clock);
    uint64_t number = wall_ns < 0 ? 0 : (uint64_t)wall_ns;
    event->wall_ns = wall_ns;
    event->number = recorder->number = number > recorder->number ? number : recorder->number + 1;
    event->ticket = ++recorder->tickets;
    ki_list_push_back(&recorder->queue, &event->node);
    ki_gauge_set(recorder->queue_depth, (int64_t)++recorder->queued);
    ki_job_wake(&recorder->send);
}

/* Returns KI_OUTCOME_NONE if the event is now in the queue. */
static ki_event_outcome add_locked(ki_recorder *recorder, ki_recorded *event) KI_REQUIRES(recorder->mu)
{
    KI_ASSERT_HELD(recorder->mu);
    if (recorder->is_freed)
        return KI_OUTCOME_STOPPED;
    if (event == NULL)
        return KI_OUTCOME_NO_MEMORY;
    if (recorder->queued >= recorder->queue_max)
        return KI_OUTCOME_QUEUE_FULL;
    if (!recorder->is_busy && !ki_client_begin(recorder->client, &recorder->alive))
        return KI_OUTCOME_STOPPED;
    recorder->is_busy = true;
    push_locked(recorder, event);
    return KI_OUTCOME_NONE;
}

static int code_of(ki_event_outcome outcome)
{
    switch (outcome) {
    case KI_OUTCOME_QUEUE_FULL:
        return KI_ERR_TOO_LARGE;
    case KI_OUTCOME_NO_MEMORY:
        return KI_ERR_NO_MEMORY;
    case KI_OUTCOME_STOPPED:
        return KI_ERR_STOPPED;
    default:
        return 0;
    }
}

int ki_recorder_record(ki_recorder *recorder, const ki_record *record)
{
    int rc = check(recorder, record);
    if (rc < 0)
        return rc;
    ki_recorded *event = ki_recorded_new(record, recorder->message_bytes_max);
    ki_mutex_lock(&recorder->mu);
    ki_event_outcome outcome = add_locked(recorder, event);
    if (outcome != KI_OUTCOME_NONE)
        count_locked(recorder, outcome);
    bool is_news = outcome == KI_OUTCOME_QUEUE_FULL && !recorder->is_full;
    recorder->is_full = recorder->is_full || is_news;
    ki_mutex_unlock(&recorder->mu);
    if (outcome != KI_OUTCOME_NONE)
        ki_recorded_unref(event);
    if (is_news)
        ki_log_to(recorder->client->log, KI_LOG_WARNING, "recorder", KI_LOG_NO_FIELDS,
                  "%s: the queue of %zu events is full; more are dropped", recorder->component,
                  recorder->queue_max);
    return code_of(outcome);
}

/* Most messages fit on the stack. Without memory for a longer one, only its beginning is recorded. */
static int record_format(ki_recorder *recorder, const ki_record *record, const char *format, va_list args)
{
    char small[KI_NOTE_BYTES + 8];
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(small, sizeof(small), format, args);
    size_t len = n < 0 ? 0 : (size_t)n;
    char *large = NULL;
    if (len >= sizeof(small)) {
        len =
            len < KI_MESSAGE_BYTES ? len : KI_MESSAGE_BYTES + 8; /* one character more, which is cut later */
        large = ki_malloc(len + 1);
        if (large == NULL)
            len = sizeof(small) - 1;
        else
            (void)vsnprintf(large, len + 1, format, again);
    }
    va_end(again);
    ki_record whole = *record;
    whole.message = (ki_str){large != NULL ? large : small, len};
    int rc = ki_recorder_record(recorder, &whole);
    ki_free(large);
    return rc;
}

int ki_recorder_event(ki_recorder *recorder, const ki_object *object, ki_record_severity severity,
                      const char *reason, const char *action, const char *format, ...)
{
    if (format == NULL)
        return KI_ERR_INVALID;
    ki_record record = {.object = object,
                        .severity = (ki_record_severity)severity,
                        .reason = ki_str_of(reason),
                        .action = ki_str_of(action)};
    int rc = check(recorder, &record);
    if (rc < 0)
        return rc;
    va_list args;
    va_start(args, format);
    rc = record_format(recorder, &record, format, args);
    va_end(args);
    return rc;
}

/* ---- waiting ----------------------------------------------------------------------------------------- */

typedef struct awaited {
    const ki_recorder *recorder;
    uint64_t ticket;
} awaited;

static bool is_done(void *user)
{
    const awaited *a = user;
    return a->recorder->tickets_done >= a->ticket;
}

int ki_recorder_flush(ki_recorder *recorder, uint64_t timeout_ms)
{
    if (recorder == NULL)
        return KI_ERR_INVALID;
    int rc = ki_client_check_process(recorder->client, NULL);
    if (rc == 0)
        rc = ki_client_may_wait();
    if (rc < 0)
        return rc;
    ki_mutex_lock(&recorder->mu);
    awaited a = {recorder, recorder->tickets};
    uint64_t stopped_before = recorder->counts[KI_OUTCOME_STOPPED];
    ki_mutex_unlock(&recorder->mu);
    if (!ki_client_wait(recorder->client, &(ki_wait){&recorder->mu, is_done, &a, false}, timeout_ms))
        return KI_ERR_TIMEOUT;
    ki_mutex_lock(&recorder->mu);
    bool is_stopped = recorder->counts[KI_OUTCOME_STOPPED] != stopped_before;
    ki_mutex_unlock(&recorder->mu);
    return is_stopped ? KI_ERR_STOPPED : 0;
}

void ki_recorder_read_stats(const ki_recorder *recorder, ki_recorder_stats *out_stats)
{
    if (out_stats == NULL)
        return;
    *out_stats = (ki_recorder_stats){0};
    if (recorder == NULL || ki_client_is_foreign(recorder->client))
        return;
    ki_mutex_lock(&recorder->mu);
    const uint64_t *counts = recorder->counts;
    *out_stats = (ki_recorder_stats){.created = counts[KI_OUTCOME_CREATED],
                                     .patched = counts[KI_OUTCOME_PATCHED],
                                     .counted = counts[KI_OUTCOME_COUNTED],
                                     .dropped_queue_full = counts[KI_OUTCOME_QUEUE_FULL],
                                     .dropped_no_memory = counts[KI_OUTCOME_NO_MEMORY],
                                     .dropped_spam = counts[KI_OUTCOME_SPAM],
                                     .dropped_refused = counts[KI_OUTCOME_REFUSED],
                                     .dropped_no_answer = counts[KI_OUTCOME_NO_ANSWER],
                                     .dropped_stopped = counts[KI_OUTCOME_STOPPED],
                                     .queued = recorder->queued,
                                     .refreshed = recorder->refreshed,
                                     .retries = recorder->retries};
    out_stats->recorded = recorder->queued;
    for (int i = KI_OUTCOME_NONE + 1; i < KI_OUTCOMES; i++)
        out_stats->recorded += counts[i];
    ki_mutex_unlock(&recorder->mu);
}
