/* SPDX-License-Identifier: Apache-2.0 */
#include "util/random.h"

#include <assert.h>
#include <errno.h>
#include <kinformer/error.h>
#include <sys/random.h>

/* SplitMix64: spreads a poor seed (0, 1, 2, …) over the whole state. Its outputs are distinct for 2^64
 * steps. So four outputs in a row are never all zero, which is the one state that xoshiro cannot leave. */
static uint64_t splitmix_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

void ki_random_init(ki_random *random, uint64_t seed)
{
    assert(random != NULL);
    for (size_t i = 0; i < 4; i++)
        random->state[i] = splitmix_next(&seed);
}

static uint64_t rotate_left(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

uint64_t ki_random_next(ki_random *random)
{
    assert(random != NULL);
    uint64_t *s = random->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

/* 2^64 is rarely a multiple of `bound`, so the remainders would favour small values. Therefore the first
 * 2^64 mod bound numbers are discarded. This is less than half of all numbers, whatever the bound. */
uint64_t ki_random_below(ki_random *random, uint64_t bound)
{
    assert(bound > 0);
    uint64_t rejected = (0 - bound) % bound;
    uint64_t number;
    do
        number = ki_random_next(random);
    while (number < rejected);
    return number % bound;
}

int ki_random_system_bytes(void *out, size_t n)
{
    assert(n <= 256); /* getrandom is atomic up to this size */
    ssize_t got;
    do
        got = getrandom(out, n, 0);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)n ? 0 : KI_ERR_SYSTEM;
}

int ki_random_system_seed(uint64_t *out_seed)
{
    assert(out_seed != NULL);
    uint64_t seed;
    int rc = ki_random_system_bytes(&seed, sizeof(seed));
    if (rc == 0)
        *out_seed = seed;
    return rc;
}
