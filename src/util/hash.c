/* SPDX-License-Identifier: Apache-2.0 */
#include "util/hash.h"

#include <assert.h>
#include <string.h>

#include "util/random.h"

int ki_hash_key_init(ki_hash_key *out_key)
{
    assert(out_key != NULL);
    ki_hash_key key;
    int rc = ki_random_system_bytes(&key, sizeof(key));
    if (rc == 0)
        *out_key = key;
    return rc;
}

void ki_hash_key_init_seeded(ki_hash_key *out_key, uint64_t seed)
{
    assert(out_key != NULL);
    ki_random random;
    ki_random_init(&random, seed);
    out_key->k0 = ki_random_next(&random);
    out_key->k1 = ki_random_next(&random);
}

static inline uint64_t rotate_left(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static inline uint64_t little_endian_64(uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static inline uint64_t load_64(const unsigned char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof(word));
    return little_endian_64(word);
}

/* The last len % 8 bytes, with the first byte in the lowest bits. For texts of eight bytes or more this is
 * one load that ends with the text and overlaps bytes already hashed, so that keys of usual length need no
 * loop. */
static inline uint64_t load_tail(const unsigned char *bytes, size_t len)
{
    size_t rest = len % 8;
    if (rest == 0)
        return 0;
    if (len >= 8)
        return load_64(bytes + len - 8) >> (8 * (8 - rest));
    uint64_t word = 0;
    for (size_t i = 0; i < rest; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

typedef struct sip_state {
    uint64_t v0, v1, v2, v3;
} sip_state;

static inline void sip_round(sip_state *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = rotate_left(s->v1, 13) ^ s->v0;
    s->v3 = rotate_left(s->v3, 16) ^ s->v2;
    s->v0 = rotate_left(s->v0, 32);
    s->v2 += s->v1;
    s->v0 += s->v3;
    s->v1 = rotate_left(s->v1, 17) ^ s->v2;
    s->v3 = rotate_left(s->v3, 21) ^ s->v0;
    s->v2 = rotate_left(s->v2, 32);
}

static inline void sip_absorb(sip_state *s, uint64_t word)
{
    s->v3 ^= word;
    sip_round(s);
    s->v0 ^= word;
}

uint64_t ki_hash(const ki_hash_key *key, ki_str text)
{
    assert(key != NULL);
    assert(text.ptr != NULL || text.len == 0);
    sip_state s = {
        key->k0 ^ 0x736f6d6570736575,
        key->k1 ^ 0x646f72616e646f6d,
        key->k0 ^ 0x6c7967656e657261,
        key->k1 ^ 0x7465646279746573,
    };
    const unsigned char *bytes = (const unsigned char *)text.ptr;
    for (size_t i = 0; i + 8 <= text.len; i += 8)
        sip_absorb(&s, load_64(bytes + i));
    sip_absorb(&s, (uint64_t)text.len << 56 | load_tail(bytes, text.len));
    s.v2 ^= 0xff;
    sip_round(&s);
    sip_round(&s);
    sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
