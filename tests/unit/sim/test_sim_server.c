/* SPDX-License-Identifier: Apache-2.0 */
#include "support/sim/sim_server.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/sim/sim_recorder.h"
#include "support/unit.h"

/* A version as text. */
typedef struct version_text {
    char bytes[24];
} version_text;

static ki_str text_of(uint64_t version, version_text *out)
{
    (void)snprintf(out->bytes, sizeof(out->bytes), "%" PRIu64, version);
    return ki_str_of(out->bytes);
}

static void mutate(sim_setup *setup, int times)
{
    for (int i = 0; i < times; i++)
        sim_world_mutate(setup->world);
}

/* The size and timing of pieces do not change the content. */
static const sim_server_options in_pieces = {.piece_bytes_max = 200, .latency_ns_max = 5000000};

static const char *list_metadata(const json_t *list, const char *name)
{
    return json_string_value(json_object_get(json_object_get(list, "metadata"), name));
}

static uint64_t list_version(const json_t *list)
{
    return strtoull(list_metadata(list, "resourceVersion"), NULL, 10);
}

static void assert_begins_with(const sim_setup *setup, const char *text)
{
    assert_int_equal(strncmp(setup->recorder.body.data, text, strlen(text)), 0);
}

static void assert_status(sim_setup *setup, int code, const char *reason)
{
    assert_int_equal(setup->recorder.ends, 1);
    assert_int_equal(setup->recorder.reason, KI_REASON_NONE);
    assert_int_equal(setup->recorder.http_status, code);
    json_t *status = sim_recorder_document(&setup->recorder);
    assert_string_equal(json_string_value(json_object_get(status, "kind")), "Status");
    assert_string_equal(json_string_value(json_object_get(status, "reason")), reason);
    assert_int_equal(json_integer_value(json_object_get(status, "code")), code);
    json_decref(status);
}

/* ---- lists ------------------------------------------------------------------------------------------- */

static void sim_server_lists_the_world(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 1, in_pieces);
    sim_setup_ask(&setup, &(ki_list_options){0}, 60);
    assert_int_equal(setup.recorder.http_status, 200);
    assert_int_equal(setup.recorder.ends, 1);
    assert_true(setup.recorder.pieces > 10);
    assert_begins_with(&setup, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{");
    json_t *list = sim_recorder_document(&setup.recorder);
    json_t *replica = json_object();
    assert_int_equal(sim_replica_apply_list(replica, list), sim_world_version(setup.world));
    sim_replica_assert_is_world(replica, setup.world);
    assert_null(list_metadata(list, "continue"));
    json_decref(list);
    json_decref(replica);
    sim_setup_fini(&setup);
}

static void sim_server_can_write_the_metadata_last(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 1, (sim_server_options){.faults = {.metadata_last = 1}});
    sim_setup_ask(&setup, &(ki_list_options){0}, 1);
    assert_begins_with(&setup, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":[");
    json_t *list = sim_recorder_document(&setup.recorder);
    assert_int_equal(list_version(list), sim_world_version(setup.world));
    json_decref(list);
    sim_setup_fini(&setup);
}

/* Adds the page to the replica. Sets the token of the next page, "" after the last one. */
static void read_page(sim_setup *setup, json_t *replica, char *token, size_t bytes)
{
    json_t *list = sim_recorder_document(&setup->recorder);
    (void)sim_replica_apply_list(replica, list);
    assert_true(json_array_size(json_object_get(list, "items")) <= 7);
    const char *next = list_metadata(list, "continue");
    (void)snprintf(token, bytes, "%s", next == NULL ? "" : next);
    json_decref(list);
}

static void sim_server_pages_belong_to_one_state(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 2, in_pieces);
    json_t *replica = json_object();
    char token[128];
    uint64_t version = sim_world_version(setup.world);
    size_t pages = 1;
    sim_setup_ask(&setup, &(ki_list_options){.limit = 7}, 60);
    read_page(&setup, replica, token, sizeof(token));
    for (; token[0] != 0; pages++) {
        mutate(&setup, 10);
        sim_setup_ask(&setup, &(ki_list_options){.limit = 7, .continue_token = ki_str_of(token)}, 60);
        read_page(&setup, replica, token, sizeof(token));
    }
    assert_int_equal(pages, (json_object_size(replica) + 6) / 7);
    sim_replica_assert_is_world_at(replica, setup.world, version);
    json_decref(replica);
    sim_setup_fini(&setup);
}

static void sim_server_tokens_expire_with_the_history(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 3, (sim_server_options){0});
    json_t *replica = json_object();
    char token[128];
    sim_setup_ask(&setup, &(ki_list_options){.limit = 7}, 1);
    read_page(&setup, replica, token, sizeof(token));
    mutate(&setup, 1);
    sim_world_compact(setup.world);
    sim_setup_ask(&setup, &(ki_list_options){.limit = 7, .continue_token = ki_str_of(token)}, 1);
    assert_status(&setup, 410, "Expired");
    json_decref(replica);
    sim_setup_fini(&setup);
}

