/* SPDX-License-Identifier: Apache-2.0 */
/* A real control plane serves the same objects in JSON and in protobuf. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "cluster/cluster.h"
#include "cluster/follower.h"
#include "support/aside.h"
#include "support/unit.h"
#include "util/clock.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { WAIT_MS = 60 * 1000, LOOK_MS = 10 };

static uint64_t now_ms(void)
{
    return ki_clock_now_ms(ki_clock_real());
}

/* ---- one collection in both formats -------------------------------------------------------------------- */

typedef struct pair {
    const char *name;
    ki_informer *json;
    ki_informer *proto;
} pair;

static ki_informer *start(ki_client *client, const ki_resource *resource, ki_wire wire)
{
    ki_informer_options options = {.wire = wire, .keep_managed_fields = 1, .backoff_ms = 50};
    ki_error err = {0};
    ki_informer *informer = ki_informer_new(client, resource, &options, &err);
    if (informer == NULL || ki_informer_start(informer, &err) < 0)
        fail_msg("%s: %s", resource->plural, err.message);
    return informer;
}

static ki_informer_status status_of(ki_informer *informer)
{
    ki_informer_status status;
    ki_informer_read_status(informer, &status);
    return status;
}

/* Returns whether the server has the resource. */
static bool sync(const char *name, ki_informer *informer)
{
    uint64_t deadline_ms = now_ms() + WAIT_MS;
    while (!ki_informer_has_synced(informer)) {
        ki_informer_status status = status_of(informer);
        bool is_unwatchable = strcmp(name, "componentstatuses") == 0; /* its lists have no version */
        if (is_unwatchable || status.reason == KI_REASON_NOT_FOUND || status.http_status == 405)
            return false;
        if (now_ms() > deadline_ms)
            fail_msg("%s: %s", name, status.message);
        aside_pause(LOOK_MS);
    }
    return true;
}

typedef struct comparison {
    const pair *pair;
    size_t same;      /* objects that both have in the same version */
    size_t different; /* those whose content differs */
} comparison;

/* The tables are from a newer release than this server: there a CSINode has a status, which is {} if the
 * message has none, in Go as well. */
static bool is_equal(const ki_object *object, const ki_object *other)
{
    return ki_object_equal(object, other) || ki_str_equal(ki_object_kind(object), KI_STR("CSINode"));
}

/* Objects of the same version must be equal. */
static int compare(const ki_object *object, void *user)
{
    comparison *c = user;
    ki_object *other =
        ki_store_get(ki_informer_store(c->pair->proto), ki_object_namespace(object), ki_object_name(object));
    if (other != NULL &&
        ki_str_equal(ki_object_resource_version(object), ki_object_resource_version(other))) {
        if (!is_equal(object, other) && c->different++ == 0)
            fprintf(stderr, "%.*s\n%.*s\n", KI_STR_ARGS(ki_object_json(object)),
                    KI_STR_ARGS(ki_object_json(other)));
        c->same++;
    }
    ki_object_unref(other);
    return 0;
}

/* Waits until both have the same objects in the same versions. Returns their number. */
static size_t compare_stores(const pair *p)
{
    uint64_t deadline_ms = now_ms() + WAIT_MS;
    for (;;) {
        comparison c = {.pair = p};
        ki_store_walk(ki_informer_store(p->json), compare, &c);
        if (c.different > 0)
            fail_msg("%s: %zu objects differ; the first is above, as JSON and in protobuf", p->name,
                     c.different);
        if (c.same == ki_store_count(ki_informer_store(p->json)) &&
            c.same == ki_store_count(ki_informer_store(p->proto)))
            return c.same;
        if (now_ms() > deadline_ms)
            fail_msg("%s: %zu objects as JSON, %zu in protobuf, %zu of them the same", p->name,
                     ki_store_count(ki_informer_store(p->json)), ki_store_count(ki_informer_store(p->proto)),
                     c.same);
        aside_pause(LOOK_MS);
    }
}

/* ---- every resource ------------------------------------------------------------------------------------ */

/* In protobuf, its volume claim templates come without kind and apiVersion. */
static bool is_less_in_protobuf(const ki_resource *resource)
{
    return strcmp(resource->kind, "StatefulSet") == 0;
}

/* Returns the number of objects, or -1 if the server does not have the resource. */
static long compare_resource(ki_client *client, const ki_resource *resource)
{
    pair p = {.name = resource->plural,
              .json = start(client, resource, KI_WIRE_JSON),
              .proto = start(client, resource, KI_WIRE_AUTO)};
    long count = -1;
    if (sync(p.name, p.json) && sync(p.name, p.proto)) {
        count = (long)compare_stores(&p);
        ki_informer_status status = status_of(p.proto);
        ki_wire expected = is_less_in_protobuf(resource) ? KI_WIRE_JSON : KI_WIRE_PROTOBUF;
        assert_int_equal(status_of(p.json).wire, KI_WIRE_JSON);
        if (status.wire != expected || status.unknown_fields > 0 || status.refused > 0)
            fail_msg("%s/%s: %s, %llu unknown fields (%.*s %u), %llu refused", resource->version,
                     resource->plural, ki_wire_name(status.wire), (unsigned long long)status.unknown_fields,
                     KI_STR_ARGS(status.unknown_message), (unsigned)status.unknown_number,
                     (unsigned long long)status.refused);
    }
    ki_informer_free(p.json);
    ki_informer_free(p.proto);
    return count;
}

