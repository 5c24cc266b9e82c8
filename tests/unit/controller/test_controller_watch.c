/* SPDX-License-Identifier: Apache-2.0 */
/* How events become keys. */
#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>

#include "support/controller/controller_rig.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

static void start(controller_rig *rig)
{
    ki_error err = {0};
    int rc = ki_controller_start(rig->controller, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(rc, 0);
}

static void each_event_adds_the_key_of_its_object(void **state)
{
    (void)state;
    controller_rig rig;
    controller_rig_init(&rig, NULL);
    assert_int_equal(ki_controller_watch(rig.controller, rig.informers[RIG_PODS], NULL), 0);
    start(&rig);
    controller_rig_sync(&rig, "", rig_object("a", "x", 5, ""));
    RIG_EXPECT(&rig, "a/x ");
    controller_rig_event(&rig, RIG_PODS, "ADDED", rig_object("a", "y", 11, ""));
    controller_rig_run(&rig, 1);
    RIG_EXPECT(&rig, "a/y ");
    controller_rig_event(&rig, RIG_PODS, "MODIFIED", rig_object("a", "y", 12, ""));
    controller_rig_run(&rig, 1);
    RIG_EXPECT(&rig, "a/y ");
    controller_rig_event(&rig, RIG_PODS, "DELETED", rig_object("a", "x", 13, ""));
    controller_rig_run(&rig, 1);
    RIG_EXPECT(&rig, "a/x ");
    controller_rig_fini(&rig);
}

static ki_result check_parts(controller_rig *rig, ki_request *request)
{
    (void)rig;
    if (ki_request_key(request).len == 3) {
        assert_true(ki_str_equal(ki_request_namespace(request), KI_STR("a")));
        assert_true(ki_str_equal(ki_request_name(request), KI_STR("x")));
    } else {
        assert_int_equal(ki_request_namespace(request).len, 0);
        assert_true(ki_str_equal(ki_request_name(request), ki_request_key(request)));
    }
    const ki_str texts[] = {ki_request_key(request), ki_request_namespace(request), ki_request_name(request)};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(strlen(texts[i].ptr), texts[i].len);
    return ki_done();
}

static void the_request_has_namespace_and_name(void **state)
{
    (void)state;
    controller_rig rig;
    controller_rig_init(&rig, NULL);
    rig.reconcile = check_parts;
    start(&rig);
    assert_int_equal(ki_controller_enqueue(rig.controller, KI_STR("a/x"), 0), 0);
    assert_int_equal(ki_controller_enqueue(rig.controller, KI_STR("node"), 0), 0);
    assert_int_equal(ki_controller_enqueue(rig.controller, KI_STR("a/b/c"), 0), 0);
    controller_rig_run(&rig, 1);
    RIG_EXPECT(&rig, "a/x node a/b/c ");
    controller_rig_fini(&rig);
}

static void a_predicate_decides_which_updates_count(void **state)
{
    (void)state;
    controller_rig rig;
    controller_rig_init(&rig, NULL);
    assert_int_equal(
        ki_controller_watch(rig.controller, rig.informers[RIG_PODS], &KI_PREDICATE_GENERATION_CHANGED), 0);
    start(&rig);
    controller_rig_sync(&rig, "", rig_object("a", "x", 5, ",\"generation\":1"));
    RIG_EXPECT(&rig, "a/x ");
    controller_rig_event(&rig, RIG_PODS, "MODIFIED", rig_object("a", "x", 11, ",\"generation\":1"));
    controller_rig_run(&rig, 1);
    RIG_EXPECT(&rig, "");
    controller_rig_event(&rig, RIG_PODS, "MODIFIED", rig_object("a", "x", 12, ",\"generation\":2"));
    controller_rig_run(&rig, 1);
    RIG_EXPECT(&rig, "a/x ");
    controller_rig_fini(&rig);
}

static void the_controlling_owner_of_kind_and_group_is_the_key(void **state)
{
    (void)state;
    controller_rig rig;
    controller_rig_init(&rig, NULL);
    assert_int_equal(
        ki_controller_watch_owned(rig.controller, rig.informers[RIG_PODS], &KI_APPS_V1_DEPLOYMENTS, NULL), 0);
    start(&rig);
    controller_rig_sync(&rig, "", "");
    controller_rig_event(&rig, RIG_PODS, "ADDED", rig_owned("a", "p", 11, "apps/v1", "Deployment", "d1"));
    controller_rig_event(&rig, RIG_PODS, "ADDED",
                         rig_owned("a", "q", 12, "apps/v1beta2", "Deployment", "d2"));
    controller_rig_event(&rig, RIG_PODS, "ADDED", rig_owned("a", "r", 13, "other/v1", "Deployment", "no"));
    controller_rig_event(&rig, RIG_PODS, "ADDED", rig_owned("a", "s", 14, "apps/v1", "ReplicaSet", "no"));
    controller_rig_event(&rig, RIG_PODS, "ADDED", rig_object("a", "t", 15, ""));
    controller_rig_event(&rig, RIG_PODS, "ADDED",
                         rig_object("a", "u", 16,
                                    ",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":"
                                    "\"Deployment\",\"name\":\"no\",\"uid\":\"o\"}]"));
    controller_rig_run(&rig, 1);
    RIG_EXPECT(&rig, "a/d1 a/d2 ");
    controller_rig_fini(&rig);
}

static void both_the_old_and_the_new_owner_are_added(void **state)
{
    (void)state;
    controller_rig rig;
    controller_rig_init(&rig, NULL);
    assert_int_equal(
        ki_controller_watch_owned(rig.controller, rig.informers[RIG_PODS], &KI_APPS_V1_DEPLOYMENTS, NULL), 0);
    start(&rig);
    controller_rig_sync(&rig, "", rig_owned("a", "p", 5, "apps/v1", "Deployment", "d1"));
    RIG_EXPECT(&rig, "a/d1 ");
    controller_rig_event(&rig, RIG_PODS, "MODIFIED", rig_owned("a", "p", 11, "apps/v1", "Deployment", "d2"));
    controller_rig_run(&rig, 1);
    RIG_EXPECT(&rig, "a/d2 a/d1 ");
    controller_rig_event(&rig, RIG_PODS, "MODIFIED", rig_object("a", "p", 12, ""));
    controller_rig_run(&rig, 1);
    RIG_EXPECT(&rig, "a/d2 ");
    controller_rig_fini(&rig);
}

static void the_key_of_a_cluster_scoped_owner_has_no_namespace(void **state)
{
    (void)state;
    controller_rig rig;
    controller_rig_init(&rig, NULL);
    assert_int_equal(
        ki_controller_watch_owned(rig.controller, rig.informers[RIG_PODS], &KI_CORE_V1_NODES, NULL), 0);
    start(&rig);
    controller_rig_sync(&rig, "", rig_owned("a", "p", 5, "v1", "Node", "n1"));
    RIG_EXPECT(&rig, "n1 ");
    controller_rig_fini(&rig);
}

/* Two keys for each object: its label, and "all". */
static void map_label(const ki_object *object, ki_key_emit *emit, void *user)
{
    ki_str label;
    *(int *)user += 1;
    if (ki_object_label(object, KI_STR("to"), &label) == 0)
        ki_key_emit_key(emit, KI_STR("m"), label);
    ki_key_emit_key(emit, KI_STR(""), KI_STR("all"));
    ki_key_emit_key(emit, KI_STR("m"), KI_STR(""));    /* not a key */
    ki_key_emit_key(emit, KI_STR("m"), KI_STR("a/b")); /* not a key either */
}

static void a_map_function_may_emit_any_number_of_keys(void **state)
{
    (void)state;
    controller_rig rig;
    int calls = 0;
    controller_rig_init(&rig, NULL);
    assert_int_equal(
        ki_controller_watch_mapped(rig.controller, rig.informers[RIG_PODS], NULL, map_label, &calls), 0);
    start(&rig);
    controller_rig_sync(&rig, "", rig_object("a", "p", 5, ",\"labels\":{\"to\":\"k1\"}"));
    RIG_EXPECT(&rig, "m/k1 all ");
    controller_rig_event(&rig, RIG_PODS, "MODIFIED", rig_object("a", "p", 11, ",\"labels\":{\"to\":\"k2\"}"));
    controller_rig_run(&rig, 1);
    RIG_EXPECT(&rig, "m/k2 all m/k1 ");
    assert_int_equal(calls, 3);
    controller_rig_fini(&rig);
}

/* Keys of a list have low priority, so a changed key goes before them. */
static void changed_keys_go_before_listed_ones(void **state)
{
    (void)state;
    controller_rig rig;
    char items[512];
    controller_rig_init(&rig, NULL);
    assert_int_equal(ki_controller_watch(rig.controller, rig.informers[RIG_PODS], NULL), 0);
    snprintf(items, sizeof(items), "%s,%s", rig_object("a", "x", 5, ""), rig_object("a", "y", 6, ""));
    controller_rig_sync(&rig, "", items);
    controller_rig_event(&rig, RIG_PODS, "ADDED", rig_object("a", "z", 11, ""));
    controller_rig_event(&rig, RIG_PODS, "MODIFIED", rig_object("a", "y", 12, ""));
    controller_rig_run(&rig, 1);
    RIG_EXPECT(&rig, "");
    start(&rig);
    controller_rig_run(&rig, 1);
    RIG_EXPECT(&rig, "a/z a/y a/x ");
    controller_rig_fini(&rig);
}

static ki_result fail_once(controller_rig *rig, ki_request *request)
{
    (void)rig;
    bool is_listed = ki_str_equal(ki_request_key(request), KI_STR("a/x"));
    return is_listed && ki_request_failures(request) == 0 ? ki_retry(NULL) : ki_done();
}

static void a_retry_has_the_priority_of_its_key(void **state)
{
    (void)state;
    controller_rig rig;
    controller_rig_init(&rig, NULL);
    rig.reconcile = fail_once;
    assert_int_equal(ki_controller_watch(rig.controller, rig.informers[RIG_PODS], NULL), 0);
    start(&rig);
    controller_rig_sync(&rig, "", rig_object("a", "x", 5, ""));
    RIG_EXPECT(&rig, "a/x ");
    assert_int_equal(ki_controller_stop(rig.controller, NULL), 0);
    controller_rig_run(&rig, 1000);
    assert_int_equal(ki_controller_enqueue(rig.controller, KI_STR("a/now"), 0), 0);
    start(&rig);
    controller_rig_run(&rig, 1);
    RIG_EXPECT(&rig, "a/now a/x ");
    controller_rig_fini(&rig);
}

static void a_resync_adds_all_keys_at_low_priority(void **state)
{
    (void)state;
    controller_rig rig;
    controller_rig_init(&rig, &(ki_controller_options){.resync_ms = 5000});
    assert_int_equal(ki_controller_watch(rig.controller, rig.informers[RIG_PODS], NULL), 0);
    start(&rig);
    controller_rig_sync(&rig, "", rig_object("a", "x", 5, ""));
    RIG_EXPECT(&rig, "a/x ");
    controller_rig_run(&rig, 4000);
    RIG_EXPECT(&rig, "");
    assert_int_equal(ki_controller_stop(rig.controller, NULL), 0);
    controller_rig_run(&rig, 2000);
    assert_int_equal(ki_controller_enqueue(rig.controller, KI_STR("a/now"), 0), 0);
    start(&rig);
    controller_rig_run(&rig, 1);
    RIG_EXPECT(&rig, "a/now a/x ");
    controller_rig_fini(&rig);
}

/* A controller is started again whenever it is elected. It must never run without one of its watches. */
static void errors_of_the_setup_are_reported_by_each_start(void **state)
{
    (void)state;
    ki_error err = {0};
    ki_resource *foos = ki_resource_parse(KI_STR("foos.v1.example.com"), &err);
    static const char *const messages[] = {"controller test: no informer to watch",
                                           "controller test: watching pods: no owner",
                                           "controller test: watching pods: the owner has no kind",
                                           "controller test: watching pods: no map function"};
    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
        controller_rig rig;
        controller_rig_init(&rig, NULL);
        ki_informer *pods = rig.informers[RIG_PODS];
        int rc = i == 0   ? ki_controller_watch(rig.controller, NULL, NULL)
                 : i == 1 ? ki_controller_watch_owned(rig.controller, pods, NULL, NULL)
                 : i == 2 ? ki_controller_watch_owned(rig.controller, pods, foos, NULL)
                          : ki_controller_watch_mapped(rig.controller, pods, NULL, NULL, NULL);
        assert_int_equal(rc, KI_ERR_INVALID);
        assert_int_equal(ki_controller_watch(rig.controller, pods, NULL), 0);
        for (int start = 0; start < 2; start++) {
            assert_int_equal(ki_controller_start(rig.controller, &err), KI_ERR_INVALID);
            assert_string_equal(err.message, messages[i]);
        }
        assert_int_equal(ki_controller_watch(NULL, pods, NULL), KI_ERR_INVALID);
        controller_rig_fini(&rig);
    }
    ki_resource_free(foos);
}

