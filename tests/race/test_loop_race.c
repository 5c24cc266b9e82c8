/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that are woken, run and ended by several threads at once. Run under ThreadSanitizer. */
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/alloc.h"
#include "util/loop/loop.h"
#include "util/random.h"

enum { JOBS = 20, WAKERS = 3, WAKES = 3000, NS_PER_MS = 1000 * 1000 };

/* A job that counts how much of the work given to it it has seen. */
typedef struct counter {
    ki_job job;
    atomic_int is_inside;
    atomic_int given;
    atomic_int seen;
    atomic_int *has_failed; /* set instead of asserting: only the test's main thread may assert */
    char padding[64];
} counter;

typedef struct yard {
    ki_loop loop;
    counter counters[JOBS];
    atomic_int has_failed;
    atomic_int has_ended;
    _Atomic uint64_t last_seed;
} yard;

static void count_given(ki_job *job)
{
    counter *self = KI_CONTAINER_OF(job, counter, job);
    if (atomic_exchange(&self->is_inside, 1) || !ki_job_is_current(job) || !ki_loop_is_current(job->loop))
        atomic_store(self->has_failed, 1);
    int given = atomic_load(&self->given);
    if (given % 7 == 0)
        sched_yield();
    atomic_store(&self->seen, given);
    atomic_store(&self->is_inside, 0);
}

static void yard_init(yard *y, int with_fd)
{
    memset(y, 0, sizeof(*y));
    assert_int_equal(ki_loop_init(&y->loop, &(ki_loop_options){.with_fd = with_fd}, NULL), 0);
    for (int i = 0; i < JOBS; i++) {
        y->counters[i].has_failed = &y->has_failed;
        assert_int_equal(ki_job_init(&y->counters[i].job, &y->loop, count_given), 0);
    }
}

static void yard_fini(yard *y)
{
    for (int i = 0; i < JOBS; i++)
        ki_job_fini(&y->counters[i].job);
    ki_loop_stop(&y->loop);
    ki_loop_fini(&y->loop);
    assert_int_equal(y->has_failed, 0);
}

static void give_at_random(void *user)
{
    yard *y = user;
    ki_random random;
    ki_random_init(&random, atomic_fetch_add(&y->last_seed, 1));
    for (int i = 0; i < WAKES; i++) {
        counter *chosen = &y->counters[ki_random_below(&random, JOBS)];
        atomic_fetch_add(&chosen->given, 1);
        ki_job_wake(&chosen->job);
        if (i % 64 == 0)
            sched_yield();
    }
}

static void start(ki_thread *thread, ki_thread_cb run, void *user)
{
    ki_thread_options options = {.name = "waker", .run = run, .user = user};
    assert_int_equal(ki_thread_start(thread, &options, NULL), 0);
}

static int has_seen_all(const yard *y)
{
    for (int i = 0; i < JOBS; i++)
        if (atomic_load(&y->counters[i].seen) != atomic_load(&y->counters[i].given))
            return 0;
    return 1;
}

static void yield_before(uint64_t deadline_ms)
{
    if (ki_clock_now_ms(ki_clock_real()) > deadline_ms)
        fail_msg("a job that was woken does not run");
    sched_yield();
}

static uint64_t hang_deadline_ms(void)
{
    return ki_clock_now_ms(ki_clock_real()) + HANG_MS;
}

static void wait_until_all_is_seen(const yard *y)
{
    uint64_t deadline_ms = hang_deadline_ms();
    while (!has_seen_all(y))
        yield_before(deadline_ms);
}

static void no_wake_is_lost_and_no_job_overlaps_itself(void **state)
{
    (void)state;
    static yard y;
    for (size_t threads = 1; threads <= 4; threads++) {
        ki_thread wakers[WAKERS];
        yard_init(&y, 0);
        assert_int_equal(ki_loop_grow(&y.loop, "handler", threads, NULL), 0);
        for (int i = 0; i < WAKERS; i++)
            start(&wakers[i], give_at_random, &y);
        for (int i = 0; i < WAKERS; i++)
            ki_thread_join(&wakers[i]);
        wait_until_all_is_seen(&y);
        yard_fini(&y);
    }
}

static void a_loop_grows_and_stops_while_jobs_are_woken(void **state)
{
    (void)state;
    static yard y;
    ki_thread wakers[WAKERS];
    yard_init(&y, 0);
    for (int i = 0; i < WAKERS; i++)
        start(&wakers[i], give_at_random, &y);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(ki_loop_grow(&y.loop, "handler", 1 + i % 4, NULL), 0);
        if (i % 3 == 0)
            sched_yield();
        ki_loop_stop(&y.loop);
    }
    for (int i = 0; i < WAKERS; i++)
        ki_thread_join(&wakers[i]);
    assert_int_equal(ki_loop_grow(&y.loop, "handler", 2, NULL), 0);
    wait_until_all_is_seen(&y);
    yard_fini(&y);
}

