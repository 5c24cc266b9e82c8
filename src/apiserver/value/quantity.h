/* SPDX-License-Identifier: Apache-2.0 */
/* quantity - parses quantities such as "500m" and "1.5Gi", and writes them as Kubernetes does.
 *
 *   From:     apiserver/kind/prune.c (the stored form), apiserver/validate/
 *   To:       text
 *   Locks:    none
 *   Not here: which fields hold one
 */
#ifndef KI_APISERVER_VALUE_QUANTITY_H
#define KI_APISERVER_VALUE_QUANTITY_H

#include <jansson.h>
#include <kinformer/common.h>
#include <stdbool.h>

enum ki_as_quantity_form { KI_AS_QUANTITY_DECIMAL, KI_AS_QUANTITY_BINARY, KI_AS_QUANTITY_EXPONENT };

/* number * 10^exponent, where the exponent is a multiple of three. The form is that of the suffix. */
struct ki_as_quantity {
    int64_t number;
    int exponent;
    enum ki_as_quantity_form form;
};

enum { KI_AS_QUANTITY_BYTES = 40 };

/* Returns 0, -1 if the text is not a quantity, or 1 if the value does not fit into the struct; callers keep
 * such a value as written. */
KI_NODISCARD int ki_as_quantity_parse(ki_str text, struct ki_as_quantity *out);
/* "1000m" is "1", "1.5Gi" is "1536Mi", "0.5" is "500m". */
void ki_as_quantity_write(const struct ki_as_quantity *quantity, char out[KI_AS_QUANTITY_BYTES]);
/* Returns a number less than, equal to or greater than 0, like strcmp(). */
int ki_as_quantity_compare(const struct ki_as_quantity *a, const struct ki_as_quantity *b);
/* Like ki_as_quantity_parse(), for a JSON string or number. */
KI_NODISCARD int ki_as_quantity_of(const json_t *value, struct ki_as_quantity *out);
/* The value in its stored form, as a new reference. It is `value` itself if that already has this form, or is
 * not a quantity. NULL if out of memory. */
json_t *ki_as_quantity_settled(json_t *value);

#endif
