/* SPDX-License-Identifier: Apache-2.0 */
/* A contender whose thread is delayed just before it takes an answer: real sockets under a clock that the
 * test moves. The linker replaces ki_mutex_lock(), since time passes there: the clock itself is not read
 * between the arrival of an answer and its taking, and a hook in the lock would cost every program. */
#include <kinformer.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>

#include "controller/leader.h"
#include "flow/support/fake_credentials.h"
#include "flow/support/scripted_client.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/units.h"

enum { LEASE_S = 15, DELAY_S = 5, STEP_MS = 500 };

typedef struct world {
    ki_clock clock;
    scripted_http *server;
    ki_client *client;
    ki_leader *leader;
    uint64_t taken_ns;  /* when the answer was taken for which the thread was delayed */
    atomic_int is_gone; /* the Lease has been deleted */
    atomic_int reads;
    atomic_int writes;
} world;

/* The thread of this one will be delayed before it takes the next answer. */
static _Thread_local world *delayed;

void __real_ki_mutex_lock(const ki_mutex *mutex);
void __wrap_ki_mutex_lock(const ki_mutex *mutex);

KI_NO_THREAD_SAFETY_ANALYSIS
void __wrap_ki_mutex_lock(const ki_mutex *mutex)
{
    world *w = delayed;
    if (w != NULL && w->leader != NULL && mutex == &w->leader->mu && w->leader->has_answer) {
        delayed = NULL;
        ki_clock_advance_ns(&w->clock, DELAY_S * KI_NS_PER_S);
        w->taken_ns = ki_clock_now_ns(&w->clock);
    }
    __real_ki_mutex_lock(mutex);
}

static scripted_next serve(scripted_connection *c, const scripted_request *r, void *user)
{
    world *w = user;
    if (strcmp(r->method, "GET") != 0) {
        char body[4096];
        (void)scripted_read_body(c, r, body, sizeof(body));
        w->writes++;
        (void)scripted_answer(c, "409 Conflict", "Connection: close\r\n",
                              "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
                              "\"reason\":\"Conflict\",\"code\":409}");
    } else if (w->is_gone) {
        w->reads++;
        (void)scripted_answer(c, "404 Not Found", "Connection: close\r\n",
                              "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
                              "\"reason\":\"NotFound\",\"code\":404}");
    } else {
        w->reads++;
        (void)scripted_answer(
            c, "200 OK", "Connection: close\r\n",
            "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"namespace\":"
            "\"default\",\"name\":\"lock\",\"resourceVersion\":\"7\"},\"spec\":{\"holderIdentity\":\"other\","
            "\"leaseDurationSeconds\":15}}");
    }
    return SCRIPTED_CLOSE; /* a kept connection would delay the next response */
}

static void turn(world *w)
{
    struct pollfd fd = {.fd = ki_client_fd(w->client), .events = POLLIN};
    (void)poll(&fd, 1, 1);
    assert_true(ki_client_dispatch(w->client, KI_BUDGET_NONE) >= 0);
}

/* Time passes, in steps in which requests are answered, until there were this many reads, or a write. */
static void pass_time(world *w, int reads)
{
    for (int i = 0; w->reads < reads && w->writes == 0; i++) {
        assert_true(i < HANG_MS);
        for (int turns = 0; turns < 10; turns++)
            turn(w);
        ki_clock_advance_ms(&w->clock, STEP_MS);
    }
}

static void world_init(world *w)
{
    ki_error err = {0};
    *w = (world){0};
    fake_credentials_reset();
    w->server = scripted_http_start(&(scripted_http_options){.serve = serve, .user = w});
    w->client = scripted_client_new_simulated(&w->clock, w->server);
    w->leader = ki_leader_new(w->client,
                              &(ki_leader_options){.name = "lock",
                                                   .ns = "default",
                                                   .identity = "me",
                                                   .lease_duration_ms = LEASE_S * 1000,
                                                   .retry_period_ms = STEP_MS},
                              &err);
    assert_non_null(w->leader);
    assert_int_equal(ki_leader_start(w->leader, &err), 0);
}

/* The thread is delayed for the next answer. A write follows, and it comes when the Lease has been as that
 * answer showed it for its whole duration. */
static void expect_wait(world *w)
{
    delayed = w;
    pass_time(w, INT32_MAX);
    assert_null(delayed);
    assert_true(w->taken_ns > 0);
    assert_true(ki_clock_now_ns(&w->clock) >= w->taken_ns + LEASE_S * KI_NS_PER_S);
    ki_leader_free(w->leader);
    ki_client_free(w->client);
    scripted_http_stop(w->server);
}

static void a_lease_is_seen_when_its_answer_was_taken(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    expect_wait(&w);
}

static void a_lease_is_missing_from_when_its_answer_was_taken(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    pass_time(&w, 2);
    for (int i = 0; w.leader->has_answer || w.leader->election.in_flight != KI_ELECTION_NOTHING; i++) {
        assert_true(i < HANG_MS);
        turn(&w);
    }
    w.is_gone = 1;
    expect_wait(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lease_is_seen_when_its_answer_was_taken),
        cmocka_unit_test(a_lease_is_missing_from_when_its_answer_was_taken),
    };
    return RUN_TESTS(tests);
}
