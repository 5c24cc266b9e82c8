/* SPDX-License-Identifier: Apache-2.0 */
/* Single calls over real sockets (support/client/scripted_http.c),
 * in each mode: their requests and their results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow/support/rest_world.h"
#include "support/aside.h"
#include "support/failing_allocator.h"
#include "support/patience.h"
#include "support/unit.h"

/* ---- requests ---------------------------------------------------------------------------------------- */

typedef struct row {
    ki_rest_request request;
    const char *method;
    const char *target;
    const char *type;
    const char *body;
} row;

#define POD .resource = &KI_CORE_V1_PODS, .ns = "web", .name = "a"
#define BODY "{\"x\":[1,2]}"
#define TEXT(literal)                                                                                        \
    {                                                                                                        \
        literal, sizeof(literal) - 1                                                                         \
    }

static const row rows[] = {
    {{.verb = KI_REST_GET, POD}, "GET", "/api/v1/namespaces/web/pods/a", "", "null"},
    {{.verb = KI_REST_CREATE, .resource = &KI_CORE_V1_PODS, .ns = "web", .body = TEXT(BODY)},
     "POST",
     "/api/v1/namespaces/web/pods",
     "application/json",
     BODY},
    {{.verb = KI_REST_UPDATE, POD, .body = TEXT(BODY), .field_manager = "me"},
     "PUT",
     "/api/v1/namespaces/web/pods/a?fieldManager=me",
     "application/json",
     BODY},
    {{.verb = KI_REST_UPDATE, POD, .subresource = "status", .body = TEXT(BODY)},
     "PUT",
     "/api/v1/namespaces/web/pods/a/status",
     "application/json",
     BODY},
    {{.verb = KI_REST_PATCH, .patch = KI_PATCH_JSON, POD, .body = TEXT("[" BODY "]")},
     "PATCH",
     "/api/v1/namespaces/web/pods/a",
     "application/json-patch+json",
     "[" BODY "]"},
    {{.verb = KI_REST_PATCH, .patch = KI_PATCH_MERGE, POD, .body = TEXT(BODY), .dry_run = 1},
     "PATCH",
     "/api/v1/namespaces/web/pods/a?dryRun=All",
     "application/merge-patch+json",
     BODY},
    {{.verb = KI_REST_PATCH, .patch = KI_PATCH_STRATEGIC, POD, .body = TEXT(BODY)},
     "PATCH",
     "/api/v1/namespaces/web/pods/a",
     "application/strategic-merge-patch+json",
     BODY},
    {{.verb = KI_REST_PATCH,
      .patch = KI_PATCH_APPLY,
      POD,
      .body = TEXT(BODY),
      .field_manager = "me",
      .force = 1},
     "PATCH",
     "/api/v1/namespaces/web/pods/a?fieldManager=me&force=true",
     "application/apply-patch+yaml",
     BODY},
    {{.verb = KI_REST_DELETE, POD}, "DELETE", "/api/v1/namespaces/web/pods/a", "", "null"},
    {{.verb = KI_REST_DELETE_COLLECTION,
      .resource = &KI_CORE_V1_PODS,
      .ns = "web",
      .list = {.label_selector = TEXT("app=x")}},
     "DELETE",
     "/api/v1/namespaces/web/pods?labelSelector=app%3Dx",
     "",
     "null"},
    {{.verb = KI_REST_DELETE, POD, .if_uid = TEXT("u")},
     "DELETE",
     "/api/v1/namespaces/web/pods/a",
     "application/json",
     "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"preconditions\":{\"uid\":\"u\"}}"},
};

static void assert_field(const ki_object *object, const char *pointer, const char *expected)
{
    assert_true(ki_str_equal(ki_object_string(object, pointer), ki_str_of(expected)));
}

