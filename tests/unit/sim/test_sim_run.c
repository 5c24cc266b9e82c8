/* SPDX-License-Identifier: Apache-2.0 */
/* Whole runs of the simulated server: with a client that trusts every response,
 * and with one that does anything. */
#include <inttypes.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>

#include "support/decode/decode_run.h"
#include "support/sim/sim_recorder.h"
#include "support/sim/sim_server.h"
#include "support/unit.h"
#include "util/random.h"

#define SEEDS 100

static ki_str text_of(uint64_t version, char *bytes, size_t n)
{
    (void)snprintf(bytes, n, "%" PRIu64, version);
    return ki_str_of(bytes);
}

static void change_world(sim_world *world, ki_random *random)
{
    uint64_t deed = ki_random_below(random, 40);
    if (deed == 0)
        sim_world_compact(world);
    else if (deed < 5)
        sim_world_tick_other(world);
    else
        sim_world_mutate(world);
}

/* ---- a client that trusts every response ------------------------------------------------------------- */

/* Lists until one list is complete. Returns its version. */
static uint64_t list_all(sim_setup *setup, ki_random *random, json_t *replica)
{
    char token[128] = "";
    uint64_t version = 0;
    (void)json_object_clear(replica);
    for (;;) {
        ki_list_options options = {.limit = 9, .continue_token = ki_str_of(token)};
        if (token[0] == 0 && ki_random_below(random, 2) == 0)
            options.resource_version = KI_STR("0");
        sim_setup_ask(setup, &options, 60);
        assert_int_equal(setup->recorder.ends, 1);
        json_t *list = sim_recorder_document(&setup->recorder);
        token[0] = 0;
        if (setup->recorder.http_status == 200) {
            version = sim_replica_apply_list(replica, list);
            const char *next =
                json_string_value(json_object_get(json_object_get(list, "metadata"), "continue"));
            (void)snprintf(token, sizeof(token), "%s", next == NULL ? "" : next);
        } else {
            assert_int_equal(setup->recorder.http_status, 410);
            version = 0;
            (void)json_object_clear(replica);
        }
        json_decref(list);
        if (version > 0 && token[0] == 0)
            return version;
        change_world(setup->world, random);
    }
}

/* Watches until the response ends. Returns the last version, or 0 if it has expired. */
static uint64_t watch_once(sim_setup *setup, ki_random *random, json_t *replica, uint64_t version)
{
    char text[24];
    ki_list_options options = {.watch = 1,
                               .allow_bookmarks = 1,
                               .timeout_seconds = 90,
                               .resource_version = text_of(version, text, sizeof(text))};
    sim_recorder_ask(&setup->recorder, setup->server, &options);
    for (int i = 0; i < 200 && !setup->recorder.ends; i++) {
        sim_setup_run(setup, 1);
        change_world(setup->world, random);
    }
    assert_int_equal(setup->recorder.ends, 1);
    if (setup->recorder.http_status == 410)
        return 0;
    json_t *events = sim_recorder_events(&setup->recorder);
    const json_t *first = json_object_get(json_array_get(events, 0), "type");
    uint64_t last = version;
    if (first != NULL && strcmp(json_string_value(first), "ERROR") == 0)
        last = 0;
    else if (first != NULL)
        last = sim_replica_apply_events(replica, events);
    json_decref(events);
    return last;
}

static void sim_server_reports_the_true_state_with_all_legal_behaviour(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        sim_setup setup;
        ki_random random;
        sim_setup_init(&setup, seed,
                       (sim_server_options){.faults = {.eager = 0.3,
                                                       .limit_ignored = 0.2,
                                                       .metadata_last = 0.3,
                                                       .expired_as_status = 0.5,
                                                       .short_watch = 0.3,
                                                       .lag_records_max = 30},
                                            .piece_bytes_max = 200,
                                            .latency_ns_max = 100000000});
        ki_random_init(&random, seed);
        json_t *replica = json_object();
        uint64_t version = 0;
        for (int i = 0; i < 10; i++) {
            version = version == 0 ? list_all(&setup, &random, replica)
                                   : watch_once(&setup, &random, replica, version);
            if (version > 0)
                sim_replica_assert_is_world_at(replica, setup.world, version);
        }
        json_decref(replica);
        sim_setup_fini(&setup);
    }
}