static void every_resource_is_the_same_in_json_and_in_protobuf(void **state)
{
    (void)state;
    static const ki_resource others[] = {
        {"apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", 0, 0},
        {"apiregistration.k8s.io", "v1", "apiservices", "APIService", 0, 0},
    };
    ki_client *client = cluster_client("admin", NULL);
    size_t served = 0, filled = 0, objects = 0;
    cluster_run("kubectl create -f \"$(dirname \"$KI_CONTROLPLANE\")/every_kind.yaml\" >/dev/null");
    for (size_t i = 0; i < ki_resource_count + COUNT(others); i++) {
        long count = compare_resource(client, i < ki_resource_count ? &ki_resources[i]
                                                                    : &others[i - ki_resource_count]);
        served += count >= 0;
        filled += count > 0;
        objects += count > 0 ? (size_t)count : 0;
    }
    print_message("%zu resources are served, %zu have objects, %zu objects\n", served, filled, objects);
    assert_true(filled >= 45);
    ki_client_free(client);
}

/* ---- changes, relists, and a server that is killed ----------------------------------------------------- */

static const ki_resource *const changing[] = {&KI_CORE_V1_CONFIGMAPS, &KI_CORE_V1_PODS,
                                              &KI_APPS_V1_DEPLOYMENTS, &KI_CORE_V1_EVENTS};
static const char *const asked[] = {"configmaps -A", "pods -A", "deployments -A", "events.v1. -A"};

typedef struct writer {
    aside call;
    atomic_int is_over;
    atomic_int rounds;
} writer;

/* Some writes fail while the server is down, which is expected. */
static void write_on(void *user)
{
    writer *w = user;
    for (int i = 0; !w->is_over; i++) {
        (void)cluster_try("alias k='kubectl --request-timeout 2s -n churn'\n"
                          "{ k create configmap w-%d --from-literal=n=%d;"
                          " k label configmap w-%d app=a --overwrite;"
                          " k scale deployment web --replicas %d; k delete configmap w-%d; } >/dev/null 2>&1",
                          i, i, i - 1, i % 4, i - 3);
        w->rounds++;
    }
}

static void go_on(writer *w, int rounds)
{
    int until = w->rounds + rounds;
    while (w->rounds < until)
        aside_pause(LOOK_MS);
}

static void both_formats_follow_changes_relists_and_restarts(void **state)
{
    (void)state;
    static const ki_wire wires[] = {KI_WIRE_JSON, KI_WIRE_PROTOBUF, KI_WIRE_AUTO};
    follower all[COUNT(changing)][COUNT(wires)];
    writer w = {0};
    ki_client *client = cluster_client("admin", NULL);
    cluster_run("{ kubectl create namespace churn &&"
                " kubectl -n churn create deployment web --image web:1; } >/dev/null");
    for (size_t i = 0; i < COUNT(changing); i++)
        for (size_t j = 0; j < COUNT(wires); j++) {
            int is_paged = i % 2;
            follower_init(&all[i][j], client, changing[i],
                          &(ki_informer_options){.wire = wires[j],
                                                 .page_size = is_paged ? 3 : 0,
                                                 .watch_list = is_paged ? KI_WATCH_LIST_NEVER : 0});
            follower_start(&all[i][j], asked[i]);
        }
    aside_start(&w.call, write_on, &w);
    go_on(&w, 2);
    cluster_control("compact");
    cluster_control("kill kube-apiserver"); /* the new one lacks the old versions: 410, relist */
    cluster_control("start kube-apiserver");
    go_on(&w, 3);
    w.is_over = 1;
    aside_join(&w.call);
    for (size_t i = 0; i < COUNT(changing); i++) {
        for (size_t j = 0; j < COUNT(wires); j++)
            follower_converge(&all[i][j]);
        (void)compare_stores(&(pair){asked[i], all[i][0].informer, all[i][1].informer});
        assert_int_equal(follower_status(&all[i][0]).wire, KI_WIRE_JSON);
        for (size_t j = 1; j < COUNT(wires); j++)
            assert_int_equal(follower_status(&all[i][j]).wire, KI_WIRE_PROTOBUF);
        for (size_t j = 0; j < COUNT(wires); j++)
            follower_fini(&all[i][j]);
    }
    ki_client_free(client);
}

/* ---- a custom resource --------------------------------------------------------------------------------- */

static void a_custom_resource_is_followed_as_json_even_if_protobuf_is_wanted(void **state)
{
    (void)state;
    const ki_resource things = {"wire.example.com", "v1", "things", "Thing", KI_SCOPE_NAMESPACED, 0};
    follower f;
    ki_client *client = cluster_client("admin", &(ki_client_options){.wire = KI_WIRE_PROTOBUF});
    cluster_run("kubectl wait --for condition=Established crd/things.wire.example.com >/dev/null");
    follower_init(&f, client, &things, NULL);
    follower_start(&f, "things -A");
    follower_sync(&f);
    cluster_run(
        "echo '{apiVersion: wire.example.com/v1, kind: Thing, metadata: {namespace: wire, name: t}}' |"
        " kubectl create -f - >/dev/null");
    follower_converge(&f);
    assert_int_equal(follower_status(&f).wire, KI_WIRE_JSON);
    follower_fini(&f);
    ki_client_free(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_resource_is_the_same_in_json_and_in_protobuf),
        cmocka_unit_test(a_custom_resource_is_followed_as_json_even_if_protobuf_is_wanted),
        cmocka_unit_test(both_formats_follow_changes_relists_and_restarts),
    };
    return RUN_TESTS(tests);
}
