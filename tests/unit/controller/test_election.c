/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/election.h"

#include <kinformer/resources.h>
#include <stdio.h>

#include "controller/lease.h"
#include "support/unit.h"
#include "util/units.h"

enum { S = 1000000000 };

static const ki_election_options defaults = {.ns = "default",
                                             .name = "lock",
                                             .identity = "me",
                                             .lease_ns = 15 * (uint64_t)S,
                                             .renew_ns = 10 * (uint64_t)S,
                                             .retry_ns = 2 * (uint64_t)S,
                                             .seed = 1};

static ki_election election;
static uint64_t now_ns;
static int serial;

static void begin_with(const ki_election_options *options)
{
    now_ns = 100 * (uint64_t)S;
    serial = 0;
    ki_election_init(&election, options);
    ki_election_start(&election, now_ns);
}

static void begin(void)
{
    begin_with(&defaults);
}

static void end(void)
{
    ki_election_fini(&election);
}

static ki_election_request step(void)
{
    return ki_election_step(&election, now_ns, 1700000000 * (int64_t)S + 123456789);
}

/* A lease with `holder`, renewed for the `renewal`-th time. */
static ki_object *lease_of(const char *holder, int seconds, int renewal)
{
    char text[512];
    snprintf(
        text, sizeof(text),
        "{\"metadata\":{\"namespace\":\"default\",\"name\":\"lock\",\"resourceVersion\":\"%d\",\"labels\":"
        "{\"team\":\"a\"}},\"spec\":{\"holderIdentity\":\"%s\",\"leaseDurationSeconds\":%d,\"acquireTime\":"
        "\"2026-01-01T00:00:00.000000Z\",\"renewTime\":\"2026-01-01T00:00:00.%06dZ\",\"leaseTransitions\":3}"
        "}",
        ++serial, holder, seconds, renewal);
    ki_object *lease = ki_object_new(&KI_COORDINATION_V1_LEASES, ki_str_of(text), NULL, NULL);
    assert_non_null(lease);
    return lease;
}

static void answer_lease(const char *holder, int renewal)
{
    ki_object *lease = lease_of(holder, 15, renewal);
    ki_election_answer(&election, KI_ELECTION_DONE, lease, now_ns);
    ki_object_unref(lease);
}

/* What was written comes back as it was sent. */
static void answer_body(ki_election_request request)
{
    ki_error err = {0};
    ki_object *lease = ki_object_new(&KI_COORDINATION_V1_LEASES, request.body, NULL, &err);
    assert_non_null(lease);
    ki_election_answer(&election, KI_ELECTION_DONE, lease, now_ns);
    ki_object_unref(lease);
}

static void lead(void)
{
    assert_int_equal(step().action, KI_ELECTION_GET);
    ki_election_answer(&election, KI_ELECTION_NOT_FOUND, NULL, now_ns);
    ki_election_request request = step();
    assert_int_equal(request.action, KI_ELECTION_CREATE);
    answer_body(request);
    assert_int_equal(election.phase, KI_ELECTION_LEADING);
}

#define EXPECT_PHASE(wanted) assert_int_equal(election.phase, KI_ELECTION_##wanted)
#define EXPECT_NEXT(wanted) assert_int_equal(step().action, KI_ELECTION_##wanted)

static void a_lease_that_is_missing_is_created(void **state)
{
    (void)state;
    begin();
    EXPECT_NEXT(GET);
    EXPECT_NEXT(NOTHING);
    ki_election_answer(&election, KI_ELECTION_NOT_FOUND, NULL, now_ns);
    assert_true(ki_election_next_ns(&election) <= now_ns);
    ki_election_request request = step();
    assert_int_equal(request.action, KI_ELECTION_CREATE);
    assert_true(ki_str_equal(
        request.body,
        KI_STR(
            "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":\"lock\","
            "\"namespace\":\"default\"},\"spec\":{\"holderIdentity\":\"me\",\"leaseDurationSeconds\":15,"
            "\"acquireTime\":\"2023-11-14T22:13:20.123456Z\",\"renewTime\":\"2023-11-14T22:13:20.123456Z\","
            "\"leaseTransitions\":0}}")));
    answer_body(request);
    EXPECT_PHASE(LEADING);
    end();
}

