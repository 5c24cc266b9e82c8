/* SPDX-License-Identifier: Apache-2.0 */
/* A loop has one runner at a time: its own threads, or one of the threads that step it or wait on it. Some of
 * the threads are those that support/aside.c starts with ki_thread_start(). */
#include <sched.h>
#include <stdatomic.h>

#include "support/aside.h"
#include "support/patience.h"
#include "support/require.h"
#include "support/unit.h"
#include "util/loop/loop.h"

enum { JOBS = 4, ROUNDS = 10, STEPPERS = 3, RUNS = 60, YIELDS = 5 };

typedef struct yard {
    ki_loop loop;
    ki_job jobs[JOBS];
    atomic_int inside; /* jobs that are running */
    atomic_int runs;
    atomic_bool is_over;
} yard;

static yard *the_yard; /* of the running test */

static void run(ki_job *job)
{
    yard *y = the_yard;
    require(atomic_fetch_add(&y->inside, 1) == 0);
    for (int i = 0; i < YIELDS; i++)
        sched_yield();
    y->inside--;
    if (++y->runs < RUNS)
        ki_job_wake(job);
}

static void yard_init(yard *y, int with_fd)
{
    *y = (yard){0};
    the_yard = y;
    assert_int_equal(ki_loop_init(&y->loop, &(ki_loop_options){.with_fd = with_fd}, NULL), 0);
    for (int i = 0; i < JOBS; i++) {
        assert_int_equal(ki_job_init(&y->jobs[i], &y->loop, run), 0);
        ki_job_wake(&y->jobs[i]);
    }
}

static void yard_fini(yard *y)
{
    ki_loop_stop(&y->loop);
    for (int i = 0; i < JOBS; i++)
        ki_job_fini(&y->jobs[i]);
    ki_loop_fini(&y->loop);
    assert_int_equal(failures, 0);
}

static void step_and_wait(void *user)
{
    yard *y = user;
    while (!y->is_over) {
        (void)ki_loop_step(&y->loop, 0);
        if (!ki_loop_wait(&y->loop, 1))
            aside_pause(1);
    }
}

static void let_run(yard *y)
{
    for (int ms = 0; ms < HANG_MS && y->runs < RUNS; ms++)
        aside_pause(1);
    assert_true(y->runs >= RUNS);
}

/* A thread that waits for an informer runs io until another thread starts the io thread. */
static void a_thread_that_starts_waits_until_no_step_is_running(void **state)
{
    (void)state;
    static yard y;
    for (int round = 0; round < ROUNDS; round++) {
        aside stepper = {0};
        yard_init(&y, round % 2);
        aside_start(&stepper, step_and_wait, &y);
        while (y.runs == 0)
            aside_pause(1);
        assert_int_equal(ki_loop_grow(&y.loop, "io", 1, NULL), 0);
        let_run(&y);
        y.is_over = true;
        aside_join(&stepper);
        yard_fini(&y);
    }
}

static void grow_in_job(ki_job *job)
{
    yard *y = the_yard;
    if (y->runs++ == 0)
        require(ki_loop_grow(job->loop, "io", 1, NULL) == 0);
}

/* The other jobs that are awake are left to the new thread. */
static void a_step_ends_after_the_job_in_which_the_loop_got_a_thread(void **state)
{
    (void)state;
    static yard y;
    yard_init(&y, 0);
    for (int i = 0; i < JOBS; i++)
        y.jobs[i].run = grow_in_job;
    assert_int_equal(ki_loop_step(&y.loop, 0), 1);
    for (int ms = 0; ms < HANG_MS && y.runs < JOBS; ms++)
        aside_pause(1);
    assert_int_equal(y.runs, JOBS);
    yard_fini(&y);
}

static void of_many_steppers_one_runs_the_loop(void **state)
{
    (void)state;
    static yard y;
    aside steppers[STEPPERS] = {0};
    yard_init(&y, 1);
    for (int i = 0; i < STEPPERS; i++)
        aside_start(&steppers[i], step_and_wait, &y);
    let_run(&y);
    y.is_over = true;
    for (int i = 0; i < STEPPERS; i++)
        aside_join(&steppers[i]);
    yard_fini(&y);
}

static void a_loop_with_a_thread_is_not_stepped(void **state)
{
    (void)state;
    static yard y;
    yard_init(&y, 0);
    assert_int_equal(ki_loop_grow(&y.loop, "dispatch", 1, NULL), 0);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(ki_loop_step(&y.loop, 0), 0);
        assert_false(ki_loop_wait(&y.loop, 1));
    }
    let_run(&y);
    yard_fini(&y);
}

static void wait_for_long(void *user)
{
    yard *y = user;
    require(ki_loop_wait(&y->loop, HANG_MS));
}

/* It does not matter whether the call that rouses it comes before the wait or during it. */
static void a_waiting_thread_is_roused(void **state)
{
    (void)state;
    static yard y;
    for (int with_fd = 0; with_fd < 2; with_fd++) {
        aside waiter = {0};
        yard_init(&y, with_fd);
        y.runs = RUNS; /* each job runs once more */
        (void)ki_loop_step(&y.loop, 0);
        ki_loop_rouse(&y.loop);
        aside_start(&waiter, wait_for_long, &y);
        assert_true(aside_ends_within(&waiter, AT_ONCE_MS));
        aside_join(&waiter);
        aside_start(&waiter, wait_for_long, &y);
        aside_pause(20);
        ki_loop_rouse(&y.loop);
        assert_true(aside_ends_within(&waiter, AT_ONCE_MS));
        aside_join(&waiter);
        yard_fini(&y);
    }
}

static void step_until_over(void *user)
{
    yard *y = user;
    while (!y->is_over) {
        (void)ki_loop_step(&y->loop, 0);
        sched_yield();
    }
}

static void a_loop_that_is_held_does_not_run(void **state)
{
    (void)state;
    static yard y;
    aside stepper = {0};
    yard_init(&y, 0);
    aside_start(&stepper, step_until_over, &y);
    for (int i = 0; i < ROUNDS; i++) {
        ki_loop_hold(&y.loop);
        assert_int_equal(y.inside, 0);
        int runs = y.runs;
        for (int j = 0; j < YIELDS; j++)
            sched_yield();
        assert_int_equal(y.runs, runs);
        ki_loop_release(&y.loop);
        sched_yield();
    }
    let_run(&y);
    y.is_over = true;
    aside_join(&stepper);
    yard_fini(&y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_starts_waits_until_no_step_is_running),
        cmocka_unit_test(a_step_ends_after_the_job_in_which_the_loop_got_a_thread),
        cmocka_unit_test(of_many_steppers_one_runs_the_loop),
        cmocka_unit_test(a_loop_with_a_thread_is_not_stepped),
        cmocka_unit_test(a_waiting_thread_is_roused),
        cmocka_unit_test(a_loop_that_is_held_does_not_run),
    };
    return RUN_TESTS(tests);
}
