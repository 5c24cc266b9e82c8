/* SPDX-License-Identifier: Apache-2.0 */
/* body - the inside of a ki_body: one JSON text, and the first failure.
 *
 *   From:     public as ki_body_…()
 *   To:       json/write.c; api/object/body_metadata.c edits bodies through the public calls
 *   Locks:    none; a body belongs to one thread at a time.
 *   Not here: what Kubernetes makes of it.
 *
 *   body.c         making, freeing, failing
 *   body_format.c  formats
 *   body_edit.c    changes at a JSON Pointer
 *   body_diff.c    merge patches
 */
#ifndef KI_JSON_BODY_H
#define KI_JSON_BODY_H

#include <kinformer/body.h>

#include "json/write.h"
#include "util/buf.h"

/* Of a text. */
#define KI_BODY_BYTES_MAX ((size_t)64 << 20)

/* Either `error` has a code or `text` is one valid JSON value. */
struct ki_body {
    ki_buf text;
    ki_error error;
};

/* An empty one, to be filled at once. Returns NULL when memory is out. */
KI_NODISCARD ki_body *ki_body_new(void);

/* Remembers a failure, unless there is one. Takes NULL. Returns the code of the first. */
int ki_body_fail(ki_body *body, const ki_error *why);

/* Copies a valid value in place of the text. Returns 0 or the first failure. */
int ki_body_replace(ki_body *body, ki_str text);

/* Writes the value that the format says. Returns 0, or negative with the failure in `err`; the writer is
 * without use then. */
KI_NODISCARD int ki_body_format_value(ki_json_writer *writer, const char *format, va_list args,
                                      ki_error *err);

#endif
