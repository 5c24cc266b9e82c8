/* SPDX-License-Identifier: Apache-2.0 */
/* Informers follow a healthy control plane. */
#include "cluster/cluster.h"
#include "cluster/follower.h"
#include "support/unit.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- built-in resources -------------------------------------------------------------------------------- */

typedef struct collection {
    const ki_resource *resource;
    const char *asked;
} collection;

static const collection collections[] = {
    {&KI_CORE_V1_NAMESPACES, "namespaces"},
    {&KI_CORE_V1_NODES, "nodes"},
    {&KI_CORE_V1_CONFIGMAPS, "configmaps -A"},
    {&KI_CORE_V1_PODS, "pods -A"},
    {&KI_CORE_V1_SERVICES, "services -A"},
    {&KI_CORE_V1_EVENTS, "events.v1. -A"},
    {&KI_APPS_V1_DEPLOYMENTS, "deployments -A"},
    {&KI_APPS_V1_REPLICASETS, "replicasets -A"},
    {&KI_DISCOVERY_V1_ENDPOINTSLICES, "endpointslices -A"},
    {&KI_RBAC_V1_CLUSTERROLES, "clusterroles"},
    {&KI_COORDINATION_V1_LEASES, "leases -A"},
};

static follower followers[COUNT(collections)];

static void change_everything(void)
{
    cluster_run(
        "{ kubectl -n follow scale deployment web --replicas 5 &&"
        " kubectl -n follow delete configmap a-0 a-1 &&"
        " kubectl -n follow label configmap --all color=red &&"
        " kubectl -n follow create configmap late --from-literal=text='\"\\\\ \xc3\xa4 \xe2\x80\xa8' &&"
        " kubectl -n follow delete service web &&"
        " kubectl create clusterrole follow --verb get --resource pods &&"
        " kubectl create namespace follow-late; } >/dev/null");
    cluster_run("echo '{apiVersion: v1, kind: Node, metadata: {name: n1}}' | kubectl create -f - >/dev/null");
    cluster_run("kubectl -n follow set image deployment web web=web:2 >/dev/null");
}

static void built_in_resources_sync_and_follow(void **state)
{
    (void)state;
    ki_client *client = cluster_client("admin", NULL);
    cluster_run("kubectl create namespace follow >/dev/null");
    cluster_make_config_maps("follow", "a", 5, 10);
    cluster_run("{ kubectl -n follow create deployment web --image web:1 --replicas 3 &&"
                " kubectl -n follow expose deployment web --port 80; } >/dev/null");
    for (size_t i = 0; i < COUNT(collections); i++) {
        follower_init(&followers[i], client, collections[i].resource, NULL);
        follower_start(&followers[i], collections[i].asked);
    }
    for (size_t i = 0; i < COUNT(collections); i++)
        follower_sync(&followers[i]);
    change_everything();
    for (size_t i = 0; i < COUNT(collections); i++)
        follower_converge(&followers[i]);
    assert_true(followers[2].heard->deletes >= 2);
    assert_true(followers[3].heard->adds >= 5);
    assert_true(followers[6].heard->updates >= 1);
    for (size_t i = 0; i < COUNT(collections); i++)
        follower_fini(&followers[i]);
    ki_client_free(client);
}

/* ---- a custom resource --------------------------------------------------------------------------------- */

static int is_not_found(follower *f)
{
    return follower_status(f).reason == KI_REASON_NOT_FOUND;
}

static int has_synced(follower *f)
{
    return ki_informer_has_synced(f->informer);
}

static void make_widgets(void)
{
    cluster_run("kubectl create -f - >/dev/null <<END\n"
                "apiVersion: apiextensions.k8s.io/v1\n"
                "kind: CustomResourceDefinition\n"
                "metadata: {name: widgets.example.com}\n"
                "spec:\n"
                "  group: example.com\n"
                "  scope: Namespaced\n"
                "  names: {plural: widgets, singular: widget, kind: Widget}\n"
                "  versions:\n"
                "  - name: v1\n"
                "    served: true\n"
                "    storage: true\n"
                "    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}\n"
                "END\n");
    cluster_run("kubectl wait --for condition=Established crd/widgets.example.com >/dev/null");
}

