/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/sim/sim_answer.h"
#include "support/sim/sim_recorder.h"
#include "support/sim/sim_server.h"
#include "support/unit.h"

static sim_server_options with_faults(sim_faults faults)
{
    return (sim_server_options){.faults = faults, .piece_bytes_max = 50, .latency_ns_max = 1000};
}

static void ask_list(sim_setup *setup)
{
    sim_setup_ask(setup, &(ki_list_options){0}, 3600);
}

/* A watch from the current version, with changes of this many objects to follow. */
static void ask_watch(sim_setup *setup, uint32_t events)
{
    char version[24];
    (void)snprintf(version, sizeof(version), "%" PRIu64, sim_world_version(setup->world));
    for (uint32_t key = 0; key < events; key++) {
        sim_world_update(setup->world, key);
        sim_world_create(setup->world, key);
    }
    ki_list_options watch = {.watch = 1, .timeout_seconds = 300, .resource_version = ki_str_of(version)};
    sim_setup_ask(setup, &watch, 3600);
}

static ki_list_options watch_list(void)
{
    return (ki_list_options){.watch = 1,
                             .send_initial_events = 1,
                             .timeout_seconds = 300,
                             .resource_version_match = KI_STR("NotOlderThan")};
}

static void assert_ended(const sim_setup *setup, ki_reason reason)
{
    assert_int_equal(setup->recorder.ends, 1);
    assert_int_equal(setup->recorder.reason, reason);
}

/* ---- requests ---------------------------------------------------------------------------------------- */

static void sim_faults_refuse_a_connection(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 1, with_faults((sim_faults){.refuse = 1}));
    ask_list(&setup);
    assert_ended(&setup, KI_REASON_CONNECTION_REFUSED);
    assert_int_equal(setup.recorder.heads, 0);
    assert_int_equal(setup.recorder.pieces, 0);
    sim_setup_fini(&setup);
}

static void sim_faults_fail_to_begin(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 1, with_faults((sim_faults){.begin_fails = 1}));
    ki_list_watch source = sim_server_list_watch(setup.server);
    ki_answer *answer = (ki_answer *)(void *)&setup.recorder;
    assert_int_equal(source.begin(answer, &(ki_list_options){0}, source.user), KI_ERR_NO_MEMORY);
    assert_int_equal(sim_server_open_count(setup.server), 0);
    sim_setup_fini(&setup);
}

static void sim_faults_answer_with_500_and_429(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 1, with_faults((sim_faults){.http_500 = 1}));
    ask_list(&setup);
    assert_ended(&setup, KI_REASON_NONE);
    assert_int_equal(setup.recorder.http_status, 500);
    assert_true(setup.recorder.body.len > 0);
    sim_server_set_faults(setup.server, &(sim_faults){.http_429 = 1});
    ask_watch(&setup, 3);
    assert_ended(&setup, KI_REASON_NONE);
    assert_int_equal(setup.recorder.http_status, 429);
    assert_in_range(setup.recorder.retry_after_seconds, 1, 5);
    sim_setup_fini(&setup);
}

static void sim_faults_answer_with_an_empty_body(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 1, with_faults((sim_faults){.empty_body = 1}));
    ask_list(&setup);
    assert_ended(&setup, KI_REASON_NONE);
    assert_int_equal(setup.recorder.http_status, 200);
    assert_int_equal(setup.recorder.pieces, 0);
    sim_setup_fini(&setup);
}

static void sim_faults_cut_a_list_at_any_position(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 1, with_faults((sim_faults){0}));
    ask_list(&setup);
    size_t whole = setup.recorder.body.len;
    sim_server_set_faults(setup.server, &(sim_faults){.cut_body = 1});
    size_t shortest = whole;
    size_t longest = 0;
    for (int i = 0; i < 100; i++) {
        ask_list(&setup);
        assert_ended(&setup, KI_REASON_CONNECTION_LOST);
        size_t len = setup.recorder.body.len;
        shortest = len < shortest ? len : shortest;
        longest = len > longest ? len : longest;
    }
    assert_in_range(shortest, 0, whole / 10);
    assert_in_range(longest, whole - whole / 10, whole);
    sim_setup_fini(&setup);
}

static void sim_faults_stall_until_cancelled(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 1, with_faults((sim_faults){.stall = 1}));
    for (int i = 0; i < 50; i++) {
        ask_list(&setup);
        assert_int_equal(setup.recorder.ends, 0);
        assert_int_equal(sim_server_next_ns(setup.server), UINT64_MAX);
        sim_recorder_cancel(&setup.recorder);
        assert_int_equal(sim_server_open_count(setup.server), 0);
    }
    sim_setup_fini(&setup);
}

