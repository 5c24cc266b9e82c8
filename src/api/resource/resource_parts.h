/* SPDX-License-Identifier: Apache-2.0 */
/* resource_parts - a resource as slices of a text, before it is allocated.
 *
 *   From:     api/resource/resource.c, api/resource/resource_find.c, api/object/object_plan.c,
 *             api/resource/discovery_decoder.c
 *   To:       <kinformer/resource.h>
 *   Not here: looking anything up among the built-in resources.
 */
#ifndef KI_API_RESOURCE_RESOURCE_PARTS_H
#define KI_API_RESOURCE_RESOURCE_PARTS_H

#include <kinformer/resource.h>

typedef struct ki_resource_parts {
    ki_str group;
    ki_str version;
    ki_str plural;
    ki_str kind;
    ki_scope scope;
} ki_resource_parts;

/* Members of the resource that are NULL become "". */
ki_resource_parts ki_resource_parts_of(const ki_resource *resource);

/* Names the first invalid part ("group", "version", …); NULL if all are valid. */
const char *ki_resource_parts_fault(const ki_resource_parts *parts);

/* Copies valid parts into one allocation, for ki_resource_free(). NULL when out of memory. */
KI_NODISCARD ki_resource *ki_resource_from_parts(const ki_resource_parts *parts);

#endif
