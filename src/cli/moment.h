/* SPDX-License-Identifier: Apache-2.0 */
/* moment - the monotonic time in milliseconds, which continues while the machine is suspended, like the
 * library's; and the time of day, also as text.
 *
 *   From:     cli/watch.c, cli/event_writer.c, cli/demo/demo.c
 *   Locks:    none.
 */
#ifndef KI_CLI_MOMENT_H
#define KI_CLI_MOMENT_H

#include <kinformer/timestamp.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t cli_moment_now_ms(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* The time of day, in seconds since 1970. */
static inline int64_t cli_moment_wall_s(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec;
}

/* "2026-11-15T20:45:57.012345Z": RFC 3339, always with six digits of a second. */
void cli_moment_format(ki_timestamp time, char out[KI_TIMESTAMP_BYTES]);

/* The same for the current time of day. */
void cli_moment_format_now(char out[KI_TIMESTAMP_BYTES]);

#endif
