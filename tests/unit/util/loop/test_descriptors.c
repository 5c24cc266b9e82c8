/* SPDX-License-Identifier: Apache-2.0 */
#include "util/loop/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/aside.h"
#include "support/failing_allocator.h"
#include "support/patience.h"
#include "support/unit.h"

static void add(ki_descriptors *descriptors, int fd)
{
    ki_descriptors_lock(descriptors);
    ki_descriptors_add_locked(descriptors, fd);
    ki_descriptors_unlock(descriptors);
}

static void forget(ki_descriptors *descriptors, int fd)
{
    ki_descriptors_lock(descriptors);
    ki_descriptors_remove_locked(descriptors, fd);
    ki_descriptors_unlock(descriptors);
}

enum { MANY = 40 };

static int is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0 || errno != EBADF;
}

static void a_child_closes_its_copies_and_the_parent_keeps_its_own(void **state)
{
    (void)state;
    ki_descriptors descriptors;
    int fds[2];
    int status = 0;
    assert_int_equal(ki_descriptors_init(&descriptors), 0);
    assert_int_equal(pipe(fds), 0);
    add(&descriptors, fds[0]);
    add(&descriptors, fds[1]);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        ki_descriptors_close_all(&descriptors);
        _exit(is_open(fds[0]) || is_open(fds[1]) || descriptors.count > 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_true(is_open(fds[0]) && is_open(fds[1]));
    assert_int_equal(write(fds[1], "x", 1), 1);
    ki_descriptors_fini(&descriptors);
    (void)close(fds[0]);
    (void)close(fds[1]);
}

static void fork_once(void *user)
{
    (void)user;
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    (void)waitpid(pid, NULL, 0);
}

static void no_child_is_forked_between_a_change_and_its_record(void **state)
{
    (void)state;
    ki_descriptors descriptors;
    aside forking = {0};
    assert_int_equal(ki_descriptors_init(&descriptors), 0);
    ki_descriptors_lock(&descriptors);
    aside_start(&forking, fork_once, NULL);
    assert_false(aside_ends_within(&forking, 50));
    ki_descriptors_add_locked(&descriptors, 1000);
    ki_descriptors_remove_locked(&descriptors, 1000);
    ki_descriptors_unlock(&descriptors);
    assert_true(aside_ends_within(&forking, HANG_MS));
    aside_join(&forking);
    ki_descriptors_fini(&descriptors);
}

static void removed_descriptors_are_not_closed(void **state)
{
    (void)state;
    ki_descriptors descriptors;
    assert_int_equal(ki_descriptors_init(&descriptors), 0);
    for (int fd = 1000; fd < 1000 + MANY; fd++)
        add(&descriptors, fd);
    for (int fd = 1000; fd < 1000 + MANY; fd += 2)
        forget(&descriptors, fd);
    forget(&descriptors, 999); /* was never added */
    assert_int_equal(descriptors.count, MANY / 2);
    for (size_t i = 0; i < descriptors.count; i++)
        assert_int_equal(descriptors.open[i].fd % 2, 1);
    ki_descriptors_fini(&descriptors);
}

/* libcurl 7.88 does this with a socket that was still connecting. */
static void a_descriptor_closed_without_notice_is_not_closed_again(void **state)
{
    (void)state;
    ki_descriptors descriptors;
    int fds[2], own[2];
    assert_int_equal(ki_descriptors_init(&descriptors), 0);
    assert_int_equal(pipe(fds), 0);
    add(&descriptors, fds[0]);
    (void)close(fds[0]);
    assert_int_equal(pipe(own), 0);
    assert_int_equal(own[0], fds[0]); /* the number now belongs to the program */
    ki_descriptors_close_all(&descriptors);
    assert_true(fcntl(own[0], F_GETFD) >= 0);
    (void)close(own[0]);
    (void)close(own[1]);
    (void)close(fds[1]);
    ki_descriptors_fini(&descriptors);
}

static void an_add_after_a_reserve_needs_no_memory(void **state)
{
    (void)state;
    ki_descriptors descriptors;
    assert_int_equal(ki_descriptors_init(&descriptors), 0);
    failing_allocator_fail_at(1);
    assert_int_equal(ki_descriptors_reserve(&descriptors, MANY), KI_ERR_NO_MEMORY);
    failing_allocator_fail_at(0);
    assert_int_equal(ki_descriptors_reserve(&descriptors, MANY), 0);
    failing_allocator_fail_at(1);
    for (int fd = 0; fd < MANY; fd++)
        add(&descriptors, fd);
    assert_false(failing_allocator_has_failed());
    failing_allocator_fail_at(0);
    assert_int_equal(descriptors.count, MANY);
    ki_descriptors_fini(&descriptors);
}

#define DESCRIPTORS_TEST(test) WITH_MEMORY_CHECK(test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DESCRIPTORS_TEST(a_child_closes_its_copies_and_the_parent_keeps_its_own),
        DESCRIPTORS_TEST(no_child_is_forked_between_a_change_and_its_record),
        DESCRIPTORS_TEST(removed_descriptors_are_not_closed),
        DESCRIPTORS_TEST(a_descriptor_closed_without_notice_is_not_closed_again),
        DESCRIPTORS_TEST(an_add_after_a_reserve_needs_no_memory),
    };
    return RUN_TESTS(tests);
}
