/* SPDX-License-Identifier: Apache-2.0 */
/* A Lease that was deleted. */
#include "support/controller/election_run.h"
#include "support/unit.h"
#include "util/units.h"

/* A server answers a PUT of what was deleted in one way or another; a read tells. */
static void a_lease_that_was_deleted_is_created_again_by_its_holder(void **state)
{
    election_run *run = *state;
    static const ki_election_outcome ways[] = {KI_ELECTION_NOT_FOUND, KI_ELECTION_CONFLICT,
                                               KI_ELECTION_REJECTED, KI_ELECTION_UNCLEAR};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        election_run_restart(run, &election_run_defaults);
        (void)election_run_lead_and_renew(run);
        election_run_answer(run, ways[i]);
        election_run_read_missing(run);
        expect_phase(run, LEADING);
        uint64_t sent_ns = run->now_ns;
        ki_election_request request = election_run_step(run);
        assert_int_equal(request.action, KI_ELECTION_CREATE);
        ki_json body = ki_json_of(request.body);
        assert_int_equal(ki_json_type_of(ki_json_find(body, "/metadata/resourceVersion")), KI_JSON_NONE);
        assert_int_equal(ki_json_type_of(ki_json_find(body, "/spec/acquireTime")), KI_JSON_STRING);
        election_run_advance_s(run, 1);
        election_run_answer_body(run, request);
        expect_phase(run, LEADING);
        assert_true(run->election.renewed_ns == sent_ns);
        election_run_advance_s(run, 1);
        expect_next(run, UPDATE);
    }
}

static void a_lease_that_another_process_created_after_a_deletion_is_read_at_once(void **state)
{
    election_run *run = *state;
    (void)election_run_lead_and_renew(run);
    election_run_answer(run, KI_ELECTION_REJECTED);
    for (int i = 0; i < 2; i++) {
        election_run_read_missing(run);
        expect_next(run, CREATE);
        election_run_answer(run, KI_ELECTION_CONFLICT);
    }
    expect_next(run, NOTHING); /* a server that contradicts itself is not asked without end */
    election_run_advance_s(run, 2);
    election_run_read(run, "other", 1);
    expect_phase(run, ENDING);
}

static void a_lease_that_cannot_be_created_again_is_lost_at_the_renew_deadline(void **state)
{
    election_run *run = *state;
    election_run_lead(run);
    uint64_t renewed_ns = run->now_ns;
    while (run->election.phase == KI_ELECTION_LEADING) {
        run->now_ns = ki_ns_max(run->now_ns, ki_election_next_ns(&run->election));
        ki_election_action action = election_run_step(run).action;
        if (action != KI_ELECTION_NOTHING)
            election_run_answer(run,
                                action == KI_ELECTION_GET ? KI_ELECTION_NOT_FOUND : KI_ELECTION_REJECTED);
    }
    expect_phase(run, ENDING);
    assert_true(run->now_ns == renewed_ns + 10 * (uint64_t)S);
}

/* Its holder may have renewed it just before it was deleted, and acts for as long as that lasts. */
static void a_contender_creates_a_deleted_lease_when_its_duration_has_passed(void **state)
{
    election_run *run = *state;
    election_run_read(run, "other", 1);
    run->now_ns = ki_election_next_ns(&run->election);
    uint64_t missed_ns = run->now_ns;
    election_run_read_missing(run);
    while (run->election.pending == KI_ELECTION_NOTHING) {
        assert_true(run->now_ns < missed_ns + 15 * (uint64_t)S);
        run->now_ns = ki_election_next_ns(&run->election);
        election_run_read_missing(run);
    }
    assert_true(run->now_ns >= missed_ns + 15 * (uint64_t)S);
    election_run_write(run, KI_ELECTION_CREATE);
    expect_phase(run, LEADING);
}

static void a_contender_that_did_not_look_for_long_waits_again(void **state)
{
    election_run *run = *state;
    election_run_read(run, "other", 1);
    election_run_advance_s(run, 5);
    election_run_read_missing(run);
    election_run_advance_s(run, 60); /* suspended */
    expect_next(run, GET);
    election_run_advance_s(run, 30); /* suspended, while the answer waits */
    election_run_answer(run, KI_ELECTION_NOT_FOUND);
    expect_pending(run, NOTHING);
    election_run_advance_s(run, 20);
    election_run_read_missing(run);
    expect_pending(run, NOTHING);
}

static void a_lease_that_was_created_again_counts_as_renewed(void **state)
{
    election_run *run = *state;
    election_run_read(run, "other", 1);
    election_run_advance_s(run, 5);
    election_run_read_missing(run);
    election_run_advance_s(run, 5);
    election_run_read(run, "other", 1);
    election_run_advance_s(run, 14);
    election_run_read(run, "other", 1);
    expect_pending(run, NOTHING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        election_test(a_lease_that_was_deleted_is_created_again_by_its_holder),
        election_test(a_lease_that_another_process_created_after_a_deletion_is_read_at_once),
        election_test(a_lease_that_cannot_be_created_again_is_lost_at_the_renew_deadline),
        election_test(a_contender_creates_a_deleted_lease_when_its_duration_has_passed),
        election_test(a_contender_that_did_not_look_for_long_waits_again),
        election_test(a_lease_that_was_created_again_counts_as_renewed),
    };
    return RUN_TESTS(tests);
}
