/* SPDX-License-Identifier: Apache-2.0 */
/* loop - runs jobs when they are woken or their timers fall due, on its own threads or on a thread that
 * steps it.
 *
 *   From:     all code that runs jobs; client/client.c creates the loops io, dispatch and handler
 *   To:       the jobs: reflectors, applying changes, calling handlers
 *   Locks:    one mutex, a leaf; no job runs while it is held.
 *   Not here: what the jobs do; descriptors other than its own (util/loop/fd_watch.h).
 *
 * A job is something that may have work. Any thread that gives it work wakes it. The loop runs it once for
 * any number of wakes, in the order in which jobs were woken, and never on two threads at once. A job that
 * is woken while it runs is run again, after the jobs that are awake when its run ends. The loop reads time
 * from its clock, so a loop that is stepped under a virtual clock is deterministic.
 *
 * A loop has one runner at a time: its own threads, or one thread that steps it or waits on it. In a forked
 * child it has none.
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

/* A function to call when the current job has ended, see ki_loop_defer(). Embedded in its user. A zeroed
 * struct is not waiting for a call. */
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
    uint64_t order; /* the order among timers that fall due at the same time */
    int is_running;
    int is_awake; /* must be run, or run again */
    int is_ended; /* must not be woken any more */
};

typedef struct ki_loop_options {
    const ki_clock *clock; /* NULL for the real clock */
    int with_fd; /* the loop has ki_loop_fd() to poll, and can watch descriptors; it has at most one thread */
    const ki_log_sink *log; /* for messages of its jobs; NULL for the sink of the process */
} ki_loop_options;

/* A loop must not be moved. */
struct ki_loop {
    const ki_clock *clock; /* constant, like the next */
    unsigned generation;   /* of the process that created the loop, see util/fork.h */
    const ki_log_sink *log;
    ki_mutex mu;
    ki_cond work;       /* for threads that wait for work */
    ki_cond run_ended;  /* for threads that wait in ki_job_fini() */
    ki_wake_fd wake_fd; /* guarded by mu, like all below */
    ki_list queue;      /* jobs that are awake and not running */
    ki_heap timers;     /* has space reserved for each job */
    size_t job_count;
    uint64_t last_order;
    ki_list threads;
    size_t thread_count;
    size_t stopping_count; /* threads that were told to end and have not ended yet */
    int is_entered;        /* a thread that the loop did not start is running it, or waiting on it */
    pthread_t entered_by;  /* that thread */
    int is_roused;         /* that thread has to return from ki_loop_wait() */
    int has_timer_thread;  /* one of the waiting threads waits only until the first timer */
    size_t armed_count;    /* the number of armed ki_fd_watch */
    int may_have_stuck;    /* a watch may be stuck in the epoll: its events must be fetched */
    int is_attended;       /* a thread runs jobs, and will look at the queue before the descriptor matters */
    unsigned runs;         /* the number of runs since descriptors were polled */
    uint64_t until_ns;     /* when the budget of the current step ends; UINT64_MAX if it has none */
};

/* Returns 0, KI_ERR_SYSTEM or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_loop_init(ki_loop *loop, const ki_loop_options *options, ki_error *err);

/* Stop the threads and end all jobs first. A zeroed struct is allowed. */
void ki_loop_fini(ki_loop *loop);

/* Starts threads until there are `count`. Not allowed with a virtual clock, on which no thread can wait.
 * Returns 0, or KI_ERR_SYSTEM or KI_ERR_NO_MEMORY with fewer threads. */
KI_NODISCARD int ki_loop_grow(ki_loop *loop, const char *name, size_t count, ki_error *err)
    KI_EXCLUDES(loop->mu);

/* Ends the threads, each after its current job, and waits for them. Must not be called from one of them,
 * nor concurrently. Jobs that are awake stay awake. The loop can grow again. A zeroed struct is allowed. */
void ki_loop_stop(ki_loop *loop) KI_EXCLUDES(loop->mu);

/* Runs jobs that are awake or due on the calling thread, until none is left, the loop gets threads, or
 * `budget_ns` have passed; 0 means no limit. Jobs that are woken meanwhile run too. But if jobs keep waking
 * themselves, or set timers that are due at once, the rest is left for the next step. Does nothing if the
 * loop has another runner. Returns the number of jobs run. */
