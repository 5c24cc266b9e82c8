/* SPDX-License-Identifier: Apache-2.0 */
/* fd_watch - a job that is woken when a descriptor is ready.
 *
 *   From:     http/http.c (sockets), credentials/credentials.c (pipes of plug-ins)
 *   To:       the epoll of the loop's wake_fd
 *   Locks:    the loop's mutex.
 *   Not here: reading and writing.
 *
 * Only for loops with a descriptor and the real clock. A watch is one-shot: its job handles what is ready and
 * arms it again.
 */
#ifndef KI_UTIL_LOOP_FD_WATCH_H
#define KI_UTIL_LOOP_FD_WATCH_H

#include "util/loop/loop.h"

/* Embedded in its user. `job` may also be woken by others and have a timer. */
typedef struct ki_fd_watch {
    ki_job job;
    int fd;              /* guarded by the loop's mu, as all below; -1: not in the epoll */
    int is_armed;        /* counted by the loop */
    int may_be_reported; /* the epoll may still report it, for another descriptor: not freed before the loop
                          * is closed */
    uint32_t ready;      /* EPOLLIN, …, since the last ki_fd_watch_take() */
} ki_fd_watch;

/* Watches nothing. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_fd_watch_init(ki_fd_watch *watch, ki_loop *loop, ki_job_cb run);

/* Stops watching and ends the job: see ki_job_fini(). Call this before the descriptor is closed. A zeroed
 * struct is allowed. */
void ki_fd_watch_fini(ki_fd_watch *watch);

/* Wakes the job once as soon as one of `events` (EPOLLIN, EPOLLOUT) or an error occurs; 0 disarms it. A
 * different `fd` replaces the previous one. Returns 0, or KI_ERR_SYSTEM if the descriptor cannot be
 * watched. */
KI_NODISCARD int ki_fd_watch_set(ki_fd_watch *watch, int fd, uint32_t events);

/* Returns the events that occurred, and clears them. */
uint32_t ki_fd_watch_take(ki_fd_watch *watch);

/* For util/loop/loop.c: wakes the jobs of all ready descriptors. */
void ki_fd_watch_collect_locked(ki_loop *loop) KI_REQUIRES(loop->mu);

#endif
