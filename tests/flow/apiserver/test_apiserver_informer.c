/* SPDX-License-Identifier: Apache-2.0 */
/* Informers of this library with the embedded server, in both formats, and with each of its faults. */
#include <kinformer.h>
#include <kinformer/apiserver.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/apiserver/api_rig.h"
#include "support/decode/recorded.h"
#include "support/patience.h"
#include "support/store/store_check.h"
#include "support/unit.h"
#include "util/clock.h"

enum { PODS = 20, BACKOFF_MS = 10 };

typedef struct world {
    ki_apiserver *server;
    ki_client *client;
    ki_informer *informer;
} world;

/* How an informer follows its collection. */
typedef struct way {
    ki_watch_list watch_list;
    ki_wire wire;
    uint64_t backoff_ms; /* 0: BACKOFF_MS */
} way;

static const way ways[] = {
    {KI_WATCH_LIST_NEVER, KI_WIRE_PROTOBUF, 0},
    {KI_WATCH_LIST_AUTO, KI_WIRE_PROTOBUF, 0},
    {KI_WATCH_LIST_NEVER, KI_WIRE_JSON, 0},
    {KI_WATCH_LIST_ALWAYS, KI_WIRE_JSON, 0}, /* by default, a first list in JSON is not streamed */
};

enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

static void world_init(world *w, way how)
{
    ki_error err = {0};
    w->server = api_rig_start(&(ki_apiserver_options){.seed = 3, .bookmark_ms = 100});
    for (int i = 0; i < PODS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "pod-%d", i);
        api_put_pod(w->server, name, "web", "node-1");
    }
    w->client = ki_client_new(&(ki_client_options){.server = ki_apiserver_url(w->server)}, &err);
    if (w->client == NULL)
        fail_msg("%s", err.message);
    uint64_t backoff_ms = how.backoff_ms == 0 ? BACKOFF_MS : how.backoff_ms;
    ki_informer_options options = {.watch_list = how.watch_list,
                                   .wire = how.wire,
                                   .page_size = 7,
                                   .backoff_ms = backoff_ms,
                                   .backoff_max_ms = 4 * backoff_ms};
    w->informer = ki_informer_new(w->client, &KI_CORE_V1_PODS, &options, &err);
    assert_non_null(w->informer);
}

static void world_start(world *w)
{
    ki_error err = {0};
    assert_int_equal(ki_informer_start(w->informer, &err), 0);
}

static void world_fini(world *w)
{
    ki_error err = {0};
    assert_int_equal(store_check(ki_informer_store(w->informer), &err), 0);
    ki_informer_free(w->informer);
    ki_client_free(w->client);
    ki_apiserver_free(w->server);
}

/* ---- the cache has the server's objects ---------------------------------------------------------------- */

static int is_object(const json_t *item, const json_t *list, const ki_object *object)
{
    if (object == NULL)
        return 0;
    json_t *expected = recorded_object(item, list);
    json_t *tree = json_loadb(ki_object_json(object).ptr, ki_object_json(object).len, 0, NULL);
    int equal = json_equal(expected, tree);
    json_decref(expected);
    json_decref(tree);
    return equal;
}

static int is_equal(world *w)
{
    const ki_store *store = ki_informer_store(w->informer);
    api_answer answer = api_get(w->server, "/api/v1/pods");
    int equal = answer.status == 200 && ki_informer_has_synced(w->informer) &&
                json_array_size(api_at(answer.tree, "items")) == ki_store_count(store);
    const json_t *item;
    size_t i;
    json_array_foreach(api_at(answer.tree, "items"), i, item)
    {
        ki_object *object = ki_store_get(store, KI_STR("default"),
                                         ki_str_of(json_string_value(api_at(item, "metadata.name"))));
        equal = equal && is_object(item, answer.tree, object);
        ki_object_unref(object);
    }
    api_answer_fini(&answer);
    return equal;
}

static void expect_equal(world *w)
{
    uint64_t deadline_ms = ki_clock_now_ms(ki_clock_real()) + HANG_MS;
    while (!is_equal(w)) {
        if (ki_clock_now_ms(ki_clock_real()) >= deadline_ms) {
            ki_informer_status status;
            ki_informer_read_status(w->informer, &status);
            fail_msg("the cache has %zu objects, the server %zu",
                     ki_store_count(ki_informer_store(w->informer)),
                     ki_apiserver_count(w->server, &KI_CORE_V1_PODS));
        }
        (void)poll(NULL, 0, 20);
    }
}

/* They catch up at the same time. */
static void expect_all_equal(world *worlds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        expect_equal(&worlds[i]);
}

