/* SPDX-License-Identifier: Apache-2.0 */
/* The event recorder over real sockets, against the embedded API server. */
#include <kinformer.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/client.h"
#include "flow/support/recorder_rig.h"
#include "support/apiserver/api_rig.h"
#include "support/controller/event_make.h"
#include "support/exposition.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/units.h"

/* ---- requests ------------------------------------------------------------------------------------------ */

static void events_of_the_core_api_are_created_and_counted(void **state)
{
    (void)state;
    for (int mode = KI_MODE_THREADS; mode <= KI_MODE_EVENT_LOOP; mode++) {
        recorder_rig r;
        recorder_rig_init(&r, mode, KI_RECORDER_CORE_V1);
        for (int i = 0; i < 3; i++)
            assert_int_equal(recorder_rig_say(&r, "Synced", "all \"well\" \xff"), 0);
        assert_int_equal(
            ki_recorder_event(r.recorder, r.pod, KI_RECORD_WARNING, "Failed", NULL, "%d of %s", 3, "four"),
            0);
        recorder_rig_flush(&r);
        ki_recorder_stats s = recorder_rig_stats(&r);
        assert_int_equal(s.created, 2);
        assert_int_equal(s.patched, 2);
        api_answer all = recorder_rig_list(&r, CORE_EVENTS, 2);
        assert_string_equal(api_text(&all, "items.0.message"), "all \"well\" ?");
        assert_string_equal(api_text(&all, "items.0.involvedObject.name"), "web");
        assert_string_equal(api_text(&all, "items.0.involvedObject.uid"), "uid-web");
        assert_string_equal(api_text(&all, "items.0.source.component"), "tester");
        assert_int_equal(recorder_rig_number(&all, "items.0.count"), 3);
        assert_string_equal(api_text(&all, "items.1.type"), "Warning");
        assert_string_equal(api_text(&all, "items.1.message"), "3 of four");
        assert_int_equal(recorder_rig_number(&all, "items.1.count"), 1);
        api_answer_fini(&all);
        recorder_rig_writes t = recorder_rig_requests(&r);
        assert_int_equal(t.posts, 2);
        assert_int_equal(t.patches, 2);
        recorder_rig_fini(&r);
    }
}

static void repeated_events_of_events_k8s_io_are_a_series(void **state)
{
    (void)state;
    for (int mode = KI_MODE_THREADS; mode <= KI_MODE_EVENT_LOOP; mode++) {
        recorder_rig r;
        recorder_rig_init(&r, mode, KI_RECORDER_EVENTS_V1);
        for (int i = 0; i < 10; i++)
            assert_int_equal(
                ki_recorder_event(r.recorder, r.pod, KI_RECORD_NORMAL, "Synced", "Syncing", "note %d", i), 0);
        recorder_rig_flush(&r);
        ki_recorder_stats s = recorder_rig_stats(&r);
        assert_int_equal(s.created, 1);
        assert_int_equal(s.patched, 1);
        assert_int_equal(s.counted, 8);
        api_answer all = recorder_rig_list(&r, EVENTS, 1);
        assert_string_equal(api_text(&all, "items.0.note"), "note 0");
        assert_string_equal(api_text(&all, "items.0.action"), "Syncing");
        assert_string_equal(api_text(&all, "items.0.reportingController"), "tester");
        assert_int_equal(strncmp(api_text(&all, "items.0.reportingInstance"), "tester-", 7), 0);
        assert_int_equal(recorder_rig_number(&all, "items.0.series.count"), 2);
        api_answer_fini(&all);
        ki_recorder_free(r.recorder); /* writes the last count */
        r.recorder = NULL;
        all = recorder_rig_list(&r, EVENTS, 1);
        assert_int_equal(recorder_rig_number(&all, "items.0.series.count"), 10);
        api_answer_fini(&all);
        assert_int_equal(recorder_rig_requests(&r).patches, 2);
        recorder_rig_fini(&r);
    }
}

