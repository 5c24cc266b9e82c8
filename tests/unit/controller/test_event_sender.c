/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/event_sender.h"

#include "support/controller/event_make.h"
#include "support/failing_allocator.h"
#include "support/unit.h"
#include "util/units.h"

static ki_event_sender sender;
static uint64_t now_ns;
static int64_t wall_ns; /* advances by one with each event */

static void begin(ki_recorder_api api)
{
    now_ns = 1000 * KI_NS_PER_S;
    wall_ns = 100;
    ki_event_sender_init(
        &sender,
        &(ki_event_source){
            .api = api, .component = KI_STR("me"), .instance = KI_STR("here"), .hash = event_make_hash()},
        1);
}

static void end(void)
{
    ki_event_sender_fini(&sender);
}

static ki_event_outcome take(const char *pod)
{
    ki_recorded *event = event_make(pod, "R", "m", ++wall_ns);
    ki_event_outcome outcome = ki_event_sender_take(&sender, event, now_ns, wall_ns);
    ki_recorded_unref(event);
    return outcome;
}

static bool step(void)
{
    return ki_event_sender_step(&sender, now_ns, false);
}

static ki_event_outcome answer(ki_event_answer what)
{
    return ki_event_sender_answer(&sender, what, now_ns, false);
}

static ki_event_outcome send_one(const char *pod)
{
    ki_event_outcome outcome = take(pod);
    if (outcome != KI_OUTCOME_NONE)
        return outcome;
    assert_true(step());
    return answer(KI_ANSWER_DONE);
}

static void one_write_is_in_flight_at_a_time(void **state)
{
    (void)state;
    begin(KI_RECORDER_CORE_V1);
    assert_false(step());
    assert_int_equal(take("web"), KI_OUTCOME_NONE);
    assert_true(step());
    assert_false(step());
    assert_int_equal(ki_event_sender_next_ns(&sender), UINT64_MAX);
    assert_int_equal(answer(KI_ANSWER_DONE), KI_OUTCOME_CREATED);
    assert_null(sender.write.event);
    assert_int_equal(send_one("web"), KI_OUTCOME_PATCHED);
    end();
}

static void a_patch_of_a_lost_event_becomes_a_create(void **state)
{
    (void)state;
    begin(KI_RECORDER_CORE_V1);
    assert_int_equal(send_one("web"), KI_OUTCOME_CREATED);
    assert_int_equal(take("web"), KI_OUTCOME_NONE);
    assert_true(step());
    assert_true(sender.write.is_patch);
    assert_int_equal(answer(KI_ANSWER_NOT_FOUND), KI_OUTCOME_NONE);
    assert_true(ki_event_sender_next_ns(&sender) <= now_ns);
    assert_true(step());
    assert_false(sender.write.is_patch);
    assert_int_equal(sender.write.number, 101); /* with the same name */
    assert_int_equal(sender.write.count, 2);
    assert_int_equal(answer(KI_ANSWER_DONE), KI_OUTCOME_CREATED);
    assert_int_equal(sender.retries, 0);
    end();
}

static void refused_events_are_dropped(void **state)
{
    (void)state;
    begin(KI_RECORDER_CORE_V1);
    static const ki_event_answer refusals[] = {KI_ANSWER_REFUSED, KI_ANSWER_NOT_FOUND, KI_ANSWER_EXISTS};
    static const char *const pods[] = {"a", "b", "c"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(take(pods[i]), KI_OUTCOME_NONE);
        assert_true(step());
        assert_int_equal(answer(refusals[i]), KI_OUTCOME_REFUSED);
        assert_null(sender.write.event);
    }
    end();
}

static void without_a_response_an_event_is_sent_twelve_times(void **state)
{
    (void)state;
    begin(KI_RECORDER_CORE_V1);
    assert_int_equal(take("web"), KI_OUTCOME_NONE);
    for (int tries = 1; tries <= 11; tries++) {
        assert_true(step());
        assert_int_equal(answer(KI_ANSWER_NONE), KI_OUTCOME_NONE);
        uint64_t due_ns = ki_event_sender_next_ns(&sender);
        if (tries == 1)
            assert_in_range(due_ns - now_ns, 0, 10 * KI_NS_PER_S - 1);
        else
            assert_int_equal(due_ns - now_ns, 10 * KI_NS_PER_S);
        if (due_ns > now_ns) {
            now_ns = due_ns - 1;
            assert_false(step());
        }
        now_ns = due_ns;
    }
    assert_true(step());
    assert_int_equal(answer(KI_ANSWER_NONE), KI_OUTCOME_NO_ANSWER);
    assert_int_equal(sender.retries, 11);
    assert_null(sender.write.event);
    assert_int_equal(take("db"), KI_OUTCOME_NONE); /* the next event has its own attempts */
    assert_true(step());
    assert_int_equal(answer(KI_ANSWER_NONE), KI_OUTCOME_NONE);
    end();
}

