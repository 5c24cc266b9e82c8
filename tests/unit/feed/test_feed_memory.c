/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds with invalid options, and feeds that run out of memory. */
#include <kinformer.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/informer/feed_rig.h"
#include "support/unit.h"

/* ---- options and memory -------------------------------------------------------------------------------- */

static void exactly_one_destination_is_required(void **state)
{
    (void)state;
    feed_rig r;
    feed_rig_init(&r, 50);
    assert_true(feed_rig_make_client(&r));
    ki_store *store = ki_store_new(NULL, NULL);
    ki_delta_queue *queue = ki_delta_queue_new(NULL, NULL);
    ki_informer_options ours = {.list_watch = &r.source};
    ki_informer *informer = ki_informer_new(r.client, &KI_CORE_V1_PODS, &ours, NULL);
    const ki_feed_options wrong[] = {
        {.informer = ours},
        {.informer = ours, .on_change = feed_rig_on_change, .store = store},
        {.informer = ours, .store = store, .queue = queue},
        {.informer = ours, .store = store, .process = feed_rig_process},
        {.informer = ours, .on_change = feed_rig_on_change, .resync_ms = 5000},
        {.informer = ours, .store = (ki_store *)ki_informer_store(informer)},
        {.on_change = feed_rig_on_change}, /* no source */
        /* Options that have no effect on a feed. */
        {.informer = {.list_watch = &r.source, .resync_ms = 5000}, .store = store},
        {.informer = {.list_watch = &r.source, .deliver_unchanged = 1}, .store = store},
        {.informer = {.list_watch = &r.source, .mutations = KI_MUTATIONS_REPORT}, .store = store},
        {.informer = {.list_watch = &r.source, .queue_items_max = 10}, .store = store},
        {.informer = {.list_watch = &r.source, .queue_bytes_max = 10}, .store = store},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ki_error err = {0};
        assert_null(ki_feed_new(r.client, &KI_CORE_V1_PODS, &wrong[i], &err));
        assert_int_equal(err.code, KI_ERR_INVALID);
    }
    ki_informer_free(informer);
    ki_delta_queue_free(queue);
    ki_store_free(store);
    feed_rig_fini(&r);
}

static void namespace_of_a_cluster_scoped_resource_is_refused(void **state)
{
    (void)state;
    feed_rig r;
    ki_error err = {0};
    feed_rig_init(&r, 51);
    assert_true(feed_rig_make_client(&r));
    ki_feed_options options = {.informer = {.list_watch = &r.source, .ns = "a"},
                               .on_change = feed_rig_on_change};
    assert_null(ki_feed_new(r.client, &KI_CORE_V1_NODES, &options, &err));
    assert_int_equal(err.code, KI_ERR_INVALID);
    assert_non_null(strstr(err.message, "nodes"));
    feed_rig_fini(&r);
}

static void name_of_a_feed_contains_its_namespace(void **state)
{
    (void)state;
    feed_rig r;
    ki_metrics_text text = {0};
    feed_rig_init(&r, 52);
    assert_true(feed_rig_make_client(&r));
    feed_rig_make_feed(&r, (ki_feed_options){.informer = {.ns = "a"}, .on_change = feed_rig_on_change});
    assert_int_equal(ki_metrics_render(ki_client_metrics(r.client), &text, NULL), 0);
    assert_non_null(strstr(text.bytes, "informer_lists_total{name=\"pods/a\","));
    ki_metrics_text_fini(&text);
    feed_rig_fini(&r);
}

static void null_feed_does_nothing(void **state)
{
    (void)state;
    char version[8] = "x";
    ki_informer_status status = {.objects = 5};
    ki_feed_free(NULL);
    ki_feed_stop(NULL);
    ki_feed_resume(NULL);
    ki_feed_retry_now(NULL);
    ki_feed_read_status(NULL, NULL);
    ki_feed_read_status(NULL, &status);
    assert_int_equal(status.objects, 0);
    assert_int_equal(ki_feed_start(NULL, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_feed_has_synced(NULL), 0);
    assert_int_equal(ki_feed_last_resource_version(NULL, version, sizeof(version)), 0);
    assert_string_equal(version, "");
    assert_null(ki_feed_new(NULL, &KI_CORE_V1_PODS, NULL, NULL));
}

/* Runs a feed with the n-th allocation failing. Returns whether there were that many allocations. */
static bool run_without_memory(size_t n, int with_queue)
{
    feed_rig r;
    failing_allocator_install();
    feed_rig_init(&r, 60);
    failing_allocator_fail_at(n);
    r.store = ki_store_new(NULL, NULL);
    if (with_queue)
        r.queue = ki_delta_queue_new(&(ki_delta_queue_options){.known = r.store}, NULL);
    if (r.store != NULL && (r.queue != NULL || !with_queue) && feed_rig_make_client(&r))
        feed_rig_make_feed(
            &r, with_queue
                    ? (ki_feed_options){.queue = r.queue, .process = feed_rig_process, .resync_ms = 2000}
                    : (ki_feed_options){.store = r.store});
    if (r.feed != NULL) {
        feed_rig_start(&r);
        feed_rig_run(&r, 3);
        feed_rig_disturb(&r, 1);
        feed_rig_run(&r, 60);
    }
    bool has_failed = failing_allocator_has_failed();
    failing_allocator_fail_at(0);
    if (r.feed != NULL)
        feed_rig_assert_store_is_world(&r);
    feed_rig_fini(&r);
    assert_int_equal(failing_allocator_live_count(), 0);
    failing_allocator_remove();
    return has_failed;
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    for (int with_queue = 0; with_queue < 2; with_queue++) {
        size_t n = 1;
        while (run_without_memory(n, with_queue))
            n++;
        assert_true(n > 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exactly_one_destination_is_required),
        cmocka_unit_test(namespace_of_a_cluster_scoped_resource_is_refused),
        cmocka_unit_test(name_of_a_feed_contains_its_namespace),
        cmocka_unit_test(null_feed_does_nothing),
        cmocka_unit_test(any_allocation_may_fail),
    };
    return RUN_TESTS(tests);
}
