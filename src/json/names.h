/* SPDX-License-Identifier: Apache-2.0 */
/* names - the names of an object in order, each once; for comparing objects that order theirs differently.
 *
 *   From:     json/equal.c
 *   To:       json/read.c, json/text.c
 *   Locks:    none.
 *   Not here: values.
 *
 * A name is a pointer to its opening quote, eight bytes a member: measuring it again for each comparison is
 * cheaper than the memory that hostile text ({"":0,"":0,…) would cost otherwise.
 */
#ifndef KI_JSON_NAMES_H
#define KI_JSON_NAMES_H

#include <kinformer/json.h>

#include "util/buf.h"

/* Bytewise order of two names, unescaped; each lies before its `end`. */
int ki_json_names_compare(const char *a, const char *end_a, const char *b, const char *end_b);

/* Appends the names of the object that `iter` stands at the beginning of to `names` (of const char *),
 * sorted: of several equal ones the first, and none that stands before `rest` in the text. Leaves iter->at
 * behind the object. Returns 0, KI_ERR_NO_MEMORY or KI_ERR_JSON_SYNTAX. */
KI_NODISCARD int ki_json_names_collect(ki_buf *names, ki_json_iter *iter, const char *rest);

#endif
