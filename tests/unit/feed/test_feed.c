/* SPDX-License-Identifier: Apache-2.0 */
/* A feed follows the server, with each kind of destination. */
#include <kinformer.h>
#include <stdio.h>
#include <string.h>

#include "feed/feed.h"
#include "store/store.h"
#include "support/informer/feed_rig.h"
#include "support/unit.h"

/* ---- convergence --------------------------------------------------------------------------------------- */

static void store_follows_the_world_through_relists(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_start_store(&r, 1);
    feed_rig_run(&r, 5);
    assert_true(ki_feed_has_synced(r.feed));
    feed_rig_disturb(&r, 8);
    feed_rig_run(&r, 60);
    feed_rig_assert_store_is_world(&r);
    feed_rig_assert_version_is_the_worlds(&r);
    assert_true(r.errors > 0);
    feed_rig_fini(&r);
}

static void an_idle_feed_frees_removed_objects_within_a_second(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_start_store(&r, 1);
    feed_rig_run(&r, 5);
    const ki_reclaim *reclaim = &r.store->reclaim;
    assert_true(ki_reclaim_is_empty(reclaim));
    uint64_t grace_periods = reclaim->grace_periods;
    sim_world_touch_all(r.world);
    feed_rig_run(&r, 5);
    feed_rig_assert_store_is_world(&r);
    assert_true(ki_reclaim_is_empty(reclaim));
    assert_true(reclaim->grace_periods > grace_periods);
    assert_true(r.feed->life.dispatch_job.due_ns == UINT64_MAX);
    feed_rig_fini(&r);
}

static void queue_follows_the_world_through_relists(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_start_queue(&r, 2, (ki_feed_options){.process = feed_rig_process});
    feed_rig_disturb(&r, 8);
    feed_rig_run(&r, 60);
    assert_true(ki_feed_has_synced(r.feed));
    feed_rig_assert_store_is_world(&r);
    feed_rig_assert_version_is_the_worlds(&r);
    assert_true(r.replaced > 0 && r.unseen_deletes > 0);
    feed_rig_fini(&r);
}

static void callback_follows_the_world_through_relists(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_start_callback(&r, 3, (ki_feed_options){0});
    feed_rig_disturb(&r, 8);
    feed_rig_run(&r, 60);
    assert_true(ki_feed_has_synced(r.feed));
    feed_rig_assert_array_is_world(&r);
    feed_rig_assert_version_is_the_worlds(&r);
    feed_rig_fini(&r);
}

static void store_follows_a_server_with_faults(void **state)
{
    (void)state;
    for (uint64_t seed = 10; seed < 20; seed++) {
        feed_rig r;
        feed_rig_start_store(&r, seed);
        feed_rig_disturb_with_faults(&r, 10);
        feed_rig_assert_store_is_world(&r);
        feed_rig_fini(&r);
    }
}

static void queue_follows_a_server_with_faults(void **state)
{
    (void)state;
    for (uint64_t seed = 20; seed < 30; seed++) {
        feed_rig r;
        feed_rig_start_queue(&r, seed, (ki_feed_options){.process = feed_rig_process, .resync_ms = 3000});
        feed_rig_disturb_with_faults(&r, 10);
        feed_rig_assert_store_is_world(&r);
        feed_rig_fini(&r);
    }
}

static void destinations_follow_a_new_history(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_start_queue(&r, 4, (ki_feed_options){.process = feed_rig_process});
    feed_rig_run(&r, 10);
    sim_world_reset_history(r.world, 20);
    feed_rig_run(&r, 300);
    feed_rig_assert_store_is_world(&r);
    feed_rig_assert_version_is_the_worlds(&r);
    feed_rig_fini(&r);
}

/* ---- lost connections ---------------------------------------------------------------------------------- */

static int turns;

static void count_turns(const ki_log_record *record, void *user)
{
    (void)user;
    turns += strcmp(record->component, "feed") == 0 &&
             strstr(record->message, "watching again after ") != NULL &&
             strstr(record->message, ": resumed") != NULL;
}

static void a_restored_connection_is_logged(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_start_store(&r, 5);
    feed_rig_run(&r, 5);
    turns = 0;
    ki_set_log(count_turns, KI_LOG_INFO, NULL);
    sim_server_cut_all(r.server);
    feed_rig_run(&r, 60);
    ki_set_log(NULL, KI_LOG_TRACE, NULL);
    assert_int_equal(turns, 1);
    feed_rig_fini(&r);
}

/* ---- lists --------------------------------------------------------------------------------------------- */

static void item_that_cannot_be_decoded_keeps_its_last_good_version(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_start_store(&r, 5);
    feed_rig_run(&r, 5);
    size_t before = ki_store_count(r.store);
    sim_server_set_faults(r.server, &(sim_faults){.malformed_item = 1});
    sim_world_tick_other(r.world);
    sim_world_compact(r.world);
    sim_server_cut_all(r.server);
    feed_rig_run(&r, 30);
    ki_informer_status status;
    ki_feed_read_status(r.feed, &status);
    assert_true(status.lists > 1 && status.refused > 0);
    assert_int_equal(ki_store_count(r.store), before);
    feed_rig_assert_store_is_world(&r);
    feed_rig_fini(&r);
}

