/* SPDX-License-Identifier: Apache-2.0 */
/* When a contender takes the lease. */
#include <kinformer/resources.h>

#include "support/controller/election_run.h"
#include "support/unit.h"
#include "util/units.h"

static void a_lease_that_is_missing_is_created(void **state)
{
    election_run *run = *state;
    expect_next(run, GET);
    expect_next(run, NOTHING);
    election_run_answer(run, KI_ELECTION_NOT_FOUND);
    assert_true(ki_election_next_ns(&run->election) <= run->now_ns);
    ki_election_request request = election_run_step(run);
    assert_int_equal(request.action, KI_ELECTION_CREATE);
    assert_true(ki_str_equal(
        request.body,
        KI_STR(
            "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":\"lock\","
            "\"namespace\":\"default\"},\"spec\":{\"holderIdentity\":\"me\",\"leaseDurationSeconds\":15,"
            "\"acquireTime\":\"2023-11-14T22:13:20.123456Z\",\"renewTime\":\"2023-11-14T22:13:20.123456Z\","
            "\"leaseTransitions\":0}}")));
    election_run_answer_body(run, request);
    expect_phase(run, LEADING);
}

static void the_right_to_act_counts_from_the_sending(void **state)
{
    election_run *run = *state;
    election_run_read_missing(run);
    uint64_t sent_ns = run->now_ns;
    ki_election_request request = election_run_step(run);
    election_run_advance_s(run, 4);
    election_run_answer_body(run, request);
    expect_phase(run, LEADING);
    assert_true(run->election.leads_until_ns <= sent_ns + 15 * (uint64_t)S);
    assert_true(run->election.leads_until_ns > sent_ns + 14 * (uint64_t)S);
    while (run->election.phase == KI_ELECTION_LEADING) {
        run->now_ns = ki_election_next_ns(&run->election);
        if (election_run_step(run).action == KI_ELECTION_UPDATE)
            election_run_answer(run, KI_ELECTION_FAILED);
    }
    assert_true(run->now_ns == sent_ns + 10 * (uint64_t)S); /* and so does the renew deadline */
}

static void an_acquisition_that_is_answered_late_is_none(void **state)
{
    election_run *run = *state;
    election_run_read_missing(run);
    ki_election_request request = election_run_step(run);
    election_run_advance_s(run, 10);
    election_run_answer_body(run, request);
    expect_phase(run, SEEKING);
    assert_true(run->election.leads_until_ns == 0);
}

/* The renew deadline may be later than the end of the right to act. */
static void an_acquisition_that_is_answered_after_the_lease_has_ended_is_none(void **state)
{
    election_run *run = *state;
    for (int is_late = 0; is_late < 2; is_late++) {
        ki_election_options options = election_run_defaults;
        options.renew_ns = 14900 * KI_NS_PER_MS;
        election_run_restart(run, &options);
        election_run_read_missing(run);
        ki_election_request request = election_run_step(run);
        run->now_ns += (is_late ? 14800 : 14700) * KI_NS_PER_MS; /* 63/64 of the lease are 14,766 ms */
        election_run_answer_body(run, request);
        assert_int_equal(run->election.phase, is_late ? KI_ELECTION_SEEKING : KI_ELECTION_LEADING);
    }
}

static void a_lease_of_another_is_taken_when_it_has_not_changed_for_its_duration(void **state)
{
    election_run *run = *state;
    election_run_read(run, "other", 1);
    uint64_t seen_ns = run->now_ns;
    for (;;) {
        assert_true(ki_election_next_ns(&run->election) >= run->now_ns + 2 * (uint64_t)S);
        assert_true(ki_election_next_ns(&run->election) < run->now_ns + 4400 * KI_NS_PER_MS);
        run->now_ns = ki_election_next_ns(&run->election);
        election_run_read(run, "other", 1);
        if (run->election.pending == KI_ELECTION_UPDATE)
            break;
        assert_true(run->now_ns < seen_ns + 15 * (uint64_t)S);
    }
    assert_true(run->now_ns >= seen_ns + 15 * (uint64_t)S);
    assert_true(run->now_ns < seen_ns + 15 * (uint64_t)S + 4400 * KI_NS_PER_MS);
    ki_election_request request = election_run_step(run);
    assert_int_equal(request.action, KI_ELECTION_UPDATE);
    ki_json body = ki_json_of(request.body);
    int64_t transitions = 0;
    assert_int_equal(ki_json_int64(ki_json_find(body, "/spec/leaseTransitions"), &transitions), 0);
    assert_int_equal(transitions, 4);
    assert_true(ki_json_string_equals(ki_json_find(body, "/metadata/labels/team"), KI_STR("a")));
    assert_int_equal(ki_json_type_of(ki_json_find(body, "/metadata/resourceVersion")), KI_JSON_STRING);
}

