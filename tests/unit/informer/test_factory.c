/* SPDX-License-Identifier: Apache-2.0 */
/* A factory: one informer per collection, and all of them together. The threads are the library's and those
 * that support/aside.c starts with ki_thread_start(). */
#include <kinformer/factory.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "informer/informer.h"
#include "support/aside.h"
#include "support/failing_allocator.h"
#include "support/informer/factory_rig.h"
#include "support/patience.h"
#include "support/unit.h"

enum { A_WHILE_MS = 30 };

/* ---- one informer per collection --------------------------------------------------------------------- */

static void the_same_collection_has_the_same_informer(void **state)
{
    (void)state;
    factory_rig r;
    factory_rig_init(&r);
    ki_informer *pods = ki_factory_informer(r.factory, &KI_CORE_V1_PODS, NULL);
    assert_non_null(pods);
    assert_ptr_equal(ki_factory_informer(r.factory, &KI_CORE_V1_PODS, NULL), pods);
    assert_ptr_equal(ki_factory_for_resource(r.factory, KI_STR("pods"), NULL), pods);
    assert_ptr_equal(ki_factory_for_resource(r.factory, KI_STR("po"), NULL), pods);
    assert_ptr_not_equal(ki_factory_informer(r.factory, &KI_CORE_V1_NODES, NULL), pods);
    factory_rig_fini(&r);
}

static void other_options_make_another_informer(void **state)
{
    (void)state;
    factory_rig r;
    factory_rig_init(&r);
    const char *const keep[] = {"/metadata", NULL};
    const char *const same_keep[] = {"/metadata", NULL};
    const ki_informer_options options[] = {
        {.ns = "a"},
        {.ns = "b"},
        {.label_selector = "x=y"},
        {.field_selector = "x=y"},
        {.resync_ms = 10},
        {.page_size = 10},
        {.keep = keep},
        {.drop = keep},
        {.name = "mine"},
        {.object_bytes_max = 100000},
        {.queue_items_max = 7},
        {.deliver_unchanged = 1},
    };
    enum { COUNT = sizeof(options) / sizeof(options[0]) };
    ki_informer *informers[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        informers[i] = ki_factory_informer(r.factory, &KI_CORE_V1_PODS, &options[i]);
        assert_non_null(informers[i]);
        for (size_t k = 0; k < i; k++)
            assert_ptr_not_equal(informers[i], informers[k]);
    }
    ki_informer_options same = {.keep = same_keep};
    assert_ptr_equal(ki_factory_informer(r.factory, &KI_CORE_V1_PODS, &same), informers[6]);
    factory_rig_fini(&r);
}

/* Each informer has about forty metrics, and each has a different name. */
static void many_informers_are_distinguished_counted_and_removed(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    static ki_informer *informers[MANY];
    factory_rig r;
    factory_rig_init(&r);
    for (size_t i = 0; i < MANY; i++) {
        char ns[16];
        snprintf(ns, sizeof(ns), "ns-%zu", i / 2);
        ki_informer_options options = {.ns = ns, .label_selector = i % 2 == 0 ? "" : "x=y"};
        informers[i] = ki_factory_informer(r.factory, &KI_CORE_V1_PODS, &options);
        assert_non_null(informers[i]);
        assert_ptr_equal(ki_factory_informer(r.factory, &KI_CORE_V1_PODS, &options), informers[i]);
    }
    assert_int_equal(ki_factory_read_pending(r.factory, NULL, 0), MANY);
    assert_string_equal(informers[6]->life.name, "pods/ns-3");
    assert_int_equal(strncmp(informers[7]->life.name, "pods/ns-3#", 10), 0);
    assert_int_equal(ki_metrics_refused(ki_client_metrics(r.rig.client)), 0);
    ki_metrics_text text = {0};
    assert_int_equal(ki_metrics_render(ki_client_metrics(r.rig.client), &text, NULL), 0);
    ki_metrics_text_fini(&text);
    for (size_t i = MANY; i-- > 0;)
        assert_int_equal(ki_factory_remove(r.factory, informers[i]), 0);
    assert_int_equal(ki_factory_read_pending(r.factory, NULL, 0), 0);
    factory_rig_fini(&r);
}

