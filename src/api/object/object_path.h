/* SPDX-License-Identifier: Apache-2.0 */
/* object_path - the values at a path of an object, for an index.
 *
 *   From:     store/index_values.c, store/index.c, store/store_index.c
 *   To:       json/path.h
 *   Locks:    none; immutable, shared by reference.
 *   Not here: what is kept of an object (json/projection.h).
 */
#ifndef KI_API_OBJECT_OBJECT_PATH_H
#define KI_API_OBJECT_OBJECT_PATH_H

#include <kinformer/object.h>
#include <stdbool.h>

typedef struct ki_object_path ki_object_path;

/* Returns NULL with KI_ERR_INVALID (the message names the path) or KI_ERR_NO_MEMORY. */
KI_NODISCARD ki_object_path *ki_object_path_new(const char *text, ki_error *err);

/* NULL is allowed. Dropping the last reference frees the path. */
ki_object_path *ki_object_path_ref(ki_object_path *path);
void ki_object_path_unref(ki_object_path *path);

/* The text that was given to ki_object_path_new(). */
const char *ki_object_path_text(const ki_object_path *path);

/* Called with the text of each string, number and boolean at the path. If `is_escaped`, the text is a
 * string as it is between the quotes; use ki_object_path_unescape(). Returns 0 to continue. */
typedef int (*ki_object_path_visit)(ki_str text, bool is_escaped, void *user);

/* Calls `visit` for each value at the path. Returns 0, or the value with which `visit` stopped. */
int ki_object_path_walk(const ki_object_path *path, const ki_object *object, ki_object_path_visit visit,
                        void *user);

/* Writes at most text.len bytes, and returns their number. */
size_t ki_object_path_unescape(ki_str text, char *out);

#endif
