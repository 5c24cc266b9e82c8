/* SPDX-License-Identifier: Apache-2.0 */
/* Producers, workers and a reader of the metrics run at once: each key is on one worker at a time, the last
 * run of each key begins after its last add, and a drain returns when everything is done. */
#include <kinformer/metrics.h>
#include <kinformer/parallelize.h>
#include <kinformer/workqueue.h>
#include <sched.h>

#include "support/patience.h"
#include "support/require.h"
#include "support/unit.h"
#include "util/clock.h"
#include "util/random.h"
#include "util/thread.h"
#include "util/units.h"
#include "workqueue/queue_metrics.h"

enum { KEYS = 64, PRODUCERS = 3, WORKERS = 4, STEPS = 8000 };

typedef struct shared {
    ki_workqueue *queue;
    ki_metrics *metrics;     /* NULL: plain adds are arrivals for a while */
    bool has_delays;         /* not all adds are plain */
    atomic_uint added[KEYS]; /* how often, counted before the add */
    atomic_uint seen[KEYS];  /* the value of `added` that a worker has read at the start of its work */
    atomic_int on_workers[KEYS];
    atomic_int is_over;
    atomic_uint taken; /* keys, taken by workers that wait for each other */
} shared;

typedef struct thread {
    ki_thread thread;
    shared *shared;
    uint64_t seed;
} thread;

static int number_of(ki_str key)
{
    return (key.ptr[0] - '0') * 10 + key.ptr[1] - '0';
}

static ki_str key_of(int number, char text[3])
{
    text[0] = (char)('0' + number / 10);
    text[1] = (char)('0' + number % 10);
    return (ki_str){text, 2};
}

static int add_somehow(shared *s, ki_random *random, ki_str key)
{
    ki_priority priority = (ki_priority)ki_random_below(random, 2);
    switch (s->has_delays ? ki_random_below(random, 8) : 2) {
    case 0:
        return ki_workqueue_add_after(s->queue, key, priority, ki_random_below(random, 3));
    case 1:
        return ki_workqueue_add_rate_limited(s->queue, key, priority);
    default:
        return ki_workqueue_add(s->queue, key, priority);
    }
}

/* Delayed keys would be dropped at the end, so the last add of each key is a plain one. */
static void produce(void *user)
{
    thread *t = user;
    ki_random random;
    char text[3];
    ki_random_init(&random, t->seed);
    for (int step = 0; step < STEPS + KEYS; step++) {
        int number = step < STEPS ? (int)ki_random_below(&random, KEYS) : step - STEPS;
        ki_str key = key_of(number, text);
        atomic_fetch_add(&t->shared->added[number], 1);
        int rc = step < STEPS ? add_somehow(t->shared, &random, key)
                              : ki_workqueue_add(t->shared->queue, key, KI_PRIORITY_LOW);
        require(rc == 0);
    }
}

static void work(void *user)
{
    thread *t = user;
    shared *s = t->shared;
    ki_work_item item = {0};
    int rc = 0;
    for (uint64_t round = 0; rc != KI_ERR_STOPPED; round++) {
        rc = ki_workqueue_next(s->queue, round % 3 == 0 ? 1 : UINT64_MAX, &item);
        if (rc != 0)
            continue;
        int number = number_of(item.key);
        require(atomic_fetch_add(&s->on_workers[number], 1) == 0);
        atomic_store(&s->seen[number], atomic_load(&s->added[number]));
        if (round % 5 == 0)
            ki_workqueue_forget(s->queue, item.key);
        atomic_fetch_sub(&s->on_workers[number], 1);
        if (round % 2 == 0) {
            require(ki_workqueue_done(s->queue, item.key) == 0);
            item = (ki_work_item){0};
        }
    }
}

static void look(void *user)
{
    thread *t = user;
    while (!atomic_load(&t->shared->is_over)) {
        ki_metrics_text text = {0};
        ki_workqueue_stats stats;
        require(t->shared->metrics == NULL || ki_metrics_render(t->shared->metrics, &text, NULL) == 0);
        ki_metrics_text_fini(&text);
        ki_workqueue_read_stats(t->shared->queue, &stats);
        require(stats.processing <= WORKERS && stats.waiting <= KEYS && stats.depth >= stats.waiting);
    }
}

