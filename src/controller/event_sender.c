/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/event_sender.h"

#include <assert.h>

#include "util/units.h"

enum { TRIES_MAX = 12 };

static const uint64_t retry_ns = 10 * KI_NS_PER_S;

static bool is_core(const ki_event_sender *sender)
{
    return sender->source.api != KI_RECORDER_EVENTS_V1;
}

void ki_event_sender_init(ki_event_sender *sender, const ki_event_source *source, uint64_t seed)
{
    *sender = (ki_event_sender){.source = *source};
    ki_correlator_init(&sender->correlator, &sender->source.hash);
    ki_series_init(&sender->series, &sender->source.hash);
    ki_random_init(&sender->random, seed);
}

void ki_event_sender_drop(ki_event_sender *sender)
{
    ki_recorded_unref(sender->write.event);
    sender->write = (ki_event_write){0};
    sender->is_refresh = sender->in_flight = false;
    sender->tries = 0;
    sender->due_ns = 0;
}

void ki_event_sender_fini(ki_event_sender *sender)
{
    ki_event_sender_drop(sender);
    ki_correlator_fini(&sender->correlator);
    ki_series_fini(&sender->series);
}

ki_event_outcome ki_event_sender_take(ki_event_sender *sender, ki_recorded *event, uint64_t now_ns,
                                      int64_t wall_ns)
{
    assert(sender->write.event == NULL);
    if (is_core(sender))
        return ki_correlator_take(&sender->correlator, event, now_ns, wall_ns, &sender->write)
                   ? KI_OUTCOME_NONE
                   : KI_OUTCOME_SPAM;
    return ki_series_take(&sender->series, event, now_ns, wall_ns, &sender->write) ? KI_OUTCOME_NONE
                                                                                   : KI_OUTCOME_COUNTED;
}

bool ki_event_sender_step(ki_event_sender *sender, uint64_t now_ns, bool is_last)
{
    if (sender->in_flight)
        return false;
    if (sender->write.event == NULL)
        sender->is_refresh = ki_series_due(&sender->series, now_ns, is_last, &sender->write);
    if (sender->write.event == NULL || (!is_last && now_ns < sender->due_ns))
        return false;
    sender->retries += sender->tries > 0;
    sender->in_flight = true;
    return true;
}

static ki_event_outcome end(ki_event_sender *sender, ki_event_outcome outcome)
{
    if (sender->is_refresh && (outcome == KI_OUTCOME_CREATED || outcome == KI_OUTCOME_PATCHED))
        sender->refreshed++;
    ki_event_sender_drop(sender);
    return outcome;
}

static ki_event_outcome try_again(ki_event_sender *sender, uint64_t now_ns)
{
    if (++sender->tries >= TRIES_MAX)
        return end(sender, KI_OUTCOME_NO_ANSWER);
    bool is_first = sender->tries == 1;
    sender->due_ns = now_ns + (is_first ? ki_random_below(&sender->random, retry_ns) : retry_ns);
    return KI_OUTCOME_NONE;
}

/* After a retry, EXISTS means that an earlier create has succeeded, although its answer did not arrive. */
ki_event_outcome ki_event_sender_answer(ki_event_sender *sender, ki_event_answer answer, uint64_t now_ns,
                                        bool is_last)
{
    assert(sender->in_flight);
    bool is_patch = sender->write.is_patch;
    sender->in_flight = false;
    if (answer == KI_ANSWER_EXISTS)
        answer = sender->tries > 0 && !is_patch ? KI_ANSWER_DONE : KI_ANSWER_REFUSED;
    if (answer == KI_ANSWER_NOT_FOUND && is_patch) {
        sender->write.is_patch = false;
        return KI_OUTCOME_NONE;
    }
    if (answer == KI_ANSWER_DONE)
        return end(sender, is_patch ? KI_OUTCOME_PATCHED : KI_OUTCOME_CREATED);
    if (answer == KI_ANSWER_STOPPED)
        return end(sender, KI_OUTCOME_STOPPED);
    if (answer != KI_ANSWER_NONE)
        return end(sender, KI_OUTCOME_REFUSED);
    return is_last ? end(sender, KI_OUTCOME_NO_ANSWER) : try_again(sender, now_ns);
}

uint64_t ki_event_sender_next_ns(const ki_event_sender *sender)
{
    if (sender->in_flight)
        return UINT64_MAX;
    return sender->write.event != NULL ? sender->due_ns : ki_series_next_ns(&sender->series);
}
