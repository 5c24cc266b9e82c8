/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated cluster: one seed gives one run; and its invariants. */
#include <kinformer/json.h>
#include <kinformer/object.h>
#include <kinformer/resources.h>
#include <kinformer/store.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/demo/demo_cluster.h"
#include "support/unit.h"

enum { NOW_S = 1700000000, CHANGES = 4000, PODS = 120 };

static cli_demo_cluster *make(uint64_t seed, uint32_t pods)
{
    ki_error err = {0};
    cli_demo_cluster *cluster = cli_demo_cluster_new(&(cli_demo_cluster_options){seed, pods}, &err);
    assert_non_null(cluster);
    return cluster;
}

static cli_demo_change next(cli_demo_cluster *cluster)
{
    ki_error err = {0};
    cli_demo_change change = {0};
    assert_int_equal(cli_demo_cluster_next(cluster, NOW_S, &change, &err), 0);
    return change;
}

/* ---- a model of the cluster ---------------------------------------------------------------------------- */

/* What an API server would store: the latest object of each key. */
typedef struct model {
    ki_store *stores[CLI_DEMO_NAMESPACES + 1];
} model;

static const ki_resource *const resources[] = {&KI_CORE_V1_PODS, &KI_CORE_V1_NODES, &KI_APPS_V1_DEPLOYMENTS,
                                               &KI_APPS_V1_REPLICASETS, &KI_CORE_V1_NAMESPACES};

static void model_init(model *m)
{
    ki_error err = {0};
    for (size_t i = 0; i <= CLI_DEMO_NAMESPACES; i++) {
        m->stores[i] = ki_store_new(NULL, &err);
        assert_non_null(m->stores[i]);
    }
}

static void model_fini(model *m)
{
    for (size_t i = 0; i <= CLI_DEMO_NAMESPACES; i++)
        ki_store_free(m->stores[i]);
}

static void key_of(const cli_demo_change *change, char *out, size_t bytes)
{
    snprintf(out, bytes, "%s%s%s", change->ns, change->ns[0] != 0 ? "/" : "", change->name);
}

/* Returns a new reference to the object that was put, or NULL for a delete. A deleted object must exist. */
static ki_object *model_apply(model *m, const cli_demo_change *change)
{
    char key[256];
    ki_error err = {0};
    key_of(change, key, sizeof(key));
    if (change->is_delete) {
        assert_int_equal(ki_store_remove(m->stores[change->kind], ki_str_of(key)), 0);
        return NULL;
    }
    ki_object *object = ki_object_new(resources[change->kind], ki_str_of(change->json), NULL, &err);
    if (object == NULL)
        fail_msg("%s: %s: %s", key, err.message, change->json);
    assert_string_equal(ki_object_key(object), key);
    assert_int_equal(ki_store_put(m->stores[change->kind], object), 0);
    return object;
}

static int64_t number_at(const ki_object *object, const char *pointer)
{
    int64_t number = -1;
    assert_int_equal(ki_object_get_int64(object, pointer, &number), 0);
    return number;
}

/* ---- one seed, one run --------------------------------------------------------------------------------- */

static int is_same(const cli_demo_change *a, const cli_demo_change *b)
{
    return a->kind == b->kind && a->is_delete == b->is_delete && strcmp(a->ns, b->ns) == 0 &&
           strcmp(a->name, b->name) == 0 && strcmp(a->happening, b->happening) == 0 &&
           (a->json == NULL) == (b->json == NULL) && (a->json == NULL || strcmp(a->json, b->json) == 0);
}

static void the_same_seed_gives_the_same_sequence(void **state)
{
    (void)state;
    cli_demo_cluster *a = make(7, PODS);
    cli_demo_cluster *b = make(7, PODS);
    for (int i = 0; i < CHANGES; i++) {
        cli_demo_change from_a = next(a);
        cli_demo_change from_b = next(b);
        assert_true(is_same(&from_a, &from_b));
    }
    cli_demo_cluster_free(a);
    cli_demo_cluster_free(b);
}

static void another_seed_gives_another_sequence(void **state)
{
    (void)state;
    cli_demo_cluster *a = make(7, PODS);
    cli_demo_cluster *b = make(8, PODS);
    int differ = 0;
    for (int i = 0; i < 400; i++) {
        cli_demo_change from_a = next(a);
        cli_demo_change from_b = next(b);
        differ += !is_same(&from_a, &from_b);
    }
    assert_true(differ > 300);
    cli_demo_cluster_free(a);
    cli_demo_cluster_free(b);
}

/* ---- the beginning ------------------------------------------------------------------------------------- */

