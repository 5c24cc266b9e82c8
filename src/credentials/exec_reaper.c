/* SPDX-License-Identifier: Apache-2.0 */
#include "credentials/exec_reaper.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/wait.h>

static _Atomic pid_t left[KI_EXEC_LEFT_MAX]; /* 0 for a free place */

/* Whether the child is gone. After a fork it belongs to another process, and so counts as gone. */
static bool is_gone(pid_t pid)
{
    pid_t ended;
    do {
        ended = waitpid(pid, NULL, WNOHANG);
    } while (ended < 0 && errno == EINTR);
    return ended != 0;
}

/* Relaxed here and below: a pid is just a number, and publishes nothing else. */
void ki_exec_reaper_add(pid_t pid)
{
    for (int i = 0; i < KI_EXEC_LEFT_MAX; i++) {
        pid_t none = 0;
        if (atomic_compare_exchange_strong_explicit(&left[i], &none, pid, memory_order_relaxed,
                                                    memory_order_relaxed))
            return;
    }
}

/* A place is cleared before its child is reaped, so that no two threads wait for the same pid, which may be
 * reused after the first of them. */
bool ki_exec_reaper_run(void)
{
    bool is_empty = true;
    for (int i = 0; i < KI_EXEC_LEFT_MAX; i++) {
        pid_t pid = atomic_load_explicit(&left[i], memory_order_relaxed);
        if (pid == 0)
            continue;
        pid = atomic_exchange_explicit(&left[i], 0, memory_order_relaxed);
        if (pid == 0 || is_gone(pid))
            continue;
        ki_exec_reaper_add(pid);
        is_empty = false;
    }
    return is_empty;
}