static void churn(world *w, int round)
{
    ki_error err = {0};
    for (int i = 0; i < 10; i++) {
        char name[32];
        snprintf(name, sizeof(name), "new-%d-%d", round, i);
        api_put_pod(w->server, name, "web", "node-1");
        snprintf(name, sizeof(name), "pod-%d", i);
        api_put_pod(w->server, name, "db", round % 2 == 0 ? "node-2" : "node-3");
    }
    char name[32];
    snprintf(name, sizeof(name), "new-%d-3", round);
    assert_int_equal(ki_apiserver_delete(w->server, &KI_CORE_V1_PODS, "default", name, &err), 0);
}

/* ---- without faults ------------------------------------------------------------------------------------ */

static void an_informer_follows_by_list_and_by_stream(void **state)
{
    (void)state;
    static const ki_watch_list lists[] = {KI_WATCH_LIST_NEVER, KI_WATCH_LIST_ALWAYS, KI_WATCH_LIST_AUTO};
    static const ki_wire wires[] = {KI_WIRE_AUTO, KI_WIRE_JSON, KI_WIRE_PROTOBUF};
    for (size_t i = 0; i < 9; i++) {
        world w;
        ki_informer_status status;
        ki_wire wire = wires[i / 3];
        world_init(&w, (way){lists[i % 3], wire, 0});
        world_start(&w);
        expect_equal(&w);
        churn(&w, 0);
        expect_equal(&w);
        ki_informer_read_status(w.informer, &status);
        assert_int_equal(status.wire, wire == KI_WIRE_JSON ? KI_WIRE_JSON : KI_WIRE_PROTOBUF);
        assert_int_equal(status.unknown_fields, 0);
        world_fini(&w);
    }
}

static void a_factory_syncs_many_resources(void **state)
{
    (void)state;
    ki_error err = {0};
    ki_apiserver *server = api_rig_start(NULL);
    ki_client *client = ki_client_new(&(ki_client_options){.server = ki_apiserver_url(server)}, &err);
    assert_non_null(client);
    ki_factory *factory = ki_factory_new(client, NULL);
    const ki_resource *resources[] = {&KI_CORE_V1_NAMESPACES, &KI_CORE_V1_PODS, &KI_CORE_V1_SERVICES,
                                      &KI_APPS_V1_DEPLOYMENTS, &KI_CORE_V1_NODES};
    for (size_t i = 0; i < 5; i++)
        assert_non_null(ki_factory_informer(factory, resources[i], NULL));
    assert_int_equal(ki_factory_start(factory, &err), 0);
    assert_int_equal(ki_factory_wait_for_sync(factory, HANG_MS, &err), 0);
    ki_informer *namespaces = ki_factory_informer(factory, &KI_CORE_V1_NAMESPACES, NULL);
    assert_int_equal(ki_store_count(ki_informer_store(namespaces)),
                     ki_apiserver_count(server, &KI_CORE_V1_NAMESPACES));
    ki_factory_free(factory);
    ki_client_free(client);
    ki_apiserver_free(server);
}

/* ---- with each fault ----------------------------------------------------------------------------------- */

typedef struct trial {
    const char *name;
    ki_fault fault;
} trial;

/* The requests with which an informer follows, initially or later. */
#define STREAMS (KI_FAULT_STREAMED_LIST | KI_FAULT_WATCH)