static void grow_and_yield(void *user)
{
    yard *y = user;
    while (!atomic_load(&y->has_ended)) {
        if (ki_loop_grow(&y->loop, "handler", 3, NULL) != 0)
            atomic_store(&y->has_failed, 1);
        sched_yield();
    }
}

/* The thread that ends may have been waiting for the timer while a new thread relied on it. */
static void a_loop_grows_while_it_is_stopped(void **state)
{
    (void)state;
    static yard y;
    ki_thread grower;
    yard_init(&y, 0);
    start(&grower, grow_and_yield, &y);
    for (int i = 0; i < 300; i++) {
        atomic_fetch_add(&y.counters[i % JOBS].given, 1);
        ki_job_wake_at(&y.counters[i % JOBS].job, ki_clock_now_ns(y.loop.clock) + NS_PER_MS);
        if (i % 2 == 0)
            sched_yield();
        ki_loop_stop(&y.loop);
        wait_until_all_is_seen(&y);
    }
    atomic_store(&y.has_ended, 1);
    ki_thread_join(&grower);
    yard_fini(&y);
}

static void end_waking(void *user)
{
    give_at_random(user);
    atomic_store(&((yard *)user)->has_ended, 1);
    ki_job_wake(&((yard *)user)->counters[0].job);
}

static void a_thread_that_polls_the_descriptor_misses_no_work(void **state)
{
    (void)state;
    static yard y;
    ki_thread waker;
    yard_init(&y, 1);
    start(&waker, end_waking, &y);
    struct pollfd polled = {.fd = ki_loop_fd(&y.loop), .events = POLLIN};
    while (!atomic_load(&y.has_ended)) {
        assert_int_equal(poll(&polled, 1, HANG_MS), 1);
        (void)ki_loop_step(&y.loop, 0);
    }
    ki_thread_join(&waker);
    (void)ki_loop_step(&y.loop, 0);
    assert_true(has_seen_all(&y));
    assert_int_equal(poll(&polled, 1, 0), 0);
    yard_fini(&y);
}

static void a_thread_that_waits_and_steps_misses_no_work(void **state)
{
    (void)state;
    static yard y;
    ki_thread waker;
    yard_init(&y, 0);
    start(&waker, end_waking, &y);
    while (!atomic_load(&y.has_ended)) {
        ki_loop_wait(&y.loop, UINT64_MAX);
        (void)ki_loop_step(&y.loop, 50 * 1000);
    }
    ki_thread_join(&waker);
    (void)ki_loop_step(&y.loop, 0);
    assert_true(has_seen_all(&y));
    yard_fini(&y);
}

/* Wakes itself in each run. */
static void run_for_ever(ki_job *job)
{
    counter *self = KI_CONTAINER_OF(job, counter, job);
    if (atomic_exchange(&self->is_inside, 1))
        atomic_store(self->has_failed, 1);
    ki_job_wake(job);
    ki_job_wake_at(job, 1);
    atomic_fetch_add(&self->seen, 1);
    sched_yield();
    atomic_store(&self->is_inside, 0);
}

/* The memory is freed at once, so sanitizers detect a loop that still uses it. */
static void fini_waits_for_the_run_and_nothing_runs_afterwards(void **state)
{
    (void)state;
    static yard y;
    yard_init(&y, 0);
    assert_int_equal(ki_loop_grow(&y.loop, "handler", 3, NULL), 0);
    for (int i = 0; i < 300; i++) {
        counter *ended = ki_calloc(1, sizeof(*ended));
        assert_non_null(ended);
        ended->has_failed = &y.has_failed;
        assert_int_equal(ki_job_init(&ended->job, &y.loop, run_for_ever), 0);
        ki_job_wake(&ended->job);
        uint64_t deadline_ms = hang_deadline_ms();
        while (i % 2 == 0 && atomic_load(&ended->seen) < 3)
            yield_before(deadline_ms);
        ki_job_fini(&ended->job);
        assert_int_equal(atomic_load(&ended->is_inside), 0);
        ki_free(ended);
    }
    yard_fini(&y);
}

typedef struct short_lived {
    ki_job job;
    atomic_int *ended_count;
} short_lived;

static void end_self(ki_job *job)
{
    short_lived *self = KI_CONTAINER_OF(job, short_lived, job);
    atomic_int *ended_count = self->ended_count;
    ki_job_wake(job);
    ki_job_fini(job);
    ki_free(self);
    atomic_fetch_add(ended_count, 1);
}

