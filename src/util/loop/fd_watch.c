/* SPDX-License-Identifier: Apache-2.0 */
#include "util/loop/fd_watch.h"

#include <assert.h>
#include <sys/epoll.h>

/* Events are fetched from the kernel under the loop's mutex, and a watch leaves the epoll under the same
 * mutex. So no event refers to a watch that has ended. */

/* The maximum number of events fetched by one call; the rest is fetched by the next. */
enum { EVENTS_AT_A_TIME = 64 };

int ki_fd_watch_init(ki_fd_watch *watch, ki_loop *loop, ki_job_cb run)
{
    assert(ki_loop_fd(loop) >= 0);
    ki_fd_watch made = {.fd = -1};
    int rc = ki_job_init(&made.job, loop, run);
    if (rc == 0)
        *watch = made;
    return rc;
}

static void set_armed_locked(ki_loop *loop, ki_fd_watch *watch, int is_armed)
{
    if (is_armed && !watch->is_armed)
        loop->armed_count++;
    if (!is_armed && watch->is_armed)
        loop->armed_count--;
    watch->is_armed = is_armed;
}

/* Returns whether the descriptor is certainly out of the epoll. libcurl 7.88 reports the end of a socket
 * that was still connecting only after closing it. By then the kernel has removed the socket from the
 * epoll, and its number may belong to another descriptor, which is not in this epoll. But if a child of
 * fork() has a copy of the socket, the kernel has not removed it, and it can no longer be removed.
 * tests/tsan.supp names this function. */
static bool leave_epoll(const ki_loop *loop, int fd)
{
    return epoll_ctl(loop->wake_fd.epoll_fd, EPOLL_CTL_DEL, fd, NULL) == 0;
}

/* EPOLL_CTL_MOD fails if `fd` is another socket with the same number by now; then that socket is added. */
static int enter_epoll(const ki_loop *loop, const ki_fd_watch *watch, int fd, struct epoll_event *event)
{
    int epoll_fd = loop->wake_fd.epoll_fd;
    if (watch->fd >= 0 && epoll_ctl(epoll_fd, EPOLL_CTL_MOD, fd, event) == 0)
        return 0;
    return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, event) == 0 ? 0 : KI_ERR_SYSTEM;
}

static void forget_locked(ki_loop *loop, ki_fd_watch *watch)
{
    if (watch->fd >= 0 && !leave_epoll(loop, watch->fd))
        watch->may_be_reported = loop->may_have_stuck = 1;
    set_armed_locked(loop, watch, 0);
    watch->fd = -1;
    watch->ready = 0;
}

void ki_fd_watch_fini(ki_fd_watch *watch)
{
    assert(watch != NULL);
    ki_loop *loop = watch->job.loop;
    if (loop == NULL)
        return;
    ki_mutex_lock(&loop->mu);
    forget_locked(loop, watch);
    if (watch->may_be_reported)
        loop->may_have_stuck = 0; /* such a watch only ends when the epoll is closed */
    ki_mutex_unlock(&loop->mu);
    ki_job_fini(&watch->job);
}

static int set_locked(ki_loop *loop, ki_fd_watch *watch, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events | EPOLLONESHOT, .data.ptr = watch};
    if (watch->fd != fd)
        forget_locked(loop, watch);
    if (events == 0) {
        forget_locked(loop, watch);
        return 0;
    }
    if (enter_epoll(loop, watch, fd, &event) < 0)
        return KI_ERR_SYSTEM;
    watch->fd = fd;
    set_armed_locked(loop, watch, 1);
    return 0;
}

int ki_fd_watch_set(ki_fd_watch *watch, int fd, uint32_t events)
{
    assert(watch != NULL);
    ki_loop *loop = watch->job.loop;
    ki_mutex_lock(&loop->mu);
    int rc = set_locked(loop, watch, fd, events);
    ki_mutex_unlock(&loop->mu);
    return rc;
}

uint32_t ki_fd_watch_take(ki_fd_watch *watch)
{
    assert(watch != NULL);
    ki_loop *loop = watch->job.loop;
    ki_mutex_lock(&loop->mu);
    uint32_t ready = watch->ready;
    watch->ready = 0;
    ki_mutex_unlock(&loop->mu);
    return ready;
}

/* The two descriptors of ki_wake_fd are in the epoll without a watch. */
void ki_fd_watch_collect_locked(ki_loop *loop)
{
    KI_ASSERT_HELD(loop->mu);
    struct epoll_event events[EVENTS_AT_A_TIME];
    if (loop->armed_count == 0 && !loop->may_have_stuck)
        return;
    int count = epoll_wait(loop->wake_fd.epoll_fd, events, EVENTS_AT_A_TIME, 0);
    for (int i = 0; i < count; i++) {
        ki_fd_watch *watch = events[i].data.ptr;
        if (watch == NULL || !watch->is_armed)
            continue;
        watch->ready |= events[i].events;
        set_armed_locked(loop, watch, 0);
        ki_job_wake_locked(&watch->job);
    }
}
