/* SPDX-License-Identifier: Apache-2.0 */
/* The life of an event recorder: when it may be freed, what it sends then, and what it refuses. */
#include <kinformer.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flow/support/recorder_rig.h"
#include "support/apiserver/api_rig.h"
#include "support/exposition.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/units.h"

static void a_free_sends_waiting_events(void **state)
{
    (void)state;
    for (int mode = KI_MODE_THREADS; mode <= KI_MODE_EVENT_LOOP; mode++) {
        recorder_rig r;
        recorder_rig_init(&r, mode, KI_RECORDER_CORE_V1);
        for (int i = 0; i < 20; i++)
            assert_int_equal(recorder_rig_say(&r, "Synced", "ok"), 0);
        ki_recorder_free(r.recorder);
        r.recorder = NULL;
        api_answer all = recorder_rig_list(&r, CORE_EVENTS, 1);
        assert_int_equal(recorder_rig_number(&all, "items.0.count"), 20);
        api_answer_fini(&all);
        recorder_rig_fini(&r);
    }
}

/* If the free does not return, the test hangs. */
static void a_free_does_not_wait_for_a_server_that_is_silent_or_down(void **state)
{
    (void)state;
    for (int mode = KI_MODE_THREADS; mode <= KI_MODE_EVENT_LOOP; mode++) {
        recorder_rig r;
        recorder_rig_init_with(&r, mode, (ki_recorder_options){.free_timeout_ms = 100});
        assert_int_equal(
            ki_apiserver_fault(r.server, &(ki_fault){.on = KI_FAULT_WRITE, .action = KI_FAULT_STALL}, NULL),
            0);
        assert_int_equal(recorder_rig_say(&r, "Synced", "ok"), 0);
        assert_int_equal(recorder_rig_say(&r, "Synced", "ok"), 0);
        recorder_rig_fini(&r);
        recorder_rig_init_with(&r, mode, (ki_recorder_options){.free_timeout_ms = HANG_MS});
        ki_apiserver_down(r.server);
        for (int i = 0; i < 20; i++)
            assert_int_equal(recorder_rig_say(&r, "Synced", "ok"), 0);
        recorder_rig_fini(&r);
    }
}

static void a_free_tries_once_when_there_is_no_response(void **state)
{
    (void)state;
    recorder_rig r;
    recorder_rig_init_with(&r, KI_MODE_THREADS, (ki_recorder_options){.free_timeout_ms = HANG_MS});
    assert_int_equal(
        ki_apiserver_fault(r.server, &(ki_fault){.on = KI_FAULT_WRITE, .action = KI_FAULT_RESET}, NULL), 0);
    for (int i = 0; i < 20; i++)
        assert_int_equal(recorder_rig_say(&r, "Synced", "ok"), 0);
    while (recorder_rig_requests(&r).posts == 0)
        recorder_rig_turn(&r);
    ki_recorder_free(r.recorder);
    r.recorder = NULL;
    assert_in_range(recorder_rig_requests(&r).posts, 1, 4); /* 1: the first one was still in progress */
    assert_int_equal(recorder_rig_requests(&r).patches, 0);
    recorder_rig_fini(&r);
}

static void a_recorder_records_nothing_after_its_client_was_freed(void **state)
{
    (void)state;
    for (int mode = KI_MODE_THREADS; mode <= KI_MODE_EVENT_LOOP; mode++) {
        recorder_rig r;
        recorder_rig_init(&r, mode, KI_RECORDER_EVENTS_V1);
        assert_int_equal(
            ki_apiserver_fault(r.server, &(ki_fault){.on = KI_FAULT_WRITE, .action = KI_FAULT_STALL}, NULL),
            0);
        for (int i = 0; i < 3; i++)
            assert_int_equal(recorder_rig_say(&r, "Synced", "ok"), 0);
        ki_client_free(r.client);
        r.client = NULL;
        ki_recorder_stats s = recorder_rig_stats(&r);
        assert_int_equal(s.dropped_stopped, 3);
        assert_int_equal(s.queued, 0);
        assert_int_equal(recorder_rig_say(&r, "Synced", "ok"), KI_ERR_STOPPED);
        assert_int_equal(recorder_rig_stats(&r).dropped_stopped, 4);
        assert_int_equal(ki_recorder_flush(r.recorder, HANG_MS), 0);
        recorder_rig_fini(&r);
    }
}