static void the_right_to_act_counts_from_the_sending(void **state)
{
    (void)state;
    begin();
    EXPECT_NEXT(GET);
    ki_election_answer(&election, KI_ELECTION_NOT_FOUND, NULL, now_ns);
    uint64_t sent_ns = now_ns;
    ki_election_request request = step();
    now_ns += 4 * (uint64_t)S;
    answer_body(request);
    EXPECT_PHASE(LEADING);
    assert_true(election.leads_until_ns <= sent_ns + 15 * (uint64_t)S);
    assert_true(election.leads_until_ns > sent_ns + 14 * (uint64_t)S);
    while (election.phase == KI_ELECTION_LEADING) {
        now_ns = ki_election_next_ns(&election);
        if (step().action == KI_ELECTION_UPDATE)
            ki_election_answer(&election, KI_ELECTION_FAILED, NULL, now_ns);
    }
    assert_true(now_ns == sent_ns + 10 * (uint64_t)S); /* and so does the renew deadline */
    end();
}

static void an_acquisition_that_is_answered_late_is_none(void **state)
{
    (void)state;
    begin();
    EXPECT_NEXT(GET);
    ki_election_answer(&election, KI_ELECTION_NOT_FOUND, NULL, now_ns);
    ki_election_request request = step();
    now_ns += 10 * (uint64_t)S;
    answer_body(request);
    EXPECT_PHASE(SEEKING);
    assert_true(election.leads_until_ns == 0);
    end();
}

static void a_lease_of_another_is_taken_when_it_has_not_changed_for_its_duration(void **state)
{
    (void)state;
    begin();
    EXPECT_NEXT(GET);
    answer_lease("other", 1);
    uint64_t seen_ns = now_ns;
    for (;;) {
        assert_true(ki_election_next_ns(&election) >= now_ns + 2 * (uint64_t)S);
        assert_true(ki_election_next_ns(&election) < now_ns + 4400 * KI_NS_PER_MS);
        now_ns = ki_election_next_ns(&election);
        EXPECT_NEXT(GET);
        answer_lease("other", 1);
        if (election.pending == KI_ELECTION_UPDATE)
            break;
        assert_true(now_ns < seen_ns + 15 * (uint64_t)S);
    }
    assert_true(now_ns >= seen_ns + 15 * (uint64_t)S);
    assert_true(now_ns < seen_ns + 15 * (uint64_t)S + 4400 * KI_NS_PER_MS);
    ki_election_request request = step();
    assert_int_equal(request.action, KI_ELECTION_UPDATE);
    ki_json body = ki_json_of(request.body);
    int64_t transitions = 0;
    assert_int_equal(ki_json_int64(ki_json_find(body, "/spec/leaseTransitions"), &transitions), 0);
    assert_int_equal(transitions, 4);
    assert_true(ki_json_string_equals(ki_json_find(body, "/metadata/labels/team"), KI_STR("a")));
    assert_int_equal(ki_json_type_of(ki_json_find(body, "/metadata/resourceVersion")), KI_JSON_STRING);
    end();
}

static void a_renewal_within_the_same_second_counts(void **state)
{
    (void)state;
    begin();
    EXPECT_NEXT(GET);
    answer_lease("other", 1);
    now_ns += 14 * (uint64_t)S;
    EXPECT_NEXT(GET);
    answer_lease("other", 2);
    now_ns += 4 * (uint64_t)S;
    EXPECT_NEXT(GET);
    answer_lease("other", 2);
    assert_int_equal(election.pending, KI_ELECTION_NOTHING);
    end();
}

