/* SPDX-License-Identifier: Apache-2.0 */
#include "util/loop/wake_fd.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "util/error.h"
#include "util/units.h"

static int watch(const ki_wake_fd *fd, int watched_fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    return epoll_ctl(fd->epoll_fd, EPOLL_CTL_ADD, watched_fd, &event);
}

static void close_all(const ki_wake_fd *fd)
{
    const int fds[] = {fd->epoll_fd, fd->event_fd, fd->timer_fd};
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
        if (fds[i] >= 0)
            (void)close(fds[i]);
}

/* The timer uses CLOCK_BOOTTIME like util/clock.c, so that after a suspend, timers that fell due meanwhile
 * have fired. */
int ki_wake_fd_open(ki_wake_fd *out_fd, ki_error *err)
{
    assert(out_fd != NULL);
    ki_wake_fd fd = {.is_open = 1, .event_fd = -1, .timer_fd = -1, .due_ns = UINT64_MAX};
    fd.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (fd.epoll_fd >= 0)
        fd.event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd.event_fd >= 0)
        fd.timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (fd.timer_fd < 0 || watch(&fd, fd.event_fd) < 0 || watch(&fd, fd.timer_fd) < 0) {
        int rc = ki_fail(err, KI_ERR_SYSTEM, "cannot create a descriptor to poll: %s", strerror(errno));
        close_all(&fd);
        return rc;
    }
    *out_fd = fd;
    return 0;
}

void ki_wake_fd_close(ki_wake_fd *fd)
{
    assert(fd != NULL);
    if (fd->is_open)
        close_all(fd);
    *fd = (ki_wake_fd){0};
}

/* The count of the eventfd is 0 or 1, so neither call can fail or block. */
void ki_wake_fd_raise(ki_wake_fd *fd, int is_raised)
{
    if (!fd->is_open || fd->is_raised == is_raised)
        return;
    uint64_t count = 1;
    ssize_t n =
        is_raised ? write(fd->event_fd, &count, sizeof(count)) : read(fd->event_fd, &count, sizeof(count));
    assert(n == (ssize_t)sizeof(count) && count == 1);
    (void)n;
    fd->is_raised = is_raised;
}

/* Setting a time makes the timerfd unreadable until that time. A time of 0 would disarm it. */
void ki_wake_fd_raise_at(ki_wake_fd *fd, uint64_t due_ns)
{
    if (!fd->is_open || fd->due_ns == due_ns)
        return;
    struct itimerspec spec = {.it_value = {0}};
    if (due_ns != UINT64_MAX) {
        uint64_t at_ns = due_ns == 0 ? 1 : due_ns;
        spec.it_value.tv_sec = (time_t)(at_ns / KI_NS_PER_S);
        spec.it_value.tv_nsec = (long)(at_ns % KI_NS_PER_S);
    }
    int rc = timerfd_settime(fd->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL);
    assert(rc == 0);
    (void)rc;
    fd->due_ns = due_ns;
}

void ki_wake_fd_wait(const ki_wake_fd *fd, int timeout_ms)
{
    assert(fd != NULL);
    struct pollfd polled = {.fd = fd->epoll_fd, .events = POLLIN};
    if (fd->is_open)
        (void)poll(&polled, 1, timeout_ms);
}
