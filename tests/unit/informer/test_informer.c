/* SPDX-License-Identifier: Apache-2.0 */
/* An informer on one thread with a virtual clock: the content of its store, and how recent it is. */
#include <kinformer/informer.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>

#include "informer/informer.h"
#include "support/failing_allocator.h"
#include "support/informer/informer_rig.h"
#include "support/store/store_objects.h"
#include "support/unit.h"

/* ---- the store --------------------------------------------------------------------------------------- */

static void an_informer_fills_its_store_and_follows_the_server(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, NULL);
    assert_int_equal(ki_informer_has_synced(rig.informer), 0);
    virtual_rig_sync(&rig);
    virtual_rig_assert_equal(&rig);
    sim_world_create(rig.world, 7);
    sim_world_update(rig.world, 1);
    sim_world_delete(rig.world, 0);
    virtual_rig_run(&rig, 10);
    virtual_rig_assert_equal(&rig);
    virtual_rig_fini(&rig);
}

/* An idle informer is woken once to free memory, and not again. */
static void an_idle_informer_frees_removed_objects_within_a_second(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, NULL);
    virtual_rig_sync(&rig);
    const ki_reclaim *reclaim = &rig.informer->store->reclaim;
    virtual_rig_run(&rig, 2000);
    assert_true(ki_reclaim_is_empty(reclaim));
    uint64_t grace_periods = reclaim->grace_periods;
    sim_world_delete(rig.world, 1);
    virtual_rig_run(&rig, 500);
    assert_int_equal(reclaim->object_count, 1);
    for (int i = 0; i < 10; i++) { /* frequent changes do not delay the release */
        sim_world_update(rig.world, 2);
        virtual_rig_run(&rig, 300);
        assert_true(reclaim->object_count <= 5);
    }
    virtual_rig_run(&rig, 1000);
    assert_true(ki_reclaim_is_empty(reclaim));
    assert_in_range(reclaim->grace_periods, grace_periods + 3, grace_periods + 5);
    assert_true(rig.informer->life.dispatch_job.due_ns == UINT64_MAX);
    virtual_rig_fini(&rig);
}

static void an_informer_that_removed_nothing_is_not_woken_to_free(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, NULL);
    virtual_rig_sync(&rig);
    virtual_rig_run(&rig, 2000);
    sim_world_create(rig.world, 5);
    virtual_rig_run(&rig, 1);
    virtual_rig_assert_equal(&rig);
    assert_true(rig.informer->life.dispatch_job.due_ns == UINT64_MAX);
    virtual_rig_fini(&rig);
}

static void an_idle_informer_keeps_no_spare_queue_entries(void **state)
{
    (void)state;
    enum { OBJECTS = 2 * KI_DELTA_FIFO_SPARE_MAX };
    virtual_rig rig;
    virtual_rig_init_world(&rig, NULL, &(sim_world_options){.names = OBJECTS});
    for (uint32_t key = 0; key < OBJECTS; key++)
        sim_world_create(rig.world, key);
    virtual_rig_sync(&rig);
    assert_int_equal(rig.informer->fifo.spare_count, KI_DELTA_FIFO_SPARE_MAX);
    virtual_rig_run(&rig, 2000);
    assert_int_equal(rig.informer->fifo.spare_count, 0);
    assert_true(rig.informer->life.dispatch_job.due_ns == UINT64_MAX);
    virtual_rig_fini(&rig);
}

static void spare_queue_entries_are_freed_despite_occasional_adds(void **state)
{
    (void)state;
    enum { OBJECTS = 2 * KI_DELTA_FIFO_SPARE_MAX, LATER = 10 };
    virtual_rig rig;
    virtual_rig_init_world(&rig, NULL, &(sim_world_options){.names = OBJECTS + LATER});
    for (uint32_t key = 0; key < OBJECTS; key++)
        sim_world_create(rig.world, key);
    virtual_rig_sync(&rig);
    for (uint32_t i = 0; i < LATER; i++) {
        sim_world_create(rig.world, OBJECTS + i);
        virtual_rig_run(&rig, 300);
    }
    assert_in_range(rig.informer->fifo.spare_count, 0, KI_DELTA_FIFO_SPARE_FEW);
    virtual_rig_fini(&rig);
}

