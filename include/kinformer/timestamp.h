/* SPDX-License-Identifier: Apache-2.0 */
/* timestamp - RFC 3339 times as Kubernetes writes them: "2026-11-15T20:45:57Z", also with fractions and offsets. */
#ifndef KI_TIMESTAMP_H
#define KI_TIMESTAMP_H

#include <kinformer/common.h>
#include <kinformer/error.h>

KI_EXTERN_C_BEGIN

/** A point in time, in UTC. */
typedef struct ki_timestamp {
    int64_t seconds; /* since 1970-01-01T00:00:00Z, without leap seconds */
    int32_t nanos;   /* 0 … 999999999 */
    int32_t reserved;
} ki_timestamp;

/**
 * Reads date-time of RFC 3339, years 0000 to 9999, fraction of any length (digits past the ninth are cut), second 60
 * (a leap second, read as the next minute's 0).
 *
 * Returns: 0, or KI_ERR_TIMESTAMP.
 */
KI_API KI_NODISCARD int ki_timestamp_parse(ki_str text, ki_timestamp *out_time);

/** "2026-11-15T20:45:57.000000001Z" and NUL at the most. */
#define KI_TIMESTAMP_BYTES 32

/** Writes the time in UTC, with as many fraction digits (0, 3, 6 or 9) as it needs. Returns the length, or
 * KI_ERR_RANGE outside of years 0000 to 9999. */
KI_API KI_NODISCARD int ki_timestamp_format(ki_timestamp time, char out_text[KI_TIMESTAMP_BYTES]);

KI_EXTERN_C_END

#endif
