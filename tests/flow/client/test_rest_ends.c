/* SPDX-License-Identifier: Apache-2.0 */
/* How calls end that do not simply succeed, over real sockets (support/client/scripted_http.c). */
#include <stdio.h>
#include <string.h>

#include "client/callback.h"
#include "flow/support/fake_credentials.h"
#include "flow/support/rest_world.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

/* Handles the first requests, this many, in one way, and then echoes. */
typedef struct opening {
    int requests;
    const char *status;
    const char *headers;
    scripted_next next; /* RESET: no response */
} opening;

static scripted_next serve_opening(scripted_connection *c, const scripted_request *r, void *user)
{
    const opening *o = user;
    char body[1024];
    if (r->number > o->requests)
        return rest_world_echo(c, r, NULL);
    if (!scripted_read_body(c, r, body, sizeof(body)))
        return SCRIPTED_CLOSE;
    if (o->next != SCRIPTED_RESET)
        (void)scripted_answer(c, o->status, o->headers, "{}");
    return o->next;
}

typedef struct outcome {
    int rc;
    int code;
    int reason;
    uint32_t attempts;
    uint64_t ms;
} outcome;

static outcome run(rest_world *w, const ki_rest_request *request)
{
    ki_rest_answer answer = {0};
    uint64_t began_ms = rest_world_now_ms();
    int rc = ki_rest_run(w->client, request, &answer, NULL);
    outcome o = {rc, answer.http_status, (int)answer.reason, answer.attempts, rest_world_now_ms() - began_ms};
    assert_int_equal(answer.error.code, rc);
    ki_rest_answer_fini(&answer);
    return o;
}

static outcome run_against(const opening *o, int mode, const ki_rest_request *request)
{
    opening copy = *o;
    rest_world w = {.mode = mode};
    rest_world_init(&w, serve_opening, &copy);
    outcome result = run(&w, request);
    rest_world_fini(&w);
    return result;
}

/* ---- retries ----------------------------------------------------------------------------------------- */

static void retry_after_is_honoured_also_by_writes(void **state)
{
    (void)state;
    const opening busy = {1, "429 Too Many Requests", "Retry-After: 1\r\n", SCRIPTED_KEEP};
    const opening down = {2, "503 Service Unavailable", "Retry-After: 1\r\n", SCRIPTED_CLOSE};
    ki_rest_request get = rest_request(KI_REST_GET);
    ki_rest_request create = rest_request(KI_REST_CREATE);
    for (int mode = 0; mode < REST_MODES; mode++) {
        outcome o = run_against(&busy, mode, &get);
        assert_int_equal(o.rc, 0);
        assert_int_equal(o.attempts, 2);
        assert_true(o.ms >= 1000);
    }
    outcome o = run_against(&down, KI_MODE_THREADS, &create);
    assert_int_equal(o.rc, 0);
    assert_int_equal(o.attempts, 3);
    assert_true(o.ms >= 2000);
}

static void without_retry_after_nothing_is_retried(void **state)
{
    (void)state;
    const opening down = {9, "500 Internal Server Error", "", SCRIPTED_KEEP};
    const opening invalid = {9, "422 Unprocessable Entity", "Retry-After: 1\r\n", SCRIPTED_KEEP};
    ki_rest_request get = rest_request(KI_REST_GET);
    outcome o = run_against(&down, KI_MODE_THREADS, &get);
    assert_int_equal(o.rc, KI_ERR_HTTP);
    assert_int_equal(o.code, 500);
    assert_int_equal(o.reason, KI_REASON_SERVER_ERROR);
    assert_int_equal(o.attempts, 1);
    o = run_against(&invalid, KI_MODE_THREADS, &get);
    assert_int_equal(o.code, 422);
    assert_int_equal(o.attempts, 1);
}

static void attempts_are_counted(void **state)
{
    (void)state;
    const opening busy = {99, "429 Too Many Requests", "Retry-After: 1\r\n", SCRIPTED_KEEP};
    ki_rest_request get = rest_request(KI_REST_GET);
    get.retries_max = 1;
    outcome o = run_against(&busy, KI_MODE_THREADS, &get);
    assert_int_equal(o.rc, KI_ERR_HTTP);
    assert_int_equal(o.reason, KI_REASON_TOO_MANY_REQUESTS);
    assert_int_equal(o.attempts, 2);
    get.retries_max = -1;
    o = run_against(&busy, KI_MODE_THREADS, &get);
    assert_int_equal(o.attempts, 1);
}

