/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/serve/restart.h"

#include <assert.h>

#include "apiserver/serve/http.h"
#include "util/clock.h"
#include "util/units.h"

/* Interval between attempts to listen on the port. */
enum { RETRY_MS = 100 };

static void go_down_locked(struct ki_apiserver *server, uint64_t ms) KI_REQUIRES(server->restart_mu);

static void go_down_locked(struct ki_apiserver *server, uint64_t ms)
{
    KI_ASSERT_HELD(server->restart_mu);
    ki_as_http_stop(server);
    server->up_ns = ki_clock_now_ns(ki_clock_real()) + ki_ns_of_ms(ms);
    ki_job_wake_at(&server->restart_job, server->up_ns);
}

static void on_restart(ki_job *job)
{
    struct ki_apiserver *server = KI_CONTAINER_OF(job, struct ki_apiserver, restart_job);
    KI_ASSERT_ON(&server->loop);
    ki_mutex_lock(&server->restart_mu);
    uint64_t down_ms = atomic_exchange(&server->wished_down_ms, 0);
    uint64_t now_ns = ki_clock_now_ns(ki_clock_real());
    if (down_ms > 0) {
        go_down_locked(server, down_ms);
    } else if (server->up_ns > now_ns) {
        ki_job_wake_at(job, server->up_ns);
    } else if (server->up_ns > 0) {
        server->up_ns = ki_as_http_start(server, NULL) == 0 ? 0 : now_ns + ki_ns_of_ms(RETRY_MS);
        ki_job_wake_at(job, server->up_ns == 0 ? UINT64_MAX : server->up_ns);
    }
    ki_mutex_unlock(&server->restart_mu);
}

int ki_as_restart_init(struct ki_apiserver *server)
{
    return ki_job_init(&server->restart_job, &server->loop, on_restart);
}

void ki_as_restart_fini(struct ki_apiserver *server)
{
    ki_job_fini(&server->restart_job);
}

void ki_as_restart_wish_down(struct ki_apiserver *server, uint64_t ms)
{
    assert(ms > 0);
    atomic_store(&server->wished_down_ms, ms);
    ki_job_wake(&server->restart_job);
}

/* Cancels the wish of a request to go down, and the time at which the server would come up. */
static void forget_plans_locked(struct ki_apiserver *server) KI_REQUIRES(server->restart_mu);

static void forget_plans_locked(struct ki_apiserver *server)
{
    KI_ASSERT_HELD(server->restart_mu);
    atomic_store(&server->wished_down_ms, 0);
    server->up_ns = 0;
}

void ki_apiserver_down(ki_apiserver *server)
{
    if (ki_as_check_process(server, NULL) < 0)
        return;
    ki_mutex_lock(&server->restart_mu);
    forget_plans_locked(server);
    ki_as_http_stop(server);
    ki_mutex_unlock(&server->restart_mu);
}

void ki_apiserver_down_for(ki_apiserver *server, uint64_t ms)
{
    if (ki_as_check_process(server, NULL) < 0)
        return;
    ki_mutex_lock(&server->restart_mu);
    forget_plans_locked(server);
    go_down_locked(server, ms);
    ki_mutex_unlock(&server->restart_mu);
}

int ki_apiserver_up(ki_apiserver *server, ki_error *err)
{
    int rc = ki_as_check_process(server, err);
    if (rc < 0)
        return rc;
    ki_mutex_lock(&server->restart_mu);
    forget_plans_locked(server);
    rc = ki_as_http_start(server, err);
    ki_mutex_unlock(&server->restart_mu);
    return rc;
}