static void known_item_that_cannot_be_decoded_is_not_deleted(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_start_queue(&r, 6, (ki_feed_options){.process = feed_rig_process});
    feed_rig_run(&r, 5);
    sim_server_set_faults(r.server, &(sim_faults){.malformed_item = 1});
    sim_world_tick_other(r.world);
    sim_world_compact(r.world);
    sim_server_cut_all(r.server);
    feed_rig_run(&r, 30);
    assert_int_equal(r.unseen_deletes, 0);
    feed_rig_assert_store_is_world(&r);
    feed_rig_fini(&r);
}

static void queued_item_that_cannot_be_decoded_is_not_deleted(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_init(&r, 9);
    assert_true(feed_rig_make_client(&r));
    r.store = ki_store_new(NULL, NULL);
    r.queue = ki_delta_queue_new(&(ki_delta_queue_options){.known = r.store}, NULL);
    feed_rig_make_feed(&r, (ki_feed_options){.queue = r.queue});
    feed_rig_start(&r);
    feed_rig_run(&r, 5);
    for (int i = 0; i < 10; i++) /* some objects are known, the others are queued */
        assert_int_equal(ki_delta_queue_pop(r.queue, 0, feed_rig_process, &r), 0);
    sim_server_set_faults(r.server, &(sim_faults){.malformed_item = 1});
    sim_world_tick_other(r.world);
    sim_world_compact(r.world);
    sim_server_cut_all(r.server);
    feed_rig_run(&r, 30);
    while (ki_delta_queue_pop(r.queue, 0, feed_rig_process, &r) == 0)
        ;
    assert_int_equal(r.unseen_deletes, 0);
    assert_true(r.replaced > (int)sim_world_count(r.world));
    feed_rig_assert_store_is_world(&r);
    feed_rig_fini(&r);
}

static void missed_delete_has_an_unknown_final_state(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_start_queue(&r, 7, (ki_feed_options){.process = feed_rig_process});
    feed_rig_run(&r, 5);
    uint32_t key = 0;
    while (sim_world_object(r.world, key) == NULL)
        key++;
    assert_int_equal(r.unseen_deletes, 0);
    sim_server_cut_all(r.server);
    sim_world_delete(r.world, key);
    sim_world_tick_other(r.world);
    sim_world_compact(r.world);
    feed_rig_run(&r, 30);
    assert_int_equal(r.unseen_deletes, 1);
    feed_rig_assert_store_is_world(&r);
    feed_rig_fini(&r);
}

static ki_str key_with_a_prefix(const ki_object *object, char *buffer, size_t buffer_bytes, void *user)
{
    (void)user;
    if (ki_str_equal(ki_object_namespace(object), KI_STR("a")))
        return (ki_str){0};
    int n = snprintf(buffer, buffer_bytes, "pods:%s", ki_object_key(object));
    return (ki_str){buffer, (size_t)n};
}

static void store_with_a_key_function_skips_objects_without_a_key(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_init(&r, 8);
    assert_true(feed_rig_make_client(&r));
    r.store = ki_store_new(&(ki_store_options){.key = key_with_a_prefix}, NULL);
    feed_rig_make_feed(&r, (ki_feed_options){.store = r.store});
    feed_rig_start(&r);
    feed_rig_disturb(&r, 6);
    feed_rig_run(&r, 60);
    size_t expected = 0;
    sim_object object;
    for (uint32_t cursor = 0; sim_world_next(r.world, &cursor, &object);)
        expected += strcmp(object.ns, "a") != 0;
    assert_int_equal(ki_store_count(r.store), expected);
    feed_rig_fini(&r);
}

/* ---- metrics ------------------------------------------------------------------------------------------- */

static void the_metrics_name_the_destination_of_a_feed(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_start_store(&r, 1);
    feed_rig_run(&r, 5);
    ki_metrics_text text = {0};
    assert_int_equal(ki_metrics_render(ki_client_metrics(r.client), &text, NULL), 0);
    char line[160];
    (void)snprintf(line, sizeof(line),
                   "informer_store_objects{name=\"pods\",group=\"\",version=\"v1\",resource=\"pods\"} %zu\n",
                   ki_store_count(r.store));
    assert_non_null(strstr(text.bytes, line));
    assert_non_null(strstr(text.bytes, "informer_watches_total{"));
    assert_null(strstr(text.bytes, "informer_queued_items{"));
    ki_metrics_text_fini(&text);
    feed_rig_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store_follows_the_world_through_relists),
        cmocka_unit_test(an_idle_feed_frees_removed_objects_within_a_second),
        cmocka_unit_test(queue_follows_the_world_through_relists),
        cmocka_unit_test(callback_follows_the_world_through_relists),
        cmocka_unit_test(store_follows_a_server_with_faults),
        cmocka_unit_test(queue_follows_a_server_with_faults),
        cmocka_unit_test(destinations_follow_a_new_history),
        cmocka_unit_test(a_restored_connection_is_logged),
        cmocka_unit_test(item_that_cannot_be_decoded_keeps_its_last_good_version),
        cmocka_unit_test(known_item_that_cannot_be_decoded_is_not_deleted),
        cmocka_unit_test(queued_item_that_cannot_be_decoded_is_not_deleted),
        cmocka_unit_test(missed_delete_has_an_unknown_final_state),
        cmocka_unit_test(store_with_a_key_function_skips_objects_without_a_key),
        cmocka_unit_test(the_metrics_name_the_destination_of_a_feed),
    };
    return RUN_TESTS(tests);
}
