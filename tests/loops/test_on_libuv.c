/* SPDX-License-Identifier: Apache-2.0 */
/* An informer on a libuv loop. */
#include <stdio.h>
#include <uv.h>

#include "loops/loop_work.h"

static void readable(uv_poll_t *poll, int status, int events)
{
    LOOP_REQUIRE(status == 0 && (events & UV_READABLE));
    if (loop_work_go_on(poll->data))
        uv_close((uv_handle_t *)poll, NULL);
}

int main(void)
{
    loop_work work;
    loop_work_begin(&work, KI_MODE_EVENT_LOOP, 1);
    uv_loop_t loop;
    uv_poll_t poll = {.data = &work};
    LOOP_REQUIRE(uv_loop_init(&loop) == 0);
    LOOP_REQUIRE(uv_poll_init(&loop, &poll, ki_client_fd(work.client)) == 0);
    LOOP_REQUIRE(uv_poll_start(&poll, UV_READABLE, readable) == 0);
    LOOP_REQUIRE(uv_run(&loop, UV_RUN_DEFAULT) == 0 && uv_loop_close(&loop) == 0);
    loop_work_end(&work);
    puts("libuv: ok");
    return 0;
}