static void sim_faults_list_an_older_version_than_requested(void **state)
{
    (void)state;
    sim_setup setup;
    char now[24];
    sim_setup_init(&setup, 1, with_faults((sim_faults){.stale_list = 1, .stale_quorum = 1}));
    (void)snprintf(now, sizeof(now), "%" PRIu64, sim_world_version(setup.world));
    const ki_str versions[] = {ki_str_of(now), KI_STR("")};
    for (size_t i = 0; i < 2; i++) {
        sim_setup_ask(&setup, &(ki_list_options){.resource_version = versions[i]}, 1);
        json_t *list = sim_recorder_document(&setup.recorder);
        json_t *replica = json_object();
        uint64_t version = sim_replica_apply_list(replica, list);
        assert_true(version < sim_world_version(setup.world));
        sim_replica_assert_is_world_at(replica, setup.world, version);
        json_decref(list);
        json_decref(replica);
    }
    sim_setup_fini(&setup);
}

static void sim_faults_ignore_the_limit(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 1, with_faults((sim_faults){.limit_ignored = 1}));
    sim_setup_ask(&setup, &(ki_list_options){.limit = 1}, 1);
    json_t *list = sim_recorder_document(&setup.recorder);
    assert_int_equal(json_array_size(json_object_get(list, "items")), sim_world_count(setup.world));
    json_decref(list);
    sim_setup_fini(&setup);
}

static void sim_faults_refuse_a_watch_list(void **state)
{
    (void)state;
    sim_setup setup;
    ki_list_options options = watch_list();
    sim_setup_init(&setup, 1, with_faults((sim_faults){.watch_list_refused = 1}));
    sim_setup_ask(&setup, &options, 1);
    assert_ended(&setup, KI_REASON_NONE);
    assert_int_equal(setup.recorder.http_status, 422);
    sim_setup_fini(&setup);
}

static void sim_faults_never_end_the_initial_events_of_a_watch(void **state)
{
    (void)state;
    sim_setup setup;
    ki_list_options options = watch_list();
    sim_setup_init(&setup, 1, with_faults((sim_faults){.watch_list_endless = 1}));
    sim_setup_ask(&setup, &options, 1);
    json_t *events = sim_recorder_events(&setup.recorder);
    assert_int_equal(json_array_size(events), sim_world_count(setup.world));
    assert_null(strstr(setup.recorder.body.data, "BOOKMARK"));
    json_decref(events);
    sim_setup_fini(&setup);
}

/* Makes each kind of request and describes its response: status, bytes (2 for more) and end,
 * for example "200 2 " or "0 0 silence". */
static void ask_all_kinds(sim_setup *setup, char answers[3][24])
{
    ki_list_options requests[] = {
        {0}, {.watch = 1, .timeout_seconds = 5, .resource_version = KI_STR("1000")}, watch_list()};
    requests[2].timeout_seconds = 5;
    for (size_t i = 0; i < 3; i++) {
        const sim_recorder *recorder = &setup->recorder;
        sim_setup_ask(setup, &requests[i], 10);
        (void)snprintf(answers[i], sizeof(answers[i]), "%d %zu %s", recorder->http_status,
                       recorder->body.len > 1 ? 2 : recorder->body.len,
                       recorder->ends ? ki_reason_name(recorder->reason) : "silence");
        if (!recorder->ends)
            sim_recorder_cancel(&setup->recorder);
    }
}

static void sim_server_breaks_one_kind_of_request_until_told_otherwise(void **state)
{
    (void)state;
    static const char *const broken[] = {[SIM_ANSWERS_401] = "401 2 ",
                                         [SIM_ANSWERS_403] = "403 2 ",
                                         [SIM_ANSWERS_500] = "500 2 ",
                                         [SIM_ANSWERS_503] = "503 2 ",
                                         [SIM_RESETS] = "0 0 ConnectionLost",
                                         [SIM_RESETS_BEHIND_HEAD] = "200 0 ConnectionLost",
                                         [SIM_ENDS] = "200 0 ",
                                         [SIM_IS_SILENT] = "0 0 silence",
                                         [SIM_IS_SILENT_LATER] = "200 1 silence"};
    static const char *const sound[] = {"200 2 ", "200 0 ", "200 2 "};
    char answers[3][24];
    for (sim_manner manner = 0; manner < SIM_CYCLES; manner++)
        for (size_t kind = 0; kind < 3; kind++) {
            sim_setup setup;
            sim_setup_init(&setup, 1, (sim_server_options){.tells_sent = 1});
            sim_server_break(setup.server, (sim_breakage){1U << kind, manner});
            for (int again = 0; again < 2; again++) {
                ask_all_kinds(&setup, answers);
                for (size_t i = 0; i < 3; i++)
                    assert_string_equal(answers[i], i == kind ? broken[manner] : sound[i]);
            }
            sim_server_break(setup.server, (sim_breakage){0});
            ask_all_kinds(&setup, answers);
            assert_string_equal(answers[kind], sound[kind]);
            assert_int_equal(sim_server_counts(setup.server)->broken, 2);
            sim_setup_fini(&setup);
        }
}

