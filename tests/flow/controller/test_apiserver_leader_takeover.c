/* SPDX-License-Identifier: Apache-2.0 */
/* How soon a contender takes over from a leader that is paused, against the embedded API server. Load can
 * make a take-over longer, but not shorter: so the shortest of several has to be within the exact bound. */
#include <string.h>

#include "flow/support/contender.h"
#include "support/apiserver/api_rig.h"
#include "support/patience.h"
#include "support/unit.h"

enum {
    ROUNDS = 4,
    LEASE_MS = 1000,
    RENEW_MS = 800,
    RETRY_MS = 100,
    RETRY_MS_MAX = RETRY_MS * 22 / 10, /* between two reads of a contender */
    SLACK_MS = 300,
};

typedef struct take_over {
    const char *by;
    int64_t renewed_us; /* the last renewal by the other one */
    int64_t seen_us;    /* the first read after it */
    int64_t taken_us;
} take_over;

static void note_request(const ki_apiserver_request *request, void *user)
{
    take_over *t = user;
    bool is_write = strcmp(request->method, "GET") != 0;
    if (strcmp(request->resource, "leases") != 0 || request->http_status / 100 != 2)
        return;
    if (strcmp(request->user_agent, t->by) != 0) {
        t->renewed_us = is_write ? request->time_us : t->renewed_us;
        t->seen_us = is_write ? 0 : t->seen_us;
    } else if (!is_write && t->seen_us == 0) {
        t->seen_us = request->time_us;
    } else if (is_write && t->seen_us != 0 && t->taken_us == 0) {
        t->taken_us = request->time_us;
    }
}

/* What the log has after `since`, seen from one of the contenders. */
static take_over look(const contender *by, uint64_t since)
{
    take_over t = {.by = ki_leader_identity(by->leader)};
    (void)ki_apiserver_requests(by->server, since, note_request, &t);
    return t;
}

/* Both work until one leads and the other has read the lease. Returns the position of the other. */
static int find_waiting(contender both[2])
{
    uint64_t since = ki_apiserver_requests(both[0].server, 0, NULL, NULL), began_ms = contender_now_ms();
    for (int i = 0; contender_now_ms() < began_ms + HANG_MS; i = !i) {
        contender_turn(&both[i]);
        if (ki_leader_is_leading(both[!i].leader) && look(&both[i], since).seen_us != 0)
            return i;
    }
    fail_msg("no contender waits while the other one leads");
    return 0;
}

/* The leader is paused when it has renewed its lease just after the other one has read it, so that there is a
 * whole wait before the next read. */
static take_over run_take_over(contender both[2])
{
    int waiting = find_waiting(both);
    contender *leader = &both[!waiting], *other = &both[waiting];
    uint64_t since = ki_apiserver_requests(leader->server, 0, NULL, NULL);
    WAIT_UNTIL(leader, look(other, since).renewed_us != 0);
    WAIT_UNTIL(other, ki_leader_is_leading(other->leader));
    return look(other, since);
}

static void a_silent_leader_is_replaced_as_soon_as_its_lease_ends(void **state)
{
    (void)state;
    contender both[2];
    ki_apiserver *server = api_rig_start(NULL);
    int64_t unseen_us = INT64_MAX, waited_us = INT64_MAX;
    for (int i = 0; i < 2; i++) {
        both[i] = (contender){.lease_ms = LEASE_MS, .renew_ms = RENEW_MS, .retry_ms = RETRY_MS};
        contender_begin(&both[i], server, i == 0 ? "a" : "b", KI_MODE_EVENT_LOOP);
    }
    for (int i = 0; i < ROUNDS; i++) {
        take_over t = run_take_over(both);
        if (t.taken_us == 0)
            continue; /* the machine was so busy that the lease had ended before the pause */
        assert_true(t.taken_us - t.seen_us >= LEASE_MS * 1000);
        unseen_us = t.seen_us - t.renewed_us < unseen_us ? t.seen_us - t.renewed_us : unseen_us;
        waited_us = t.taken_us - t.seen_us < waited_us ? t.taken_us - t.seen_us : waited_us;
    }
    assert_in_range(unseen_us / 1000, 0, RETRY_MS_MAX + SLACK_MS);
    assert_in_range(waited_us / 1000, LEASE_MS, LEASE_MS + RETRY_MS_MAX + SLACK_MS);
    contender_end(&both[0]);
    contender_end(&both[1]);
    ki_apiserver_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_silent_leader_is_replaced_as_soon_as_its_lease_ends),
    };
    return RUN_TESTS(tests);
}
