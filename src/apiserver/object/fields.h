/* SPDX-License-Identifier: Apache-2.0 */
/* fields - which fields of which resource a field selector may ask for, and their values in an object.
 *
 *   From:     verbs, which make objects
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

bool ki_as_field_is_known(const struct ki_as_resource *resource, ki_str field);

/* The name under which objects have the field, static or as given: older names have newer ones. 400 with
 * the words of that kind when there is none. */
KI_NODISCARD int ki_as_field_resolve(const struct ki_as_resource *resource, ki_str field, ki_str *out,
                                     struct ki_as_failure *failure);

/* Writes the selectable fields of `tree`, but metadata.name and metadata.namespace, which the object has
 * anyway. Values are borrowed from the tree, names of custom ones from the resource; numbers and booleans
 * are written into `scratch` of 64 bytes a field. Returns how many. */
size_t ki_as_fields_of(const struct ki_as_resource *resource, const json_t *tree,
                       struct ki_as_pair out[KI_AS_FIELDS_MAX], char scratch[KI_AS_FIELDS_MAX * 64]);

#endif
