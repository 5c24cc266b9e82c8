/* SPDX-License-Identifier: Apache-2.0 */
/* Many concurrent calls, and their limits, over real sockets
 * (support/client/scripted_http.c). */
#include <string.h>

#include "flow/support/rest_world.h"
#include "support/aside.h"
#include "support/failing_allocator.h"
#include "support/patience.h"
#include "support/unit.h"

/* ---- all at once ------------------------------------------------------------------------------------- */

enum { STRESS_THREADS = 4, STRESS_CALLS = 150 };

typedef struct stress {
    ki_client *client;
    atomic_int begun;
    atomic_int told;
} stress;

static void count_answer(const ki_rest_answer *answer, void *user)
{
    stress *s = user;
    (void)answer;
    s->told++;
}

static void begin_and_cancel(void *user)
{
    stress *s = user;
    for (int i = 0; i < STRESS_CALLS; i++) {
        uint64_t id = 0;
        ki_rest_request get = rest_request(KI_REST_GET + i % 2 * 3);
        get.on_answer = count_answer;
        get.user = s;
        if (ki_rest_begin(s->client, &get, &id, NULL) == 0)
            s->begun++;
        if (i % 3 == 0)
            ki_rest_cancel(s->client, id - (uint64_t)(i % 5));
        if (i % 10 == 0)
            (void)ki_rest_run(s->client, &get, NULL, NULL);
    }
}

static void threads_that_begin_and_cancel_lose_no_callback(void **state)
{
    (void)state;
    rest_world w = {.mode = KI_MODE_THREADS, .http = {.connections_max = 20}};
    aside threads[STRESS_THREADS] = {0};
    rest_world_init(&w, rest_world_echo, NULL);
    stress s = {.client = w.client};
    for (int i = 0; i < STRESS_THREADS; i++)
        aside_start(&threads[i], begin_and_cancel, &s);
    for (int i = 0; i < STRESS_THREADS; i++)
        aside_join(&threads[i]);
    rest_world_fini(&w); /* calls are in progress */
    assert_int_equal(s.begun, STRESS_THREADS * STRESS_CALLS);
    assert_int_equal(s.told, s.begun);
}

/* ---- the limit --------------------------------------------------------------------------------------- */

static void more_calls_than_the_limit_have_to_wait(void **state)
{
    (void)state;
    for (int mode = 0; mode < REST_MODES; mode++) {
        rest_world w = {.mode = mode, .options = {.requests_per_second = 10, .requests_burst = 2}};
        told_answer told = {0};
        rest_world_init(&w, rest_world_echo, NULL);
        ki_rest_request get = rest_request_heard(KI_REST_GET, &told);
        uint64_t began_ms = rest_world_now_ms();
        for (int i = 0; i < 5; i++)
            assert_int_equal(ki_rest_begin(w.client, &get, NULL, NULL), 0);
        rest_world_wait(&w, &told, 5);
        assert_true(rest_world_now_ms() - began_ms >= 299);
        rest_world_fini(&w);
    }
}

static void a_call_that_would_wait_too_long_fails_at_once(void **state)
{
    (void)state;
    rest_world w = {.mode = KI_MODE_THREADS, .options = {.requests_per_second = 0.01, .requests_burst = 1}};
    rest_world_init(&w, rest_world_echo, NULL);
    ki_rest_request get = rest_request(KI_REST_GET);
    ki_rest_answer answer = {0};
    assert_int_equal(ki_rest_run(w.client, &get, NULL, NULL), 0);
    get.timeout_ms = 20 * 1000;
    uint64_t began_ms = rest_world_now_ms();
    assert_int_equal(ki_rest_run(w.client, &get, &answer, NULL), KI_ERR_TIMEOUT);
    assert_int_equal(answer.attempts, 0);
    assert_true(rest_world_now_ms() - began_ms < AT_ONCE_MS);
    ki_rest_answer_fini(&answer);
    assert_int_equal(scripted_http_requests(w.server), 1);
    rest_world_fini(&w);
}