static void jobs_end_and_free_themselves_on_the_threads(void **state)
{
    (void)state;
    static yard y;
    atomic_int ended_count = 0;
    yard_init(&y, 0);
    assert_int_equal(ki_loop_grow(&y.loop, "handler", 3, NULL), 0);
    for (int i = 0; i < 500; i++) {
        short_lived *made = ki_calloc(1, sizeof(*made));
        assert_non_null(made);
        made->ended_count = &ended_count;
        assert_int_equal(ki_job_init(&made->job, &y.loop, end_self), 0);
        ki_job_wake(&made->job);
    }
    uint64_t deadline_ms = hang_deadline_ms();
    while (atomic_load(&ended_count) < 500)
        yield_before(deadline_ms);
    yard_fini(&y);
}

/* Two jobs that meet: the blocker stays in its run until the other one, woken by a timer, has run. */
typedef struct meeting {
    ki_job blocker;
    ki_job timed;
    atomic_int rounds_begun;
    atomic_int rounds_met;
} meeting;

static void run_timed(ki_job *job)
{
    meeting *m = KI_CONTAINER_OF(job, meeting, timed);
    atomic_store(&m->rounds_met, atomic_load(&m->rounds_begun));
}

static void run_blocker(ki_job *job)
{
    meeting *m = KI_CONTAINER_OF(job, meeting, blocker);
    while (atomic_load(&m->rounds_met) != atomic_load(&m->rounds_begun))
        sched_yield();
}

/* The thread that was waiting for the timer may be the one that runs the blocker. */
static void a_timer_is_waited_for_while_a_job_blocks_a_thread(void **state)
{
    (void)state;
    ki_loop loop;
    meeting m = {.rounds_begun = 0};
    assert_int_equal(ki_loop_init(&loop, &(ki_loop_options){0}, NULL), 0);
    assert_int_equal(ki_job_init(&m.blocker, &loop, run_blocker), 0);
    assert_int_equal(ki_job_init(&m.timed, &loop, run_timed), 0);
    assert_int_equal(ki_loop_grow(&loop, "handler", 2, NULL), 0);
    for (int round = 1; round <= 200; round++) {
        atomic_store(&m.rounds_begun, round);
        ki_job_wake_at(&m.timed, ki_clock_now_ns(loop.clock) + NS_PER_MS);
        if (round % 2 == 0)
            sched_yield();
        ki_job_wake(&m.blocker);
        uint64_t deadline_ms = hang_deadline_ms();
        while (atomic_load(&m.rounds_met) != round)
            yield_before(deadline_ms);
    }
    ki_job_fini(&m.timed);
    ki_job_fini(&m.blocker);
    ki_loop_stop(&loop);
    ki_loop_fini(&loop);
}

static void an_earlier_timer_is_seen_by_threads_that_wait_for_a_later_one(void **state)
{
    (void)state;
    static yard y;
    yard_init(&y, 0);
    assert_int_equal(ki_loop_grow(&y.loop, "handler", 3, NULL), 0);
    uint64_t begin_ms = ki_clock_now_ms(y.loop.clock);
    for (int i = 0; i < 100; i++) {
        uint64_t now_ns = ki_clock_now_ns(y.loop.clock);
        ki_job_wake_at(&y.counters[0].job, now_ns + 3600ull * 1000 * NS_PER_MS);
        atomic_fetch_add(&y.counters[1].given, 1);
        ki_job_wake_at(&y.counters[1].job, now_ns + NS_PER_MS / 2);
        wait_until_all_is_seen(&y);
    }
    /* A timer that was missed would run when a thread looks at the clock again, after 10 s. */
    assert_in_range(ki_clock_now_ms(y.loop.clock) - begin_ms, 0, 9000);
    yard_fini(&y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(no_wake_is_lost_and_no_job_overlaps_itself),
        WITH_MEMORY_CHECK(a_loop_grows_and_stops_while_jobs_are_woken),
        WITH_MEMORY_CHECK(a_loop_grows_while_it_is_stopped),
        WITH_MEMORY_CHECK(a_thread_that_polls_the_descriptor_misses_no_work),
        WITH_MEMORY_CHECK(a_thread_that_waits_and_steps_misses_no_work),
        WITH_MEMORY_CHECK(fini_waits_for_the_run_and_nothing_runs_afterwards),
        WITH_MEMORY_CHECK(jobs_end_and_free_themselves_on_the_threads),
        WITH_MEMORY_CHECK(a_timer_is_waited_for_while_a_job_blocks_a_thread),
        WITH_MEMORY_CHECK(an_earlier_timer_is_seen_by_threads_that_wait_for_a_later_one),
    };
    return RUN_TESTS(tests);
}