static void sim_server_tokens_expire_when_history_is_reset(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 3, (sim_server_options){0});
    json_t *replica = json_object();
    char token[128];
    sim_setup_ask(&setup, &(ki_list_options){.limit = 7}, 1);
    read_page(&setup, replica, token, sizeof(token));
    sim_world_reset_history(setup.world, 5);
    mutate(&setup, 50);
    sim_setup_ask(&setup, &(ki_list_options){.limit = 7, .continue_token = ki_str_of(token)}, 1);
    assert_status(&setup, 410, "Expired");
    json_decref(replica);
    sim_setup_fini(&setup);
}

static void sim_server_refuses_a_list_of_a_future_version(void **state)
{
    (void)state;
    sim_setup setup;
    version_text text;
    sim_setup_init(&setup, 4, (sim_server_options){0});
    ki_str future = text_of(sim_world_version(setup.world) + 1, &text);
    sim_setup_ask(&setup, &(ki_list_options){.resource_version = future}, 2);
    assert_int_equal(setup.recorder.heads, 0);
    sim_setup_run(&setup, 2);
    assert_status(&setup, 504, "Timeout");
    assert_int_equal(setup.recorder.retry_after_seconds, 1);
    assert_non_null(strstr(setup.recorder.body.data, "\"reason\":\"ResourceVersionTooLarge\""));
    sim_setup_fini(&setup);
}

static void sim_server_refuses_the_same_requests_as_real_servers(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 4, (sim_server_options){0});
    sim_setup_ask(&setup, &(ki_list_options){.continue_token = KI_STR("nonsense")}, 1);
    assert_status(&setup, 400, "BadRequest");
    sim_setup_ask(&setup,
                  &(ki_list_options){.continue_token = KI_STR("sim-0-90-0"), .resource_version = KI_STR("0")},
                  1);
    assert_status(&setup, 400, "BadRequest");
    sim_setup_ask(&setup, &(ki_list_options){.resource_version = KI_STR("x")}, 1);
    assert_status(&setup, 400, "BadRequest");
    sim_setup_ask(&setup, &(ki_list_options){.watch = 1, .resource_version = KI_STR("x")}, 1);
    assert_status(&setup, 400, "BadRequest");
    sim_setup_ask(&setup, &(ki_list_options){.watch = 1, .send_initial_events = 1}, 1);
    assert_status(&setup, 422, "Invalid");
    sim_setup_fini(&setup);
}

/* Lists many times. Sets the oldest and the newest version received. */
static void list_often(sim_setup *setup, ki_str version, uint64_t *out_oldest, uint64_t *out_newest)
{
    *out_oldest = UINT64_MAX;
    *out_newest = 0;
    for (int i = 0; i < 50; i++) {
        sim_setup_ask(setup, &(ki_list_options){.resource_version = version}, 1);
        json_t *list = sim_recorder_document(&setup->recorder);
        json_t *replica = json_object();
        uint64_t got = sim_replica_apply_list(replica, list);
        sim_replica_assert_is_world_at(replica, setup->world, got);
        *out_oldest = got < *out_oldest ? got : *out_oldest;
        *out_newest = got > *out_newest ? got : *out_newest;
        json_decref(list);
        json_decref(replica);
    }
}

static void sim_server_that_lags_honours_the_requested_version(void **state)
{
    (void)state;
    sim_setup setup;
    version_text text;
    uint64_t oldest = 0;
    uint64_t newest = 0;
    sim_setup_init(&setup, 5, (sim_server_options){.faults = {.lag_records_max = 50}});
    uint64_t now = sim_world_version(setup.world);
    list_often(&setup, KI_STR("0"), &oldest, &newest);
    assert_true(oldest <= now - 50);
    assert_int_equal(newest, now);
    list_often(&setup, text_of(now - 20, &text), &oldest, &newest);
    assert_int_equal(oldest, now - 20);
    assert_int_equal(newest, now);
    list_often(&setup, KI_STR(""), &oldest, &newest);
    assert_int_equal(oldest, now);
    sim_setup_fini(&setup);
}

static void sim_server_that_does_not_lag_lists_the_newest_version(void **state)
{
    (void)state;
    sim_setup setup;
    version_text text;
    uint64_t oldest = 0;
    uint64_t newest = 0;
    sim_setup_init(&setup, 5, (sim_server_options){0});
    list_often(&setup, KI_STR("0"), &oldest, &newest);
    assert_int_equal(oldest, sim_world_version(setup.world));
    list_often(&setup, text_of(95, &text), &oldest, &newest);
    assert_int_equal(oldest, sim_world_version(setup.world));
    sim_setup_fini(&setup);
}

