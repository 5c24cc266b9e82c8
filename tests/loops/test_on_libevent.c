/* SPDX-License-Identifier: Apache-2.0 */
/* An informer on a libevent loop, level-triggered and edge-triggered. */
#include <event2/event.h>
#include <stdio.h>

#include "loops/loop_work.h"

static struct event_base *base;

static void readable(evutil_socket_t fd, short events, void *user)
{
    (void)fd;
    LOOP_REQUIRE(events & EV_READ);
    if (loop_work_go_on(user))
        event_base_loopbreak(base);
}

static void run(short trigger)
{
    loop_work work;
    loop_work_begin(&work, KI_MODE_EVENT_LOOP, 1);
    base = event_base_new();
    struct event *event =
        event_new(base, ki_client_fd(work.client), (short)(EV_READ | EV_PERSIST | trigger), readable, &work);
    LOOP_REQUIRE(event != NULL && event_add(event, NULL) == 0);
    LOOP_REQUIRE(event_base_dispatch(base) == 0);
    event_free(event);
    event_base_free(base);
    loop_work_end(&work);
}

int main(void)
{
    run(0);
    run(EV_ET);
    puts("libevent: ok");
    return 0;
}