static void it_begins_with_the_requested_number_of_running_pods_and_owners_first(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 50, 777};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        model m;
        model_init(&m);
        cli_demo_cluster *cluster = make(1, sizes[i]);
        while (cli_demo_cluster_to_load(cluster) > 0) {
            cli_demo_change change = next(cluster);
            ki_object *object = model_apply(&m, &change);
            assert_string_equal(change.happening, "");
            if (change.kind == CLI_DEMO_PODS) {
                assert_true(ki_str_equal(ki_object_string(object, "/status/phase"), KI_STR("Running")));
                assert_true(ki_object_string(object, "/status/podIP").len > 0);
            }
            ki_owner owner = {0};
            if (change.kind == CLI_DEMO_PODS || change.kind == CLI_DEMO_REPLICA_SETS) {
                int of = change.kind == CLI_DEMO_PODS ? CLI_DEMO_REPLICA_SETS : CLI_DEMO_DEPLOYMENTS;
                char name[128];
                assert_int_equal(ki_object_controller(object, &owner), 0);
                snprintf(name, sizeof(name), "%.*s", KI_STR_ARGS(owner.name));
                ki_object *found = ki_store_get(m.stores[of], ki_str_of(change.ns), ki_str_of(name));
                assert_non_null(found);
                assert_true(ki_str_equal(ki_object_uid(found), owner.uid));
                ki_object_unref(found);
            }
            ki_object_unref(object);
        }
        assert_int_equal(ki_store_count(m.stores[CLI_DEMO_PODS]), sizes[i]);
        assert_true(ki_store_count(m.stores[CLI_DEMO_NODES]) >= 3);
        cli_demo_cluster_free(cluster);
        model_fini(&m);
    }
}

/* ---- invariants ---------------------------------------------------------------------------------------- */

typedef struct count_of_app {
    ki_str app;
    ki_str ns;
    int64_t pods;
} count_of_app;

static int count_pod(const ki_object *pod, void *user)
{
    count_of_app *sum = user;
    ki_str app = {0};
    if (ki_object_label(pod, KI_STR("app"), &app) == 0 && ki_str_equal(app, sum->app) &&
        ki_str_equal(ki_object_namespace(pod), sum->ns))
        sum->pods++;
    return 0;
}

static int64_t pods_of(model *m, const ki_object *deployment)
{
    count_of_app sum = {.app = ki_object_name(deployment), .ns = ki_object_namespace(deployment)};
    assert_int_equal(ki_store_walk(m->stores[CLI_DEMO_PODS], count_pod, &sum), 0);
    return sum.pods;
}

static ki_object *deployment_of(model *m, const ki_object *pod)
{
    char ns[64];
    char name[128];
    ki_str app = {0};
    assert_int_equal(ki_object_label(pod, KI_STR("app"), &app), 0);
    snprintf(ns, sizeof(ns), "%.*s", KI_STR_ARGS(ki_object_namespace(pod)));
    snprintf(name, sizeof(name), "%.*s", KI_STR_ARGS(app));
    return ki_store_get(m->stores[CLI_DEMO_DEPLOYMENTS], ki_str_of(ns), ki_str_of(name));
}

static void a_pod_is_created_only_within_replicas_and_surge(void **state)
{
    (void)state;
    model m;
    model_init(&m);
    cli_demo_cluster *cluster = make(3, PODS);
    int created = 0;
    for (int i = 0; i < CHANGES; i++) {
        int is_living = cli_demo_cluster_to_load(cluster) == 0;
        cli_demo_change change = next(cluster);
        size_t before = ki_store_count(m.stores[CLI_DEMO_PODS]);
        ki_object *object = model_apply(&m, &change);
        if (is_living && change.kind == CLI_DEMO_PODS && ki_store_count(m.stores[CLI_DEMO_PODS]) > before) {
            ki_object *deployment = deployment_of(&m, object);
            assert_non_null(deployment);
            int64_t replicas = number_at(deployment, "/spec/replicas");
            assert_true(pods_of(&m, deployment) <= replicas + (replicas + 3) / 4);
            assert_true(ki_str_equal(ki_object_string(object, "/status/phase"), KI_STR("Pending")));
            ki_object_unref(deployment);
            created++;
        }
        ki_object_unref(object);
    }
    assert_true(created > 100);
    cli_demo_cluster_free(cluster);
    model_fini(&m);
}

