/* SPDX-License-Identifier: Apache-2.0 */
/* table - the tables that kubectl prints: columns by kind, cells by object.
 *
 *   From:     apiserver/serve/render.c, apiserver/serve/stream.c, for Accept: …;as=Table
 *   To:       a Table object
 *   Locks:    none
 *   Not here: lists, pages
 */
#ifndef KI_APISERVER_SHOW_TABLE_H
#define KI_APISERVER_SHOW_TABLE_H

#include "apiserver/kind/resource.h"

enum ki_as_include { KI_AS_INCLUDE_METADATA, KI_AS_INCLUDE_NONE, KI_AS_INCLUDE_OBJECT };

/* An array of {"name":…,"type":…,"format":…,"description":…,"priority":…}: Kubernetes' own columns for common
 * kinds, name and age for others, additionalPrinterColumns for custom ones. NULL if out of memory. */
json_t *ki_as_table_columns(const struct ki_as_resource *resource);

/* {"cells":[…],"object":{…}} for one object (with kind and apiVersion). `now` in seconds is the reference for
 * ages, which are formatted like kubectl's ("3d4h"). NULL if out of memory. */
json_t *ki_as_table_row(const struct ki_as_resource *resource, const json_t *tree, enum ki_as_include include,
                        int64_t now);

/* {"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":…}; NULL if out of memory. */
json_t *ki_as_partial_metadata(const json_t *tree);

#endif
