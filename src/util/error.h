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

/* Write `err` (may be NULL) and return `code`, so that a failing function ends with `return ki_fail(...)`.
 * The message is cut at KI_ERROR_MESSAGE_BYTES; control characters in it become '?', so that text from the
 * wire cannot forge a log line. */
int ki_fail(ki_error *err, int code, const char *format, ...) KI_PRINTF(3, 4);
int ki_fail_at(ki_error *err, int code, uint64_t offset, const char *format, ...) KI_PRINTF(4, 5);

/* The usual sentence for one code. */
int ki_fail_no_memory(ki_error *err);

#endif
