/* SPDX-License-Identifier: Apache-2.0 */
#include "support/last_record.h"

#include <kinformer/log.h>
#include <stdio.h>

static void keep(const ki_log_record *record, void *user)
{
    last_record *last = user;
    last->count++;
    snprintf(last->message, sizeof(last->message), "%s", record->message);
}

void last_record_begin(last_record *record)
{
    *record = (last_record){.count = 0};
    ki_set_log(keep, KI_LOG_WARNING, record);
}

void last_record_end(void)
{
    ki_set_log(NULL, KI_LOG_WARNING, NULL);
}