static void every_resource_has_an_informer(void **state)
{
    (void)state;
    factory_rig r;
    char name[128];
    factory_rig_init(&r);
    assert_int_equal(ki_resource_count, 147);
    for (size_t i = 0; i < ki_resource_count; i++) {
        const ki_resource *resource = &ki_resources[i];
        ki_informer *informer = ki_factory_informer(r.factory, resource, NULL);
        assert_non_null(informer);
        assert_true(ki_resource_equal(ki_informer_resource(informer), resource));
        if (resource->group[0] == 0)
            snprintf(name, sizeof(name), "%s", resource->plural);
        else
            snprintf(name, sizeof(name), "%s.%s.%s", resource->plural, resource->version, resource->group);
        assert_ptr_equal(ki_factory_for_resource(r.factory, ki_str_of(name), NULL), informer);
    }
    assert_int_equal(ki_factory_read_pending(r.factory, NULL, 0), 147);
    factory_rig_fini(&r);
}

static void a_custom_resource_is_found_by_name(void **state)
{
    (void)state;
    factory_rig r;
    factory_rig_init(&r);
    ki_informer *informer = ki_factory_for_resource(r.factory, KI_STR("widgets.v1.example.com"), NULL);
    assert_non_null(informer);
    assert_string_equal(ki_informer_resource(informer)->plural, "widgets");
    assert_string_equal(ki_informer_resource(informer)->group, "example.com");
    assert_ptr_equal(ki_factory_for_resource(r.factory, KI_STR("widgets.v1.example.com"), NULL), informer);
    factory_rig_fini(&r);
}

/* ---- what informers get from the factory ------------------------------------------------------------- */

static int keep_all(const ki_object **object, void *user)
{
    (void)object;
    atomic_int *calls = user;
    (*calls)++;
    return 0;
}

static void tweak(ki_list_options *options, void *user)
{
    atomic_int *calls = user;
    (*calls)++;
    options->label_selector = ki_str_of("tweaked=yes");
}

static void the_options_apply_to_every_informer(void **state)
{
    (void)state;
    factory_rig r;
    atomic_int transforms = 0;
    atomic_int tweaks = 0;
    factory_rig_init_with(&r, &(ki_factory_options){.informer = {.ns = "web",
                                                                 .resync_ms = 5000,
                                                                 .transform = keep_all,
                                                                 .transform_user = &transforms,
                                                                 .tweak = tweak,
                                                                 .tweak_user = &tweaks}});
    ki_informer *pods = ki_factory_informer(r.factory, &KI_CORE_V1_PODS, NULL);
    ki_informer *secrets = ki_factory_informer(r.factory, &KI_CORE_V1_SECRETS, NULL);
    assert_string_equal(pods->life.setup.options.ns, "web");
    assert_string_equal(secrets->life.setup.options.ns, "web");
    assert_int_equal(pods->check_ms, 5000);
    factory_rig_sync(&r);
    assert_int_equal(transforms, 6);
    assert_true(tweaks >= 2);
    factory_rig_fini(&r);
}

static void a_cluster_scoped_resource_gets_no_namespace(void **state)
{
    (void)state;
    factory_rig r;
    factory_rig_init_with(&r, &(ki_factory_options){.informer = {.ns = "web"}});
    assert_string_equal(ki_factory_informer(r.factory, &KI_CORE_V1_NODES, NULL)->life.setup.options.ns, "");
    factory_rig_fini(&r);
}

static void some_resources_have_their_own_resync(void **state)
{
    (void)state;
    factory_rig r;
    const ki_factory_resync resyncs[] = {
        {.resource = &KI_CORE_V1_PODS, .resync_ms = 1000}, {.resource = &KI_CORE_V1_NODES}, {0}};
    factory_rig_init_with(&r, &(ki_factory_options){.informer = {.resync_ms = 9000}, .resync = resyncs});
    assert_int_equal(ki_factory_informer(r.factory, &KI_CORE_V1_PODS, NULL)->check_ms, 1000);
    assert_int_equal(ki_factory_informer(r.factory, &KI_CORE_V1_NODES, NULL)->check_ms, 0);
    assert_int_equal(ki_factory_informer(r.factory, &KI_CORE_V1_SECRETS, NULL)->check_ms, 9000);
    factory_rig_fini(&r);
}

/* ---- starting, waiting, stopping --------------------------------------------------------------------- */

