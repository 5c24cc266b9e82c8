/* SPDX-License-Identifier: Apache-2.0 */
/* An informer on a GLib main loop. */
#include <glib-unix.h>
#include <stdio.h>

#include "loops/loop_work.h"

static GMainLoop *loop;

static gboolean readable(gint fd, GIOCondition condition, gpointer user)
{
    (void)fd;
    LOOP_REQUIRE(condition & G_IO_IN);
    if (!loop_work_go_on(user))
        return G_SOURCE_CONTINUE;
    g_main_loop_quit(loop);
    return G_SOURCE_REMOVE;
}

int main(void)
{
    loop_work work;
    loop_work_begin(&work, KI_MODE_EVENT_LOOP, 1);
    loop = g_main_loop_new(NULL, FALSE);
    LOOP_REQUIRE(g_unix_fd_add(ki_client_fd(work.client), G_IO_IN, readable, &work) != 0);
    g_main_loop_run(loop);
    g_main_loop_unref(loop);
    loop_work_end(&work);
    puts("GLib: ok");
    return 0;
}