static size_t count_texts(const sim_recorder *recorder, const char *text)
{
    size_t count = 0;
    for (const char *at = recorder->body.data; (at = strstr(at, text)) != NULL; at++)
        count++;
    return count;
}

/* A watch of ten minutes, with a meaningless event every minute. */
static void sim_server_sends_meaningless_events_until_told_otherwise(void **state)
{
    (void)state;
    static const sim_manner manners[] = {SIM_MAKES_NO_SENSE, SIM_BOOKMARKS_NOTHING};
    for (size_t i = 0; i < 4; i++) {
        sim_setup setup;
        ki_list_options options = {.watch = 1, .resource_version = KI_STR("1")};
        if (i % 2 == 1)
            options = watch_list();
        options.timeout_seconds = 600;
        options.allow_bookmarks = 1;
        sim_setup_init(&setup, 1, (sim_server_options){0});
        sim_server_break(setup.server, (sim_breakage){SIM_WATCHES | SIM_STREAMS, manners[i / 2]});
        sim_setup_ask(&setup, &options, 601);
        assert_ended(&setup, KI_REASON_NONE);
        assert_int_equal(count_texts(&setup.recorder, "\n"), 10);
        assert_int_equal(count_texts(&setup.recorder, "BOOKMARK"), i < 2 ? 0 : 10);
        assert_int_equal(sim_server_counts(setup.server)->broken, 1);
        sim_setup_fini(&setup);
    }
}

static void sim_faults_continue_the_last_page_at_the_first(void **state)
{
    (void)state;
    sim_setup setup;
    char token[64] = "";
    char first[64] = "";
    sim_setup_init(&setup, 1, with_faults((sim_faults){.token_cycle = 1}));
    for (size_t i = 0; i < 100; i++) {
        sim_setup_ask(&setup, &(ki_list_options){.limit = 5, .continue_token = ki_str_of(token)}, 1);
        json_t *list = sim_recorder_document(&setup.recorder);
        const char *next = json_string_value(json_object_get(json_object_get(list, "metadata"), "continue"));
        assert_non_null(next);
        (void)snprintf(token, sizeof(token), "%s", next);
        json_decref(list);
        if (i == 0)
            (void)snprintf(first, sizeof(first), "%s", token);
        else if (strcmp(token, first) == 0)
            break;
        assert_true(i < 99);
    }
    assert_int_equal(sim_server_counts(setup.server)->token_cycle, 1);
    sim_setup_fini(&setup);
}

/* ---- events ------------------------------------------------------------------------------------------ */

static void sim_faults_end_a_watch_after_a_few_events(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 1, with_faults((sim_faults){.short_watch = 1}));
    for (int i = 0; i < 20; i++) {
        uint64_t begun_ns = ki_clock_now_ns(&setup.clock);
        ask_watch(&setup, 10);
        assert_ended(&setup, KI_REASON_NONE);
        assert_true(ki_clock_now_ns(&setup.clock) - begun_ns < 1000000000);
        json_t *events = sim_recorder_events(&setup.recorder);
        assert_in_range(json_array_size(events), 0, 3);
        json_decref(events);
    }
    sim_setup_fini(&setup);
}

static void sim_faults_cut_between_events(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 1, with_faults((sim_faults){.cut_between = 1}));
    ask_watch(&setup, 5);
    assert_ended(&setup, KI_REASON_CONNECTION_LOST);
    assert_int_equal(setup.recorder.body.len, 0);
    sim_setup_fini(&setup);
}

static void sim_faults_cut_inside_an_event(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 1, with_faults((sim_faults){.cut_in_event = 1}));
    for (int i = 0; i < 20; i++) {
        ask_watch(&setup, 5);
        assert_ended(&setup, KI_REASON_CONNECTION_LOST);
        assert_null(setup.recorder.body.len == 0
                        ? NULL
                        : memchr(setup.recorder.body.data, '\n', setup.recorder.body.len));
    }
    sim_setup_fini(&setup);
}