static const trial trials[] = {
    {"close lists", {.on = KI_FAULT_LIST, .action = KI_FAULT_CLOSE, .times = 3}},
    {"close lists halfway", {.on = KI_FAULT_LIST, .action = KI_FAULT_CLOSE, .after_bytes = 700, .times = 3}},
    {"close watches", {.on = STREAMS, .action = KI_FAULT_CLOSE, .after_events = 3, .times = 4}},
    {"close watches within events",
     {.on = STREAMS, .action = KI_FAULT_CLOSE, .after_bytes = 333, .times = 4}},
    {"reset watches", {.on = STREAMS, .action = KI_FAULT_RESET, .after_bytes = 1000, .times = 3}},
    {"reset everything", {.action = KI_FAULT_RESET, .times = 5}},
    {"delay", {.action = KI_FAULT_DELAY, .delay_ms = 100, .times = 4}},
    {"one byte at a time", {.action = KI_FAULT_ONE_BYTE, .times = 4}},
    {"garbage in lists", {.on = KI_FAULT_LIST, .action = KI_FAULT_GARBAGE, .after_bytes = 500, .times = 2}},
    {"garbage in watches", {.on = STREAMS, .action = KI_FAULT_GARBAGE, .after_events = 2, .times = 2}},
    {"truncated lists", {.on = KI_FAULT_LIST, .action = KI_FAULT_TRUNCATE, .after_bytes = 400, .times = 2}},
    {"truncated watches", {.on = STREAMS, .action = KI_FAULT_TRUNCATE, .after_bytes = 400, .times = 2}},
    {"500", {.action = KI_FAULT_STATUS, .http_status = 500, .times = 3}},
    {"503", {.action = KI_FAULT_STATUS, .http_status = 503, .times = 3}},
    {"429", {.action = KI_FAULT_STATUS, .http_status = 429, .retry_after_seconds = 1, .times = 2}},
    {"401", {.action = KI_FAULT_STATUS, .http_status = 401, .times = 2}},
    {"expired lists", {.on = KI_FAULT_LIST, .action = KI_FAULT_EXPIRED, .times = 3}},
    {"expired watches", {.on = STREAMS, .action = KI_FAULT_EXPIRED, .times = 3}},
    {"stale lists", {.on = KI_FAULT_LIST, .action = KI_FAULT_STALE, .behind = 5, .times = 3}},
    {"reset lists halfway", {.on = KI_FAULT_LIST, .action = KI_FAULT_RESET, .after_bytes = 700, .times = 3}},
    {"close half of everything", {.action = KI_FAULT_CLOSE, .percent = 50}},
    {"504", {.action = KI_FAULT_STATUS, .http_status = 504, .times = 3}},
    {"stalled before a response", {.action = KI_FAULT_STALL, .times = 2}},
    {"stale streams", {.on = STREAMS, .action = KI_FAULT_STALE, .behind = 5, .times = 3}},
    {"no streamed lists", {.action = KI_FAULT_NO_WATCH_LIST}},
    {"stalled lists", {.on = KI_FAULT_LIST, .action = KI_FAULT_STALL, .after_bytes = 300, .times = 1}},
    {"stalled watches", {.on = STREAMS, .action = KI_FAULT_STALL, .after_events = 2, .times = 1}},
    {"endless pages", {.action = KI_FAULT_ENDLESS_PAGES}},
    {"streamed lists without their end", {.action = KI_FAULT_NO_END_MARKER, .times = 1}},
    {"no bookmarks", {.action = KI_FAULT_NO_BOOKMARKS}},
};

/* Each trial with lists and with streams, in both formats; they wait in parallel. */
enum { TRIALS_AT_ONCE = 10, WORLDS = WAYS * TRIALS_AT_ONCE };

static void world_init_trial(world *w, const trial *t, way how)
{
    print_message("    %s, %s, %s\n", t->name, how.watch_list == KI_WATCH_LIST_NEVER ? "lists" : "streams",
                  how.wire == KI_WIRE_JSON ? "JSON" : "protobuf");
    world_init(w, how);
    assert_int_equal(ki_apiserver_fault(w->server, &t->fault, NULL), 0);
}

static void try_faults(const trial *t)
{
    world worlds[WORLDS];
    for (int i = 0; i < WORLDS; i++)
        world_init_trial(&worlds[i], &t[i / WAYS], ways[i % WAYS]);
    for (int i = 0; i < WORLDS; i++) {
        world_start(&worlds[i]);
        churn(&worlds[i], 0);
    }
    (void)poll(NULL, 0, 100);
    for (int i = 0; i < WORLDS; i++) {
        churn(&worlds[i], 1);
        ki_apiserver_cut(worlds[i].server, 0);
        churn(&worlds[i], 2);
    }
    (void)poll(NULL, 0, 600);
    for (int i = 0; i < WORLDS; i++)
        ki_apiserver_clear_faults(worlds[i].server);
    for (int i = 0; i < WORLDS; i++) {
        expect_equal(&worlds[i]);
        churn(&worlds[i], 3);
    }
    for (int i = 0; i < WORLDS; i++) {
        expect_equal(&worlds[i]);
        world_fini(&worlds[i]);
    }
}

static void an_informer_survives_each_fault(void **state)
{
    (void)state;
    enum { TRIALS = sizeof(trials) / sizeof(trials[0]) };
    _Static_assert(TRIALS % TRIALS_AT_ONCE == 0, "each is tried once");
    for (size_t i = 0; i < TRIALS; i += TRIALS_AT_ONCE)
        try_faults(&trials[i]);
}

/* The faults stay: the informer must use the requests that still work. Without watches it lists after
 * the third that fails; if that list finds nothing new, the next is a minute later. So it is slow to retry,
 * and the changes are there before. */