static int check_pod(const ki_object *pod, void *user)
{
    model *m = user;
    ki_str node = ki_object_string(pod, "/spec/nodeName");
    ki_owner owner = {0};
    char ns[64];
    char name[128];
    snprintf(ns, sizeof(ns), "%.*s", KI_STR_ARGS(ki_object_namespace(pod)));
    assert_int_equal(ki_object_controller(pod, &owner), 0);
    snprintf(name, sizeof(name), "%.*s", KI_STR_ARGS(owner.name));
    const ki_object *set = ki_store_peek(m->stores[CLI_DEMO_REPLICA_SETS], ki_str_of(ns), ki_str_of(name));
    assert_non_null(set);
    assert_true(ki_str_equal(ki_object_uid(set), owner.uid));
    if (node.len > 0)
        assert_non_null(ki_store_peek_key(m->stores[CLI_DEMO_NODES], node));
    else
        assert_int_equal(ki_object_string(pod, "/status/podIP").len, 0);
    return 0;
}

static int emit_address(const ki_object *pod, ki_index_emit *emit, void *user)
{
    (void)user;
    ki_str address = ki_object_string(pod, "/status/podIP");
    return address.len > 0 ? ki_index_emit_value(emit, address) : 0;
}

static void every_pod_has_a_replica_set_a_node_and_its_own_address(void **state)
{
    (void)state;
    model m;
    model_init(&m);
    cli_demo_cluster *cluster = make(5, PODS);
    assert_int_equal(ki_store_add_index(m.stores[CLI_DEMO_PODS], "ip", emit_address, NULL), 0);
    for (int i = 0; i < CHANGES; i++) {
        cli_demo_change change = next(cluster);
        ki_object_unref(model_apply(&m, &change));
        if (i % 100 != 0)
            continue;
        assert_int_equal(ki_store_walk(m.stores[CLI_DEMO_PODS], check_pod, &m), 0);
        ki_str_list addresses = {0};
        assert_int_equal(ki_store_list_values(m.stores[CLI_DEMO_PODS], "ip", &addresses), 0);
        for (size_t a = 0; a < addresses.count; a++) {
            ki_str_list keys = {0};
            assert_int_equal(
                ki_store_list_keys_index(m.stores[CLI_DEMO_PODS], "ip", addresses.texts[a], &keys), 0);
            assert_int_equal(keys.count, 1);
            ki_str_list_fini(&keys);
        }
        ki_str_list_fini(&addresses);
    }
    cli_demo_cluster_free(cluster);
    model_fini(&m);
}

/* ---- a long run ---------------------------------------------------------------------------------------- */

static void all_changes_happen_and_the_cluster_keeps_its_size(void **state)
{
    (void)state;
    static const char *const words[] = {"scales from", "rolls out",    "crashes",
                                        "is deleted",  "is not ready", "is ready again"};
    int seen[sizeof(words) / sizeof(words[0])] = {0};
    int is_backing_off = 0;
    model m;
    model_init(&m);
    cli_demo_cluster *cluster = make(2, PODS);
    for (int i = 0; i < 4 * CHANGES; i++) {
        cli_demo_change change = next(cluster);
        for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++)
            seen[w] += strstr(change.happening, words[w]) != NULL;
        is_backing_off += change.json != NULL && strstr(change.json, "CrashLoopBackOff") != NULL;
        ki_object_unref(model_apply(&m, &change));
    }
    for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++)
        if (seen[w] < 5)
            fail_msg("\"%s\" happens %d times", words[w], seen[w]);
    assert_true(is_backing_off > 10);
    assert_in_range(ki_store_count(m.stores[CLI_DEMO_PODS]), PODS / 2, PODS * 2);
    cli_demo_cluster_free(cluster);
    model_fini(&m);
}

static void the_smallest_cluster_also_works(void **state)
{
    (void)state;
    model m;
    model_init(&m);
    cli_demo_cluster *cluster = make(9, 1);
    for (int i = 0; i < CHANGES; i++) {
        cli_demo_change change = next(cluster);
        ki_object_unref(model_apply(&m, &change));
    }
    assert_in_range(ki_store_count(m.stores[CLI_DEMO_PODS]), 0, 3);
    cli_demo_cluster_free(cluster);
    model_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_seed_gives_the_same_sequence),
        cmocka_unit_test(another_seed_gives_another_sequence),
        cmocka_unit_test(it_begins_with_the_requested_number_of_running_pods_and_owners_first),
        cmocka_unit_test(a_pod_is_created_only_within_replicas_and_surge),
        cmocka_unit_test(every_pod_has_a_replica_set_a_node_and_its_own_address),
        cmocka_unit_test(all_changes_happen_and_the_cluster_keeps_its_size),
        cmocka_unit_test(the_smallest_cluster_also_works),
    };
    return RUN_TESTS(tests);
}
