/* SPDX-License-Identifier: Apache-2.0 */
/* The event recorder over real sockets, against the embedded API server. */
#include <kinformer.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/client.h"
#include "support/api_rig.h"
#include "support/event_make.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/units.h"

#define CORE_EVENTS "/api/v1/namespaces/default/events"
#define EVENTS "/apis/events.k8s.io/v1/namespaces/default/events"

typedef struct rig {
    ki_apiserver *server;
    ki_client *client;
    ki_recorder *recorder;
    ki_object *pod;
} rig;

static void begin_with(rig *r, int mode, ki_recorder_options options)
{
    ki_error err = {0};
    r->server = api_rig_start(NULL);
    r->client = ki_client_new(
        &(ki_client_options){.server = ki_apiserver_url(r->server), .mode = (ki_mode)mode}, &err);
    assert_non_null(r->client);
    options.component = "tester";
    r->recorder = ki_recorder_new(r->client, &options, &err);
    assert_non_null(r->recorder);
    r->pod = event_make_pod("web", "1");
}

static void begin(rig *r, int mode, int api)
{
    begin_with(r, mode, (ki_recorder_options){.api = (ki_recorder_api)api});
}

/* What was not freed already. */
static void end(rig *r)
{
    ki_recorder_free(r->recorder);
    ki_client_free(r->client);
    ki_apiserver_free(r->server);
    ki_object_unref(r->pod);
}

static ki_recorder_stats stats_of(const rig *r)
{
    ki_recorder_stats s;
    ki_recorder_read_stats(r->recorder, &s);
    assert_int_equal(s.recorded, s.created + s.patched + s.counted + s.dropped_queue_full +
                                     s.dropped_no_memory + s.dropped_spam + s.dropped_refused +
                                     s.dropped_no_answer + s.dropped_stopped + s.queued);
    return s;
}

static void flush(const rig *r)
{
    assert_int_equal(ki_recorder_flush(r->recorder, HANG_MS), 0);
}

static int say(const rig *r, const char *reason, const char *message)
{
    return ki_recorder_event(r->recorder, r->pod, KI_RECORD_NORMAL, reason, NULL, "%s", message);
}

typedef struct tally {
    int posts, patches, others, unanswered;
} tally;

static void count(const ki_apiserver_request *request, void *user)
{
    tally *t = user;
    if (strcmp(request->resource, "events") != 0 || strcmp(request->method, "GET") == 0)
        return;
    t->posts += strcmp(request->method, "POST") == 0;
    t->patches += strcmp(request->method, "PATCH") == 0;
    t->others += strcmp(request->method, "POST") != 0 && strcmp(request->method, "PATCH") != 0;
    t->unanswered += request->http_status == 0;
}

/* Writes of events. */
static tally requests_of(const rig *r)
{
    tally t = {0};
    (void)ki_apiserver_requests(r->server, 0, count, &t);
    assert_int_equal(t.others, 0);
    return t;
}

static api_answer list(const rig *r, const char *path, size_t count_wanted)
{
    api_answer answer = api_get(r->server, path);
    assert_int_equal(answer.status, 200);
    assert_int_equal(json_array_size(api_at(answer.tree, "items")), count_wanted);
    return answer;
}

static int64_t number_at(const api_answer *answer, const char *path)
{
    return json_integer_value(api_at(answer->tree, path));
}

static void turn(rig *r)
{
    struct pollfd fd = {.fd = ki_client_fd(r->client), .events = POLLIN};
    (void)poll(&fd, fd.fd >= 0, fd.fd >= 0 ? 20 : 2);
    if (fd.fd >= 0)
        assert_true(ki_client_dispatch(r->client, KI_BUDGET_NONE) >= 0);
}

/* ---- what is sent -------------------------------------------------------------------------------------- */