static void check_row(rest_world *w, const row *r)
{
    ki_rest_answer answer = {0};
    ki_error err = {0};
    assert_int_equal(ki_rest_run(w->client, &r->request, &answer, &err), 0);
    assert_int_equal(answer.http_status, 200);
    assert_non_null(answer.object);
    assert_field(answer.object, "/method", r->method);
    assert_field(answer.object, "/target", r->target);
    assert_field(answer.object, "/type", r->type);
    assert_true(ki_str_equal(ki_object_find(answer.object, "/body").raw, ki_str_of(r->body)));
    ki_rest_answer_fini(&answer);
}

static void each_verb_is_sent_correctly(void **state)
{
    (void)state;
    for (int mode = 0; mode < REST_MODES; mode++) {
        rest_world w = {.mode = mode};
        rest_world_init(&w, rest_world_echo, NULL);
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
            check_row(&w, &rows[i]);
        assert_int_equal(scripted_http_connections(w.server), 1);
        rest_world_fini(&w);
    }
}

/* ---- callbacks --------------------------------------------------------------------------------------- */

static void each_call_is_called_back_once(void **state)
{
    (void)state;
    enum { CALLS = 30 };
    for (int mode = 0; mode < REST_MODES; mode++) {
        rest_world w = {.mode = mode};
        told_answer told[CALLS] = {0};
        uint64_t ids[CALLS] = {0};
        rest_world_init(&w, rest_world_echo, NULL);
        for (int i = 0; i < CALLS; i++) {
            ki_rest_request request = rest_request_heard(KI_REST_GET + i % 6, &told[i]);
            if (request.verb == KI_REST_LIST)
                request = rest_request_heard(KI_REST_GET, &told[i]);
            assert_int_equal(ki_rest_begin(w.client, &request, &ids[i], NULL), 0);
            assert_true(i == 0 || ids[i] > ids[i - 1]);
        }
        for (int i = 0; i < CALLS; i++) {
            rest_world_wait(&w, &told[i], 1);
            assert_int_equal(told[i].error, 0);
            assert_string_equal(told[i].name, "a");
            ki_rest_cancel(w.client, ids[i]);
        }
        rest_world_fini(&w);
        for (int i = 0; i < CALLS; i++)
            assert_int_equal(told[i].times, 1);
    }
}

static void a_call_needs_no_callback(void **state)
{
    (void)state;
    rest_world w = {.mode = KI_MODE_THREADS};
    told_answer told = {0};
    rest_world_init(&w, rest_world_echo, NULL);
    ki_rest_request quiet = rest_request(KI_REST_DELETE);
    ki_rest_request heard = rest_request_heard(KI_REST_GET, &told);
    assert_int_equal(ki_rest_begin(w.client, &quiet, NULL, NULL), 0);
    assert_int_equal(ki_rest_run(w.client, &quiet, NULL, NULL), 0);
    assert_int_equal(ki_rest_begin(w.client, &heard, NULL, NULL), 0);
    rest_world_wait(&w, &told, 1);
    rest_world_fini(&w);
}

typedef struct chain {
    rest_world *w;
    atomic_int left;
    int wrongs;
    ki_object *kept;
} chain;

static void go_on(const ki_rest_answer *answer, void *user)
{
    chain *c = user;
    ki_rest_request request = rest_request(KI_REST_PATCH);
    request.on_answer = go_on;
    request.user = c;
    c->wrongs += answer->error.code != 0;
    if (c->kept == NULL)
        c->kept = ki_object_ref(answer->object);
    if (--c->left > 0 && ki_rest_begin(c->w->client, &request, NULL, NULL) < 0)
        c->wrongs++;
}

static void a_callback_may_begin_the_next_call_and_keep_the_object(void **state)
{
    (void)state;
    for (int mode = 0; mode < REST_MODES; mode++) {
        rest_world w = {.mode = mode};
        chain c = {.w = &w, .left = 5};
        rest_world_init(&w, rest_world_echo, NULL);
        ki_rest_request request = rest_request(KI_REST_GET);
        request.on_answer = go_on;
        request.user = &c;
        assert_int_equal(ki_rest_begin(w.client, &request, NULL, NULL), 0);
        while (c.left > 0)
            rest_world_live(&w);
        rest_world_fini(&w);
        assert_int_equal(c.wrongs, 0);
        assert_string_equal(ki_object_key(c.kept), "web/a");
        ki_object_unref(c.kept);
    }
}

