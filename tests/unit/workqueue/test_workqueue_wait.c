/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting workers, and the descriptor for event loops. These tests use real time,
 * as only the kernel can wake a thread. */
#include <kinformer/workqueue.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "support/aside.h"
#include "support/failing_allocator.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/units.h"
#include "workqueue/waiters.h"

enum { WORKERS = 4 };

typedef struct worker {
    aside call;
    ki_workqueue *queue;
    uint64_t timeout_ms;
    int rc;
    uint64_t own_ns; /* CPU time of its thread */
} worker;

static void get_one(void *user)
{
    worker *w = user;
    ki_work_item item;
    w->rc = ki_workqueue_get(w->queue, w->timeout_ms, &item);
    if (w->rc == 0)
        (void)ki_workqueue_done(w->queue, item.key);
}

static void start(worker *w, ki_workqueue *queue, uint64_t timeout_ms)
{
    *w = (worker){.queue = queue, .timeout_ms = timeout_ms, .rc = 1};
    aside_start(&w->call, get_one, w);
}

static void assert_ends_with(worker *w, int rc)
{
    assert_int_equal(aside_ends_within(&w->call, HANG_MS), 1);
    aside_join(&w->call);
    assert_int_equal(w->rc, rc);
}

/* Returns how many workers have ended so far. */
static int count_ended(worker *workers)
{
    int ended = 0;
    for (int i = 0; i < WORKERS; i++)
        ended += atomic_load(&workers[i].call.is_done) != 0;
    return ended;
}

static void start_all(worker *workers, ki_workqueue *queue)
{
    for (int i = 0; i < WORKERS; i++)
        start(&workers[i], queue, UINT64_MAX);
}

static void a_waiting_worker_gets_an_added_key(void **state)
{
    (void)state;
    ki_workqueue *queue = ki_workqueue_new(NULL, NULL);
    worker w;
    start(&w, queue, UINT64_MAX);
    assert_int_equal(aside_ends_within(&w.call, 20), 0);
    assert_int_equal(ki_workqueue_add(queue, KI_STR("a"), KI_PRIORITY_HIGH), 0);
    assert_ends_with(&w, 0);
    ki_workqueue_free(queue);
}

static void a_waiting_worker_gets_a_key_that_becomes_due(void **state)
{
    (void)state;
    ki_workqueue *queue = ki_workqueue_new(NULL, NULL);
    worker w;
    start(&w, queue, UINT64_MAX);
    assert_int_equal(ki_workqueue_add_after(queue, KI_STR("late"), KI_PRIORITY_HIGH, 1000 * 1000), 0);
    assert_int_equal(aside_ends_within(&w.call, 20), 0);
    assert_int_equal(ki_workqueue_add_after(queue, KI_STR("soon"), KI_PRIORITY_HIGH, 30), 0);
    assert_ends_with(&w, 0);
    ki_workqueue_free(queue);
}

/* One worker waits for the next delay to end. When it returns with the first key,
 * another worker must take over. */
static void each_worker_gets_one_of_the_keys_that_become_due(void **state)
{
    (void)state;
    static const char *const keys[WORKERS] = {"a", "b", "c", "d"};
    ki_workqueue *queue = ki_workqueue_new(NULL, NULL);
    worker workers[WORKERS];
    start_all(workers, queue);
    for (uint64_t i = 0; i < WORKERS; i++)
        assert_int_equal(
            ki_workqueue_add_after(queue, ki_str_of(keys[i]), KI_PRIORITY_HIGH, i < 2 ? 30 : 30 * i), 0);
    for (int i = 0; i < WORKERS; i++)
        assert_ends_with(&workers[i], 0);
    ki_workqueue_free(queue);
}

static void an_add_wakes_one_worker_and_not_all(void **state)
{
    (void)state;
    ki_workqueue *queue = ki_workqueue_new(NULL, NULL);
    worker workers[WORKERS];
    start_all(workers, queue);
    for (int i = 1; i <= WORKERS; i++) {
        assert_int_equal(ki_workqueue_add(queue, KI_STR("a"), KI_PRIORITY_HIGH), 0);
        while (count_ended(workers) < i)
            aside_pause(1);
        assert_int_equal(ki_workqueue_len(queue), 0);
        assert_int_equal(count_ended(workers), i);
    }
    for (int i = 0; i < WORKERS; i++)
        assert_ends_with(&workers[i], 0);
    ki_workqueue_free(queue);
}

/* Holds its key until every worker has one, so no worker can take two. */
static void get_and_hold(void *user)
{
    static atomic_int holding;
    worker *w = user;
    ki_work_item item;
    w->rc = ki_workqueue_get(w->queue, w->timeout_ms, &item);
    atomic_fetch_add(&holding, 1);
    while (atomic_load(&holding) < WORKERS)
        aside_pause(1);
    (void)ki_workqueue_done(w->queue, item.key);
}