static void a_start_starts_only_informers_that_do_not_run(void **state)
{
    (void)state;
    factory_rig r;
    factory_rig_init(&r);
    ki_informer *pods = ki_factory_informer(r.factory, &KI_CORE_V1_PODS, NULL);
    factory_rig_sync(&r);
    assert_int_equal(local_source_lists(r.rig.source), 1);
    ki_informer *nodes = ki_factory_informer(r.factory, &KI_CORE_V1_NODES, NULL);
    assert_int_equal(ki_informer_has_synced(nodes), 0);
    assert_int_equal(ki_factory_read_pending(r.factory, NULL, 0), 1);
    factory_rig_sync(&r);
    assert_int_equal(local_source_lists(r.rig.source), 2);
    assert_int_equal(ki_informer_has_synced(pods) + ki_informer_has_synced(nodes), 2);
    assert_int_equal(ki_factory_read_pending(r.factory, NULL, 0), 0);
    factory_rig_fini(&r);
}

static void a_factory_can_be_stopped_and_started_again(void **state)
{
    (void)state;
    factory_rig r;
    ki_informer_status status;
    factory_rig_init(&r);
    ki_informer *pods = ki_factory_informer(r.factory, &KI_CORE_V1_PODS, NULL);
    factory_rig_sync(&r);
    ki_factory_stop(r.factory);
    ki_informer_read_status(pods, &status);
    assert_int_equal(status.phase, KI_PHASE_STOPPED);
    ki_factory_stop(r.factory);
    factory_rig_sync(&r);
    assert_int_equal(local_source_lists(r.rig.source), 1);
    factory_rig_fini(&r);
}

static void one_informer_can_be_stopped_alone_and_started_again_with_the_rest(void **state)
{
    (void)state;
    factory_rig r;
    ki_informer_status status;
    factory_rig_init(&r);
    ki_informer *pods = ki_factory_informer(r.factory, &KI_CORE_V1_PODS, NULL);
    ki_informer *nodes = ki_factory_informer(r.factory, &KI_CORE_V1_NODES, NULL);
    factory_rig_sync(&r);
    ki_informer_stop(pods);
    ki_informer_read_status(nodes, &status);
    assert_int_not_equal(status.phase, KI_PHASE_STOPPED);
    r.rig.informer = pods;
    (void)local_source_put(r.rig.source, "a", "n0", 9);
    factory_rig_sync(&r);
    local_rig_catch_up(&r.rig);
    r.rig.informer = NULL;
    assert_int_equal(local_source_differences(r.rig.source, ki_informer_store(pods)), 0);
    factory_rig_fini(&r);
}

static void a_failed_wait_names_the_informers_that_are_not_ready_and_why(void **state)
{
    (void)state;
    factory_rig r;
    ki_error err = {0};
    ki_factory_pending pending[1];
    factory_rig_init(&r);
    ki_informer *pods = ki_factory_informer(r.factory, &KI_CORE_V1_PODS, NULL);
    factory_rig_sync(&r);
    local_source_set_status(r.rig.source, 403);
    ki_informer *nodes = ki_factory_informer(r.factory, &KI_CORE_V1_NODES, NULL);
    assert_non_null(ki_factory_informer(r.factory, &KI_CORE_V1_SECRETS, NULL));
    assert_int_equal(ki_factory_start(r.factory, &err), 0);
    for (int i = 0; i < 100 && strstr(err.message, "nodes: BACKING_OFF, Forbidden") == NULL; i++)
        assert_int_equal(ki_factory_wait_for_sync(r.factory, A_WHILE_MS, &err), KI_ERR_TIMEOUT);
    assert_non_null(strstr(err.message, "2 not ready"));
    assert_non_null(strstr(err.message, "nodes: BACKING_OFF, Forbidden"));
    assert_non_null(strstr(err.message, "secrets"));
    assert_null(strstr(err.message, "pods"));
    assert_int_equal(ki_factory_read_pending(r.factory, pending, 1), 2);
    assert_ptr_equal(pending[0].informer, nodes);
    assert_int_equal(pending[0].status.reason, KI_REASON_FORBIDDEN);
    assert_int_equal(ki_informer_has_synced(pods), 1);
    factory_rig_fini(&r);
}

