/* SPDX-License-Identifier: Apache-2.0 */
/* path - the parts of a path, one after the other.
 *
 *   From:     json/projection.c, api/object/object_path.c
 *   Locks:    none; a plain value; a copy of it continues from the same part.
 *   Not here: what is at a path.
 *
 * A path is a JSON Pointer in which the part * stands for every element of an array or every value of a
 * map. Or it is "label:" and the name of a label, in which no character is special.
 */
#ifndef KI_JSON_PATH_H
#define KI_JSON_PATH_H

#include "json/text.h"

/* The maximum number of parts in a path. */
#define KI_PATH_DEPTH_MAX 32

/* The names of all parts together are longer than the path's text by at most this much. */
#define KI_PATH_EXTRA_BYTES                                                                                  \
    (sizeof("metadata"                                                                                       \
            "labels") -                                                                                      \
     sizeof("label:"))

typedef struct ki_path {
    const char *at; /* the next part; "" at the end */
    int labels; /* for a label: how many parts of /metadata/labels/NAME are still to come; 0 for a pointer */
    int depth;
} ki_path;

typedef struct ki_path_part {
    ki_json_spelt name;
    int is_any; /* the part is * */
} ki_path_part;

/* Returns a path that begins with the first part of `text`, which must outlive it. */
ki_path ki_path_of(const char *text);

/* Returns 1 with the next part; 0 at the end; or KI_ERR_INVALID if the path is malformed or has too many
 * parts, with a description in *out_fault. `out_fault` may be NULL. */
int ki_path_next(ki_path *path, ki_path_part *out_part, const char **out_fault);

/* The name of the label if `text` is the path of a label; else empty. */
ki_str ki_path_label(const char *text);

#endif
