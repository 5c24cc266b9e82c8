/* SPDX-License-Identifier: Apache-2.0 */
/* The gate that is called before each write is sent, and what a caller learns about delays and conflicts;
 * over real sockets (support/client/scripted_http.c), in each mode. */
#include <stdio.h>
#include <string.h>

#include "client/client.h"
#include "flow/support/rest_world.h"
#include "support/unit.h"
#include "util/thread.h"

/* ---- the gate ---------------------------------------------------------------------------------------- */

/* Refuses from call number `refuses_from` on; 0: never. */
typedef struct gate_notes {
    atomic_int asked;
    int refuses_from;
    const char *message;
    char method[16];
    char target[256];
    int requests_seen; /* requests that the server had received at the last call */
    scripted_http *server;
} gate_notes;

static int ask(const ki_write *write, ki_error *why, void *user)
{
    gate_notes *notes = user;
    (void)snprintf(notes->method, sizeof(notes->method), "%s", write->method);
    (void)snprintf(notes->target, sizeof(notes->target), "%.*s", KI_STR_ARGS(write->target));
    if (notes->server != NULL)
        notes->requests_seen = scripted_http_requests(notes->server);
    int number = ++notes->asked;
    if (notes->refuses_from == 0 || number < notes->refuses_from)
        return 0;
    if (notes->message != NULL)
        (void)snprintf(why->message, sizeof(why->message), "%s", notes->message);
    return 1;
}

static int run(rest_world *w, int verb, ki_error *err)
{
    ki_rest_request request = rest_request(verb);
    return ki_rest_run(w->client, &request, NULL, err);
}

static void the_gate_is_called_for_writes_and_never_for_reads(void **state)
{
    (void)state;
    static const struct {
        int verb;
        const char *method;
    } writes[] = {{KI_REST_CREATE, "POST"},
                  {KI_REST_UPDATE, "PUT"},
                  {KI_REST_PATCH, "PATCH"},
                  {KI_REST_DELETE, "DELETE"}};
    for (int mode = 0; mode < REST_MODES; mode++) {
        rest_world w = {.mode = mode};
        gate_notes notes = {0};
        rest_world_init(&w, rest_world_echo, NULL);
        assert_int_equal(ki_client_set_write_gate(w.client, ask, &notes), 0);
        assert_int_equal(run(&w, KI_REST_GET, NULL), 0);
        assert_int_equal(notes.asked, 0);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(run(&w, writes[i].verb, NULL), 0);
            assert_int_equal(notes.asked, i + 1);
            assert_string_equal(notes.method, writes[i].method);
            assert_non_null(strstr(notes.target, "/api/v1/namespaces/web/pods"));
        }
        rest_world_fini(&w);
    }
}

static void a_refused_write_never_reaches_the_server(void **state)
{
    (void)state;
    for (int mode = 0; mode < REST_MODES; mode++) {
        rest_world w = {.mode = mode};
        gate_notes notes = {.refuses_from = 1, .message = "the lease was lost"};
        ki_error err = {0};
        rest_world_init(&w, rest_world_echo, NULL);
        assert_int_equal(ki_client_set_write_gate(w.client, ask, &notes), 0);
        assert_int_equal(run(&w, KI_REST_CREATE, &err), KI_ERR_REFUSED);
        assert_string_equal(err.message, "the lease was lost");
        notes.message = NULL;
        assert_int_equal(run(&w, KI_REST_DELETE, &err), KI_ERR_REFUSED);
        assert_string_equal(err.message, ki_error_text(KI_ERR_REFUSED));
        assert_int_equal(scripted_http_requests(w.server), 0);
        assert_int_equal(run(&w, KI_REST_GET, NULL), 0);
        assert_int_equal(ki_client_set_write_gate(w.client, NULL, NULL), 0);
        assert_int_equal(run(&w, KI_REST_CREATE, NULL), 0);
        assert_int_equal(notes.asked, 2);
        rest_world_fini(&w);
    }
}

