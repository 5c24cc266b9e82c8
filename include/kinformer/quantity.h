/* SPDX-License-Identifier: Apache-2.0 */
/* quantity - Kubernetes resource quantities: "100m", "64Mi", "1e3", "1.5". */
#ifndef KI_QUANTITY_H
#define KI_QUANTITY_H

#include <kinformer/common.h>
#include <kinformer/error.h>

KI_EXTERN_C_BEGIN

/**
 * An exact amount, in whole units and billionths (the precision that Kubernetes keeps; finer is rounded
 * away from zero). The sign is the same in both, as far as they are not 0: -1.5 is units -1, nanos
 * -500000000.
 */
typedef struct ki_quantity {
    int64_t units;
    int32_t nanos;
    int32_t reserved; /* 0 */
} ki_quantity;

/**
 * Reads <sign?><digits[.digits]><suffix>: suffix n u m k M G T P E (decimal), Ki Mi Gi Ti Pi Ei (binary),
 * or a decimal exponent e3, E-6. ".5" and "5." are numbers, "1E" is exa, "1e" and "1ki" are nothing. No
 * floating point is involved, however many digits there are. Amounts beyond int64 are cut to 2^63-1 or its
 * negative, with any suffix (Kubernetes cuts binary ones alone, and leaves what a larger decimal one gives
 * as an int64 undefined).
 *
 * Returns: 0, KI_ERR_QUANTITY, or KI_ERR_INVALID without a place for the result.
 */
KI_API KI_NODISCARD int ki_quantity_parse(ki_str text, ki_quantity *out_quantity);

/** The amount in units, rounded away from zero, as Kubernetes' Value(). */
KI_API int64_t ki_quantity_value(ki_quantity quantity);

/** The amount in thousandths, rounded away from zero, cut at int64; as Kubernetes' MilliValue(). */
KI_API int64_t ki_quantity_milli_value(ki_quantity quantity);

/** The nearest double. */
KI_API double ki_quantity_double(ki_quantity quantity);

/** Negative, 0 or positive, as a is less than, equal to or more than b. */
KI_API int ki_quantity_compare(ki_quantity a, ki_quantity b);

KI_EXTERN_C_END

#endif
