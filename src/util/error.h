/* SPDX-License-Identifier: Apache-2.0 */
/* error - fills in a ki_error.
 *
 *   From:     all code that reports errors
 *   To:       <kinformer/error.h>
 *   Not here: deciding what happens next.
 */
#ifndef KI_UTIL_ERROR_H
#define KI_UTIL_ERROR_H

#include <kinformer/error.h>

/* Fill in `err`, which may be NULL. The message is cut to KI_ERROR_MESSAGE_BYTES, between two characters.
 * Control characters become '?', so that text from the wire cannot forge a log line. */
void ki_error_set(ki_error *err, int code, uint64_t offset, const char *format, ...) KI_PRINTF(4, 5);

static inline int ki_failed(int code)
{
    return code;
}

/* Like ki_error_set(), as an expression whose value is the code: a failing function ends with `return
 * ki_fail(...)`. These are macros so that compilers and analysers see the code. */
#define ki_fail(err, code, ...) (ki_error_set((err), (code), 0, __VA_ARGS__), ki_failed(code))
#define ki_fail_at(err, code, offset, ...)                                                                   \
    (ki_error_set((err), (code), (offset), __VA_ARGS__), ki_failed(code))
/* For a call whose object is NULL. Most often an earlier call has failed to create it, so an error that is
 * already in `err` is kept. Returns the code of that error, else KI_ERR_INVALID. */
int ki_fail_missing(ki_error *err, const char *what);

#define ki_fail_no_memory(err) ki_fail((err), KI_ERR_NO_MEMORY, "%s", ki_error_text(KI_ERR_NO_MEMORY))
#define ki_fail_no_random(err) ki_fail((err), KI_ERR_SYSTEM, "cannot get random bytes from the system")

#endif
