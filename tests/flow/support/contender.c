/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/support/contender.h"

#include <poll.h>
#include <string.h>
#include <time.h>

#include "support/apiserver/api_rig.h"
#include "support/patience.h"
#include "support/unit.h"

uint64_t contender_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

int64_t contender_wall_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

typedef struct renewals {
    int count;
    int64_t last_us;
} renewals;

static void count_renewal(const ki_apiserver_request *request, void *user)
{
    renewals *r = user;
    bool is_write = strcmp(request->method, "PUT") == 0 || strcmp(request->method, "POST") == 0;
    if (!is_write || strcmp(request->resource, "leases") != 0 || request->http_status / 100 != 2)
        return;
    r->count++;
    if (request->time_us > r->last_us)
        r->last_us = request->time_us;
}

int64_t contender_renewed_us(const ki_apiserver *server)
{
    renewals r = {0};
    (void)ki_apiserver_requests(server, 0, count_renewal, &r);
    return r.last_us;
}

int contender_renewals(const ki_apiserver *server)
{
    renewals r = {0};
    (void)ki_apiserver_requests(server, 0, count_renewal, &r);
    return r.count;
}

static void on_started(ki_leader *leader, void *user)
{
    contender *c = user;
    c->unknown_at_start += c->new_leaders == 0;
    c->started++;
    (void)poll(NULL, 0, c->start_ms);
    if (c->frees_itself)
        ki_leader_free(leader);
}

bool contender_holds(contender *c, const char *identity)
{
    api_answer answer = api_get(c->server, LOCK_PATH);
    bool is_held = answer.status == 200 && strcmp(api_text(&answer, "spec.holderIdentity"), identity) == 0;
    api_answer_fini(&answer);
    return is_held;
}

static void on_stopped(ki_leader *leader, void *user)
{
    contender *c = user;
    c->stopped_us = contender_wall_us();
    c->led_inside_stop += ki_leader_is_leading(leader);
    c->held_inside_stop += contender_holds(c, ki_leader_identity(leader));
    c->stopped++;
}

static void on_new_leader(ki_leader *leader, const char *identity, void *user)
{
    contender *c = user;
    (void)leader;
    (void)identity;
    c->new_leaders++;
}

static void on_release(void *user)
{
    contender *c = user;
    c->released++;
}

void contender_begin(contender *c, ki_apiserver *server, const char *identity, int mode)
{
    ki_error err = {0};
    *c = (contender){.server = server,
                     .frees_itself = c->frees_itself,
                     .start_ms = c->start_ms,
                     .log = c->log,
                     .lease_ms = c->lease_ms == 0 ? 2000 : c->lease_ms,
                     .renew_ms = c->renew_ms == 0 ? 1500 : c->renew_ms,
                     .retry_ms = c->retry_ms == 0 ? 200 : c->retry_ms};
    c->client = ki_client_new(&(ki_client_options){.server = ki_apiserver_url(server),
                                                   .mode = (ki_mode)mode,
                                                   .user_agent = identity,
                                                   .log = c->log,
                                                   .log_user = c},
                              &err);
    assert_non_null(c->client);
    c->leader = ki_leader_new(c->client,
                              &(ki_leader_options){.name = "lock",
                                                   .identity = identity,
                                                   .lease_duration_ms = c->lease_ms,
                                                   .renew_deadline_ms = c->renew_ms,
                                                   .retry_period_ms = c->retry_ms,
                                                   .on_started = on_started,
                                                   .on_stopped = on_stopped,
                                                   .on_new_leader = on_new_leader,
                                                   .on_release = on_release,
                                                   .user = c},
                              &err);
    assert_non_null(c->leader);
    assert_int_equal(ki_leader_start(c->leader, &err), 0);
}

void contender_end(contender *c)
{
    ki_leader_free(c->leader);
    ki_client_free(c->client);
    assert_int_equal(c->released, 1);
    assert_int_equal(c->started, c->stopped);
    assert_int_equal(c->led_inside_stop, 0);
    assert_int_equal(c->unknown_at_start, 0);
}

ki_apiserver *contender_lead(contender *c)
{
    ki_apiserver *server = api_rig_start(NULL);
    contender_begin(c, server, "a", KI_MODE_THREADS);
    WAIT_UNTIL(c, c->started == 1);
    return server;
}

void contender_turn(contender *c)
{
    struct pollfd fd = {.fd = ki_client_fd(c->client), .events = POLLIN};
    if (fd.fd < 0) {
        (void)poll(NULL, 0, 2);
        return;
    }
    int timeout_ms = ki_client_timeout_ms(c->client);
    (void)poll(&fd, 1, timeout_ms < 0 || timeout_ms > 20 ? 20 : timeout_ms);
    assert_true(ki_client_dispatch(c->client, KI_BUDGET_NONE) >= 0);
}
