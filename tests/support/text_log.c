/* SPDX-License-Identifier: Apache-2.0 */
#include "support/text_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/unit.h"

void text_log_add(text_log *log, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (log->len + (size_t)n + 1 > log->cap) {
        log->cap = 2 * (log->len + (size_t)n + 1);
        log->text = realloc(log->text, log->cap);
        if (log->text == NULL)
            abort();
    }
    va_start(args, format);
    log->len += (size_t)vsnprintf(log->text + log->len, log->cap - log->len, format, args);
    va_end(args);
}

void text_log_clear(text_log *log)
{
    log->len = 0;
    if (log->text != NULL)
        log->text[0] = 0;
}

void text_log_free(text_log *log)
{
    free(log->text);
    *log = (text_log){0};
}

void text_log_expect(text_log *log, const char *expected, const char *file, int line)
{
    const char *text = log->text == NULL ? "" : log->text;
    if (strcmp(text, expected) != 0) {
        fprintf(stderr, "got:\n%s\nexpected:\n%s\n", text, expected);
        _fail(file, line);
    }
    text_log_clear(log);
}
