/* SPDX-License-Identifier: Apache-2.0 */
/* error - filling in a ki_error.
 *
 *   From:     everywhere that fails
 *   To:       <kinformer/error.h>
 *   Not here: deciding what happens next.
 */
#ifndef KI_UTIL_ERROR_H
#define KI_UTIL_ERROR_H

#include <kinformer/error.h>

/* Write `err`, which may be NULL. The message is cut at KI_ERROR_MESSAGE_BYTES, between two characters;
 * control characters in it become '?', so that text from the wire cannot forge a log line. */
void ki_error_set(ki_error *err, int code, uint64_t offset, const char *format, ...) KI_PRINTF(4, 5);

static inline int ki_failed(int code)
{
    return code;
}

/* The same, and the code as the value, so that a failing function ends with `return ki_fail(...)`. Macros,
 * so that a compiler and an analyser see which code it is. */
#define ki_fail(err, code, ...) (ki_error_set((err), (code), 0, __VA_ARGS__), ki_failed(code))
#define ki_fail_at(err, code, offset, ...)                                                                   \
    (ki_error_set((err), (code), (offset), __VA_ARGS__), ki_failed(code))
#define ki_fail_no_memory(err) ki_fail((err), KI_ERR_NO_MEMORY, "%s", ki_error_text(KI_ERR_NO_MEMORY))

#endif
