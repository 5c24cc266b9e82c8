/* SPDX-License-Identifier: Apache-2.0 */
/* defaults_parts - the defaults of built-in and custom kinds, one file per subject.
 *
 *   From:     apiserver/kind/defaults.c, apiserver/kind/prune.c
 *   To:       apiserver/kind/schemas_table.h, apiserver/value/tree.h
 *   Locks:    none
 *   Not here: constant defaults, which are rows of defaults.txt
 *
 * Functions that return an int return 0 or KI_ERR_NO_MEMORY.
 */
#ifndef KI_APISERVER_KIND_DEFAULTS_PARTS_H
#define KI_APISERVER_KIND_DEFAULTS_PARTS_H

#include "apiserver/kind/resource.h"
#include "apiserver/kind/schemas_table.h"

/* Sets the defaults of defaults.txt for an object of this type. Values that are not objects are left
 * unchanged. */
KI_NODISCARD int ki_as_defaults_rows(const struct ki_as_schema *schema, json_t *object);
/* Sets the defaults that rows cannot express; called after the rows. */
KI_NODISCARD int ki_as_defaults_of_kind(const struct ki_as_resource *resource, json_t *tree);
KI_NODISCARD int ki_as_defaults_pod_spec(json_t *spec);
/* `tolerations` are shared by all pods that set none. NULL: the pod gets a copy of its own. */
KI_NODISCARD int ki_as_defaults_pod(json_t *tree, json_t *tolerations);
/* NULL if out of memory. */
json_t *ki_as_default_tolerations(void);
KI_NODISCARD int ki_as_defaults_service(json_t *tree);
/* Sets the defaults of a custom resource's schema. */
KI_NODISCARD int ki_as_defaults_schema(const json_t *schema, json_t *value);

#endif
