/* SPDX-License-Identifier: Apache-2.0 */
/* moment - the monotonic time in milliseconds; it continues while the machine is suspended, like the
 * library's.
 *
 *   From:     cli/watch.c, cli/demo/demo.c
 *   Locks:    none.
 */
#ifndef KI_CLI_MOMENT_H
#define KI_CLI_MOMENT_H

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

#endif