static void similar_events_are_combined_and_spam_is_not_sent(void **state)
{
    (void)state;
    recorder_rig r;
    char message[32];
    recorder_rig_init(&r, KI_MODE_THREADS, KI_RECORDER_CORE_V1);
    for (int i = 0; i < 40; i++) {
        snprintf(message, sizeof(message), "message %d", i);
        assert_int_equal(recorder_rig_say(&r, "Failed", message), 0);
    }
    recorder_rig_flush(&r);
    ki_recorder_stats s = recorder_rig_stats(&r);
    assert_int_equal(s.created, 10);
    assert_int_equal(s.patched, 15);
    assert_int_equal(s.dropped_spam, 15);
    api_answer all = recorder_rig_list(&r, CORE_EVENTS, 10);
    assert_string_equal(api_text(&all, "items.9.message"), "(combined from similar events): message 24");
    assert_int_equal(recorder_rig_number(&all, "items.9.count"), 16);
    api_answer_fini(&all);
    recorder_rig_writes t = recorder_rig_requests(&r);
    assert_int_equal(t.posts + t.patches, 25);
    recorder_rig_fini(&r);
}

static void an_event_that_the_server_has_lost_is_created_again(void **state)
{
    (void)state;
    for (int api = KI_RECORDER_CORE_V1; api <= KI_RECORDER_EVENTS_V1; api++) {
        bool is_core = api == KI_RECORDER_CORE_V1;
        const char *path = is_core ? CORE_EVENTS : EVENTS;
        recorder_rig r;
        char name[300];
        recorder_rig_init(&r, KI_MODE_THREADS, api);
        assert_int_equal(recorder_rig_say(&r, "Synced", "ok"), 0);
        recorder_rig_flush(&r);
        api_answer all = recorder_rig_list(&r, path, 1);
        snprintf(name, sizeof(name), "%s", api_text(&all, "items.0.metadata.name"));
        api_answer_fini(&all);
        assert_int_equal(ki_apiserver_delete(r.server, &KI_CORE_V1_EVENTS, "default", name, NULL), 0);
        assert_int_equal(recorder_rig_say(&r, "Synced", "ok"), 0);
        recorder_rig_flush(&r);
        all = recorder_rig_list(&r, path, 1);
        assert_string_equal(api_text(&all, "items.0.metadata.name"), name);
        assert_int_equal(recorder_rig_number(&all, is_core ? "items.0.count" : "items.0.series.count"), 2);
        api_answer_fini(&all);
        assert_int_equal(recorder_rig_stats(&r).created, 2);
        recorder_rig_fini(&r);
    }
}

static void texts_of_any_length_and_any_object_are_accepted(void **state)
{
    (void)state;
    static char text[20000];
    memset(text, 'x', sizeof(text) - 1);
    for (int api = KI_RECORDER_CORE_V1; api <= KI_RECORDER_EVENTS_V1; api++) {
        recorder_rig r;
        recorder_rig_init(&r, KI_MODE_THREADS, api);
        ki_object *role = ki_object_new(&KI_RBAC_V1_CLUSTERROLES,
                                        KI_STR("{\"metadata\":{\"name\":\"system:node\"}}"), NULL, NULL);
        assert_non_null(role);
        assert_int_equal(ki_recorder_event(r.recorder, role, KI_RECORD_NORMAL, text, text, "%s", text), 0);
        recorder_rig_flush(&r);
        bool is_core = api == KI_RECORDER_CORE_V1;
        api_answer all = recorder_rig_list(&r, is_core ? CORE_EVENTS : EVENTS, 1);
        const char *message = api_text(&all, is_core ? "items.0.message" : "items.0.note");
        assert_int_equal(strlen(message), is_core ? 8192 : 1024);
        assert_int_equal(strlen(api_text(&all, "items.0.reason")), 128);
        api_answer_fini(&all);
        assert_int_equal(ki_recorder_record(r.recorder, &(ki_record){.object = role,
                                                                     .related = r.pod,
                                                                     .reason = KI_STR("R"),
                                                                     .message = {text, sizeof(text)}}),
                         0);
        recorder_rig_flush(&r);
        assert_int_equal(recorder_rig_stats(&r).created, 2);
        ki_object_unref(role);
        recorder_rig_fini(&r);
    }
}

/* ---- faults -------------------------------------------------------------------------------------------- */

static void an_event_that_is_refused_is_dropped_and_the_next_is_sent(void **state)
{
    (void)state;
    static const uint32_t codes[] = {500, 403, 422, 503};
    recorder_rig r;
    recorder_rig_init(&r, KI_MODE_THREADS, KI_RECORDER_CORE_V1);
    for (size_t i = 0; i < 4; i++) {
        char reason[16];
        snprintf(reason, sizeof(reason), "R%zu", i);
        assert_int_equal(ki_apiserver_fault(r.server,
                                            &(ki_fault){.on = KI_FAULT_WRITE,
                                                        .action = KI_FAULT_STATUS,
                                                        .http_status = codes[i],
                                                        .times = 1},
                                            NULL),
                         0);
        assert_int_equal(recorder_rig_say(&r, reason, "m"), 0);
        recorder_rig_flush(&r);
    }
    assert_int_equal(recorder_rig_say(&r, "Synced", "ok"), 0);
    recorder_rig_flush(&r);
    ki_recorder_stats s = recorder_rig_stats(&r);
    assert_int_equal(s.dropped_refused, 4);
    assert_int_equal(s.created, 1);
    assert_int_equal(s.retries, 0);
    assert_int_equal(recorder_rig_requests(&r).posts, 5);
    recorder_rig_fini(&r);
}

