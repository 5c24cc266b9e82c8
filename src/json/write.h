/* SPDX-License-Identifier: Apache-2.0 */
/* write - the internals of a ki_json_writer, for code that writes existing JSON text or keeps the result.
 *
 *   From:     json/reformat.c, json/body_format.c, controller/lease.c; public as ki_json_write_…(); also
 *             controller/event_text.c, json/body_diff.c, json/body_edit.c
 *   To:       util/buf.c
 *   Locks:    none; a writer belongs to one thread at a time.
 *   Not here: reading.
 */
#ifndef KI_JSON_WRITE_H
#define KI_JSON_WRITE_H

#include <kinformer/json.h>

#include "util/buf.h"

enum { KI_JSON_WRITE_DEPTH_MAX = 1000 };

struct ki_json_writer {
    ki_buf text;
    size_t indent;
    size_t depth;
    uint64_t objects[KI_JSON_WRITE_DEPTH_MAX / 64 + 1]; /* bit d - 1: level d is an object, else an array */
    int empty;                                          /* the innermost container is empty so far */
    int named;                                          /* a name was written, but not yet its value */
    int done;                                           /* the outermost value is complete */
    int error;                                          /* the first error, or 0 */
    const char *message;                                /* the message of the error */
};

/* Stores an error, unless there is one already. */
void ki_json_writer_fail(ki_json_writer *writer, int code, const char *message);

int ki_json_writer_in_object(const ki_json_writer *writer);

/* Like ki_json_write_name() and the calls for scalars, with text that is already JSON, including quotes. */
void ki_json_writer_raw_name(ki_json_writer *writer, ki_str raw);
void ki_json_writer_raw_scalar(ki_json_writer *writer, ki_str raw);

/* Replaces the content of `out` by the text, and frees the writer. A NULL writer counts as out of memory.
 * Returns 0, KI_ERR_NO_MEMORY, KI_ERR_TOO_LARGE or an error of ki_json_writer_finish(); `out` is empty
 * then. */
KI_NODISCARD int ki_json_writer_move(ki_json_writer *writer, ki_buf *out);

/* The position of a writer between two members or elements. */
typedef struct ki_json_mark {
    size_t len;
    int empty;
} ki_json_mark;

/* ki_json_writer_rewind() removes everything written since the mark: a name, or members or elements of the
 * same container. */
ki_json_mark ki_json_writer_mark(const ki_json_writer *writer);
void ki_json_writer_rewind(ki_json_writer *writer, ki_json_mark mark);

#endif
