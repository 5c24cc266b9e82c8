/* SPDX-License-Identifier: Apache-2.0 */
/* json_reference - what another JSON library reads, held against what this one does.
 *
 *   From:     tests and fuzz targets of reading and writing JSON
 *   To:       jansson
 */
#ifndef KI_TESTS_SUPPORT_JSON_REFERENCE_H
#define KI_TESTS_SUPPORT_JSON_REFERENCE_H

#include <jansson.h>
#include <kinformer/json.h>

/* Any value by RFC 8259; integers that do not fit become reals. NULL when jansson does not accept the
 * text. */
json_t *json_reference_parse(ki_str text);

/* 1 when iterators and getters say of `value` what jansson says. Names must be different from each other. */
int json_reference_same(ki_json value, const json_t *reference);

#endif
