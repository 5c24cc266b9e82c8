/* SPDX-License-Identifier: Apache-2.0 */
/* json_reference - compares the results of another JSON library with those of this one.
 *
 *   From:     tests and fuzz targets of reading and writing JSON
 *   To:       jansson
 */
#ifndef KI_TESTS_SUPPORT_JSON_JSON_REFERENCE_H
#define KI_TESTS_SUPPORT_JSON_JSON_REFERENCE_H

#include <jansson.h>
#include <kinformer/json.h>

/* Parses any value of RFC 8259; integers that do not fit become reals.
 * Returns NULL if jansson does not accept the text. */
json_t *json_reference_parse(ki_str text);

/* Returns 1 if iterators and getters agree with jansson about `value`, whose names must all be different. */
int json_reference_same(ki_json value, const json_t *reference);

#endif
