/* SPDX-License-Identifier: Apache-2.0 */
/* loop - runs jobs when they are woken or their timers fall due, on its own threads or on one that steps it.
 *
 *   From:     client/client.c creates them: io, dispatch and handler are loops
 *   To:       the jobs: reflectors, applying changes, calling handlers
 *   Locks:    one mutex, a leaf; no job runs while it is held.
 *   Not here: what the jobs do; descriptors other than its own (util/loop/fd_watch.h).
 *
 * A job is something that may have work. Any thread that gives it work wakes it. The loop runs it once for
 * any number of wakes, in the order in which jobs were woken, and never on two threads at once. A job that is
 * woken while it runs is run again, after those that are awake when its run ends. Time is taken from the
 * clock, so a loop that is stepped under a virtual clock is deterministic.
 *
 * A loop has one runner: its own threads, or the thread that steps it or waits on it, one at a time. In a
 * forked child it has none.
 */
#ifndef KI_UTIL_LOOP_LOOP_H
#define KI_UTIL_LOOP_LOOP_H

#include <assert.h>
#include <stdbool.h>

#include "util/annotations.h"
#include "util/clock.h"
#include "util/heap.h"
#include "util/list.h"
#include "util/log.h"
#include "util/loop/wake_fd.h"
#include "util/thread.h"

typedef struct ki_loop ki_loop;
typedef struct ki_job ki_job;

typedef void (*ki_job_cb)(ki_job *job);

/* Something to do when the current job has ended: see ki_loop_defer(). Embedded in its user; zeroed, it does
 * not wait. */
typedef struct ki_deferred ki_deferred;

typedef void (*ki_deferred_cb)(ki_deferred *deferred);

struct ki_deferred {
    ki_list_node node;
    ki_deferred_cb run;
};

/* Embedded in its user. */
struct ki_job {
    ki_loop *loop; /* constant, like the next */
    ki_job_cb run;
    ki_list_node node; /* guarded by the loop's mu, like all below */
    ki_heap_node timer;
    uint64_t due_ns;
    uint64_t order; /* among timers that fall due together */
    int is_running;
    int is_awake; /* to be run (again) */
    int is_ended; /* must not be woken any more */
};

typedef struct ki_loop_options {
    const ki_clock *clock;  /* NULL: the real one */
    int with_fd;            /* has ki_loop_fd() to poll, and can watch descriptors; at most one thread */
    const ki_log_sink *log; /* for messages of its jobs; NULL is that of the process */
} ki_loop_options;

/* Must not be moved. */
struct ki_loop {
    const ki_clock *clock; /* constant, like the next */
    unsigned generation;   /* of the process that created it: see util/fork.h */
    const ki_log_sink *log;
    ki_mutex mu;
    ki_cond work;       /* for threads that wait for work */
    ki_cond run_ended;  /* for threads that wait in ki_job_fini() */
    ki_wake_fd wake_fd; /* guarded by mu, like all below */
    ki_list queue;      /* jobs that are awake and not running */
    ki_heap timers;     /* with space reserved for each job */
    size_t job_count;
    uint64_t last_order;
    ki_list threads;
    size_t thread_count;
    size_t stopping_count; /* threads that were told to end and have not ended yet */
    int is_entered;        /* a thread that is not one of its own runs it, or waits to */
    int is_roused;         /* that thread has to return from ki_loop_wait() */
    int has_timer_thread;  /* one of the waiting threads waits only until the first timer */
    size_t armed_count;    /* of ki_fd_watch */
    int may_have_strays;   /* a watch may be stuck in the epoll: its events must be fetched */
    int is_attended;       /* a thread runs jobs, and will look at the queue before the descriptor matters */
    unsigned runs;         /* since descriptors were polled */
    uint64_t until_ns;     /* of the step in progress; UINT64_MAX: no limit */
};

/* Returns 0 or KI_ERR_SYSTEM. */
KI_NODISCARD int ki_loop_init(ki_loop *loop, const ki_loop_options *options, ki_error *err);

/* Its threads were stopped and its jobs ended before. A zeroed struct is allowed. */
void ki_loop_fini(ki_loop *loop);

/* Starts threads until there are `count`; never under a virtual clock, on which no thread can wait.
 * Returns 0, or KI_ERR_SYSTEM or KI_ERR_NO_MEMORY with fewer threads. */
KI_NODISCARD int ki_loop_grow(ki_loop *loop, const char *name, size_t count, ki_error *err)
    KI_EXCLUDES(loop->mu);