static void a_custom_resource_is_followed_once_it_exists(void **state)
{
    (void)state;
    follower f;
    ki_client *client = cluster_client("admin", NULL);
    ki_resource *widgets = ki_resource_parse(KI_STR("widgets.v1.example.com"), NULL);
    follower_init(&f, client, widgets, NULL);
    follower_start(&f, "widgets -A");
    follower_wait(&f, is_not_found, "not found");
    make_widgets();
    follower_wait(&f, has_synced, "the first list");
    cluster_run("for i in 1 2 3; do printf '%%s\\n' \"---\" \"{apiVersion: example.com/v1, kind: Widget,"
                " metadata: {namespace: default, name: w$i}, spec: {size: $i.5e3, none: null}}\"; done |"
                " kubectl create -f - >/dev/null");
    cluster_run("{ kubectl label widget w2 color=red && kubectl delete widget w1; } >/dev/null");
    follower_converge(&f);
    assert_int_equal(f.heard->adds, 3);
    assert_int_equal(f.heard->deletes, 1);
    follower_fini(&f);
    ki_resource_free(widgets);
    ki_client_free(client);
}

/* ---- kinds of lists ------------------------------------------------------------------------------------ */

static void each_kind_of_list_gives_the_same_cache(void **state)
{
    (void)state;
    static const ki_informer_options ways[] = {
        {.watch_list = KI_WATCH_LIST_NEVER},
        {.watch_list = KI_WATCH_LIST_ALWAYS},
        {.watch_list = KI_WATCH_LIST_NEVER, .page_size = 7},
        {.watch_list = KI_WATCH_LIST_NEVER, .page_size = -1},
    };
    static const ki_client_options clients[] = {{0}, {.gzip = 1}, {.http2 = 1}};
    cluster_run("kubectl create namespace ways >/dev/null");
    cluster_make_config_maps("ways", "a", 100, 3000);
    for (size_t c = 0; c < COUNT(clients); c++) {
        follower f[COUNT(ways)];
        ki_client *client = cluster_client("admin", &clients[c]);
        for (size_t i = 0; i < COUNT(ways); i++) {
            ki_informer_options options = ways[i];
            options.ns = "ways";
            follower_init(&f[i], client, &KI_CORE_V1_CONFIGMAPS, &options);
            follower_start(&f[i], "configmaps -n ways");
        }
        for (size_t i = 0; i < COUNT(ways); i++)
            follower_sync(&f[i]);
        cluster_run("kubectl -n ways label configmap --all color=c%zu --overwrite >/dev/null", c);
        for (size_t i = 0; i < COUNT(ways); i++) {
            follower_converge(&f[i]);
            assert_int_equal(follower_status(&f[i]).phase, KI_PHASE_WATCHING);
            assert_int_equal(follower_status(&f[i]).reason, KI_REASON_NONE);
            assert_int_equal(f[i].heard->adds, 100);
            assert_int_equal(f[i].heard->updates, 100);
            follower_fini(&f[i]);
        }
        ki_client_free(client);
    }
}

static int has_some(follower *f)
{
    return f->heard->inside > 0;
}

/* Later pages come from the version that the server has kept for them. */
static void changes_between_pages_arrive_after_the_list(void **state)
{
    (void)state;
    follower f;
    ki_client *client = cluster_client("admin", NULL);
    ki_informer_options options = {
        .ns = "ways", .watch_list = KI_WATCH_LIST_NEVER, .page_size = 5, .queue_items_max = 5};
    follower_init(&f, client, &KI_CORE_V1_CONFIGMAPS, &options);
    follower_start_held(&f, "configmaps -n ways", 5);
    follower_wait(&f, has_some, "the first object");
    cluster_run("{ kubectl -n ways delete configmap a-0 a-99 && kubectl -n ways create configmap aa &&"
                " kubectl -n ways create configmap zz; } >/dev/null");
    assert_false(ki_informer_has_synced(f.informer));
    heard_let_go(f.heard);
    follower_sync(&f);
    follower_converge(&f);
    assert_false(follower_has(&f, "ways", "a-99"));
    assert_true(follower_has(&f, "ways", "zz"));
    follower_fini(&f);
    ki_client_free(client);
}