static void no_key_is_reconciled_before_every_informer_has_synced(void **state)
{
    (void)state;
    controller_rig rig;
    ki_error err = {0};
    controller_rig_init(&rig, NULL);
    assert_int_equal(ki_controller_watch(rig.controller, rig.informers[RIG_PODS], NULL), 0);
    assert_int_equal(ki_controller_watch(rig.controller, rig.informers[RIG_DEPLOYMENTS], NULL), 0);
    start(&rig);
    for (int i = 0; i < 2; i++)
        assert_int_equal(ki_informer_start(rig.informers[i], &err), 0);
    controller_rig_run(&rig, 1);
    controller_rig_answer_list(&rig, RIG_PODS, "10", rig_object("a", "p", 5, ""));
    scripted_error(&rig.sources[RIG_DEPLOYMENTS], 403,
                   "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"message\":\"not yours\",\"code\":403}");
    controller_rig_run(&rig, 1);
    RIG_EXPECT(&rig, "");
    ki_controller_status status = controller_rig_status(&rig);
    assert_int_equal(status.is_running, 1);
    assert_int_equal(status.has_synced, 0);
    assert_int_equal(status.queued, 1);
    assert_non_null(strstr(status.waiting_for, "deployments: BACKING_OFF, Forbidden"));
    assert_non_null(strstr(status.waiting_for, "not yours"));
    text_log_clear(&rig.log);
    controller_rig_run(&rig, 10100);
    assert_non_null(strstr(rig.log.text, "waiting for deployments: "));
    controller_rig_answer_list(&rig, RIG_DEPLOYMENTS, "10", rig_object("a", "d", 5, ""));
    controller_rig_run(&rig, 1);
    RIG_EXPECT(&rig, "a/p a/d ");
    assert_string_equal(controller_rig_status(&rig).waiting_for, "");
    controller_rig_fini(&rig);
}

