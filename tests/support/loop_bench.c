/* SPDX-License-Identifier: Apache-2.0 */
#include "support/loop_bench.h"

#include <string.h>

#include "support/unit.h"

void loop_task_run(ki_job *job)
{
    loop_task *self = KI_CONTAINER_OF(job, loop_task, job);
    loop_bench *owner = self->owner;
    if (owner->ran_count < sizeof(owner->ran) - 1)
        owner->ran[owner->ran_count++] = self->letter;
    if (self->act != NULL)
        self->act(self);
}

void loop_bench_init(loop_bench *b, const ki_loop_options *options)
{
    memset(b, 0, sizeof(*b));
    assert_int_equal(ki_loop_init(&b->loop, options, NULL), 0);
    for (int i = 0; i < LOOP_BENCH_JOBS; i++) {
        b->tasks[i].owner = b;
        b->tasks[i].letter = (char)('a' + i);
        assert_int_equal(ki_job_init(&b->tasks[i].job, &b->loop, loop_task_run), 0);
    }
}

void loop_bench_init_virtual(loop_bench *b)
{
    ki_loop_options options = {.clock = &b->clock};
    loop_bench_init(b, &options);
    ki_clock_init_virtual(&b->clock, LOOP_BENCH_START_NS, 0);
}

void loop_bench_fini(loop_bench *b)
{
    for (int i = 0; i < LOOP_BENCH_JOBS; i++)
        ki_job_fini(&b->tasks[i].job);
    ki_loop_fini(&b->loop);
}

ki_job *loop_bench_job(loop_bench *b, char letter)
{
    return &b->tasks[letter - 'a'].job;
}

void loop_bench_wake(loop_bench *b, const char *letters)
{
    for (; *letters != '\0'; letters++)
        ki_job_wake(loop_bench_job(b, *letters));
}

void assert_step_runs(loop_bench *b, const char *letters)
{
    memset(b->ran, 0, sizeof(b->ran));
    b->ran_count = 0;
    assert_int_equal(ki_loop_step(&b->loop, 0), strlen(letters));
    assert_string_equal(b->ran, letters);
}

void loop_task_advance_and_wake(loop_task *self)
{
    ki_clock_advance_ns(&self->owner->clock, 10);
    ki_job_wake(&self->job);
}
