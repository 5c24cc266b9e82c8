/* SPDX-License-Identifier: Apache-2.0 */
#include "util/random.h"

#include <string.h>

#include "support/unit.h"

static void numbers_equal_those_of_the_published_generator(void **state)
{
    (void)state;
    static const uint64_t expected[] = {
        11520,
        0,
        1509978240,
        1215971899390074240,
        1216172134540287360,
        607988272756665600,
        16172922978634559625u,
        8476171486693032832,
        10595114339597558777u,
        2904607092377533576,
    };
    ki_random random = {{1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        assert_true(ki_random_next(&random) == expected[i]);
}

static void a_seed_is_spread_as_published_for_splitmix(void **state)
{
    (void)state;
    static const uint64_t expected[] = {
        0xe220a8397b1dcdaf,
        0x6e789e6aa1b965f4,
        0x06c45d188009454f,
        0xf88bb8a8724c81ec,
    };
    ki_random random;
    ki_random_init(&random, 0);
    assert_memory_equal(random.state, expected, sizeof(expected));
}

static void one_seed_gives_one_sequence(void **state)
{
    (void)state;
    ki_random a;
    ki_random b;
    ki_random_init(&a, 42);
    ki_random_init(&b, 42);
    for (int i = 0; i < 100; i++)
        assert_true(ki_random_next(&a) == ki_random_next(&b));
}

static void neighbouring_seeds_give_different_sequences(void **state)
{
    (void)state;
    ki_random a;
    ki_random b;
    ki_random_init(&a, 1);
    ki_random_init(&b, 2);
    int same = 0;
    for (int i = 0; i < 100; i++)
        same += ki_random_next(&a) == ki_random_next(&b);
    assert_int_equal(same, 0);
}

static void below_stays_below_and_reaches_every_value(void **state)
{
    (void)state;
    ki_random random;
    ki_random_init(&random, 5);
    for (uint64_t bound = 1; bound <= 20; bound++) {
        uint64_t seen = 0;
        for (int i = 0; i < 1000; i++) {
            uint64_t number = ki_random_below(&random, bound);
            assert_true(number < bound);
            seen |= 1ull << number;
        }
        assert_true(seen == (1ull << bound) - 1);
    }
}

/* With bound 3 * 2^62 a plain remainder would return values below 2^62 twice as often as the others: half
 * of the time instead of a third. 30000 draws lie within 0.01 of the third. */
static void below_has_no_bias_for_a_huge_bound(void **state)
{
    (void)state;
    ki_random random;
    ki_random_init(&random, 6);
    int low = 0;
    for (int i = 0; i < 30000; i++)
        low += ki_random_below(&random, 3ull << 62) < 1ull << 62;
    assert_in_range(low, 9700, 10300);
}

static void seeds_from_the_system_differ(void **state)
{
    (void)state;
    uint64_t a = 0;
    uint64_t b = 0;
    assert_int_equal(ki_random_system_seed(&a), 0);
    assert_int_equal(ki_random_system_seed(&b), 0);
    assert_true(a != b);
}

static void system_bytes_fill_exactly_the_requested_length(void **state)
{
    (void)state;
    unsigned char bytes[257];
    memset(bytes, 0, sizeof(bytes));
    assert_int_equal(ki_random_system_bytes(bytes, 256), 0);
    int zeros = 0;
    for (int i = 0; i < 256; i++)
        zeros += bytes[i] == 0;
    assert_in_range(zeros, 0, 32);
    assert_int_equal(bytes[256], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_equal_those_of_the_published_generator),
        cmocka_unit_test(a_seed_is_spread_as_published_for_splitmix),
        cmocka_unit_test(one_seed_gives_one_sequence),
        cmocka_unit_test(neighbouring_seeds_give_different_sequences),
        cmocka_unit_test(below_stays_below_and_reaches_every_value),
        cmocka_unit_test(below_has_no_bias_for_a_huge_bound),
        cmocka_unit_test(seeds_from_the_system_differ),
        cmocka_unit_test(system_bytes_fill_exactly_the_requested_length),
    };
    return RUN_TESTS(tests);
}
