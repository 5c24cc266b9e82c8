/* SPDX-License-Identifier: Apache-2.0 */
/* defaults_parts - the defaults of built-in and of custom kinds, one file a subject.
 *
 *   From:     apiserver/kind/defaults.c, apiserver/kind/prune.c
 *   To:       apiserver/kind/schemas_table.h, apiserver/value/tree.h
 *   Locks:    none
 *   Not here: constants: those are rows of defaults.txt
 *
 * All that return an int return 0 or KI_ERR_NO_MEMORY.
 */
#ifndef KI_APISERVER_KIND_DEFAULTS_PARTS_H
#define KI_APISERVER_KIND_DEFAULTS_PARTS_H

#include "apiserver/kind/resource.h"
#include "apiserver/kind/schemas_table.h"

/* What defaults.txt says of an object of this type. Anything but an object stays as it is. */
KI_NODISCARD int ki_as_defaults_rows(const struct ki_as_schema *schema, json_t *object);
/* What no row can say, after the rows. */
KI_NODISCARD int ki_as_defaults_of_kind(const struct ki_as_resource *resource, json_t *tree);
KI_NODISCARD int ki_as_defaults_pod_spec(json_t *spec);
/* `tolerations` are those of a pod that names none, shared by all; NULL: it gets its own. */
KI_NODISCARD int ki_as_defaults_pod(json_t *tree, json_t *tolerations);
/* NULL without memory. */
json_t *ki_as_default_tolerations(void);
KI_NODISCARD int ki_as_defaults_service(json_t *tree);
/* What the schema of a custom resource says. */
KI_NODISCARD int ki_as_defaults_schema(const json_t *schema, json_t *value);

#endif