static void events_of_the_core_api_are_created_and_counted(void **state)
{
    (void)state;
    for (int mode = KI_MODE_THREADS; mode <= KI_MODE_EVENT_LOOP; mode++) {
        rig r;
        begin(&r, mode, KI_RECORDER_CORE_V1);
        for (int i = 0; i < 3; i++)
            assert_int_equal(say(&r, "Synced", "all \"well\" \xff"), 0);
        assert_int_equal(
            ki_recorder_event(r.recorder, r.pod, KI_RECORD_WARNING, "Failed", NULL, "%d of %s", 3, "four"),
            0);
        flush(&r);
        ki_recorder_stats s = stats_of(&r);
        assert_int_equal(s.created, 2);
        assert_int_equal(s.patched, 2);
        api_answer all = list(&r, CORE_EVENTS, 2);
        assert_string_equal(api_text(&all, "items.0.message"), "all \"well\" ?");
        assert_string_equal(api_text(&all, "items.0.involvedObject.name"), "web");
        assert_string_equal(api_text(&all, "items.0.involvedObject.uid"), "uid-web");
        assert_string_equal(api_text(&all, "items.0.source.component"), "tester");
        assert_int_equal(number_at(&all, "items.0.count"), 3);
        assert_string_equal(api_text(&all, "items.1.type"), "Warning");
        assert_string_equal(api_text(&all, "items.1.message"), "3 of four");
        assert_int_equal(number_at(&all, "items.1.count"), 1);
        api_answer_fini(&all);
        tally t = requests_of(&r);
        assert_int_equal(t.posts, 2);
        assert_int_equal(t.patches, 2);
        end(&r);
    }
}

static void repeated_events_of_events_k8s_io_are_a_series(void **state)
{
    (void)state;
    for (int mode = KI_MODE_THREADS; mode <= KI_MODE_EVENT_LOOP; mode++) {
        rig r;
        begin(&r, mode, KI_RECORDER_EVENTS_V1);
        for (int i = 0; i < 10; i++)
            assert_int_equal(
                ki_recorder_event(r.recorder, r.pod, KI_RECORD_NORMAL, "Synced", "Syncing", "note %d", i), 0);
        flush(&r);
        ki_recorder_stats s = stats_of(&r);
        assert_int_equal(s.created, 1);
        assert_int_equal(s.patched, 1);
        assert_int_equal(s.counted, 8);
        api_answer all = list(&r, EVENTS, 1);
        assert_string_equal(api_text(&all, "items.0.note"), "note 0");
        assert_string_equal(api_text(&all, "items.0.action"), "Syncing");
        assert_string_equal(api_text(&all, "items.0.reportingController"), "tester");
        assert_int_equal(strncmp(api_text(&all, "items.0.reportingInstance"), "tester-", 7), 0);
        assert_int_equal(number_at(&all, "items.0.series.count"), 2);
        api_answer_fini(&all);
        ki_recorder_free(r.recorder); /* writes the last count */
        r.recorder = NULL;
        all = list(&r, EVENTS, 1);
        assert_int_equal(number_at(&all, "items.0.series.count"), 10);
        api_answer_fini(&all);
        assert_int_equal(requests_of(&r).patches, 2);
        end(&r);
    }
}

static void similar_events_are_combined_and_spam_is_not_sent(void **state)
{
    (void)state;
    rig r;
    char message[32];
    begin(&r, KI_MODE_THREADS, KI_RECORDER_CORE_V1);
    for (int i = 0; i < 40; i++) {
        snprintf(message, sizeof(message), "message %d", i);
        assert_int_equal(say(&r, "Failed", message), 0);
    }
    flush(&r);
    ki_recorder_stats s = stats_of(&r);
    assert_int_equal(s.created, 10);
    assert_int_equal(s.patched, 15);
    assert_int_equal(s.dropped_spam, 15);
    api_answer all = list(&r, CORE_EVENTS, 10);
    assert_string_equal(api_text(&all, "items.9.message"), "(combined from similar events): message 24");
    assert_int_equal(number_at(&all, "items.9.count"), 16);
    api_answer_fini(&all);
    tally t = requests_of(&r);
    assert_int_equal(t.posts + t.patches, 25);
    end(&r);
}

static void an_event_that_the_server_has_lost_is_created_again(void **state)
{
    (void)state;
    for (int api = KI_RECORDER_CORE_V1; api <= KI_RECORDER_EVENTS_V1; api++) {
        bool is_core = api == KI_RECORDER_CORE_V1;
        const char *path = is_core ? CORE_EVENTS : EVENTS;
        rig r;
        char name[300];
        begin(&r, KI_MODE_THREADS, api);
        assert_int_equal(say(&r, "Synced", "ok"), 0);
        flush(&r);
        api_answer all = list(&r, path, 1);
        snprintf(name, sizeof(name), "%s", api_text(&all, "items.0.metadata.name"));
        api_answer_fini(&all);
        assert_int_equal(ki_apiserver_delete(r.server, &KI_CORE_V1_EVENTS, "default", name, NULL), 0);
        assert_int_equal(say(&r, "Synced", "ok"), 0);
        flush(&r);
        all = list(&r, path, 1);
        assert_string_equal(api_text(&all, "items.0.metadata.name"), name);
        assert_int_equal(number_at(&all, is_core ? "items.0.count" : "items.0.series.count"), 2);
        api_answer_fini(&all);
        assert_int_equal(stats_of(&r).created, 2);
        end(&r);
    }
}