static void a_change_of_other_fields_is_not_a_renewal(void **state)
{
    (void)state;
    begin();
    EXPECT_NEXT(GET);
    answer_lease("other", 1);
    now_ns += 15 * (uint64_t)S;
    EXPECT_NEXT(GET);
    answer_lease("other", 1); /* another resourceVersion */
    assert_int_equal(election.pending, KI_ELECTION_UPDATE);
    end();
}

static void a_released_lease_is_taken_at_once(void **state)
{
    (void)state;
    begin();
    EXPECT_NEXT(GET);
    answer_lease("", 1);
    EXPECT_NEXT(UPDATE);
    end();
}

static void a_holder_renews_every_retry_period_without_reading(void **state)
{
    (void)state;
    begin();
    lead();
    for (int i = 0; i < 20; i++) {
        assert_true(ki_election_next_ns(&election) == now_ns + 2 * (uint64_t)S);
        now_ns += 2 * (uint64_t)S;
        ki_election_request request = step();
        assert_int_equal(request.action, KI_ELECTION_UPDATE);
        answer_body(request);
        EXPECT_PHASE(LEADING);
    }
    assert_int_equal(election.slow_renewals, 0);
    end();
}

static void a_conflict_is_followed_by_a_read_at_once(void **state)
{
    (void)state;
    begin();
    lead();
    now_ns += 2 * (uint64_t)S;
    EXPECT_NEXT(UPDATE);
    ki_election_answer(&election, KI_ELECTION_CONFLICT, NULL, now_ns);
    EXPECT_PHASE(LEADING);
    EXPECT_NEXT(GET);
    answer_lease("me", 5);
    EXPECT_NEXT(UPDATE);
    assert_int_equal(election.slow_renewals, 1);
    end();
}

static void conflicts_without_end_are_not_a_hot_loop(void **state)
{
    (void)state;
    begin();
    lead();
    now_ns += 2 * (uint64_t)S;
    EXPECT_NEXT(UPDATE);
    ki_election_answer(&election, KI_ELECTION_CONFLICT, NULL, now_ns);
    EXPECT_NEXT(GET);
    answer_lease("me", 5);
    EXPECT_NEXT(UPDATE);
    ki_election_answer(&election, KI_ELECTION_CONFLICT, NULL, now_ns);
    EXPECT_NEXT(NOTHING);
    assert_true(ki_election_next_ns(&election) == now_ns + 2 * (uint64_t)S);
    end();
}

static void a_lease_that_another_process_holds_is_lost_at_once(void **state)
{
    (void)state;
    begin();
    lead();
    now_ns += 2 * (uint64_t)S;
    EXPECT_NEXT(UPDATE);
    ki_election_answer(&election, KI_ELECTION_CONFLICT, NULL, now_ns);
    EXPECT_NEXT(GET);
    answer_lease("other", 1);
    EXPECT_PHASE(ENDING);
    assert_true(election.leads_until_ns == 0);
    EXPECT_NEXT(NOTHING);
    ki_election_acting_ended(&election, now_ns);
    EXPECT_PHASE(SEEKING);
    end();
}

static void a_lease_that_was_deleted_is_lost(void **state)
{
    (void)state;
    begin();
    lead();
    now_ns += 2 * (uint64_t)S;
    EXPECT_NEXT(UPDATE);
    ki_election_answer(&election, KI_ELECTION_NOT_FOUND, NULL, now_ns);
    EXPECT_PHASE(ENDING);
    end();
}

static void renewals_that_fail_lose_the_lease_at_the_renew_deadline(void **state)
{
    (void)state;
    begin();
    lead();
    uint64_t renewed_ns = now_ns;
    int tries = 0;
    while (election.phase == KI_ELECTION_LEADING) {
        now_ns = ki_election_next_ns(&election);
        if (step().action == KI_ELECTION_UPDATE) {
            tries++;
            ki_election_answer(&election, KI_ELECTION_FAILED, NULL, now_ns);
        }
    }
    EXPECT_PHASE(ENDING);
    assert_true(now_ns == renewed_ns + 10 * (uint64_t)S);
    assert_int_equal(tries, 4);
    end();
}

