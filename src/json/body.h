/* SPDX-License-Identifier: Apache-2.0 */
/* body - the internals of a ki_body: one JSON text, and the first error.
 *
 *   From:     json/, api/object/body_fail.h; public as ki_body_…(); also api/object/body_fail.c,
 *             api/object/body_metadata.c
 *   To:       json/write.c; api/object/body_metadata.c edits bodies through the public calls
 *   Locks:    none; a body belongs to one thread at a time.
 *   Not here: what the content means to Kubernetes.
 *
 *   body.c         creating, freeing, failing
 *   body_format.c  formats
 *   body_edit.c    changes at a JSON Pointer
 *   body_diff.c    merge patches
 */
#ifndef KI_JSON_BODY_H
#define KI_JSON_BODY_H

#include <kinformer/body.h>

#include "json/write.h"
#include "util/buf.h"

/* The maximum size of a text, without the NUL. */
#define KI_BODY_BYTES_MAX ((size_t)64 << 20)

/* Either `error` has a code or `text` is one valid JSON value, which a NUL follows. */
struct ki_body {
    ki_buf text;
    ki_error error;
};

/* Returns an empty body, which the caller must fill before anything else; NULL when out of memory. */
KI_NODISCARD ki_body *ki_body_new(void);

/* Stores an error, unless there is one already. NULL is allowed. Returns the code of the first error. */
int ki_body_fail(ki_body *body, const ki_error *why);

/* Ends a text with a NUL, which its maximum includes and its length does not.
 * Returns 0, KI_ERR_TOO_LARGE or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_body_end_text(ki_buf *text);

/* Replaces the text by a copy of `text`, one valid JSON value. Returns 0 or the body's first error. */
int ki_body_replace(ki_body *body, ki_str text);

/* Writes the value that the format describes. Returns 0, or a negative code with the error in `err`; do not
 * use the writer's text then. */
KI_NODISCARD int ki_body_format_value(ki_json_writer *writer, const char *format, va_list args,
                                      ki_error *err);

#endif