static void texts_of_any_length_and_any_object_are_accepted(void **state)
{
    (void)state;
    static char text[20000];
    memset(text, 'x', sizeof(text) - 1);
    for (int api = KI_RECORDER_CORE_V1; api <= KI_RECORDER_EVENTS_V1; api++) {
        rig r;
        begin(&r, KI_MODE_THREADS, api);
        ki_object *role = ki_object_new(&KI_RBAC_V1_CLUSTERROLES,
                                        KI_STR("{\"metadata\":{\"name\":\"system:node\"}}"), NULL, NULL);
        assert_non_null(role);
        assert_int_equal(ki_recorder_event(r.recorder, role, KI_RECORD_NORMAL, text, text, "%s", text), 0);
        flush(&r);
        bool is_core = api == KI_RECORDER_CORE_V1;
        api_answer all = list(&r, is_core ? CORE_EVENTS : EVENTS, 1);
        const char *message = api_text(&all, is_core ? "items.0.message" : "items.0.note");
        assert_int_equal(strlen(message), is_core ? 8192 : 1024);
        assert_int_equal(strlen(api_text(&all, "items.0.reason")), 128);
        api_answer_fini(&all);
        assert_int_equal(ki_recorder_record(r.recorder, &(ki_record){.object = role,
                                                                     .related = r.pod,
                                                                     .reason = KI_STR("R"),
                                                                     .message = {text, sizeof(text)}}),
                         0);
        flush(&r);
        assert_int_equal(stats_of(&r).created, 2);
        ki_object_unref(role);
        end(&r);
    }
}

/* ---- faults -------------------------------------------------------------------------------------------- */

static void an_event_that_is_refused_is_dropped_and_the_next_is_sent(void **state)
{
    (void)state;
    static const uint32_t codes[] = {500, 403, 422, 503};
    rig r;
    begin(&r, KI_MODE_THREADS, KI_RECORDER_CORE_V1);
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
        assert_int_equal(say(&r, reason, "m"), 0);
        flush(&r);
    }
    assert_int_equal(say(&r, "Synced", "ok"), 0);
    flush(&r);
    ki_recorder_stats s = stats_of(&r);
    assert_int_equal(s.dropped_refused, 4);
    assert_int_equal(s.created, 1);
    assert_int_equal(s.retries, 0);
    assert_int_equal(requests_of(&r).posts, 5);
    end(&r);
}

static void a_server_that_says_when_to_come_back_is_asked_again_then(void **state)
{
    (void)state;
    rig r;
    begin(&r, KI_MODE_THREADS, KI_RECORDER_CORE_V1);
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
    assert_int_equal(say(&r, "Synced", "ok"), 0);
    flush(&r);
    assert_int_equal(stats_of(&r).created, 1);
    assert_int_equal(requests_of(&r).posts, 2);
    end(&r);
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
    rig r;
    begin(&r, KI_MODE_THREADS, KI_RECORDER_CORE_V1);
    assert_int_equal(ki_client_set_write_gate(r.client, refuse, NULL), 0);
    assert_int_equal(say(&r, "Synced", "ok"), 0);
    flush(&r);
    assert_int_equal(stats_of(&r).dropped_refused, 1);
    assert_int_equal(ki_client_set_write_gate(r.client, NULL, NULL), 0);
    assert_int_equal(say(&r, "Synced", "ok"), 0); /* a patch of what is not there */
    flush(&r);
    assert_int_equal(stats_of(&r).created, 1);
    end(&r);
}

/* A second try comes after up to 10 s, which pass as fast as the test likes. */
static void begin_in_virtual_time(rig *r, ki_clock *clock)
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

/* So slowly that no request, which takes real time, runs into its own limit. */
static void flush_in_virtual_time(rig *r, ki_clock *clock)
{
    for (int i = 0; stats_of(r).queued > 0; i++) {
        assert_true(i < HANG_MS);
        ki_clock_advance_ms(clock, 250);
        turn(r);
    }
}

