/* SPDX-License-Identifier: Apache-2.0 */
/* wake_fd - one descriptor that another loop polls, readable while it is raised and once a time has come.
 *
 *   From:     util/loop/loop.c
 *   To:       the program's poll, epoll, libuv, …
 *   Locks:    none; the owner's. The descriptor itself never changes and is polled without one.
 *   Not here: what there is to do.
 */
#ifndef KI_UTIL_LOOP_WAKE_FD_H
#define KI_UTIL_LOOP_WAKE_FD_H

#include <kinformer/common.h>
#include <kinformer/error.h>

/* An epoll of an eventfd and a timerfd. A zeroed one is closed. */
typedef struct ki_wake_fd {
    int is_open; /* 0 is a descriptor */
    int epoll_fd;
    int event_fd;
    int timer_fd;
    int is_raised;   /* as the eventfd is */
    uint64_t due_ns; /* as the timerfd is set; UINT64_MAX: it is off */
} ki_wake_fd;

/* Not raised, no time set. Returns 0 or KI_ERR_SYSTEM. */
KI_NODISCARD int ki_wake_fd_open(ki_wake_fd *out_fd, ki_error *err);

/* Takes a closed one, as the others do: they do nothing then. */
void ki_wake_fd_close(ki_wake_fd *fd);

/* Readable from now on, or no more. Asks the kernel for nothing when that is so already. */
void ki_wake_fd_raise(ki_wake_fd *fd, int is_raised);

/* Readable from `due_ns` of the real clock on, until another time is set; UINT64_MAX: never. */
void ki_wake_fd_raise_at(ki_wake_fd *fd, uint64_t due_ns);

/* Waits until it is readable, `timeout_ms` at the most, or for no reason; -1: for as long as it takes.
 * Any thread. */
void ki_wake_fd_wait(const ki_wake_fd *fd, int timeout_ms);

#endif