static void a_callback_gets_the_refusal(void **state)
{
    (void)state;
    for (int mode = 0; mode < REST_MODES; mode++) {
        rest_world w = {.mode = mode};
        gate_notes notes = {.refuses_from = 1};
        told_answer told = {0};
        ki_rest_request request = rest_request_heard(KI_REST_UPDATE, &told);
        rest_world_init(&w, rest_world_echo, NULL);
        assert_int_equal(ki_client_set_write_gate(w.client, ask, &notes), 0);
        assert_int_equal(ki_rest_begin(w.client, &request, NULL, NULL), 0);
        rest_world_wait(&w, &told, 1);
        assert_int_equal(told.error, KI_ERR_REFUSED);
        assert_int_equal(told.code, 0);
        rest_world_fini(&w);
    }
}

/* ---- when it is called ------------------------------------------------------------------------------- */

static scripted_next serve_busy(scripted_connection *c, const scripted_request *r, void *user)
{
    char body[1024];
    const int *times = user;
    if (r->number > *times)
        return rest_world_echo(c, r, NULL);
    if (!scripted_read_body(c, r, body, sizeof(body)))
        return SCRIPTED_CLOSE;
    (void)scripted_answer(c, "429 Too Many Requests", "Retry-After: 1\r\n", "{}");
    return SCRIPTED_KEEP;
}

static void each_attempt_calls_the_gate(void **state)
{
    (void)state;
    rest_world w = {.mode = KI_MODE_THREADS};
    int busy_times = 1;
    ki_error err = {0};
    rest_world_init(&w, serve_busy, &busy_times);
    gate_notes notes = {.refuses_from = 2, .server = w.server};
    assert_int_equal(ki_client_set_write_gate(w.client, ask, &notes), 0);
    assert_int_equal(run(&w, KI_REST_CREATE, &err), KI_ERR_REFUSED);
    assert_int_equal(notes.asked, 2);
    assert_int_equal(notes.requests_seen, 1);
    assert_int_equal(scripted_http_requests(w.server), 1);
    rest_world_fini(&w);
}

static scripted_next serve_when_poked(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    if (!scripted_wait(c, r->number))
        return SCRIPTED_CLOSE;
    return rest_world_echo(c, r, NULL);
}

/* Only one call may be in flight, so the second one waits for the first.
 * The gate decides when it is the second one's turn. */
static void a_queued_write_calls_the_gate_only_at_its_turn(void **state)
{
    (void)state;
    rest_world w = {.mode = KI_MODE_THREADS, .options = {.requests_at_once = 1}};
    gate_notes notes = {.refuses_from = 2};
    told_answer told[2] = {0};
    rest_world_init(&w, serve_when_poked, NULL);
    assert_int_equal(ki_client_set_write_gate(w.client, ask, &notes), 0);
    for (int i = 0; i < 2; i++) {
        ki_rest_request request = rest_request_heard(KI_REST_CREATE, &told[i]);
        assert_int_equal(ki_rest_begin(w.client, &request, NULL, NULL), 0);
    }
    while (scripted_http_requests(w.server) == 0)
        rest_world_live(&w);
    assert_int_equal(notes.asked, 1);
    scripted_http_poke(w.server, 1);
    rest_world_wait(&w, &told[0], 1);
    rest_world_wait(&w, &told[1], 1);
    assert_int_equal(told[0].error, 0);
    assert_int_equal(told[1].error, KI_ERR_REFUSED);
    assert_int_equal(notes.asked, 2);
    assert_int_equal(scripted_http_requests(w.server), 1);
    rest_world_fini(&w);
}

static scripted_next serve_once_each(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    (void)rest_world_echo(c, r, NULL);
    return SCRIPTED_CLOSE;
}

