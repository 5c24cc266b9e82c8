/* SPDX-License-Identifier: Apache-2.0 */
/* loop_bench - a loop and jobs that record when they run. */
#ifndef KI_TESTS_SUPPORT_LOOP_BENCH_H
#define KI_TESTS_SUPPORT_LOOP_BENCH_H

#include "util/loop/loop.h"

enum { LOOP_BENCH_JOBS = 5, LOOP_BENCH_START_NS = 1000 };

typedef struct loop_bench loop_bench;
typedef struct loop_task loop_task;

/* A job with a letter. It records that it ran, and then calls a function of the test. */
struct loop_task {
    ki_job job;
    loop_bench *owner;
    char letter;
    void (*act)(loop_task *self);
};

/* A loop under a virtual clock and some jobs: a, b, c, … */
struct loop_bench {
    ki_clock clock;
    ki_loop loop;
    loop_task tasks[LOOP_BENCH_JOBS];
    char ran[64]; /* the letters, in the order of the runs */
    size_t ran_count;
};

void loop_bench_init(loop_bench *b, const ki_loop_options *options);
void loop_bench_init_virtual(loop_bench *b);
void loop_bench_fini(loop_bench *b);

ki_job *loop_bench_job(loop_bench *b, char letter);
/* Wakes the jobs with these letters, in this order. */
void loop_bench_wake(loop_bench *b, const char *letters);
/* One step runs these jobs, in this order. */
void assert_step_runs(loop_bench *b, const char *letters);

/* The function of each job. */
void loop_task_run(ki_job *job);
/* For `act`: advances the clock by 10 ns in each run, and wakes the job again. */
void loop_task_advance_and_wake(loop_task *self);

#endif
