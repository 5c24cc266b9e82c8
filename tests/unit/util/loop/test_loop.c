/* SPDX-License-Identifier: Apache-2.0 */
#include "util/loop/loop.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "support/failing_allocator.h"
#include "support/unit.h"
#include "util/alloc.h"

enum { JOBS = 5, NS_PER_MS = 1000 * 1000, START_NS = 1000 };

typedef struct bench bench;
typedef struct task task;

/* A job with a letter, which writes down that it ran and then does what the test wants. */
struct task {
    ki_job job;
    bench *owner;
    char letter;
    void (*act)(task *self);
};

/* A loop under a virtual clock and some jobs: a, b, c, … */
struct bench {
    ki_clock clock;
    ki_loop loop;
    task tasks[JOBS];
    char ran[64]; /* the letters in the order of their runs */
    size_t ran_count;
};

static void task_run(ki_job *job)
{
    task *self = KI_CONTAINER_OF(job, task, job);
    bench *owner = self->owner;
    if (owner->ran_count < sizeof(owner->ran) - 1)
        owner->ran[owner->ran_count++] = self->letter;
    if (self->act != NULL)
        self->act(self);
}

static void bench_init(bench *b, const ki_loop_options *options)
{
    memset(b, 0, sizeof(*b));
    assert_int_equal(ki_loop_init(&b->loop, options, NULL), 0);
    for (int i = 0; i < JOBS; i++) {
        b->tasks[i].owner = b;
        b->tasks[i].letter = (char)('a' + i);
        assert_int_equal(ki_job_init(&b->tasks[i].job, &b->loop, task_run), 0);
    }
}

static void bench_init_virtual(bench *b)
{
    ki_loop_options options = {.clock = &b->clock};
    bench_init(b, &options);
    ki_clock_init_virtual(&b->clock, START_NS, 0);
}

static void bench_fini(bench *b)
{
    for (int i = 0; i < JOBS; i++)
        ki_job_fini(&b->tasks[i].job);
    ki_loop_fini(&b->loop);
}

static ki_job *job_of(bench *b, char letter)
{
    return &b->tasks[letter - 'a'].job;
}

static void wake_all(bench *b, const char *letters)
{
    for (; *letters != '\0'; letters++)
        ki_job_wake(job_of(b, *letters));
}

/* One step runs these jobs, in this order. */
static void assert_step_runs(bench *b, const char *letters)
{
    memset(b->ran, 0, sizeof(b->ran));
    b->ran_count = 0;
    assert_int_equal(ki_loop_step(&b->loop, 0), strlen(letters));
    assert_string_equal(b->ran, letters);
}

static void jobs_run_in_the_order_of_their_wakes(void **state)
{
    (void)state;
    bench b;
    bench_init_virtual(&b);
    assert_step_runs(&b, "");
    wake_all(&b, "cadb");
    assert_step_runs(&b, "cadb");
    assert_step_runs(&b, "");
    bench_fini(&b);
}

static void many_wakes_are_one_run_in_the_place_of_the_first(void **state)
{
    (void)state;
    bench b;
    bench_init_virtual(&b);
    wake_all(&b, "abaabb");
    assert_step_runs(&b, "ab");
    wake_all(&b, "bba");
    assert_step_runs(&b, "ba");
    bench_fini(&b);
}

/* The first time only. */
static void wake_self_and_c(task *self)
{
    self->act = NULL;
    wake_all(self->owner, "aac");
}

static void a_job_woken_in_its_run_runs_again_behind_the_others(void **state)
{
    (void)state;
    bench b;
    bench_init_virtual(&b);
    b.tasks[0].act = wake_self_and_c;
    wake_all(&b, "ab");
    assert_step_runs(&b, "abca");
    bench_fini(&b);
}