static void an_informer_requests_nothing_before_it_is_started(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, NULL);
    virtual_rig_run(&rig, 10000);
    assert_int_equal(sim_server_counts(rig.server)->lists, 0);
    assert_int_equal(sim_server_counts(rig.server)->watches, 0);
    assert_int_equal(ki_store_count(ki_informer_store(rig.informer)), 0);
    virtual_rig_fini(&rig);
}

static void the_store_of_an_informer_refuses_writes(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, NULL);
    virtual_rig_sync(&rig);
    ki_store *store = (ki_store *)ki_informer_store(rig.informer);
    ki_object *object = store_object("a", "mine", 1, "x");
    assert_int_equal(ki_store_put(store, object), KI_ERR_INVALID);
    assert_int_equal(ki_store_remove(store, ki_str_of("a/n0")), KI_ERR_INVALID);
    assert_int_equal(ki_store_replace(store, NULL, 0), KI_ERR_INVALID);
    (void)ki_object_unref(object);
    virtual_rig_assert_equal(&rig);
    virtual_rig_fini(&rig);
}

static void an_informer_knows_its_resource(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, NULL);
    assert_true(ki_resource_equal(ki_informer_resource(rig.informer), &KI_CORE_V1_PODS));
    virtual_rig_fini(&rig);
}

/* ---- versions and ages ------------------------------------------------------------------------------- */

static void the_last_version_is_empty_at_first_and_then_that_of_the_server(void **state)
{
    (void)state;
    virtual_rig rig;
    char version[32] = "x";
    char short_version[2] = "";
    char expected[32];
    virtual_rig_init(&rig, NULL);
    assert_int_equal(ki_informer_last_resource_version(rig.informer, version, sizeof(version)), 0);
    assert_string_equal(version, "");
    virtual_rig_sync(&rig);
    int n = snprintf(expected, sizeof(expected), "%d", (int)sim_world_version(rig.world));
    assert_int_equal(ki_informer_last_resource_version(rig.informer, version, sizeof(version)), n);
    assert_string_equal(version, expected);
    assert_int_equal(ki_informer_last_resource_version(rig.informer, short_version, sizeof(short_version)),
                     n);
    assert_int_equal(short_version[0], expected[0]);
    virtual_rig_fini(&rig);
}

static void a_wait_for_a_version_already_reached_returns_at_once(void **state)
{
    (void)state;
    virtual_rig rig;
    ki_error err = {0};
    virtual_rig_init(&rig, NULL);
    virtual_rig_sync(&rig);
    assert_int_equal(ki_informer_wait_for_version(rig.informer, ki_str_of("1"), 0, &err), 0);
    assert_int_equal(ki_informer_wait_for_version(rig.informer, ki_str_of("999"), 0, &err), KI_ERR_TIMEOUT);
    assert_non_null(strstr(err.message, "WATCHING"));
    virtual_rig_fini(&rig);
}

static void waiting_for_a_version_that_is_not_a_number_times_out_among_numbers(void **state)
{
    (void)state;
    virtual_rig rig;
    ki_error err = {0};
    virtual_rig_init(&rig, NULL);
    virtual_rig_sync(&rig);
    assert_int_equal(ki_informer_wait_for_version(rig.informer, ki_str_of("x1"), 0, &err), KI_ERR_TIMEOUT);
    assert_int_equal(ki_informer_wait_for_version(rig.informer, ki_str_of(""), 0, &err), KI_ERR_INVALID);
    virtual_rig_fini(&rig);
}

static void the_age_is_the_time_since_the_server_last_sent_something(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, NULL);
    assert_true(ki_informer_age_ms(rig.informer) == UINT64_MAX);
    virtual_rig_sync(&rig);
    sim_world_update(rig.world, 1);
    virtual_rig_run(&rig, 1);
    uint64_t before_ms = ki_informer_age_ms(rig.informer);
    assert_true(before_ms <= 1);
    virtual_rig_run(&rig, 5000);
    assert_int_equal(ki_informer_age_ms(rig.informer), before_ms + 5000);
    virtual_rig_fini(&rig);
}

static void a_bookmark_advances_the_version_and_resets_the_age(void **state)
{
    (void)state;
    virtual_rig rig;
    char version[32];
    char expected[32];
    virtual_rig_init(&rig, NULL);
    virtual_rig_sync(&rig);
    sim_world_tick_other(rig.world);
    virtual_rig_run(&rig, 70 * 1000);
    snprintf(expected, sizeof(expected), "%d", (int)sim_world_version(rig.world));
    (void)ki_informer_last_resource_version(rig.informer, version, sizeof(version));
    assert_string_equal(version, expected);
    assert_true(ki_informer_age_ms(rig.informer) < 60 * 1000);
    virtual_rig_fini(&rig);
}

