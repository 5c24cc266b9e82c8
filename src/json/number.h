/* SPDX-License-Identifier: Apache-2.0 */
/* number - JSON numbers: exact decimals of any length, int64, double and back.
 *
 *   From:     json/read.c, json/equal.c, json/write.c, json/reformat.c, proto/, json/body_format.c
 *   Locks:    none; pure functions, the same in every locale.
 *   Not here: Kubernetes quantities.
 */
#ifndef KI_JSON_NUMBER_H
#define KI_JSON_NUMBER_H

#include <kinformer/common.h>

/* The parts of a number, borrowed from its text: 0.d1d2d3… × 10^(point + exponent), where d1 and the last
 * digit are not 0. The exponent may have any number of digits. */
typedef struct ki_json_decimal {
    const char *first; /* d1; there may be a point between the digits */
    const char *end;   /* after the last digit that is not 0 */
    size_t digits;     /* the number of digits, without the point; 0 for zero */
    int64_t point;     /* position of the point, counted from d1; negative for 0.01 */
    ki_str exponent;   /* its digits without leading zeros, empty for 0 */
    int exponent_negative;
    int negative;
} ki_json_decimal;

/* Returns 0, or KI_ERR_TYPE if `raw` is not exactly one number by the grammar of RFC 8259. */
KI_NODISCARD int ki_json_decimal_parse(ki_str raw, ki_json_decimal *out);

/* point + exponent, limited to ±KI_JSON_EXPONENT_MAX; 0 for zero. */
int64_t ki_json_decimal_scale(const ki_json_decimal *decimal);
#define KI_JSON_EXPONENT_MAX INT64_C(1000000000000000000)

/* Returns 1 if both are the same number (-0 equals 0), 0 if not, or KI_ERR_TYPE if one is malformed. */
KI_NODISCARD int ki_json_number_equal(ki_str a, ki_str b);

/* Returns 0; KI_ERR_TYPE if the text is malformed or not an integer; or KI_ERR_RANGE. */
KI_NODISCARD int ki_json_number_int64(ki_str raw, int64_t *out_number);

/* Returns 0 with the nearest double; KI_ERR_TYPE if the text is malformed; or KI_ERR_RANGE if the number is
 * too large for a double. */
KI_NODISCARD int ki_json_number_double(ki_str raw, double *out_number);

/* Writes a finite double with the fewest digits that read back as the same double, as Go's encoding/json:
 * exponent notation for magnitudes below 1e-6, except 0, and from 1e21 on; -0 is "-0". Returns the number of
 * bytes. */
enum { KI_JSON_DOUBLE_BYTES = 32 };
size_t ki_json_double_format(double number, char out[KI_JSON_DOUBLE_BYTES]);

#endif
