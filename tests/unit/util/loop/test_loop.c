/* SPDX-License-Identifier: Apache-2.0 */
#include "util/loop/loop.h"

#include <string.h>

#include "support/failing_allocator.h"
#include "support/loop_bench.h"
#include "support/unit.h"
#include "util/alloc.h"

enum { NS_PER_MS = 1000 * 1000 };

static void jobs_run_in_the_order_of_their_wakes(void **state)
{
    (void)state;
    loop_bench b;
    loop_bench_init_virtual(&b);
    assert_step_runs(&b, "");
    loop_bench_wake(&b, "cadb");
    assert_step_runs(&b, "cadb");
    assert_step_runs(&b, "");
    loop_bench_fini(&b);
}

static void many_wakes_are_one_run_at_the_position_of_the_first(void **state)
{
    (void)state;
    loop_bench b;
    loop_bench_init_virtual(&b);
    loop_bench_wake(&b, "abaabb");
    assert_step_runs(&b, "ab");
    loop_bench_wake(&b, "bba");
    assert_step_runs(&b, "ba");
    loop_bench_fini(&b);
}

/* Only the first time. */
static void wake_self_and_c(loop_task *self)
{
    self->act = NULL;
    loop_bench_wake(self->owner, "aac");
}

static void a_job_woken_during_its_run_runs_again_after_the_others(void **state)
{
    (void)state;
    loop_bench b;
    loop_bench_init_virtual(&b);
    b.tasks[0].act = wake_self_and_c;
    loop_bench_wake(&b, "ab");
    assert_step_runs(&b, "abca");
    loop_bench_fini(&b);
}

static void timers_wake_in_the_order_of_their_times(void **state)
{
    (void)state;
    loop_bench b;
    loop_bench_init_virtual(&b);
    ki_job_wake_at(loop_bench_job(&b, 'a'), LOOP_BENCH_START_NS + 30);
    ki_job_wake_at(loop_bench_job(&b, 'b'), LOOP_BENCH_START_NS + 10);
    ki_job_wake_at(loop_bench_job(&b, 'c'), LOOP_BENCH_START_NS + 20);
    assert_step_runs(&b, "");
    ki_clock_advance_ns(&b.clock, 9);
    assert_step_runs(&b, "");
    ki_clock_advance_ns(&b.clock, 1);
    assert_step_runs(&b, "b");
    ki_clock_advance_ns(&b.clock, 100);
    assert_step_runs(&b, "ca");
    ki_clock_advance_ns(&b.clock, 100);
    assert_step_runs(&b, "");
    loop_bench_fini(&b);
}

static void timers_with_equal_times_wake_in_the_order_they_were_set(void **state)
{
    (void)state;
    loop_bench b;
    loop_bench_init_virtual(&b);
    for (const char *letter = "dbeac"; *letter != '\0'; letter++)
        ki_job_wake_at(loop_bench_job(&b, *letter), LOOP_BENCH_START_NS + 10);
    ki_job_wake_at(loop_bench_job(&b, 'b'), LOOP_BENCH_START_NS + 10);
    ki_clock_advance_ns(&b.clock, 10);
    assert_step_runs(&b, "deacb");
    loop_bench_fini(&b);
}

static void a_timer_can_be_moved_and_turned_off(void **state)
{
    (void)state;
    loop_bench b;
    loop_bench_init_virtual(&b);
    ki_job_wake_at(loop_bench_job(&b, 'a'), LOOP_BENCH_START_NS + 10);
    ki_job_wake_at(loop_bench_job(&b, 'b'), LOOP_BENCH_START_NS + 20);
    ki_job_wake_at(loop_bench_job(&b, 'c'), LOOP_BENCH_START_NS + 30);
    ki_job_wake_at(loop_bench_job(&b, 'a'), LOOP_BENCH_START_NS + 25);
    ki_job_wake_at(loop_bench_job(&b, 'b'), UINT64_MAX);
    ki_job_wake_at(loop_bench_job(&b, 'c'), LOOP_BENCH_START_NS + 5);
    ki_job_wake_at(loop_bench_job(&b, 'd'), UINT64_MAX);
    ki_clock_advance_ns(&b.clock, 20);
    assert_step_runs(&b, "c");
    ki_clock_advance_ns(&b.clock, 20);
    assert_step_runs(&b, "a");
    loop_bench_fini(&b);
}

static void a_time_in_the_past_wakes_in_the_next_step(void **state)
{
    (void)state;
    loop_bench b;
    loop_bench_init_virtual(&b);
    ki_job_wake_at(loop_bench_job(&b, 'a'), 0);
    loop_bench_wake(&b, "b");
    assert_step_runs(&b, "ba");
    loop_bench_fini(&b);
}