/* This is the same on new and on kept connections. */
static void each_connection_calls_the_gate(void **state)
{
    (void)state;
    rest_world w = {.mode = KI_MODE_EVENT_LOOP};
    gate_notes notes = {0};
    rest_world_init(&w, serve_once_each, NULL);
    assert_int_equal(ki_client_set_write_gate(w.client, ask, &notes), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(run(&w, KI_REST_UPDATE, NULL), 0);
    assert_true(notes.asked >= 3);
    notes.refuses_from = notes.asked + 1;
    assert_int_equal(run(&w, KI_REST_UPDATE, NULL), KI_ERR_REFUSED);
    rest_world_fini(&w);
}

/* ---- setting it -------------------------------------------------------------------------------------- */

typedef struct reentry {
    ki_client *client;
    int wait_code;
    int set_code;
} reentry;

static int ask_and_replace(const ki_write *write, ki_error *why, void *user)
{
    reentry *r = user;
    ki_rest_request get = rest_request(KI_REST_GET);
    (void)write;
    r->wait_code = ki_rest_run(r->client, &get, NULL, why);
    r->set_code = ki_client_set_write_gate(r->client, NULL, NULL);
    return 0;
}

static void a_gate_may_remove_itself_but_not_wait(void **state)
{
    (void)state;
    for (int mode = 0; mode < REST_MODES; mode++) {
        rest_world w = {.mode = mode};
        rest_world_init(&w, rest_world_echo, NULL);
        reentry r = {.client = w.client};
        assert_int_equal(ki_client_set_write_gate(w.client, ask_and_replace, &r), 0);
        assert_int_equal(run(&w, KI_REST_CREATE, NULL), 0);
        assert_int_equal(r.wait_code, KI_ERR_WOULD_DEADLOCK);
        assert_int_equal(r.set_code, 0);
        rest_world_fini(&w);
    }
    assert_int_equal(ki_client_set_write_gate(NULL, NULL, NULL), KI_ERR_INVALID);
}

/* Two gates whose memory is marked while they may be called, so that a gate that runs after it was replaced
 * is detected. */
typedef struct guarded {
    atomic_int is_set;
    atomic_int was_late;
    atomic_int asked;
} guarded;

static int ask_guarded(const ki_write *write, ki_error *why, void *user)
{
    guarded *g = user;
    (void)write;
    (void)why;
    g->asked++;
    for (int i = 0; i < 1000; i++)
        if (!g->is_set)
            g->was_late = 1;
    return 0;
}

typedef struct writer {
    rest_world *w;
    atomic_int *is_over;
    int errors;
} writer;

static void keep_writing(void *user)
{
    writer *self = user;
    while (!*self->is_over)
        if (run(self->w, KI_REST_CREATE, NULL) != 0)
            self->errors++;
}

static void a_replaced_gate_does_not_run_any_more(void **state)
{
    (void)state;
    enum { WRITERS = 3, ROUNDS = 200 };
    rest_world w = {.mode = KI_MODE_THREADS};
    guarded gates[2] = {{0}};
    atomic_int is_over = 0;
    ki_thread threads[WRITERS] = {{0}};
    writer writers[WRITERS];
    rest_world_init(&w, rest_world_echo, NULL);
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (writer){&w, &is_over, 0};
        assert_int_equal(
            ki_thread_start(&threads[i], &(ki_thread_options){"writer", keep_writing, &writers[i], 0}, NULL),
            0);
    }
    for (int i = 0; i < ROUNDS || gates[0].asked == 0 || gates[1].asked == 0; i++) {
        guarded *next = &gates[i % 2];
        next->is_set = 1;
        assert_int_equal(ki_client_set_write_gate(w.client, ask_guarded, next), 0);
        gates[(i + 1) % 2].is_set = 0;
        if (i % 15 == 0)
            rest_world_live(&w);
    }
    assert_int_equal(ki_client_set_write_gate(w.client, NULL, NULL), 0);
    is_over = 1;
    for (int i = 0; i < WRITERS; i++) {
        ki_thread_join(&threads[i]);
        assert_int_equal(writers[i].errors, 0);
    }
    assert_int_equal(gates[0].was_late + gates[1].was_late, 0);
    rest_world_fini(&w);
}

/* A gate that returns only a while after a thread has begun to remove it. */
typedef struct removal {
    ki_client *client;
    ki_mutex mu;
    ki_cond changed;
    bool is_asked; /* guarded by mu, like all below */
    bool has_begun;
    bool has_returned;
    bool was_early;
    void (*remove)(struct removal *r); /* constant, not guarded by mu */
} removal;

static int ask_and_stay(const ki_write *write, ki_error *why, void *user)
{
    removal *r = user;
    (void)write;
    (void)why;
    ki_mutex_lock(&r->mu);
    r->is_asked = true;
    ki_cond_broadcast(&r->changed);
    while (!r->has_begun)
        ki_cond_wait(&r->changed, &r->mu);
    while (!r->has_returned && ki_cond_wait_ms(&r->changed, &r->mu, 50)) {
    }
    r->was_early = r->has_returned;
    ki_mutex_unlock(&r->mu);
    return 0;
}