static void timers_wake_in_the_order_of_their_times(void **state)
{
    (void)state;
    bench b;
    bench_init_virtual(&b);
    ki_job_wake_at(job_of(&b, 'a'), START_NS + 30);
    ki_job_wake_at(job_of(&b, 'b'), START_NS + 10);
    ki_job_wake_at(job_of(&b, 'c'), START_NS + 20);
    assert_step_runs(&b, "");
    ki_clock_advance_ns(&b.clock, 9);
    assert_step_runs(&b, "");
    ki_clock_advance_ns(&b.clock, 1);
    assert_step_runs(&b, "b");
    ki_clock_advance_ns(&b.clock, 100);
    assert_step_runs(&b, "ca");
    ki_clock_advance_ns(&b.clock, 100);
    assert_step_runs(&b, "");
    bench_fini(&b);
}

static void timers_of_one_time_wake_in_the_order_they_were_set(void **state)
{
    (void)state;
    bench b;
    bench_init_virtual(&b);
    for (const char *letter = "dbeac"; *letter != '\0'; letter++)
        ki_job_wake_at(job_of(&b, *letter), START_NS + 10);
    ki_job_wake_at(job_of(&b, 'b'), START_NS + 10);
    ki_clock_advance_ns(&b.clock, 10);
    assert_step_runs(&b, "deacb");
    bench_fini(&b);
}

static void a_timer_can_be_moved_and_turned_off(void **state)
{
    (void)state;
    bench b;
    bench_init_virtual(&b);
    ki_job_wake_at(job_of(&b, 'a'), START_NS + 10);
    ki_job_wake_at(job_of(&b, 'b'), START_NS + 20);
    ki_job_wake_at(job_of(&b, 'c'), START_NS + 30);
    ki_job_wake_at(job_of(&b, 'a'), START_NS + 25);
    ki_job_wake_at(job_of(&b, 'b'), UINT64_MAX);
    ki_job_wake_at(job_of(&b, 'c'), START_NS + 5);
    ki_job_wake_at(job_of(&b, 'd'), UINT64_MAX);
    ki_clock_advance_ns(&b.clock, 20);
    assert_step_runs(&b, "c");
    ki_clock_advance_ns(&b.clock, 20);
    assert_step_runs(&b, "a");
    bench_fini(&b);
}

static void a_time_that_is_past_wakes_in_the_next_step(void **state)
{
    (void)state;
    bench b;
    bench_init_virtual(&b);
    ki_job_wake_at(job_of(&b, 'a'), 0);
    wake_all(&b, "b");
    assert_step_runs(&b, "ba");
    bench_fini(&b);
}

static void a_wake_leaves_the_timer_alone(void **state)
{
    (void)state;
    bench b;
    bench_init_virtual(&b);
    ki_job_wake_at(job_of(&b, 'a'), START_NS + 10);
    wake_all(&b, "a");
    assert_step_runs(&b, "a");
    ki_clock_advance_ns(&b.clock, 10);
    assert_step_runs(&b, "a");
    bench_fini(&b);
}

static void set_own_timer(task *self)
{
    if (ki_clock_now_ns(&self->owner->clock) < START_NS + 30)
        ki_job_wake_at(&self->job, ki_clock_now_ns(&self->owner->clock) + 10);
}

static void a_job_sets_its_timer_again_in_its_run(void **state)
{
    (void)state;
    bench b;
    bench_init_virtual(&b);
    b.tasks[0].act = set_own_timer;
    wake_all(&b, "a");
    assert_step_runs(&b, "a");
    for (uint64_t i = 1; i <= 3; i++) {
        assert_int_equal(ki_loop_next_ns(&b.loop), START_NS + 10 * i);
        ki_clock_set_now_ns(&b.clock, START_NS + 10 * i);
        assert_step_runs(&b, "a");
    }
    assert_true(ki_loop_next_ns(&b.loop) == UINT64_MAX);
    bench_fini(&b);
}

