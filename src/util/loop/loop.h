/* SPDX-License-Identifier: Apache-2.0 */
/* loop - jobs that are woken and timers that fall due, run by threads of ours or by whoever steps the loop.
 *
 *   From:     client/client.c makes them: io, dispatch and handler are loops
 *   To:       the jobs: reflectors, the applying of changes, the calling of handlers
 *   Locks:    one mutex, a leaf; no job runs while it is held.
 *   Not here: what the jobs do; descriptors other than its own (util/loop/fd_watch.h).
 *
 * A job is something that may have work. Whoever gives it work wakes it, from any thread; the loop runs it
 * once for any number of wakes, in the order in which jobs were woken, and never on two threads at once. A
 * job that was woken while it ran is run again, behind those that are awake when its run ends. Time is the
 * clock's, so a loop that is stepped under a virtual clock does the same thing each time.
 *
 * A loop has one runner: threads of its own, or else whoever steps it or waits on it, one at a time. In a
 * child of the process that made it, it has none.
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

/* Embedded in what it works for. */
struct ki_job {
    ki_loop *loop; /* constant, as the next */
    ki_job_cb run;
    ki_list_node node; /* guarded by the loop's mu, as all below */
    ki_heap_node timer;
    uint64_t due_ns;
    uint64_t order; /* of timers that fall due together */
    int is_running;
    int is_awake; /* to be run (again) */
    int is_ended; /* not to be woken any more */
};

typedef struct ki_loop_options {
    const ki_clock *clock; /* NULL: the real one */
    int with_fd; /* can be polled by another loop, ki_loop_fd(), and watches others; has one thread at most */
    const ki_log_sink *log; /* that its jobs speak to; NULL: that of the process */
} ki_loop_options;

/* Stays where it is. */
struct ki_loop {
    const ki_clock *clock; /* constant, as the next */
    unsigned generation;   /* of the process that made it: see util/fork.h */
    const ki_log_sink *log;
    ki_mutex mu;
    ki_cond work;       /* for who waits for something to do */
    ki_cond run_ended;  /* for who waits in ki_job_fini() */
    ki_wake_fd wake_fd; /* guarded by mu, as all below */
    ki_list queue;      /* of the jobs that are awake and do not run */
    ki_heap timers;     /* with a place for each job */
    size_t job_count;
    uint64_t last_order;
    ki_list threads;
    size_t thread_count;
    size_t stopping_count; /* of threads that were told to end and have not yet */
    int is_entered;        /* someone who is no thread of its runs it, or waits to */
    int is_roused;         /* whoever has entered shall look at something else than jobs */
    int has_timer_thread;  /* one of the threads that wait does so until the first timer only */
    size_t armed_count;    /* of ki_fd_watch */
    int is_haunted;        /* one of them may be in the epoll for ever: what comes of it has to be fetched */
    int is_attended;       /* somebody runs jobs, and will look at the queue before the descriptor matters */
    unsigned runs;         /* since descriptors were looked at */
};

/* Returns 0 or KI_ERR_SYSTEM. */
KI_NODISCARD int ki_loop_init(ki_loop *loop, const ki_loop_options *options, ki_error *err);

/* Its threads have been stopped, its jobs ended. Takes a zeroed struct. */
void ki_loop_fini(ki_loop *loop);

/* Starts threads until there are `count`; never under a virtual clock, for which nobody can wait. Returns
 * 0, KI_ERR_SYSTEM or KI_ERR_NO_MEMORY: there are fewer then. */
KI_NODISCARD int ki_loop_grow(ki_loop *loop, const char *name, size_t count, ki_error *err)
    KI_EXCLUDES(loop->mu);

/* Ends the threads, each after the job that it runs, and waits for them; never from one of them, and one
 * call at a time. Jobs that are awake stay so. The loop can grow again. Takes a zeroed struct. */
void ki_loop_stop(ki_loop *loop) KI_EXCLUDES(loop->mu);

/* Runs what is awake or due on the calling thread, until there is nothing left, or the loop gets threads, or,
 * unless it is 0, `budget_ns` have passed. What is woken meanwhile is run too, but where jobs keep themselves
 * awake, or set timers that are due at once, the rest is left for the next step. Does nothing when the loop
 * has another runner. Returns how many jobs it ran. */
size_t ki_loop_step(ki_loop *loop, uint64_t budget_ns) KI_EXCLUDES(loop->mu);

/* When ki_loop_step() has something to do: 0: now; UINT64_MAX: not before something is woken; else the
 * time of the clock. */
uint64_t ki_loop_next_ns(ki_loop *loop) KI_EXCLUDES(loop->mu);

/* Readable when ki_loop_step() has something to do; -1 without `with_fd`. It knows nothing of the timers
 * under a virtual clock. */
int ki_loop_fd(const ki_loop *loop);

/* Waits until ki_loop_step() has something to do, ki_loop_rouse() is called, or the loop gets threads;
 * `timeout_ms` at the most. Returns false at once when the loop has another runner, and under a virtual
 * clock, which nobody moves meanwhile. */
bool ki_loop_wait(ki_loop *loop, uint64_t timeout_ms) KI_EXCLUDES(loop->mu);

/* Ends a ki_loop_wait(): the one that goes on, or the next if there was no step in between. */
void ki_loop_rouse(ki_loop *loop) KI_EXCLUDES(loop->mu);

/* Keeps everybody from running it, after waiting for the one who does, until ki_loop_release(). Its threads
 * have been stopped. */
void ki_loop_hold(ki_loop *loop) KI_EXCLUDES(loop->mu);
void ki_loop_release(ki_loop *loop) KI_EXCLUDES(loop->mu);

bool ki_loop_has_threads(ki_loop *loop) KI_EXCLUDES(loop->mu);

/* From here on it has no descriptor. It has no threads, and watches none. In a child: the child's copies are
 * closed, and the parent notices nothing. */
void ki_loop_close_fd(ki_loop *loop) KI_EXCLUDES(loop->mu);

/* The calling thread is inside a job of this loop, or of any loop when it is NULL. */
int ki_loop_is_current(const ki_loop *loop);

/* The calling thread is the loop's one runner: inside a job of it, or, when it has no threads and nobody
 * steps it now, whoever calls. Takes the loop's mutex in the second case. For assertions. */
bool ki_loop_is_mine(ki_loop *loop) KI_EXCLUDES(loop->mu);

/* At the beginning of a function that belongs to one loop: of io, dispatch or handlers. Nothing where
 * assertions are off. */
#define KI_ASSERT_ON(loop) assert(ki_loop_is_mine(loop))

/* A job that sleeps. Returns 0 or KI_ERR_NO_MEMORY: its place among the timers is reserved here, so that
 * nothing fails later. */
KI_NODISCARD int ki_job_init(ki_job *job, ki_loop *loop, ki_job_cb run);

/* Puts it to sleep for good: out of the queue, its timer off, and waits for the end of a run on another
 * thread. Inside its own run the loop does not touch it any more, so it may be freed. A wake that comes
 * late does nothing, as long as there are job and loop. Takes a zeroed job, and one that was ended. */
void ki_job_fini(ki_job *job);

/* Any thread. The job runs soon. Its timer stays as it is. */
void ki_job_wake(ki_job *job);

/* The same for who holds the loop's mutex. */
void ki_job_wake_locked(ki_job *job);

/* Any thread. Sets the job's one timer: woken at `due_ns` of the clock, once; UINT64_MAX: never. */
void ki_job_wake_at(ki_job *job, uint64_t due_ns);

/* The calling thread is inside this job's run. */
int ki_job_is_current(const ki_job *job);

#endif