static void a_wake_does_not_change_the_timer(void **state)
{
    (void)state;
    loop_bench b;
    loop_bench_init_virtual(&b);
    ki_job_wake_at(loop_bench_job(&b, 'a'), LOOP_BENCH_START_NS + 10);
    loop_bench_wake(&b, "a");
    assert_step_runs(&b, "a");
    ki_clock_advance_ns(&b.clock, 10);
    assert_step_runs(&b, "a");
    loop_bench_fini(&b);
}

static void set_own_timer(loop_task *self)
{
    if (ki_clock_now_ns(&self->owner->clock) < LOOP_BENCH_START_NS + 30)
        ki_job_wake_at(&self->job, ki_clock_now_ns(&self->owner->clock) + 10);
}

static void a_job_may_set_its_timer_again_during_its_run(void **state)
{
    (void)state;
    loop_bench b;
    loop_bench_init_virtual(&b);
    b.tasks[0].act = set_own_timer;
    loop_bench_wake(&b, "a");
    assert_step_runs(&b, "a");
    for (uint64_t i = 1; i <= 3; i++) {
        assert_int_equal(ki_loop_next_ns(&b.loop), LOOP_BENCH_START_NS + 10 * i);
        ki_clock_set_now_ns(&b.clock, LOOP_BENCH_START_NS + 10 * i);
        assert_step_runs(&b, "a");
    }
    assert_true(ki_loop_next_ns(&b.loop) == UINT64_MAX);
    loop_bench_fini(&b);
}

static void next_is_the_time_of_the_next_work(void **state)
{
    (void)state;
    loop_bench b;
    loop_bench_init_virtual(&b);
    assert_true(ki_loop_next_ns(&b.loop) == UINT64_MAX);
    ki_job_wake_at(loop_bench_job(&b, 'a'), LOOP_BENCH_START_NS + 10);
    assert_int_equal(ki_loop_next_ns(&b.loop), LOOP_BENCH_START_NS + 10);
    ki_clock_advance_ns(&b.clock, 10);
    assert_int_equal(ki_loop_next_ns(&b.loop), 0);
    assert_step_runs(&b, "a");
    loop_bench_wake(&b, "b");
    assert_int_equal(ki_loop_next_ns(&b.loop), 0);
    loop_bench_fini(&b);
}

static void a_step_ends_when_its_budget_has_passed(void **state)
{
    (void)state;
    loop_bench b;
    loop_bench_init_virtual(&b);
    b.tasks[0].act = loop_task_advance_and_wake;
    loop_bench_wake(&b, "a");
    assert_int_equal(ki_loop_step(&b.loop, 25), 3);
    assert_int_equal(ki_loop_step(&b.loop, 1), 1);
    assert_int_equal(ki_loop_next_ns(&b.loop), 0);
    loop_bench_fini(&b);
}

/* How often the job has called functions of the program, which take ten nanoseconds each. */
static int calls_in_budget;

static void call_until_over_budget(loop_task *self)
{
    for (calls_in_budget = 0; calls_in_budget < 100 && !ki_loop_is_over_budget(); calls_in_budget++)
        ki_clock_advance_ns(&self->owner->clock, 10);
}

static void a_job_can_tell_when_the_budget_of_its_step_has_passed(void **state)
{
    (void)state;
    loop_bench b;
    loop_bench_init_virtual(&b);
    b.tasks[0].act = call_until_over_budget;
    loop_bench_wake(&b, "a");
    assert_int_equal(ki_loop_step(&b.loop, 25), 1);
    assert_int_equal(calls_in_budget, 3);
    loop_bench_wake(&b, "a");
    assert_int_equal(ki_loop_step(&b.loop, 0), 1);
    assert_int_equal(calls_in_budget, 100);
    assert_false(ki_loop_is_over_budget());
    loop_bench_fini(&b);
}

static void wake_self(loop_task *self)
{
    ki_job_wake(&self->job);
}

static void set_a_timer_that_is_due(loop_task *self)
{
    ki_job_wake_at(&self->job, 0);
}

/* A virtual clock does not advance by itself, so no budget is ever exhausted. */
static void a_step_ends_even_if_jobs_keep_themselves_awake(void **state)
{
    (void)state;
    for (uint64_t budget_ns = 0; budget_ns <= 1; budget_ns++) {
        loop_bench b;
        loop_bench_init_virtual(&b);
        b.tasks[0].act = wake_self;
        b.tasks[1].act = set_a_timer_that_is_due;
        loop_bench_wake(&b, "abc");
        size_t count = ki_loop_step(&b.loop, budget_ns);
        assert_true(count > 8 && count < 10000);
        assert_int_equal(memcmp(b.ran, "abcabab", 7), 0);
        assert_int_equal(ki_loop_next_ns(&b.loop), 0);
        loop_bench_fini(&b);
    }
}