static void take_away(void *user)
{
    removal *r = user;
    ki_mutex_lock(&r->mu);
    while (!r->is_asked)
        ki_cond_wait(&r->changed, &r->mu);
    r->has_begun = true;
    ki_cond_broadcast(&r->changed);
    ki_mutex_unlock(&r->mu);
    r->remove(r);
    ki_mutex_lock(&r->mu);
    r->has_returned = true;
    ki_cond_broadcast(&r->changed);
    ki_mutex_unlock(&r->mu);
}

static void expect_that_it_waits(void (*remove)(removal *r))
{
    rest_world w = {.mode = KI_MODE_THREADS};
    removal r = {.remove = remove};
    ki_thread thread = {0};
    ki_mutex_init(&r.mu);
    ki_cond_init(&r.changed);
    rest_world_init(&w, rest_world_echo, NULL);
    r.client = w.client;
    assert_int_equal(ki_client_set_write_gate(w.client, ask_and_stay, &r), 0);
    assert_int_equal(ki_thread_start(&thread, &(ki_thread_options){"away", take_away, &r, 0}, NULL), 0);
    assert_int_equal(run(&w, KI_REST_CREATE, NULL), 0);
    ki_thread_join(&thread);
    assert_true(r.has_returned);
    assert_false(r.was_early);
    rest_world_fini(&w);
    ki_cond_fini(&r.changed);
    ki_mutex_fini(&r.mu);
}

static void remove_gate(removal *r)
{
    (void)!ki_client_set_write_gate(r->client, NULL, NULL);
}

static void removing_a_gate_waits_until_it_has_returned(void **state)
{
    (void)state;
    expect_that_it_waits(remove_gate);
}

static void put_another(void *user)
{
    removal *r = user;
    static gate_notes notes;
    (void)!ki_client_set_write_gate(r->client, ask, &notes);
}

/* Another thread has replaced the gate, and waits for it as well. */
static void remove_replaced_gate(removal *r)
{
    ki_write_gate *gate = &r->client->gate;
    ki_thread other = {0};
    assert_int_equal(ki_thread_start(&other, &(ki_thread_options){"other", put_another, r, 0}, NULL), 0);
    for (bool is_replaced = false; !is_replaced;) {
        ki_mutex_lock(&gate->mu);
        is_replaced = gate->ask == ask;
        ki_mutex_unlock(&gate->mu);
    }
    ki_write_gate_replace(gate, ask_and_stay, r, NULL);
    ki_mutex_lock(&r->mu);
    r->has_returned = true; /* before the other thread */
    ki_mutex_unlock(&r->mu);
    ki_thread_join(&other);
}

static void removing_a_replaced_gate_waits_for_it_too(void **state)
{
    (void)state;
    expect_that_it_waits(remove_replaced_gate);
}

/* ---- delays and conflicts ---------------------------------------------------------------------------- */

/* In seconds; in the header or, if that is "", in a Status. */
typedef struct delay_row {
    const char *headers;
    const char *body;
    uint32_t expected_ms;
} delay_row;

static scripted_next serve_delay(scripted_connection *c, const scripted_request *r, void *user)
{
    const delay_row *row = user;
    char body[1024];
    if (!scripted_read_body(c, r, body, sizeof(body)))
        return SCRIPTED_CLOSE;
    (void)scripted_answer(c, "429 Too Many Requests", row->headers, row->body);
    return SCRIPTED_KEEP;
}

#define BUSY_STATUS(seconds)                                                                                 \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"no\","  \
    "\"reason\":\"TooManyRequests\",\"details\":{\"retryAfterSeconds\":" seconds "},\"code\":429}"

