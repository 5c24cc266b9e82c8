/* SPDX-License-Identifier: Apache-2.0 */
#include "reflector/backoff.h"

#include "support/unit.h"
#include "util/units.h"

static ki_random new_random(void)
{
    ki_random random;
    ki_random_init(&random, 3);
    return random;
}

/* Each delay, in milliseconds, must be at least as long as expected and less than twice that. */
static void assert_delays(ki_backoff *backoff, const uint64_t *expected, size_t count)
{
    ki_random random = new_random();
    for (size_t i = 0; i < count; i++) {
        uint64_t delay = ki_backoff_next_ns(backoff, &random, 0);
        assert_true(delay >= expected[i] * KI_NS_PER_MS);
        assert_true(delay < 2 * expected[i] * KI_NS_PER_MS);
    }
}

static void delays_double_up_to_the_maximum(void **state)
{
    (void)state;
    static const uint64_t expected[] = {800, 1600, 3200, 6400, 12800, 25600, 30000, 30000, 30000};
    ki_backoff backoff;
    ki_backoff_init(&backoff, 0, 0);
    assert_delays(&backoff, expected, sizeof(expected) / sizeof(expected[0]));
}

static void both_ends_are_options(void **state)
{
    (void)state;
    static const uint64_t expected[] = {10, 20, 25, 25};
    ki_backoff backoff;
    ki_backoff_init(&backoff, 10, 25);
    assert_delays(&backoff, expected, sizeof(expected) / sizeof(expected[0]));
}

static void a_maximum_below_the_first_delay_is_raised(void **state)
{
    (void)state;
    static const uint64_t expected[] = {50, 50};
    ki_backoff backoff;
    ki_backoff_init(&backoff, 50, 5);
    assert_delays(&backoff, expected, 2);
}

static void absurd_options_do_not_overflow(void **state)
{
    (void)state;
    ki_backoff backoff;
    ki_random random = new_random();
    ki_backoff_init(&backoff, UINT64_MAX, UINT64_MAX);
    for (int i = 0; i < 5; i++)
        assert_true(ki_backoff_next_ns(&backoff, &random, 0) >= backoff.first_ns);
}

static void delays_are_spread_over_their_whole_range(void **state)
{
    (void)state;
    ki_random random = new_random();
    int low = 0;
    int high = 0;
    for (int i = 0; i < 1000; i++) {
        ki_backoff backoff;
        ki_backoff_init(&backoff, 1000, 0);
        uint64_t ms = ki_backoff_next_ns(&backoff, &random, 0) / KI_NS_PER_MS;
        low += ms < 1100;
        high += ms >= 1900;
    }
    assert_in_range(low, 60, 140);
    assert_in_range(high, 60, 140);
}

static void two_healthy_minutes_restart_the_delays(void **state)
{
    (void)state;
    ki_random random = new_random();
    ki_backoff backoff;
    ki_backoff_init(&backoff, 0, 0);
    for (int i = 0; i < 5; i++)
        (void)ki_backoff_next_ns(&backoff, &random, 0);
    ki_backoff_set_healthy(&backoff, 10 * KI_NS_PER_S);
    ki_backoff_set_healthy(&backoff, 70 * KI_NS_PER_S);
    assert_true(ki_backoff_next_ns(&backoff, &random, 130 * KI_NS_PER_S) < 1600 * KI_NS_PER_MS);
}

static void less_than_two_healthy_minutes_do_not_restart_the_delays(void **state)
{
    (void)state;
    ki_random random = new_random();
    ki_backoff backoff;
    ki_backoff_init(&backoff, 0, 0);
    for (int i = 0; i < 3; i++)
        (void)ki_backoff_next_ns(&backoff, &random, 0);
    ki_backoff_set_healthy(&backoff, 0);
    ki_backoff_set_failed(&backoff, 119 * KI_NS_PER_S);
    ki_backoff_set_healthy(&backoff, 119 * KI_NS_PER_S);
    assert_true(ki_backoff_next_ns(&backoff, &random, 238 * KI_NS_PER_S) >= 6400 * KI_NS_PER_MS);
}

static void time_alone_does_not_restart_the_delays(void **state)
{
    (void)state;
    ki_random random = new_random();
    ki_backoff backoff;
    ki_backoff_init(&backoff, 0, 0);
    (void)ki_backoff_next_ns(&backoff, &random, 0);
    assert_true(ki_backoff_next_ns(&backoff, &random, 3600 * KI_NS_PER_S) >= 1600 * KI_NS_PER_MS);
}

static void a_reset_restarts_the_delays(void **state)
{
    (void)state;
    static const uint64_t expected[] = {800};
    ki_random random = new_random();
    ki_backoff backoff;
    ki_backoff_init(&backoff, 0, 0);
    for (int i = 0; i < 3; i++)
        (void)ki_backoff_next_ns(&backoff, &random, 0);
    ki_backoff_reset(&backoff);
    assert_delays(&backoff, expected, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delays_double_up_to_the_maximum),
        cmocka_unit_test(both_ends_are_options),
        cmocka_unit_test(a_maximum_below_the_first_delay_is_raised),
        cmocka_unit_test(absurd_options_do_not_overflow),
        cmocka_unit_test(delays_are_spread_over_their_whole_range),
        cmocka_unit_test(two_healthy_minutes_restart_the_delays),
        cmocka_unit_test(less_than_two_healthy_minutes_do_not_restart_the_delays),
        cmocka_unit_test(time_alone_does_not_restart_the_delays),
        cmocka_unit_test(a_reset_restarts_the_delays),
    };
    return RUN_TESTS(tests);
}