static void a_timeout_shorter_than_retry_after_ends_the_call_at_once(void **state)
{
    (void)state;
    const opening busy = {99, "503 Service Unavailable", "Retry-After: 100\r\n", SCRIPTED_KEEP};
    ki_rest_request get = rest_request(KI_REST_GET);
    get.timeout_ms = 50 * 1000;
    outcome o = run_against(&busy, KI_MODE_THREADS, &get);
    assert_int_equal(o.rc, KI_ERR_HTTP);
    assert_int_equal(o.code, 503);
    assert_true(o.ms < AT_ONCE_MS);
}

static void refused_credentials_are_renewed_once(void **state)
{
    (void)state;
    const opening once = {1, "401 Unauthorized", "", SCRIPTED_KEEP};
    const opening always = {99, "401 Unauthorized", "", SCRIPTED_KEEP};
    ki_rest_request create = rest_request(KI_REST_CREATE);
    create.retries_max = -1;
    for (int mode = 0; mode < REST_MODES; mode++) {
        outcome o = run_against(&once, mode, &create);
        assert_int_equal(o.rc, 0);
        assert_int_equal(o.attempts, 2);
        assert_int_equal(fake_credentials.refused, 1);
        o = run_against(&always, mode, &create);
        assert_int_equal(o.rc, KI_ERR_UNAUTHORIZED);
        assert_int_equal(o.attempts, 2);
        assert_int_equal(fake_credentials.refused, 2);
    }
}

static void credentials_that_cannot_be_read_are_an_error(void **state)
{
    (void)state;
    rest_world w = {.mode = KI_MODE_THREADS};
    ki_rest_request get = rest_request(KI_REST_GET);
    rest_world_init(&w, rest_world_echo, NULL);
    fake_credentials.result = KI_ERR_CONFIG;
    outcome o = run(&w, &get);
    assert_int_equal(o.rc, KI_ERR_UNAUTHORIZED);
    assert_int_equal(o.code, 0);
    assert_int_equal(scripted_http_requests(w.server), 0);
    rest_world_fini(&w);
}

static void lost_reads_are_retried_but_not_lost_writes(void **state)
{
    (void)state;
    const opening lost = {1, "", "", SCRIPTED_RESET};
    ki_rest_request get = rest_request(KI_REST_GET);
    ki_rest_request create = rest_request(KI_REST_CREATE);
    ki_rest_request delete = rest_request(KI_REST_DELETE);
    outcome o = run_against(&lost, KI_MODE_THREADS, &get);
    assert_int_equal(o.rc, 0);
    assert_int_equal(o.attempts, 2);
    assert_true(o.ms >= 1000);
    o = run_against(&lost, KI_MODE_THREADS, &create);
    assert_int_equal(o.rc, KI_ERR_HTTP);
    assert_int_equal(o.reason, KI_REASON_CONNECTION_LOST);
    assert_int_equal(o.code, 0);
    assert_int_equal(o.attempts, 1);
    assert_int_equal(run_against(&lost, KI_MODE_THREADS, &delete).attempts, 1);
}

static void a_missing_server_is_reported_at_once(void **state)
{
    (void)state;
    rest_world w = {.mode = KI_MODE_THREADS};
    ki_rest_request get = rest_request(KI_REST_GET);
    rest_world_init(&w, rest_world_echo, NULL);
    scripted_http_stop(w.server);
    w.server = NULL;
    outcome o = run(&w, &get);
    assert_int_equal(o.rc, KI_ERR_HTTP);
    assert_int_equal(o.reason, KI_REASON_CONNECTION_REFUSED);
    assert_int_equal(o.attempts, 1);
    rest_world_fini(&w);
}

/* ---- time -------------------------------------------------------------------------------------------- */

static scripted_next serve_silence(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    if (strstr(r->target, "/half") != NULL)
        (void)(scripted_begin(c, "200 OK") && scripted_chunk(c, "{\"kind\":"));
    scripted_wait_for_end(c);
    return SCRIPTED_CLOSE;
}

static void a_call_ends_when_its_time_is_over(void **state)
{
    (void)state;
    for (int mode = 0; mode < REST_MODES; mode++) {
        rest_world w = {.mode = mode};
        rest_world_init(&w, serve_silence, NULL);
        ki_rest_request get = rest_request(KI_REST_GET);
        get.timeout_ms = 200;
        outcome o = run(&w, &get);
        assert_int_equal(o.rc, KI_ERR_TIMEOUT);
        assert_int_equal(o.reason, KI_REASON_TIMEOUT);
        assert_int_equal(o.code, 0);
        assert_true(o.ms >= 200 && o.ms < AT_ONCE_MS);
        get.name = "half";
        do { /* the head has arrived in that time, however busy the machine is */
            o = run(&w, &get);
            assert_int_equal(o.rc, KI_ERR_TIMEOUT);
            get.timeout_ms *= 2;
        } while (o.code == 0 && get.timeout_ms < HANG_MS);
        assert_int_equal(o.code, 200);
        rest_world_fini(&w);
    }
}