/* Several informers of one resource have the names that metrics have. */
static void a_failed_wait_names_each_informer_as_in_metrics(void **state)
{
    (void)state;
    factory_rig r;
    ki_error err = {0};
    char of_third[64];
    factory_rig_init(&r);
    const ki_informer_options others[] = {
        {.ns = "web"}, {.field_selector = "spec.nodeName=n"}, {.label_selector = "a=b", .name = "mine"}};
    const ki_informer *third = NULL;
    assert_non_null(ki_factory_informer(r.factory, &KI_CORE_V1_PODS, NULL));
    for (size_t i = 0; i < 3; i++) {
        const ki_informer *informer = ki_factory_informer(r.factory, &KI_CORE_V1_PODS, &others[i]);
        assert_non_null(informer);
        third = i == 1 ? informer : third;
    }
    (void)snprintf(of_third, sizeof(of_third), "; %s: ", third->life.name);
    assert_non_null(strstr(of_third, "pods#"));
    local_source_set_silent(r.rig.source, 1);
    assert_int_equal(ki_factory_start(r.factory, &err), 0);
    assert_int_equal(ki_factory_wait_for_sync(r.factory, 0, &err), KI_ERR_TIMEOUT);
    assert_ptr_equal(strstr(err.message, "4 not ready: pods: "), err.message);
    assert_non_null(strstr(err.message, "; pods/web: "));
    assert_non_null(strstr(err.message, of_third));
    assert_non_null(strstr(err.message, "; mine: "));
    factory_rig_fini(&r);
}

static void waiting_for_a_stopped_factory_fails(void **state)
{
    (void)state;
    factory_rig r;
    ki_error err = {0};
    factory_rig_init(&r);
    assert_non_null(ki_factory_informer(r.factory, &KI_CORE_V1_PODS, NULL));
    local_source_set_silent(r.rig.source, 1);
    assert_int_equal(ki_factory_start(r.factory, &err), 0);
    ki_factory_stop(r.factory);
    assert_int_equal(ki_factory_wait_for_sync(r.factory, HANG_MS, &err), KI_ERR_STOPPED);
    factory_rig_fini(&r);
}

/* ---- removing ---------------------------------------------------------------------------------------- */

static void an_informer_with_handlers_is_not_removed(void **state)
{
    (void)state;
    factory_rig r;
    heard what;
    heard_init(&what);
    factory_rig_init(&r);
    ki_handler handler = heard_handler(&what);
    ki_informer *pods = ki_factory_informer(r.factory, &KI_CORE_V1_PODS, NULL);
    ki_registration *first = ki_informer_add_handler(pods, &handler, NULL);
    ki_registration *second = ki_informer_add_handler(pods, &(ki_handler){0}, NULL);
    factory_rig_sync(&r);
    assert_int_equal(ki_factory_remove(r.factory, pods), 1);
    ki_registration_remove(first);
    assert_int_equal(ki_factory_remove(r.factory, pods), 1);
    ki_registration_remove(second);
    assert_int_equal(ki_factory_remove(r.factory, pods), 0);
    assert_int_equal(what.releases, 1);
    assert_int_equal(local_source_opened(r.rig.source) - local_source_released(r.rig.source), 0);
    assert_int_equal(ki_factory_read_pending(r.factory, NULL, 0), 0);
    ki_informer *again = ki_factory_informer(r.factory, &KI_CORE_V1_PODS, NULL);
    assert_int_equal(ki_informer_has_synced(again), 0);
    factory_rig_fini(&r);
    heard_fini(&what);
}

