/* SPDX-License-Identifier: Apache-2.0 */
#include "handler/resync.h"

#include "support/unit.h"

enum { STARTED = 1 };

/* Returns the period that a handler gets, and updates *check_ms. */
static uint64_t period_of(uint64_t asked_ms, uint64_t *check_ms, bool is_started)
{
    ki_resync_turn turn = {.period_ms = 99, .due_ms = 99, .is_due = true};
    ki_resync_turn_init(&turn, asked_ms, check_ms, is_started);
    assert_int_equal(turn.due_ms, 0);
    assert_false(turn.is_due);
    return turn.period_ms;
}

static void a_period_below_a_second_becomes_a_second(void **state)
{
    (void)state;
    uint64_t check_ms = 1000;
    assert_int_equal(period_of(1, &check_ms, false), KI_RESYNC_MIN_MS);
    assert_int_equal(period_of(999, &check_ms, STARTED), KI_RESYNC_MIN_MS);
    assert_int_equal(period_of(1000, &check_ms, STARTED), 1000);
    assert_int_equal(period_of(1001, &check_ms, STARTED), 1001);
    assert_int_equal(check_ms, 1000);
}

static void a_shorter_period_before_the_start_shortens_the_check_period(void **state)
{
    (void)state;
    uint64_t check_ms = 30000;
    assert_int_equal(period_of(10000, &check_ms, false), 10000);
    assert_int_equal(check_ms, 10000);
    assert_int_equal(period_of(5, &check_ms, false), KI_RESYNC_MIN_MS);
    assert_int_equal(check_ms, KI_RESYNC_MIN_MS);
}

static void a_longer_period_leaves_the_check_period(void **state)
{
    (void)state;
    uint64_t check_ms = 30000;
    assert_int_equal(period_of(45000, &check_ms, false), 45000);
    assert_int_equal(period_of(30000, &check_ms, false), 30000);
    assert_int_equal(period_of(45000, &check_ms, STARTED), 45000);
    assert_int_equal(check_ms, 30000);
}

static void a_shorter_period_after_the_start_becomes_the_check_period(void **state)
{
    (void)state;
    uint64_t check_ms = 30000;
    assert_int_equal(period_of(10000, &check_ms, STARTED), 30000);
    assert_int_equal(check_ms, 30000);
}

static void without_a_check_period_there_is_no_resync(void **state)
{
    (void)state;
    uint64_t check_ms = 0;
    assert_int_equal(period_of(10000, &check_ms, false), 0);
    assert_int_equal(period_of(10000, &check_ms, STARTED), 0);
    assert_int_equal(check_ms, 0);
}

static void a_handler_that_asks_for_nothing_is_never_due(void **state)
{
    (void)state;
    uint64_t check_ms = 30000;
    ki_resync_turn turn;
    ki_resync_turn_init(&turn, 0, &check_ms, false);
    ki_resync_turn_begin(&turn, 5);
    assert_int_equal(check_ms, 30000);
    assert_false(ki_resync_turn_check(&turn, UINT64_MAX));
    assert_false(turn.is_due);
}

static void the_first_resync_is_one_period_after_the_handler_is_added(void **state)
{
    (void)state;
    uint64_t check_ms = 1000;
    ki_resync_turn turn;
    ki_resync_turn_init(&turn, 3000, &check_ms, STARTED);
    ki_resync_turn_begin(&turn, 500);
    assert_false(ki_resync_turn_check(&turn, 3499));
    assert_false(turn.is_due);
    assert_true(ki_resync_turn_check(&turn, 3500));
    assert_true(turn.is_due);
}

static void the_next_resync_is_one_period_after_the_check(void **state)
{
    (void)state;
    uint64_t check_ms = 1000;
    ki_resync_turn turn;
    ki_resync_turn_init(&turn, 3000, &check_ms, false);
    ki_resync_turn_begin(&turn, 0);
    assert_true(ki_resync_turn_check(&turn, 3700));
    assert_int_equal(turn.due_ms, 6700);
    assert_false(ki_resync_turn_check(&turn, 6699));
    assert_true(ki_resync_turn_check(&turn, 6700));
}

/* With a check every 2 s, a period of 3 s becomes 4 s. */
static void a_period_is_rounded_up_to_a_multiple_of_the_check_period(void **state)
{
    (void)state;
    uint64_t check_ms = 2000;
    ki_resync_turn turn;
    ki_resync_turn_init(&turn, 3000, &check_ms, false);
    ki_resync_turn_begin(&turn, 0);
    for (uint64_t now_ms = 2000; now_ms <= 24000; now_ms += check_ms)
        assert_int_equal(ki_resync_turn_check(&turn, now_ms), now_ms % 4000 == 0);
}

/* As in client-go, handlers added earlier keep their time. */
static void a_shorter_check_period_does_not_change_the_time_of_others(void **state)
{
    (void)state;
    uint64_t check_ms = 30000;
    ki_resync_turn first;
    ki_resync_turn second;
    ki_resync_turn_init(&first, 30000, &check_ms, false);
    ki_resync_turn_begin(&first, 0);
    ki_resync_turn_init(&second, 1000, &check_ms, false);
    ki_resync_turn_begin(&second, 0);
    assert_int_equal(check_ms, 1000);
    assert_false(ki_resync_turn_check(&first, 29000));
    assert_true(ki_resync_turn_check(&second, 29000));
    assert_true(ki_resync_turn_check(&first, 30000));
}

#define MEMORY_TEST cmocka_unit_test

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(a_period_below_a_second_becomes_a_second),
        MEMORY_TEST(a_shorter_period_before_the_start_shortens_the_check_period),
        MEMORY_TEST(a_longer_period_leaves_the_check_period),
        MEMORY_TEST(a_shorter_period_after_the_start_becomes_the_check_period),
        MEMORY_TEST(without_a_check_period_there_is_no_resync),
        MEMORY_TEST(a_handler_that_asks_for_nothing_is_never_due),
        MEMORY_TEST(the_first_resync_is_one_period_after_the_handler_is_added),
        MEMORY_TEST(the_next_resync_is_one_period_after_the_check),
        MEMORY_TEST(a_period_is_rounded_up_to_a_multiple_of_the_check_period),
        MEMORY_TEST(a_shorter_check_period_does_not_change_the_time_of_others),
    };
    return RUN_TESTS(tests);
}
