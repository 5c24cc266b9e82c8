/* SPDX-License-Identifier: Apache-2.0 */
/* timestamp - RFC 3339 times as Kubernetes writes them: "2026-11-15T20:45:57Z".
 * Threads: any, for all calls. */
#ifndef KI_TIMESTAMP_H
#define KI_TIMESTAMP_H

#include <kinformer/common.h>
#include <kinformer/error.h>

KI_EXTERN_C_BEGIN

/** A point in time, in UTC. */
typedef struct ki_timestamp {
    int64_t seconds;  /* since 1970-01-01T00:00:00Z, without leap seconds */
    int32_t nanos;    /* 0 … 999999999 */
    int32_t reserved; /* 0 */
} ki_timestamp;

/**
 * Parses a date-time of RFC 3339: a year of four digits, a fraction of any length (digits past the ninth are
 * ignored), "Z" or an offset, letters in either case. Second 60 is read as second 0 of the next minute, and
 * is allowed only where a leap second can be: at the end of a UTC day. An offset may move the time out of the
 * years 0000 to 9999.
 *
 * Returns: 0, KI_ERR_TIMESTAMP, or KI_ERR_INVALID when `out_time` is NULL.
 */
KI_API int ki_timestamp_parse(ki_str text, ki_timestamp *out_time);

/** Enough bytes for the longest text, "2026-11-15T20:45:57.000000001Z", and a NUL. */
#define KI_TIMESTAMP_BYTES 32

/**
 * Writes the time in UTC, with as many fraction digits (0, 3, 6 or 9) as it needs.
 *
 * Returns: the length without the NUL, KI_ERR_RANGE outside the years 0000 to 9999, or KI_ERR_INVALID for
 *          nanos out of range and for NULL.
 */
KI_API KI_NODISCARD int ki_timestamp_format(ki_timestamp time, char out_text[KI_TIMESTAMP_BYTES]);

KI_EXTERN_C_END

#endif
