/* SPDX-License-Identifier: Apache-2.0 */
/* quantity - quantities in JSON: their order, and their stored form.
 *
 *   From:     apiserver/kind/prune.c (the stored form), apiserver/validate/
 *   To:       util/text/quantity_text.h
 *   Locks:    none
 *   Not here: which fields hold one
 */
#ifndef KI_APISERVER_VALUE_QUANTITY_H
#define KI_APISERVER_VALUE_QUANTITY_H

#include <jansson.h>
#include <kinformer/common.h>

#include "util/text/quantity_text.h"

/* Returns a number less than, equal to or greater than 0, like strcmp(). */
int ki_as_quantity_compare(const ki_quantity_text *a, const ki_quantity_text *b);
/* Like ki_quantity_text_parse(), for a JSON string or number. */
KI_NODISCARD int ki_as_quantity_of(const json_t *value, ki_quantity_text *out);
/* The value in its stored form, as a new reference. It is `value` itself if that already has this form, or is
 * not a quantity. NULL if out of memory. */
json_t *ki_as_quantity_settled(json_t *value);

#endif
