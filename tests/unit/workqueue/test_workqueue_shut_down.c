/* SPDX-License-Identifier: Apache-2.0 */
/* Shutting down a queue: which keys are still handed out, which are dropped, and how long a drain waits. */
#include <kinformer/workqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/aside.h"
#include "support/controller/work_rig.h"
#include "support/failing_allocator.h"
#include "support/patience.h"
#include "support/unit.h"
#include "workqueue/queue.h"

/* ---- in virtual time ----------------------------------------------------------------------------------- */

static void a_shut_down_refuses_new_keys_and_hands_out_the_old_ones(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    work_add(&rig, "a");
    work_add(&rig, "b");
    work_get(&rig, "a");
    work_add(&rig, "a");
    assert_int_equal(ki_workqueue_shutting_down(rig.queue), 0);
    ki_workqueue_shut_down(rig.queue);
    assert_int_equal(ki_workqueue_shutting_down(rig.queue), 1);
    assert_int_equal(ki_workqueue_add(rig.queue, KI_STR("c"), KI_PRIORITY_HIGH), KI_ERR_STOPPED);
    assert_int_equal(ki_workqueue_add_after(rig.queue, KI_STR("c"), KI_PRIORITY_HIGH, 1), KI_ERR_STOPPED);
    assert_int_equal(ki_workqueue_add_after(rig.queue, KI_STR("c"), KI_PRIORITY_HIGH, 0), KI_ERR_STOPPED);
    assert_int_equal(ki_workqueue_add_rate_limited(rig.queue, KI_STR("c"), KI_PRIORITY_HIGH), KI_ERR_STOPPED);
    work_get(&rig, "b");
    work_get_nothing(&rig, KI_ERR_STOPPED);
    assert_int_equal(work_done(&rig, "a"), 0);
    work_get(&rig, "a");
    work_get_nothing(&rig, KI_ERR_STOPPED);
    work_rig_fini(&rig);
}

static void a_shut_down_drops_and_counts_delayed_keys(void **state)
{
    (void)state;
    work_rig rig;
    ki_workqueue_stats stats;
    work_rig_init(&rig, NULL);
    work_add_after(&rig, "due", 5);
    ki_clock_advance_ms(&rig.clock, 5);
    work_add_after(&rig, "only", 10);
    work_add_after(&rig, "processed", 10);
    work_add_after(&rig, "waits", 10);
    work_add(&rig, "processed");
    work_get(&rig, "due");
    work_get(&rig, "processed");
    work_add(&rig, "waits");
    work_add_after(&rig, "soon", 1);
    ki_clock_advance_ms(&rig.clock, 1);
    ki_workqueue_shut_down(rig.queue);
    ki_workqueue_shut_down(rig.queue);
    ki_clock_advance_ms(&rig.clock, 1000);
    ki_workqueue_read_stats(rig.queue, &stats);
    assert_int_equal(stats.dropped, 2);
    assert_int_equal(stats.delayed, 0);
    work_get(&rig, "waits");
    work_get(&rig, "soon");
    work_get_nothing(&rig, KI_ERR_STOPPED);
    work_rig_fini(&rig);
}

static void a_drain_waits_for_queued_keys_and_for_those_being_processed(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    work_add(&rig, "a");
    work_add(&rig, "b");
    work_get(&rig, "a");
    work_add(&rig, "a");
    work_add_after(&rig, "delayed", 10);
    assert_int_equal(ki_workqueue_drain(rig.queue, 0), KI_ERR_TIMEOUT);
    assert_int_equal(ki_workqueue_add(rig.queue, KI_STR("c"), KI_PRIORITY_HIGH), KI_ERR_STOPPED);
    assert_int_equal(work_done(&rig, "a"), 0); /* added again before the drain */
    assert_int_equal(ki_workqueue_drain(rig.queue, 0), KI_ERR_TIMEOUT);
    work_get(&rig, "b");
    work_get(&rig, "a");
    assert_int_equal(work_done(&rig, "b"), 0);
    assert_int_equal(ki_workqueue_drain(rig.queue, 0), KI_ERR_TIMEOUT);
    assert_int_equal(work_done(&rig, "a"), 0);
    assert_int_equal(ki_workqueue_drain(rig.queue, 0), 0);
    work_rig_fini(&rig);
}