static void start(thread *t, shared *s, ki_thread_cb run, uint64_t seed)
{
    *t = (thread){.shared = s, .seed = seed};
    assert_int_equal(
        ki_thread_start(&t->thread, &(ki_thread_options){.name = "test", .run = run, .user = t}, NULL), 0);
}

static void produce_and_work(shared *s)
{
    thread producers[PRODUCERS];
    thread workers[WORKERS];
    thread looker;
    s->queue = ki_workqueue_new(&(ki_workqueue_options){.name = "q",
                                                        .metrics = s->metrics,
                                                        .limiter = ki_limiter_new_exponential(1, 2, NULL)},
                                NULL);
    assert_non_null(s->queue);
    start(&looker, s, look, 0);
    for (int i = 0; i < WORKERS; i++)
        start(&workers[i], s, work, 0);
    for (uint64_t i = 0; i < PRODUCERS; i++)
        start(&producers[i], s, produce, i + 1);
    for (int i = 0; i < PRODUCERS; i++)
        ki_thread_join(&producers[i].thread);
    assert_int_equal(ki_workqueue_drain(s->queue, HANG_MS), 0);
    for (int i = 0; i < WORKERS; i++)
        ki_thread_join(&workers[i].thread);
    atomic_store(&s->is_over, 1);
    ki_thread_join(&looker.thread);
    for (int i = 0; i < KEYS; i++)
        assert_int_equal(atomic_load(&s->seen[i]), atomic_load(&s->added[i]));
    assert_int_equal(failures, 0);
    ki_workqueue_free(s->queue);
}

static void no_add_is_missed_and_no_key_is_on_two_workers(void **state)
{
    (void)state;
    static shared s = {.has_delays = true};
    s.metrics = ki_metrics_new(NULL, NULL);
    produce_and_work(&s);
    ki_metrics_free(s.metrics);
}

static void no_arrival_is_missed(void **state)
{
    (void)state;
    static shared s;
    produce_and_work(&s);
}

static void no_arrival_is_missed_among_delays(void **state)
{
    (void)state;
    static shared s = {.has_delays = true};
    produce_and_work(&s);
}

/* ---- as many keys as workers --------------------------------------------------------------------------- */

enum { ROUNDS = 3000, PAUSE_NS_MAX = 6000 };

static void hold_until_all_have_one(void *user)
{
    thread *t = user;
    shared *s = t->shared;
    ki_work_item item = {0};
    while (ki_workqueue_next(s->queue, UINT64_MAX, &item) == 0) {
        unsigned nth = atomic_fetch_add(&s->taken, 1);
        while (atomic_load(&s->taken) < nth - nth % WORKERS + WORKERS && !atomic_load(&s->is_over))
            sched_yield();
    }
}

/* Waits, and returns whether that many keys were taken, before a timekeeper that nobody woke would look by
 * itself. */
static bool are_taken(shared *s, unsigned count)
{
    uint64_t began_ms = ki_clock_now_ms(ki_clock_real());
    while (atomic_load(&s->taken) < count && ki_clock_now_ms(ki_clock_real()) - began_ms < AT_ONCE_MS)
        sched_yield();
    return atomic_load(&s->taken) == count;
}

/* The pauses are chosen so that workers are found lingering, asleep, or between the two: while a key waits,
 * none of them may stay asleep. */
static bool keep_workers_busy(shared *s)
{
    ki_random random;
    char text[3];
    bool is_alive = true;
    ki_random_init(&random, 1);
    for (unsigned round = 0; round < ROUNDS && is_alive; round++) {
        for (unsigned i = 0; i < WORKERS; i++) {
            ki_str key = key_of((int)((round * WORKERS + i) % KEYS), text);
            assert_int_equal(ki_workqueue_add(s->queue, key, KI_PRIORITY_HIGH), 0);
        }
        is_alive = are_taken(s, (round + 1) * WORKERS);
        ki_thread_spin_ns(ki_random_below(&random, PAUSE_NS_MAX));
    }
    return is_alive;
}

