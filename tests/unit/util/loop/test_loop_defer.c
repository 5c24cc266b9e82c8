/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "support/unit.h"
#include "util/loop/loop.h"

enum { JOBS = 2 };

/* Two loops with one job each. A job writes its letter, does what the test wants, and writes '.' when it
 * returns; a deferred function writes a capital letter. */
typedef struct rig rig;

typedef struct task {
    ki_job job;
    rig *owner;
    void (*act)(rig *r);
    char letter;
} task;

struct rig {
    ki_clock clock;
    ki_loop loops[JOBS];
    task tasks[JOBS];
    ki_deferred later;
    ki_deferred other;
    char log[32];
};

static void note(rig *r, char letter)
{
    size_t n = strlen(r->log);
    assert_true(n + 1 < sizeof(r->log));
    r->log[n] = letter;
}

static void run_task(ki_job *job)
{
    task *self = KI_CONTAINER_OF(job, task, job);
    note(self->owner, self->letter);
    if (self->act != NULL)
        self->act(self->owner);
    note(self->owner, '.');
}

static void write_later(ki_deferred *deferred)
{
    rig *r = KI_CONTAINER_OF(deferred, rig, later);
    note(r, 'L');
}

static void write_other(ki_deferred *deferred)
{
    rig *r = KI_CONTAINER_OF(deferred, rig, other);
    assert_true(ki_loop_is_current(&r->loops[0]));
    note(r, 'O');
    ki_loop_defer(&r->later, write_later);
    note(r, 'o');
}

static int setup(void **state)
{
    rig *r = test_calloc(1, sizeof(*r));
    ki_clock_init_virtual(&r->clock, 1000, 0);
    for (int i = 0; i < JOBS; i++) {
        r->tasks[i].owner = r;
        r->tasks[i].letter = (char)('a' + i);
        assert_int_equal(ki_loop_init(&r->loops[i], &(ki_loop_options){.clock = &r->clock}, NULL), 0);
        assert_int_equal(ki_job_init(&r->tasks[i].job, &r->loops[i], run_task), 0);
    }
    *state = r;
    return 0;
}

static int teardown(void **state)
{
    rig *r = *state;
    for (int i = 0; i < JOBS; i++) {
        ki_job_fini(&r->tasks[i].job);
        ki_loop_fini(&r->loops[i]);
    }
    test_free(r);
    return 0;
}

static void run_first(rig *r, void (*act)(rig *r))
{
    r->tasks[0].act = act;
    ki_job_wake(&r->tasks[0].job);
    assert_int_equal(ki_loop_step(&r->loops[0], 0), 1);
}

static void defer_twice(rig *r)
{
    ki_loop_defer(&r->later, write_later);
    ki_loop_defer(&r->later, write_later);
}

static void a_deferred_function_runs_once_after_the_job_has_returned(void **state)
{
    rig *r = *state;
    run_first(r, defer_twice);
    assert_string_equal(r->log, "a.L");
    run_first(r, defer_twice);
    assert_string_equal(r->log, "a.La.L");
}

static void outside_jobs_a_deferred_function_runs_at_once(void **state)
{
    rig *r = *state;
    defer_twice(r);
    assert_string_equal(r->log, "LL");
}

static void defer_other(rig *r)
{
    ki_loop_defer(&r->other, write_other);
}

static void a_deferred_function_may_defer_more_and_still_belongs_to_the_job(void **state)
{
    rig *r = *state;
    run_first(r, defer_other);
    assert_string_equal(r->log, "a.OoL");
}

static void step_second(rig *r)
{
    defer_other(r);
    r->tasks[1].act = defer_twice;
    ki_job_wake(&r->tasks[1].job);
    assert_int_equal(ki_loop_step(&r->loops[1], 0), 1);
}

static void a_nested_run_of_another_loop_has_its_own_deferred_functions(void **state)
{
    rig *r = *state;
    run_first(r, step_second);
    assert_string_equal(r->log, "ab.L.OoL");
}

static void defer_and_end(rig *r)
{
    defer_twice(r);
    ki_job_fini(&r->tasks[0].job);
}

static void a_deferred_function_runs_even_if_the_job_ends_itself(void **state)
{
    rig *r = *state;
    run_first(r, defer_and_end);
    assert_string_equal(r->log, "a.L");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_deferred_function_runs_once_after_the_job_has_returned, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(outside_jobs_a_deferred_function_runs_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(a_deferred_function_may_defer_more_and_still_belongs_to_the_job,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_nested_run_of_another_loop_has_its_own_deferred_functions, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_deferred_function_runs_even_if_the_job_ends_itself, setup,
                                        teardown),
    };
    return RUN_TESTS(tests);
}