static void an_empty_queue_is_drained_at_once(void **state)
{
    (void)state;
    ki_workqueue *queue = ki_workqueue_new(NULL, NULL);
    assert_int_equal(ki_workqueue_drain(queue, UINT64_MAX), 0);
    ki_workqueue_shut_down(queue);
    assert_int_equal(ki_workqueue_drain(queue, UINT64_MAX), 0);
    ki_workqueue_free(queue);
}

/* ---- with threads -------------------------------------------------------------------------------------- */

typedef struct drain {
    ki_workqueue *queue;
    uint64_t timeout_ms;
    int rc;
} drain;

static void run_drain(void *user)
{
    drain *d = user;
    d->rc = ki_workqueue_drain(d->queue, d->timeout_ms);
}

/* The drain has begun once new keys are refused. */
static void start_drain(aside *call, drain *d)
{
    aside_start(call, run_drain, d);
    while (!ki_workqueue_shutting_down(d->queue))
        aside_pause(1);
}

static void a_drain_returns_after_the_last_done(void **state)
{
    (void)state;
    aside call = {0};
    drain d = {ki_workqueue_new(NULL, NULL), UINT64_MAX, -1};
    ki_work_item first;
    ki_work_item second;
    assert_int_equal(ki_workqueue_add(d.queue, KI_STR("a"), KI_PRIORITY_HIGH), 0);
    assert_int_equal(ki_workqueue_add(d.queue, KI_STR("b"), KI_PRIORITY_HIGH), 0);
    assert_int_equal(ki_workqueue_get(d.queue, 0, &first), 0);
    start_drain(&call, &d);
    assert_int_equal(ki_workqueue_done(d.queue, first.key), 0);
    assert_int_equal(ki_workqueue_get(d.queue, 0, &second), 0);
    assert_int_equal(aside_ends_within(&call, 20), 0);
    assert_int_equal(ki_workqueue_done(d.queue, second.key), 0);
    assert_int_equal(aside_ends_within(&call, HANG_MS), 1);
    aside_join(&call);
    assert_int_equal(d.rc, 0);
    ki_workqueue_free(d.queue);
}

static void every_shut_down_ends_running_drains(void **state)
{
    (void)state;
    drain d = {ki_workqueue_new(NULL, NULL), UINT64_MAX, 0};
    ki_work_item item;
    assert_int_equal(ki_workqueue_add(d.queue, KI_STR("a"), KI_PRIORITY_HIGH), 0);
    assert_int_equal(ki_workqueue_get(d.queue, 0, &item), 0);
    for (int round = 0; round < 3; round++) {
        aside call = {0};
        d.rc = 0;
        start_drain(&call, &d);
        while (!aside_ends_within(&call, 1)) /* whether or not the drain has begun to wait */
            ki_workqueue_shut_down(d.queue);
        aside_join(&call);
        assert_int_equal(d.rc, KI_ERR_STOPPED);
    }
    assert_int_equal(ki_workqueue_done(d.queue, item.key), 0);
    ki_workqueue_free(d.queue);
}

static void a_drain_times_out(void **state)
{
    (void)state;
    drain d = {ki_workqueue_new(NULL, NULL), 20, 0};
    assert_int_equal(ki_workqueue_add(d.queue, KI_STR("a"), KI_PRIORITY_HIGH), 0);
    run_drain(&d);
    assert_int_equal(d.rc, KI_ERR_TIMEOUT);
    ki_workqueue_free(d.queue);
}

/* ---- in a child ---------------------------------------------------------------------------------------- */