static void let_workers_wait_and_work(shared *s)
{
    thread workers[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        start(&workers[i], s, hold_until_all_have_one, 0);
    bool is_alive = keep_workers_busy(s);
    atomic_store(&s->is_over, 1);
    ki_workqueue_shut_down(s->queue);
    for (int i = 0; i < WORKERS; i++)
        ki_thread_join(&workers[i].thread);
    ki_workqueue_free(s->queue);
    assert_true(is_alive);
}

static void no_worker_sleeps_while_a_key_waits(void **state)
{
    (void)state;
    static shared s;
    s.queue = ki_workqueue_new(NULL, NULL);
    let_workers_wait_and_work(&s);
}

/* The delay does not end, so the timekeeper, too, sleeps until it is woken for a key. */
static void no_timekeeper_sleeps_while_a_key_waits(void **state)
{
    (void)state;
    static shared s;
    s.queue = ki_workqueue_new(NULL, NULL);
    assert_int_equal(ki_workqueue_add_after(s.queue, KI_STR("far"), KI_PRIORITY_LOW, UINT64_MAX), 0);
    let_workers_wait_and_work(&s);
}

/* ---- metrics ------------------------------------------------------------------------------------------- */

enum { HELD = 3, TIMES = 300 * 1000, BEGAN_S = 3600 };

typedef struct measured {
    ki_work_metrics cells;
    atomic_int is_over;
} measured;

static void begin_and_end(void *user)
{
    measured *m = user;
    for (int times = 0; times < TIMES; times++) {
        for (int i = 0; i < HELD; i++)
            ki_work_metrics_begin(&m->cells, BEGAN_S * KI_NS_PER_S, BEGAN_S * KI_NS_PER_S);
        for (int i = 0; i < HELD; i++)
            ki_work_metrics_end(&m->cells, BEGAN_S * KI_NS_PER_S, UINT64_MAX);
    }
    atomic_store(&m->is_over, 1);
}

/* Otherwise the result would be off by an hour, which is when the work began. */
static void unfinished_work_is_read_with_the_number_of_its_keys(void **state)
{
    (void)state;
    static measured m;
    ki_thread beginner;
    ki_clock clock;
    ki_metrics *metrics = ki_metrics_new(NULL, NULL);
    ki_clock_init_virtual(&clock, (BEGAN_S + 1) * KI_NS_PER_S, 0);
    ki_work_metrics_init(&m.cells, metrics, "q", &clock);
    const ki_thread_options options = {.name = "test", .run = begin_and_end, .user = &m};
    assert_int_equal(ki_thread_start(&beginner, &options, NULL), 0);
    int wrong = 0;
    while (!atomic_load(&m.is_over)) {
        uint64_t ages_ns = (uint64_t)m.cells.unfinished->read(m.cells.unfinished->user);
        wrong += ages_ns % KI_NS_PER_S == 0 && ages_ns / KI_NS_PER_S <= HELD ? 0 : 1;
    }
    ki_thread_join(&beginner);
    ki_work_metrics_fini(&m.cells);
    ki_metrics_free(metrics);
    assert_int_equal(wrong, 0);
}

/* Queues are created and freed while a thread reads their shared metrics. */
static int make_and_free(size_t piece, void *user)
{
    shared *s = user;
    ki_metrics_text text = {0};
    if (piece % 4 == 0) {
        int rc = ki_metrics_render(s->metrics, &text, NULL);
        ki_metrics_text_fini(&text);
        return rc;
    }
    ki_workqueue *queue = ki_workqueue_new(&(ki_workqueue_options){.name = "q", .metrics = s->metrics}, NULL);
    int rc = queue == NULL ? KI_ERR_NO_MEMORY : ki_workqueue_add(queue, KI_STR("a"), KI_PRIORITY_HIGH);
    ki_workqueue_free(queue);
    return rc;
}

static void queues_come_and_go_while_metrics_are_read(void **state)
{
    (void)state;
    shared s = {.metrics = ki_metrics_new(NULL, NULL)};
    assert_int_equal(ki_parallelize_until(2000, make_and_free, &(ki_parallelize_options){.workers = 4}, &s),
                     0);
    ki_metrics_free(s.metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_add_is_missed_and_no_key_is_on_two_workers),
        cmocka_unit_test(no_arrival_is_missed),
        cmocka_unit_test(no_arrival_is_missed_among_delays),
        cmocka_unit_test(no_worker_sleeps_while_a_key_waits),
        cmocka_unit_test(no_timekeeper_sleeps_while_a_key_waits),
        cmocka_unit_test(unfinished_work_is_read_with_the_number_of_its_keys),
        cmocka_unit_test(queues_come_and_go_while_metrics_are_read),
    };
    return RUN_TESTS(tests);
}
