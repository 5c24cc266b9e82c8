/* SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/failing_allocator.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/loop/fd_watch.h"

enum { PAIRS = 8, BYTES = 2000, ROUNDS = 30 };

/* Bytes that arrive at `near` are counted; the writers write to `far`. */
typedef struct line {
    ki_fd_watch watch;
    ki_thread writer;
    int near;
    int far;
    _Atomic size_t seen;
} line;

typedef struct yard {
    ki_loop loop;
    ki_job job; /* other threads wake it and set its timer meanwhile */
    _Atomic size_t runs;
    line lines[PAIRS];
} yard;

static void read_some(ki_job *job)
{
    line *l = KI_CONTAINER_OF(job, line, watch.job);
    char bytes[64];
    (void)ki_fd_watch_take(&l->watch);
    ssize_t n = read(l->near, bytes, sizeof(bytes));
    if (n > 0)
        atomic_fetch_add(&l->seen, (size_t)n);
    (void)!ki_fd_watch_set(&l->watch, l->near, EPOLLIN);
}

static void count_run(ki_job *job)
{
    atomic_fetch_add(&KI_CONTAINER_OF(job, yard, job)->runs, 1);
}

static void write_all(void *user)
{
    line *l = user;
    for (int i = 0; i < BYTES; i++)
        if (write(l->far, "x", 1) != 1)
            return;
}

static void yard_init(yard *y)
{
    assert_int_equal(ki_loop_init(&y->loop, &(ki_loop_options){.with_fd = 1}, NULL), 0);
    assert_int_equal(ki_job_init(&y->job, &y->loop, count_run), 0);
    atomic_store(&y->runs, 0);
    for (int i = 0; i < PAIRS; i++) {
        int pair[2];
        line *l = &y->lines[i];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
        l->near = pair[0];
        l->far = pair[1];
        atomic_store(&l->seen, 0);
        assert_int_equal(ki_fd_watch_init(&l->watch, &y->loop, read_some), 0);
        assert_int_equal(ki_fd_watch_set(&l->watch, l->near, EPOLLIN), 0);
    }
}

static void yard_fini(yard *y)
{
    ki_job_fini(&y->job);
    for (int i = 0; i < PAIRS; i++) {
        ki_fd_watch_fini(&y->lines[i].watch);
        assert_int_equal(close(y->lines[i].near), 0);
        assert_int_equal(close(y->lines[i].far), 0);
    }
    ki_loop_fini(&y->loop);
}

static void start_writers(yard *y)
{
    for (int i = 0; i < PAIRS; i++) {
        ki_thread_options options = {.name = "writer", .run = write_all, .user = &y->lines[i]};
        assert_int_equal(ki_thread_start(&y->lines[i].writer, &options, NULL), 0);
    }
}

static void join_writers(yard *y)
{
    for (int i = 0; i < PAIRS; i++)
        ki_thread_join(&y->lines[i].writer);
}

static int has_seen_all(const yard *y)
{
    for (int i = 0; i < PAIRS; i++)
        if (atomic_load(&y->lines[i].seen) != BYTES)
            return 0;
    return 1;
}

static void wait_for(const yard *y, int (*is_met)(const yard *y))
{
    uint64_t deadline_ms = ki_clock_now_ms(ki_clock_real()) + HANG_MS;
    while (!is_met(y)) {
        assert_true(ki_clock_now_ms(ki_clock_real()) < deadline_ms);
        sched_yield();
    }
}

static void a_thread_misses_no_byte(void **state)
{
    (void)state;
    static yard y;
    yard_init(&y);
    assert_int_equal(ki_loop_grow(&y.loop, "io", 1, NULL), 0);
    start_writers(&y);
    for (int i = 0; i < BYTES; i++)
        ki_job_wake(&y.job);
    join_writers(&y);
    wait_for(&y, has_seen_all);
    ki_loop_stop(&y.loop);
    assert_true(atomic_load(&y.runs) > 0);
    yard_fini(&y);
}

static void a_loop_stops_and_continues_while_bytes_come(void **state)
{
    (void)state;
    static yard y;
    yard_init(&y);
    start_writers(&y);
    for (int i = 0; i < ROUNDS; i++) {
        assert_int_equal(ki_loop_grow(&y.loop, "io", 1, NULL), 0);
        sched_yield();
        ki_loop_stop(&y.loop);
    }
    assert_int_equal(ki_loop_grow(&y.loop, "io", 1, NULL), 0);
    join_writers(&y);
    wait_for(&y, has_seen_all);
    ki_loop_stop(&y.loop);
    yard_fini(&y);
}

static int has_run(const yard *y)
{
    return atomic_load(&y->runs) > 0;
}

static void a_timer_set_from_outside_wakes_the_thread(void **state)
{
    (void)state;
    static yard y;
    yard_init(&y);
    assert_int_equal(ki_loop_grow(&y.loop, "io", 1, NULL), 0);
    ki_job_wake_at(&y.job, ki_clock_now_ns(ki_clock_real()) + 1000 * 1000);
    wait_for(&y, has_run);
    ki_loop_stop(&y.loop);
    yard_fini(&y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_thread_misses_no_byte),
        WITH_MEMORY_CHECK(a_loop_stops_and_continues_while_bytes_come),
        WITH_MEMORY_CHECK(a_timer_set_from_outside_wakes_the_thread),
    };
    return RUN_TESTS(tests);
}