static void a_server_that_comes_back_gets_every_event_once(void **state)
{
    (void)state;
    rig r;
    ki_clock clock;
    begin_in_virtual_time(&r, &clock);
    ki_apiserver_down(r.server);
    for (int i = 0; i < 20; i++) {
        char reason[16];
        snprintf(reason, sizeof(reason), "R%d", i);
        assert_int_equal(say(&r, reason, "m"), 0);
    }
    for (int i = 0; stats_of(&r).retries < 2; i++) {
        assert_true(i < HANG_MS);
        ki_clock_advance_ms(&clock, 250);
        turn(&r);
    }
    assert_int_equal(stats_of(&r).queued, 20);
    assert_int_equal(ki_apiserver_up(r.server, NULL), 0);
    flush_in_virtual_time(&r, &clock);
    ki_recorder_stats s = stats_of(&r);
    assert_int_equal(s.created, 20);
    api_answer all = list(&r, CORE_EVENTS, 20);
    api_answer_fini(&all);
    assert_int_equal(requests_of(&r).posts, 20);
    end(&r);
}

static void a_connection_that_is_reset_makes_no_second_event(void **state)
{
    (void)state;
    rig r;
    ki_clock clock;
    begin_in_virtual_time(&r, &clock);
    assert_int_equal(
        ki_apiserver_fault(r.server, &(ki_fault){.on = KI_FAULT_WRITE, .action = KI_FAULT_RESET, .times = 1},
                           NULL),
        0);
    assert_int_equal(say(&r, "Synced", "ok"), 0);
    flush_in_virtual_time(&r, &clock);
    assert_int_equal(stats_of(&r).created, 1);
    assert_int_equal(stats_of(&r).retries, 1);
    api_answer all = list(&r, CORE_EVENTS, 1);
    api_answer_fini(&all);
    tally t = requests_of(&r);
    assert_int_equal(t.posts, 2);
    assert_int_equal(t.unanswered, 1);
    end(&r);
}

