/* SPDX-License-Identifier: Apache-2.0 */
/* Random calls in virtual time, compared with a simple model: no key is lost, none is on two workers at once,
 * keys leave in the order of their priorities, a drain returns, and no key is handed out after the end. One
 * seed is one exact run; KI_SEED repeats it.
 *
 * One run in LARGE_EVERY has so many other keys that the table is large. One run in NO_DELAYS_EVERY has no
 * delays, since an add to a queue with delays first puts the arrivals into the table. */
#include <kinformer/workqueue.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/controller/work_rig.h"
#include "support/failing_allocator.h"
#include "support/unit.h"
#include "util/random.h"
#include "util/units.h"
#include "workqueue/queue.h"

enum {
    KEYS = 12,
    STEPS = 250,
    SEEDS = 4000,
    WORKERS = 3,
    NONE = -1,
    LARGE_EVERY = 20,
    NO_DELAYS_EVERY = 3,
    OTHERS = 3500
};

/* One key in the model. */
typedef struct model_key {
    bool is_dirty;
    bool is_processing;
    ki_priority priority;
    uint64_t place;  /* its position among keys of the same priority */
    uint64_t due_ns; /* 0: not delayed */
    ki_priority due_priority;
    uint64_t resume_ns; /* 0: not put off; while it is put off, `priority` is that of the work */
} model_key;

typedef struct model {
    model_key keys[KEYS];
    uint64_t next_place;
    int high_in_a_row;
    bool is_stopping;
    uint64_t dropped;
} model;

typedef struct run {
    work_rig rig;
    ki_random random;
    model model;
    int held[WORKERS]; /* the key held by each worker, or NONE */
    bool has_delays;
    size_t others; /* keys outside the model, which are being processed all the time */
} run;

static ki_str name_of(int key, char name[8])
{
    snprintf(name, 8, "key-%d", key);
    return ki_str_of(name);
}

static int key_of(ki_str name)
{
    int number = 0;
    for (size_t i = 4; i < name.len; i++)
        number = number * 10 + (name.ptr[i] - '0');
    return number;
}

static uint64_t below(run *r, uint64_t bound)
{
    return ki_random_below(&r->random, bound);
}

/* ---- the model ----------------------------------------------------------------------------------------- */

static void model_add(model *m, int key, ki_priority priority)
{
    model_key *k = &m->keys[key];
    bool moves = !k->is_dirty || priority < k->priority;
    if (!moves)
        return;
    k->priority = k->resume_ns != 0 && k->priority < priority ? k->priority : priority;
    k->resume_ns = 0;
    k->is_dirty = true;
    k->place = m->next_place++;
}

static uint64_t model_next_of(const model_key *k)
{
    bool resumes_first = k->resume_ns != 0 && (k->due_ns == 0 || k->resume_ns < k->due_ns);
    return resumes_first ? k->resume_ns : k->due_ns;
}

/* The key of which a delay or a put-off ended first; no two end at the same time. */
static int model_next_due(const model *m, uint64_t now_ns)
{
    int next = NONE;
    for (int i = 0; i < KEYS; i++) {
        uint64_t ns = model_next_of(&m->keys[i]);
        if (ns != 0 && ns <= now_ns && (next == NONE || ns < model_next_of(&m->keys[next])))
            next = i;
    }
    return next;
}

static void model_ripen(model *m, uint64_t now_ns)
{
    for (int i = model_next_due(m, now_ns); i != NONE; i = model_next_due(m, now_ns)) {
        model_key *k = &m->keys[i];
        if (model_next_of(k) == k->resume_ns) {
            model_add(m, i, k->priority);
            continue;
        }
        k->due_ns = 0;
        model_add(m, i, k->due_priority);
    }
}

static int model_first(const model *m, ki_priority priority)
{
    int first = NONE;
    for (int i = 0; i < KEYS; i++) {
        const model_key *k = &m->keys[i];
        if (k->is_dirty && !k->is_processing && k->priority == priority &&
            (first == NONE || k->place < m->keys[first].place))
            first = i;
    }
    return first;
}

static int model_get(model *m)
{
    int high = model_first(m, KI_PRIORITY_HIGH);
    int low = model_first(m, KI_PRIORITY_LOW);
    if (high == NONE && low == NONE)
        return NONE;
    int takes_low = low != NONE && (high == NONE || m->high_in_a_row == KI_WORKQUEUE_LOW_EVERY - 1);
    m->high_in_a_row = takes_low || low == NONE ? 0 : m->high_in_a_row + 1;
    int key = takes_low ? low : high;
    m->keys[key].is_dirty = false;
    m->keys[key].is_processing = true;
    return key;
}

static void model_done(model *m, int key)
{
    m->keys[key].is_processing = false;
    m->keys[key].place = m->next_place++;
}

static void model_stop(model *m)
{
    m->is_stopping = true;
    for (int i = 0; i < KEYS; i++) {
        m->dropped += model_next_of(&m->keys[i]) != 0 && !m->keys[i].is_dirty;
        m->keys[i].due_ns = m->keys[i].resume_ns = 0;
    }
}

