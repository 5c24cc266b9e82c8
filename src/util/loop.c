/* SPDX-License-Identifier: Apache-2.0 */
#include "util/loop.h"

#include <assert.h>

#include "util/alloc.h"
#include "util/error.h"
#include "util/fd_watch.h"

/* Invariant: a job is in the queue iff it is awake and does not run; so nobody can take it while it runs. */

enum { NS_PER_MS = 1000 * 1000 };

/* A condition's time stands still while the machine is suspended: after this long a thread looks at the clock
 * again, and a timer is never later than this after a resume. */
enum { WAIT_MS_MAX = 10 * 1000 };

/* Descriptors are looked at when no job is awake, and after so many runs, so that jobs that keep each other
 * awake do not keep the network waiting. */
enum { RUNS_AT_A_TIME = 32 };

/* A step ends after so many runs for each job there is: more than they need for what they do for each other,
 * and an end where one keeps itself awake. */
enum { RUNS_PER_JOB_MAX = 64 };

/* The timers' array may grow as far as memory goes; jobs are bounded by who makes them. */
#define JOBS_MAX (SIZE_MAX / 2 / sizeof(ki_heap_node *))

typedef struct loop_thread {
    ki_list_node node;
    ki_thread thread;
    ki_loop *loop;
    int is_stopping; /* guarded by the loop's mu */
} loop_thread;

/* What this thread runs. `job` is NULL once it has ended inside of its own run. */
static _Thread_local struct {
    ki_loop *loop;
    ki_job *job;
} current;

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
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
    ki_wake_fd wake_fd = {0};
    int rc = options->with_fd ? ki_wake_fd_open(&wake_fd, err) : 0;
    if (rc < 0)
        return rc;
    *loop = (ki_loop){
        .clock = options->clock != NULL ? options->clock : ki_clock_real(),
        .log = options->log,
        .wake_fd = wake_fd,
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

static uint64_t first_due_locked(const ki_loop *loop)
{
    const ki_heap_node *first = ki_heap_first(&loop->timers);
    return first == NULL ? UINT64_MAX : job_of_timer(first)->due_ns;
}

static uint64_t next_locked(const ki_loop *loop)
{
    if (!ki_list_is_empty(&loop->queue))
        return 0;
    uint64_t due_ns = first_due_locked(loop);
    return due_ns == UINT64_MAX || due_ns > ki_clock_now_ns(loop->clock) ? due_ns : 0;
}

/* While somebody runs jobs the descriptor stays behind what there is to do, which spares calls of the kernel;
 * whoever is done calls this. A thread that has to end is woken by it too. */
static void settle_fd_locked(ki_loop *loop)
{
    loop->is_attended = 0;
    ki_wake_fd_raise(&loop->wake_fd, !ki_list_is_empty(&loop->queue) || loop->stopping_count > 0);
    if (!loop->clock->is_virtual)
        ki_wake_fd_raise_at(&loop->wake_fd, first_due_locked(loop));
}

static void enqueue_locked(ki_loop *loop, ki_job *job)
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
        enqueue_locked(job->loop, job);
}

static void wake_due_locked(ki_loop *loop)
{
    if (loop->timers.count == 0)
        return;
    uint64_t now_ns = ki_clock_now_ns(loop->clock);
    while (first_due_locked(loop) <= now_ns) {
        ki_job *job = job_of_timer(ki_heap_pop(&loop->timers));
        job->due_ns = UINT64_MAX;
        ki_job_wake_locked(job);
    }
}

/* The job to be run next; NULL: none. */
static ki_job *take_locked(ki_loop *loop) KI_REQUIRES(loop->mu)
{
    wake_due_locked(loop);
    if (ki_list_is_empty(&loop->queue) || ++loop->runs >= RUNS_AT_A_TIME) {
        ki_fd_watch_collect_locked(loop);
        loop->runs = 0;
    }
    ki_list_node *node = ki_list_pop_front(&loop->queue);
    return node == NULL ? NULL : KI_CONTAINER_OF(node, ki_job, node);
}