/* ---- a client that does anything --------------------------------------------------------------------- */

#define CLIENTS 4

static const sim_server_options wild = {.faults = {.eager = 0.3,
                                                   .limit_ignored = 0.1,
                                                   .metadata_last = 0.1,
                                                   .expired_as_status = 0.5,
                                                   .watch_list_refused = 0.1,
                                                   .short_watch = 0.1,
                                                   .refuse = 0.05,
                                                   .http_500 = 0.05,
                                                   .http_429 = 0.05,
                                                   .empty_body = 0.05,
                                                   .cut_body = 0.1,
                                                   .stall = 0.1,
                                                   .stale_list = 0.1,
                                                   .stale_quorum = 0.1,
                                                   .watch_list_endless = 0.1,
                                                   .token_cycle = 0.1,
                                                   .cut_between = 0.02,
                                                   .cut_in_event = 0.02,
                                                   .duplicate_event = 0.1,
                                                   .malformed_event = 0.1,
                                                   .garbage = 0.02,
                                                   .error_event = 0.02,
                                                   .malformed_item = 0.01,
                                                   .huge_item = 0.001,
                                                   .lag_records_max = 30},
                                        .bookmark_ns = 5000000000,
                                        .piece_bytes_max = 200,
                                        .latency_ns_max = 100000000};

static void ask_anything(sim_recorder *client, sim_setup *setup, ki_random *random)
{
    char text[24];
    ki_list_options options = {.watch = (uint8_t)ki_random_below(random, 2),
                               .allow_bookmarks = (uint8_t)ki_random_below(random, 2),
                               .limit = ki_random_below(random, 100),
                               .timeout_seconds = (uint32_t)ki_random_below(random, 100)};
    uint64_t now = sim_world_version(setup->world);
    switch (ki_random_below(random, 4)) {
    case 0:
        options.resource_version = KI_STR("0");
        break;
    case 1:
        options.resource_version = text_of(now - ki_random_below(random, 50), text, sizeof(text));
        break;
    case 2:
        options.resource_version = text_of(now + ki_random_below(random, 20), text, sizeof(text));
        break;
    default:
        break;
    }
    if (options.watch && ki_random_below(random, 2) == 0)
        options.send_initial_events = 1;
    if (!options.watch || options.send_initial_events)
        options.resource_version_match = KI_STR("NotOlderThan");
    client->pauses = ki_random_below(random, 4) == 0;
    client->cancels_after = ki_random_below(random, 4) == 0 ? 1 + ki_random_below(random, 5) : 0;
    sim_recorder_ask(client, setup->server, &options);
}

static void do_anything(sim_recorder *client, sim_setup *setup, ki_random *random)
{
    if (client->source.begin == NULL || client->ends || client->cancelled)
        ask_anything(client, setup, random);
    else if (client->paused && ki_random_below(random, 2) == 0)
        sim_recorder_resume(client);
    else if (ki_random_below(random, 50) == 0)
        sim_recorder_cancel(client);
}

static uint64_t sum_of(const sim_recorder *client, uint64_t sum)
{
    for (size_t i = 0; i < client->body.len; i++)
        sum = (sum ^ (unsigned char)client->body.data[i]) * UINT64_C(0x100000001b3);
    return (sum ^ client->reason) * UINT64_C(0x100000001b3);
}

/* Returns a checksum of the run. */
static uint64_t run_wild(uint64_t seed, sim_counts *out_counts)
{
    sim_setup setup;
    ki_random random;
    sim_recorder clients[CLIENTS] = {0};
    uint64_t sum = 0;
    sim_setup_init(&setup, seed, wild);
    ki_random_init(&random, seed);
    for (int i = 0; i < 500; i++) {
        change_world(setup.world, &random);
        if (ki_random_below(&random, 100) == 0)
            sim_world_reset_history(setup.world, ki_random_below(&random, 30));
        for (size_t k = 0; k < CLIENTS; k++)
            do_anything(&clients[k], &setup, &random);
        ki_clock_advance_ms(&setup.clock, ki_random_below(&random, 500));
        sim_server_step(setup.server);
    }
    for (size_t k = 0; k < CLIENTS; k++) {
        sum = sum_of(&clients[k], sum);
        sim_recorder_fini(&clients[k]);
    }
    *out_counts = *sim_server_counts(setup.server);
    sim_setup_fini(&setup);
    return sum;
}