static size_t model_count(const model *m, bool waiting, bool processing)
{
    size_t count = 0;
    for (int i = 0; i < KEYS; i++)
        count += (waiting && m->keys[i].is_dirty && !m->keys[i].is_processing) ||
                 (processing && m->keys[i].is_processing);
    return count;
}

/* ---- steps --------------------------------------------------------------------------------------------- */

/* Returns whether the call was refused, after a shut-down or when out of memory; then nothing has changed. */
static bool is_refused(const run *r, int rc)
{
    if (r->model.is_stopping) {
        assert_int_equal(rc, KI_ERR_STOPPED);
        return true;
    }
    if (rc == KI_ERR_NO_MEMORY) {
        assert_true(failing_allocator_has_failed());
        return true;
    }
    assert_int_equal(rc, 0);
    return false;
}

static void step_add(run *r)
{
    char name[8];
    int key = (int)below(r, KEYS);
    ki_priority priority = (ki_priority)below(r, 2);
    const model_key *k = &r->model.keys[key];
    bool is_known = k->is_dirty || k->is_processing || k->resume_ns != 0;
    int rc = ki_workqueue_add(r->rig.queue, name_of(key, name), priority);
    assert_false(is_known && rc == KI_ERR_NO_MEMORY);
    if (!is_refused(r, rc))
        model_add(&r->model, key, priority);
}

/* The order of keys whose times come together is unspecified, so each has a different one. */
static bool is_taken(const run *r, uint64_t ns)
{
    for (int i = 0; i < KEYS; i++)
        if (r->model.keys[i].due_ns == ns || r->model.keys[i].resume_ns == ns)
            return true;
    return false;
}

static void step_add_after(run *r)
{
    char name[8];
    int key = (int)below(r, KEYS);
    ki_priority priority = (ki_priority)below(r, 2);
    model_key *k = &r->model.keys[key];
    uint64_t now_ns = ki_clock_now_ns(&r->rig.clock);
    uint64_t delay_ms = !r->has_delays || below(r, 5) == 0 ? 0 : 1 + below(r, 200);
    if (delay_ms != 0 && is_taken(r, now_ns + delay_ms * KI_NS_PER_MS))
        return;
    int rc = ki_workqueue_add_after(r->rig.queue, name_of(key, name), priority, delay_ms);
    if (is_refused(r, rc))
        return;
    if (delay_ms == 0) {
        model_add(&r->model, key, priority);
        return;
    }
    uint64_t due_ns = now_ns + delay_ms * KI_NS_PER_MS;
    if (k->due_ns == 0 || priority < k->due_priority)
        k->due_priority = priority;
    if (k->due_ns == 0 || due_ns < k->due_ns)
        k->due_ns = due_ns;
}

static void step_get(run *r)
{
    ki_work_item item;
    int worker = (int)below(r, WORKERS);
    if (r->held[worker] != NONE)
        return;
    int expected = model_get(&r->model);
    int rc = ki_workqueue_get(r->rig.queue, UINT64_MAX, &item);
    if (expected == NONE) {
        assert_int_equal(rc, r->model.is_stopping ? KI_ERR_STOPPED : KI_ERR_TIMEOUT);
        return;
    }
    assert_int_equal(rc, 0);
    assert_int_equal(key_of(item.key), expected);
    assert_int_equal(item.priority, r->model.keys[expected].priority);
    for (int i = 0; i < WORKERS; i++)
        assert_int_not_equal(r->held[i], expected);
    r->held[worker] = expected;
}

static void step_done(run *r)
{
    char name[8];
    int worker = (int)below(r, WORKERS);
    if (r->held[worker] == NONE)
        return;
    assert_int_equal(ki_workqueue_done(r->rig.queue, name_of(r->held[worker], name)), 0);
    model_done(&r->model, r->held[worker]);
    r->held[worker] = NONE;
}

static void step_put_off(run *r)
{
    char name[8];
    int worker = (int)below(r, WORKERS), key = r->held[worker];
    uint64_t delay_ns = (1 + below(r, 50)) * KI_NS_PER_MS;
    uint64_t resume_ns = ki_clock_now_ns(&r->rig.clock) + delay_ns;
    if (key == NONE || !r->has_delays || is_taken(r, resume_ns))
        return;
    model_key *k = &r->model.keys[key];
    ki_work_item item = {.key = name_of(key, name), .priority = (ki_priority)below(r, 2)};
    if (is_refused(r, ki_workqueue_put_off_ns(r->rig.queue, &item, delay_ns)))
        return;
    model_done(&r->model, key);
    r->held[worker] = NONE;
    if (k->is_dirty) {
        k->priority = item.priority < k->priority ? item.priority : k->priority;
        return;
    }
    k->resume_ns = resume_ns;
    k->priority = item.priority;
}

static void step_spurious_done(run *r)
{
    char name[8];
    int key = (int)below(r, KEYS);
    if (!r->model.keys[key].is_processing)
        assert_int_equal(ki_workqueue_done(r->rig.queue, name_of(key, name)), KI_ERR_NOT_FOUND);
}

