/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/support/client_live.h"

#include <poll.h>

#include "support/unit.h"

enum { MOMENT_MS = 5 };

void client_live(ki_client *client, ki_mode mode)
{
    struct pollfd polled = {.fd = ki_client_fd(client), .events = POLLIN};
    int timeout_ms = ki_client_timeout_ms(client);
    if (timeout_ms < 0 || timeout_ms > MOMENT_MS)
        timeout_ms = MOMENT_MS;
    (void)poll(&polled, polled.fd >= 0 ? 1 : 0, timeout_ms);
    if (mode != KI_MODE_THREADS)
        assert_true(ki_client_dispatch(client, 1) >= 0);
}
