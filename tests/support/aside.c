/* SPDX-License-Identifier: Apache-2.0 */
#include "support/aside.h"

#include <stdlib.h>
#include <time.h>

static void run(void *user)
{
    aside *call = user;
    call->call(call->user);
    call->is_done = 1;
}

void aside_start(aside *call, ki_thread_cb function, void *user)
{
    *call = (aside){.call = function, .user = user};
    if (ki_thread_start(&call->thread, &(ki_thread_options){.name = "aside", .run = run, .user = call},
                        NULL) < 0)
        abort();
}

void aside_pause(int ms)
{
    (void)nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

int aside_ends_within(aside *call, int ms)
{
    for (int i = 0; i < ms && !call->is_done; i++)
        aside_pause(1);
    return call->is_done;
}

void aside_join(aside *call)
{
    ki_thread_join(&call->thread);
}