static void retry_after_is_respected(void **state)
{
    (void)state;
    recorder_rig r;
    recorder_rig_init(&r, KI_MODE_THREADS, KI_RECORDER_CORE_V1);
    ki_client_free(r.client);
    ki_recorder_free(r.recorder);
    r.client = ki_client_new(
        &(ki_client_options){.server = ki_apiserver_url(r.server), .request_retries_max = -1}, NULL);
    r.recorder = ki_recorder_new(r.client, &(ki_recorder_options){.component = "tester"}, NULL);
    assert_non_null(r.recorder);
    assert_int_equal(ki_apiserver_fault(r.server,
                                        &(ki_fault){.on = KI_FAULT_WRITE,
                                                    .action = KI_FAULT_STATUS,
                                                    .http_status = 429,
                                                    .retry_after_seconds = 1,
                                                    .times = 1},
                                        NULL),
                     0);
    assert_int_equal(recorder_rig_say(&r, "Synced", "ok"), 0);
    recorder_rig_flush(&r);
    assert_int_equal(recorder_rig_stats(&r).created, 1);
    assert_int_equal(recorder_rig_requests(&r).posts, 2);
    recorder_rig_fini(&r);
}

static int refuse(const ki_write *write, ki_error *why, void *user)
{
    (void)write;
    (void)why;
    (void)user;
    return 1;
}

static void an_event_that_a_write_gate_refuses_is_dropped(void **state)
{
    (void)state;
    recorder_rig r;
    recorder_rig_init(&r, KI_MODE_THREADS, KI_RECORDER_CORE_V1);
    assert_int_equal(ki_client_set_write_gate(r.client, refuse, NULL), 0);
    assert_int_equal(recorder_rig_say(&r, "Synced", "ok"), 0);
    recorder_rig_flush(&r);
    assert_int_equal(recorder_rig_stats(&r).dropped_refused, 1);
    assert_int_equal(ki_client_set_write_gate(r.client, NULL, NULL), 0);
    assert_int_equal(recorder_rig_say(&r, "Synced", "ok"), 0); /* a patch of an event that does not exist */
    recorder_rig_flush(&r);
    assert_int_equal(recorder_rig_stats(&r).created, 1);
    recorder_rig_fini(&r);
}

/* A retry comes after up to 10 s, which pass as fast as the test advances the clock. */
static void begin_in_virtual_time(recorder_rig *r, ki_clock *clock)
{
    ki_error err = {0};
    ki_config config = {0};
    ki_clock_init_virtual(clock, ki_ns_of_ms(3600 * 1000), INT64_C(1700000000) * KI_NS_PER_S);
    r->server = api_rig_start(NULL);
    config.server = (char *)(uintptr_t)ki_apiserver_url(r->server);
    r->client = ki_client_new_simulated(&(ki_client_options){.mode = KI_MODE_EVENT_LOOP, .no_cluster = 1},
                                        clock, 0, &err);
    assert_non_null(r->client);
    assert_int_equal(ki_client_connect(r->client, &config, NULL, &err), 0);
    r->recorder = ki_recorder_new(r->client, &(ki_recorder_options){.component = "tester"}, &err);
    assert_non_null(r->recorder);
    r->pod = event_make_pod("web", "1");
}

/* The clock advances so slowly that no request, which takes real time, reaches its timeout. */
static void flush_in_virtual_time(recorder_rig *r, ki_clock *clock)
{
    for (int i = 0; recorder_rig_stats(r).queued > 0; i++) {
        assert_true(i < HANG_MS);
        ki_clock_advance_ms(clock, 250);
        recorder_rig_turn(r);
    }
}