/* ---- responses --------------------------------------------------------------------------------------- */

#define ITEM(name) "{\"metadata\":{\"namespace\":\"web\",\"name\":\"" name "\",\"resourceVersion\":\"7\"}}"
#define PAGE(metadata, items)                                                                                \
    "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{" metadata "},\"items\":[" items "]}"

static scripted_next serve_pages(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    if (strstr(r->target, "continue=more%3D") != NULL)
        (void)scripted_answer(c, "200 OK", "", PAGE("\"resourceVersion\":\"9\"", ITEM("c")));
    else
        (void)scripted_answer(
            c, "200 OK", "",
            PAGE("\"resourceVersion\":\"9\",\"continue\":\"more=\",\"remainingItemCount\":1",
                 ITEM("a") "," ITEM("b")));
    return SCRIPTED_KEEP;
}

static void a_list_is_read_page_by_page(void **state)
{
    (void)state;
    for (int mode = 0; mode < REST_MODES; mode++) {
        rest_world w = {.mode = mode};
        ki_rest_answer first = {0};
        ki_rest_answer second = {0};
        rest_world_init(&w, serve_pages, NULL);
        ki_rest_request request = rest_request(KI_REST_LIST);
        request.list.limit = 2;
        assert_int_equal(ki_rest_run(w.client, &request, &first, NULL), 0);
        assert_int_equal(first.object_count, 2);
        assert_int_equal(first.remaining_items, 1);
        assert_true(ki_str_equal(ki_object_kind(first.objects[0]), KI_STR("Pod")));
        request.list.continue_token = first.continue_token;
        assert_int_equal(ki_rest_run(w.client, &request, &second, NULL), 0);
        assert_int_equal(second.object_count, 1);
        assert_string_equal(ki_object_key(second.objects[0]), "web/c");
        assert_int_equal(second.continue_token.len, 0);
        assert_int_equal(second.remaining_items, -1);
        ki_rest_answer_fini(&first);
        ki_rest_answer_fini(&second);
        rest_world_fini(&w);
    }
}

static scripted_next serve_conflict(scripted_connection *c, const scripted_request *r, void *user)
{
    char body[1024];
    (void)user;
    if (!scripted_read_body(c, r, body, sizeof(body)))
        return SCRIPTED_CLOSE;
    if (strcmp(r->method, "POST") == 0)
        (void)scripted_answer(c, "409 Conflict", "", REST_STATUS("409", "AlreadyExists"));
    else
        (void)scripted_answer(c, "409 Conflict", "", REST_STATUS("409", "Conflict"));
    return SCRIPTED_KEEP;
}

static void a_refusal_comes_with_its_status(void **state)
{
    (void)state;
    for (int mode = 0; mode < REST_MODES; mode++) {
        rest_world w = {.mode = mode};
        ki_rest_answer answer = {0};
        ki_error err = {0};
        rest_world_init(&w, serve_conflict, NULL);
        ki_rest_request create = rest_request(KI_REST_CREATE);
        ki_rest_request update = rest_request(KI_REST_UPDATE);
        assert_int_equal(ki_rest_run(w.client, &create, NULL, NULL), KI_ERR_ALREADY_EXISTS);
        assert_int_equal(ki_rest_run(w.client, &update, &answer, &err), KI_ERR_CONFLICT);
        assert_int_equal(err.code, KI_ERR_CONFLICT);
        assert_string_equal(err.message, "the server responded with 409 Conflict: no");
        assert_int_equal(answer.http_status, 409);
        assert_int_equal(answer.attempts, 1);
        assert_true(ki_str_equal(answer.status->reason, KI_STR("Conflict")));
        ki_rest_answer_fini(&answer);
        assert_int_equal(scripted_http_requests(w.server), 2);
        rest_world_fini(&w);
    }
}

