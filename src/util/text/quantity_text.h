/* SPDX-License-Identifier: Apache-2.0 */
/* quantity_text - reads quantities such as "500m" and "1.5Gi" with their form, and writes them as Kubernetes
 * does.
 *
 *   From:     proto/leaf.c, apiserver/value/quantity.c
 *   Locks:    none; immutable.
 *   Not here: the value of a quantity (api/object/quantity.c).
 */
#ifndef KI_UTIL_TEXT_QUANTITY_TEXT_H
#define KI_UTIL_TEXT_QUANTITY_TEXT_H

#include <kinformer/common.h>
#include <stdint.h>

typedef enum ki_quantity_form {
    KI_QUANTITY_DECIMAL,
    KI_QUANTITY_BINARY,
    KI_QUANTITY_EXPONENT
} ki_quantity_form;

/* number * 10^exponent, where the exponent is a multiple of three. The form is that of the suffix. */
typedef struct ki_quantity_text {
    int64_t number;
    int exponent;
    ki_quantity_form form;
} ki_quantity_text;

enum { KI_QUANTITY_TEXT_BYTES = 40 };

/* Returns 0, -1 if the text is not a quantity, or 1 if the value does not fit into the struct; callers keep
 * such a value as written. */
KI_NODISCARD int ki_quantity_text_parse(ki_str text, ki_quantity_text *out);

/* "1000m" is "1", "1.5Gi" is "1536Mi", "0.5" is "500m". */
void ki_quantity_text_write(const ki_quantity_text *quantity, char out[KI_QUANTITY_TEXT_BYTES]);

#endif
