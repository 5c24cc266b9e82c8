/* SPDX-License-Identifier: Apache-2.0 */
#include "util/log.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "util/text/one_line.h"
#include "util/thread.h"

ki_log_sink ki_log_of_process;
_Thread_local const ki_log_sink *ki_log_of_thread;

void ki_set_log(ki_log_cb callback, ki_log_level level, void *user)
{
    ki_log_of_process = (ki_log_sink){callback, user, callback == NULL ? 0 : (int)level};
}

void ki_log_print(const ki_log_record *record, void *file)
{
    FILE *to = file == NULL ? stderr : file;
    if (record == NULL)
        return;
    flockfile(to);
    (void)fprintf(to, "%s: %s", record->component, record->message);
    for (size_t i = 0; i < record->field_count; i++)
        (void)fprintf(to, " %s=%.*s", record->fields[i].name, KI_STR_ARGS(record->fields[i].value));
    (void)fputc('\n', to);
    funlockfile(to);
}

/* The buffer for formatting is a few bytes larger than a message, so that ki_one_line() can cut the message
 * between two characters. */
enum { FORMAT_BYTES = KI_LOG_MESSAGE_BYTES + 4 };

KI_PRINTF(2, 0)
static void format_message(char out[FORMAT_BYTES], const char *format, va_list args)
{
    if (vsnprintf(out, FORMAT_BYTES, format, args) < 0)
        out[0] = 0;
    ki_one_line(out, KI_LOG_MESSAGE_BYTES, ki_str_of(out));
}

void ki_log_write(ki_log_level level, const char *component, ki_log_fields fields, const char *format, ...)
{
    assert(ki_log_is_on(level));
    assert(fields.count <= KI_LOG_FIELDS_MAX);
    assert(ki_mutex_held() == 0); /* the sink may block or take its own lock */
    char message[FORMAT_BYTES];
    va_list args;
    va_start(args, format);
    format_message(message, format, args);
    va_end(args);

    char values[KI_LOG_FIELDS_MAX][KI_LOG_VALUE_BYTES];
    ki_log_field cleaned[KI_LOG_FIELDS_MAX];
    size_t given = fields.count < KI_LOG_FIELDS_MAX ? fields.count : KI_LOG_FIELDS_MAX;
    size_t count = 0;
    for (size_t i = 0; i < given; i++) {
        size_t len = ki_one_line(values[i], KI_LOG_VALUE_BYTES, fields.items[i].value);
        if (len > 0) /* a field without a value says nothing */
            cleaned[count++] = (ki_log_field){fields.items[i].name, {values[i], len}};
    }
    ki_log_record record = {level, component, message, cleaned, count};
    const ki_log_sink *sink = ki_log_current();
    sink->callback(&record, sink->user);
}
