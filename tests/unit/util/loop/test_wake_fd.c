/* SPDX-License-Identifier: Apache-2.0 */
#include "util/loop/wake_fd.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/unit.h"
#include "util/clock.h"

enum { FDS = 3, NS_PER_MS = 1000 * 1000 };

static int is_readable(const ki_wake_fd *fd, int timeout_ms)
{
    struct pollfd polled = {.fd = fd->epoll_fd, .events = POLLIN};
    return poll(&polled, 1, timeout_ms);
}

static void a_wake_fd_is_readable_while_raised(void **state)
{
    (void)state;
    ki_wake_fd fd;
    assert_int_equal(ki_wake_fd_open(&fd, NULL), 0);
    assert_int_equal(is_readable(&fd, 0), 0);
    ki_wake_fd_raise(&fd, 1);
    ki_wake_fd_raise(&fd, 1);
    assert_int_equal(is_readable(&fd, 0), 1);
    assert_int_equal(is_readable(&fd, 0), 1);
    ki_wake_fd_raise(&fd, 0);
    assert_int_equal(is_readable(&fd, 0), 0);
    ki_wake_fd_raise(&fd, 0);
    ki_wake_fd_raise(&fd, 1);
    assert_int_equal(is_readable(&fd, 0), 1);
    ki_wake_fd_close(&fd);
}

static void a_wake_fd_is_readable_once_its_time_has_come(void **state)
{
    (void)state;
    ki_wake_fd fd;
    assert_int_equal(ki_wake_fd_open(&fd, NULL), 0);
    uint64_t due_ns = ki_clock_now_ns(ki_clock_real()) + 5 * NS_PER_MS;
    ki_wake_fd_raise_at(&fd, due_ns);
    assert_int_equal(is_readable(&fd, 10 * 1000), 1);
    assert_true(ki_clock_now_ns(ki_clock_real()) >= due_ns);
    assert_int_equal(is_readable(&fd, 0), 1);
    ki_wake_fd_raise_at(&fd, UINT64_MAX);
    assert_int_equal(is_readable(&fd, 0), 0);
    ki_wake_fd_close(&fd);
}

static void a_time_in_the_past_makes_it_readable_at_once(void **state)
{
    (void)state;
    ki_wake_fd fd;
    assert_int_equal(ki_wake_fd_open(&fd, NULL), 0);
    ki_wake_fd_raise_at(&fd, 0);
    assert_int_equal(is_readable(&fd, 10 * 1000), 1);
    ki_wake_fd_raise_at(&fd, UINT64_MAX - 1);
    assert_int_equal(is_readable(&fd, 0), 0);
    ki_wake_fd_close(&fd);
}

static void its_descriptors_close_on_exec_and_do_not_block(void **state)
{
    (void)state;
    ki_wake_fd fd;
    assert_int_equal(ki_wake_fd_open(&fd, NULL), 0);
    const int fds[FDS] = {fd.epoll_fd, fd.event_fd, fd.timer_fd};
    for (int i = 0; i < FDS; i++)
        assert_int_equal(fcntl(fds[i], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    uint64_t count = 0;
    assert_int_equal(read(fd.event_fd, &count, sizeof(count)), -1);
    assert_int_equal(read(fd.timer_fd, &count, sizeof(count)), -1);
    ki_wake_fd_close(&fd);
}

/* The descriptor that the next open would return. */
static int next_fd(void)
{
    int fd = dup(STDOUT_FILENO);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    return fd;
}

static void without_descriptors_open_fails_and_leaves_none(void **state)
{
    (void)state;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    int first = next_fd();
    for (int spare = 0; spare < FDS; spare++) {
        struct rlimit limit = {.rlim_cur = (rlim_t)(first + spare), .rlim_max = before.rlim_max};
        ki_wake_fd fd = {.due_ns = 42};
        ki_error err = {0};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
        int rc = ki_wake_fd_open(&fd, &err);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        assert_int_equal(rc, KI_ERR_SYSTEM);
        assert_int_equal(err.code, KI_ERR_SYSTEM);
        assert_int_equal(fd.due_ns, 42);
        assert_int_equal(next_fd(), first);
    }
}

static void closing_leaves_no_descriptor(void **state)
{
    (void)state;
    ki_wake_fd fd;
    int first = next_fd();
    assert_int_equal(ki_wake_fd_open(&fd, NULL), 0);
    assert_true(next_fd() >= first + FDS);
    ki_wake_fd_close(&fd);
    assert_int_equal(next_fd(), first);
}

static void calls_on_a_closed_wake_fd_do_nothing(void **state)
{
    (void)state;
    ki_wake_fd fd = {0};
    ki_wake_fd_raise(&fd, 1);
    ki_wake_fd_raise_at(&fd, 1);
    ki_wake_fd_close(&fd);
    assert_int_equal(fd.is_raised, 0);
    assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wake_fd_is_readable_while_raised),
        cmocka_unit_test(a_wake_fd_is_readable_once_its_time_has_come),
        cmocka_unit_test(a_time_in_the_past_makes_it_readable_at_once),
        cmocka_unit_test(its_descriptors_close_on_exec_and_do_not_block),
        cmocka_unit_test(without_descriptors_open_fails_and_leaves_none),
        cmocka_unit_test(closing_leaves_no_descriptor),
        cmocka_unit_test(calls_on_a_closed_wake_fd_do_nothing),
    };
    return RUN_TESTS(tests);
}
