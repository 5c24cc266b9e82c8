/* SPDX-License-Identifier: Apache-2.0 */
#include "reflector/error_log.h"

#include <inttypes.h>
#include <stdio.h>

#include "util/log.h"
#include "util/units.h"

enum { LINES_AT_ONCE = 10, INTERVAL_SECONDS = 30 };

void ki_error_log_init(ki_error_log *log, const ki_error_log_owner *owner, const ki_clock *clock)
{
    *log = (ki_error_log){.owner = *owner, .clock = clock};
    ki_token_bucket_init(&log->bucket, INTERVAL_SECONDS * KI_NS_PER_S, LINES_AT_ONCE);
}

/* Returns whether a line may be written; then `text`, which it ends with, says how many were not. */
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

void ki_error_log_write(ki_error_log *log, const ki_watch_error *error)
{
    ki_log_level level = error->reason == KI_REASON_EXPIRED ? KI_LOG_INFO : KI_LOG_WARNING;
    char more[80] = "";
    if (error->key[0] != 0 && !may_write(log, more, sizeof(more)))
        return;
    ki_log(level, log->owner.component,
           KI_LOG_FIELDS(
               {"name", ki_str_of(log->owner.name)}, {"resource", ki_str_of(log->owner.resource->plural)},
               {"reason", ki_str_of(ki_reason_name(error->reason))}, {"key", ki_str_of(error->key)}),
           "%s%s", error->error->message, more);
}

void ki_error_log_object(ki_error_log *log, ki_str key, const char *message)
{
    char more[80];
    if (may_write(log, more, sizeof(more)))
        ki_log(KI_LOG_WARNING, log->owner.component,
               KI_LOG_FIELDS({"name", ki_str_of(log->owner.name)},
                             {"resource", ki_str_of(log->owner.resource->plural)}, {"key", key}),
               "%s%s", message, more);
}
