/* SPDX-License-Identifier: Apache-2.0 */
/* table - objects as kubectl prints them: columns by kind, cells by object.
 *
 *   From:     answers, for Accept: …;as=Table
 *   To:       a Table object
 *   Locks:    none
 *   Not here: lists, pages
 */
#ifndef KI_APISERVER_SHOW_TABLE_H
#define KI_APISERVER_SHOW_TABLE_H

#include "apiserver/kind/resource.h"

enum ki_as_include { KI_AS_INCLUDE_METADATA, KI_AS_INCLUDE_NONE, KI_AS_INCLUDE_OBJECT };

/* {"name":…,"type":…,"format":…,"description":…,"priority":…} each: Kubernetes' own for the usual kinds, name
 * and age for the rest, additionalPrinterColumns for custom ones. NULL without memory. */
json_t *ki_as_table_columns(const struct ki_as_resource *resource);

/* {"cells":[…],"object":{…}} of one object (with kind and apiVersion). `now` in seconds for ages, which are
 * shown as kubectl shows them ("3d4h"). NULL without memory. */
json_t *ki_as_table_row(const struct ki_as_resource *resource, const json_t *tree, enum ki_as_include include,
                        int64_t now);

/* {"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":…}; NULL without memory. */
json_t *ki_as_partial_metadata(const json_t *tree);

#endif
