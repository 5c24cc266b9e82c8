/* SPDX-License-Identifier: Apache-2.0 */
#include "json/kernel/squeeze.h"

#include "support/unit.h"
#include "util/random.h"

static uint64_t model(uint64_t keep, uint64_t bits)
{
    uint64_t out = 0;
    unsigned to = 0;
    for (unsigned i = 0; i < 64; i++)
        if (keep >> i & 1)
            out |= (bits >> i & 1) << to++;
    return out;
}

static void assert_squeezed(uint64_t keep, uint64_t bits)
{
    const ki_squeeze squeeze = ki_squeeze_for(keep);
    uint64_t squeezed = ki_squeeze_bits(&squeeze, bits);
    if (squeezed != model(keep, bits))
        fail_msg("keep %016llx, bits %016llx: %016llx", (unsigned long long)keep, (unsigned long long)bits,
                 (unsigned long long)squeezed);
}

static void selected_bits_at_the_edges_are_packed(void **state)
{
    (void)state;
    static const uint64_t edges[] = {0,
                                     1,
                                     UINT64_C(1) << 63,
                                     ~UINT64_C(0),
                                     ~UINT64_C(0) << 1,
                                     ~UINT64_C(0) >> 1,
                                     UINT64_C(0x5555555555555555),
                                     UINT64_C(0xaaaaaaaaaaaaaaaa),
                                     UINT64_C(0xffffffff00000000),
                                     UINT64_C(0x00000000ffffffff),
                                     UINT64_C(0x8000000000000001)};
    enum { COUNT = sizeof(edges) / sizeof(edges[0]) };
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < COUNT; j++)
            assert_squeezed(edges[i], edges[j]);
}

static void any_single_bit_moves_down_by_the_gaps_below_it(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 64; i++) {
        assert_squeezed(UINT64_C(1) << i, ~UINT64_C(0));
        assert_squeezed(~(UINT64_C(1) << i), ~UINT64_C(0));
        for (unsigned j = 0; j < 64; j++)
            assert_squeezed(~(UINT64_C(1) << i), UINT64_C(1) << j);
    }
}

/* Dense, even and sparse selections. */
static void random_selected_bits_are_packed(void **state)
{
    (void)state;
    ki_random random;
    ki_random_init(&random, 1);
    for (int i = 0; i < 200000; i++) {
        uint64_t keep = ki_random_next(&random);
        if (i % 3 == 1)
            keep |= ki_random_next(&random) | ki_random_next(&random);
        else if (i % 3 == 2)
            keep &= ki_random_next(&random) & ki_random_next(&random);
        assert_squeezed(keep, ki_random_next(&random));
    }
}

static void parity_counts_the_bits_below(void **state)
{
    (void)state;
    ki_random random;
    ki_random_init(&random, 2);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = ki_random_next(&random) & ki_random_next(&random);
        uint64_t expected = 0;
        uint64_t parity = 0;
        for (unsigned at = 0; at < 64; at++) {
            parity ^= bits >> at & 1;
            expected |= parity << at;
        }
        assert_true(ki_parity_below(bits) == expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selected_bits_at_the_edges_are_packed),
        cmocka_unit_test(any_single_bit_moves_down_by_the_gaps_below_it),
        cmocka_unit_test(random_selected_bits_are_packed),
        cmocka_unit_test(parity_counts_the_bits_below),
    };
    return RUN_TESTS(tests);
}