static void an_ended_job_is_not_woken(void **state)
{
    (void)state;
    loop_bench b;
    loop_bench_init_virtual(&b);
    loop_bench_wake(&b, "ab");
    ki_job_wake_at(loop_bench_job(&b, 'c'), LOOP_BENCH_START_NS + 10);
    ki_job_fini(loop_bench_job(&b, 'a'));
    ki_job_fini(loop_bench_job(&b, 'c'));
    loop_bench_wake(&b, "ac");
    ki_job_wake_at(loop_bench_job(&b, 'c'), LOOP_BENCH_START_NS + 10);
    ki_clock_advance_ns(&b.clock, 10);
    assert_step_runs(&b, "b");
    loop_bench_fini(&b);
}

static void end_and_free_self(loop_task *self)
{
    ki_job_wake(&self->job);
    ki_job_wake_at(&self->job, 0);
    ki_job_fini(&self->job);
    assert_false(ki_job_is_current(&self->job));
    assert_true(ki_loop_is_current(&self->owner->loop));
    ki_free(self);
}

static void a_job_may_end_and_free_itself_during_its_run(void **state)
{
    (void)state;
    loop_bench b;
    loop_bench_init_virtual(&b);
    loop_task *short_lived = ki_malloc(sizeof(*short_lived));
    assert_non_null(short_lived);
    *short_lived = (loop_task){.owner = &b, .letter = 'x', .act = end_and_free_self};
    assert_int_equal(ki_job_init(&short_lived->job, &b.loop, loop_task_run), 0);
    ki_job_wake(&short_lived->job);
    loop_bench_wake(&b, "a");
    assert_step_runs(&b, "xa");
    assert_int_equal(b.loop.job_count, LOOP_BENCH_JOBS);
    loop_bench_fini(&b);
}

static void end_b(loop_task *self)
{
    ki_job_fini(loop_bench_job(self->owner, 'b'));
}

static void a_job_may_end_another_that_is_awake(void **state)
{
    (void)state;
    loop_bench b;
    loop_bench_init_virtual(&b);
    b.tasks[0].act = end_b;
    loop_bench_wake(&b, "abc");
    assert_step_runs(&b, "ac");
    loop_bench_fini(&b);
}

static void see_who_is_current(loop_task *self)
{
    ki_loop other = {0};
    assert_true(ki_loop_is_current(NULL));
    assert_true(ki_loop_is_current(&self->owner->loop));
    assert_false(ki_loop_is_current(&other));
    assert_true(ki_job_is_current(&self->job));
    assert_false(ki_job_is_current(loop_bench_job(self->owner, 'b')));
}

static void a_loop_and_a_job_are_current_only_during_a_run(void **state)
{
    (void)state;
    loop_bench b;
    loop_bench_init_virtual(&b);
    b.tasks[0].act = see_who_is_current;
    loop_bench_wake(&b, "a");
    assert_false(ki_loop_is_current(NULL));
    assert_step_runs(&b, "a");
    assert_false(ki_loop_is_current(NULL));
    assert_false(ki_loop_is_current(&b.loop));
    assert_false(ki_job_is_current(loop_bench_job(&b, 'a')));
    assert_false(ki_job_is_current(NULL));
    loop_bench_fini(&b);
}

typedef struct runner {
    ki_loop *loop;
    bool is_mine;
} runner;

static void ask_whose_loop(void *user)
{
    runner *r = user;
    r->is_mine = ki_loop_is_mine(r->loop);
}

static bool is_mine_elsewhere(ki_loop *loop)
{
    runner r = {.loop = loop, .is_mine = false};
    ki_thread thread;
    ki_thread_options options = {.name = "other", .run = ask_whose_loop, .user = &r};
    assert_int_equal(ki_thread_start(&thread, &options, NULL), 0);
    ki_thread_join(&thread);
    return r.is_mine;
}

static void look_whose_loop(loop_task *self)
{
    assert_true(ki_loop_is_mine(&self->owner->loop));
    assert_false(is_mine_elsewhere(&self->owner->loop));
}

static void a_loop_belongs_to_the_thread_that_runs_it(void **state)
{
    (void)state;
    loop_bench b;
    loop_bench_init_virtual(&b);
    assert_true(ki_loop_is_mine(&b.loop)); /* no thread is running a step, and the loop has no threads */
    b.tasks[0].act = look_whose_loop;
    ki_job_wake(&b.tasks[0].job);
    assert_int_equal(ki_loop_step(&b.loop, 0), 1);
    loop_bench_fini(&b);
    loop_bench_init(&b, &(ki_loop_options){.clock = NULL});
    assert_int_equal(ki_loop_grow(&b.loop, "io", 1, NULL), 0);
    assert_false(ki_loop_is_mine(&b.loop));
    ki_loop_stop(&b.loop);
    loop_bench_fini(&b);
}

