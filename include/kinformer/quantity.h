/* SPDX-License-Identifier: Apache-2.0 */
/* quantity - Kubernetes resource quantities: "100m", "64Mi", "1e3", "1.5". Threads: any, for all calls. */
#ifndef KI_QUANTITY_H
#define KI_QUANTITY_H

#include <kinformer/common.h>
#include <kinformer/error.h>

KI_EXTERN_C_BEGIN

/**
 * An exact amount, in whole units and billionths (the precision of Kubernetes; finer amounts are rounded away
 * from zero). Both have the same sign, unless one of them is 0: -1.5 is units -1, nanos -500000000.
 */
typedef struct ki_quantity {
    int64_t units;
    int32_t nanos;
    int32_t reserved; /* 0 */
} ki_quantity;

/**
 * Reads <sign?><digits[.digits]><suffix>: suffix n u m k M G T P E (decimal), Ki Mi Gi Ti Pi Ei (binary), or
 * a decimal exponent e3, E-6. ".5" and "5." are numbers, "1E" is exa, "1e" and "1ki" are errors. No floating
 * point is used, however many digits there are. An amount that does not fit into int64 becomes 2^63-1 or
 * -(2^63-1). Kubernetes does this for binary suffixes only; the int64 of a larger decimal amount is undefined
 * there.
 *
 * Returns: 0, KI_ERR_QUANTITY, or KI_ERR_INVALID when `out_quantity` is NULL.
 */
KI_API int ki_quantity_parse(ki_str text, ki_quantity *out_quantity);

/** The amount in units, rounded away from zero, like Kubernetes' Value(). */
KI_API int64_t ki_quantity_value(ki_quantity quantity);

/** The amount in thousandths, rounded away from zero and clamped to int64, like Kubernetes' MilliValue(). */
KI_API int64_t ki_quantity_milli_value(ki_quantity quantity);

/** The nearest double. */
KI_API double ki_quantity_double(ki_quantity quantity);

/** Negative, 0 or positive, as a is less than, equal to or more than b. */
KI_API int ki_quantity_compare(ki_quantity a, ki_quantity b);

KI_EXTERN_C_END

#endif