/* The job may be gone when its run has ended, which `current` knows; it may go as soon as the mutex is
 * given away after that. */
static void run_locked(ki_loop *loop, ki_job *job) KI_REQUIRES(loop->mu)
{
    job->is_awake = 0;
    job->is_running = 1;
    current.loop = loop;
    current.job = job;
    ki_mutex_unlock(&loop->mu);
    const ki_log_sink *log = ki_log_use(loop->log);
    job->run(job);
    (void)ki_log_use(log);
    ki_mutex_lock(&loop->mu);
    job = current.job;
    current.loop = NULL;
    current.job = NULL;
    if (job == NULL)
        return;
    job->is_running = 0;
    if (job->is_ended)
        ki_cond_broadcast(&loop->run_ended);
    else if (job->is_awake)
        enqueue_locked(loop, job);
}

size_t ki_loop_step(ki_loop *loop, uint64_t budget_ns)
{
    assert(current.loop == NULL);
    uint64_t until_ns = UINT64_MAX;
    if (budget_ns != 0)
        until_ns = add_saturated(ki_clock_now_ns(loop->clock), budget_ns);
    size_t count = 0;
    ki_mutex_lock(&loop->mu);
    loop->is_attended = 1;
    for (ki_job *job = take_locked(loop); job != NULL; job = take_locked(loop)) {
        run_locked(loop, job);
        count++;
        if (count / RUNS_PER_JOB_MAX > loop->job_count)
            break;
        if (until_ns != UINT64_MAX && ki_clock_now_ns(loop->clock) >= until_ns)
            break;
    }
    settle_fd_locked(loop);
    ki_mutex_unlock(&loop->mu);
    return count;
}

uint64_t ki_loop_next_ns(ki_loop *loop)
{
    ki_mutex_lock(&loop->mu);
    uint64_t next_ns = next_locked(loop);
    ki_mutex_unlock(&loop->mu);
    return next_ns;
}

int ki_loop_fd(const ki_loop *loop)
{
    return loop->wake_fd.is_open ? loop->wake_fd.epoll_fd : -1;
}

/* Until something is woken, due or ready, the time is up, or for no reason; -1: no time. */
static void wait_for_fd_locked(ki_loop *loop, int timeout_ms) KI_REQUIRES(loop->mu)
{
    settle_fd_locked(loop);
    ki_mutex_unlock(&loop->mu);
    ki_wake_fd_wait(&loop->wake_fd, timeout_ms);
    ki_mutex_lock(&loop->mu);
    loop->is_attended = 1;
}

/* Until the time, a signal, or no reason. */
static void wait_until_locked(ki_loop *loop, uint64_t until_ns) KI_REQUIRES(loop->mu)
{
    uint64_t now_ns = ki_clock_now_ns(loop->clock);
    if (until_ns <= now_ns)
        return;
    uint64_t ms = (until_ns - now_ns - 1) / NS_PER_MS + 1;
    ms = ms < WAIT_MS_MAX ? ms : WAIT_MS_MAX;
    if (loop->wake_fd.is_open)
        wait_for_fd_locked(loop, (int)ms);
    else
        (void)ki_cond_wait_ms(&loop->work, &loop->mu, ms);
}

/* A signal that was meant for who runs jobs may have come here: then it is passed on. */
void ki_loop_wait(ki_loop *loop, uint64_t timeout_ms)
{
    if (loop->clock->is_virtual)
        return;
    uint64_t timeout_ns = timeout_ms > UINT64_MAX / NS_PER_MS ? UINT64_MAX : timeout_ms * NS_PER_MS;
    uint64_t until_ns = add_saturated(ki_clock_now_ns(loop->clock), timeout_ns);
    ki_mutex_lock(&loop->mu);
    for (;;) {
        ki_fd_watch_collect_locked(loop);
        uint64_t next_ns = next_locked(loop);
        if (next_ns == 0 || loop->thread_count > 0 || ki_clock_now_ns(loop->clock) >= until_ns)
            break;
        wait_until_locked(loop, next_ns < until_ns ? next_ns : until_ns);
    }
    settle_fd_locked(loop);
    if (!ki_list_is_empty(&loop->queue))
        ki_cond_signal(&loop->work);
    ki_mutex_unlock(&loop->mu);
}

