/* SPDX-License-Identifier: Apache-2.0 */
/* How long expectations are kept; what they mean is in test_controller_expect.c. */
#include <stdio.h>

#include "controller/expectation.h"
#include "support/unit.h"
#include "util/units.h"

enum { KEYS = 100, MINUTE_S = 60 };

static uint64_t seconds(uint64_t s)
{
    return s * KI_NS_PER_S;
}

static void hold(ki_expectations *expectations, const char *prefix, int i, uint64_t now_s, uint64_t until_s)
{
    char key[32];
    int n = snprintf(key, sizeof(key), "%s%d", prefix, i);
    assert_int_equal(
        ki_expectations_delay(expectations, (ki_str){key, (size_t)n}, seconds(now_s), seconds(until_s)), 0);
}

static void a_key_that_is_held_long_keeps_no_other_keys(void **state)
{
    (void)state;
    ki_expectations expectations;
    uint64_t wait_ns = 0;
    assert_int_equal(ki_expectations_init(&expectations, 1), 0);
    hold(&expectations, "long", 0, 0, 100 * MINUTE_S);
    for (int i = 0; i < KEYS; i++)
        hold(&expectations, "old", i, 0, 1);
    assert_int_equal(expectations.by_key.count, KEYS + 1);
    for (int i = 0; i < KEYS; i++)
        hold(&expectations, "new", i, 10 * MINUTE_S, 10 * MINUTE_S + 1);
    assert_int_equal(expectations.by_key.count, KEYS + 1); /* the old keys are gone */
    assert_int_equal(ki_expectations_check(&expectations, KI_STR("long0"), seconds(10 * MINUTE_S), &wait_ns),
                     KI_EXPECTATION_WAITING);
    assert_true(wait_ns == seconds(90 * MINUTE_S));
    ki_expectations_fini(&expectations);
}

static void keys_that_are_never_checked_are_forgotten(void **state)
{
    (void)state;
    ki_expectations expectations;
    assert_int_equal(ki_expectations_init(&expectations, 1), 0);
    for (int i = 0; i < 100 * KEYS; i++) {
        hold(&expectations, "key", i, (uint64_t)i, (uint64_t)i + 1);
        assert_true(expectations.by_key.count <= 2 * MINUTE_S);
    }
    ki_expectations_fini(&expectations);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_that_is_held_long_keeps_no_other_keys),
        cmocka_unit_test(keys_that_are_never_checked_are_forgotten),
    };
    return RUN_TESTS(tests);
}
