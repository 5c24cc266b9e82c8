/* SPDX-License-Identifier: Apache-2.0 */
/* A deleted object does not come back, whatever a lagging server sends; in virtual time. */
#include <kinformer/resources.h>

#include "informer/held_back.h"
#include "support/informer/informer_rig.h"
#include "support/unit.h"

enum { GONE = 1 };

static const ki_informer_options streams = {.watch_list = KI_WATCH_LIST_ALWAYS};
static const ki_informer_options lists = {.watch_list = KI_WATCH_LIST_NEVER, .page_size = -1};

/* The informer receives the deletion of an object and then lists again from a server with these faults. */
static void relist(virtual_rig *rig, heard *what, const sim_faults *faults)
{
    ki_handler handler = heard_handler(what);
    assert_non_null(ki_informer_add_handler(rig->informer, &handler, NULL));
    virtual_rig_sync(rig);
    for (int i = 0; i < 50; i++) /* a stale list is older by fewer versions than this */
        sim_world_tick_other(rig->world);
    sim_world_delete(rig->world, GONE);
    virtual_rig_run(rig, 1000);
    assert_int_equal(what->deletes, 1);
    sim_world_create(rig->world, 7);
    sim_world_compact(rig->world);
    sim_server_set_faults(rig->server, faults);
    sim_server_cut_all(rig->server);
    virtual_rig_run(rig, 60 * 1000);
}

static void expect_nothing_back(const ki_informer_options *options, const sim_faults *faults)
{
    virtual_rig rig;
    heard what;
    heard_init(&what);
    virtual_rig_init(&rig, options);
    relist(&rig, &what, faults);
    assert_true(sim_server_counts(rig.server)->stale_list > 0);
    virtual_rig_assert_equal(&rig);
    assert_int_equal(what.adds, 5 + 1);
    assert_int_equal(what.deletes, 1);
    assert_int_equal(what.wrongs, 0);
    virtual_rig_fini(&rig);
    heard_fini(&what);
}

static void a_stream_of_a_lagging_server_brings_nothing_back(void **state)
{
    (void)state;
    expect_nothing_back(&streams, &(sim_faults){.stale_list = 1});
}

static void a_list_with_its_metadata_last_brings_nothing_back(void **state)
{
    (void)state;
    expect_nothing_back(&lists, &(sim_faults){.stale_list = 1, .metadata_last = 1});
}

/* ---- too many items held back ------------------------------------------------------------------------- */

enum { NAMES = 600, KEYS = 26 * NAMES };

typedef struct strict {
    int is_strict;
    int stale;
} strict;

static int refuse(const ki_object **object, void *user)
{
    (void)object;
    return ((strict *)user)->is_strict ? KI_ERR_INVALID : 0;
}

static void note_stale(ki_informer *informer, const ki_informer_error *error, void *user)
{
    (void)informer;
    ((strict *)user)->stale += error->reason == KI_REASON_STALE;
}

/* The first list refuses every object and the next one accepts them all: they are unknown, and not newer. */
static void too_many_unknown_items_lead_to_a_plain_list(void **state)
{
    (void)state;
    strict s = {.is_strict = 1};
    virtual_rig rig;
    assert_true(KEYS > KI_HELD_BACK_MAX);
    virtual_rig_init_world(&rig, &(ki_informer_options){.transform = refuse, .transform_user = &s},
                           &(sim_world_options){.seed = 1, .namespaces = 26, .names = NAMES});
    for (uint32_t key = 0; key < KEYS; key++)
        sim_world_create(rig.world, key);
    assert_int_equal(ki_informer_set_error_handler(rig.informer, note_stale, &s), 0);
    virtual_rig_sync(&rig);
    assert_int_equal(ki_store_count(ki_informer_store(rig.informer)), 0);
    uint64_t first_lists = sim_server_counts(rig.server)->lists;
    s.is_strict = 0;
    sim_world_update(rig.world, 0);
    sim_world_compact(rig.world);
    sim_server_set_faults(rig.server,
                          &(sim_faults){.watch_list_endless = 1}); /* the streamed list does not end */
    sim_server_cut_all(rig.server);
    virtual_rig_run(&rig, 5 * 1000);
    virtual_rig_assert_equal(&rig);
    assert_int_equal(s.stale, 1);
    assert_int_equal(sim_server_counts(rig.server)->watch_lists, 1);
    assert_true(sim_server_counts(rig.server)->lists > first_lists);
    virtual_rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_of_a_lagging_server_brings_nothing_back),
        cmocka_unit_test(a_list_with_its_metadata_last_brings_nothing_back),
        cmocka_unit_test(too_many_unknown_items_lead_to_a_plain_list),
    };
    return RUN_TESTS(tests);
}
