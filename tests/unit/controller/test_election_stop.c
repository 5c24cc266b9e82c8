/* SPDX-License-Identifier: Apache-2.0 */
/* What a stop does with the lease. */
#include "support/controller/election_run.h"
#include "support/unit.h"

/* The next request is the release; it succeeds. */
static void expect_release(election_run *run)
{
    ki_election_request request = election_run_step(run);
    assert_int_equal(request.action, KI_ELECTION_UPDATE);
    ki_json body = ki_json_of(request.body);
    assert_int_equal(ki_json_type_of(ki_json_find(body, "/spec/holderIdentity")), KI_JSON_NONE);
    int64_t seconds = 0;
    assert_int_equal(ki_json_int64(ki_json_find(body, "/spec/leaseDurationSeconds"), &seconds), 0);
    assert_int_equal(seconds, 1);
    election_run_answer_body(run, request);
    expect_phase(run, STOPPED);
}

static void a_stop_releases_after_acting_has_ended(void **state)
{
    election_run *run = *state;
    election_run_lead(run);
    ki_election_stop(&run->election, run->now_ns);
    expect_phase(run, ENDING);
    assert_true(run->election.leads_until_ns == 0);
    expect_next(run, NOTHING);
    ki_election_acting_ended(&run->election, run->now_ns);
    election_run_read(run, "me", 1);
    expect_release(run);
    assert_true(ki_election_next_ns(&run->election) == UINT64_MAX);
}

static void a_lease_that_is_not_ours_any_more_is_not_released(void **state)
{
    election_run *run = *state;
    election_run_lead_and_stop(run);
    election_run_read(run, "other", 1);
    expect_phase(run, STOPPED);
    expect_next(run, NOTHING);
}

static void a_renewal_under_way_is_not_taken_for_the_release(void **state)
{
    election_run *run = *state;
    ki_election_request renewal = election_run_lead_and_renew(run);
    ki_election_stop(&run->election, run->now_ns);
    ki_election_acting_ended(&run->election, run->now_ns);
    expect_next(run, NOTHING);
    election_run_answer_body(run, renewal);
    expect_phase(run, RELEASING);
    expect_next(run, GET);
}

static void a_stop_while_acquiring_gives_back_what_it_may_have_got(void **state)
{
    election_run *run = *state;
    election_run_read(run, "", 1);
    expect_next(run, UPDATE);
    ki_election_stop(&run->election, run->now_ns);
    expect_phase(run, RELEASING);
    election_run_answer(run, KI_ELECTION_FAILED);
    election_run_read(run, "me", 2);
    expect_next(run, UPDATE);
}

/* Before the stop, the lease was free or missing. */
static void the_answer_to_an_acquisition_is_too_late_after_a_stop(void **state)
{
    election_run *run = *state;
    for (int is_missing = 0; is_missing < 2; is_missing++) {
        election_run_restart(run, &election_run_defaults);
        if (is_missing)
            election_run_read_missing(run);
        else
            election_run_read(run, "", 1);
        ki_election_request request = election_run_step(run);
        assert_int_equal(request.action, is_missing ? KI_ELECTION_CREATE : KI_ELECTION_UPDATE);
        ki_election_stop(&run->election, run->now_ns);
        expect_next(run, NOTHING); /* one request at a time */
        election_run_answer_body(run, request);
        expect_phase(run, RELEASING);
        assert_true(run->election.leads_until_ns == 0);
        election_run_read(run, "me", 2);
        expect_release(run);
    }
}

static void a_kept_lease_is_not_acquired_after_a_stop(void **state)
{
    election_run *run = *state;
    ki_election_options options = election_run_defaults;
    options.keeps_lease = true;
    election_run_restart(run, &options);
    election_run_read_missing(run);
    ki_election_request request = election_run_step(run);
    ki_election_stop(&run->election, run->now_ns);
    election_run_answer_body(run, request);
    expect_phase(run, STOPPED);
    assert_true(run->election.leads_until_ns == 0);
    expect_next(run, NOTHING);
}

/* A server or a gateway may answer 5xx to a write that was stored. */
static void a_stop_gives_back_what_a_failed_write_may_have_got(void **state)
{
    election_run *run = *state;
    static const ki_election_outcome failures[] = {KI_ELECTION_FAILED, KI_ELECTION_UNCLEAR};
    for (int i = 0; i < 4; i++) {
        bool is_over = i % 2 == 1;
        election_run_restart(run, &election_run_defaults);
        election_run_read_missing(run);
        expect_next(run, CREATE);
        election_run_answer(run, failures[i / 2]);
        if (is_over) /* nobody has to wait for such a lease */
            election_run_advance_s(run, 15);
        ki_election_stop(&run->election, run->now_ns);
        if (is_over) {
            expect_phase(run, STOPPED);
            continue;
        }
        election_run_read(run, "me", 1);
        expect_release(run);
    }
}

