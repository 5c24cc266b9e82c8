/* SPDX-License-Identifier: Apache-2.0 */
/* The runners of a loop: its own threads, or a thread that steps it or waits on it. */
#include <assert.h>

#include "util/alloc.h"
#include "util/error.h"
#include "util/fork.h"
#include "util/log.h"
#include "util/loop/fd_watch.h"
#include "util/loop/loop_parts.h"
#include "util/units.h"

/* A condition variable's clock stops while the machine is suspended. So a thread reads the loop's clock
 * again after this time, and after a resume no timer is later than this. */
enum { WAIT_MS_MAX = 10 * 1000 };

/* Descriptors are polled when no job is awake, and after this many runs, so that jobs that keep each other
 * awake do not starve the network. */
enum { RUNS_AT_A_TIME = 32 };

/* A step ends after this many runs per job. This is more than jobs need when they wake each other, and
 * stops a job that keeps waking itself. */
enum { RUNS_PER_JOB_MAX = 64 };

typedef struct loop_thread {
    ki_list_node node;
    ki_thread thread;
    ki_loop *loop;
    int is_stopping; /* guarded by the loop's mu */
} loop_thread;

/* The next job to run, or NULL. */
static ki_job *take_locked(ki_loop *loop) KI_REQUIRES(loop->mu)
{
    KI_ASSERT_HELD(loop->mu);
    ki_loop_wake_due_locked(loop);
    if (ki_list_is_empty(&loop->queue) || ++loop->runs >= RUNS_AT_A_TIME) {
        ki_fd_watch_collect_locked(loop);
        loop->runs = 0;
    }
    ki_list_node *node = ki_list_pop_front(&loop->queue);
    return node == NULL ? NULL : KI_CONTAINER_OF(node, ki_job, node);
}

/* ---- runners ------------------------------------------------------------------------------------------- */

static bool is_foreign(const ki_loop *loop)
{
    return loop->generation != ki_fork_generation();
}

/* Invariant: either the loop's threads run jobs, or the thread that has entered, never both. Threads that
 * are started meanwhile wait until that thread has left, which it does after its current job. */
static bool enter_locked(ki_loop *loop) KI_REQUIRES(loop->mu)
{
    KI_ASSERT_HELD(loop->mu);
    if (loop->thread_count > 0 || loop->stopping_count > 0 || loop->is_entered)
        return false;
    loop->is_entered = 1;
    loop->entered_by = pthread_self();
    return true;
}

static void leave_locked(ki_loop *loop) KI_REQUIRES(loop->mu)
{
    KI_ASSERT_HELD(loop->mu);
    loop->is_entered = 0;
    loop->is_roused = 0;
    ki_loop_settle_fd_locked(loop);
    ki_cond_broadcast(&loop->work);
}

static void rouse_locked(ki_loop *loop) KI_REQUIRES(loop->mu)
{
    KI_ASSERT_HELD(loop->mu);
    loop->is_roused = 1;
    ki_cond_broadcast(&loop->work);
    if (!loop->is_attended)
        ki_wake_fd_raise(&loop->wake_fd, 1);
}

void ki_loop_rouse(ki_loop *loop)
{
    assert(loop != NULL);
    ki_mutex_lock(&loop->mu);
    if (loop->thread_count == 0 && loop->stopping_count == 0)
        rouse_locked(loop);
    ki_mutex_unlock(&loop->mu);
}

/* The thread that has entered may be waiting for work, so it is roused. */
static void hold_locked(ki_loop *loop) KI_REQUIRES(loop->mu)
{
    KI_ASSERT_HELD(loop->mu);
    while (!enter_locked(loop)) {
        rouse_locked(loop);
        ki_cond_wait(&loop->work, &loop->mu);
    }
}

void ki_loop_hold(ki_loop *loop)
{
    assert(loop != NULL);
    ki_mutex_lock(&loop->mu);
    hold_locked(loop);
    ki_mutex_unlock(&loop->mu);
}

void ki_loop_release(ki_loop *loop)
{
    assert(loop != NULL);
    ki_mutex_lock(&loop->mu);
    leave_locked(loop);
    ki_mutex_unlock(&loop->mu);
}

bool ki_loop_has_threads(ki_loop *loop)
{
    assert(loop != NULL);
    ki_mutex_lock(&loop->mu);
    bool has_threads = loop->thread_count > 0;
    ki_mutex_unlock(&loop->mu);
    return has_threads;
}

