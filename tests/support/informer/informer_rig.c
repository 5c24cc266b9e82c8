/* SPDX-License-Identifier: Apache-2.0 */
#include "support/informer/informer_rig.h"

#include <inttypes.h>
#include <kinformer/resources.h>
#include <stdio.h>

#include "client/client.h"
#include "support/patience.h"
#include "support/store/store_objects.h"
#include "support/unit.h"

enum { NS_PER_MS = 1000000 };

/* ---- virtual ----------------------------------------------------------------------------------------- */

static void init(virtual_rig *rig, const ki_informer_options *options, const sim_world_options *world,
                 const sim_server_options *server)
{
    ki_error err = {0};
    ki_informer_options mine = options == NULL ? (ki_informer_options){0} : *options;
    sim_server_options its = *server;
    *rig = (virtual_rig){0};
    ki_clock_init_virtual(&rig->clock, 1000 * (uint64_t)NS_PER_MS, 1);
    rig->world = sim_world_new(world);
    its.world = rig->world;
    its.clock = &rig->clock;
    its.calls = &sim_library_calls;
    its.seed = 2;
    rig->server = sim_server_new(&its);
    rig->source = sim_server_list_watch(rig->server);
    mine.list_watch = &rig->source;
    rig->client =
        ki_client_new_simulated(&(ki_client_options){.mode = KI_MODE_EVENT_LOOP}, &rig->clock, 3, &err);
    assert_non_null(rig->client);
    rig->informer = ki_informer_new(rig->client, &KI_CORE_V1_PODS, &mine, &err);
    assert_string_equal(err.message, "");
    assert_non_null(rig->informer);
}

void virtual_rig_init_world(virtual_rig *rig, const ki_informer_options *options,
                            const sim_world_options *world)
{
    init(rig, options, world, &(sim_server_options){0});
}

void virtual_rig_init_slow(virtual_rig *rig, const ki_informer_options *options, size_t piece_bytes,
                           uint64_t latency_ms)
{
    init(rig, options, &(sim_world_options){.seed = 1},
         &(sim_server_options){.piece_bytes_max = piece_bytes, .latency_ns_max = latency_ms * NS_PER_MS});
    for (uint32_t key = 0; key < 5; key++)
        sim_world_create(rig->world, key);
}

void virtual_rig_init(virtual_rig *rig, const ki_informer_options *options)
{
    virtual_rig_init_slow(rig, options, 0, 0);
}

void virtual_rig_fini(virtual_rig *rig)
{
    ki_informer_free(rig->informer);
    ki_client_free(rig->client);
    assert_int_equal(sim_server_counts(rig->server)->misuse, 0);
    sim_server_free(rig->server);
    sim_world_free(rig->world);
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void virtual_rig_run(virtual_rig *rig, uint64_t ms)
{
    uint64_t until_ns = ki_clock_now_ns(&rig->clock) + ms * NS_PER_MS;
    for (;;) {
        sim_server_step(rig->server);
        int count = ki_client_dispatch(rig->client, KI_BUDGET_NONE);
        assert_true(count >= 0);
        uint64_t now_ns = ki_clock_now_ns(&rig->clock);
        uint64_t next_ns = earliest(sim_server_next_ns(rig->server), ki_loop_next_ns(rig->client->handlers));
        if (next_ns <= now_ns)
            continue;
        if (next_ns > until_ns)
            break;
        ki_clock_set_now_ns(&rig->clock, next_ns);
    }
    ki_clock_set_now_ns(&rig->clock, until_ns);
}

void virtual_rig_sync(virtual_rig *rig)
{
    ki_error err = {0};
    assert_int_equal(ki_informer_start(rig->informer, &err), 0);
    virtual_rig_run(rig, 100);
    assert_int_equal(ki_informer_has_synced(rig->informer), 1);
}

void virtual_rig_assert_equal(virtual_rig *rig)
{
    const ki_store *store = ki_informer_store(rig->informer);
    uint32_t cursor = 0;
    sim_object expected;
    assert_int_equal(ki_store_count(store), sim_world_count(rig->world));
    while (sim_world_next(rig->world, &cursor, &expected)) {
        ki_object *object = ki_store_get(store, ki_str_of(expected.ns), ki_str_of(expected.name));
        assert_non_null(object);
        assert_true(ki_str_equal(ki_object_resource_version(object), ki_str_of(expected.version)));
        (void)ki_object_unref(object);
    }
    store_assert_sound(store);
}

/* ---- local ------------------------------------------------------------------------------------------- */

void local_rig_init(local_rig *rig, ki_client_options options)
{
    ki_error err = {0};
    rig->source = local_source_new();
    (void)local_source_put(rig->source, "a", "n0", 0);
    (void)local_source_put(rig->source, "a", "n1", 1);
    (void)local_source_put(rig->source, "b", "n2", 2);
    rig->client = local_source_client(rig->source, options);
    rig->informer =
        ki_informer_new(rig->client, &KI_CORE_V1_PODS, &(ki_informer_options){.backoff_ms = 10}, &err);
    assert_non_null(rig->informer);
}

/* An informer that was freed in a callback and is still being freed is gone when the client is. */
void local_rig_fini(local_rig *rig)
{
    ki_informer_free(rig->informer);
    ki_client_free(rig->client);
    assert_int_equal(local_source_released(rig->source), local_source_opened(rig->source));
    local_source_free(rig->source);
}

void local_rig_sync(local_rig *rig)
{
    ki_error err = {0};
    assert_int_equal(ki_informer_start(rig->informer, &err), 0);
    assert_int_equal(ki_informer_wait_for_sync(rig->informer, HANG_MS, &err), 0);
}

void local_rig_catch_up(local_rig *rig)
{
    ki_error err = {0};
    char version[24];
    snprintf(version, sizeof(version), "%" PRIu64, local_source_version(rig->source));
    int rc = ki_informer_wait_for_version(rig->informer, ki_str_of(version), HANG_MS, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(rc, 0);
}
