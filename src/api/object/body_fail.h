/* SPDX-License-Identifier: Apache-2.0 */
/* body_fail - failures of bodies, and elements of their arrays, as the helpers for metadata and status share
 * them.
 *
 *   From:     api/object/body_metadata.c, api/object/body_condition.c
 *   To:       json/body.h
 *   Not here: the edits themselves (json/body_edit.c).
 */
#ifndef KI_API_OBJECT_BODY_FAIL_H
#define KI_API_OBJECT_BODY_FAIL_H

#include "json/body.h"

/* Returns the code of the body's first failure. */
int ki_body_fail_with(ki_body *body, int code, const char *message);

/* An element of an array: what is there and its number, or KI_JSON_NONE and how many elements there are. */
typedef struct ki_element {
    ki_json value;
    size_t index;
} ki_element;

/* Puts what `wanted` holds in the place of the element. Returns 1, 0 when that is equal, or the body's first
 * failure; which may be that of `wanted`. */
int ki_body_set_element(ki_body *body, const char *array, const ki_element *element, const ki_body *wanted);

#endif