/* The text of an event; the caller frees it with free(). */
static char *event_text(const json_t *events, size_t index)
{
    char *text = json_dumps(json_array_get(events, index), JSON_COMPACT | JSON_ENCODE_ANY);
    assert_non_null(text);
    return text;
}

static void sim_faults_repeat_events(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 1, with_faults((sim_faults){.duplicate_event = 1}));
    ask_watch(&setup, 5);
    json_t *events = sim_recorder_events(&setup.recorder);
    assert_int_equal(json_array_size(events), 9);
    char *first = event_text(events, 0);
    char *second = event_text(events, 1);
    assert_string_equal(first, second);
    free(first);
    free(second);
    json_decref(events);
    sim_setup_fini(&setup);
}

static void sim_faults_send_malformed_events(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 1, with_faults((sim_faults){.malformed_event = 1}));
    ask_watch(&setup, 50);
    json_t *events = sim_recorder_events(&setup.recorder);
    uint64_t real = sim_server_counts(setup.server)->events;
    assert_in_range(real, 10, 40);
    assert_int_equal(sim_server_counts(setup.server)->malformed_event, 50);
    assert_int_equal(json_array_size(events), 50 + real);
    assert_ended(&setup, KI_REASON_NONE);
    json_decref(events);
    sim_setup_fini(&setup);
}

static void sim_faults_send_unreadable_bytes(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 1, with_faults((sim_faults){.garbage = 1}));
    ask_watch(&setup, 50);
    assert_int_equal(sim_server_counts(setup.server)->garbage, 50);
    assert_int_equal(sim_server_counts(setup.server)->events, 50);
    assert_non_null(strstr(setup.recorder.body.data, "<html>\n"));
    assert_ended(&setup, KI_REASON_NONE);
    sim_setup_fini(&setup);
}

static void sim_faults_send_an_error_in_the_stream(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 1, with_faults((sim_faults){.error_event = 1}));
    ask_watch(&setup, 5);
    assert_ended(&setup, KI_REASON_NONE);
    json_t *event = sim_recorder_document(&setup.recorder);
    assert_string_equal(json_string_value(json_object_get(event, "type")), "ERROR");
    json_decref(event);
    sim_setup_fini(&setup);
}

static void sim_faults_send_malformed_and_huge_objects(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 1, (sim_server_options){.faults = {.malformed_item = 1}});
    ask_list(&setup);
    json_t *list = sim_recorder_document(&setup.recorder);
    const json_t *item = json_array_get(json_object_get(list, "items"), 0);
    assert_true(json_is_integer(json_object_get(json_object_get(item, "metadata"), "uid")));
    json_decref(list);
    sim_server_set_faults(setup.server, &(sim_faults){.huge_item = 1});
    ask_watch(&setup, 1);
    assert_true(setup.recorder.body.len > SIM_HUGE_BYTES);
    json_decref(sim_recorder_document(&setup.recorder));
    sim_setup_fini(&setup);
}

/* ---- the client's side ------------------------------------------------------------------------------- */

static void sim_server_sends_nothing_to_a_paused_client(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 1, with_faults((sim_faults){0}));
    setup.recorder.pauses = 1;
    ask_list(&setup);
    size_t pieces = 1;
    for (; !setup.recorder.ends; pieces++) {
        assert_int_equal(setup.recorder.pieces, pieces);
        assert_int_equal(sim_server_next_ns(setup.server), UINT64_MAX);
        sim_recorder_resume(&setup.recorder);
        sim_setup_run(&setup, 1);
    }
    json_decref(sim_recorder_document(&setup.recorder));
    assert_true(pieces > 10);
    sim_setup_fini(&setup);
}

static void sim_server_can_be_cancelled_while_it_delivers_a_piece(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 1, with_faults((sim_faults){0}));
    setup.recorder.cancels_after = 3;
    ask_list(&setup);
    assert_int_equal(setup.recorder.cancelled, 1);
    assert_int_equal(setup.recorder.pieces, 3);
    assert_int_equal(sim_server_open_count(setup.server), 0);
    sim_setup_fini(&setup);
}