typedef struct inside {
    recorder_rig *r;
    _Atomic int called;
    int recorded, flushed;
} inside;

static void record_and_free(const ki_rest_answer *answer, void *user)
{
    inside *i = user;
    (void)answer;
    i->recorded = recorder_rig_say(i->r, "Synced", "ok");
    i->flushed = ki_recorder_flush(i->r->recorder, 1000);
    ki_recorder_free(i->r->recorder);
    i->called = 1;
}

static void callbacks_may_record_and_free(void **state)
{
    (void)state;
    for (int mode = KI_MODE_THREADS; mode <= KI_MODE_EVENT_LOOP; mode++) {
        recorder_rig r;
        recorder_rig_init(&r, mode, KI_RECORDER_CORE_V1);
        inside i = {.r = &r};
        assert_int_equal(ki_rest_begin(r.client,
                                       &(ki_rest_request){.verb = KI_REST_GET,
                                                          .path = "/version",
                                                          .on_answer = record_and_free,
                                                          .user = &i},
                                       NULL, NULL),
                         0);
        while (!i.called || recorder_rig_requests(&r).posts == 0)
            recorder_rig_turn(&r);
        assert_int_equal(i.recorded, 0);
        assert_int_equal(i.flushed, KI_ERR_WOULD_DEADLOCK);
        r.recorder = NULL;
        recorder_rig_fini(&r);
    }
}

static void events_can_be_recorded_inside_a_read_section(void **state)
{
    (void)state;
    recorder_rig r;
    recorder_rig_init(&r, KI_MODE_EVENT_LOOP, KI_RECORDER_CORE_V1);
    ki_read_lock();
    assert_int_equal(recorder_rig_say(&r, "Synced", "ok"), 0);
    assert_int_equal(ki_recorder_flush(r.recorder, 1000), KI_ERR_WOULD_DEADLOCK);
    ki_read_unlock();
    recorder_rig_flush(&r);
    assert_int_equal(recorder_rig_stats(&r).created, 1);
    recorder_rig_fini(&r);
}