/* ---- running ------------------------------------------------------------------------------------------- */

void ki_loop_defer(ki_deferred *deferred, ki_deferred_cb run)
{
    assert(deferred != NULL && run != NULL);
    if (ki_list_node_is_linked(&deferred->node))
        return;
    deferred->run = run;
    if (ki_loop_current.deferred == NULL)
        run(deferred);
    else
        ki_list_push_back(ki_loop_current.deferred, &deferred->node);
}

/* Runs the job, then the functions that it has deferred, and those that they defer. In a child that the job
 * has forked, deferred functions are not called. */
static void run_job(ki_loop *loop, ki_job *job, uint64_t until_ns)
{
    ki_list deferred;
    ki_list_init(&deferred);
    ki_loop_current = (ki_running){loop, job, &deferred, until_ns};
    job->run(job);
    while (!is_foreign(loop) && !ki_list_is_empty(&deferred)) {
        ki_deferred *next = KI_CONTAINER_OF(ki_list_pop_front(&deferred), ki_deferred, node);
        next->run(next);
    }
}

/* The job may be freed during its run; then ki_loop_current.job is NULL. It may also be freed at any time
 * after the mutex is released again. A run may be nested in a run of another loop. Returns false if the job
 * has forked and this is the child: then the mutex is not held, because another thread may have held it at
 * the fork. */
KI_NO_THREAD_SAFETY_ANALYSIS
static bool run_locked(ki_loop *loop, ki_job *job)
{
    ki_running before = ki_loop_current;
    uint64_t until_ns = loop->until_ns;
    job->is_awake = 0;
    job->is_running = 1;
    ki_mutex_unlock(&loop->mu);
    const ki_log_sink *log = ki_log_use(loop->log);
    run_job(loop, job, until_ns);
    (void)ki_log_use(log);
    if (is_foreign(loop))
        return false;
    ki_mutex_lock(&loop->mu);
    job = ki_loop_current.job;
    ki_loop_current = before;
    if (job == NULL)
        return true;
    job->is_running = 0;
    if (job->is_ended)
        ki_cond_broadcast(&loop->run_ended);
    else if (job->is_awake)
        ki_loop_enqueue_locked(loop, job);
    return true;
}

static bool is_past(const ki_loop *loop, uint64_t until_ns)
{
    return until_ns != UINT64_MAX && ki_clock_now_ns(loop->clock) >= until_ns;
}

bool ki_loop_is_over_budget(void)
{
    const ki_running *running = &ki_loop_current;
    return running->loop != NULL && is_past(running->loop, running->until_ns);
}

/* Whether a step that has run `count` jobs continues. It does not if its budget is used up, if jobs keep
 * waking themselves, or if the loop has got threads. */
static bool goes_on_locked(ki_loop *loop, size_t count) KI_REQUIRES(loop->mu)
{
    KI_ASSERT_HELD(loop->mu);
    return loop->thread_count == 0 && count / RUNS_PER_JOB_MAX <= loop->job_count &&
           !is_past(loop, loop->until_ns);
}

/* Called when a step ends although work may be left. The program's poll may be edge-triggered, and has
 * already seen the edges for this work. So the ready events are collected and the descriptor is lowered
 * here; leave_locked() then raises it again, which is a new edge. */
static void leave_work_locked(ki_loop *loop) KI_REQUIRES(loop->mu)
{
    KI_ASSERT_HELD(loop->mu);
    ki_fd_watch_collect_locked(loop);
    ki_loop_wake_due_locked(loop);
    ki_wake_fd_raise(&loop->wake_fd, 0);
}

KI_NO_THREAD_SAFETY_ANALYSIS
size_t ki_loop_step(ki_loop *loop, uint64_t budget_ns)
{
    assert(loop != NULL);
    if (is_foreign(loop))
        return 0;
    uint64_t until_ns = UINT64_MAX;
    if (budget_ns != 0)
        until_ns = ki_ns_add(ki_clock_now_ns(loop->clock), budget_ns);
    size_t count = 0;
    ki_mutex_lock(&loop->mu);
    if (enter_locked(loop)) {
        loop->is_attended = 1;
        loop->until_ns = until_ns;
        for (ki_job *job = take_locked(loop); job != NULL; job = take_locked(loop)) {
            if (!run_locked(loop, job))
                return count;
            count++;
            if (!goes_on_locked(loop, count)) {
                leave_work_locked(loop);
                break;
            }
        }
        loop->until_ns = UINT64_MAX;
        leave_locked(loop);
    }
    ki_mutex_unlock(&loop->mu);
    return count;
}

