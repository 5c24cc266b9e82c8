/* SPDX-License-Identifier: Apache-2.0 */
/* moment - the monotonic time in milliseconds, which like that of the library continues while the machine is
 * suspended; the time of day, also as text; and units of time.
 *
 *   From:     cli/watch.c, cli/event_writer.c, cli/duration.c, cli/signals.c, cli/demo/demo.c,
 *             cli/demo/demo_end.c, cli/demo/demo_show.c, cli/resource_lookup.c
 *   Locks:    none.
 */
#ifndef KI_CLI_MOMENT_H
#define KI_CLI_MOMENT_H

#include <kinformer/timestamp.h>
#include <stdint.h>
#include <time.h>

#define CLI_NS_PER_US 1000
#define CLI_NS_PER_MS (1000 * CLI_NS_PER_US)
#define CLI_NS_PER_S (1000 * CLI_NS_PER_MS)
#define CLI_MS_PER_S 1000

static inline uint64_t cli_moment_now_ms(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * CLI_MS_PER_S + (uint64_t)now.tv_nsec / CLI_NS_PER_MS;
}

/* The time of day, in seconds since 1970. */
static inline int64_t cli_moment_wall_s(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec;
}

/* Writes "2026-11-15T20:45:57.012345Z": RFC 3339, always with six digits after the second. */
void cli_moment_format(ki_timestamp time, char out[KI_TIMESTAMP_BYTES]);

/* The same for the current time of day. */
void cli_moment_format_now(char out[KI_TIMESTAMP_BYTES]);

#endif