static void a_forked_child_records_nothing(void **state)
{
    (void)state;
    recorder_rig r;
    recorder_rig_init(&r, KI_MODE_THREADS, KI_RECORDER_CORE_V1);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        ki_recorder_stats s = {.recorded = 1};
        int rc = recorder_rig_say(&r, "Synced", "ok") == KI_ERR_FORKED &&
                 ki_recorder_flush(r.recorder, 1) == KI_ERR_FORKED &&
                 ki_recorder_new(r.client, &(ki_recorder_options){.component = "x"}, NULL) == NULL;
        ki_recorder_read_stats(r.recorder, &s);
        ki_recorder_free(r.recorder);
        _exit(rc && s.recorded == 0 ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(recorder_rig_say(&r, "Synced", "ok"), 0);
    recorder_rig_flush(&r);
    assert_int_equal(recorder_rig_stats(&r).created, 1);
    recorder_rig_fini(&r);
}

static void the_metrics_show_the_results_of_events(void **state)
{
    (void)state;
    recorder_rig r;
    recorder_rig_init(&r, KI_MODE_THREADS, KI_RECORDER_CORE_V1);
    for (int i = 0; i < 30; i++)
        assert_int_equal(recorder_rig_say(&r, "Synced", "ok"), 0);
    recorder_rig_flush(&r);
    assert_true(exposition_has(ki_client_metrics(r.client),
                               "event_recorder_events_total{name=\"tester\",result=\"created\"} 1\n"));
    assert_true(exposition_has(ki_client_metrics(r.client),
                               "event_recorder_events_total{name=\"tester\",result=\"patched\"} 24\n"));
    assert_true(exposition_has(ki_client_metrics(r.client),
                               "event_recorder_events_total{name=\"tester\",result=\"spam\"} 5\n"));
    assert_true(exposition_has(ki_client_metrics(r.client), "event_recorder_queued{name=\"tester\"} 0\n"));
    recorder_rig_fini(&r);
}

static void invalid_events_are_refused(void **state)
{
    (void)state;
    recorder_rig r;
    recorder_rig_init(&r, KI_MODE_THREADS, KI_RECORDER_CORE_V1);
    assert_int_equal(ki_recorder_event(NULL, r.pod, KI_RECORD_NORMAL, "R", NULL, "m"), KI_ERR_INVALID);
    assert_int_equal(ki_recorder_event(r.recorder, NULL, KI_RECORD_NORMAL, "R", NULL, "m"), KI_ERR_INVALID);
    assert_int_equal(ki_recorder_event(r.recorder, r.pod, KI_RECORD_NORMAL, NULL, NULL, "m"), KI_ERR_INVALID);
    assert_int_equal(ki_recorder_event(r.recorder, r.pod, KI_RECORD_NORMAL, "", NULL, "m"), KI_ERR_INVALID);
    assert_int_equal(ki_recorder_event(r.recorder, r.pod, KI_RECORD_NORMAL, "R", NULL, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_recorder_record(r.recorder, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_recorder_flush(NULL, 0), KI_ERR_INVALID);
    assert_int_equal(recorder_rig_stats(&r).recorded, 0);
    ki_recorder_free(NULL);
    recorder_rig_fini(&r);
}

static void bad_options_are_named(void **state)
{
    (void)state;
    ki_client *client = ki_client_new(&(ki_client_options){.server = "http://127.0.0.1:1"}, NULL);
    ki_client *nowhere = ki_client_new(&(ki_client_options){.no_cluster = 1}, NULL);
    static const struct {
        ki_recorder_options options;
        const char *said;
    } cases[] = {
        {{.component = NULL}, "no component"},
        {{.component = ""}, "no component"},
        {{.component = "a\nb"}, "printable"},
        {{.component = "a", .instance = "\xff"}, "printable"},
        {{.component = "a", .api = 2}, "api 2"},
        {{.component = "my controller", .api = KI_RECORDER_EVENTS_V1}, "qualified"},
        {{.component = "/a", .api = KI_RECORDER_EVENTS_V1}, "qualified"},
        {{.component = "a/", .api = KI_RECORDER_EVENTS_V1}, "qualified"},
        {{.component = "a/b/c", .api = KI_RECORDER_EVENTS_V1}, "qualified"},
        {{.component = "Example.com/x", .api = KI_RECORDER_EVENTS_V1}, "qualified"},
        {{.component = "a..b/x", .api = KI_RECORDER_EVENTS_V1}, "qualified"},
        {{.component = "-a/x", .api = KI_RECORDER_EVENTS_V1}, "qualified"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_error err = {0};
        assert_null(ki_recorder_new(client, &cases[i].options, &err));
        assert_int_equal(err.code, KI_ERR_INVALID);
        assert_non_null(strstr(err.message, cases[i].said));
    }
    ki_error err = {0};
    assert_null(ki_recorder_new(nowhere, &(ki_recorder_options){.component = "a"}, &err));
    assert_non_null(strstr(err.message, "cluster"));
    assert_null(ki_recorder_new(NULL, NULL, NULL));
    ki_client_free(client);
    ki_client_free(nowhere);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_sends_waiting_events),
        cmocka_unit_test(a_free_does_not_wait_for_a_server_that_is_silent_or_down),
        cmocka_unit_test(a_free_tries_once_when_there_is_no_response),
        cmocka_unit_test(a_recorder_records_nothing_after_its_client_was_freed),
        cmocka_unit_test(callbacks_may_record_and_free),
        cmocka_unit_test(events_can_be_recorded_inside_a_read_section),
        cmocka_unit_test(a_forked_child_records_nothing),
        cmocka_unit_test(the_metrics_show_the_results_of_events),
        cmocka_unit_test(invalid_events_are_refused),
        cmocka_unit_test(bad_options_are_named),
    };
    return RUN_TESTS(tests);
}
