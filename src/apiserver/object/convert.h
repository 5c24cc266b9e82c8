/* SPDX-License-Identifier: Apache-2.0 */
/* convert - events, which are served in two forms and kept in one.
 *
 *   From:     apiserver/verbs/commit.c (before an object is kept), apiserver/object/text.c,
 *             apiserver/serve/answer.c, apiserver/serve/stream.c (before it is shown)
 *   To:       trees
 *   Locks:    none
 *   Not here: versions of other kinds, which are views of the same objects
 *
 * Events are kept as v1 has them; events.k8s.io has other names for the same fields.
 */
#ifndef KI_APISERVER_OBJECT_CONVERT_H
#define KI_APISERVER_OBJECT_CONVERT_H

#include <stdbool.h>

#include "apiserver/kind/resource.h"
#include "apiserver/object/object.h"

/* The resource in whose form objects are kept: itself for nearly all.
 * Of another one only names may be used. */
const struct ki_as_resource *ki_as_stored_resource(const struct ki_as_resource *resource);
bool ki_as_is_converted(const struct ki_as_resource *resource);

/* An object as the resource shows it, with kind and apiVersion; NULL without memory. */
json_t *ki_as_shown_tree(const struct ki_as_resource *resource, const struct ki_as_object *object);
/* Makes of a tree as the resource shows it one that can be kept. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_convert_to_stored(const struct ki_as_resource *resource, json_t *tree);

#endif
