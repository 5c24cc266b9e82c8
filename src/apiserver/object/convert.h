/* SPDX-License-Identifier: Apache-2.0 */
/* convert - the tree of a stored object as its resource shows it; only events.k8s.io differs from the stored
 * form.
 *
 *   From:     apiserver/verbs/commit.c (the tree before a change, and the form to store),
 *             apiserver/storage/storage.c (each lookup of a collection), apiserver/object/text.c,
 *             apiserver/serve/render.c, apiserver/serve/stream.c (before an object is sent); also
 *             apiserver/object/fields.c
 *   To:       apiserver/object/object.h (the tree of the stored object)
 *   Locks:    none
 *   Not here: versions of other kinds, which share the same form
 *
 * Events are stored in the v1 form; events.k8s.io has other names for the same fields.
 */
#ifndef KI_APISERVER_OBJECT_CONVERT_H
#define KI_APISERVER_OBJECT_CONVERT_H

#include <stdbool.h>

#include "apiserver/kind/resource.h"
#include "apiserver/object/object.h"

/* The resource in whose form objects are stored: `resource` itself, except for events of events.k8s.io. The
 * result for those is static, and only its names may be used. */
const struct ki_as_resource *ki_as_stored_resource(const struct ki_as_resource *resource);
bool ki_as_is_converted(const struct ki_as_resource *resource);

/* A tree of the object in the form of the resource, with kind and apiVersion. NULL if out of memory. */
json_t *ki_as_shown_tree(const struct ki_as_resource *resource, const struct ki_as_object *object);
/* Converts a tree from the form of the resource to the stored form. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_convert_to_stored(const struct ki_as_resource *resource, json_t *tree);

#endif