/* ---- selectors ----------------------------------------------------------------------------------------- */

static void selectors_select_a_collection(void **state)
{
    (void)state;
    follower by_label, by_field, by_ns;
    ki_client *client = cluster_client("admin", NULL);
    cluster_run("{ kubectl create namespace select && kubectl create namespace select2; } >/dev/null");
    cluster_make_config_maps("select", "a", 4, 10);
    cluster_make_config_maps("select", "b", 4, 10);
    cluster_make_config_maps("select2", "a", 2, 10);
    follower_init(&by_label, client, &KI_CORE_V1_CONFIGMAPS,
                  &(ki_informer_options){.ns = "select", .label_selector = "app in (a),color!=red"});
    follower_start(&by_label, "configmaps -n select -l 'app in (a),color!=red'");
    follower_init(&by_field, client, &KI_CORE_V1_CONFIGMAPS,
                  &(ki_informer_options){.field_selector = "metadata.name=a-1"});
    follower_start(&by_field, "configmaps -A --field-selector metadata.name=a-1");
    follower_init(&by_ns, client, &KI_CORE_V1_CONFIGMAPS, &(ki_informer_options){.ns = "select2"});
    follower_start(&by_ns, "configmaps -n select2");
    follower_sync(&by_label);
    follower_sync(&by_field);
    follower_sync(&by_ns);
    cluster_run("{ kubectl -n select label configmap a-0 color=red && kubectl -n select label configmap b-0"
                " app=a --overwrite && kubectl -n select2 delete configmap a-1; } >/dev/null");
    follower_converge(&by_label);
    follower_converge(&by_field);
    assert_int_equal(by_label.heard->adds, 5);
    assert_int_equal(by_label.heard->deletes, 1);
    assert_true(follower_has(&by_label, "select", "b-0"));
    follower_fini(&by_label);
    follower_fini(&by_field);
    follower_fini(&by_ns);
    ki_client_free(client);
}

/* ---- permissions --------------------------------------------------------------------------------------- */

static int is_forbidden(follower *f)
{
    return follower_status(f).reason == KI_REASON_FORBIDDEN;
}

static void a_forbidden_collection_is_followed_once_it_is_granted(void **state)
{
    (void)state;
    follower refused, allowed;
    ki_client *client = cluster_client("bob", NULL);
    cluster_run("{ kubectl create namespace rights &&"
                " kubectl -n rights create role look --verb list,watch --resource configmaps &&"
                " kubectl -n rights create role look-at-secrets --verb list,watch --resource secrets &&"
                " kubectl -n rights create secret generic s &&"
                " kubectl -n rights create rolebinding look --role look --user bob; } >/dev/null");
    follower_init(&allowed, client, &KI_CORE_V1_CONFIGMAPS, &(ki_informer_options){.ns = "rights"});
    follower_start(&allowed, "configmaps -n rights");
    follower_init(&refused, client, &KI_CORE_V1_SECRETS, &(ki_informer_options){.ns = "rights"});
    follower_start(&refused, "secrets -n rights");
    follower_wait(&allowed, has_synced, "the first list");
    follower_wait(&refused, is_forbidden, "the refusal");
    assert_int_equal(follower_status(&refused).http_status, 403);
    assert_false(ki_informer_has_synced(refused.informer));
    cluster_run("kubectl -n rights create rolebinding look-at-secrets --role look-at-secrets --user bob"
                " >/dev/null");
    follower_wait(&refused, has_synced, "the first list");
    follower_converge(&refused);
    assert_int_equal(follower_status(&refused).reason, KI_REASON_NONE);
    follower_fini(&allowed);
    follower_fini(&refused);
    ki_client_free(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_resources_sync_and_follow),
        cmocka_unit_test(a_custom_resource_is_followed_once_it_exists),
        cmocka_unit_test(each_kind_of_list_gives_the_same_cache),
        cmocka_unit_test(changes_between_pages_arrive_after_the_list),
        cmocka_unit_test(selectors_select_a_collection),
        cmocka_unit_test(a_forbidden_collection_is_followed_once_it_is_granted),
    };
    return RUN_TESTS(tests);
}