static void a_request_that_hangs_leaves_time_for_another(void **state)
{
    (void)state;
    begin();
    lead();
    now_ns += 2 * (uint64_t)S;
    ki_election_request request = step();
    assert_true(request.timeout_ns == 5 * (uint64_t)S);
    now_ns += request.timeout_ns;
    ki_election_answer(&election, KI_ELECTION_FAILED, NULL, now_ns);
    now_ns += 2 * (uint64_t)S;
    request = step();
    assert_int_equal(request.action, KI_ELECTION_UPDATE);
    assert_true(request.timeout_ns == 1 * (uint64_t)S);
    end();
}

static void a_renewal_that_is_answered_after_the_deadline_changes_nothing(void **state)
{
    (void)state;
    begin();
    lead();
    now_ns += 2 * (uint64_t)S;
    ki_election_request request = step();
    now_ns += 60 * (uint64_t)S; /* suspended */
    answer_body(request);
    EXPECT_PHASE(ENDING);
    assert_true(election.leads_until_ns == 0);
    end();
}

static void a_stop_releases_after_acting_has_ended(void **state)
{
    (void)state;
    begin();
    lead();
    ki_election_stop(&election, now_ns);
    EXPECT_PHASE(ENDING);
    assert_true(election.leads_until_ns == 0);
    EXPECT_NEXT(NOTHING);
    ki_election_acting_ended(&election, now_ns);
    EXPECT_NEXT(GET);
    answer_lease("me", 1);
    ki_election_request request = step();
    assert_int_equal(request.action, KI_ELECTION_UPDATE);
    ki_json body = ki_json_of(request.body);
    assert_int_equal(ki_json_type_of(ki_json_find(body, "/spec/holderIdentity")), KI_JSON_NONE);
    int64_t seconds = 0;
    assert_int_equal(ki_json_int64(ki_json_find(body, "/spec/leaseDurationSeconds"), &seconds), 0);
    assert_int_equal(seconds, 1);
    answer_body(request);
    EXPECT_PHASE(STOPPED);
    assert_true(ki_election_next_ns(&election) == UINT64_MAX);
    end();
}

static void a_lease_that_is_not_ours_any_more_is_not_released(void **state)
{
    (void)state;
    begin();
    lead();
    ki_election_stop(&election, now_ns);
    ki_election_acting_ended(&election, now_ns);
    EXPECT_NEXT(GET);
    answer_lease("other", 1);
    EXPECT_PHASE(STOPPED);
    EXPECT_NEXT(NOTHING);
    end();
}

static void a_renewal_under_way_is_not_taken_for_the_release(void **state)
{
    (void)state;
    begin();
    lead();
    now_ns += 2 * (uint64_t)S;
    ki_election_request renewal = step();
    assert_int_equal(renewal.action, KI_ELECTION_UPDATE);
    ki_election_stop(&election, now_ns);
    ki_election_acting_ended(&election, now_ns);
    EXPECT_NEXT(NOTHING);
    answer_body(renewal);
    EXPECT_PHASE(RELEASING);
    EXPECT_NEXT(GET);
    end();
}

static void a_stop_while_acquiring_gives_back_what_it_may_have_got(void **state)
{
    (void)state;
    begin();
    EXPECT_NEXT(GET);
    answer_lease("", 1);
    EXPECT_NEXT(UPDATE);
    ki_election_stop(&election, now_ns);
    EXPECT_PHASE(RELEASING);
    ki_election_answer(&election, KI_ELECTION_FAILED, NULL, now_ns);
    EXPECT_NEXT(GET);
    answer_lease("me", 2);
    EXPECT_NEXT(UPDATE);
    end();
}

