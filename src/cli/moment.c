/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/moment.h"

#include <stdio.h>

/* ki_timestamp_format() writes as few digits as possible. Here the number of digits is fixed, so that the
 * columns of all lines are aligned. */
void cli_moment_format(ki_timestamp time, char out[KI_TIMESTAMP_BYTES])
{
    int32_t micros = time.nanos / CLI_NS_PER_US;
    time.nanos = 0;
    int n = ki_timestamp_format(time, out);
    if (n > 0)
        snprintf(out + n - 1, (size_t)(KI_TIMESTAMP_BYTES - n), ".%06dZ", (int)micros);
    else
        out[0] = 0; /* the clock is past the year 9999 */
}

void cli_moment_format_now(char out[KI_TIMESTAMP_BYTES])
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    cli_moment_format((ki_timestamp){.seconds = now.tv_sec, .nanos = (int32_t)now.tv_nsec}, out);
}
