/* SPDX-License-Identifier: Apache-2.0 */
/* defaults_parts - the defaults of defaults.txt, by type.
 *
 *   From:     apiserver/kind/prune.c (rows), apiserver/kind/defaults_rows.c (values)
 *   To:       apiserver/kind/defaults_rows.c, apiserver/kind/defaults_values.c
 *   Locks:    none
 *   Not here: which members have which defaults (defaults.txt); the defaults of custom schemas
 *             (apiserver/kind/defaults.c)
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
/* The default value of a row, derived from `source` if the row has a source. `index` is that of the list
 * element that gets the value, or 0. Returns a new reference; NULL if out of memory. */
json_t *ki_as_default_value(const struct ki_as_default *row, const json_t *source, size_t index);

#endif