static void a_stop_after_a_write_that_was_refused_ends_at_once(void **state)
{
    election_run *run = *state;
    election_run_read_missing(run);
    expect_next(run, CREATE);
    election_run_answer(run, KI_ELECTION_REJECTED);
    ki_election_stop(&run->election, run->now_ns);
    expect_phase(run, STOPPED);
}

static void a_stop_after_a_read_that_names_another_process_ends_at_once(void **state)
{
    election_run *run = *state;
    election_run_read(run, "", 1);
    expect_next(run, UPDATE);
    election_run_answer(run, KI_ELECTION_FAILED);
    run->now_ns = ki_election_next_ns(&run->election);
    election_run_read(run, "other", 2);
    ki_election_stop(&run->election, run->now_ns);
    expect_phase(run, STOPPED);
}

/* It was not led by then, but others would wait for its whole duration. */
static void a_stop_gives_back_what_was_acquired_too_late_or_lost(void **state)
{
    election_run *run = *state;
    for (int is_lost = 0; is_lost < 2; is_lost++) {
        election_run_restart(run, &election_run_defaults);
        if (is_lost) {
            election_run_lead(run);
            election_run_advance_s(run, 10);
            expect_next(run, NOTHING);
            ki_election_acting_ended(&run->election, run->now_ns);
        } else {
            election_run_read_missing(run);
            ki_election_request request = election_run_step(run);
            election_run_advance_s(run, 10);
            election_run_answer_body(run, request);
        }
        expect_phase(run, SEEKING);
        ki_election_stop(&run->election, run->now_ns);
        election_run_read(run, "me", 1);
        expect_release(run);
    }
}

static void a_release_that_meets_a_conflict_reads_and_writes_again(void **state)
{
    election_run *run = *state;
    election_run_lead_and_stop(run);
    election_run_read(run, "me", 1);
    expect_next(run, UPDATE);
    election_run_answer(run, KI_ELECTION_CONFLICT);
    assert_true(ki_election_next_ns(&run->election) <= run->now_ns + 2 * (uint64_t)S);
    run->now_ns = ki_election_next_ns(&run->election);
    election_run_read(run, "me", 2);
    election_run_write(run, KI_ELECTION_UPDATE);
    expect_phase(run, STOPPED);
}

static void a_release_is_given_up_in_the_end(void **state)
{
    election_run *run = *state;
    election_run_lead_and_stop(run);
    uint64_t began_ns = run->now_ns;
    while (run->election.phase == KI_ELECTION_RELEASING) {
        if (election_run_step(run).action != KI_ELECTION_NOTHING)
            election_run_answer(run, KI_ELECTION_FAILED);
        run->now_ns =
            run->election.phase == KI_ELECTION_RELEASING ? ki_election_next_ns(&run->election) : run->now_ns;
    }
    expect_phase(run, STOPPED);
    assert_true(run->now_ns - began_ns <= 10 * (uint64_t)S);
}

static void an_option_keeps_the_lease_on_a_stop(void **state)
{
    election_run *run = *state;
    ki_election_options options = election_run_defaults;
    options.keeps_lease = true;
    election_run_restart(run, &options);
    election_run_lead_and_stop(run);
    expect_phase(run, STOPPED);
}

static void a_start_takes_back_a_stop(void **state)
{
    election_run *run = *state;
    election_run_lead(run);
    ki_election_stop(&run->election, run->now_ns);
    ki_election_start(&run->election, run->now_ns);
    expect_phase(run, ENDING);
    ki_election_acting_ended(&run->election, run->now_ns);
    expect_phase(run, SEEKING);
    expect_next(run, GET);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        election_test(a_stop_releases_after_acting_has_ended),
        election_test(a_lease_that_is_not_ours_any_more_is_not_released),
        election_test(a_renewal_under_way_is_not_taken_for_the_release),
        election_test(a_stop_while_acquiring_gives_back_what_it_may_have_got),
        election_test(the_answer_to_an_acquisition_is_too_late_after_a_stop),
        election_test(a_kept_lease_is_not_acquired_after_a_stop),
        election_test(a_stop_gives_back_what_a_failed_write_may_have_got),
        election_test(a_stop_after_a_write_that_was_refused_ends_at_once),
        election_test(a_stop_after_a_read_that_names_another_process_ends_at_once),
        election_test(a_stop_gives_back_what_was_acquired_too_late_or_lost),
        election_test(a_release_that_meets_a_conflict_reads_and_writes_again),
        election_test(a_release_is_given_up_in_the_end),
        election_test(an_option_keeps_the_lease_on_a_stop),
        election_test(a_start_takes_back_a_stop),
    };
    return RUN_TESTS(tests);
}
