/* SPDX-License-Identifier: Apache-2.0 */
/* When out of memory, an add fails and no queued key is lost. */
#include <kinformer/workqueue.h>
#include <stdio.h>

#include "support/controller/work_rig.h"
#include "support/failing_allocator.h"
#include "support/unit.h"
#include "workqueue/entry.h"

typedef int (*add_cb)(ki_workqueue *queue, ki_str key);

static int add(ki_workqueue *queue, ki_str key)
{
    return ki_workqueue_add(queue, key, KI_PRIORITY_HIGH);
}

static int add_after(ki_workqueue *queue, ki_str key)
{
    return ki_workqueue_add_after(queue, key, KI_PRIORITY_HIGH, 5);
}

static int add_rate_limited(ki_workqueue *queue, ki_str key)
{
    return ki_workqueue_add_rate_limited(queue, key, KI_PRIORITY_HIGH);
}

static void creating_a_queue_fails_cleanly_when_out_of_memory(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        ki_error err = {0};
        failing_allocator_fail_at(n);
        ki_limiter *limiter = n % 2 == 0 ? ki_limiter_new_exponential(1, 2, NULL) : NULL;
        ki_workqueue *queue = ki_workqueue_new(&(ki_workqueue_options){.limiter = limiter}, &err);
        bool has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        assert_true(queue != NULL || (has_failed && err.code == KI_ERR_NO_MEMORY));
        ki_workqueue_free(queue);
        assert_int_equal(failing_allocator_live_count(), 0);
        if (!has_failed)
            break;
    }
}

/* Whichever allocation fails, the next attempt succeeds, and each accepted key is handed out once. */
static void assert_add_survives(add_cb call)
{
    for (size_t n = 1;; n++) {
        work_rig rig;
        work_rig_init(&rig, NULL);
        work_add(&rig, "waits");
        work_add_after(&rig, "delayed", 2);
        failing_allocator_fail_at(n);
        int rc = 0;
        char key[16];
        for (int i = 0; i < 40 && rc == 0; i++) {
            snprintf(key, sizeof(key), "k%d", i);
            rc = call(rig.queue, ki_str_of(key));
        }
        bool has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        size_t before = ki_workqueue_len(rig.queue);
        assert_int_equal(rc, rc < 0 ? KI_ERR_NO_MEMORY : 0);
        assert_int_equal(call(rig.queue, KI_STR("again")), 0);
        ki_clock_advance_ms(&rig.clock, 10);
        size_t runs = 0;
        ki_work_item item;
        while (ki_workqueue_get(rig.queue, 0, &item) == 0) {
            assert_int_equal(ki_workqueue_done(rig.queue, item.key), 0);
            runs++;
        }
        assert_true(runs >= before + 2);
        assert_true(has_failed || runs == 43);
        work_rig_fini(&rig);
        if (!has_failed)
            break;
    }
}

static void an_add_that_runs_out_of_memory_loses_no_key(void **state)
{
    (void)state;
    assert_add_survives(add);
}

static void a_delayed_add_that_runs_out_of_memory_loses_no_key(void **state)
{
    (void)state;
    assert_add_survives(add_after);
}

static void a_rate_limited_add_that_runs_out_of_memory_loses_no_key(void **state)
{
    (void)state;
    assert_add_survives(add_rate_limited);
}

static void a_refused_key_leaves_nothing_behind(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    work_add(&rig, "a");
    for (size_t n = 1; n <= 2; n++) {
        ki_workqueue_stats stats;
        failing_allocator_fail_at(n);
        assert_int_equal(add_after(rig.queue, KI_STR("b")), KI_ERR_NO_MEMORY);
        failing_allocator_fail_at(0);
        ki_workqueue_read_stats(rig.queue, &stats);
        assert_int_equal(stats.delayed, 0);
        assert_int_equal(stats.depth, 1);
    }
    ki_clock_advance_ms(&rig.clock, 10);
    work_assert_runs(&rig, "a ");
    work_rig_fini(&rig);
}

/* A key that exists in any state. */
static void a_known_key_needs_no_memory(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    work_add(&rig, "processed");
    work_get(&rig, "processed");
    work_add_low(&rig, "waits");
    work_add_after(&rig, "delayed", 5);
    failing_allocator_limit(0); /* all fail */
    work_add(&rig, "processed");
    work_add(&rig, "waits");
    work_add(&rig, "delayed");
    work_add_after(&rig, "delayed", 1);
    ki_clock_advance_ms(&rig.clock, 5);
    assert_int_equal(work_done(&rig, "processed"), 0);
    work_assert_runs(&rig, "waits delayed processed ");
    failing_allocator_limit(SIZE_MAX);
    work_rig_fini(&rig);
}

enum { MANY = 5000 };

static void add_many(work_rig *rig)
{
    char key[16];
    for (int i = 0; i < MANY; i++) {
        snprintf(key, sizeof(key), "k%d", i);
        work_add(rig, key);
    }
}

/* If there is memory, it is allocated before the lookup, and kept for other keys. */
static void many_known_keys_need_no_memory_either(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    add_many(&rig);
    size_t before = failing_allocator_live_count();
    add_many(&rig);
    failing_allocator_limit(0);
    add_many(&rig);
    failing_allocator_limit(SIZE_MAX);
    assert_true(failing_allocator_live_count() <= before + KI_WORK_SPARES_MAX);
    ki_work_item item;
    char key[16];
    for (int i = 0; i < MANY; i++) {
        snprintf(key, sizeof(key), "k%d", i);
        assert_int_equal(ki_workqueue_get(rig.queue, 0, &item), 0);
        assert_true(ki_str_equal(item.key, ki_str_of(key)));
        assert_int_equal(ki_workqueue_done(rig.queue, item.key), 0);
    }
    assert_int_equal(ki_workqueue_get(rig.queue, 0, &item), KI_ERR_TIMEOUT);
    work_rig_fini(&rig);
}

static void a_large_queue_is_freed_with_all_its_keys(void **state)
{
    (void)state;
    work_rig rig;
    work_rig_init(&rig, NULL);
    add_many(&rig);
    work_rig_fini(&rig); /* the memory check finds what is left */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(creating_a_queue_fails_cleanly_when_out_of_memory),
        WITH_MEMORY_CHECK(an_add_that_runs_out_of_memory_loses_no_key),
        WITH_MEMORY_CHECK(a_delayed_add_that_runs_out_of_memory_loses_no_key),
        WITH_MEMORY_CHECK(a_rate_limited_add_that_runs_out_of_memory_loses_no_key),
        WITH_MEMORY_CHECK(a_refused_key_leaves_nothing_behind),
        WITH_MEMORY_CHECK(a_known_key_needs_no_memory),
        WITH_MEMORY_CHECK(many_known_keys_need_no_memory_either),
        WITH_MEMORY_CHECK(a_large_queue_is_freed_with_all_its_keys),
    };
    return RUN_TESTS(tests);
}