/* ---- watches ----------------------------------------------------------------------------------------- */

static void sim_server_watch_brings_a_list_up_to_date(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        sim_setup setup;
        version_text text;
        sim_setup_init(&setup, seed, in_pieces);
        sim_setup_ask(&setup, &(ki_list_options){0}, 60);
        json_t *list = sim_recorder_document(&setup.recorder);
        json_t *replica = json_object();
        uint64_t version = sim_replica_apply_list(replica, list);
        mutate(&setup, 20);
        ki_list_options watch = {
            .watch = 1, .timeout_seconds = 300, .resource_version = text_of(version, &text)};
        sim_recorder_ask(&setup.recorder, setup.server, &watch);
        for (int i = 0; i < 50; i++) {
            sim_setup_run(&setup, 1);
            mutate(&setup, 2);
        }
        sim_setup_run(&setup, 1000);
        assert_int_equal(setup.recorder.ends, 1);
        assert_int_equal(setup.recorder.reason, KI_REASON_NONE);
        json_t *events = sim_recorder_events(&setup.recorder);
        (void)sim_replica_apply_events(replica, events);
        sim_replica_assert_is_world(replica, setup.world);
        json_decref(events);
        json_decref(list);
        json_decref(replica);
        sim_setup_fini(&setup);
    }
}

static void sim_server_watch_ends_at_its_timeout(void **state)
{
    (void)state;
    sim_setup setup;
    version_text text;
    sim_setup_init(&setup, 6, (sim_server_options){0});
    ki_str now = text_of(sim_world_version(setup.world), &text);
    sim_setup_ask(&setup, &(ki_list_options){.watch = 1, .timeout_seconds = 300, .resource_version = now},
                  299);
    assert_int_equal(setup.recorder.heads, 1);
    assert_int_equal(setup.recorder.ends, 0);
    assert_int_equal(sim_server_open_count(setup.server), 1);
    sim_setup_run(&setup, 1);
    assert_int_equal(setup.recorder.ends, 1);
    assert_int_equal(setup.recorder.reason, KI_REASON_NONE);
    assert_int_equal(sim_server_open_count(setup.server), 0);
    sim_setup_fini(&setup);
}

static void sim_server_bookmarks_report_versions_without_events(void **state)
{
    (void)state;
    sim_setup setup;
    version_text text;
    sim_setup_init(&setup, 7, (sim_server_options){0});
    ki_list_options watch = {.watch = 1,
                             .timeout_seconds = 300,
                             .allow_bookmarks = 1,
                             .resource_version = text_of(sim_world_version(setup.world), &text)};
    sim_recorder_ask(&setup.recorder, setup.server, &watch);
    sim_world_tick_other(setup.world);
    sim_setup_run(&setup, 61);
    json_t *events = sim_recorder_events(&setup.recorder);
    json_t *replica = json_object();
    assert_int_equal(json_array_size(events), 1);
    assert_int_equal(sim_replica_apply_events(replica, events), sim_world_version(setup.world));
    sim_setup_run(&setup, 300);
    assert_int_equal(sim_server_counts(setup.server)->bookmarks,
                     5); /* one per minute, and one shortly before the end */
    json_decref(events);
    json_decref(replica);
    sim_setup_fini(&setup);
}

static void sim_server_sends_no_bookmarks_unless_asked(void **state)
{
    (void)state;
    sim_setup setup;
    version_text text;
    sim_setup_init(&setup, 7, (sim_server_options){0});
    ki_str now = text_of(sim_world_version(setup.world), &text);
    sim_setup_ask(&setup, &(ki_list_options){.watch = 1, .timeout_seconds = 300, .resource_version = now},
                  400);
    assert_int_equal(setup.recorder.ends, 1);
    assert_int_equal(setup.recorder.body.len, 0);
    sim_setup_fini(&setup);
}

static void sim_server_watch_of_a_future_version_is_silent_until_then(void **state)
{
    (void)state;
    sim_setup setup;
    version_text text;
    sim_setup_init(&setup, 8, (sim_server_options){0});
    uint64_t version = sim_world_version(setup.world) + 30;
    ki_list_options watch = {.watch = 1, .allow_bookmarks = 1, .resource_version = text_of(version, &text)};
    sim_recorder_ask(&setup.recorder, setup.server, &watch);
    while (sim_world_version(setup.world) < version - 2) {
        sim_world_update(setup.world, 0);
        sim_world_create(setup.world, 0);
        sim_setup_run(&setup, 61);
        assert_int_equal(setup.recorder.http_status, 200);
        assert_int_equal(setup.recorder.body.len, 0);
    }
    assert_int_equal(sim_server_counts(setup.server)->silent, 1);
    mutate(&setup, 10);
    sim_setup_run(&setup, 1);
    json_t *events = sim_recorder_events(&setup.recorder);
    const json_t *first = json_object_get(json_array_get(events, 0), "object");
    assert_true(list_version(first) > version);
    json_decref(events);
    sim_setup_fini(&setup);
}