static scripted_next serve_too_much(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)r;
    (void)user;
    if (scripted_begin(c, "200 OK"))
        while (scripted_chunk(c, "                                                                "))
            continue;
    return SCRIPTED_CLOSE;
}

static void an_endless_response_is_cut(void **state)
{
    (void)state;
    for (int mode = 0; mode < REST_MODES; mode++) {
        rest_world w = {.mode = mode};
        ki_rest_answer answer = {0};
        rest_world_init(&w, serve_too_much, NULL);
        for (int verb = KI_REST_GET; verb <= KI_REST_LIST; verb++) {
            ki_rest_request request = rest_request(verb);
            request.body_bytes_max = 100 * 1000;
            assert_int_equal(ki_rest_run(w.client, &request, &answer, NULL), KI_ERR_TOO_LARGE);
            assert_int_equal(answer.attempts, 1);
            ki_rest_answer_fini(&answer);
        }
        rest_world_fini(&w);
    }
}

/* ---- waiting threads --------------------------------------------------------------------------------- */

static void run_aside(void *user)
{
    const rest_world *w = user;
    ki_rest_request request = rest_request(KI_REST_GET);
    if (ki_rest_run(w->client, &request, NULL, NULL) < 0)
        abort();
}

static void any_thread_may_wait_if_io_has_a_thread(void **state)
{
    (void)state;
    for (int mode = KI_MODE_THREADS; mode <= KI_MODE_HANDLERS_ON_LOOP; mode++) {
        rest_world w = {.mode = mode};
        told_answer told = {0};
        aside waiter = {0};
        rest_world_init(&w, rest_world_echo, NULL);
        ki_rest_request request = rest_request_heard(KI_REST_GET, &told);
        assert_int_equal(ki_rest_begin(w.client, &request, NULL, NULL), 0);
        aside_start(&waiter, run_aside, &w);
        assert_true(aside_ends_within(&waiter, HANG_MS));
        aside_join(&waiter);
        if (mode == KI_MODE_HANDLERS_ON_LOOP)
            assert_int_equal(told.times,
                             0); /* nothing has been dispatched, and the waiting thread must not dispatch */
        rest_world_wait(&w, &told, 1);
        rest_world_fini(&w);
    }
}

static void threads_may_call_at_the_same_time(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    rest_world w = {.mode = KI_MODE_THREADS};
    aside waiters[THREADS] = {0};
    rest_world_init(&w, rest_world_echo, NULL);
    for (int i = 0; i < THREADS; i++)
        aside_start(&waiters[i], run_aside, &w);
    for (int i = 0; i < THREADS; i++)
        aside_join(&waiters[i]);
    assert_int_equal(scripted_http_requests(w.server), THREADS);
    rest_world_fini(&w);
}

/* ---- metrics ----------------------------------------------------------------------------------------- */

static void assert_sample(const char *text, const char *format, int port)
{
    char line[256];
    (void)snprintf(line, sizeof(line), format, port);
    if (strstr(text, line) == NULL)
        fail_msg("no line %s in:\n%s", line, text);
}

static scripted_next serve_missing(scripted_connection *c, const scripted_request *r, void *user)
{
    if (strcmp(r->method, "GET") != 0)
        return rest_world_echo(c, r, user);
    if (r->number == 1)
        (void)scripted_answer(c, "429 Too Many Requests", "Retry-After: 1\r\n",
                              REST_STATUS("429", "TooManyRequests"));
    else
        (void)scripted_answer(c, "404 Not Found", "", REST_STATUS("404", "NotFound"));
    return SCRIPTED_KEEP;
}

