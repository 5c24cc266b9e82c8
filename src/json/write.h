/* SPDX-License-Identifier: Apache-2.0 */
/* write - the inside of a ki_json_writer, for what writes JSON text that exists already.
 *
 *   From:     json/reformat.c, json/body_format.c; public as ki_json_write_…()
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
    int empty;                                          /* the innermost container has nothing in it yet */
    int named;                                          /* the name is there, its value is not */
    int done;                                           /* the outermost value is complete */
    int error;                                          /* the first one, or 0 */
    const char *message;                                /* goes with the error */
};

/* Remembers an error, unless there is one. */
void ki_json_writer_fail(ki_json_writer *writer, int code, const char *message);

int ki_json_writer_in_object(const ki_json_writer *writer);

/* As ki_json_write_name and the calls for scalars, with text that is JSON already, quotes included. */
void ki_json_writer_raw_name(ki_json_writer *writer, ki_str raw);
void ki_json_writer_raw_scalar(ki_json_writer *writer, ki_str raw);

/* Where a writer is between two members or elements. */
typedef struct ki_json_mark {
    size_t len;
    int empty;
} ki_json_mark;

/* What was written since the mark goes again: a name, or members and elements of the same container. */
ki_json_mark ki_json_writer_mark(const ki_json_writer *writer);
void ki_json_writer_rewind(ki_json_writer *writer, ki_json_mark mark);

#endif
