/* SPDX-License-Identifier: Apache-2.0 */
/* A leader whose callback takes longer than its lease, against the embedded API server. */
#include <stdatomic.h>
#include <string.h>

#include "flow/support/contender.h"
#include "support/apiserver/api_rig.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/thread.h"

enum { LEASE_MS = 2000 };

static atomic_int handler_threads_left = INT32_MAX; /* how many more can be started */
static atomic_int warnings;

static bool is_refused(const char *name, void *user)
{
    (void)user;
    return strcmp(name, "handler") == 0 && atomic_fetch_sub(&handler_threads_left, 1) <= 0;
}

static void count_warnings(const ki_log_record *record, void *user)
{
    (void)user;
    warnings += strstr(record->message, "cannot start a handler thread") != NULL;
}

static void a_lease_is_renewed_while_a_callback_runs(void **state)
{
    (void)state;
    contender a = {.lease_ms = LEASE_MS, .start_ms = 2 * LEASE_MS, .log = count_warnings};
    ki_apiserver *server = contender_lead(&a);
    int before = contender_renewals(server);
    uint64_t began_ms = contender_now_ms();
    while (contender_now_ms() < began_ms + 2 * LEASE_MS - 200)
        contender_turn(&a);
    assert_int_equal(ki_leader_is_leading(a.leader), 1);
    assert_int_equal(a.stopped, 0);
    assert_true(contender_renewals(server) >= before + 3); /* two must come in two leases */
    ki_leader_stop(a.leader);
    assert_int_equal(a.started, 1);
    assert_int_equal(warnings, 0);
    contender_end(&a);
    ki_apiserver_free(server);
}

/* Then the answers to renewals wait for callbacks. */
static void too_few_handler_threads_are_logged_once(void **state)
{
    (void)state;
    contender a = {.log = count_warnings};
    handler_threads_left = 1;
    ki_apiserver *server = contender_lead(&a);
    int before = contender_renewals(server);
    WAIT_UNTIL(&a, contender_renewals(server) > before + 1);
    assert_int_equal(warnings, 1);
    handler_threads_left = INT32_MAX;
    contender_end(&a);
    ki_apiserver_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lease_is_renewed_while_a_callback_runs),
        cmocka_unit_test(too_few_handler_threads_are_logged_once),
    };
    ki_thread_refuse_by(is_refused, NULL);
    return RUN_TESTS(tests);
}