static void the_first_wait_is_random(void **state)
{
    (void)state;
    uint64_t waits_ns[8], least = UINT64_MAX, most = 0;
    begin(KI_RECORDER_CORE_V1);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(take("web"), KI_OUTCOME_NONE);
        assert_true(step());
        assert_int_equal(answer(KI_ANSWER_NONE), KI_OUTCOME_NONE);
        waits_ns[i] = ki_event_sender_next_ns(&sender) - now_ns;
        least = ki_ns_min(least, waits_ns[i]);
        most = ki_ns_max(most, waits_ns[i]);
        ki_event_sender_drop(&sender);
    }
    assert_true(most - least > KI_NS_PER_S);
    end();
}

static void a_create_whose_response_was_lost_counts_as_created(void **state)
{
    (void)state;
    begin(KI_RECORDER_CORE_V1);
    assert_int_equal(take("web"), KI_OUTCOME_NONE);
    assert_true(step());
    assert_int_equal(answer(KI_ANSWER_NONE), KI_OUTCOME_NONE);
    now_ns = ki_event_sender_next_ns(&sender);
    assert_true(step());
    assert_int_equal(answer(KI_ANSWER_EXISTS), KI_OUTCOME_CREATED);
    end();
}

static void at_the_end_nothing_waits_and_nothing_is_retried(void **state)
{
    (void)state;
    begin(KI_RECORDER_CORE_V1);
    assert_int_equal(take("web"), KI_OUTCOME_NONE);
    assert_true(step());
    assert_int_equal(answer(KI_ANSWER_NONE), KI_OUTCOME_NONE);
    assert_true(ki_event_sender_step(&sender, now_ns, true));
    assert_int_equal(ki_event_sender_answer(&sender, KI_ANSWER_NONE, now_ns, true), KI_OUTCOME_NO_ANSWER);
    end();
}

static void spam_is_not_sent(void **state)
{
    (void)state;
    begin(KI_RECORDER_CORE_V1);
    for (int i = 0; i < 25; i++)
        assert_true(send_one("web") != KI_OUTCOME_SPAM);
    assert_int_equal(send_one("web"), KI_OUTCOME_SPAM);
    assert_false(step());
    end();
}

static void a_series_is_written_without_a_new_event(void **state)
{
    (void)state;
    begin(KI_RECORDER_EVENTS_V1);
    assert_int_equal(send_one("web"), KI_OUTCOME_CREATED);
    assert_int_equal(send_one("web"), KI_OUTCOME_PATCHED);
    assert_int_equal(send_one("web"), KI_OUTCOME_COUNTED);
    assert_false(step());
    now_ns = ki_event_sender_next_ns(&sender);
    assert_true(step());
    assert_true(sender.is_refresh);
    assert_int_equal(sender.write.count, 3);
    assert_int_equal(answer(KI_ANSWER_DONE), KI_OUTCOME_PATCHED);
    assert_int_equal(sender.refreshed, 1);
    assert_false(sender.is_refresh);
    assert_int_equal(ki_event_sender_next_ns(&sender), UINT64_MAX);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(one_write_is_in_flight_at_a_time),
        WITH_MEMORY_CHECK(a_patch_of_a_lost_event_becomes_a_create),
        WITH_MEMORY_CHECK(refused_events_are_dropped),
        WITH_MEMORY_CHECK(without_a_response_an_event_is_sent_twelve_times),
        WITH_MEMORY_CHECK(the_first_wait_is_random),
        WITH_MEMORY_CHECK(a_create_whose_response_was_lost_counts_as_created),
        WITH_MEMORY_CHECK(at_the_end_nothing_waits_and_nothing_is_retried),
        WITH_MEMORY_CHECK(spam_is_not_sent),
        WITH_MEMORY_CHECK(a_series_is_written_without_a_new_event),
    };
    return RUN_TESTS(tests);
}
