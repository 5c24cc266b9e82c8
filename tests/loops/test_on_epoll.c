/* SPDX-License-Identifier: Apache-2.0 */
/* An informer on an epoll loop, level-triggered and edge-triggered,
 * with the smallest budget and without one. */
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "loops/loop_work.h"

static void run(ki_mode mode, uint32_t trigger, uint64_t budget_ms)
{
    loop_work work;
    loop_work_begin(&work, mode, budget_ms);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN | trigger};
    LOOP_REQUIRE(epoll_ctl(epoll, EPOLL_CTL_ADD, ki_client_fd(work.client), &event) == 0);
    do
        LOOP_REQUIRE(epoll_wait(epoll, &event, 1, -1) == 1);
    while (!loop_work_go_on(&work));
    close(epoll);
    loop_work_end(&work);
}

int main(void)
{
    static const ki_mode modes[] = {KI_MODE_EVENT_LOOP, KI_MODE_HANDLERS_ON_LOOP};
    static const uint64_t budgets[] = {1, 0, KI_BUDGET_NONE};
    for (int i = 0; i < 3; i++)
        run(modes[i % 2], 0, budgets[i]);
    /* Repeated, because an edge may be lost only now and then. */
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 2; i++)
            run(modes[i], EPOLLET, budgets[round % 3]);
    puts("epoll: ok");
    return 0;
}