static scripted_next serve_stalled_error(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)r;
    (void)user;
    (void)scripted_send(c, "HTTP/1.1 403 Forbidden\r\nContent-Length: 50\r\n\r\nupstream");
    scripted_wait_for_end(c);
    return SCRIPTED_CLOSE;
}

static void an_endless_error_response_gives_that_error(void **state)
{
    (void)state;
    for (int mode = 0; mode < REST_MODES; mode++) {
        rest_world w = {.mode = mode, .http.error_timeout_ms = 30};
        ki_rest_request get = rest_request(KI_REST_GET);
        ki_rest_answer answer = {0};
        rest_world_init(&w, serve_stalled_error, NULL);
        assert_int_equal(ki_rest_run(w.client, &get, &answer, NULL), KI_ERR_FORBIDDEN);
        assert_int_equal(answer.http_status, 403);
        assert_string_equal(answer.error.message, "the server responded with 403: upstream");
        ki_rest_answer_fini(&answer);
        rest_world_fini(&w);
    }
}

static void the_clients_timeout_applies_to_calls(void **state)
{
    (void)state;
    rest_world w = {.mode = KI_MODE_THREADS, .http = {.request_timeout_ms = 100}};
    rest_world_init(&w, serve_silence, NULL);
    ki_rest_request get = rest_request(KI_REST_GET);
    outcome o = run(&w, &get);
    assert_int_equal(o.rc, KI_ERR_TIMEOUT);
    assert_true(o.ms < AT_ONCE_MS);
    rest_world_fini(&w);
}

#define EVENT(name)                                                                                          \
    "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"namespace\":\"web\",\"name\":\"" name                   \
    "\",\"resourceVersion\":\"11\"}}}\n"

/* The first list gets no response; the watch is silent until it is poked. */
static scripted_next serve_slowly(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    if (strstr(r->target, "watch=true") != NULL)
        (void)(scripted_begin(c, "200 OK") && scripted_wait(c, 1) && scripted_chunk(c, EVENT("late")));
    else if (r->number > 1) {
        (void)scripted_answer(c, "200 OK", "",
                              "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":"
                              "{\"resourceVersion\":\"10\"},\"items\":[]}");
        return SCRIPTED_KEEP;
    }
    scripted_wait_for_end(c);
    return SCRIPTED_CLOSE;
}

static void a_list_must_begin_in_time_and_a_watch_may_be_silent(void **state)
{
    (void)state;
    rest_world w = {.mode = KI_MODE_THREADS, .http = {.request_timeout_ms = 1000}};
    ki_informer_options options = {.watch_list = KI_WATCH_LIST_NEVER, .backoff_ms = 10, .backoff_max_ms = 50};
    rest_world_init(&w, serve_slowly, NULL);
    ki_informer *pods = ki_informer_new(w.client, &KI_CORE_V1_PODS, &options, NULL);
    uint64_t began_ms = rest_world_now_ms();
    assert_int_equal(ki_informer_start(pods, NULL), 0);
    assert_int_equal(ki_informer_wait_for_sync(pods, HANG_MS, NULL), 0);
    assert_true(rest_world_now_ms() - began_ms < 20 * 1000);
    while (scripted_http_requests(w.server) < 3)
        rest_world_live(&w);
    for (began_ms = rest_world_now_ms(); rest_world_now_ms() - began_ms < 1500;)
        rest_world_live(&w);
    scripted_http_poke(w.server, 1);
    while (ki_store_count(ki_informer_store(pods)) == 0)
        rest_world_live(&w);
    assert_int_equal(scripted_http_requests(w.server), 3);
    ki_informer_free(pods);
    rest_world_fini(&w);
}

/* ---- cancelling -------------------------------------------------------------------------------------- */

static void a_cancelled_call_ends_at_once(void **state)
{
    (void)state;
    for (int mode = 0; mode < REST_MODES; mode++) {
        rest_world w = {.mode = mode};
        told_answer told = {0};
        uint64_t id = 0;
        rest_world_init(&w, serve_silence, NULL);
        ki_rest_request get = rest_request_heard(KI_REST_GET, &told);
        assert_int_equal(ki_rest_begin(w.client, &get, &id, NULL), 0);
        while (scripted_http_requests(w.server) == 0)
            rest_world_live(&w);
        ki_rest_cancel(w.client, id);
        ki_rest_cancel(w.client, id);
        rest_world_wait(&w, &told, 1);
        assert_int_equal(told.error, KI_ERR_STOPPED);
        assert_int_equal(ki_rest_begin(w.client, &get, &id, NULL), 0); /* cancelled before it is sent */
        ki_rest_cancel(w.client, id);
        rest_world_wait(&w, &told, 2);
        assert_int_equal(told.error, KI_ERR_STOPPED);
        rest_world_fini(&w);
        assert_int_equal(told.times, 2);
    }
}

