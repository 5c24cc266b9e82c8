/* SPDX-License-Identifier: Apache-2.0 */
/* A stop that comes while the lease is being acquired, against the embedded API server. */
#include "flow/support/contender.h"
#include "support/apiserver/api_rig.h"
#include "support/patience.h"
#include "support/unit.h"

static void stop_and_expect_release(contender *c)
{
    ki_apiserver *server = c->server;
    ki_leader_stop(c->leader);
    assert_int_equal(ki_leader_is_leading(c->leader), 0);
    assert_int_equal(c->started, 0);
    assert_false(contender_holds(c, "a"));
    contender_end(c);
    ki_apiserver_free(server);
}

/* The server carries the write out after the stop, and then answers. */
static void a_lease_that_is_acquired_after_the_stop_is_given_back(void **state)
{
    (void)state;
    const ki_fault late = {
        .on = KI_FAULT_WRITE, .action = KI_FAULT_DELAY, .delay_ms = 500, .path = "/leases", .times = 1};
    for (int mode = KI_MODE_THREADS; mode <= KI_MODE_EVENT_LOOP; mode++) {
        contender a = {0};
        ki_apiserver *server = api_rig_start(NULL);
        assert_int_equal(ki_apiserver_fault(server, &late, NULL), 0);
        contender_begin(&a, server, "a", mode);
        uint64_t sent_ms = contender_now_ms() + 200; /* one that is not sent by then will not be */
        WAIT_UNTIL(&a, contender_now_ms() > sent_ms);
        stop_and_expect_release(&a);
    }
}

/* The server has carried the write out, and the contender does not know it. */
static void a_lease_whose_acquisition_is_not_answered_is_given_back(void **state)
{
    (void)state;
    const ki_fault stall = {
        .on = KI_FAULT_WRITE, .action = KI_FAULT_STALL, .after_bytes = 1, .path = "/leases", .times = 1};
    for (int mode = KI_MODE_THREADS; mode <= KI_MODE_EVENT_LOOP; mode++) {
        contender a = {0};
        ki_apiserver *server = api_rig_start(NULL);
        assert_int_equal(ki_apiserver_fault(server, &stall, NULL), 0);
        contender_begin(&a, server, "a", mode);
        WAIT_UNTIL(&a, contender_holds(&a, "a"));
        assert_int_equal(ki_leader_is_leading(a.leader), 0);
        stop_and_expect_release(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lease_that_is_acquired_after_the_stop_is_given_back),
        cmocka_unit_test(a_lease_whose_acquisition_is_not_answered_is_given_back),
    };
    return RUN_TESTS(tests);
}