/* Waits until a job is woken or due, a descriptor is ready, or the timeout has passed; -1 for no timeout.
 * May return early. */
static void wait_for_fd_locked(ki_loop *loop, int timeout_ms) KI_REQUIRES(loop->mu)
{
    KI_ASSERT_HELD(loop->mu);
    ki_loop_settle_fd_locked(loop);
    ki_mutex_unlock(&loop->mu);
    ki_wake_fd_wait(&loop->wake_fd, timeout_ms);
    ki_mutex_lock(&loop->mu);
    loop->is_attended = 1;
}

/* Waits until the given time or until there is work. May return early. */
static void wait_until_locked(ki_loop *loop, uint64_t until_ns) KI_REQUIRES(loop->mu)
{
    KI_ASSERT_HELD(loop->mu);
    uint64_t now_ns = ki_clock_now_ns(loop->clock);
    if (until_ns <= now_ns)
        return;
    uint64_t ms = (until_ns - now_ns - 1) / KI_NS_PER_MS + 1;
    ms = ms < WAIT_MS_MAX ? ms : WAIT_MS_MAX;
    if (loop->wake_fd.is_open)
        wait_for_fd_locked(loop, (int)ms);
    else
        (void)ki_cond_wait_ms(&loop->work, &loop->mu, ms);
}

static void wait_locked(ki_loop *loop, uint64_t until_ns) KI_REQUIRES(loop->mu)
{
    KI_ASSERT_HELD(loop->mu);
    for (;;) {
        ki_fd_watch_collect_locked(loop);
        uint64_t next_ns = ki_loop_next_locked(loop);
        if (next_ns == 0 || loop->is_roused || loop->thread_count > 0 ||
            ki_clock_now_ns(loop->clock) >= until_ns)
            return;
        wait_until_locked(loop, next_ns < until_ns ? next_ns : until_ns);
    }
}

bool ki_loop_wait(ki_loop *loop, uint64_t timeout_ms)
{
    assert(loop != NULL);
    if (loop->clock->is_virtual || is_foreign(loop))
        return false;
    uint64_t timeout_ns = timeout_ms > UINT64_MAX / KI_NS_PER_MS ? UINT64_MAX : timeout_ms * KI_NS_PER_MS;
    uint64_t until_ns = ki_ns_add(ki_clock_now_ns(loop->clock), timeout_ns);
    ki_mutex_lock(&loop->mu);
    bool is_mine = enter_locked(loop);
    if (is_mine) {
        wait_locked(loop, until_ns);
        leave_locked(loop);
    }
    ki_mutex_unlock(&loop->mu);
    return is_mine;
}

/* A loop with a descriptor has one thread, which waits for the descriptor; that includes the first timer.
 *
 * In other loops, one thread waits for the first timer and the others only for a signal. So a timer wakes
 * one thread, not all of them. */
static void wait_for_work_locked(ki_loop *loop) KI_REQUIRES(loop->mu)
{
    KI_ASSERT_HELD(loop->mu);
    uint64_t due_ns = ki_loop_first_due_locked(loop);
    if (loop->wake_fd.is_open) {
        wait_for_fd_locked(loop, -1);
        return;
    }
    if (due_ns == UINT64_MAX || loop->has_timer_thread) {
        ki_cond_wait(&loop->work, &loop->mu);
        return;
    }
    loop->has_timer_thread = 1;
    wait_until_locked(loop, due_ns);
    loop->has_timer_thread = 0;
}

/* Runs the next job, or waits for one. Returns false if this thread must end (run_locked()). If the thread
 * that takes a job was the one that waited for the first timer, another thread must wait for it now. */
static bool run_next_locked(ki_loop *loop) KI_REQUIRES(loop->mu)
{
    KI_ASSERT_HELD(loop->mu);
    ki_job *job = take_locked(loop);
    if (job == NULL) {
        wait_for_work_locked(loop);
        return true;
    }
    if (loop->timers.count > 0 && !loop->has_timer_thread)
        ki_cond_signal(&loop->work);
    return run_locked(loop, job);
}