static void next_tells_when_there_is_something_to_do(void **state)
{
    (void)state;
    bench b;
    bench_init_virtual(&b);
    assert_true(ki_loop_next_ns(&b.loop) == UINT64_MAX);
    ki_job_wake_at(job_of(&b, 'a'), START_NS + 10);
    assert_int_equal(ki_loop_next_ns(&b.loop), START_NS + 10);
    ki_clock_advance_ns(&b.clock, 10);
    assert_int_equal(ki_loop_next_ns(&b.loop), 0);
    assert_step_runs(&b, "a");
    wake_all(&b, "b");
    assert_int_equal(ki_loop_next_ns(&b.loop), 0);
    bench_fini(&b);
}

static void advance_and_wake_self(task *self)
{
    ki_clock_advance_ns(&self->owner->clock, 10);
    ki_job_wake(&self->job);
}

static void a_step_ends_when_its_budget_has_passed(void **state)
{
    (void)state;
    bench b;
    bench_init_virtual(&b);
    b.tasks[0].act = advance_and_wake_self;
    wake_all(&b, "a");
    assert_int_equal(ki_loop_step(&b.loop, 25), 3);
    assert_int_equal(ki_loop_step(&b.loop, 1), 1);
    assert_int_equal(ki_loop_next_ns(&b.loop), 0);
    bench_fini(&b);
}

/* One that calls functions of the program: ten units of time each. */
static int calls_in_budget;

static void call_until_over_budget(task *self)
{
    for (calls_in_budget = 0; calls_in_budget < 100 && !ki_loop_is_over_budget(); calls_in_budget++)
        ki_clock_advance_ns(&self->owner->clock, 10);
}

static void a_job_can_tell_when_the_budget_of_its_step_has_passed(void **state)
{
    (void)state;
    bench b;
    bench_init_virtual(&b);
    b.tasks[0].act = call_until_over_budget;
    wake_all(&b, "a");
    assert_int_equal(ki_loop_step(&b.loop, 25), 1);
    assert_int_equal(calls_in_budget, 3);
    wake_all(&b, "a");
    assert_int_equal(ki_loop_step(&b.loop, 0), 1);
    assert_int_equal(calls_in_budget, 100);
    assert_false(ki_loop_is_over_budget());
    bench_fini(&b);
}

static void wake_self(task *self)
{
    ki_job_wake(&self->job);
}

static void set_a_timer_that_is_due(task *self)
{
    ki_job_wake_at(&self->job, 0);
}

/* The time of a virtual clock does not pass: no budget is ever used up. */
static void a_step_ends_where_jobs_keep_themselves_awake(void **state)
{
    (void)state;
    for (uint64_t budget_ns = 0; budget_ns <= 1; budget_ns++) {
        bench b;
        bench_init_virtual(&b);
        b.tasks[0].act = wake_self;
        b.tasks[1].act = set_a_timer_that_is_due;
        wake_all(&b, "abc");
        size_t count = ki_loop_step(&b.loop, budget_ns);
        assert_true(count > 8 && count < 10000);
        assert_int_equal(memcmp(b.ran, "abcabab", 7), 0);
        assert_int_equal(ki_loop_next_ns(&b.loop), 0);
        bench_fini(&b);
    }
}

static void an_ended_job_is_not_woken(void **state)
{
    (void)state;
    bench b;
    bench_init_virtual(&b);
    wake_all(&b, "ab");
    ki_job_wake_at(job_of(&b, 'c'), START_NS + 10);
    ki_job_fini(job_of(&b, 'a'));
    ki_job_fini(job_of(&b, 'c'));
    wake_all(&b, "ac");
    ki_job_wake_at(job_of(&b, 'c'), START_NS + 10);
    ki_clock_advance_ns(&b.clock, 10);
    assert_step_runs(&b, "b");
    bench_fini(&b);
}

static void end_and_free_self(task *self)
{
    ki_job_wake(&self->job);
    ki_job_wake_at(&self->job, 0);
    ki_job_fini(&self->job);
    assert_false(ki_job_is_current(&self->job));
    assert_true(ki_loop_is_current(&self->owner->loop));
    ki_free(self);
}

