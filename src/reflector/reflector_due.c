/* SPDX-License-Identifier: Apache-2.0 */
/* The timer, and what it is set for: deadlines, silence that has lasted too long, lists and probes. */
#include <assert.h>

#include "reflector/reflector_parts.h"
#include "util/error.h"

enum {
    LIST_SILENCE_SECONDS = 60,
    LITTLE_BYTES = 1024, /* fewer bytes of a list in LIST_SILENCE_SECONDS count as silence */
    STREAM_SILENCE_SECONDS = 10,
    REFUSAL_SECONDS =
        10, /* for the body of an error; http/ has the same limit by default, other sources none */
};

/* ---- silence --------------------------------------------------------------------------------------- */

/* Restarts the measurement of silence. little_bytes begins at its limit, so that the first byte that arrives
 * restarts the measurement again: see ki_reflector_end_silence(). */
void ki_reflector_begin_silence(ki_reflector *reflector)
{
    reflector->quiet_ns = reflector->little_ns = ki_reflector_now_ns(reflector);
    reflector->little_bytes = LITTLE_BYTES;
}

/* A few bytes count as silence, because a list that arrives too slowly would delay everything without
 * limit. */
void ki_reflector_end_silence(ki_reflector *reflector, size_t bytes, uint64_t now)
{
    reflector->quiet_ns = now;
    reflector->little_bytes += bytes;
    if (reflector->little_bytes < LITTLE_BYTES)
        return;
    reflector->little_ns = now;
    reflector->little_bytes = 0;
}

/* ---- what is due ----------------------------------------------------------------------------------- */

/* Whether the request of a streamed list has been sent. Until then it may wait for credentials or a
 * connection; that silence does not count against streams. */
static int is_stream_sent(const ki_reflector *reflector)
{
    return reflector->doing == KI_STEP_STREAM && reflector->answer.is_sent;
}

/* When the current response will have been silent for too long. */
static uint64_t silence_due_ns(const ki_reflector *reflector)
{
    uint64_t little_due_ns = reflector->little_ns + LIST_SILENCE_SECONDS * KI_NS_PER_S;
    if (ki_answer_is_error(&reflector->answer))
        return reflector->quiet_ns + REFUSAL_SECONDS * KI_NS_PER_S;
    if (is_stream_sent(reflector))
        return ki_ns_min(reflector->quiet_ns + STREAM_SILENCE_SECONDS * KI_NS_PER_S, little_due_ns);
    if (reflector->doing == KI_STEP_LIST || reflector->doing == KI_STEP_STREAM)
        return little_due_ns;
    return UINT64_MAX;
}

/* The error message, which says whether nothing or only little has arrived. */
static const char *silence_text(const ki_reflector *reflector)
{
    return reflector->little_bytes > 0 && reflector->little_bytes < LITTLE_BYTES
               ? "fewer than 1,024 bytes of the list have arrived for too long"
               : "nothing of the list has arrived for too long";
}

static uint64_t deadline_ns(const ki_reflector *reflector)
{
    int is_watch = reflector->doing == KI_STEP_WATCH || reflector->doing == KI_STEP_STREAM;
    return is_watch ? reflector->watch.deadline_ns : UINT64_MAX;
}

static uint64_t relist_due_ns(const ki_reflector *reflector)
{
    return reflector->doing == KI_STEP_WATCH ? reflector->relist_ns : UINT64_MAX;
}

static uint64_t probe_deadline_ns(const ki_reflector *reflector)
{
    return reflector->probe_answer.is_open ? reflector->probe.begun_ns + LIST_SILENCE_SECONDS * KI_NS_PER_S
                                           : UINT64_MAX;
}

/* While the destination is full, nothing is requested, and silence does not count. */
static uint64_t due_ns(const ki_reflector *reflector)
{
    uint64_t due = probe_deadline_ns(reflector);
    if (reflector->is_full)
        return due;
    if (reflector->next != KI_STEP_NONE)
        due = ki_ns_min(due, reflector->next_ns);
    due = ki_ns_min(due, silence_due_ns(reflector));
    due = ki_ns_min(due, deadline_ns(reflector));
    due = ki_ns_min(due, relist_due_ns(reflector));
    return ki_ns_min(due, ki_reflector_probe_due_ns(reflector));
}

/* A timer that fires too early does no harm. So a deadline that moves to a later time, as some do with every
 * byte, leaves the timer as it is. */
void ki_reflector_schedule(ki_reflector *reflector)
{
    uint64_t due = due_ns(reflector);
    int is_over = due == UINT64_MAX && reflector->scheduled_ns != UINT64_MAX;
    if (due >= reflector->scheduled_ns && !is_over)
        return;
    reflector->scheduled_ns = due;
    reflector->options.schedule(due, reflector->options.user);
}

static void relist(ki_reflector *reflector)
{
    ki_answer_cancel(&reflector->answer);
    ki_answer_cancel(&reflector->probe_answer);
    ki_reflector_go_on(reflector, KI_STEP_SYNC, 0);
}

static void fail_probe(ki_reflector *reflector)
{
    ki_failure failure = {.reason = KI_REASON_TIMEOUT};
    ki_error_set(&failure.error, KI_ERR_TIMEOUT, 0, "the one-item list has not begun to arrive");
    ki_answer_cancel(&reflector->probe_answer);
    ki_reflector_probe_over(reflector, &failure);
}

void ki_reflector_check_due(ki_reflector *reflector)
{
    assert(reflector != NULL);
    uint64_t now = ki_reflector_now_ns(reflector);
    if (now >= probe_deadline_ns(reflector))
        fail_probe(reflector);
    if (reflector->is_full)
        return;
    if (now >= deadline_ns(reflector))
        ki_reflector_abandon(reflector, KI_REASON_TIMEOUT, "the watch did not end in time");
    else if (now >= silence_due_ns(reflector) && ki_answer_is_error(&reflector->answer))
        ki_answer_cut_error(&reflector->answer);
    else if (now >= silence_due_ns(reflector) && is_stream_sent(reflector) && reflector->watch.was_heard)
        ki_reflector_abandon(reflector, KI_REASON_NO_END_OF_LIST, silence_text(reflector));
    else if (now >= silence_due_ns(reflector))
        ki_reflector_abandon(reflector, KI_REASON_TIMEOUT, silence_text(reflector));
    else if (now >= relist_due_ns(reflector))
        relist(reflector);
    else if (now >= ki_reflector_probe_due_ns(reflector))
        ki_reflector_begin_probe(reflector);
}
