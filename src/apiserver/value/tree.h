/* SPDX-License-Identifier: Apache-2.0 */
/* tree - reads and fills JSON trees by paths such as "spec.template.spec".
 *
 *   From:     all code that accesses objects
 *   To:       jansson
 *   Locks:    none
 *   Not here: the meaning of fields
 *
 * A path cannot name a key that contains dots (labels): look up the object by its path, then the member by
 * its name.
 */
#ifndef KI_APISERVER_VALUE_TREE_H
#define KI_APISERVER_VALUE_TREE_H

#include <jansson.h>
#include <kinformer/common.h>
#include <stdbool.h>

#include "util/buf.h"

/* The value at the path, or NULL. Digits index arrays: "status.podIPs.0.ip". A NULL tree is allowed. */
json_t *ki_as_tree_at(const json_t *tree, const char *path);

/* The string at the path; "" if it is missing or not a string. */
const char *ki_as_tree_text(const json_t *tree, const char *path);
/* The first element of the list at the path whose member `name` is `text`; NULL if there is none. */
json_t *ki_as_tree_find(const json_t *tree, const char *path, const char *name, const char *text);
int64_t ki_as_tree_integer(const json_t *tree, const char *path, int64_t otherwise);
bool ki_as_tree_is_true(const json_t *tree, const char *path);

/* "object", "array", "string", … in the words of Go's JSON package. NULL is allowed and gives "null". */
const char *ki_as_json_type_name(const json_t *value);
/* The text of a JSON string, borrowed; empty for anything else. */
ki_str ki_as_json_str(const json_t *value);
/* Like json_deep_copy(), but without the search for cycles, which takes longer than the copy. Trees from
 * parsed text have no cycles. NULL if out of memory. */
json_t *ki_as_json_copy(const json_t *value);
/* Like json_equal(). Faster if the members are in the same order, as in two versions of an object: no lookup
 * per member. */
bool ki_as_json_equal(const json_t *a, const json_t *b);
/* The member, or NULL. */
json_t *ki_as_json_member(const json_t *object, ki_str name);

/* The object at the path, created if it is missing or null. Returns 0 and sets *out, to NULL if a value on
 * the path is neither an object nor null; or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_tree_object(json_t *tree, const char *path, json_t **out);

/* Appends `text` in double quotes, as Kubernetes shows rejected values. Returns 0 or an error of ki_buf. */
KI_NODISCARD int ki_as_quote(ki_buf *out, ki_str text);
/* A value as messages show it: strings quoted, other values as JSON. Allocated with ki_malloc; NULL if out of
 * memory. */
char *ki_as_value_text(const json_t *value);
char *ki_as_quoted(ki_str text);
/* Removes an incomplete UTF-8 character from the end of a truncated text: JSON must not contain one. */
void ki_as_cut_at_character(char *text);

#endif