static void sim_server_runs_are_determined_by_their_seed(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed += 10) {
        sim_counts counts[2];
        assert_true(run_wild(seed, &counts[0]) == run_wild(seed, &counts[1]));
        assert_memory_equal(&counts[0], &counts[1], sizeof(counts[0]));
    }
}

static void sim_server_produces_every_fault_in_the_long_run(void **state)
{
    (void)state;
    sim_counts sums = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        sim_counts counts;
        (void)run_wild(seed, &counts);
#define ADD(name) sums.name += counts.name;
        SIM_FAULTS(ADD)
        ADD(expired)
        ADD(too_large)
        ADD(silent)
        ADD(bookmarks)
#undef ADD
    }
#define ASSERT_HAPPENED(name)                                                                                \
    if (sums.name == 0 && (wild.faults.name > 0))                                                            \
        fail_msg("%s never happened", #name);
    SIM_FAULTS(ASSERT_HAPPENED)
#undef ASSERT_HAPPENED
    assert_true(sums.expired > 0);
    assert_true(sums.too_large > 0);
    assert_true(sums.silent > 0);
    assert_true(sums.bookmarks > 0);
}

/* ---- with the library's decoders --------------------------------------------------------------------- */

static void sim_faults_in_events_do_not_break_the_framing(void **state)
{
    (void)state;
    ki_object_plan *plan = ki_object_plan_new(&KI_CORE_V1_PODS, NULL, NULL);
    assert_non_null(plan);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        sim_setup setup;
        decode_run run;
        sim_setup_init(
            &setup, seed,
            (sim_server_options){
                .faults = {.malformed_event = 0.5, .malformed_item = 0.2, .duplicate_event = 0.3}});
        ki_list_options options = {
            .watch = 1, .timeout_seconds = 90, .allow_bookmarks = 1, .resource_version = KI_STR("90")};
        sim_setup_ask(&setup, &options, 100);
        const sim_counts *counts = sim_server_counts(setup.server);
        decode_run_form(&run, KI_BODY_JSON_WATCH, plan,
                        (ki_str){setup.recorder.body.data, setup.recorder.body.len}, (decode_split){0});
        assert_int_equal(run.code, 0);
        assert_int_equal(run.refused_count, counts->malformed_event + counts->malformed_item);
        for (size_t i = 0; i < run.object_count; i++)
            assert_non_null(sim_world_find(setup.world, run.objects[i]));
        decode_run_fini(&run);
        sim_setup_fini(&setup);
    }
    ki_object_plan_free(plan);
}

static void sim_faults_in_items_do_not_break_the_list(void **state)
{
    (void)state;
    ki_object_plan *plan = ki_object_plan_new(&KI_CORE_V1_PODS, NULL, NULL);
    assert_non_null(plan);
    sim_setup setup;
    decode_run run;
    sim_setup_init(&setup, 1, (sim_server_options){.faults = {.malformed_item = 0.3, .metadata_last = 1}});
    sim_setup_ask(&setup, &(ki_list_options){0}, 1);
    decode_run_form(&run, KI_BODY_JSON_LIST, plan,
                    (ki_str){setup.recorder.body.data, setup.recorder.body.len}, (decode_split){0});
    assert_int_equal(run.code, 0);
    assert_true(run.refused_count > 0);
    assert_int_equal(run.refused_count + run.object_count, sim_world_count(setup.world));
    assert_non_null(strstr(run.log, "REFUSED a/n"));
    decode_run_fini(&run);
    sim_setup_fini(&setup);
    ki_object_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sim_server_reports_the_true_state_with_all_legal_behaviour),
        cmocka_unit_test(sim_server_runs_are_determined_by_their_seed),
        cmocka_unit_test(sim_server_produces_every_fault_in_the_long_run),
        cmocka_unit_test(sim_faults_in_events_do_not_break_the_framing),
        cmocka_unit_test(sim_faults_in_items_do_not_break_the_list),
    };
    return RUN_TESTS(tests);
}
