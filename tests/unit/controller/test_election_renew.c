/* SPDX-License-Identifier: Apache-2.0 */
/* How a leader keeps its lease, and when it has lost it. */
#include "support/controller/election_run.h"
#include "support/unit.h"

static void a_holder_renews_every_retry_period_without_reading(void **state)
{
    election_run *run = *state;
    election_run_lead(run);
    for (int i = 0; i < 20; i++) {
        assert_true(ki_election_next_ns(&run->election) == run->now_ns + 2 * (uint64_t)S);
        election_run_advance_s(run, 2);
        ki_election_request request = election_run_step(run);
        assert_int_equal(request.action, KI_ELECTION_UPDATE);
        ki_json spec = ki_json_find(ki_json_of(request.body), "/spec");
        assert_true(ki_json_string_equals(ki_json_member(spec, KI_STR("acquireTime")),
                                          KI_STR("2023-11-14T22:13:20.123456Z")));
        assert_false(ki_json_string_equals(ki_json_member(spec, KI_STR("renewTime")),
                                           KI_STR("2023-11-14T22:13:20.123456Z")));
        election_run_answer_body(run, request);
        expect_phase(run, LEADING);
    }
    assert_int_equal(run->election.slow_renewals, 0);
}

static void a_conflict_is_followed_by_a_read_at_once(void **state)
{
    election_run *run = *state;
    (void)election_run_lead_and_renew(run);
    election_run_answer(run, KI_ELECTION_CONFLICT);
    expect_phase(run, LEADING);
    election_run_read(run, "me", 5);
    expect_next(run, UPDATE);
    assert_int_equal(run->election.slow_renewals, 1);
}

static void conflicts_without_end_are_not_a_hot_loop(void **state)
{
    election_run *run = *state;
    (void)election_run_lead_and_renew(run);
    election_run_answer(run, KI_ELECTION_CONFLICT);
    election_run_read(run, "me", 5);
    expect_next(run, UPDATE);
    election_run_answer(run, KI_ELECTION_CONFLICT);
    expect_next(run, NOTHING);
    assert_true(ki_election_next_ns(&run->election) == run->now_ns + 2 * (uint64_t)S);
}

static void a_lease_that_another_process_holds_is_lost_at_once(void **state)
{
    election_run *run = *state;
    (void)election_run_lead_and_renew(run);
    election_run_answer(run, KI_ELECTION_CONFLICT);
    election_run_read(run, "other", 1);
    expect_phase(run, ENDING);
    assert_true(run->election.leads_until_ns == 0);
    expect_next(run, NOTHING);
    ki_election_acting_ended(&run->election, run->now_ns);
    expect_phase(run, SEEKING);
}

static void renewals_that_fail_lose_the_lease_at_the_renew_deadline(void **state)
{
    election_run *run = *state;
    election_run_lead(run);
    uint64_t renewed_ns = run->now_ns;
    int tries = 0;
    while (run->election.phase == KI_ELECTION_LEADING) {
        run->now_ns = ki_election_next_ns(&run->election);
        if (election_run_step(run).action == KI_ELECTION_UPDATE) {
            tries++;
            election_run_answer(run, KI_ELECTION_FAILED);
        }
    }
    expect_phase(run, ENDING);
    assert_true(run->now_ns == renewed_ns + 10 * (uint64_t)S);
    assert_int_equal(tries, 4);
}

static void a_request_that_hangs_leaves_time_for_another(void **state)
{
    election_run *run = *state;
    ki_election_request request = election_run_lead_and_renew(run);
    assert_true(request.timeout_ns == 5 * (uint64_t)S);
    run->now_ns += request.timeout_ns;
    election_run_answer(run, KI_ELECTION_FAILED);
    election_run_advance_s(run, 2);
    request = election_run_step(run);
    assert_int_equal(request.action, KI_ELECTION_UPDATE);
    assert_true(request.timeout_ns == 1 * (uint64_t)S);
}

static void a_renewal_that_is_answered_after_the_deadline_changes_nothing(void **state)
{
    election_run *run = *state;
    ki_election_request request = election_run_lead_and_renew(run);
    election_run_advance_s(run, 60); /* suspended */
    election_run_answer_body(run, request);
    expect_phase(run, ENDING);
    assert_true(run->election.leads_until_ns == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        election_test(a_holder_renews_every_retry_period_without_reading),
        election_test(a_conflict_is_followed_by_a_read_at_once),
        election_test(conflicts_without_end_are_not_a_hot_loop),
        election_test(a_lease_that_another_process_holds_is_lost_at_once),
        election_test(renewals_that_fail_lose_the_lease_at_the_renew_deadline),
        election_test(a_request_that_hangs_leaves_time_for_another),
        election_test(a_renewal_that_is_answered_after_the_deadline_changes_nothing),
    };
    return RUN_TESTS(tests);
}
