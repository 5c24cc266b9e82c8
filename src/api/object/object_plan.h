/* SPDX-License-Identifier: Apache-2.0 */
/* object_plan - what the objects of one collection share: the projection, and the kind and apiVersion that
 * they may omit.
 *
 *   From:     reflector/life.c, rest/rest_reader.c, api/object/object_build.c (which make it),
 *             api/decode/list_answer.c (which adds kind and apiVersion of a list); the other files of
 *             reflector/ and api/decode/, and proto/, which read it
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
    /* For objects that omit them: "kind":"Pod","apiVersion":"v1", as JSON, and slices of this text. */
    char *members;
    ki_str kind_member; /* these two include the comma at the end */
    ki_str api_version_member;
    ki_str kind;
    ki_str api_version;
    int kind_is_known; /* the resource has a kind, so it is not taken from a list */
    int is_built_in;   /* the resource is built in, so its lists are named after its kind */
    int keeps_kind;
    int keeps_api_version;
} ki_object_plan;

/* `resource` and `options` may be NULL; both are copied. Returns NULL with an error of ki_object_new(). */
KI_NODISCARD ki_object_plan *ki_object_plan_new(const ki_resource *resource, const ki_object_options *options,
                                                ki_error *err);
void ki_object_plan_free(ki_object_plan *plan);

/* Replaces the projection. Call this before the first object is built. Only the options of the projection
 * are used. Returns 0, or an error of ki_object_new() with the plan unchanged. */
KI_NODISCARD int ki_object_plan_keep(ki_object_plan *plan, const ki_object_options *options, ki_error *err);

/* Sets kind and apiVersion for objects that omit them. Both must be shorter than KI_OBJECT_NAME_BYTES_MAX
 * and need no escapes in JSON. Returns 0, or KI_ERR_NO_MEMORY with the plan unchanged. */
KI_NODISCARD int ki_object_plan_learn(ki_object_plan *plan, ki_str api_version, ki_str kind, ki_error *err);

#endif