static void a_call_that_waits_for_its_next_attempt_can_be_cancelled(void **state)
{
    (void)state;
    opening busy = {99, "429 Too Many Requests", "Retry-After: 50\r\n", SCRIPTED_KEEP};
    rest_world w = {.mode = KI_MODE_THREADS};
    told_answer told = {0};
    uint64_t id = 0;
    rest_world_init(&w, serve_opening, &busy);
    ki_rest_request get = rest_request_heard(KI_REST_GET, &told);
    uint64_t began_ms = rest_world_now_ms();
    assert_int_equal(ki_rest_begin(w.client, &get, &id, NULL), 0);
    while (rest_world_now_ms() - began_ms < 200)
        rest_world_live(&w);
    assert_int_equal(told.times, 0);
    ki_rest_cancel(w.client, id);
    rest_world_wait(&w, &told, 1);
    assert_int_equal(told.error, KI_ERR_STOPPED);
    assert_int_equal(told.code, 429);
    rest_world_fini(&w);
}

typedef struct chain {
    ki_client *client;
    ki_rest_request next;
} chain;

static void begin_next(const ki_rest_answer *answer, void *user)
{
    chain *c = user;
    assert_int_equal(answer->error.retry_after_ms, 50 * 1000);
    assert_int_equal(ki_rest_begin(c->client, &c->next, NULL, NULL), 0);
}

/* Calls that its callback begins are not retried, either: the key of the reconcile waits instead. */
static void a_call_of_a_reconcile_is_not_retried(void **state)
{
    (void)state;
    for (int mode = 0; mode < REST_MODES; mode++) {
        opening busy = {99, "429 Too Many Requests", "Retry-After: 50\r\n", SCRIPTED_KEEP};
        rest_world w = {.mode = mode};
        told_answer told = {0};
        rest_world_init(&w, serve_opening, &busy);
        chain c = {w.client, rest_request_heard(KI_REST_GET, &told)};
        ki_rest_request get = rest_request(KI_REST_GET);
        get.on_answer = begin_next;
        get.user = &c;
        assert_false(ki_callback_set_reconcile(true));
        assert_int_equal(ki_rest_begin(w.client, &get, NULL, NULL), 0);
        assert_true(ki_callback_set_reconcile(false));
        rest_world_wait(&w, &told, 1);
        assert_int_equal(told.code, 429);
        assert_int_equal(told.attempts, 1);
        assert_false(ki_callback_is_in_reconcile());
        rest_world_fini(&w);
    }
}

static void a_client_that_is_freed_ends_its_calls(void **state)
{
    (void)state;
    enum { CALLS = 10 };
    for (int mode = 0; mode < REST_MODES; mode++)
        for (int is_sent = 0; is_sent < 2; is_sent++) {
            rest_world w = {.mode = mode};
            told_answer told[CALLS] = {0};
            rest_world_init(&w, serve_silence, NULL);
            for (int i = 0; i < CALLS; i++) {
                ki_rest_request get = rest_request_heard(KI_REST_GET, &told[i]);
                assert_int_equal(ki_rest_begin(w.client, &get, NULL, NULL), 0);
            }
            while (is_sent && scripted_http_requests(w.server) < CALLS)
                rest_world_live(&w);
            ki_client_free(w.client);
            for (int i = 0; i < CALLS; i++) {
                assert_int_equal(told[i].times, 1);
                assert_int_equal(told[i].error, KI_ERR_STOPPED);
            }
            scripted_http_stop(w.server);
        }
}

typedef struct last_words {
    rest_world *w;
    atomic_int times;
    int refused;
} last_words;

static void begin_another(const ki_rest_answer *answer, void *user)
{
    last_words *last = user;
    ki_rest_request get = rest_request(KI_REST_GET);
    (void)answer;
    last->refused = ki_rest_begin(last->w->client, &get, NULL, NULL);
    last->times++;
}

