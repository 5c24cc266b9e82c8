/* SPDX-License-Identifier: Apache-2.0 */
/* tree - reading and filling JSON trees by paths such as "spec.template.spec".
 *
 *   From:     everything that looks into objects
 *   To:       jansson
 *   Locks:    none
 *   Not here: what the fields mean
 *
 * Names with dots (labels) have no path: take their object by its path and the member by its name.
 */
#ifndef KI_APISERVER_VALUE_TREE_H
#define KI_APISERVER_VALUE_TREE_H

#include <jansson.h>
#include <kinformer/common.h>
#include <stdbool.h>

#include "util/buf.h"

/* What stands at the path, or NULL. Digits step into arrays: "status.podIPs.0.ip". A NULL tree is allowed. */
json_t *ki_as_tree_at(const json_t *tree, const char *path);

/* The string at the path; "" when there is none, or something else. */
const char *ki_as_tree_text(const json_t *tree, const char *path);
int64_t ki_as_tree_integer(const json_t *tree, const char *path, int64_t otherwise);
bool ki_as_tree_is_true(const json_t *tree, const char *path);

/* "object", "array", "string", … as Go's JSON calls them; NULL is allowed and is "null". */
const char *ki_as_json_type_name(const json_t *value);
/* The text of a JSON string, borrowed; empty for anything else. */
ki_str ki_as_json_str(const json_t *value);
/* As json_deep_copy(), which looks for cycles that nothing read from a text has, for longer than it
 * copies. NULL without memory. */
json_t *ki_as_json_copy(const json_t *value);
/* As json_equal(). Trees whose members are in the same order, as those of two versions of an object are,
 * are compared without a search for each. */
bool ki_as_json_equal(const json_t *a, const json_t *b);
/* The member, or NULL. */
json_t *ki_as_json_member(const json_t *object, ki_str name);

/* Puts `value` (taken over, also on failure) at the path unless something other than null stands there;
 * objects on the way are made. Something on the way that is no object stays, and so does the tree. 0 or
 * KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_tree_default(json_t *tree, const char *path, json_t *value);
/* The object at the path, made when it is missing or null. 0 with *out, which is NULL when something else
 * stands on the way; or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_tree_object(json_t *tree, const char *path, json_t **out);

/* `text` between double quotes as Kubernetes shows a value that it refuses. 0 or ki_buf's errors. */
KI_NODISCARD int ki_as_quote(ki_buf *out, ki_str text);
/* Any value as a message shows it: strings quoted, the rest as JSON. A new string of ki_malloc, or NULL
 * without memory. */
char *ki_as_value_text(const json_t *value);
char *ki_as_quoted(ki_str text);
/* Drops what is left of a UTF-8 character at the end of a text that was cut: no JSON may hold half of one. */
void ki_as_cut_at_character(char *text);

#endif
