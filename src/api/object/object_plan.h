/* SPDX-License-Identifier: Apache-2.0 */
/* object_plan - what the objects of one collection share: the projection, and the names that they may omit.
 *
 *   From:     informer options, api/decode/list_decoder.c (kind and apiVersion of a list)
 *   To:       api/object/object_build.c
 *   Locks:    none; one owner.
 *   Not here: any single object.
 */
#ifndef KI_API_OBJECT_OBJECT_PLAN_H
#define KI_API_OBJECT_OBJECT_PLAN_H

#include <kinformer/object.h>

#include "api/object/object_layout.h"
#include "json/scan.h"

#define KI_OBJECT_NAME_BYTES_MAX 384 /* of an apiVersion or a kind; Kubernetes allows 317 */

typedef struct ki_object_plan {
    ki_projection *projection; /* captures the fields of api/object/object_layout.h */
    size_t bytes_max;          /* of an object's text */
    uint32_t depth_max;        /* of its containers; 0 for the scanner's default */
    /* For objects that omit it: "kind":"Pod","apiVersion":"v1", as in their text, and its parts. */
    char *members;
    ki_str kind_member; /* with the comma after it, like the next */
    ki_str api_version_member;
    ki_str kind;
    ki_str api_version;
    int kind_is_known; /* from the resource, so it need not be taken from a list */
    int is_built_in;   /* of the resource: its lists are named after its kind */
    int keeps_kind;
    int keeps_api_version;
} ki_object_plan;

/* `resource` and `options` may be NULL; both are copied. Returns NULL with an error of ki_object_new(). */
KI_NODISCARD ki_object_plan *ki_object_plan_new(const ki_resource *resource, const ki_object_options *options,
                                                ki_error *err);
void ki_object_plan_free(ki_object_plan *plan);

/* Replaces what is kept, before the first object is made; the rest of the options is ignored. Returns 0, or
 * an error of ki_object_new() with the plan unchanged. */
KI_NODISCARD int ki_object_plan_keep(ki_object_plan *plan, const ki_object_options *options, ki_error *err);

/* Sets the names for objects that omit them: plain text, shorter than KI_OBJECT_NAME_BYTES_MAX. Returns 0,
 * or KI_ERR_NO_MEMORY with the old ones unchanged. */
KI_NODISCARD int ki_object_plan_learn(ki_object_plan *plan, ki_str api_version, ki_str kind, ki_error *err);

#endif