static void when_out_of_memory_no_job_is_created(void **state)
{
    (void)state;
    ki_loop loop;
    ki_job job = {.due_ns = 42};
    assert_int_equal(ki_loop_init(&loop, &(ki_loop_options){0}, NULL), 0);
    failing_allocator_fail_at(1);
    assert_int_equal(ki_job_init(&job, &loop, loop_task_run), KI_ERR_NO_MEMORY);
    assert_int_equal(job.due_ns, 42);
    assert_int_equal(loop.job_count, 0);
    assert_int_equal(ki_job_init(&job, &loop, loop_task_run), 0);
    ki_job_fini(&job);
    ki_loop_fini(&loop);
}

enum { MANY = 100 };

static void timers_of_many_jobs_need_no_memory(void **state)
{
    (void)state;
    static ki_job jobs[MANY];
    ki_loop loop;
    assert_int_equal(ki_loop_init(&loop, &(ki_loop_options){0}, NULL), 0);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(ki_job_init(&jobs[i], &loop, loop_task_run), 0);
    failing_allocator_fail_at(1);
    for (int i = 0; i < MANY; i++)
        ki_job_wake_at(&jobs[i], UINT64_MAX - 1 - (uint64_t)i);
    assert_int_equal(failing_allocator_attempts(), 0);
    assert_true(ki_loop_next_ns(&loop) == UINT64_MAX - MANY);
    for (int i = 0; i < MANY; i++)
        ki_job_fini(&jobs[i]);
    ki_loop_fini(&loop);
}

static void when_out_of_memory_a_loop_does_not_grow(void **state)
{
    (void)state;
    ki_loop loop;
    ki_error err = {0};
    assert_int_equal(ki_loop_init(&loop, &(ki_loop_options){0}, NULL), 0);
    failing_allocator_fail_at(2);
    assert_int_equal(ki_loop_grow(&loop, "handler", 3, &err), KI_ERR_NO_MEMORY);
    assert_int_equal(err.code, KI_ERR_NO_MEMORY);
    assert_int_equal(loop.thread_count, 1);
    assert_int_equal(ki_loop_grow(&loop, "handler", 3, &err), 0);
    assert_int_equal(loop.thread_count, 3);
    assert_int_equal(ki_loop_grow(&loop, "handler", 2, &err), 0);
    assert_int_equal(loop.thread_count, 3);
    ki_loop_stop(&loop);
    assert_int_equal(loop.thread_count, 0);
    ki_loop_fini(&loop);
}

static void zeroed_loops_and_jobs_can_be_finished(void **state)
{
    (void)state;
    ki_loop loop = {0};
    ki_job job = {0};
    ki_job_fini(&job);
    ki_loop_stop(&loop);
    ki_loop_fini(&loop);
    assert_null(loop.clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(jobs_run_in_the_order_of_their_wakes),
        WITH_MEMORY_CHECK(many_wakes_are_one_run_at_the_position_of_the_first),
        WITH_MEMORY_CHECK(a_job_woken_during_its_run_runs_again_after_the_others),
        WITH_MEMORY_CHECK(timers_wake_in_the_order_of_their_times),
        WITH_MEMORY_CHECK(timers_with_equal_times_wake_in_the_order_they_were_set),
        WITH_MEMORY_CHECK(a_timer_can_be_moved_and_turned_off),
        WITH_MEMORY_CHECK(a_time_in_the_past_wakes_in_the_next_step),
        WITH_MEMORY_CHECK(a_wake_does_not_change_the_timer),
        WITH_MEMORY_CHECK(a_job_may_set_its_timer_again_during_its_run),
        WITH_MEMORY_CHECK(next_is_the_time_of_the_next_work),
        WITH_MEMORY_CHECK(a_step_ends_when_its_budget_has_passed),
        WITH_MEMORY_CHECK(a_job_can_tell_when_the_budget_of_its_step_has_passed),
        WITH_MEMORY_CHECK(a_step_ends_even_if_jobs_keep_themselves_awake),
        WITH_MEMORY_CHECK(an_ended_job_is_not_woken),
        WITH_MEMORY_CHECK(a_job_may_end_and_free_itself_during_its_run),
        WITH_MEMORY_CHECK(a_job_may_end_another_that_is_awake),
        WITH_MEMORY_CHECK(a_loop_and_a_job_are_current_only_during_a_run),
        WITH_MEMORY_CHECK(a_loop_belongs_to_the_thread_that_runs_it),
        WITH_MEMORY_CHECK(when_out_of_memory_no_job_is_created),
        WITH_MEMORY_CHECK(timers_of_many_jobs_need_no_memory),
        WITH_MEMORY_CHECK(when_out_of_memory_a_loop_does_not_grow),
        WITH_MEMORY_CHECK(zeroed_loops_and_jobs_can_be_finished),
    };
    return RUN_TESTS(tests);
}