static void a_server_that_recovers_gets_every_event_once(void **state)
{
    (void)state;
    recorder_rig r;
    ki_clock clock;
    begin_in_virtual_time(&r, &clock);
    ki_apiserver_down(r.server);
    for (int i = 0; i < 20; i++) {
        char reason[16];
        snprintf(reason, sizeof(reason), "R%d", i);
        assert_int_equal(recorder_rig_say(&r, reason, "m"), 0);
    }
    for (int i = 0; recorder_rig_stats(&r).retries < 2; i++) {
        assert_true(i < HANG_MS);
        ki_clock_advance_ms(&clock, 250);
        recorder_rig_turn(&r);
    }
    assert_int_equal(recorder_rig_stats(&r).queued, 20);
    assert_int_equal(ki_apiserver_up(r.server, NULL), 0);
    flush_in_virtual_time(&r, &clock);
    ki_recorder_stats s = recorder_rig_stats(&r);
    assert_int_equal(s.created, 20);
    api_answer all = recorder_rig_list(&r, CORE_EVENTS, 20);
    api_answer_fini(&all);
    assert_int_equal(recorder_rig_requests(&r).posts, 20);
    recorder_rig_fini(&r);
}

static void a_reset_connection_creates_no_second_event(void **state)
{
    (void)state;
    recorder_rig r;
    ki_clock clock;
    begin_in_virtual_time(&r, &clock);
    assert_int_equal(
        ki_apiserver_fault(r.server, &(ki_fault){.on = KI_FAULT_WRITE, .action = KI_FAULT_RESET, .times = 1},
                           NULL),
        0);
    assert_int_equal(recorder_rig_say(&r, "Synced", "ok"), 0);
    flush_in_virtual_time(&r, &clock);
    assert_int_equal(recorder_rig_stats(&r).created, 1);
    assert_int_equal(recorder_rig_stats(&r).retries, 1);
    api_answer all = recorder_rig_list(&r, CORE_EVENTS, 1);
    api_answer_fini(&all);
    recorder_rig_writes t = recorder_rig_requests(&r);
    assert_int_equal(t.posts, 2);
    assert_int_equal(t.unanswered, 1);
    recorder_rig_fini(&r);
}

static atomic_int warnings;

static void count_full(const ki_log_record *record, void *user)
{
    (void)user;
    warnings += strstr(record->message, "is full; more are dropped") != NULL;
}

static void fill_queue(size_t queue_max, size_t expected)
{
    recorder_rig r;
    warnings = 0;
    ki_set_log(count_full, KI_LOG_WARNING, NULL);
    recorder_rig_init_with(&r, KI_MODE_THREADS, (ki_recorder_options){.queue_max = queue_max});
    assert_int_equal(
        ki_apiserver_fault(r.server, &(ki_fault){.on = KI_FAULT_WRITE, .action = KI_FAULT_STALL}, NULL), 0);
    for (size_t i = 0; i < expected; i++)
        assert_int_equal(recorder_rig_say(&r, "Synced", "ok"), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(recorder_rig_say(&r, "Synced", "ok"), KI_ERR_TOO_LARGE);
    assert_int_equal(warnings, 1);
    ki_recorder_stats s = recorder_rig_stats(&r);
    assert_int_equal(s.queued, expected);
    assert_int_equal(s.dropped_queue_full, 3);
    assert_true(exposition_has(ki_client_metrics(r.client),
                               "event_recorder_events_total{name=\"tester\",result=\"queue_full\"} 3\n"));
    ki_apiserver_clear_faults(r.server);
    recorder_rig_flush(&r);
    assert_int_equal(recorder_rig_say(&r, "Synced", "ok"), 0);
    recorder_rig_fini(&r);
    ki_set_log(NULL, KI_LOG_TRACE, NULL);
}

static void a_full_queue_drops_and_counts(void **state)
{
    (void)state;
    fill_queue(5, 5);
    fill_queue(0, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_of_the_core_api_are_created_and_counted),
        cmocka_unit_test(repeated_events_of_events_k8s_io_are_a_series),
        cmocka_unit_test(similar_events_are_combined_and_spam_is_not_sent),
        cmocka_unit_test(an_event_that_the_server_has_lost_is_created_again),
        cmocka_unit_test(texts_of_any_length_and_any_object_are_accepted),
        cmocka_unit_test(an_event_that_is_refused_is_dropped_and_the_next_is_sent),
        cmocka_unit_test(retry_after_is_respected),
        cmocka_unit_test(an_event_that_a_write_gate_refuses_is_dropped),
        cmocka_unit_test(a_server_that_recovers_gets_every_event_once),
        cmocka_unit_test(a_reset_connection_creates_no_second_event),
        cmocka_unit_test(a_full_queue_drops_and_counts),
    };
    return RUN_TESTS(tests);
}