static void a_job_may_end_and_free_itself_in_its_run(void **state)
{
    (void)state;
    bench b;
    bench_init_virtual(&b);
    task *short_lived = ki_malloc(sizeof(*short_lived));
    assert_non_null(short_lived);
    *short_lived = (task){.owner = &b, .letter = 'x', .act = end_and_free_self};
    assert_int_equal(ki_job_init(&short_lived->job, &b.loop, task_run), 0);
    ki_job_wake(&short_lived->job);
    wake_all(&b, "a");
    assert_step_runs(&b, "xa");
    assert_int_equal(b.loop.job_count, JOBS);
    bench_fini(&b);
}

static void end_b(task *self)
{
    ki_job_fini(job_of(self->owner, 'b'));
}

static void a_job_may_end_another_that_is_awake(void **state)
{
    (void)state;
    bench b;
    bench_init_virtual(&b);
    b.tasks[0].act = end_b;
    wake_all(&b, "abc");
    assert_step_runs(&b, "ac");
    bench_fini(&b);
}

static void see_who_is_current(task *self)
{
    ki_loop other = {0};
    assert_true(ki_loop_is_current(NULL));
    assert_true(ki_loop_is_current(&self->owner->loop));
    assert_false(ki_loop_is_current(&other));
    assert_true(ki_job_is_current(&self->job));
    assert_false(ki_job_is_current(job_of(self->owner, 'b')));
}

static void a_loop_and_a_job_are_current_in_a_run_only(void **state)
{
    (void)state;
    bench b;
    bench_init_virtual(&b);
    b.tasks[0].act = see_who_is_current;
    wake_all(&b, "a");
    assert_false(ki_loop_is_current(NULL));
    assert_step_runs(&b, "a");
    assert_false(ki_loop_is_current(NULL));
    assert_false(ki_loop_is_current(&b.loop));
    assert_false(ki_job_is_current(job_of(&b, 'a')));
    assert_false(ki_job_is_current(NULL));
    bench_fini(&b);
}