static void each_of_several_adds_wakes_a_worker(void **state)
{
    (void)state;
    static const char *const keys[WORKERS] = {"a", "b", "c", "d"};
    ki_workqueue *queue = ki_workqueue_new(NULL, NULL);
    worker workers[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (worker){.queue = queue, .timeout_ms = UINT64_MAX, .rc = 1};
        aside_start(&workers[i].call, get_and_hold, &workers[i]);
    }
    assert_int_equal(aside_ends_within(&workers[0].call, 20), 0);
    for (int i = 0; i < WORKERS; i++)
        assert_int_equal(ki_workqueue_add(queue, ki_str_of(keys[i]), KI_PRIORITY_HIGH), 0);
    for (int i = 0; i < WORKERS; i++)
        assert_ends_with(&workers[i], 0);
    ki_workqueue_free(queue);
}

static void an_add_wakes_no_sleeper_while_a_worker_lingers(void **state)
{
    (void)state;
    ki_work_waiters waiters;
    ki_work_waiters_init(&waiters);
    waiters.sleepers = 1;
    waiters.is_lingering = true;
    ki_work_waiters_wake_one(&waiters);
    assert_false(ki_work_waiters_take_signals(&waiters).sleeper);
    waiters.is_lingering = false;
    ki_work_waiters_wake_one(&waiters);
    assert_true(ki_work_waiters_take_signals(&waiters).sleeper);
    waiters.sleepers = 0;
    ki_work_waiters_fini(&waiters);
}

static void get_and_measure(void *user)
{
    worker *w = user;
    struct timespec own;
    get_one(w);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
    w->own_ns = (uint64_t)own.tv_sec * KI_NS_PER_S + (uint64_t)own.tv_nsec;
}

static void a_lingering_worker_falls_asleep(void **state)
{
    (void)state;
    enum { WAIT_MS = 50 };
    ki_workqueue *queue = ki_workqueue_new(NULL, NULL);
    worker w = {.queue = queue, .timeout_ms = WAIT_MS, .rc = 1};
    aside_start(&w.call, get_and_measure, &w);
    assert_ends_with(&w, KI_ERR_TIMEOUT);
    assert_true(w.own_ns < WAIT_MS * KI_NS_PER_MS / 2);
    ki_workqueue_free(queue);
}

static void a_shut_down_wakes_every_worker(void **state)
{
    (void)state;
    for (int with_delay = 0; with_delay < 2; with_delay++) {
        ki_workqueue *queue = ki_workqueue_new(NULL, NULL);
        worker workers[WORKERS];
        if (with_delay)
            assert_int_equal(ki_workqueue_add_after(queue, KI_STR("a"), KI_PRIORITY_HIGH, 1000 * 1000), 0);
        start_all(workers, queue);
        assert_int_equal(aside_ends_within(&workers[0].call, 20), 0);
        ki_workqueue_shut_down(queue);
        for (int i = 0; i < WORKERS; i++)
            assert_ends_with(&workers[i], KI_ERR_STOPPED);
        ki_workqueue_free(queue);
    }
}

static void a_worker_waits_no_longer_than_its_timeout(void **state)
{
    (void)state;
    ki_workqueue *queue = ki_workqueue_new(NULL, NULL);
    worker workers[WORKERS];
    assert_int_equal(ki_workqueue_add_after(queue, KI_STR("a"), KI_PRIORITY_HIGH, 1000 * 1000), 0);
    for (uint64_t i = 0; i < WORKERS; i++)
        start(&workers[i], queue, i * 10);
    for (int i = 0; i < WORKERS; i++)
        assert_ends_with(&workers[i], KI_ERR_TIMEOUT);
    ki_workqueue_free(queue);
}

/* ---- the descriptor ------------------------------------------------------------------------------------ */

enum { MANY = 5000 };

/* Makes the queue large, by keys that are being processed. */
static ki_workqueue *new_large_queue(void)
{
    ki_work_item item;
    char key[16];
    ki_workqueue *queue = ki_workqueue_new(NULL, NULL);
    for (int i = 0; i < MANY; i++) {
        snprintf(key, sizeof(key), "k%d", i);
        assert_int_equal(ki_workqueue_add(queue, ki_str_of(key), KI_PRIORITY_HIGH), 0);
        assert_int_equal(ki_workqueue_get(queue, 0, &item), 0);
    }
    return queue;
}

static void a_waiting_worker_of_a_large_queue_gets_an_added_key(void **state)
{
    (void)state;
    worker w;
    ki_workqueue *queue = new_large_queue();
    start(&w, queue, UINT64_MAX);
    assert_false(aside_ends_within(&w.call, 50));
    assert_int_equal(ki_workqueue_add(queue, KI_STR("a"), KI_PRIORITY_HIGH), 0);
    assert_ends_with(&w, 0);
    ki_workqueue_free(queue);
}