/* ---- indexes ----------------------------------------------------------------------------------------- */

static void assert_indexed(virtual_rig *rig, size_t count)
{
    ki_object_list list = {0};
    assert_int_equal(ki_store_list_index(ki_informer_store(rig->informer), "name", ki_str_of("n1"), &list),
                     0);
    assert_int_equal(list.count, count);
    ki_object_list_fini(&list);
}

static void an_index_may_be_added_before_the_start(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, NULL);
    assert_int_equal(ki_informer_add_index(rig.informer, "name", store_name_index, NULL), 0);
    virtual_rig_sync(&rig);
    assert_indexed(&rig, 1);
    virtual_rig_assert_equal(&rig);
    virtual_rig_fini(&rig);
}

static void an_index_may_be_added_after_the_start_and_has_all_objects(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, NULL);
    virtual_rig_sync(&rig);
    assert_int_equal(ki_informer_add_index(rig.informer, "name", store_name_index, NULL), 0);
    assert_indexed(&rig, 1);
    sim_world_delete(rig.world, 1);
    virtual_rig_run(&rig, 10);
    assert_indexed(&rig, 0);
    virtual_rig_assert_equal(&rig);
    virtual_rig_fini(&rig);
}

static int broken_index(const ki_object *object, ki_index_emit *emit, void *user)
{
    (void)object;
    (void)emit;
    (void)user;
    return KI_ERR_TYPE;
}

static void assert_index_failures(const virtual_rig *rig, int failures)
{
    ki_metrics_text text = {0};
    char line[160];
    snprintf(line, sizeof(line),
             "informer_index_failures_total{name=\"pods\",group=\"\",version=\"v1\",resource=\"pods\"} %d\n",
             failures);
    assert_int_equal(ki_store_index_failures(ki_informer_store(rig->informer)), failures);
    assert_int_equal(ki_metrics_render(ki_client_metrics(rig->client), &text, NULL), 0);
    assert_non_null(strstr(text.bytes, line));
    ki_metrics_text_fini(&text);
}

static void an_index_function_that_fails_does_not_keep_objects_out_of_the_store(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, NULL);
    assert_int_equal(ki_informer_add_index(rig.informer, "broken", broken_index, NULL), 0);
    virtual_rig_sync(&rig);
    virtual_rig_assert_equal(&rig);
    assert_index_failures(&rig, 5);
    assert_int_equal(ki_informer_add_index(rig.informer, "as broken", broken_index, NULL), 0);
    virtual_rig_run(&rig, 1);
    assert_index_failures(&rig, 10);
    virtual_rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(an_informer_fills_its_store_and_follows_the_server),
        WITH_MEMORY_CHECK(an_idle_informer_frees_removed_objects_within_a_second),
        WITH_MEMORY_CHECK(an_informer_that_removed_nothing_is_not_woken_to_free),
        WITH_MEMORY_CHECK(an_idle_informer_keeps_no_spare_queue_entries),
        WITH_MEMORY_CHECK(spare_queue_entries_are_freed_despite_occasional_adds),
        WITH_MEMORY_CHECK(an_informer_requests_nothing_before_it_is_started),
        WITH_MEMORY_CHECK(the_store_of_an_informer_refuses_writes),
        WITH_MEMORY_CHECK(an_informer_knows_its_resource),
        WITH_MEMORY_CHECK(the_last_version_is_empty_at_first_and_then_that_of_the_server),
        WITH_MEMORY_CHECK(a_wait_for_a_version_already_reached_returns_at_once),
        WITH_MEMORY_CHECK(waiting_for_a_version_that_is_not_a_number_times_out_among_numbers),
        WITH_MEMORY_CHECK(the_age_is_the_time_since_the_server_last_sent_something),
        WITH_MEMORY_CHECK(a_bookmark_advances_the_version_and_resets_the_age),
        WITH_MEMORY_CHECK(an_index_may_be_added_before_the_start),
        WITH_MEMORY_CHECK(an_index_may_be_added_after_the_start_and_has_all_objects),
        WITH_MEMORY_CHECK(an_index_function_that_fails_does_not_keep_objects_out_of_the_store),
    };
    return RUN_TESTS(tests);
}
