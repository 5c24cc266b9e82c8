/* SPDX-License-Identifier: Apache-2.0 */
/* body_fail - sets errors of bodies and elements of their arrays, for the helpers for metadata and status.
 *
 *   From:     api/object/body_metadata.c, api/object/body_condition.c
 *   To:       json/body.h
 *   Not here: the edits themselves (json/body_edit.c).
 */
#ifndef KI_API_OBJECT_BODY_FAIL_H
#define KI_API_OBJECT_BODY_FAIL_H

#include "json/body.h"

/* Sets an error, unless the body already has one. Returns the code of the body's first error. */
int ki_body_fail_with(ki_body *body, int code, const char *message);

/* An element of an array: its value and index, or KI_JSON_NONE and the number of elements. */
typedef struct ki_element {
    ki_json value;
    size_t index;
} ki_element;

/* Replaces the element by the content of `wanted`, or appends it if there is no such element. Returns 1; 0
 * if they are already equal; or the body's first error. An error of `wanted` becomes an error of the body. */
int ki_body_set_element(ki_body *body, const char *array, const ki_element *element, const ki_body *wanted);

#endif