static void a_release_is_given_up_in_the_end(void **state)
{
    (void)state;
    begin();
    lead();
    ki_election_stop(&election, now_ns);
    ki_election_acting_ended(&election, now_ns);
    uint64_t began_ns = now_ns;
    while (election.phase == KI_ELECTION_RELEASING) {
        if (step().action != KI_ELECTION_NOTHING)
            ki_election_answer(&election, KI_ELECTION_FAILED, NULL, now_ns);
        now_ns = election.phase == KI_ELECTION_RELEASING ? ki_election_next_ns(&election) : now_ns;
    }
    EXPECT_PHASE(STOPPED);
    assert_true(now_ns - began_ns <= 10 * (uint64_t)S);
    end();
}

static void an_option_keeps_the_lease_on_a_stop(void **state)
{
    (void)state;
    ki_election_options options = defaults;
    options.keeps_lease = true;
    begin_with(&options);
    lead();
    ki_election_stop(&election, now_ns);
    ki_election_acting_ended(&election, now_ns);
    EXPECT_PHASE(STOPPED);
    end();
}

static void a_start_takes_back_a_stop(void **state)
{
    (void)state;
    begin();
    lead();
    ki_election_stop(&election, now_ns);
    ki_election_start(&election, now_ns);
    EXPECT_PHASE(ENDING);
    ki_election_acting_ended(&election, now_ns);
    EXPECT_PHASE(SEEKING);
    EXPECT_NEXT(GET);
    end();
}

static void our_own_release_that_is_read_again_is_not_our_lease(void **state)
{
    (void)state;
    begin();
    EXPECT_NEXT(GET);
    ki_object *bare =
        ki_object_new(&KI_COORDINATION_V1_LEASES,
                      KI_STR("{\"metadata\":{\"namespace\":\"default\",\"name\":\"lock\"}}"), NULL, NULL);
    ki_election_answer(&election, KI_ELECTION_DONE, bare, now_ns);
    ki_object_unref(bare);
    EXPECT_NEXT(UPDATE);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lease_that_is_missing_is_created),
        cmocka_unit_test(the_right_to_act_counts_from_the_sending),
        cmocka_unit_test(an_acquisition_that_is_answered_late_is_none),
        cmocka_unit_test(a_lease_of_another_is_taken_when_it_has_not_changed_for_its_duration),
        cmocka_unit_test(a_renewal_within_the_same_second_counts),
        cmocka_unit_test(a_change_of_other_fields_is_not_a_renewal),
        cmocka_unit_test(a_released_lease_is_taken_at_once),
        cmocka_unit_test(a_holder_renews_every_retry_period_without_reading),
        cmocka_unit_test(a_conflict_is_followed_by_a_read_at_once),
        cmocka_unit_test(conflicts_without_end_are_not_a_hot_loop),
        cmocka_unit_test(a_lease_that_another_process_holds_is_lost_at_once),
        cmocka_unit_test(a_lease_that_was_deleted_is_lost),
        cmocka_unit_test(renewals_that_fail_lose_the_lease_at_the_renew_deadline),
        cmocka_unit_test(a_request_that_hangs_leaves_time_for_another),
        cmocka_unit_test(a_renewal_that_is_answered_after_the_deadline_changes_nothing),
        cmocka_unit_test(a_stop_releases_after_acting_has_ended),
        cmocka_unit_test(a_lease_that_is_not_ours_any_more_is_not_released),
        cmocka_unit_test(a_renewal_under_way_is_not_taken_for_the_release),
        cmocka_unit_test(a_stop_while_acquiring_gives_back_what_it_may_have_got),
        cmocka_unit_test(a_release_is_given_up_in_the_end),
        cmocka_unit_test(an_option_keeps_the_lease_on_a_stop),
        cmocka_unit_test(a_start_takes_back_a_stop),
        cmocka_unit_test(our_own_release_that_is_read_again_is_not_our_lease),
    };
    return RUN_TESTS(tests);
}