static void a_delayed_write_reports_its_delay(void **state)
{
    (void)state;
    static const delay_row rows[] = {
        {"Retry-After: 7\r\n", "{}", 7000},
        {"Retry-After: 7\r\n", BUSY_STATUS("9"), 7000},
        {"", BUSY_STATUS("9"), 9000},
        {"", BUSY_STATUS("2000000000"), 600000},
        {"Retry-After: 99999999\r\n", "{}", 600000},
        {"", "{}", 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        rest_world w = {.mode = KI_MODE_THREADS, .options = {.request_retries_max = -1}};
        delay_row row = rows[i];
        ki_rest_request create = rest_request(KI_REST_CREATE);
        ki_rest_answer answer = {0};
        ki_error err = {0};
        rest_world_init(&w, serve_delay, &row);
        assert_int_equal(ki_rest_run(w.client, &create, &answer, &err), KI_ERR_HTTP);
        assert_int_equal(answer.reason, KI_REASON_TOO_MANY_REQUESTS);
        assert_int_equal(answer.attempts, 1);
        assert_int_equal(err.retry_after_ms, row.expected_ms);
        assert_int_equal(answer.error.retry_after_ms, row.expected_ms);
        ki_rest_answer_fini(&answer);
        rest_world_fini(&w);
    }
}

typedef struct attempts {
    int count;
    int conflicts;
    int last;
} attempts;

static int attempt(ki_error *err, void *user)
{
    attempts *a = user;
    int rc = a->count++ < a->conflicts ? KI_ERR_CONFLICT : a->last;
    err->code = rc;
    (void)snprintf(err->message, sizeof(err->message), "attempt %d", a->count);
    return rc;
}

static void conflicts_are_retried_four_times(void **state)
{
    (void)state;
    static const struct {
        attempts given;
        int rc;
        int count;
        const char *message;
    } rows[] = {{{0, 0, 0}, 0, 1, ""},
                {{0, 2, 0}, 0, 3, ""},
                {{0, 2, KI_ERR_FORBIDDEN}, KI_ERR_FORBIDDEN, 3, "attempt 3"},
                {{0, 99, 0}, KI_ERR_CONFLICT, 5, "attempt 5"}};
    for (int mode = 0; mode < REST_MODES; mode++) {
        rest_world w = {.mode = mode};
        rest_world_init(&w, rest_world_echo, NULL);
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
            attempts a = rows[i].given;
            ki_error err = {0};
            uint64_t began_ms = rest_world_now_ms();
            assert_int_equal(ki_retry_on_conflict(w.client, attempt, &err, &a), rows[i].rc);
            assert_int_equal(a.count, rows[i].count);
            assert_string_equal(err.message, rows[i].message);
            assert_true(rest_world_now_ms() - began_ms + 1 >= (uint64_t)(rows[i].count - 1) * 10);
        }
        assert_int_equal(ki_retry_on_conflict(w.client, NULL, NULL, NULL), KI_ERR_INVALID);
        rest_world_fini(&w);
    }
    assert_int_equal(ki_retry_on_conflict(NULL, attempt, NULL, NULL), KI_ERR_INVALID);
}

typedef struct last_attempt {
    ki_client *client;
    int count;
} last_attempt;

static int free_and_fail(ki_error *err, void *user)
{
    last_attempt *a = user;
    (void)err;
    a->count++;
    ki_client_free(a->client);
    return KI_ERR_CONFLICT;
}

static void nothing_is_retried_for_a_freed_client(void **state)
{
    (void)state;
    for (int mode = KI_MODE_THREADS; mode <= KI_MODE_EVENT_LOOP; mode++) {
        last_attempt a = {
            .client = ki_client_new(&(ki_client_options){.mode = (ki_mode)mode, .no_cluster = 1}, NULL)};
        assert_non_null(a.client);
        assert_int_equal(ki_retry_on_conflict(a.client, free_and_fail, NULL, &a), KI_ERR_CONFLICT);
        assert_int_equal(a.count, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gate_is_called_for_writes_and_never_for_reads),
        cmocka_unit_test(a_refused_write_never_reaches_the_server),
        cmocka_unit_test(a_callback_gets_the_refusal),
        cmocka_unit_test(each_attempt_calls_the_gate),
        cmocka_unit_test(a_queued_write_calls_the_gate_only_at_its_turn),
        cmocka_unit_test(each_connection_calls_the_gate),
        cmocka_unit_test(a_gate_may_remove_itself_but_not_wait),
        cmocka_unit_test(removing_a_gate_waits_until_it_has_returned),
        cmocka_unit_test(removing_a_replaced_gate_waits_for_it_too),
        cmocka_unit_test(a_replaced_gate_does_not_run_any_more),
        cmocka_unit_test(a_delayed_write_reports_its_delay),
        cmocka_unit_test(conflicts_are_retried_four_times),
        cmocka_unit_test(nothing_is_retried_for_a_freed_client),
    };
    return RUN_TESTS(tests);
}
