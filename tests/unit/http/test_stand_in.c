/* SPDX-License-Identifier: Apache-2.0 */
#include "http/stand_in.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/unit.h"

/* A stand-in, and a socket with its other end. */
typedef struct scene {
    ki_stand_in stand_in;
    int fd;
    int other_fd;
} scene;

static void scene_init(scene *s)
{
    int fds[2];
    assert_int_equal(ki_stand_in_open(&s->stand_in, NULL), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    s->fd = fds[0];
    s->other_fd = fds[1];
}

static void scene_fini(scene *s)
{
    (void)close(s->fd);
    (void)close(s->other_fd);
    ki_stand_in_close(&s->stand_in);
}

static void assert_would_block(ssize_t n)
{
    int code = errno;
    assert_int_equal(n, -1);
    assert_int_equal(code, EAGAIN);
}

static void a_stand_in_neither_sends_nor_receives(void **state)
{
    (void)state;
    scene s;
    char byte = 'a';
    scene_init(&s);
    assert_int_equal(send(s.other_fd, "xy", 2, 0), 2);
    int waiting_fd = ki_stand_in_take_place(&s.stand_in, s.fd);
    assert_true(waiting_fd >= 0);
    assert_would_block(recv(s.fd, &byte, 1, 0));
    assert_would_block(send(s.fd, &byte, 1, MSG_NOSIGNAL));
    ki_stand_in_give_back(&s.stand_in, s.fd, waiting_fd);
    assert_int_equal(recv(s.fd, &byte, 1, 0), 1);
    assert_int_equal(byte, 'x');
    assert_int_equal(send(s.fd, &byte, 1, MSG_NOSIGNAL), 1);
    assert_int_equal(fcntl(waiting_fd, F_GETFD), -1);
    scene_fini(&s);
}

static void one_stand_in_serves_several_sockets(void **state)
{
    (void)state;
    scene s;
    int fds[2];
    char byte = 0;
    scene_init(&s);
    fds[0] = ki_stand_in_take_place(&s.stand_in, s.fd);
    fds[1] = ki_stand_in_take_place(&s.stand_in, s.other_fd);
    assert_would_block(recv(s.fd, &byte, 1, 0));
    ki_stand_in_give_back(&s.stand_in, s.fd, fds[0]);
    assert_would_block(recv(s.other_fd, &byte, 1, 0));
    ki_stand_in_give_back(&s.stand_in, s.other_fd, fds[1]);
    assert_int_equal(send(s.fd, "x", 1, 0), 1);
    assert_int_equal(recv(s.other_fd, &byte, 1, 0), 1);
    scene_fini(&s);
}

static void a_started_program_inherits_nothing(void **state)
{
    (void)state;
    scene s;
    scene_init(&s);
    int waiting_fd = ki_stand_in_take_place(&s.stand_in, s.fd);
    const int fds[] = {s.stand_in.fd, s.stand_in.peer_fd, waiting_fd, s.fd};
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
        assert_true((fcntl(fds[i], F_GETFD) & FD_CLOEXEC) != 0);
    ki_stand_in_give_back(&s.stand_in, s.fd, waiting_fd);
    assert_true((fcntl(s.fd, F_GETFD) & FD_CLOEXEC) != 0);
    scene_fini(&s);
}

static void a_descriptor_closed_meanwhile_is_left_alone(void **state)
{
    (void)state;
    scene s;
    char byte = 0;
    for (int is_taken = 0; is_taken < 2; is_taken++) {
        scene_init(&s);
        int waiting_fd = ki_stand_in_take_place(&s.stand_in, s.fd);
        (void)close(s.fd);
        if (is_taken)
            assert_int_equal(dup2(STDERR_FILENO, s.fd), s.fd);
        ki_stand_in_give_back(&s.stand_in, s.fd, waiting_fd);
        assert_int_equal(fcntl(waiting_fd, F_GETFD), -1);
        assert_int_equal(fcntl(s.fd, F_GETFD) >= 0, is_taken);
        assert_int_equal(recv(s.other_fd, &byte, 1, 0), 0);
        scene_fini(&s);
    }
}

static void without_a_descriptor_nothing_changes(void **state)
{
    (void)state;
    scene s;
    char byte = 0;
    scene_init(&s);
    assert_int_equal(ki_stand_in_take_place(&s.stand_in, -1), -1);
    assert_int_equal(send(s.other_fd, "x", 1, 0), 1);
    assert_int_equal(recv(s.fd, &byte, 1, 0), 1);
    scene_fini(&s);
    ki_stand_in_close(&(ki_stand_in){0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stand_in_neither_sends_nor_receives),
        cmocka_unit_test(one_stand_in_serves_several_sockets),
        cmocka_unit_test(a_started_program_inherits_nothing),
        cmocka_unit_test(a_descriptor_closed_meanwhile_is_left_alone),
        cmocka_unit_test(without_a_descriptor_nothing_changes),
    };
    return RUN_TESTS(tests);
}
