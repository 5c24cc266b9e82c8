/* SPDX-License-Identifier: Apache-2.0 */
#include "reflector/error_log.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "util/log.h"
#include "util/units.h"

enum { LINES_AT_ONCE = 10, INTERVAL_SECONDS = 30 };

void ki_error_log_init(ki_error_log *log, const ki_error_log_owner *owner, const ki_clock *clock)
{
    assert(log != NULL);
    *log = (ki_error_log){.owner = *owner, .clock = clock};
    ki_token_bucket_init(&log->bucket, INTERVAL_SECONDS * KI_NS_PER_S, LINES_AT_ONCE);
    ki_token_bucket_init(&log->turns, INTERVAL_SECONDS * KI_NS_PER_S, LINES_AT_ONCE);
}

/* Returns whether a line may be written. If so, the caller appends `text`,
 * which says how many objects were left out. */
static bool may_write(ki_error_log *log, char *text, size_t text_bytes)
{
    text[0] = 0;
    if (ki_token_bucket_take(&log->bucket, ki_clock_now_ns(log->clock)) != 0) {
        log->left_out++;
        return false;
    }
    if (log->left_out > 0)
        (void)snprintf(text, text_bytes, " (and %" PRIu64 " more objects since the last such line)",
                       log->left_out);
    log->left_out = 0;
    return true;
}

void ki_error_log_write(ki_error_log *log, const ki_informer_error *error)
{
    assert(log != NULL);
    ki_log_level level = error->reason == KI_REASON_EXPIRED ? KI_LOG_INFO : KI_LOG_WARNING;
    char more[80] = "";
    if (error->key[0] != 0 && !may_write(log, more, sizeof(more)))
        return;
    ki_log(level, log->owner.component,
           KI_LOG_FIELDS(
               {"name", ki_str_of(log->owner.name)}, {"resource", ki_str_of(log->owner.resource->plural)},
               {"group", ki_str_of(log->owner.resource->group)},
               {"reason", ki_str_of(ki_reason_name(error->reason))}, {"key", ki_str_of(error->key)}),
           "%s%s", error->error->message, more);
}

void ki_error_log_object(ki_error_log *log, ki_str key, const char *message)
{
    assert(log != NULL);
    assert(key.ptr != NULL || key.len == 0);
    char more[80];
    if (may_write(log, more, sizeof(more)))
        ki_log(KI_LOG_WARNING, log->owner.component,
               KI_LOG_FIELDS({"name", ki_str_of(log->owner.name)},
                             {"resource", ki_str_of(log->owner.resource->plural)},
                             {"group", ki_str_of(log->owner.resource->group)}, {"key", key}),
               "%s%s", message, more);
}

/* ---- turns --------------------------------------------------------------------------------------------- */

static void write_turn(ki_error_log *log, ki_log_level level, ki_reason reason, const char *message)
{
    char more[80] = "";
    if (ki_token_bucket_take(&log->turns, ki_clock_now_ns(log->clock)) != 0) {
        log->turns_left_out++;
        return;
    }
    if (log->turns_left_out > 0)
        (void)snprintf(more, sizeof(more), " (and %" PRIu64 " more such changes since the last such line)",
                       log->turns_left_out);
    log->turns_left_out = 0;
    ki_log(level, log->owner.component,
           KI_LOG_FIELDS({"name", ki_str_of(log->owner.name)},
                         {"resource", ki_str_of(log->owner.resource->plural)},
                         {"group", ki_str_of(log->owner.resource->group)},
                         {"reason", ki_str_of(ki_reason_name(reason))}),
           "%s%s", message, more);
}

static void end_loss(ki_error_log *log, const ki_informer_status *status)
{
    char message[96];
    uint64_t ms = ki_ns_age_ms(ki_clock_now_ns(log->clock), log->lost_ns);
    (void)snprintf(message, sizeof(message), "watching again after %" PRIu64 ".%03u s: %s", ms / 1000,
                   (unsigned)(ms % 1000), status->lists > log->lists ? "relisted" : "resumed");
    write_turn(log, KI_LOG_INFO, KI_REASON_NONE, message);
}

/* Whether this reason is not a failure, but only explains a wait. */
static bool is_wait(ki_reason reason)
{
    return reason == KI_REASON_NONE || reason == KI_REASON_PACED || reason == KI_REASON_RESUMING;
}

void ki_error_log_status(ki_error_log *log, const ki_informer_status *status)
{
    if (status->reason == KI_REASON_POLLING) {
        if (!log->is_polling)
            write_turn(log, KI_LOG_WARNING, KI_REASON_POLLING, status->message);
        log->is_polling = true;
        log->is_lost = false;
    } else if (!is_wait(status->reason) && status->phase != KI_PHASE_WATCHING && !log->is_lost) {
        log->is_lost = true;
        log->lost_ns = ki_clock_now_ns(log->clock);
        log->lists = status->lists;
    } else if (status->phase == KI_PHASE_WATCHING && status->reason == KI_REASON_NONE) {
        if (log->is_polling)
            write_turn(log, KI_LOG_INFO, KI_REASON_NONE, "watches bring events again");
        else if (log->is_lost)
            end_loss(log, status);
        log->is_polling = log->is_lost = false;
    } else if (status->phase == KI_PHASE_STOPPED) {
        log->is_polling = log->is_lost = false;
    }
}
