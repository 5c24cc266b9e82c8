/* SPDX-License-Identifier: Apache-2.0 */
/* wake_fd - a descriptor for another event loop to poll: readable while it is raised, and from a given time
 * on.
 *
 *   From:     util/loop/loop.c, workqueue/, util/loop/loop_run.c
 *   To:       the program's poll, epoll, libuv, …
 *   Locks:    none; the owner's. The descriptor itself never changes, so it is polled without a lock.
 *   Not here: the work itself.
 */
#ifndef KI_UTIL_LOOP_WAKE_FD_H
#define KI_UTIL_LOOP_WAKE_FD_H

#include <kinformer/common.h>
#include <kinformer/error.h>

/* An epoll with an eventfd and a timerfd. A zeroed struct is closed. */
typedef struct ki_wake_fd {
    int is_open; /* needed because 0 is a valid descriptor */
    int epoll_fd;
    int event_fd;
    int timer_fd;
    int is_raised;   /* state of the eventfd */
    uint64_t due_ns; /* setting of the timerfd; UINT64_MAX if disarmed */
} ki_wake_fd;

/* Opens a descriptor that is not raised and has no time set. Returns 0 or KI_ERR_SYSTEM. */
KI_NODISCARD int ki_wake_fd_open(ki_wake_fd *out_fd, ki_error *err);

/* A closed struct is allowed here and below; the calls then do nothing. */
void ki_wake_fd_close(ki_wake_fd *fd);

/* Makes the descriptor readable, or not readable. Makes no system call if nothing changes. */
void ki_wake_fd_raise(ki_wake_fd *fd, int is_raised);

/* Makes the descriptor readable from `due_ns` of the real clock on, until another time is set; UINT64_MAX
 * for never. */
void ki_wake_fd_raise_at(ki_wake_fd *fd, uint64_t due_ns);

/* Waits until it is readable, at most `timeout_ms`; -1 for no limit. May return early. Any thread. */
void ki_wake_fd_wait(const ki_wake_fd *fd, int timeout_ms);

#endif