static void an_informer_follows_while_one_kind_of_request_is_broken(void **state)
{
    (void)state;
    static const trial broken[] = {
        {"503 for watches", {.on = KI_FAULT_WATCH, .action = KI_FAULT_STATUS, .http_status = 503}},
        {"watches reset", {.on = KI_FAULT_WATCH, .action = KI_FAULT_RESET}},
        {"503 for streamed lists",
         {.on = KI_FAULT_STREAMED_LIST, .action = KI_FAULT_STATUS, .http_status = 503}},
        {"streamed lists reset", {.on = KI_FAULT_STREAMED_LIST, .action = KI_FAULT_RESET}},
    };
    enum { BROKEN = 2 * sizeof(broken) / sizeof(broken[0]) };
    world worlds[BROKEN];
    for (int i = 0; i < BROKEN; i++) {
        const trial *t = &broken[i / 2];
        ki_watch_list list = t->fault.on == KI_FAULT_WATCH ? KI_WATCH_LIST_NEVER : KI_WATCH_LIST_AUTO;
        world_init_trial(&worlds[i], t, (way){list, i % 2 == 0 ? KI_WIRE_PROTOBUF : KI_WIRE_JSON, 500});
        world_start(&worlds[i]);
    }
    for (int i = 0; i < BROKEN; i++) {
        expect_equal(&worlds[i]);
        ki_apiserver_down(worlds[i].server); /* so that it has to list again */
        churn(&worlds[i], 0);
        ki_apiserver_compact(worlds[i].server);
        assert_int_equal(ki_apiserver_up(worlds[i].server, NULL), 0);
    }
    for (int i = 0; i < BROKEN; i++) {
        expect_equal(&worlds[i]);
        world_fini(&worlds[i]);
    }
}

static void an_informer_recovers_with_its_server(void **state)
{
    (void)state;
    world w;
    ki_error err = {0};
    world_init(&w, (way){0});
    world_start(&w);
    expect_equal(&w);
    for (int i = 0; i < 3; i++) {
        ki_apiserver_down(w.server);
        churn(&w, i);
        (void)poll(NULL, 0, 100);
        assert_int_equal(ki_apiserver_up(w.server, &err), 0);
        expect_equal(&w);
    }
    world_fini(&w);
}

static void an_informer_survives_the_loss_of_history(void **state)
{
    (void)state;
    world w;
    ki_error err = {0};
    world_init(&w, (way){0});
    world_start(&w);
    expect_equal(&w);
    ki_apiserver_compact(w.server);
    ki_apiserver_cut(w.server, 1);
    churn(&w, 0);
    expect_equal(&w);
    ki_apiserver_down(w.server);
    churn(&w, 1);
    ki_apiserver_compact(w.server);
    assert_int_equal(ki_apiserver_up(w.server, &err), 0);
    expect_equal(&w);
    world_fini(&w);
}

/* As after a restored backup: the versions that the informer knows are in the future. They are also too old
 * for the history, so that the informer does not have to detect it by silence. */
static void an_informer_follows_a_new_history(void **state)
{
    (void)state;
    static const ki_fault expired = {.on = STREAMS, .action = KI_FAULT_EXPIRED, .times = 1};
    ki_error err = {0};
    world worlds[WAYS];
    for (size_t i = 0; i < WAYS; i++) {
        world_init(&worlds[i], ways[i]);
        world_start(&worlds[i]);
    }
    expect_all_equal(worlds, WAYS);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < WAYS; i++)
            churn(&worlds[i], round);
        expect_all_equal(worlds, WAYS);
        for (size_t i = 0; i < WAYS; i++) {
            assert_int_equal(ki_apiserver_fault(worlds[i].server, &expired, NULL), 0);
            assert_int_equal(ki_apiserver_rewind(worlds[i].server, 15, &err), 0);
        }
        expect_all_equal(worlds, WAYS);
        for (size_t i = 0; i < WAYS; i++)
            churn(&worlds[i], 10 + round);
        expect_all_equal(worlds, WAYS);
    }
    for (size_t i = 0; i < WAYS; i++)
        world_fini(&worlds[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_informer_follows_by_list_and_by_stream),
        cmocka_unit_test(a_factory_syncs_many_resources),
        cmocka_unit_test(an_informer_survives_each_fault),
        cmocka_unit_test(an_informer_follows_while_one_kind_of_request_is_broken),
        cmocka_unit_test(an_informer_recovers_with_its_server),
        cmocka_unit_test(an_informer_survives_the_loss_of_history),
        cmocka_unit_test(an_informer_follows_a_new_history),
    };
    return RUN_TESTS(tests);
}
