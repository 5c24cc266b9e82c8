/* SPDX-License-Identifier: Apache-2.0 */
/* names - the sorted names of an object without duplicates, to compare objects whose members differ in order.
 *
 *   From:     json/equal.c
 *   To:       json/read.c, json/text.c
 *   Locks:    none.
 *   Not here: values.
 *
 * A name is a pointer to its opening quote, eight bytes per member. Finding its end again for each comparison
 * is cheaper than the memory that hostile text ({"":0,"":0,…) would cost otherwise.
 */
#ifndef KI_JSON_NAMES_H
#define KI_JSON_NAMES_H

#include <kinformer/json.h>

#include "util/buf.h"

/* Bytewise order of two names, unescaped; each ends before its `end`. */
int ki_json_names_compare(const char *a, const char *end_a, const char *b, const char *end_b);

/* Appends the sorted names of the object at whose beginning `iter` is to `names` (of const char *). Of
 * equal names it takes the first, and none that is before `rest` in the text. Leaves iter->at after the
 * object. Returns 0, KI_ERR_NO_MEMORY or KI_ERR_JSON_SYNTAX. */
KI_NODISCARD int ki_json_names_collect(ki_buf *names, ki_json_iter *iter, const char *rest);

#endif