static int is_readable(const bench *b, int timeout_ms)
{
    struct pollfd polled = {.fd = ki_loop_fd(&b->loop), .events = POLLIN};
    return poll(&polled, 1, timeout_ms);
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

static void look_whose_loop(task *self)
{
    assert_true(ki_loop_is_mine(&self->owner->loop));
    assert_false(is_mine_elsewhere(&self->owner->loop));
}

static void a_loop_belongs_to_its_one_runner(void **state)
{
    (void)state;
    bench b;
    bench_init_virtual(&b);
    assert_true(ki_loop_is_mine(&b.loop)); /* no thread steps it, and it has none of its own */
    b.tasks[0].act = look_whose_loop;
    ki_job_wake(&b.tasks[0].job);
    assert_int_equal(ki_loop_step(&b.loop, 0), 1);
    bench_fini(&b);
    bench_init(&b, &(ki_loop_options){.clock = NULL});
    assert_int_equal(ki_loop_grow(&b.loop, "io", 1, NULL), 0);
    assert_false(ki_loop_is_mine(&b.loop));
    ki_loop_stop(&b.loop);
    bench_fini(&b);
}

static void the_descriptor_is_readable_while_a_job_is_awake(void **state)
{
    (void)state;
    bench b;
    ki_loop_options options = {.clock = &b.clock, .with_fd = 1};
    bench_init(&b, &options);
    ki_clock_init_virtual(&b.clock, START_NS, 0);
    assert_int_equal(is_readable(&b, 0), 0);
    wake_all(&b, "aba");
    assert_int_equal(is_readable(&b, 0), 1);
    assert_int_equal(is_readable(&b, 0), 1);
    assert_step_runs(&b, "ab");
    assert_int_equal(is_readable(&b, 0), 0);
    wake_all(&b, "b");
    assert_int_equal(is_readable(&b, 0), 1);
    ki_job_fini(job_of(&b, 'b'));
    assert_int_equal(is_readable(&b, 0), 0);
    bench_fini(&b);
}

static void the_descriptor_stays_readable_when_a_step_leaves_something(void **state)
{
    (void)state;
    bench b;
    ki_loop_options options = {.clock = &b.clock, .with_fd = 1};
    bench_init(&b, &options);
    ki_clock_init_virtual(&b.clock, START_NS, 0);
    b.tasks[0].act = advance_and_wake_self;
    wake_all(&b, "a");
    assert_int_equal(ki_loop_step(&b.loop, 10), 1);
    assert_int_equal(is_readable(&b, 0), 1);
    b.tasks[0].act = NULL;
    assert_step_runs(&b, "a");
    assert_int_equal(is_readable(&b, 0), 0);
    bench_fini(&b);
}

/* A program that polls edge-triggered is told once of what becomes ready; so it must be told again of what a
 * step has left. */
static void work_that_a_step_leaves_is_a_new_edge(void **state)
{
    (void)state;
    bench b;
    ki_loop_options options = {.clock = &b.clock, .with_fd = 1};
    bench_init(&b, &options);
    ki_clock_init_virtual(&b.clock, START_NS, 0);
    int outer = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    assert_int_equal(epoll_ctl(outer, EPOLL_CTL_ADD, ki_loop_fd(&b.loop), &event), 0);
    b.tasks[0].act = advance_and_wake_self;
    wake_all(&b, "a");
    assert_int_equal(epoll_wait(outer, &event, 1, 0), 1);
    assert_int_equal(epoll_wait(outer, &event, 1, 0), 0);
    assert_int_equal(ki_loop_step(&b.loop, 10), 1);
    assert_int_equal(epoll_wait(outer, &event, 1, 0), 1);
    assert_int_equal(epoll_wait(outer, &event, 1, 0), 0);
    b.tasks[0].act = NULL;
    assert_step_runs(&b, "a");
    assert_int_equal(epoll_wait(outer, &event, 1, 0), 0);
    (void)close(outer);
    bench_fini(&b);
}

static void the_descriptor_is_readable_when_a_timer_is_due(void **state)
{
    (void)state;
    bench b;
    ki_loop_options options = {.with_fd = 1};
    bench_init(&b, &options);
    uint64_t now_ns = ki_clock_now_ns(b.loop.clock);
    ki_job_wake_at(job_of(&b, 'b'), now_ns + 3600ull * 1000 * NS_PER_MS);
    assert_int_equal(is_readable(&b, 0), 0);
    ki_job_wake_at(job_of(&b, 'a'), now_ns + 5 * NS_PER_MS);
    assert_int_equal(is_readable(&b, 10 * 1000), 1);
    assert_step_runs(&b, "a");
    assert_int_equal(is_readable(&b, 0), 0);
    ki_job_wake_at(job_of(&b, 'b'), now_ns);
    assert_int_equal(is_readable(&b, 10 * 1000), 1);
    ki_job_wake_at(job_of(&b, 'b'), UINT64_MAX);
    assert_int_equal(is_readable(&b, 0), 0);
    bench_fini(&b);
}

static void without_being_asked_for_there_is_no_descriptor(void **state)
{
    (void)state;
    bench b;
    bench_init_virtual(&b);
    assert_int_equal(ki_loop_fd(&b.loop), -1);
    bench_fini(&b);
}

static void wait_returns_when_something_is_awake_or_due_or_the_time_is_up(void **state)
{
    (void)state;
    bench b;
    bench_init(&b, &(ki_loop_options){0});
    uint64_t begin_ns = ki_clock_now_ns(b.loop.clock);
    wake_all(&b, "a");
    ki_loop_wait(&b.loop, UINT64_MAX);
    assert_step_runs(&b, "a");
    ki_job_wake_at(job_of(&b, 'b'), begin_ns + 5 * NS_PER_MS);
    ki_loop_wait(&b.loop, UINT64_MAX);
    assert_true(ki_clock_now_ns(b.loop.clock) >= begin_ns + 5 * NS_PER_MS);
    assert_step_runs(&b, "b");
    begin_ns = ki_clock_now_ns(b.loop.clock);
    ki_loop_wait(&b.loop, 5);
    assert_true(ki_clock_now_ns(b.loop.clock) >= begin_ns + 5 * NS_PER_MS);
    assert_step_runs(&b, "");
    bench_fini(&b);
}

static void wait_returns_at_once_under_a_virtual_clock(void **state)
{
    (void)state;
    bench b;
    bench_init_virtual(&b);
    ki_job_wake_at(job_of(&b, 'a'), START_NS + 10);
    ki_loop_wait(&b.loop, UINT64_MAX);
    assert_step_runs(&b, "");
    bench_fini(&b);
}

static void when_out_of_memory_a_job_is_not_made(void **state)
{
    (void)state;
    ki_loop loop;
    ki_job job = {.due_ns = 42};
    assert_int_equal(ki_loop_init(&loop, &(ki_loop_options){0}, NULL), 0);
    failing_allocator_fail_at(1);
    assert_int_equal(ki_job_init(&job, &loop, task_run), KI_ERR_NO_MEMORY);
    assert_int_equal(job.due_ns, 42);
    assert_int_equal(loop.job_count, 0);
    assert_int_equal(ki_job_init(&job, &loop, task_run), 0);
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
        assert_int_equal(ki_job_init(&jobs[i], &loop, task_run), 0);
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

static void what_is_zeroed_can_be_ended(void **state)
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
        WITH_MEMORY_CHECK(many_wakes_are_one_run_in_the_place_of_the_first),
        WITH_MEMORY_CHECK(a_job_woken_in_its_run_runs_again_behind_the_others),
        WITH_MEMORY_CHECK(timers_wake_in_the_order_of_their_times),
        WITH_MEMORY_CHECK(timers_of_one_time_wake_in_the_order_they_were_set),
        WITH_MEMORY_CHECK(a_timer_can_be_moved_and_turned_off),
        WITH_MEMORY_CHECK(a_time_that_is_past_wakes_in_the_next_step),
        WITH_MEMORY_CHECK(a_wake_leaves_the_timer_alone),
        WITH_MEMORY_CHECK(a_job_sets_its_timer_again_in_its_run),
        WITH_MEMORY_CHECK(next_tells_when_there_is_something_to_do),
        WITH_MEMORY_CHECK(a_step_ends_when_its_budget_has_passed),
        WITH_MEMORY_CHECK(a_job_can_tell_when_the_budget_of_its_step_has_passed),
        WITH_MEMORY_CHECK(a_step_ends_where_jobs_keep_themselves_awake),
        WITH_MEMORY_CHECK(an_ended_job_is_not_woken),
        WITH_MEMORY_CHECK(a_job_may_end_and_free_itself_in_its_run),
        WITH_MEMORY_CHECK(a_job_may_end_another_that_is_awake),
        WITH_MEMORY_CHECK(a_loop_and_a_job_are_current_in_a_run_only),
        WITH_MEMORY_CHECK(a_loop_belongs_to_its_one_runner),
        WITH_MEMORY_CHECK(the_descriptor_is_readable_while_a_job_is_awake),
        WITH_MEMORY_CHECK(the_descriptor_stays_readable_when_a_step_leaves_something),
        WITH_MEMORY_CHECK(work_that_a_step_leaves_is_a_new_edge),
        WITH_MEMORY_CHECK(the_descriptor_is_readable_when_a_timer_is_due),
        WITH_MEMORY_CHECK(without_being_asked_for_there_is_no_descriptor),
        WITH_MEMORY_CHECK(wait_returns_when_something_is_awake_or_due_or_the_time_is_up),
        WITH_MEMORY_CHECK(wait_returns_at_once_under_a_virtual_clock),
        WITH_MEMORY_CHECK(when_out_of_memory_a_job_is_not_made),
        WITH_MEMORY_CHECK(timers_of_many_jobs_need_no_memory),
        WITH_MEMORY_CHECK(when_out_of_memory_a_loop_does_not_grow),
        WITH_MEMORY_CHECK(what_is_zeroed_can_be_ended),
    };
    return RUN_TESTS(tests);
}
