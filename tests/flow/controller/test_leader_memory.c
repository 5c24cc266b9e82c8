/* SPDX-License-Identifier: Apache-2.0 */
/* A leader for which one allocation fails: real sockets under a clock that the test moves. The server does
 * not use the library's allocator, unlike the embedded one. */
#include <kinformer.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "client/client.h"
#include "flow/support/scripted_client.h"
#include "support/failing_allocator.h"
#include "support/patience.h"
#include "support/unit.h"

enum { LEASE_BYTES = 2048 };

typedef struct world {
    ki_clock clock;
    scripted_http *server;
    ki_client *client;
    ki_client *guarded;
    ki_leader *leader;
    ki_mutex mu;
    char lease[LEASE_BYTES]; /* "": it does not exist; guarded by mu */
    atomic_bool is_given_back;
    int started;
    int stopped;
    int released;
} world;

static scripted_next serve(scripted_connection *c, const scripted_request *r, void *user)
{
    world *w = user;
    char lease[LEASE_BYTES] = "";
    bool is_write = strcmp(r->method, "GET") != 0;
    if (is_write && !scripted_read_body(c, r, lease, sizeof(lease)))
        return SCRIPTED_CLOSE;
    ki_mutex_lock(&w->mu);
    memcpy(is_write ? w->lease : lease, is_write ? lease : w->lease, sizeof(lease));
    ki_mutex_unlock(&w->mu);
    if (is_write && strstr(lease, "\"holderIdentity\":\"me\"") == NULL)
        w->is_given_back = true;
    if (lease[0] == 0)
        (void)scripted_answer(c, "404 Not Found", "Connection: close\r\n",
                              "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
                              "\"reason\":\"NotFound\",\"code\":404}");
    else
        (void)scripted_answer(c, "200 OK", "Connection: close\r\n", lease);
    return SCRIPTED_CLOSE; /* a kept connection would delay the next response */
}

static void on_started(ki_leader *leader, void *user)
{
    world *w = user;
    assert_int_equal(ki_leader_is_leading(leader), 1);
    w->started++;
}

static void on_stopped(ki_leader *leader, void *user)
{
    world *w = user;
    (void)leader;
    w->stopped++;
}

static void on_release(void *user)
{
    world *w = user;
    w->released++;
}

/* Runs the loop once. After some time the clock is moved, so that what could not be done is tried again. */
static void turn(world *w, int number)
{
    struct pollfd fd = {.fd = ki_client_fd(w->client), .events = POLLIN};
    assert_true(number < HANG_MS);
    (void)poll(&fd, 1, 1);
    assert_true(ki_client_dispatch(w->client, KI_BUDGET_NONE) >= 0);
    if (number % 20 == 19)
        ki_clock_advance_ms(&w->clock, 500);
}

#define run_until(w, condition)                                                                              \
    for (int turns = 0; !(condition); turns++)                                                               \
    turn(w, turns)

static void world_init(world *w)
{
    *w = (world){0};
    ki_mutex_init(&w->mu);
    w->server = scripted_http_start(&(scripted_http_options){.serve = serve, .user = w});
    w->guarded = scripted_client_new((ki_client_options){.mode = KI_MODE_EVENT_LOOP}, w->server, NULL);
    w->client = scripted_client_new_simulated(&w->clock, w->server);
}

static void world_fini(world *w)
{
    ki_leader_free(w->leader);
    run_until(w, w->leader == NULL || w->released == 1);
    ki_client_free(w->guarded);
    ki_client_free(w->client);
    scripted_http_stop(w->server);
    ki_mutex_fini(&w->mu);
    assert_int_equal(w->released, w->leader != NULL);
    assert_int_equal(w->started, w->stopped);
}

static bool is_guarded(world *w)
{
    ki_error err = {0};
    ki_rest_request request = {
        .verb = KI_REST_DELETE, .resource = &KI_COORDINATION_V1_LEASES, .ns = "default", .name = "other"};
    ki_rest_answer answer = {0};
    int rc = ki_rest_run(w->guarded, &request, &answer, &err);
    ki_rest_answer_fini(&answer);
    return rc == KI_ERR_REFUSED;
}

/* Returns whether all could be done. */
static bool begin(world *w)
{
    ki_error err = {0};
    w->leader = ki_leader_new(w->client,
                              &(ki_leader_options){.name = "lock",
                                                   .ns = "default",
                                                   .identity = "me",
                                                   .retry_period_ms = 500,
                                                   .on_started = on_started,
                                                   .on_stopped = on_stopped,
                                                   .on_release = on_release,
                                                   .user = w},
                              &err);
    if (w->leader == NULL) {
        assert_int_equal(err.code, KI_ERR_NO_MEMORY);
        return false;
    }
    int rc = ki_leader_guard(w->leader, w->guarded);
    assert_true(rc == 0 || rc == KI_ERR_NO_MEMORY);
    if (rc == 0)
        rc = ki_leader_start(w->leader, &err);
    assert_true(rc == 0 || rc == KI_ERR_NO_MEMORY);
    return rc == 0;
}

/* The n-th allocation fails; returns whether there were that many. */
static bool run_without_memory(size_t n)
{
    world w;
    world_init(&w);
    failing_allocator_fail_at(n);
    bool is_begun = begin(&w);
    if (is_begun)
        run_until(&w, w.started == 1);
    bool has_failed = failing_allocator_has_failed();
    failing_allocator_fail_at(0);
    assert_true(is_begun || has_failed);
    if (is_begun) {
        assert_int_equal(ki_leader_is_leading(w.leader), 1);
        ki_leader_stop(w.leader); /* does not wait: the clock stands still */
        run_until(&w, w.is_given_back);
        assert_int_equal(w.stopped, 1);
        assert_true(is_guarded(&w));
    }
    world_fini(&w);
    return has_failed;
}

static void when_out_of_memory_a_leader_fails_or_leads_later(void **state)
{
    (void)state;
    size_t n = 1;
    while (run_without_memory(n))
        n++;
    assert_true(n > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {WITH_MEMORY_CHECK(when_out_of_memory_a_leader_fails_or_leads_later)};
    return RUN_TESTS(tests);
}