static void requests_are_counted_as_in_client_go(void **state)
{
    (void)state;
    rest_world w = {.mode = KI_MODE_THREADS, .options = {.requests_per_second = 1000}};
    ki_metrics_text text = {0};
    rest_world_init(&w, serve_missing, NULL);
    int port = scripted_http_port(w.server);
    ki_rest_request get = rest_request(KI_REST_GET);
    ki_rest_request patch = rest_request(KI_REST_PATCH);
    assert_int_equal(ki_rest_run(w.client, &get, NULL, NULL), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_rest_run(w.client, &patch, NULL, NULL), 0);
    assert_int_equal(ki_metrics_render(ki_client_metrics(w.client), &text, NULL), 0);
    const char *const lines[] = {
        "rest_client_requests_total{code=\"404\",method=\"GET\",host=\"127.0.0.1:%d\"} 1\n",
        "rest_client_requests_total{code=\"429\",method=\"GET\",host=\"127.0.0.1:%d\"} 1\n",
        "rest_client_requests_total{code=\"200\",method=\"PATCH\",host=\"127.0.0.1:%d\"} 1\n",
        "rest_client_request_retries_total{code=\"404\",verb=\"GET\",host=\"127.0.0.1:%d\"} 1\n",
        "rest_client_request_duration_seconds_count{verb=\"GET\",host=\"127.0.0.1:%d\"} 2\n",
        "rest_client_request_size_bytes_sum{verb=\"PATCH\",host=\"127.0.0.1:%d\"} 25\n",
        "rest_client_response_size_bytes_count{verb=\"PATCH\",host=\"127.0.0.1:%d\"} 1\n",
        "rest_client_rate_limiter_duration_seconds_count{verb=\"GET\",host=\"127.0.0.1:%d\"} 2\n",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        assert_sample(text.bytes, lines[i], port);
    ki_metrics_text_fini(&text);
    rest_world_fini(&w);
}

/* ---- calls that cannot begin ------------------------------------------------------------------------- */

static void a_call_that_cannot_begin_is_not_called_back(void **state)
{
    (void)state;
    rest_world w = {.mode = KI_MODE_THREADS};
    told_answer told = {0};
    ki_error err = {0};
    uint64_t id = 77;
    rest_world_init(&w, rest_world_echo, NULL);
    ki_client *alone = ki_client_new(&(ki_client_options){.no_cluster = 1}, NULL);
    ki_rest_request request = rest_request_heard(KI_REST_GET, &told);
    assert_int_equal(ki_rest_begin(NULL, &request, &id, &err), KI_ERR_INVALID);
    assert_int_equal(ki_rest_begin(w.client, NULL, &id, &err), KI_ERR_INVALID);
    assert_int_equal(ki_rest_begin(alone, &request, &id, &err), KI_ERR_INVALID);
    assert_string_equal(err.message, "call: the client has no cluster configuration");
    request.name = "";
    assert_int_equal(ki_rest_begin(w.client, &request, &id, &err), KI_ERR_INVALID);
    assert_string_equal(err.message, "GET pods: the name is missing");
    assert_int_equal(ki_rest_run(w.client, &request, NULL, NULL), KI_ERR_INVALID);
    ki_rest_cancel(w.client, 1);
    ki_rest_cancel(alone, 1);
    ki_rest_cancel(NULL, 1);
    ki_rest_answer_fini(NULL);
    ki_client_free(alone);
    rest_world_fini(&w);
    assert_int_equal(told.times, 0);
    assert_int_equal(id, 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(each_verb_is_sent_correctly),
        WITH_MEMORY_CHECK(each_call_is_called_back_once),
        WITH_MEMORY_CHECK(a_call_needs_no_callback),
        WITH_MEMORY_CHECK(a_callback_may_begin_the_next_call_and_keep_the_object),
        WITH_MEMORY_CHECK(a_list_is_read_page_by_page),
        WITH_MEMORY_CHECK(a_refusal_comes_with_its_status),
        WITH_MEMORY_CHECK(an_endless_response_is_cut),
        WITH_MEMORY_CHECK(any_thread_may_wait_if_io_has_a_thread),
        WITH_MEMORY_CHECK(threads_may_call_at_the_same_time),
        WITH_MEMORY_CHECK(requests_are_counted_as_in_client_go),
        WITH_MEMORY_CHECK(a_call_that_cannot_begin_is_not_called_back),
    };
    return RUN_TESTS(tests);
}
