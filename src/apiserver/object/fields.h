/* SPDX-License-Identifier: Apache-2.0 */
/* fields - the selectable fields of each resource, and their values in an object.
 *
 *   From:     apiserver/verbs/commit.c (when an object is stored), apiserver/object/selector_fields.c
 *   To:       object, selector
 *   Locks:    none
 *   Not here: matching (apiserver/object/selector.h)
 */
#ifndef KI_APISERVER_OBJECT_FIELDS_H
#define KI_APISERVER_OBJECT_FIELDS_H

#include <stdbool.h>

#include "apiserver/kind/resource.h"
#include "apiserver/object/object.h"

enum { KI_AS_FIELDS_MAX = 24 };

/* Sets *out to the current name of a selectable field: an old name is mapped to the new one. *out is static
 * or points into `field`. If the resource has no such field,
 * fails with 400 and Kubernetes' message for that kind. */
KI_NODISCARD int ki_as_field_resolve(const struct ki_as_resource *resource, ki_str field, ki_str *out,
                                     struct ki_as_failure *failure);

/* Writes the selectable fields of `tree` except metadata.name and metadata.namespace, which every object has.
 * Values are borrowed from the tree, names of custom fields from the resource. Numbers and booleans are
 * formatted into `scratch`, 64 bytes per field. Returns the number of fields. */
size_t ki_as_fields_of(const struct ki_as_resource *resource, const json_t *tree,
                       struct ki_as_pair out[KI_AS_FIELDS_MAX], char scratch[KI_AS_FIELDS_MAX * 64]);

#endif