/* Ends the threads, each after its current job, and waits for them. Must not be called from one of them,
 * nor concurrently. Jobs that are awake stay awake. The loop can grow again. A zeroed struct is allowed. */
void ki_loop_stop(ki_loop *loop) KI_EXCLUDES(loop->mu);

/* Runs jobs that are awake or due on the calling thread, until none is left, the loop gets threads, or
 * `budget_ns` have passed (0: no limit). Jobs woken meanwhile run too; but if jobs keep themselves awake,
 * or set timers that are due at once, the rest is left for the next step. Does nothing if the loop has
 * another runner. Returns the number of jobs run. */
size_t ki_loop_step(ki_loop *loop, uint64_t budget_ns) KI_EXCLUDES(loop->mu);

/* Whether the step that runs the calling job has used up its budget. A job that calls several functions of
 * the program asks after each; if so, it wakes itself and returns. */
bool ki_loop_is_over_budget(void);

/* When ki_loop_step() has work: 0: at once; UINT64_MAX: not before a wake; else a time of the clock. */
uint64_t ki_loop_next_ns(ki_loop *loop) KI_EXCLUDES(loop->mu);

/* Readable when ki_loop_step() has work; -1 without `with_fd`. Timers under a virtual clock do not count. A
 * step that leaves work makes it readable again, for programs that poll it edge-triggered. */
int ki_loop_fd(const ki_loop *loop);

/* Waits until ki_loop_step() has work, ki_loop_rouse() is called, or the loop gets threads; at most
 * `timeout_ms`. Returns false at once if the loop has another runner, or a virtual clock, which no thread
 * would move meanwhile. */
bool ki_loop_wait(ki_loop *loop, uint64_t timeout_ms) KI_EXCLUDES(loop->mu);

/* Ends a ki_loop_wait(): the current one, or the next if no step comes in between. */
void ki_loop_rouse(ki_loop *loop) KI_EXCLUDES(loop->mu);

/* Waits for the current runner, then keeps all threads from running the loop until ki_loop_release(). Its
 * own threads were stopped before. */
void ki_loop_hold(ki_loop *loop) KI_EXCLUDES(loop->mu);
void ki_loop_release(ki_loop *loop) KI_EXCLUDES(loop->mu);

bool ki_loop_has_threads(ki_loop *loop) KI_EXCLUDES(loop->mu);

/* Closes the descriptor. The loop has no threads and watches no descriptors. In a child this closes the
 * child's copies; the parent is not affected. */
void ki_loop_close_fd(ki_loop *loop) KI_EXCLUDES(loop->mu);

/* Whether the calling thread is in a job of this loop; of any loop if NULL. */
int ki_loop_is_current(const ki_loop *loop);

/* Calls `run` on this thread when the job that it runs returns, once for any number of calls; at once if the
 * thread is in no job. It is still the job's run for ki_loop_is_current(). The user lives until then. */
void ki_loop_defer(ki_deferred *deferred, ki_deferred_cb run);

/* For assertions: whether the calling thread is the loop's runner. It is if it runs one of its jobs, or if
 * the loop has no threads and no other thread steps it now; the latter check takes the loop's mutex. */
bool ki_loop_is_mine(ki_loop *loop) KI_EXCLUDES(loop->mu);

/* For the beginning of a function that belongs to one loop: io, dispatch or handlers. */
#define KI_ASSERT_ON(loop) assert(ki_loop_is_mine(loop))

/* Creates a sleeping job. Returns 0 or KI_ERR_NO_MEMORY: its place among the timers is reserved here, so
 * that nothing fails later. */
KI_NODISCARD int ki_job_init(ki_job *job, ki_loop *loop, ki_job_cb run);

/* Ends the job: removes it from the queue, disarms its timer, and waits for a run on another thread. When
 * called from its own run, the loop does not touch it any more, so it may be freed. A late wake does
 * nothing as long as job and loop exist. A zeroed job and an ended job are allowed. */
void ki_job_fini(ki_job *job);

/* Any thread. The job runs soon. Its timer is not affected. */
void ki_job_wake(ki_job *job);

/* The same, with the loop's mutex held. */
void ki_job_wake_locked(ki_job *job);

/* Any thread. Sets the job's only timer: the job is woken once at `due_ns` of the clock; UINT64_MAX
 * disarms it. */
void ki_job_wake_at(ki_job *job, uint64_t due_ns);

/* Whether the calling thread runs this job. */
int ki_job_is_current(const ki_job *job);

#endif