static void only_its_own_informers_are_removed(void **state)
{
    (void)state;
    factory_rig r;
    factory_rig_init(&r);
    ki_informer *other = ki_informer_new(r.rig.client, &KI_CORE_V1_PODS, NULL, NULL);
    assert_int_equal(ki_factory_remove(r.factory, other), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_factory_remove(r.factory, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_factory_remove(NULL, other), KI_ERR_INVALID);
    ki_informer_free(other);
    factory_rig_fini(&r);
}

typedef struct waiting {
    ki_factory *factory;
    int rc;
} waiting;

static void wait_for_sync(void *user)
{
    waiting *w = user;
    w->rc = ki_factory_wait_for_sync(w->factory, HANG_MS, NULL);
}

static void a_wait_ignores_informers_that_were_not_started(void **state)
{
    (void)state;
    factory_rig r;
    factory_rig_init(&r);
    assert_non_null(ki_factory_informer(r.factory, &KI_CORE_V1_PODS, NULL));
    assert_int_equal(ki_factory_wait_for_sync(r.factory, HANG_MS, NULL), 0);
    factory_rig_fini(&r);
}

/* The waiting thread continues with the next informer, and the removed one is gone when the removal
 * returns. */
static void an_informer_can_be_removed_while_another_thread_waits_for_it(void **state)
{
    (void)state;
    factory_rig r;
    aside call;
    factory_rig_init(&r);
    ki_informer *pods = ki_factory_informer(r.factory, &KI_CORE_V1_PODS, NULL);
    local_source_set_silent(r.rig.source, 1);
    assert_int_equal(ki_factory_start(r.factory, NULL), 0);
    waiting w = {.factory = r.factory};
    aside_start(&call, wait_for_sync, &w);
    assert_int_equal(aside_ends_within(&call, A_WHILE_MS), 0);
    assert_int_equal(ki_factory_remove(r.factory, pods), 0);
    assert_int_equal(local_source_opened(r.rig.source) - local_source_released(r.rig.source), 0);
    assert_int_equal(aside_ends_within(&call, HANG_MS), 1);
    aside_join(&call);
    assert_int_equal(w.rc, 0);
    factory_rig_fini(&r);
}

static void a_free_returns_when_nothing_runs(void **state)
{
    (void)state;
    factory_rig r;
    heard what[3];
    const ki_resource *resources[3] = {&KI_CORE_V1_PODS, &KI_CORE_V1_NODES, &KI_CORE_V1_SECRETS};
    factory_rig_init(&r);
    for (int i = 0; i < 3; i++) {
        heard_init(&what[i]);
        ki_handler handler = heard_handler(&what[i]);
        assert_non_null(
            ki_informer_add_handler(ki_factory_informer(r.factory, resources[i], NULL), &handler, NULL));
    }
    factory_rig_sync(&r);
    ki_factory_free(r.factory);
    r.factory = NULL;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(what[i].releases, 1);
        assert_int_equal(what[i].inside, 0);
        assert_int_equal(what[i].wrongs, 0);
        heard_fini(&what[i]);
    }
    assert_int_equal(local_source_opened(r.rig.source) - local_source_released(r.rig.source), 0);
    factory_rig_fini(&r);
}

static int pass(const ki_object **object, void *user)
{
    (void)object;
    (void)user;
    return 0;
}

static void a_transform_of_one_user_leaves_the_informer_shared(void **state)
{
    (void)state;
    factory_rig r;
    factory_rig_init(&r);
    ki_informer *pods = ki_factory_informer(r.factory, &KI_CORE_V1_PODS, NULL);
    assert_int_equal(ki_informer_set_transform(pods, pass, NULL), 0);
    assert_ptr_equal(ki_factory_informer(r.factory, &KI_CORE_V1_PODS, NULL), pods);
    factory_rig_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(the_same_collection_has_the_same_informer),
        WITH_MEMORY_CHECK(other_options_make_another_informer),
        WITH_MEMORY_CHECK(many_informers_are_distinguished_counted_and_removed),
        WITH_MEMORY_CHECK(every_resource_has_an_informer),
        WITH_MEMORY_CHECK(a_custom_resource_is_found_by_name),
        WITH_MEMORY_CHECK(the_options_apply_to_every_informer),
        WITH_MEMORY_CHECK(a_cluster_scoped_resource_gets_no_namespace),
        WITH_MEMORY_CHECK(some_resources_have_their_own_resync),
        WITH_MEMORY_CHECK(a_start_starts_only_informers_that_do_not_run),
        WITH_MEMORY_CHECK(a_factory_can_be_stopped_and_started_again),
        WITH_MEMORY_CHECK(one_informer_can_be_stopped_alone_and_started_again_with_the_rest),
        WITH_MEMORY_CHECK(a_failed_wait_names_the_informers_that_are_not_ready_and_why),
        cmocka_unit_test(a_failed_wait_names_each_informer_as_in_metrics),
        WITH_MEMORY_CHECK(waiting_for_a_stopped_factory_fails),
        WITH_MEMORY_CHECK(an_informer_with_handlers_is_not_removed),
        WITH_MEMORY_CHECK(only_its_own_informers_are_removed),
        WITH_MEMORY_CHECK(a_wait_ignores_informers_that_were_not_started),
        WITH_MEMORY_CHECK(an_informer_can_be_removed_while_another_thread_waits_for_it),
        WITH_MEMORY_CHECK(a_free_returns_when_nothing_runs),
        WITH_MEMORY_CHECK(a_transform_of_one_user_leaves_the_informer_shared),
    };
    (void)alarm(WATCHDOG_SECONDS);
    return RUN_TESTS(tests);
}