static void a_controller_does_not_wait_for_a_freed_informer(void **state)
{
    (void)state;
    controller_rig rig;
    controller_rig_init(&rig, NULL);
    assert_int_equal(ki_controller_watch(rig.controller, rig.informers[RIG_PODS], NULL), 0);
    start(&rig);
    assert_int_equal(ki_controller_enqueue(rig.controller, KI_STR("k"), 0), 0);
    controller_rig_run(&rig, 1);
    RIG_EXPECT(&rig, "");
    ki_informer_free(rig.informers[RIG_PODS]);
    rig.informers[RIG_PODS] = NULL;
    controller_rig_run(&rig, 1);
    RIG_EXPECT(&rig, "k ");
    controller_rig_fini(&rig);
}

/* The informer continues without its handlers. */
static void a_freed_controller_leaves_no_handler_behind(void **state)
{
    (void)state;
    controller_rig rig;
    controller_rig_init(&rig, NULL);
    size_t before = failing_allocator_live_count();
    assert_int_equal(ki_controller_watch(rig.controller, rig.informers[RIG_PODS], NULL), 0);
    start(&rig);
    controller_rig_sync(&rig, "", rig_object("a", "x", 5, ""));
    RIG_EXPECT(&rig, "a/x ");
    ki_controller_free(rig.controller);
    rig.controller = NULL;
    assert_int_equal(rig.released, 1);
    controller_rig_run(&rig, 1); /* no event arrives */
    ki_metrics_text text = {0};
    assert_int_equal(ki_metrics_render(rig.metrics, &text, NULL), 0);
    assert_null(strstr(text.bytes, "handler=\"test\""));
    ki_metrics_text_fini(&text);
    assert_true(before > 0);
    controller_rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(each_event_adds_the_key_of_its_object),
        WITH_MEMORY_CHECK(the_request_has_namespace_and_name),
        WITH_MEMORY_CHECK(a_predicate_decides_which_updates_count),
        WITH_MEMORY_CHECK(the_controlling_owner_of_kind_and_group_is_the_key),
        WITH_MEMORY_CHECK(both_the_old_and_the_new_owner_are_added),
        WITH_MEMORY_CHECK(the_key_of_a_cluster_scoped_owner_has_no_namespace),
        WITH_MEMORY_CHECK(a_map_function_may_emit_any_number_of_keys),
        WITH_MEMORY_CHECK(changed_keys_go_before_listed_ones),
        WITH_MEMORY_CHECK(a_retry_has_the_priority_of_its_key),
        WITH_MEMORY_CHECK(a_resync_adds_all_keys_at_low_priority),
        WITH_MEMORY_CHECK(errors_of_the_setup_are_reported_by_each_start),
        WITH_MEMORY_CHECK(no_key_is_reconciled_before_every_informer_has_synced),
        WITH_MEMORY_CHECK(a_controller_does_not_wait_for_a_freed_informer),
        WITH_MEMORY_CHECK(a_freed_controller_leaves_no_handler_behind),
    };
    return RUN_TESTS(tests);
}
