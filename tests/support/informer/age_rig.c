/* SPDX-License-Identifier: Apache-2.0 */
#include "support/informer/age_rig.h"

#include <kinformer/resources.h>
#include <stdlib.h>

#include "client/client.h"
#include "informer/informer.h"
#include "support/unit.h"
#include "util/units.h"

/* Bytes received between two checks for space: about one event. */
enum { PIECE_BYTES = 256 };

uint64_t age_rig_age_ms(const age_rig *r)
{
    ki_informer_status status;
    ki_informer_read_status(r->informer, &status);
    uint64_t age_ms = ki_informer_age_ms(r->informer);
    assert_true(status.success_age_ms == age_ms);
    return age_ms;
}

static void run_loops(age_rig *r)
{
    (void)ki_loop_step(r->client->io, 0);
    if (!r->dispatch_is_held)
        (void)ki_loop_step(r->client->dispatch, 0);
    if (!r->handlers_are_held)
        (void)ki_loop_step(r->client->handlers, 0);
}

static uint64_t next_ns(const age_rig *r)
{
    uint64_t next = ki_ns_min(sim_server_next_ns(r->server), ki_loop_next_ns(r->client->io));
    if (!r->dispatch_is_held)
        next = ki_ns_min(next, ki_loop_next_ns(r->client->dispatch));
    if (!r->handlers_are_held)
        next = ki_ns_min(next, ki_loop_next_ns(r->client->handlers));
    return next;
}

void age_rig_run(age_rig *r, uint64_t ms)
{
    uint64_t until_ns = ki_clock_now_ns(&r->clock) + ms * KI_NS_PER_MS;
    for (;;) {
        uint64_t age_ms = age_rig_age_ms(r);
        if (age_ms != UINT64_MAX && age_ms > r->oldest_ms)
            r->oldest_ms = age_ms;
        sim_server_step(r->server);
        run_loops(r);
        uint64_t next = next_ns(r);
        if (next <= ki_clock_now_ns(&r->clock))
            continue;
        if (next > until_ns)
            break;
        ki_clock_set_now_ns(&r->clock, next);
    }
    ki_clock_set_now_ns(&r->clock, until_ns);
}

void age_rig_init_world(age_rig *r, const ki_informer_options *options, uint64_t bookmark_ms,
                        const sim_world_options *world)
{
    ki_informer_options mine = *options;
    *r = (age_rig){0};
    ki_clock_init_virtual(&r->clock, KI_NS_PER_S, 1);
    r->world = sim_world_new(world);
    for (uint32_t key = 0; key < 5; key++)
        sim_world_create(r->world, key);
    r->server = sim_server_new(&(sim_server_options){.world = r->world,
                                                     .clock = &r->clock,
                                                     .calls = &sim_library_calls,
                                                     .seed = 2,
                                                     .piece_bytes_max = PIECE_BYTES,
                                                     .bookmark_ns = bookmark_ms * KI_NS_PER_MS});
    r->source = sim_server_list_watch(r->server);
    mine.list_watch = &r->source;
    r->client =
        ki_client_new_simulated(&(ki_client_options){.mode = KI_MODE_HANDLERS_ON_LOOP}, &r->clock, 3, NULL);
    assert_non_null(r->client);
    r->informer = ki_informer_new(r->client, &KI_CORE_V1_PODS, &mine, NULL);
    assert_non_null(r->informer);
    heard_init(&r->what);
}

void age_rig_init(age_rig *r, const ki_informer_options *options, uint64_t bookmark_ms)
{
    age_rig_init_world(r, options, bookmark_ms, &(sim_world_options){.seed = 1});
}

void age_rig_sync(age_rig *r)
{
    assert_int_equal(ki_informer_start(r->informer, NULL), 0);
    age_rig_run(r, 100);
    assert_int_equal(ki_informer_has_synced(r->informer), 1);
    r->oldest_ms = 0;
}

void age_rig_fini(age_rig *r)
{
    ki_informer_free(r->informer);
    ki_client_free(r->client);
    assert_int_equal(sim_server_counts(r->server)->misuse, 0);
    assert_int_equal(r->what.wrongs, 0);
    sim_server_free(r->server);
    sim_world_free(r->world);
    heard_fini(&r->what);
}

void age_rig_change(age_rig *r, age_rig_changes *all, uint32_t key)
{
    assert_true(all->count < sizeof(all->items) / sizeof(all->items[0]));
    sim_world_update(r->world, key);
    all->items[all->count].key = key;
    all->items[all->count].version = sim_world_version(r->world);
    all->items[all->count++].at_ns = ki_clock_now_ns(&r->clock);
}

static uint64_t stored_version(const age_rig *r, uint32_t key)
{
    sim_object there;
    sim_world_describe(r->world, sim_world_object(r->world, key), &there);
    ki_object *mine =
        ki_store_get(ki_informer_store(r->informer), ki_str_of(there.ns), ki_str_of(there.name));
    uint64_t version = strtoull(ki_object_resource_version(mine).ptr, NULL, 10);
    (void)ki_object_unref(mine);
    return version;
}

uint64_t age_rig_missed_ms(const age_rig *r, age_rig_changes *all)
{
    while (all->met < all->count &&
           stored_version(r, all->items[all->met].key) >= all->items[all->met].version)
        all->met++;
    return all->met == all->count ? 0
                                  : (ki_clock_now_ns(&r->clock) - all->items[all->met].at_ns) / KI_NS_PER_MS;
}