static void sim_server_delivers_some_data_at_once_when_eager(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 1, with_faults((sim_faults){.eager = 1}));
    sim_recorder_ask(&setup.recorder, setup.server, &(ki_list_options){0});
    assert_int_equal(setup.recorder.heads, 1);
    sim_setup_run(&setup, 1);
    json_decref(sim_recorder_document(&setup.recorder));
    setup.recorder.cancels_after = 1;
    for (int i = 0; i < 20; i++)
        ask_list(&setup);
    setup.recorder.cancels_after = 0;
    setup.recorder.pauses = 1;
    ask_list(&setup);
    size_t pieces = setup.recorder.pieces;
    sim_recorder_resume(&setup.recorder);
    assert_int_equal(setup.recorder.pieces, pieces + 1);
    sim_setup_fini(&setup);
}

static void sim_server_counts_misuse_by_a_client(void **state)
{
    (void)state;
    sim_setup setup;
    sim_setup_init(&setup, 1, with_faults((sim_faults){0}));
    ask_list(&setup);
    sim_recorder_cancel(&setup.recorder);
    assert_int_equal(sim_server_counts(setup.server)->misuse, 1);
    sim_recorder_fini(&setup.recorder);
    sim_server_free(setup.server);
    sim_world_free(setup.world);
}

static void sim_server_answers_several_clients_at_the_same_time(void **state)
{
    (void)state;
    sim_setup setup;
    sim_recorder others[5] = {0};
    sim_setup_init(&setup, 1, with_faults((sim_faults){0}));
    for (size_t i = 0; i < 5; i++)
        sim_recorder_ask(&others[i], setup.server, &(ki_list_options){.limit = i});
    sim_setup_run(&setup, 60);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(others[i].ends, 1);
        json_t *list = sim_recorder_document(&others[i]);
        size_t wanted = i == 0 ? sim_world_count(setup.world) : i;
        assert_int_equal(json_array_size(json_object_get(list, "items")), wanted);
        json_decref(list);
        sim_recorder_fini(&others[i]);
    }
    sim_setup_fini(&setup);
}

static void sim_server_cuts_all_connections_at_once(void **state)
{
    (void)state;
    sim_setup setup;
    sim_recorder others[3] = {0};
    sim_setup_init(&setup, 1, with_faults((sim_faults){0}));
    for (size_t i = 0; i < 3; i++)
        sim_recorder_ask(&others[i], setup.server, &(ki_list_options){0});
    sim_server_cut_all(setup.server);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(others[i].reason, KI_REASON_CONNECTION_LOST);
    assert_int_equal(sim_server_open_count(setup.server), 0);
    sim_setup_fini(&setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sim_faults_refuse_a_connection),
        cmocka_unit_test(sim_faults_fail_to_begin),
        cmocka_unit_test(sim_faults_answer_with_500_and_429),
        cmocka_unit_test(sim_faults_answer_with_an_empty_body),
        cmocka_unit_test(sim_faults_cut_a_list_at_any_position),
        cmocka_unit_test(sim_faults_stall_until_cancelled),
        cmocka_unit_test(sim_faults_list_an_older_version_than_requested),
        cmocka_unit_test(sim_faults_ignore_the_limit),
        cmocka_unit_test(sim_faults_refuse_a_watch_list),
        cmocka_unit_test(sim_faults_never_end_the_initial_events_of_a_watch),
        cmocka_unit_test(sim_server_breaks_one_kind_of_request_until_told_otherwise),
        cmocka_unit_test(sim_server_sends_meaningless_events_until_told_otherwise),
        cmocka_unit_test(sim_faults_continue_the_last_page_at_the_first),
        cmocka_unit_test(sim_faults_end_a_watch_after_a_few_events),
        cmocka_unit_test(sim_faults_cut_between_events),
        cmocka_unit_test(sim_faults_cut_inside_an_event),
        cmocka_unit_test(sim_faults_repeat_events),
        cmocka_unit_test(sim_faults_send_malformed_events),
        cmocka_unit_test(sim_faults_send_unreadable_bytes),
        cmocka_unit_test(sim_faults_send_an_error_in_the_stream),
        cmocka_unit_test(sim_faults_send_malformed_and_huge_objects),
        cmocka_unit_test(sim_server_sends_nothing_to_a_paused_client),
        cmocka_unit_test(sim_server_can_be_cancelled_while_it_delivers_a_piece),
        cmocka_unit_test(sim_server_delivers_some_data_at_once_when_eager),
        cmocka_unit_test(sim_server_counts_misuse_by_a_client),
        cmocka_unit_test(sim_server_answers_several_clients_at_the_same_time),
        cmocka_unit_test(sim_server_cuts_all_connections_at_once),
    };
    return RUN_TESTS(tests);
}