static void a_cancelled_call_leaves_its_turn_to_others(void **state)
{
    (void)state;
    enum { CALLS = 50 };
    rest_world w = {.mode = KI_MODE_THREADS, .options = {.requests_per_second = 1, .requests_burst = 1}};
    told_answer told[CALLS] = {0};
    uint64_t ids[CALLS] = {0};
    rest_world_init(&w, rest_world_echo, NULL);
    for (int i = 0; i < CALLS; i++) {
        ki_rest_request waiting = rest_request_heard(KI_REST_GET, &told[i]);
        assert_int_equal(ki_rest_begin(w.client, &waiting, &ids[i], NULL), 0);
    }
    rest_world_wait(&w, &told[0], 1); /* the others wait for their turn */
    for (int i = 1; i < CALLS; i++) {
        ki_rest_cancel(w.client, ids[i]);
        rest_world_wait(&w, &told[i], 1);
    }
    ki_rest_request get = rest_request(KI_REST_GET);
    get.timeout_ms = 30 * 1000; /* less than the turns of all cancelled calls */
    assert_int_equal(ki_rest_run(w.client, &get, NULL, NULL), 0);
    rest_world_fini(&w);
}

/* ---- concurrent calls -------------------------------------------------------------------------------- */

/* Requests for objects named "slow" get their response when poked. */
static scripted_next serve_when_poked(scripted_connection *c, const scripted_request *r, void *user)
{
    if (strstr(r->target, "/slow") != NULL && !scripted_wait(c, 1))
        return SCRIPTED_CLOSE;
    return rest_world_echo(c, r, user);
}

static void no_more_calls_than_allowed_are_in_flight(void **state)
{
    (void)state;
    enum { CALLS = 12, AT_ONCE = 3 };
    for (int mode = 0; mode < REST_MODES; mode++) {
        rest_world w = {.mode = mode, .options = {.requests_at_once = AT_ONCE}};
        told_answer told[CALLS] = {0};
        uint64_t ids[CALLS] = {0};
        rest_world_init(&w, serve_when_poked, NULL);
        for (int i = 0; i < CALLS; i++) {
            ki_rest_request get = rest_request_heard(KI_REST_GET, &told[i]);
            get.name = "slow";
            if (i == CALLS - 1)
                get.timeout_ms = 150;
            assert_int_equal(ki_rest_begin(w.client, &get, &ids[i], NULL), 0);
        }
        ki_rest_cancel(w.client, ids[4]);
        rest_world_wait(&w, &told[CALLS - 1], 1);
        rest_world_wait(&w, &told[4], 1);
        assert_int_equal(told[4].error, KI_ERR_STOPPED);
        assert_int_equal(told[CALLS - 1].error, KI_ERR_TIMEOUT);
        assert_int_equal(told[CALLS - 1].attempts, 0);
        while (scripted_http_requests(w.server) < AT_ONCE)
            rest_world_live(&w);
        assert_int_equal(scripted_http_requests(w.server), AT_ONCE);
        scripted_http_poke(w.server, 1);
        for (int i = 0; i < CALLS; i++)
            rest_world_wait(&w, &told[i], 1);
        assert_int_equal(scripted_http_requests(w.server), CALLS - 2);
        assert_int_equal(scripted_http_connections(w.server), AT_ONCE);
        rest_world_fini(&w);
    }
}

static void a_connection_is_kept_beside_many_in_use(void **state)
{
    (void)state;
    enum { BUSY = 40 };
    rest_world w = {.mode = KI_MODE_THREADS};
    told_answer told = {0};
    rest_world_init(&w, serve_when_poked, NULL);
    ki_rest_request slow = rest_request_heard(KI_REST_GET, &told);
    ki_rest_request get = rest_request(KI_REST_GET);
    slow.name = "slow";
    for (int i = 0; i < BUSY; i++)
        assert_int_equal(ki_rest_begin(w.client, &slow, NULL, NULL), 0);
    while (scripted_http_connections(w.server) < BUSY)
        rest_world_live(&w);
    for (int i = 0; i < 5; i++)
        assert_int_equal(ki_rest_run(w.client, &get, NULL, NULL), 0);
    assert_int_equal(scripted_http_connections(w.server), BUSY + 1);
    rest_world_fini(&w);
    assert_int_equal(told.times, BUSY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(threads_that_begin_and_cancel_lose_no_callback),
        WITH_MEMORY_CHECK(more_calls_than_the_limit_have_to_wait),
        WITH_MEMORY_CHECK(a_call_that_would_wait_too_long_fails_at_once),
        WITH_MEMORY_CHECK(a_cancelled_call_leaves_its_turn_to_others),
        WITH_MEMORY_CHECK(no_more_calls_than_allowed_are_in_flight),
        WITH_MEMORY_CHECK(a_connection_is_kept_beside_many_in_use),
    };
    return RUN_TESTS(tests);
}