static void a_full_queue_drops_and_counts(void **state)
{
    (void)state;
    rig r;
    begin_with(&r, KI_MODE_THREADS, (ki_recorder_options){.queue_max = 5});
    assert_int_equal(
        ki_apiserver_fault(r.server, &(ki_fault){.on = KI_FAULT_WRITE, .action = KI_FAULT_STALL}, NULL), 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(say(&r, "Synced", "ok"), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(say(&r, "Synced", "ok"), KI_ERR_TOO_LARGE);
    ki_recorder_stats s = stats_of(&r);
    assert_int_equal(s.queued, 5);
    assert_int_equal(s.dropped_queue_full, 3);
    ki_apiserver_heal(r.server);
    flush(&r);
    assert_int_equal(say(&r, "Synced", "ok"), 0);
    end(&r);
}

/* ---- lifetimes ----------------------------------------------------------------------------------------- */

static bool metrics_have(ki_client *client, const char *line)
{
    ki_metrics_text text = {0};
    assert_int_equal(ki_metrics_render(ki_client_metrics(client), &text, NULL), 0);
    bool is_there = strstr(text.bytes, line) != NULL;
    ki_metrics_text_fini(&text);
    return is_there;
}

static void a_free_sends_what_waits(void **state)
{
    (void)state;
    for (int mode = KI_MODE_THREADS; mode <= KI_MODE_EVENT_LOOP; mode++) {
        rig r;
        begin(&r, mode, KI_RECORDER_CORE_V1);
        for (int i = 0; i < 20; i++)
            assert_int_equal(say(&r, "Synced", "ok"), 0);
        ki_recorder_free(r.recorder);
        r.recorder = NULL;
        api_answer all = list(&r, CORE_EVENTS, 1);
        assert_int_equal(number_at(&all, "items.0.count"), 20);
        api_answer_fini(&all);
        end(&r);
    }
}

/* Returns, or the test hangs. */
static void a_free_does_not_wait_for_a_server_that_is_silent_or_away(void **state)
{
    (void)state;
    for (int mode = KI_MODE_THREADS; mode <= KI_MODE_EVENT_LOOP; mode++) {
        rig r;
        begin_with(&r, mode, (ki_recorder_options){.free_timeout_ms = 100});
        assert_int_equal(
            ki_apiserver_fault(r.server, &(ki_fault){.on = KI_FAULT_WRITE, .action = KI_FAULT_STALL}, NULL),
            0);
        assert_int_equal(say(&r, "Synced", "ok"), 0);
        assert_int_equal(say(&r, "Synced", "ok"), 0);
        end(&r);
        begin_with(&r, mode, (ki_recorder_options){.free_timeout_ms = HANG_MS});
        ki_apiserver_down(r.server);
        for (int i = 0; i < 20; i++)
            assert_int_equal(say(&r, "Synced", "ok"), 0);
        end(&r);
    }
}

static void a_free_tries_once_when_there_is_no_answer(void **state)
{
    (void)state;
    rig r;
    begin_with(&r, KI_MODE_THREADS, (ki_recorder_options){.free_timeout_ms = HANG_MS});
    assert_int_equal(
        ki_apiserver_fault(r.server, &(ki_fault){.on = KI_FAULT_WRITE, .action = KI_FAULT_RESET}, NULL), 0);
    for (int i = 0; i < 20; i++)
        assert_int_equal(say(&r, "Synced", "ok"), 0);
    while (requests_of(&r).posts == 0)
        turn(&r);
    ki_recorder_free(r.recorder);
    r.recorder = NULL;
    assert_in_range(requests_of(&r).posts, 1, 4); /* 1: the first one was still under way */
    assert_int_equal(requests_of(&r).patches, 0);
    end(&r);
}

static void after_its_client_a_recorder_records_nothing(void **state)
{
    (void)state;
    for (int mode = KI_MODE_THREADS; mode <= KI_MODE_EVENT_LOOP; mode++) {
        rig r;
        begin(&r, mode, KI_RECORDER_EVENTS_V1);
        assert_int_equal(
            ki_apiserver_fault(r.server, &(ki_fault){.on = KI_FAULT_WRITE, .action = KI_FAULT_STALL}, NULL),
            0);
        for (int i = 0; i < 3; i++)
            assert_int_equal(say(&r, "Synced", "ok"), 0);
        ki_client_free(r.client);
        r.client = NULL;
        ki_recorder_stats s = stats_of(&r);
        assert_int_equal(s.dropped_stopped, 3);
        assert_int_equal(s.queued, 0);
        assert_int_equal(say(&r, "Synced", "ok"), KI_ERR_STOPPED);
        assert_int_equal(stats_of(&r).dropped_stopped, 4);
        assert_int_equal(ki_recorder_flush(r.recorder, HANG_MS), 0);
        end(&r);
    }
}

typedef struct inside {
    rig *r;
    _Atomic int called;
    int recorded, flushed;
} inside;

static void record_and_free(const ki_rest_answer *answer, void *user)
{
    inside *i = user;
    (void)answer;
    i->recorded = say(i->r, "Synced", "ok");
    i->flushed = ki_recorder_flush(i->r->recorder, 1000);
    ki_recorder_free(i->r->recorder);
    i->called = 1;
}

static void callbacks_may_record_and_free(void **state)
{
    (void)state;
    for (int mode = KI_MODE_THREADS; mode <= KI_MODE_EVENT_LOOP; mode++) {
        rig r;
        begin(&r, mode, KI_RECORDER_CORE_V1);
        inside i = {.r = &r};
        assert_int_equal(ki_rest_begin(r.client,
                                       &(ki_rest_request){.verb = KI_REST_GET,
                                                          .path = "/version",
                                                          .on_answer = record_and_free,
                                                          .user = &i},
                                       NULL, NULL),
                         0);
        while (!i.called || requests_of(&r).posts == 0)
            turn(&r);
        assert_int_equal(i.recorded, 0);
        assert_int_equal(i.flushed, KI_ERR_WOULD_DEADLOCK);
        r.recorder = NULL;
        end(&r);
    }
}

static void events_can_be_recorded_inside_a_read_section(void **state)
{
    (void)state;
    rig r;
    begin(&r, KI_MODE_EVENT_LOOP, KI_RECORDER_CORE_V1);
    ki_read_lock();
    assert_int_equal(say(&r, "Synced", "ok"), 0);
    assert_int_equal(ki_recorder_flush(r.recorder, 1000), KI_ERR_WOULD_DEADLOCK);
    ki_read_unlock();
    flush(&r);
    assert_int_equal(stats_of(&r).created, 1);
    end(&r);
}

static void a_forked_child_records_nothing(void **state)
{
    (void)state;
    rig r;
    begin(&r, KI_MODE_THREADS, KI_RECORDER_CORE_V1);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        ki_recorder_stats s = {.recorded = 1};
        int rc = say(&r, "Synced", "ok") == KI_ERR_FORKED &&
                 ki_recorder_flush(r.recorder, 1) == KI_ERR_FORKED &&
                 ki_recorder_new(r.client, &(ki_recorder_options){.component = "x"}, NULL) == NULL;
        ki_recorder_read_stats(r.recorder, &s);
        ki_recorder_free(r.recorder);
        _exit(rc && s.recorded == 0 ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(say(&r, "Synced", "ok"), 0);
    flush(&r);
    assert_int_equal(stats_of(&r).created, 1);
    end(&r);
}

/* ---- the rest ------------------------------------------------------------------------------------------ */

static void what_became_of_events_is_in_the_metrics(void **state)
{
    (void)state;
    rig r;
    begin(&r, KI_MODE_THREADS, KI_RECORDER_CORE_V1);
    for (int i = 0; i < 30; i++)
        assert_int_equal(say(&r, "Synced", "ok"), 0);
    flush(&r);
    assert_true(
        metrics_have(r.client, "event_recorder_events_total{name=\"tester\",result=\"created\"} 1\n"));
    assert_true(
        metrics_have(r.client, "event_recorder_events_total{name=\"tester\",result=\"patched\"} 24\n"));
    assert_true(metrics_have(r.client, "event_recorder_events_total{name=\"tester\",result=\"spam\"} 5\n"));
    assert_true(metrics_have(r.client, "event_recorder_queued{name=\"tester\"} 0\n"));
    end(&r);
}

static void what_cannot_be_recorded_is_invalid(void **state)
{
    (void)state;
    rig r;
    begin(&r, KI_MODE_THREADS, KI_RECORDER_CORE_V1);
    assert_int_equal(ki_recorder_event(NULL, r.pod, KI_RECORD_NORMAL, "R", NULL, "m"), KI_ERR_INVALID);
    assert_int_equal(ki_recorder_event(r.recorder, NULL, KI_RECORD_NORMAL, "R", NULL, "m"), KI_ERR_INVALID);
    assert_int_equal(ki_recorder_event(r.recorder, r.pod, KI_RECORD_NORMAL, NULL, NULL, "m"), KI_ERR_INVALID);
    assert_int_equal(ki_recorder_event(r.recorder, r.pod, KI_RECORD_NORMAL, "", NULL, "m"), KI_ERR_INVALID);
    assert_int_equal(ki_recorder_event(r.recorder, r.pod, KI_RECORD_NORMAL, "R", NULL, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_recorder_record(r.recorder, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_recorder_flush(NULL, 0), KI_ERR_INVALID);
    assert_int_equal(stats_of(&r).recorded, 0);
    ki_recorder_free(NULL);
    end(&r);
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
        cmocka_unit_test(events_of_the_core_api_are_created_and_counted),
        cmocka_unit_test(repeated_events_of_events_k8s_io_are_a_series),
        cmocka_unit_test(similar_events_are_combined_and_spam_is_not_sent),
        cmocka_unit_test(an_event_that_the_server_has_lost_is_created_again),
        cmocka_unit_test(texts_of_any_length_and_any_object_are_accepted),
        cmocka_unit_test(an_event_that_is_refused_is_dropped_and_the_next_is_sent),
        cmocka_unit_test(a_server_that_says_when_to_come_back_is_asked_again_then),
        cmocka_unit_test(an_event_that_a_write_gate_refuses_is_dropped),
        cmocka_unit_test(a_server_that_comes_back_gets_every_event_once),
        cmocka_unit_test(a_connection_that_is_reset_makes_no_second_event),
        cmocka_unit_test(a_full_queue_drops_and_counts),
        cmocka_unit_test(a_free_sends_what_waits),
        cmocka_unit_test(a_free_does_not_wait_for_a_server_that_is_silent_or_away),
        cmocka_unit_test(a_free_tries_once_when_there_is_no_answer),
        cmocka_unit_test(after_its_client_a_recorder_records_nothing),
        cmocka_unit_test(callbacks_may_record_and_free),
        cmocka_unit_test(events_can_be_recorded_inside_a_read_section),
        cmocka_unit_test(a_forked_child_records_nothing),
        cmocka_unit_test(what_became_of_events_is_in_the_metrics),
        cmocka_unit_test(what_cannot_be_recorded_is_invalid),
        cmocka_unit_test(bad_options_are_named),
    };
    return RUN_TESTS(tests);
}