/* If the thread that ends was the one that waited for the first timer, a newly started thread may have
 * relied on it. So another thread is signalled at the end, to look at the timer again. */
KI_NO_THREAD_SAFETY_ANALYSIS
static void thread_run(void *user)
{
    loop_thread *self = user;
    ki_loop *loop = self->loop;
    ki_mutex_lock(&loop->mu);
    while (loop->is_entered && !self->is_stopping)
        ki_cond_wait(&loop->work, &loop->mu);
    loop->is_attended = 1;
    while (!self->is_stopping)
        if (!run_next_locked(loop))
            return;
    loop->stopping_count--;
    ki_loop_settle_fd_locked(loop);
    ki_cond_signal(&loop->work);
    ki_mutex_unlock(&loop->mu);
}

static int add_thread_locked(ki_loop *loop, const char *name, ki_error *err)
{
    loop_thread *added = ki_calloc(1, sizeof(*added));
    if (added == NULL)
        return ki_fail_no_memory(err);
    added->loop = loop;
    ki_thread_options options = {.name = name, .run = thread_run, .user = added};
    int rc = ki_thread_start(&added->thread, &options, err);
    if (rc < 0) {
        ki_free(added);
        return rc;
    }
    ki_list_push_back(&loop->threads, &added->node);
    loop->thread_count++;
    return 0;
}

int ki_loop_grow(ki_loop *loop, const char *name, size_t count, ki_error *err)
{
    assert(!loop->clock->is_virtual && (count <= 1 || !loop->wake_fd.is_open));
    int rc = 0;
    ki_mutex_lock(&loop->mu);
    while (rc == 0 && loop->thread_count < count)
        rc = add_thread_locked(loop, name, err);
    if (loop->is_entered && loop->thread_count > 0)
        rouse_locked(loop);
    ki_mutex_unlock(&loop->mu);
    return rc;
}

/* The threads are removed from the loop first, so that it may grow while this waits for them. */
void ki_loop_stop(ki_loop *loop)
{
    assert(loop != NULL);
    ki_list stopped;
    if (loop->clock == NULL)
        return;
    ki_list_init(&stopped);
    ki_mutex_lock(&loop->mu);
    for (ki_list_node *n = ki_list_pop_front(&loop->threads); n != NULL;
         n = ki_list_pop_front(&loop->threads)) {
        KI_CONTAINER_OF(n, loop_thread, node)->is_stopping = 1;
        ki_list_push_back(&stopped, n);
        loop->stopping_count++;
    }
    loop->thread_count = 0;
    ki_loop_settle_fd_locked(loop);
    ki_cond_broadcast(&loop->work);
    ki_mutex_unlock(&loop->mu);
    for (ki_list_node *n = ki_list_pop_front(&stopped); n != NULL; n = ki_list_pop_front(&stopped)) {
        loop_thread *thread = KI_CONTAINER_OF(n, loop_thread, node);
        ki_thread_join(&thread->thread);
        ki_free(thread);
    }
}

void ki_loop_close_fd(ki_loop *loop)
{
    assert(loop != NULL);
    if (loop->clock == NULL)
        return;
    if (is_foreign(loop)) { /* another thread may have held the mutex at the fork */
        ki_wake_fd_close(&loop->wake_fd);
        return;
    }
    ki_mutex_lock(&loop->mu);
    assert(loop->thread_count == 0 && loop->armed_count == 0);
    hold_locked(loop); /* no other thread may poll the descriptor meanwhile */
    ki_wake_fd_close(&loop->wake_fd);
    leave_locked(loop);
    ki_mutex_unlock(&loop->mu);
}

int ki_loop_is_current(const ki_loop *loop)
{
    return ki_loop_current.loop != NULL && (loop == NULL || ki_loop_current.loop == loop);
}

bool ki_loop_is_mine(ki_loop *loop)
{
    if (ki_loop_is_current(loop))
        return true;
    ki_mutex_lock(&loop->mu);
    bool is_mine = loop->is_entered ? pthread_equal(loop->entered_by, pthread_self()) != 0
                                    : loop->thread_count == 0 && loop->stopping_count == 0;
    ki_mutex_unlock(&loop->mu);
    return is_mine;
}