static int use_in_child(ki_workqueue *queue)
{
    ki_work_item item;
    int is_refused = ki_workqueue_add(queue, KI_STR("b"), KI_PRIORITY_HIGH) == KI_ERR_FORKED &&
                     ki_workqueue_add_rate_limited(queue, KI_STR("b"), KI_PRIORITY_HIGH) == KI_ERR_FORKED &&
                     ki_workqueue_get(queue, UINT64_MAX, &item) == KI_ERR_FORKED &&
                     ki_workqueue_done(queue, KI_STR("a")) == KI_ERR_FORKED &&
                     ki_workqueue_drain(queue, UINT64_MAX) == KI_ERR_FORKED &&
                     ki_workqueue_fd(queue, NULL) == KI_ERR_FORKED && ki_workqueue_len(queue) == 0;
    ki_workqueue_shut_down(queue);
    ki_workqueue_free(queue);
    return is_refused;
}

static void a_child_can_only_free_the_queue_of_its_parent(void **state)
{
    (void)state;
    int status = -1;
    ki_metrics *metrics = ki_metrics_new(NULL, NULL);
    ki_workqueue *queue = ki_workqueue_new(&(ki_workqueue_options){.name = "q", .metrics = metrics}, NULL);
    ki_workqueue *buffered = ki_workqueue_new(NULL, NULL);
    assert_int_equal(ki_workqueue_add(queue, KI_STR("a"), KI_PRIORITY_HIGH), 0);
    assert_int_equal(ki_workqueue_add(buffered, KI_STR("a"), KI_PRIORITY_HIGH), 0); /* is an arrival */
    assert_int_equal(ki_workqueue_add_rate_limited(queue, KI_STR("a"), KI_PRIORITY_HIGH), 0);
    assert_true(ki_workqueue_fd(queue, NULL) >= 0);
    pid_t child = fork();
    if (child == 0)
        _exit(use_in_child(queue) && use_in_child(buffered) ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(ki_workqueue_shutting_down(queue), 0);
    assert_int_equal(ki_workqueue_len(queue), 1);
    assert_int_equal(ki_workqueue_len(buffered), 1);
    ki_workqueue_free(buffered);
    ki_workqueue_free(queue);
    ki_metrics_free(metrics);
}

static void *get_one(void *user)
{
    ki_work_item item;
    assert_int_equal(ki_workqueue_get(user, UINT64_MAX, &item), KI_ERR_STOPPED);
    return NULL;
}

/* In the child, the mutex would count the sleeping worker, which does not exist there. */
static void a_child_can_free_a_queue_in_which_a_worker_sleeps(void **state)
{
    (void)state;
    int status = -1;
    pthread_t worker;
    ki_workqueue *queue = ki_workqueue_new(NULL, NULL);
    assert_int_equal(pthread_create(&worker, NULL, get_one, queue), 0);
    for (size_t sleepers = 0; sleepers == 0; (void)poll(NULL, 0, 1)) {
        ki_workqueue_lock(queue);
        sleepers = queue->waiters.sleepers;
        ki_workqueue_unlock(queue);
    }
    pid_t child = fork();
    if (child == 0) {
        ki_workqueue_free(queue);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    ki_workqueue_shut_down(queue);
    assert_int_equal(pthread_join(worker, NULL), 0);
    ki_workqueue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_shut_down_refuses_new_keys_and_hands_out_the_old_ones),
        WITH_MEMORY_CHECK(a_shut_down_drops_and_counts_delayed_keys),
        WITH_MEMORY_CHECK(a_drain_waits_for_queued_keys_and_for_those_being_processed),
        WITH_MEMORY_CHECK(an_empty_queue_is_drained_at_once),
        WITH_MEMORY_CHECK(a_drain_returns_after_the_last_done),
        WITH_MEMORY_CHECK(every_shut_down_ends_running_drains),
        WITH_MEMORY_CHECK(a_drain_times_out),
        WITH_MEMORY_CHECK(a_child_can_only_free_the_queue_of_its_parent),
        WITH_MEMORY_CHECK(a_child_can_free_a_queue_in_which_a_worker_sleeps),
    };
    return RUN_TESTS(tests);
}
