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

static void no_child_is_made_between_a_change_and_the_note_of_it(void **state)
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

static void what_is_removed_is_not_closed(void **state)
{
    (void)state;
    ki_descriptors descriptors;
    assert_int_equal(ki_descriptors_init(&descriptors), 0);
    for (int fd = 1000; fd < 1000 + MANY; fd++)
        add(&descriptors, fd);
    for (int fd = 1000; fd < 1000 + MANY; fd += 2)
        forget(&descriptors, fd);
    forget(&descriptors, 999); /* was never there */
    assert_int_equal(descriptors.count, MANY / 2);
    for (size_t i = 0; i < descriptors.count; i++)
        assert_int_equal(descriptors.open[i].fd % 2, 1);
    ki_descriptors_fini(&descriptors);
}

/* As libcurl 7.88 does with a socket that was still being connected. */
static void what_was_closed_without_a_word_is_not_closed_again(void **state)
{
    (void)state;
    ki_descriptors descriptors;
    int fds[2], own[2];
    assert_int_equal(ki_descriptors_init(&descriptors), 0);
    assert_int_equal(pipe(fds), 0);
    add(&descriptors, fds[0]);
    (void)close(fds[0]);
    assert_int_equal(pipe(own), 0);
    assert_int_equal(own[0], fds[0]); /* the number is the program's now */
    ki_descriptors_close_all(&descriptors);
    assert_true(fcntl(own[0], F_GETFD) >= 0);
    (void)close(own[0]);
    (void)close(own[1]);
    (void)close(fds[1]);
    ki_descriptors_fini(&descriptors);
}

static void where_room_was_made_no_memory_is_needed(void **state)
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

#define DESCRIPTORS_TEST(test)                                                                               \
    cmocka_unit_test_setup_teardown(test, failing_allocator_setup, failing_allocator_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DESCRIPTORS_TEST(a_child_closes_its_copies_and_the_parent_keeps_its_own),
        DESCRIPTORS_TEST(no_child_is_made_between_a_change_and_the_note_of_it),
        DESCRIPTORS_TEST(what_is_removed_is_not_closed),
        DESCRIPTORS_TEST(what_was_closed_without_a_word_is_not_closed_again),
        DESCRIPTORS_TEST(where_room_was_made_no_memory_is_needed),
    };
    return RUN_TESTS(tests);
}
