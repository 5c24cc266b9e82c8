/* SPDX-License-Identifier: Apache-2.0 */
/* convert - converts objects of the kind Event, which are served in two forms and stored in one.
 *
 *   From:     apiserver/verbs/commit.c, apiserver/storage/ (before an object is stored),
 *             apiserver/object/text.c, apiserver/serve/render.c, apiserver/serve/stream.c (before it is
 *             sent); also apiserver/object/fields.c
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
