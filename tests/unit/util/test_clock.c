/* SPDX-License-Identifier: Apache-2.0 */
#include "util/clock.h"

#include <time.h>

#include "support/unit.h"
#include "util/thread.h"

static int64_t read_system_ns(clockid_t id)
{
    struct timespec time;
    assert_int_equal(clock_gettime(id, &time), 0);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void the_real_clock_lies_between_two_readings_of_boot_time(void **state)
{
    (void)state;
    uint64_t before = (uint64_t)read_system_ns(CLOCK_BOOTTIME);
    uint64_t now = ki_clock_now_ns(ki_clock_real());
    uint64_t after = (uint64_t)read_system_ns(CLOCK_BOOTTIME);
    assert_true(before <= now && now <= after);
}

static void the_real_wall_clock_is_the_calendar(void **state)
{
    (void)state;
    int64_t difference = ki_clock_wall_ns(ki_clock_real()) - read_system_ns(CLOCK_REALTIME);
    assert_true(difference < 60 * INT64_C(1000000000) && difference > -60 * INT64_C(1000000000));
}

static void milliseconds_are_truncated_nanoseconds(void **state)
{
    (void)state;
    ki_clock clock;
    ki_clock_init_virtual(&clock, 1999999, 0);
    assert_int_equal(ki_clock_now_ms(&clock), 1);
}

static void a_virtual_clock_stands_still(void **state)
{
    (void)state;
    ki_clock clock;
    ki_clock_init_virtual(&clock, 5, 1000);
    assert_int_equal(ki_clock_now_ns(&clock), 5);
    assert_int_equal(ki_clock_now_ns(&clock), 5);
    assert_int_equal(ki_clock_wall_ns(&clock), 1000);
}

static void advancing_moves_time_and_calendar(void **state)
{
    (void)state;
    ki_clock clock;
    ki_clock_init_virtual(&clock, 5, 1000);
    ki_clock_advance_ns(&clock, 7);
    assert_int_equal(ki_clock_now_ns(&clock), 12);
    assert_int_equal(ki_clock_wall_ns(&clock), 1007);
    ki_clock_advance_ms(&clock, 2);
    assert_int_equal(ki_clock_now_ns(&clock), 2000012);
    assert_int_equal(ki_clock_wall_ns(&clock), 2001007);
}

static void setting_the_time_moves_the_calendar_with_it(void **state)
{
    (void)state;
    ki_clock clock;
    ki_clock_init_virtual(&clock, 100, 5000);
    ki_clock_set_now_ns(&clock, 300);
    assert_int_equal(ki_clock_now_ns(&clock), 300);
    assert_int_equal(ki_clock_wall_ns(&clock), 5200);
}

static void the_calendar_may_jump_back_while_time_does_not(void **state)
{
    (void)state;
    ki_clock clock;
    ki_clock_init_virtual(&clock, 100, 5000);
    ki_clock_set_wall_ns(&clock, -1);
    assert_int_equal(ki_clock_wall_ns(&clock), -1);
    assert_int_equal(ki_clock_now_ns(&clock), 100);
    ki_clock_advance_ns(&clock, 1);
    assert_int_equal(ki_clock_wall_ns(&clock), 0);
}

typedef struct reader {
    const ki_clock *clock;
    uint64_t last;
    bool went_back;
} reader;

enum { CLOCK_STEPS = 10000 };

static void read_until_end(void *user)
{
    reader *r = user;
    while (r->last < CLOCK_STEPS) {
        uint64_t now = ki_clock_now_ns(r->clock);
        if (now < r->last)
            r->went_back = true;
        r->last = now;
    }
}

static void another_thread_never_sees_a_virtual_clock_go_back(void **state)
{
    (void)state;
    ki_clock clock;
    ki_clock_init_virtual(&clock, 0, 0);
    reader r = {.clock = &clock};
    ki_thread thread;
    assert_int_equal(
        ki_thread_start(&thread, &(ki_thread_options){.name = "reader", .run = read_until_end, .user = &r},
                        NULL),
        0);
    for (int i = 0; i < CLOCK_STEPS; i++)
        ki_clock_advance_ns(&clock, 1);
    ki_thread_join(&thread);
    assert_int_equal(r.last, CLOCK_STEPS);
    assert_false(r.went_back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_real_clock_lies_between_two_readings_of_boot_time),
        cmocka_unit_test(the_real_wall_clock_is_the_calendar),
        cmocka_unit_test(milliseconds_are_truncated_nanoseconds),
        cmocka_unit_test(a_virtual_clock_stands_still),
        cmocka_unit_test(advancing_moves_time_and_calendar),
        cmocka_unit_test(setting_the_time_moves_the_calendar_with_it),
        cmocka_unit_test(the_calendar_may_jump_back_while_time_does_not),
        cmocka_unit_test(another_thread_never_sees_a_virtual_clock_go_back),
    };
    return RUN_TESTS(tests);
}
