/* SPDX-License-Identifier: Apache-2.0 */
#include "util/loop/loop.h"

#include <assert.h>

#include "util/error.h"
#include "util/fork.h"
#include "util/loop/loop_parts.h"

/* Invariant: a job is in the queue if and only if it is awake and not running. So no other thread can take
 * it while it runs. */

/* The array of timers may grow as far as memory allows; the owners of jobs limit their number. */
#define JOBS_MAX (SIZE_MAX / 2 / sizeof(ki_heap_node *))

_Thread_local ki_running ki_loop_current;

/* A child that was forked inside a job never returns from it, so it counts as being in no job. */
static void on_fork(ki_fork_hook *hook, ki_fork_phase phase)
{
    (void)hook;
    if (phase == KI_FORK_CHILD)
        ki_loop_current = (ki_running){0};
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int fork_rc;

static void begin_once(void)
{
    static ki_fork_hook hook = {.order = KI_FORK_LEAVES, .run = on_fork};
    fork_rc = ki_fork_add(&hook);
}

static ki_job *job_of_timer(const ki_heap_node *node)
{
    return KI_CONTAINER_OF(node, ki_job, timer);
}

static int compare_timers(const ki_heap_node *a, const ki_heap_node *b, void *user)
{
    (void)user;
    const ki_job *x = job_of_timer(a);
    const ki_job *y = job_of_timer(b);
    if (x->due_ns != y->due_ns)
        return x->due_ns < y->due_ns ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

int ki_loop_init(ki_loop *loop, const ki_loop_options *options, ki_error *err)
{
    assert(loop != NULL);
    ki_wake_fd wake_fd = {0};
    (void)pthread_once(&once, begin_once);
    if (fork_rc < 0)
        return ki_fail_no_memory(err);
    int rc = options->with_fd ? ki_wake_fd_open(&wake_fd, err) : 0;
    if (rc < 0)
        return rc;
    *loop = (ki_loop){
        .clock = options->clock != NULL ? options->clock : ki_clock_real(),
        .log = options->log,
        .wake_fd = wake_fd,
        .generation = ki_fork_generation(),
        .until_ns = UINT64_MAX,
    };
    ki_mutex_init(&loop->mu);
    ki_cond_init(&loop->work);
    ki_cond_init(&loop->run_ended);
    ki_list_init(&loop->queue);
    ki_list_init(&loop->threads);
    ki_heap_init(&loop->timers, JOBS_MAX, compare_timers, NULL);
    return 0;
}

void ki_loop_fini(ki_loop *loop)
{
    assert(loop != NULL);
    if (loop->clock == NULL)
        return;
    assert(loop->thread_count == 0 && loop->job_count == 0);
    ki_heap_fini(&loop->timers);
    ki_wake_fd_close(&loop->wake_fd);
    ki_cond_fini(&loop->run_ended);
    ki_cond_fini(&loop->work);
    ki_mutex_fini(&loop->mu);
    *loop = (ki_loop){0};
}

uint64_t ki_loop_first_due_locked(const ki_loop *loop)
{
    assert(loop != NULL);
    const ki_heap_node *first = ki_heap_first(&loop->timers);
    return first == NULL ? UINT64_MAX : job_of_timer(first)->due_ns;
}

uint64_t ki_loop_next_locked(const ki_loop *loop)
{
    assert(loop != NULL);
    if (!ki_list_is_empty(&loop->queue))
        return 0;
    uint64_t due_ns = ki_loop_first_due_locked(loop);
    return due_ns == UINT64_MAX || due_ns > ki_clock_now_ns(loop->clock) ? due_ns : 0;
}

/* While a thread runs jobs, the descriptor is not updated, which saves system calls. A thread that stops
 * running jobs calls this. The descriptor also wakes a thread that has to end. */
void ki_loop_settle_fd_locked(ki_loop *loop)
{
    loop->is_attended = 0;
    ki_wake_fd_raise(&loop->wake_fd,
                     !ki_list_is_empty(&loop->queue) || loop->stopping_count > 0 || loop->is_roused);
    if (!loop->clock->is_virtual)
        ki_wake_fd_raise_at(&loop->wake_fd, ki_loop_first_due_locked(loop));
}

void ki_loop_enqueue_locked(ki_loop *loop, ki_job *job)
{
    ki_list_push_back(&loop->queue, &job->node);
    if (!loop->is_attended)
        ki_wake_fd_raise(&loop->wake_fd, 1);
    ki_cond_signal(&loop->work);
}

void ki_job_wake_locked(ki_job *job)
{
    if (job->is_awake || job->is_ended)
        return;
    job->is_awake = 1;
    if (!job->is_running)
        ki_loop_enqueue_locked(job->loop, job);
}

void ki_loop_wake_due_locked(ki_loop *loop)
{
    assert(loop != NULL);
    if (loop->timers.count == 0)
        return;
    uint64_t now_ns = ki_clock_now_ns(loop->clock);
    while (ki_loop_first_due_locked(loop) <= now_ns) {
        ki_job *job = job_of_timer(ki_heap_pop(&loop->timers));
        job->due_ns = UINT64_MAX;
        ki_job_wake_locked(job);
    }
}

uint64_t ki_loop_next_ns(ki_loop *loop)
{
    assert(loop != NULL);
    ki_mutex_lock(&loop->mu);
    uint64_t next_ns = ki_loop_next_locked(loop);
    ki_mutex_unlock(&loop->mu);
    return next_ns;
}

int ki_loop_fd(const ki_loop *loop)
{
    assert(loop != NULL);
    return loop->wake_fd.is_open ? loop->wake_fd.epoll_fd : -1;
}

int ki_job_init(ki_job *job, ki_loop *loop, ki_job_cb run)
{
    ki_mutex_lock(&loop->mu);
    int rc = ki_heap_reserve(&loop->timers, loop->job_count + 1);
    if (rc == 0)
        loop->job_count++;
    ki_mutex_unlock(&loop->mu);
    if (rc < 0)
        return KI_ERR_NO_MEMORY;
    *job = (ki_job){.loop = loop, .run = run, .due_ns = UINT64_MAX};
    return 0;
}

static void end_locked(ki_loop *loop, ki_job *job)
{
    job->is_ended = 1;
    job->is_awake = 0;
    ki_list_remove(&job->node);
    ki_heap_remove(&loop->timers, &job->timer);
    loop->job_count--;
    if (!loop->is_attended)
        ki_loop_settle_fd_locked(loop);
}

void ki_job_fini(ki_job *job)
{
    ki_loop *loop = job->loop;
    if (loop == NULL)
        return;
    ki_mutex_lock(&loop->mu);
    if (!job->is_ended)
        end_locked(loop, job);
    if (ki_loop_current.job == job) {
        ki_loop_current.job = NULL;
        job->is_running = 0;
    }
    while (job->is_running)
        ki_cond_wait(&loop->run_ended, &loop->mu);
    ki_mutex_unlock(&loop->mu);
}

void ki_job_wake(ki_job *job)
{
    assert(job != NULL);
    ki_loop *loop = job->loop;
    ki_mutex_lock(&loop->mu);
    ki_job_wake_locked(job);
    ki_mutex_unlock(&loop->mu);
}

static void set_timer_locked(ki_loop *loop, ki_job *job, uint64_t due_ns)
{
    ki_heap_remove(&loop->timers, &job->timer);
    job->due_ns = due_ns;
    job->order = ++loop->last_order;
    if (due_ns == UINT64_MAX)
        return;
    int rc = ki_heap_push(&loop->timers, &job->timer);
    assert(rc == 0); /* ki_job_init() has reserved the space */
    (void)rc;
}

/* If the first timer is now earlier, all waiting threads are woken: any of them may be the one that waits
 * for the first timer. */
void ki_job_wake_at(ki_job *job, uint64_t due_ns)
{
    ki_loop *loop = job->loop;
    ki_mutex_lock(&loop->mu);
    if (!job->is_ended) {
        uint64_t before_ns = ki_loop_first_due_locked(loop);
        set_timer_locked(loop, job, due_ns);
        if (ki_loop_first_due_locked(loop) < before_ns)
            ki_cond_broadcast(&loop->work);
        if (!loop->clock->is_virtual && !loop->is_attended)
            ki_wake_fd_raise_at(&loop->wake_fd, ki_loop_first_due_locked(loop));
    }
    ki_mutex_unlock(&loop->mu);
}

int ki_job_is_current(const ki_job *job)
{
    return job != NULL && ki_loop_current.job == job;
}
