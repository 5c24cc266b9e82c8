/* SPDX-License-Identifier: Apache-2.0 */
/* units - conversions between nanoseconds, the unit of ki_clock, and other units of time.
 *
 *   From:     all code that converts units of time
 */
#ifndef KI_UTIL_UNITS_H
#define KI_UTIL_UNITS_H

#include <stdint.h>

#define KI_NS_PER_US ((uint64_t)1000)
#define KI_NS_PER_MS ((uint64_t)1000 * 1000)
#define KI_NS_PER_S ((uint64_t)1000 * 1000 * 1000)
#define KI_US_PER_S ((int64_t)1000 * 1000)

/* Options may have any value, so times above a century are cut to a century: sums do not overflow then. */
static inline uint64_t ki_ns_of_ms(uint64_t ms)
{
    const uint64_t century_ms = (uint64_t)100 * 365 * 24 * 3600 * 1000;
    return (ms < century_ms ? ms : century_ms) * KI_NS_PER_MS;
}

/* The later of two times, or the longer of two durations. */
static inline uint64_t ki_ns_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t ki_ns_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The sum, or UINT64_MAX ("never") if it is larger. */
static inline uint64_t ki_ns_add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* How long ago a time was, in milliseconds. UINT64_MAX stands for never, in both. */
static inline uint64_t ki_ns_age_ms(uint64_t now_ns, uint64_t then_ns)
{
    if (then_ns == UINT64_MAX)
        return UINT64_MAX;
    return now_ns > then_ns ? (now_ns - then_ns) / KI_NS_PER_MS : 0;
}

#endif
