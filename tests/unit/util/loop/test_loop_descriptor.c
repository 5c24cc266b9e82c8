/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a loop: its descriptor, and ki_loop_wait(). */
#include "util/loop/loop.h"

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "support/failing_allocator.h"
#include "support/loop_bench.h"
#include "support/unit.h"

enum { NS_PER_MS = 1000 * 1000 };

static int is_readable(const loop_bench *b, int timeout_ms)
{
    struct pollfd polled = {.fd = ki_loop_fd(&b->loop), .events = POLLIN};
    return poll(&polled, 1, timeout_ms);
}

static void the_descriptor_is_readable_while_a_job_is_awake(void **state)
{
    (void)state;
    loop_bench b;
    ki_loop_options options = {.clock = &b.clock, .with_fd = 1};
    loop_bench_init(&b, &options);
    ki_clock_init_virtual(&b.clock, LOOP_BENCH_START_NS, 0);
    assert_int_equal(is_readable(&b, 0), 0);
    loop_bench_wake(&b, "aba");
    assert_int_equal(is_readable(&b, 0), 1);
    assert_int_equal(is_readable(&b, 0), 1);
    assert_step_runs(&b, "ab");
    assert_int_equal(is_readable(&b, 0), 0);
    loop_bench_wake(&b, "b");
    assert_int_equal(is_readable(&b, 0), 1);
    ki_job_fini(loop_bench_job(&b, 'b'));
    assert_int_equal(is_readable(&b, 0), 0);
    loop_bench_fini(&b);
}

static void the_descriptor_stays_readable_if_a_step_leaves_work(void **state)
{
    (void)state;
    loop_bench b;
    ki_loop_options options = {.clock = &b.clock, .with_fd = 1};
    loop_bench_init(&b, &options);
    ki_clock_init_virtual(&b.clock, LOOP_BENCH_START_NS, 0);
    b.tasks[0].act = loop_task_advance_and_wake;
    loop_bench_wake(&b, "a");
    assert_int_equal(ki_loop_step(&b.loop, 10), 1);
    assert_int_equal(is_readable(&b, 0), 1);
    b.tasks[0].act = NULL;
    assert_step_runs(&b, "a");
    assert_int_equal(is_readable(&b, 0), 0);
    loop_bench_fini(&b);
}

/* A program that polls edge-triggered is notified once, so it must be notified again about work that a step
 * leaves. */
static void work_that_a_step_leaves_is_a_new_edge(void **state)
{
    (void)state;
    loop_bench b;
    ki_loop_options options = {.clock = &b.clock, .with_fd = 1};
    loop_bench_init(&b, &options);
    ki_clock_init_virtual(&b.clock, LOOP_BENCH_START_NS, 0);
    int outer = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    assert_int_equal(epoll_ctl(outer, EPOLL_CTL_ADD, ki_loop_fd(&b.loop), &event), 0);
    b.tasks[0].act = loop_task_advance_and_wake;
    loop_bench_wake(&b, "a");
    assert_int_equal(epoll_wait(outer, &event, 1, 0), 1);
    assert_int_equal(epoll_wait(outer, &event, 1, 0), 0);
    assert_int_equal(ki_loop_step(&b.loop, 10), 1);
    assert_int_equal(epoll_wait(outer, &event, 1, 0), 1);
    assert_int_equal(epoll_wait(outer, &event, 1, 0), 0);
    b.tasks[0].act = NULL;
    assert_step_runs(&b, "a");
    assert_int_equal(epoll_wait(outer, &event, 1, 0), 0);
    (void)close(outer);
    loop_bench_fini(&b);
}

static void the_descriptor_is_readable_when_a_timer_is_due(void **state)
{
    (void)state;
    loop_bench b;
    ki_loop_options options = {.with_fd = 1};
    loop_bench_init(&b, &options);
    uint64_t now_ns = ki_clock_now_ns(b.loop.clock);
    ki_job_wake_at(loop_bench_job(&b, 'b'), now_ns + 3600ull * 1000 * NS_PER_MS);
    assert_int_equal(is_readable(&b, 0), 0);
    ki_job_wake_at(loop_bench_job(&b, 'a'), now_ns + 5 * NS_PER_MS);
    assert_int_equal(is_readable(&b, 10 * 1000), 1);
    assert_step_runs(&b, "a");
    assert_int_equal(is_readable(&b, 0), 0);
    ki_job_wake_at(loop_bench_job(&b, 'b'), now_ns);
    assert_int_equal(is_readable(&b, 10 * 1000), 1);
    ki_job_wake_at(loop_bench_job(&b, 'b'), UINT64_MAX);
    assert_int_equal(is_readable(&b, 0), 0);
    loop_bench_fini(&b);
}

static void a_loop_has_a_descriptor_only_by_option(void **state)
{
    (void)state;
    loop_bench b;
    loop_bench_init_virtual(&b);
    assert_int_equal(ki_loop_fd(&b.loop), -1);
    loop_bench_fini(&b);
}

static void wait_returns_when_something_is_awake_or_due_or_the_time_is_up(void **state)
{
    (void)state;
    loop_bench b;
    loop_bench_init(&b, &(ki_loop_options){0});
    uint64_t begin_ns = ki_clock_now_ns(b.loop.clock);
    loop_bench_wake(&b, "a");
    ki_loop_wait(&b.loop, UINT64_MAX);
    assert_step_runs(&b, "a");
    ki_job_wake_at(loop_bench_job(&b, 'b'), begin_ns + 5 * NS_PER_MS);
    ki_loop_wait(&b.loop, UINT64_MAX);
    assert_true(ki_clock_now_ns(b.loop.clock) >= begin_ns + 5 * NS_PER_MS);
    assert_step_runs(&b, "b");
    begin_ns = ki_clock_now_ns(b.loop.clock);
    ki_loop_wait(&b.loop, 5);
    assert_true(ki_clock_now_ns(b.loop.clock) >= begin_ns + 5 * NS_PER_MS);
    assert_step_runs(&b, "");
    loop_bench_fini(&b);
}

static void wait_returns_at_once_under_a_virtual_clock(void **state)
{
    (void)state;
    loop_bench b;
    loop_bench_init_virtual(&b);
    ki_job_wake_at(loop_bench_job(&b, 'a'), LOOP_BENCH_START_NS + 10);
    ki_loop_wait(&b.loop, UINT64_MAX);
    assert_step_runs(&b, "");
    loop_bench_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(the_descriptor_is_readable_while_a_job_is_awake),
        WITH_MEMORY_CHECK(the_descriptor_stays_readable_if_a_step_leaves_work),
        WITH_MEMORY_CHECK(work_that_a_step_leaves_is_a_new_edge),
        WITH_MEMORY_CHECK(the_descriptor_is_readable_when_a_timer_is_due),
        WITH_MEMORY_CHECK(a_loop_has_a_descriptor_only_by_option),
        WITH_MEMORY_CHECK(wait_returns_when_something_is_awake_or_due_or_the_time_is_up),
        WITH_MEMORY_CHECK(wait_returns_at_once_under_a_virtual_clock),
    };
    return RUN_TESTS(tests);
}