static void contenders_that_began_together_are_spread_over_time(void **state)
{
    election_run *run = *state;
    uint64_t earliest_ns = UINT64_MAX, latest_ns = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        ki_election_options options = election_run_defaults;
        options.seed = seed;
        election_run_restart(run, &options);
        election_run_read(run, "other", 1);
        earliest_ns = ki_ns_min(earliest_ns, ki_election_next_ns(&run->election) - run->now_ns);
        latest_ns = ki_ns_max(latest_ns, ki_election_next_ns(&run->election) - run->now_ns);
    }
    assert_in_range(earliest_ns, 2 * (uint64_t)S, 2240 * KI_NS_PER_MS);
    assert_in_range(latest_ns, 4160 * KI_NS_PER_MS, 4400 * KI_NS_PER_MS - 1);
}

static void a_renewal_within_the_same_second_counts(void **state)
{
    election_run *run = *state;
    election_run_read(run, "other", 1);
    election_run_advance_s(run, 14);
    election_run_read(run, "other", 2);
    election_run_advance_s(run, 4);
    election_run_read(run, "other", 2);
    expect_pending(run, NOTHING);
}

static void the_duration_is_that_of_the_record(void **state)
{
    election_run *run = *state;
    static const int seconds[] = {5, 30};
    for (int i = 0; i < 2; i++) {
        for (int is_over = 0; is_over < 2; is_over++) {
            ki_object *lease = election_run_lease(run, "other", seconds[i], 1);
            election_run_restart(run, &election_run_defaults);
            expect_next(run, GET);
            ki_election_answer(&run->election, KI_ELECTION_DONE, lease, run->now_ns);
            run->now_ns += (uint64_t)seconds[i] * S - !is_over;
            expect_next(run, GET);
            ki_election_answer(&run->election, KI_ELECTION_DONE, lease, run->now_ns);
            assert_int_equal(run->election.pending, is_over ? KI_ELECTION_UPDATE : KI_ELECTION_NOTHING);
            ki_object_unref(lease);
        }
    }
}

static void a_change_of_other_fields_is_not_a_renewal(void **state)
{
    election_run *run = *state;
    election_run_read(run, "other", 1);
    election_run_advance_s(run, 15);
    election_run_read(run, "other", 1); /* another resourceVersion */
    expect_pending(run, UPDATE);
}

static void a_released_lease_is_taken_at_once(void **state)
{
    election_run *run = *state;
    election_run_read(run, "", 1);
    expect_next(run, UPDATE);
}

static void our_own_release_that_is_read_again_is_not_our_lease(void **state)
{
    election_run *run = *state;
    expect_next(run, GET);
    ki_object *bare =
        ki_object_new(&KI_COORDINATION_V1_LEASES,
                      KI_STR("{\"metadata\":{\"namespace\":\"default\",\"name\":\"lock\"}}"), NULL, NULL);
    ki_election_answer(&run->election, KI_ELECTION_DONE, bare, run->now_ns);
    ki_object_unref(bare);
    expect_next(run, UPDATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        election_test(a_lease_that_is_missing_is_created),
        election_test(the_right_to_act_counts_from_the_sending),
        election_test(an_acquisition_that_is_answered_late_is_none),
        election_test(an_acquisition_that_is_answered_after_the_lease_has_ended_is_none),
        election_test(a_lease_of_another_is_taken_when_it_has_not_changed_for_its_duration),
        election_test(contenders_that_began_together_are_spread_over_time),
        election_test(a_renewal_within_the_same_second_counts),
        election_test(the_duration_is_that_of_the_record),
        election_test(a_change_of_other_fields_is_not_a_renewal),
        election_test(a_released_lease_is_taken_at_once),
        election_test(our_own_release_that_is_read_again_is_not_our_lease),
    };
    return RUN_TESTS(tests);
}
