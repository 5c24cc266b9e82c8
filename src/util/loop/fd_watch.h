/* SPDX-License-Identifier: Apache-2.0 */
/* fd_watch - a job that is woken when a descriptor is ready.
 *
 *   From:     http/sockets.c, credentials/exec_plugin.c (pipes of plug-ins), apiserver/serve/connection.c and
 *             apiserver/serve/linger.c (sockets of clients); util/loop/loop_run.c (what is ready)
 *   To:       the epoll of the loop's wake_fd
 *   Locks:    the loop's mutex.
 *   Not here: reading and writing.
 *
 * Only for loops with a descriptor and the real clock. A watch is one-shot: its job handles the events and
 * arms the watch again.
 */
#ifndef KI_UTIL_LOOP_FD_WATCH_H
#define KI_UTIL_LOOP_FD_WATCH_H

#include "util/loop/loop.h"

/* Embedded in its user. `job` may also be woken by others and have a timer. */
typedef struct ki_fd_watch {
    ki_job job;
    int fd;              /* guarded by the loop's mu, as all below; -1 if not in the epoll */
    int is_armed;        /* the loop counts armed watches */
    int may_be_reported; /* the epoll may still report the watch, for an old descriptor: the watch must
                          * not be freed before the loop is closed */
    uint32_t ready;      /* EPOLLIN, …, since the last ki_fd_watch_take() */
} ki_fd_watch;

/* Creates a watch that watches nothing yet. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_fd_watch_init(ki_fd_watch *watch, ki_loop *loop, ki_job_cb run);

/* Stops watching and ends the job, see ki_job_fini(). Call this before you close the descriptor. A zeroed
 * struct is allowed. */
void ki_fd_watch_fini(ki_fd_watch *watch);

/* Wakes the job once, as soon as one of `events` (EPOLLIN, EPOLLOUT) or an error occurs; `events` 0 disarms
 * the watch. A different `fd` replaces the previous one. Returns 0, or KI_ERR_SYSTEM if the descriptor
 * cannot be watched. */
KI_NODISCARD int ki_fd_watch_set(ki_fd_watch *watch, int fd, uint32_t events);

/* Returns the events that occurred, and clears them. */
uint32_t ki_fd_watch_take(ki_fd_watch *watch);

/* For util/loop/loop_run.c: wakes the jobs of ready descriptors; a limited number per call. */
void ki_fd_watch_collect_locked(ki_loop *loop) KI_REQUIRES(loop->mu);

#endif