static void a_client_that_is_freed_begins_no_call(void **state)
{
    (void)state;
    for (int mode = 0; mode < REST_MODES; mode++) {
        rest_world w = {.mode = mode};
        last_words last = {.w = &w};
        rest_world_init(&w, serve_silence, NULL);
        ki_rest_request get = rest_request(KI_REST_GET);
        get.on_answer = begin_another;
        get.user = &last;
        assert_int_equal(ki_rest_begin(w.client, &get, NULL, NULL), 0);
        rest_world_fini(&w);
        assert_int_equal(last.times, 1);
        assert_int_equal(last.refused, KI_ERR_STOPPED);
    }
}

static scripted_next serve_reads_only(scripted_connection *c, const scripted_request *r, void *user)
{
    return strcmp(r->method, "GET") == 0 ? rest_world_echo(c, r, user) : serve_silence(c, r, user);
}

static void free_its_client(const ki_rest_answer *answer, void *user)
{
    (void)answer;
    ki_client_free(user);
}

/* The waiting call runs the callback itself, and is the last to leave the client. */
static void a_waiting_call_ends_when_a_callback_frees_the_client(void **state)
{
    (void)state;
    rest_world w = {.mode = KI_MODE_EVENT_LOOP};
    rest_world_init(&w, serve_reads_only, NULL);
    ki_rest_request get = rest_request(KI_REST_GET);
    get.on_answer = free_its_client;
    get.user = w.client;
    assert_int_equal(ki_rest_begin(w.client, &get, NULL, NULL), 0);
    ki_rest_request create = rest_request(KI_REST_CREATE);
    create.timeout_ms = HANG_MS;
    outcome o = run(&w, &create);
    assert_int_equal(o.rc, KI_ERR_STOPPED);
    scripted_http_stop(w.server);
}

/* ---- memory ------------------------------------------------------------------------------------------ */

/* Returns whether the planned failure happened. */
static bool try_without_memory(int verb, size_t n)
{
    rest_world w = {.mode = KI_MODE_EVENT_LOOP};
    told_answer told = {0};
    rest_world_init(&w, rest_world_echo, NULL);
    ki_rest_request request = rest_request_heard(verb, &told);
    failing_allocator_fail_at(n);
    int rc = ki_rest_begin(w.client, &request, NULL, NULL);
    if (rc == 0)
        rest_world_wait(&w, &told, 1);
    else
        assert_int_equal(rc, KI_ERR_NO_MEMORY);
    bool has_failed = failing_allocator_has_failed();
    failing_allocator_fail_at(0);
    if (rc == 0 && told.error != 0)
        assert_int_equal(told.error, KI_ERR_NO_MEMORY);
    assert_true(has_failed || (rc == 0 && told.error == 0));
    rest_world_fini(&w);
    assert_int_equal(told.times, rc == 0);
    return has_failed;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    static const int verbs[] = {KI_REST_GET, KI_REST_PATCH, KI_REST_DELETE};
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        size_t n = 1;
        while (try_without_memory(verbs[i], n))
            n++;
        assert_true(n > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(retry_after_is_honoured_also_by_writes),
        WITH_MEMORY_CHECK(without_retry_after_nothing_is_retried),
        WITH_MEMORY_CHECK(attempts_are_counted),
        WITH_MEMORY_CHECK(a_timeout_shorter_than_retry_after_ends_the_call_at_once),
        WITH_MEMORY_CHECK(refused_credentials_are_renewed_once),
        WITH_MEMORY_CHECK(credentials_that_cannot_be_read_are_an_error),
        WITH_MEMORY_CHECK(lost_reads_are_retried_but_not_lost_writes),
        WITH_MEMORY_CHECK(a_missing_server_is_reported_at_once),
        WITH_MEMORY_CHECK(a_call_ends_when_its_time_is_over),
        WITH_MEMORY_CHECK(an_endless_error_response_gives_that_error),
        WITH_MEMORY_CHECK(the_clients_timeout_applies_to_calls),
        WITH_MEMORY_CHECK(a_list_must_begin_in_time_and_a_watch_may_be_silent),
        WITH_MEMORY_CHECK(a_cancelled_call_ends_at_once),
        WITH_MEMORY_CHECK(a_call_that_waits_for_its_next_attempt_can_be_cancelled),
        WITH_MEMORY_CHECK(a_call_of_a_reconcile_is_not_retried),
        WITH_MEMORY_CHECK(a_client_that_is_freed_ends_its_calls),
        WITH_MEMORY_CHECK(a_client_that_is_freed_begins_no_call),
        WITH_MEMORY_CHECK(a_waiting_call_ends_when_a_callback_frees_the_client),
        WITH_MEMORY_CHECK(each_allocation_may_fail),
    };
    return RUN_TESTS(tests);
}
