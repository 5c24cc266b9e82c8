/* SPDX-License-Identifier: Apache-2.0 */
#include "support/patience.h"
#include "util/loop/fd_watch.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/failing_allocator.h"
#include "support/unit.h"

/* A loop, and a watch of one end of a pair of sockets; the test uses the other end. */
typedef struct bench {
    ki_loop loop;
    ki_fd_watch watch;
    int near;
    int far;
    int runs;
    uint32_t ready;
    int arms_again;
} bench;

static void note_run(ki_job *job)
{
    bench *b = KI_CONTAINER_OF(job, bench, watch.job);
    b->runs++;
    b->ready = ki_fd_watch_take(&b->watch);
    if (b->arms_again)
        assert_int_equal(ki_fd_watch_set(&b->watch, b->near, EPOLLIN), 0);
}

static void bench_init(bench *b)
{
    int pair[2];
    *b = (bench){0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
    b->near = pair[0];
    b->far = pair[1];
    assert_int_equal(ki_loop_init(&b->loop, &(ki_loop_options){.with_fd = 1}, NULL), 0);
    assert_int_equal(ki_fd_watch_init(&b->watch, &b->loop, note_run), 0);
}

static void bench_fini(bench *b)
{
    ki_fd_watch_fini(&b->watch);
    assert_int_equal(b->loop.armed_count, 0);
    ki_loop_fini(&b->loop);
    assert_int_equal(close(b->near), 0);
    assert_int_equal(close(b->far), 0);
}

static void say(bench *b)
{
    assert_int_equal(write(b->far, "x", 1), 1);
}

static void a_watch_wakes_its_job_when_the_descriptor_is_ready(void **state)
{
    (void)state;
    bench b;
    bench_init(&b);
    assert_int_equal(ki_fd_watch_set(&b.watch, b.near, EPOLLIN), 0);
    assert_int_equal(ki_loop_step(&b.loop, 0), 0);
    say(&b);
    assert_int_equal(ki_loop_step(&b.loop, 0), 1);
    assert_int_equal(b.ready, EPOLLIN);
    bench_fini(&b);
}

static void a_watch_wakes_once_until_it_is_armed_again(void **state)
{
    (void)state;
    bench b;
    bench_init(&b);
    assert_int_equal(ki_fd_watch_set(&b.watch, b.near, EPOLLIN), 0);
    say(&b);
    assert_int_equal(ki_loop_step(&b.loop, 0), 1);
    assert_int_equal(ki_loop_step(&b.loop, 0), 0);
    assert_int_equal(ki_fd_watch_set(&b.watch, b.near, EPOLLIN), 0);
    assert_int_equal(ki_loop_step(&b.loop, 0), 1);
    assert_int_equal(b.runs, 2);
    bench_fini(&b);
}

static void a_watch_waits_for_the_events_set_last(void **state)
{
    (void)state;
    bench b;
    bench_init(&b);
    assert_int_equal(ki_fd_watch_set(&b.watch, b.near, EPOLLIN), 0);
    assert_int_equal(ki_fd_watch_set(&b.watch, b.near, EPOLLOUT), 0);
    assert_int_equal(ki_loop_step(&b.loop, 0), 1);
    assert_int_equal(b.ready, EPOLLOUT);
    assert_int_equal(ki_fd_watch_set(&b.watch, b.near, EPOLLOUT), 0);
    assert_int_equal(ki_fd_watch_set(&b.watch, b.near, 0), 0);
    assert_int_equal(ki_loop_step(&b.loop, 0), 0);
    bench_fini(&b);
}

static void another_descriptor_replaces_the_first(void **state)
{
    (void)state;
    bench b;
    bench_init(&b);
    assert_int_equal(ki_fd_watch_set(&b.watch, b.near, EPOLLOUT), 0);
    assert_int_equal(ki_fd_watch_set(&b.watch, b.far, EPOLLIN), 0);
    assert_int_equal(ki_loop_step(&b.loop, 0), 0);
    assert_int_equal(write(b.near, "x", 1), 1);
    assert_int_equal(ki_loop_step(&b.loop, 0), 1);
    bench_fini(&b);
}

static void a_descriptor_that_was_closed_and_reopened_is_watched(void **state)
{
    (void)state;
    bench b;
    int pair[2];
    bench_init(&b);
    assert_int_equal(ki_fd_watch_set(&b.watch, b.near, EPOLLIN), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
    assert_int_equal(dup2(pair[0], b.near), b.near);
    assert_int_equal(close(pair[0]), 0);
    assert_int_equal(ki_fd_watch_set(&b.watch, b.near, EPOLLIN), 0);
    assert_int_equal(ki_loop_step(&b.loop, 0), 0);
    assert_int_equal(write(pair[1], "x", 1), 1);
    assert_int_equal(ki_loop_step(&b.loop, 0), 1);
    assert_int_equal(b.ready, EPOLLIN);
    bench_fini(&b);
    assert_int_equal(close(pair[1]), 0);
}

static void the_end_of_a_connection_is_an_event(void **state)
{
    (void)state;
    bench b;
    bench_init(&b);
    assert_int_equal(ki_fd_watch_set(&b.watch, b.near, EPOLLIN), 0);
    assert_int_equal(shutdown(b.far, SHUT_RDWR), 0);
    assert_int_equal(ki_loop_step(&b.loop, 0), 1);
    assert_true(b.ready & EPOLLHUP);
    bench_fini(&b);
}

static void a_watch_that_ended_is_not_woken(void **state)
{
    (void)state;
    bench b;
    bench_init(&b);
    assert_int_equal(ki_fd_watch_set(&b.watch, b.near, EPOLLIN), 0);
    say(&b);
    ki_fd_watch_fini(&b.watch);
    assert_int_equal(ki_loop_step(&b.loop, 0), 0);
    bench_fini(&b);
}

static void a_file_that_cannot_be_watched_is_refused(void **state)
{
    (void)state;
    bench b;
    bench_init(&b);
    assert_int_equal(ki_fd_watch_set(&b.watch, -1, EPOLLIN), KI_ERR_SYSTEM);
    assert_int_equal(ki_loop_step(&b.loop, 0), 0);
    bench_fini(&b);
}

static void the_loops_descriptor_is_readable_when_a_watched_one_is(void **state)
{
    (void)state;
    bench b;
    bench_init(&b);
    struct pollfd polled = {.fd = ki_loop_fd(&b.loop), .events = POLLIN};
    assert_int_equal(ki_fd_watch_set(&b.watch, b.near, EPOLLIN), 0);
    assert_int_equal(poll(&polled, 1, 0), 0);
    say(&b);
    assert_int_equal(poll(&polled, 1, HANG_MS), 1);
    assert_int_equal(ki_loop_step(&b.loop, 0), 1);
    assert_int_equal(poll(&polled, 1, 0), 0);
    bench_fini(&b);
}

static void a_thread_that_waits_for_the_loop_is_woken(void **state)
{
    (void)state;
    bench b;
    bench_init(&b);
    assert_int_equal(ki_fd_watch_set(&b.watch, b.near, EPOLLIN), 0);
    uint64_t began_ms = ki_clock_now_ms(b.loop.clock);
    ki_loop_wait(&b.loop, 5);
    assert_true(ki_clock_now_ms(b.loop.clock) >= began_ms + 5);
    assert_int_equal(ki_loop_next_ns(&b.loop), UINT64_MAX);
    say(&b);
    ki_loop_wait(&b.loop, UINT64_MAX);
    assert_int_equal(ki_loop_next_ns(&b.loop), 0);
    assert_int_equal(ki_loop_step(&b.loop, 0), 1);
    bench_fini(&b);
}

typedef struct restless {
    ki_job job;
    bench *owner;
} restless;

static void run_until_seen(ki_job *job)
{
    restless *self = KI_CONTAINER_OF(job, restless, job);
    if (self->owner->runs == 0)
        ki_job_wake(job);
}

static void jobs_that_stay_awake_do_not_delay_descriptors(void **state)
{
    (void)state;
    bench b;
    restless r = {.owner = &b};
    bench_init(&b);
    assert_int_equal(ki_job_init(&r.job, &b.loop, run_until_seen), 0);
    assert_int_equal(ki_fd_watch_set(&b.watch, b.near, EPOLLIN), 0);
    say(&b);
    ki_job_wake(&r.job);
    assert_true(ki_loop_step(&b.loop, 0) > 1);
    assert_int_equal(b.runs, 1);
    ki_job_fini(&r.job);
    bench_fini(&b);
}

static void when_out_of_memory_there_is_no_watch(void **state)
{
    (void)state;
    ki_loop loop;
    ki_fd_watch watch = {.ready = 42};
    assert_int_equal(ki_loop_init(&loop, &(ki_loop_options){.with_fd = 1}, NULL), 0);
    failing_allocator_fail_at(1);
    assert_int_equal(ki_fd_watch_init(&watch, &loop, note_run), KI_ERR_NO_MEMORY);
    failing_allocator_fail_at(0);
    assert_int_equal(watch.ready, 42);
    watch = (ki_fd_watch){0};
    ki_fd_watch_fini(&watch);
    ki_loop_fini(&loop);
}

static void do_nothing(ki_job *job)
{
    (void)job;
}

/* One edge reported both, and the budget ends the step before it checks descriptors. */
static void a_descriptor_not_checked_by_a_step_is_a_new_edge(void **state)
{
    (void)state;
    bench b;
    ki_job other;
    bench_init(&b);
    assert_int_equal(ki_job_init(&other, &b.loop, do_nothing), 0);
    int outer = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    assert_int_equal(epoll_ctl(outer, EPOLL_CTL_ADD, ki_loop_fd(&b.loop), &event), 0);
    assert_int_equal(ki_fd_watch_set(&b.watch, b.near, EPOLLIN), 0);
    ki_job_wake(&other);
    say(&b);
    assert_int_equal(epoll_wait(outer, &event, 1, 0), 1);
    assert_int_equal(ki_loop_step(&b.loop, 1), 1);
    assert_int_equal(b.runs, 0);
    assert_int_equal(epoll_wait(outer, &event, 1, 0), 1);
    assert_int_equal(ki_loop_step(&b.loop, 0), 1);
    assert_int_equal(b.runs, 1);
    (void)close(outer);
    ki_job_fini(&other);
    bench_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_watch_wakes_its_job_when_the_descriptor_is_ready),
        WITH_MEMORY_CHECK(a_watch_wakes_once_until_it_is_armed_again),
        WITH_MEMORY_CHECK(a_descriptor_not_checked_by_a_step_is_a_new_edge),
        WITH_MEMORY_CHECK(a_watch_waits_for_the_events_set_last),
        WITH_MEMORY_CHECK(another_descriptor_replaces_the_first),
        WITH_MEMORY_CHECK(a_descriptor_that_was_closed_and_reopened_is_watched),
        WITH_MEMORY_CHECK(the_end_of_a_connection_is_an_event),
        WITH_MEMORY_CHECK(a_watch_that_ended_is_not_woken),
        WITH_MEMORY_CHECK(a_file_that_cannot_be_watched_is_refused),
        WITH_MEMORY_CHECK(the_loops_descriptor_is_readable_when_a_watched_one_is),
        WITH_MEMORY_CHECK(a_thread_that_waits_for_the_loop_is_woken),
        WITH_MEMORY_CHECK(jobs_that_stay_awake_do_not_delay_descriptors),
        WITH_MEMORY_CHECK(when_out_of_memory_there_is_no_watch),
    };
    return RUN_TESTS(tests);
}
