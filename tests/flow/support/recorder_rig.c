/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/support/recorder_rig.h"

#include <poll.h>
#include <string.h>

#include "support/controller/event_make.h"
#include "support/patience.h"
#include "support/unit.h"

void recorder_rig_init_with(recorder_rig *r, int mode, ki_recorder_options options)
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

void recorder_rig_init(recorder_rig *r, int mode, int api)
{
    recorder_rig_init_with(r, mode, (ki_recorder_options){.api = (ki_recorder_api)api});
}

void recorder_rig_fini(recorder_rig *r)
{
    ki_recorder_free(r->recorder);
    ki_client_free(r->client);
    ki_apiserver_free(r->server);
    ki_object_unref(r->pod);
}

ki_recorder_stats recorder_rig_stats(const recorder_rig *r)
{
    ki_recorder_stats s;
    ki_recorder_read_stats(r->recorder, &s);
    assert_int_equal(s.recorded, s.created + s.patched + s.counted + s.dropped_queue_full +
                                     s.dropped_no_memory + s.dropped_spam + s.dropped_refused +
                                     s.dropped_no_answer + s.dropped_stopped + s.queued);
    return s;
}

void recorder_rig_flush(const recorder_rig *r)
{
    assert_int_equal(ki_recorder_flush(r->recorder, HANG_MS), 0);
}

int recorder_rig_say(const recorder_rig *r, const char *reason, const char *message)
{
    return ki_recorder_event(r->recorder, r->pod, KI_RECORD_NORMAL, reason, NULL, "%s", message);
}

static void count(const ki_apiserver_request *request, void *user)
{
    recorder_rig_writes *t = user;
    if (strcmp(request->resource, "events") != 0 || strcmp(request->method, "GET") == 0)
        return;
    t->posts += strcmp(request->method, "POST") == 0;
    t->patches += strcmp(request->method, "PATCH") == 0;
    t->others += strcmp(request->method, "POST") != 0 && strcmp(request->method, "PATCH") != 0;
    t->unanswered += request->http_status == 0;
}

recorder_rig_writes recorder_rig_requests(const recorder_rig *r)
{
    recorder_rig_writes t = {0};
    (void)ki_apiserver_requests(r->server, 0, count, &t);
    assert_int_equal(t.others, 0);
    return t;
}

void recorder_rig_turn(recorder_rig *r)
{
    struct pollfd fd = {.fd = ki_client_fd(r->client), .events = POLLIN};
    (void)poll(&fd, fd.fd >= 0, fd.fd >= 0 ? 20 : 2);
    if (fd.fd >= 0)
        assert_true(ki_client_dispatch(r->client, KI_BUDGET_NONE) >= 0);
}

api_answer recorder_rig_list(const recorder_rig *r, const char *path, size_t count_wanted)
{
    api_answer answer = api_get(r->server, path);
    assert_int_equal(answer.status, 200);
    assert_int_equal(json_array_size(api_at(answer.tree, "items")), count_wanted);
    return answer;
}

int64_t recorder_rig_number(const api_answer *answer, const char *path)
{
    return json_integer_value(api_at(answer->tree, path));
}