/* A loop with a descriptor has one thread, which waits for that; its timer is the descriptor's.
 *
 * Else one thread waits for the first timer, the others for a signal;
 * so a timer wakes one thread and not all. */
static void wait_for_work_locked(ki_loop *loop) KI_REQUIRES(loop->mu)
{
    uint64_t due_ns = first_due_locked(loop);
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

/* A thread that goes to run a job may have been the one that waited for the timer; then another has to. */
static void run_next_locked(ki_loop *loop) KI_REQUIRES(loop->mu)
{
    ki_job *job = take_locked(loop);
    if (job == NULL) {
        wait_for_work_locked(loop);
        return;
    }
    if (loop->timers.count > 0 && !loop->has_timer_thread)
        ki_cond_signal(&loop->work);
    run_locked(loop, job);
}

/* A thread that ends may have been the one that waited for the timer, and one that has begun meanwhile may
 * have relied on that: it looks again. */
static void thread_run(void *user)
{
    loop_thread *self = user;
    ki_loop *loop = self->loop;
    ki_mutex_lock(&loop->mu);
    loop->is_attended = 1;
    while (!self->is_stopping)
        run_next_locked(loop);
    loop->stopping_count--;
    settle_fd_locked(loop);
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
    ki_mutex_unlock(&loop->mu);
    return rc;
}

/* The threads leave the loop at once, so that it may grow while they are waited for. */
void ki_loop_stop(ki_loop *loop)
{
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
    settle_fd_locked(loop);
    ki_cond_broadcast(&loop->work);
    ki_mutex_unlock(&loop->mu);
    for (ki_list_node *n = ki_list_pop_front(&stopped); n != NULL; n = ki_list_pop_front(&stopped)) {
        loop_thread *thread = KI_CONTAINER_OF(n, loop_thread, node);
        ki_thread_join(&thread->thread);
        ki_free(thread);
    }
}

int ki_loop_is_current(const ki_loop *loop)
{
    return current.loop != NULL && (loop == NULL || current.loop == loop);
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
        settle_fd_locked(loop);
}

void ki_job_fini(ki_job *job)
{
    ki_loop *loop = job->loop;
    if (loop == NULL)
        return;
    ki_mutex_lock(&loop->mu);
    if (!job->is_ended)
        end_locked(loop, job);
    if (current.job == job) {
        current.job = NULL;
        job->is_running = 0;
    }
    while (job->is_running)
        ki_cond_wait(&loop->run_ended, &loop->mu);
    ki_mutex_unlock(&loop->mu);
}

void ki_job_wake(ki_job *job)
{
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
    assert(rc == 0); /* ki_job_init() has reserved the place */
    (void)rc;
}

/* Who waits for the first timer may be any of those who wait, and all have to look. */
void ki_job_wake_at(ki_job *job, uint64_t due_ns)
{
    ki_loop *loop = job->loop;
    ki_mutex_lock(&loop->mu);
    if (!job->is_ended) {
        uint64_t before_ns = first_due_locked(loop);
        set_timer_locked(loop, job, due_ns);
        if (first_due_locked(loop) < before_ns)
            ki_cond_broadcast(&loop->work);
        if (!loop->clock->is_virtual && !loop->is_attended)
            ki_wake_fd_raise_at(&loop->wake_fd, first_due_locked(loop));
    }
    ki_mutex_unlock(&loop->mu);
}

int ki_job_is_current(const ki_job *job)
{
    return job != NULL && current.job == job;
}
