/* SPDX-License-Identifier: Apache-2.0 */
/* text_log - lines of text that a test collects and then compares as a whole. */
#ifndef KI_TESTS_SUPPORT_TEXT_LOG_H
#define KI_TESTS_SUPPORT_TEXT_LOG_H

#include <kinformer/common.h>

typedef struct text_log {
    char *text; /* NULL: empty */
    size_t len;
    size_t cap;
} text_log;

/* Does not use the library's allocator, which tests make fail. */
void text_log_add(text_log *log, const char *format, ...) KI_PRINTF(2, 3);
void text_log_clear(text_log *log);
void text_log_free(text_log *log);

/* Fails the test unless the log is `expected`; then empties the log. */
void text_log_expect(text_log *log, const char *expected, const char *file, int line);

#endif