static int is_readable(int fd, int timeout_ms)
{
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    return poll(&polled, 1, timeout_ms) == 1;
}

static void the_descriptor_is_readable_while_there_is_a_key_to_get(void **state)
{
    (void)state;
    ki_work_item item;
    ki_workqueue *queue = ki_workqueue_new(NULL, NULL);
    assert_int_equal(ki_workqueue_add(queue, KI_STR("a"), KI_PRIORITY_HIGH), 0);
    int fd = ki_workqueue_fd(queue, NULL);
    assert_true(fd >= 0);
    assert_int_equal(ki_workqueue_fd(queue, NULL), fd);
    assert_true(is_readable(fd, 0));
    assert_int_equal(ki_workqueue_get(queue, 0, &item), 0);
    assert_false(is_readable(fd, 0));
    assert_int_equal(ki_workqueue_add(queue, KI_STR("a"), KI_PRIORITY_HIGH), 0);
    assert_false(is_readable(fd, 0)); /* no worker can get it before done */
    assert_int_equal(ki_workqueue_done(queue, item.key), 0);
    assert_true(is_readable(fd, 0));
    assert_int_equal(ki_workqueue_get(queue, 0, &item), 0);
    assert_int_equal(ki_workqueue_done(queue, item.key), 0);
    assert_false(is_readable(fd, 0));
    ki_workqueue_shut_down(queue);
    assert_true(is_readable(fd, 0));
    assert_int_equal(ki_workqueue_get(queue, 0, &item), KI_ERR_STOPPED);
    ki_workqueue_free(queue);
}

static void the_descriptor_of_a_large_queue_is_as_exact(void **state)
{
    (void)state;
    ki_work_item item;
    ki_workqueue *queue = new_large_queue();
    int fd = ki_workqueue_fd(queue, NULL);
    assert_int_equal(ki_workqueue_add(queue, KI_STR("k1"), KI_PRIORITY_HIGH), 0);
    assert_false(is_readable(fd, 0)); /* no worker can get it before done */
    assert_int_equal(ki_workqueue_add(queue, KI_STR("a"), KI_PRIORITY_HIGH), 0);
    assert_true(is_readable(fd, 0));
    assert_int_equal(ki_workqueue_get(queue, 0, &item), 0);
    assert_true(ki_str_equal(item.key, KI_STR("a")));
    assert_false(is_readable(fd, 0));
    ki_workqueue_free(queue);
}

static void the_descriptor_becomes_readable_when_a_delay_ends(void **state)
{
    (void)state;
    ki_work_item item;
    ki_workqueue *queue = ki_workqueue_new(NULL, NULL);
    int fd = ki_workqueue_fd(queue, NULL);
    assert_int_equal(ki_workqueue_add_after(queue, KI_STR("b"), KI_PRIORITY_HIGH, 1000 * 1000), 0);
    assert_false(is_readable(fd, 0));
    assert_int_equal(ki_workqueue_add_after(queue, KI_STR("a"), KI_PRIORITY_HIGH, 20), 0);
    assert_true(is_readable(fd, HANG_MS));
    assert_int_equal(ki_workqueue_get(queue, 0, &item), 0);
    assert_true(ki_str_equal(item.key, KI_STR("a")));
    assert_int_equal(ki_workqueue_done(queue, item.key), 0);
    assert_false(is_readable(fd, 0));
    ki_workqueue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_waiting_worker_gets_an_added_key),
        WITH_MEMORY_CHECK(a_waiting_worker_gets_a_key_that_becomes_due),
        WITH_MEMORY_CHECK(each_worker_gets_one_of_the_keys_that_become_due),
        WITH_MEMORY_CHECK(a_waiting_worker_of_a_large_queue_gets_an_added_key),
        WITH_MEMORY_CHECK(an_add_wakes_one_worker_and_not_all),
        WITH_MEMORY_CHECK(each_of_several_adds_wakes_a_worker),
        WITH_MEMORY_CHECK(an_add_wakes_no_sleeper_while_a_worker_lingers),
        WITH_MEMORY_CHECK(a_lingering_worker_falls_asleep),
        WITH_MEMORY_CHECK(a_shut_down_wakes_every_worker),
        WITH_MEMORY_CHECK(a_worker_waits_no_longer_than_its_timeout),
        WITH_MEMORY_CHECK(the_descriptor_is_readable_while_there_is_a_key_to_get),
        WITH_MEMORY_CHECK(the_descriptor_of_a_large_queue_is_as_exact),
        WITH_MEMORY_CHECK(the_descriptor_becomes_readable_when_a_delay_ends),
    };
    return RUN_TESTS(tests);
}
