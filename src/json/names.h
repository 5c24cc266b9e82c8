/* SPDX-License-Identifier: Apache-2.0 */
/* names - the names of an object, sorted and without duplicates, to compare objects whose order of members
 * differs.
 *
 *   From:     json/equal.c
 *   To:       json/read.c, json/text.c
 *   Locks:    none.
 *   Not here: values.
 *
 * A name is stored as a pointer to its opening quote, eight bytes per member, and its end is searched again
 * for each comparison. Storing the end too would cost too much memory for hostile text ({"":0,"":0,…).
 */
#ifndef KI_JSON_NAMES_H
#define KI_JSON_NAMES_H

#include <kinformer/json.h>

#include "util/buf.h"

/* Compares two unescaped names bytewise; each ends before its `end`. Returns negative, 0 or positive. */
int ki_json_names_compare(const char *a, const char *end_a, const char *b, const char *end_b);

/* Appends the sorted names of an object to `names` (of const char *). `iter` is at the beginning of the
 * object. Of equal names only the first counts; names before `rest` in the text are left out. Leaves
 * iter->at after the object. Returns 0, KI_ERR_NO_MEMORY or KI_ERR_JSON_SYNTAX. */
KI_NODISCARD int ki_json_names_collect(ki_buf *names, ki_json_iter *iter, const char *rest);

#endif