static void sim_server_watch_of_a_forgotten_version_is_expired(void **state)
{
    (void)state;
    sim_setup setup;
    version_text text;
    sim_setup_init(&setup, 9, (sim_server_options){0});
    ki_list_options watch = {.watch = 1, .resource_version = text_of(sim_world_version(setup.world), &text)};
    mutate(&setup, 1);
    sim_world_compact(setup.world);
    sim_setup_ask(&setup, &watch, 1);
    assert_int_equal(setup.recorder.http_status, 200);
    assert_int_equal(setup.recorder.ends, 1);
    json_t *event = sim_recorder_document(&setup.recorder);
    assert_string_equal(json_string_value(json_object_get(event, "type")), "ERROR");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(event, "object"), "code")), 410);
    json_decref(event);
    sim_server_set_faults(setup.server, &(sim_faults){.expired_as_status = 1});
    sim_setup_ask(&setup, &watch, 1);
    assert_status(&setup, 410, "Expired");
    assert_int_equal(sim_server_counts(setup.server)->expired, 2);
    sim_setup_fini(&setup);
}

static void sim_server_watch_may_begin_with_the_list(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 10, in_pieces);
    ki_list_options watch = {.watch = 1,
                             .send_initial_events = 1,
                             .allow_bookmarks = 1,
                             .timeout_seconds = 30,
                             .resource_version_match = KI_STR("NotOlderThan")};
    size_t count = sim_world_count(setup.world);
    sim_recorder_ask(&setup.recorder, setup.server, &watch);
    mutate(&setup, 10);
    sim_setup_run(&setup, 60);
    json_t *events = sim_recorder_events(&setup.recorder);
    json_t *replica = json_object();
    char *mark = json_dumps(json_array_get(events, count), JSON_COMPACT);
    assert_non_null(strstr(mark, "\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}"));
    (void)sim_replica_apply_events(replica, events);
    sim_replica_assert_is_world(replica, setup.world);
    free(mark);
    json_decref(events);
    json_decref(replica);
    sim_setup_fini(&setup);
}

static void sim_server_reset_cuts_open_requests(void **state)
{
    (void)state;
    sim_setup setup;
    version_text text;
    sim_setup_init(&setup, 11, (sim_server_options){0});
    uint64_t version = sim_world_version(setup.world);
    ki_list_options watch = {.watch = 1, .resource_version = text_of(version, &text)};
    sim_setup_ask(&setup, &watch, 1);
    sim_world_reset_history(setup.world, 10);
    assert_true(sim_server_next_ns(setup.server) <= ki_clock_now_ns(&setup.clock));
    sim_setup_run(&setup, 1);
    assert_int_equal(setup.recorder.ends, 1);
    assert_int_equal(setup.recorder.reason, KI_REASON_CONNECTION_LOST);
    sim_setup_ask(&setup, &(ki_list_options){0}, 1);
    json_t *list = sim_recorder_document(&setup.recorder);
    assert_true(list_version(list) < version);
    json_decref(list);
    sim_setup_fini(&setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sim_server_lists_the_world),
        cmocka_unit_test(sim_server_can_write_the_metadata_last),
        cmocka_unit_test(sim_server_pages_belong_to_one_state),
        cmocka_unit_test(sim_server_tokens_expire_with_the_history),
        cmocka_unit_test(sim_server_tokens_expire_when_history_is_reset),
        cmocka_unit_test(sim_server_refuses_a_list_of_a_future_version),
        cmocka_unit_test(sim_server_refuses_the_same_requests_as_real_servers),
        cmocka_unit_test(sim_server_that_lags_honours_the_requested_version),
        cmocka_unit_test(sim_server_that_does_not_lag_lists_the_newest_version),
        cmocka_unit_test(sim_server_watch_brings_a_list_up_to_date),
        cmocka_unit_test(sim_server_watch_ends_at_its_timeout),
        cmocka_unit_test(sim_server_bookmarks_report_versions_without_events),
        cmocka_unit_test(sim_server_sends_no_bookmarks_unless_asked),
        cmocka_unit_test(sim_server_watch_of_a_future_version_is_silent_until_then),
        cmocka_unit_test(sim_server_watch_of_a_forgotten_version_is_expired),
        cmocka_unit_test(sim_server_watch_may_begin_with_the_list),
        cmocka_unit_test(sim_server_reset_cuts_open_requests),
    };
    return RUN_TESTS(tests);
}