size_t ki_loop_step(ki_loop *loop, uint64_t budget_ns) KI_EXCLUDES(loop->mu);

/* Whether the step that runs the calling job has used up its budget. A job that calls several functions of
 * the program checks this after each of them; if so, it wakes itself and returns. */
bool ki_loop_is_over_budget(void);

/* Returns when ki_loop_step() will have work: 0 if it has work now, UINT64_MAX if not before a job is
 * woken, else a time of the clock. */
uint64_t ki_loop_next_ns(ki_loop *loop) KI_EXCLUDES(loop->mu);

/* A descriptor that is readable when ki_loop_step() has work; -1 without `with_fd`. Timers of a virtual
 * clock do not count. A step that leaves work makes the descriptor readable again, for programs that poll
 * it edge-triggered. */
int ki_loop_fd(const ki_loop *loop);

/* Waits until ki_loop_step() has work, ki_loop_rouse() is called, or the loop gets threads; at most
 * `timeout_ms`. Returns false at once if the loop has another runner, or a virtual clock, which no thread
 * would move meanwhile. */
bool ki_loop_wait(ki_loop *loop, uint64_t timeout_ms) KI_EXCLUDES(loop->mu);

/* Ends a ki_loop_wait(): the current call, or the next one if no step comes in between. */
void ki_loop_rouse(ki_loop *loop) KI_EXCLUDES(loop->mu);

/* Waits for the current runner, then keeps all threads from running the loop until ki_loop_release(). Stop
 * the loop's own threads first. */
void ki_loop_hold(ki_loop *loop) KI_EXCLUDES(loop->mu);
void ki_loop_release(ki_loop *loop) KI_EXCLUDES(loop->mu);

bool ki_loop_has_threads(ki_loop *loop) KI_EXCLUDES(loop->mu);

/* Closes the descriptor. The loop must have no threads and no armed watches. In a forked child this closes
 * the child's copies; the parent is not affected. */
void ki_loop_close_fd(ki_loop *loop) KI_EXCLUDES(loop->mu);

/* Whether the calling thread runs a job of this loop, or of any loop if `loop` is NULL. */
int ki_loop_is_current(const ki_loop *loop);

/* Calls `run` on this thread when the current job returns, once for any number of calls; or at once if the
 * thread runs no job. For ki_loop_is_current() the call is still part of the job. `deferred` must live
 * until then. */
void ki_loop_defer(ki_deferred *deferred, ki_deferred_cb run);

/* For assertions: whether the calling thread may act as the loop's runner. It may if it runs one of the
 * loop's jobs or holds the loop, or if the loop has no threads and no thread steps it or waits on it. All but
 * the first check take the loop's mutex. */
bool ki_loop_is_mine(ki_loop *loop) KI_EXCLUDES(loop->mu);

/* For the beginning of a function that belongs to one loop: io, dispatch or handlers. */
#define KI_ASSERT_ON(loop) assert(ki_loop_is_mine(loop))

/* Creates a job that is not awake. Returns 0 or KI_ERR_NO_MEMORY. Space for the job's timer is reserved
 * here, so that nothing can fail later. */
KI_NODISCARD int ki_job_init(ki_job *job, ki_loop *loop, ki_job_cb run);

/* Ends the job: removes it from the queue, disarms its timer, and waits for a run on another thread. The
 * job may call this itself; the loop then does not access it any more, so it may be freed. Waking an ended
 * job does nothing, as long as job and loop exist. A zeroed job and an ended job are allowed. */
void ki_job_fini(ki_job *job);

/* Any thread. Wakes the job, so that it runs soon. Its timer is not affected. */
void ki_job_wake(ki_job *job);

/* Like ki_job_wake(), with the loop's mutex held. */
void ki_job_wake_locked(ki_job *job);

/* Any thread. Sets the job's only timer: the job is woken once at `due_ns` of the clock; UINT64_MAX
 * disarms it. */
void ki_job_wake_at(ki_job *job, uint64_t due_ns);

/* Whether the calling thread runs this job. */
int ki_job_is_current(const ki_job *job);

#endif