static void step_stop(run *r)
{
    if (below(r, 100) != 0)
        return;
    model_stop(&r->model);
    if (below(r, 2) == 0) {
        ki_workqueue_shut_down(r->rig.queue);
        return;
    }
    size_t left = model_count(&r->model, true, true) + r->others;
    assert_int_equal(ki_workqueue_drain(r->rig.queue, 0), left == 0 ? 0 : KI_ERR_TIMEOUT);
}

static void step_time(run *r)
{
    ki_clock_advance_ns(&r->rig.clock, below(r, 60 * KI_NS_PER_MS));
}

static void step_memory(run *r)
{
    failing_allocator_fail_at(below(r, 2) == 0 ? 0 : 1 + below(r, 3));
}

static void assert_numbers(run *r)
{
    ki_workqueue_stats stats;
    size_t dirty = 0;
    size_t delayed = 0;
    for (int i = 0; i < KEYS; i++) {
        dirty += r->model.keys[i].is_dirty;
        delayed += model_next_of(&r->model.keys[i]) != 0;
    }
    ki_workqueue_read_stats(r->rig.queue, &stats);
    assert_int_equal(stats.waiting, model_count(&r->model, true, false));
    assert_int_equal(stats.processing, model_count(&r->model, false, true) + r->others);
    assert_int_equal(stats.depth, dirty);
    assert_int_equal(stats.delayed, delayed);
    assert_int_equal(stats.dropped, r->model.dropped);
}

/* ---- a run --------------------------------------------------------------------------------------------- */

static void do_step(run *r)
{
    static void (*const steps[])(run * r) = {
        step_add,  step_add,  step_add,    step_add_after, step_add_after,    step_get,
        step_get,  step_get,  step_done,   step_done,      step_done,         step_time,
        step_time, step_stop, step_memory, step_put_off,   step_spurious_done};
    model_ripen(&r->model, ki_clock_now_ns(&r->rig.clock));
    steps[below(r, sizeof(steps) / sizeof(steps[0]))](r);
}

static ki_str other_name(size_t i, char name[32])
{
    snprintf(name, 32, "other-%zu", i);
    return ki_str_of(name);
}

static void begin_others(run *r)
{
    char name[32];
    for (size_t i = 0; i < OTHERS; i++) {
        work_add(&r->rig, other_name(i, name).ptr);
        (void)work_get(&r->rig, name);
    }
    r->others = OTHERS;
}

static void end_others(run *r)
{
    char name[32];
    for (size_t i = 0; i < r->others; i++)
        assert_int_equal(ki_workqueue_done(r->rig.queue, other_name(i, name)), 0);
    r->others = 0;
}

/* Every accepted key is handed out, and then a drain has nothing to wait for. */
static void finish(run *r)
{
    failing_allocator_fail_at(0);
    model_ripen(&r->model, ki_clock_now_ns(&r->rig.clock));
    if (!r->model.is_stopping) {
        model_stop(&r->model);
        size_t left = model_count(&r->model, true, true) + r->others;
        assert_int_equal(ki_workqueue_drain(r->rig.queue, 0), left == 0 ? 0 : KI_ERR_TIMEOUT);
    }
    end_others(r);
    while (model_count(&r->model, true, true) > 0) {
        step_get(r);
        step_done(r);
    }
    assert_int_equal(ki_workqueue_drain(r->rig.queue, UINT64_MAX), 0);
    ki_clock_advance_ms(&r->rig.clock, 100 * 1000);
    work_get_nothing(&r->rig, KI_ERR_STOPPED);
    assert_numbers(r);
}

static void run_seed(uint64_t seed)
{
    run r = {.held = {NONE, NONE, NONE}, .has_delays = seed % NO_DELAYS_EVERY != 0};
    ki_random_init(&r.random, seed);
    work_rig_init(&r.rig, NULL);
    if (seed % LARGE_EVERY == 0)
        begin_others(&r);
    for (int step = 0; step < STEPS; step++) {
        do_step(&r);
        if (step % 16 == 0) {
            model_ripen(&r.model, ki_clock_now_ns(&r.rig.clock));
            assert_numbers(&r);
        }
    }
    finish(&r);
    work_rig_fini(&r.rig);
}

static void random_calls_do_what_the_model_does(void **state)
{
    (void)state;
    const char *given = getenv("KI_SEED");
    if (given != NULL) {
        run_seed(strtoull(given, NULL, 10));
        return;
    }
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        char text[24];
        snprintf(text, sizeof(text), "%llu", (unsigned long long)seed);
        (void)setenv("KI_SEED_RUNNING", text, 1);
        run_seed(seed);
    }
}

/* A failed assertion leaves the loop, so the seed is printed here. */
static int tell_seed(void **state)
{
    const char *seed = getenv("KI_SEED_RUNNING");
    int rc = failing_allocator_teardown(state);
    if (rc != 0 && seed != NULL)
        fprintf(stderr, "repeat with KI_SEED=%s\n", seed);
    return rc;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_calls_do_what_the_model_does, failing_allocator_setup,
                                        tell_seed),
    };
    return RUN_TESTS(tests);
}
