/* SPDX-License-Identifier: Apache-2.0 */
#include "util/hash.h"

#include <stdlib.h>
#include <string.h>

#include "support/unit.h"
#include "util/random.h"

/* A slow SipHash with any number of rounds, written from the paper: the message is padded in a copy, and
 * words are built byte by byte. It is checked with the published vectors of SipHash-2-4,
 * and then used to check ki_hash. */
static uint64_t slow_rotate(uint64_t word, int bits)
{
    for (int i = 0; i < bits; i++)
        word = word * 2 + (word >> 63);
    return word;
}

static void slow_rounds(uint64_t v[4], int rounds)
{
    for (int i = 0; i < rounds; i++) {
        v[0] += v[1];
        v[1] = slow_rotate(v[1], 13);
        v[1] ^= v[0];
        v[0] = slow_rotate(v[0], 32);
        v[2] += v[3];
        v[3] = slow_rotate(v[3], 16);
        v[3] ^= v[2];
        v[0] += v[3];
        v[3] = slow_rotate(v[3], 21);
        v[3] ^= v[0];
        v[2] += v[1];
        v[1] = slow_rotate(v[1], 17);
        v[1] ^= v[2];
        v[2] = slow_rotate(v[2], 32);
    }
}

enum { MESSAGE_BYTES = 200 };

static uint64_t slow_siphash(int rounds, int final_rounds, ki_hash_key key, ki_str text)
{
    static const char constants[] = "somepseudorandomlygeneratedbytes";
    uint64_t v[4] = {0};
    for (int i = 0; i < 32; i++)
        v[i / 8] = v[i / 8] * 256 + (unsigned char)constants[i];
    for (int i = 0; i < 4; i++)
        v[i] ^= i % 2 == 0 ? key.k0 : key.k1;

    unsigned char padded[MESSAGE_BYTES + 8] = {0};
    assert_true(text.len < MESSAGE_BYTES);
    if (text.len > 0)
        memcpy(padded, text.ptr, text.len);
    size_t blocks = text.len / 8 + 1;
    padded[blocks * 8 - 1] = (unsigned char)(text.len % 256);
    for (size_t block = 0; block < blocks; block++) {
        uint64_t word = 0;
        for (int i = 7; i >= 0; i--)
            word = word * 256 + padded[block * 8 + (size_t)i];
        v[3] ^= word;
        slow_rounds(v, rounds);
        v[0] ^= word;
    }
    v[2] ^= 255;
    slow_rounds(v, final_rounds);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static void fill_counting(char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = (char)(unsigned char)i;
}

static void the_slow_reference_gives_the_published_siphash_2_4_vectors(void **state)
{
    (void)state;
    static const uint64_t expected[] = {
        0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a, 0x85676696d7fb7e2d,
        0xcf2794e0277187b7, 0x18765564cd99a68d, 0xcbc9466e58fee3ce, 0xab0200f58b01d137,
        0x93f5f5799a932462, 0x9e0082df0ba9e4b0, 0x7a5dbbc594ddb9f3, 0xf4b32f46226bada7,
        0x751e8fbc860ee5fb, 0x14ea5627c0843d90, 0xf723ca908e7af2ee, 0xa129ca6149be45e5,
    };
    ki_hash_key key = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
    char bytes[16];
    fill_counting(bytes, sizeof(bytes));
    for (size_t len = 0; len < 16; len++)
        assert_true(slow_siphash(2, 4, key, (ki_str){bytes, len}) == expected[len]);
}

static void hash_agrees_with_the_slow_reference_for_every_length_and_key(void **state)
{
    (void)state;
    ki_random random;
    ki_random_init(&random, 1);
    for (size_t len = 0; len < MESSAGE_BYTES; len++) {
        char *bytes = malloc(len + 1); /* exactly as long as the text, so that a read past it is detected */
        assert_non_null(bytes);
        for (size_t i = 0; i < len; i++)
            bytes[i] = (char)ki_random_below(&random, 128);
        ki_str text = {bytes, len};
        ki_hash_key key = {ki_random_next(&random), ki_random_next(&random)};
        assert_true(ki_hash(&key, text) == slow_siphash(1, 3, key, text));
        free(bytes);
    }
}

/* The values of Python 3.11 and later, which hash strings with SipHash-1-3, with PYTHONHASHSEED=0, a key of
 * zeros: hex(hash(b"abc") & 2**64 - 1). */
static void hash_agrees_with_python(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t hash;
    } expected[] = {
        {"a", 0x407448d2b89b1813},
        {"abc", 0xc03bc3a0042630f2},
        {"abcdefg", 0x6db12aae9070f506},
        {"abcdefgh", 0x3f7b849c0b8e35ea},
        {"abcdefghi", 0xf89b34a3d11eb6e5},
        {"default/nginx", 0x193e511125bef471},
        {"kube-system/coredns-5d78c9869d-abcde", 0x7dc1a976f044ceb8},
        {"The quick brown fox jumps over the lazy dog", 0x8df676d3d00c451e},
    };
    ki_hash_key key = {0, 0};
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        assert_true(ki_hash(&key, ki_str_of(expected[i].text)) == expected[i].hash);
}

static void a_zeroed_string_hashes_like_an_empty_one(void **state)
{
    (void)state;
    ki_hash_key key = {1, 2};
    assert_true(ki_hash(&key, (ki_str){0}) == ki_hash(&key, KI_STR("")));
}

static void alignment_of_the_text_does_not_matter(void **state)
{
    (void)state;
    ki_hash_key key = {1, 2};
    char bytes[64];
    ki_str text = KI_STR("kube-system/coredns");
    for (size_t shift = 0; shift < 8; shift++) {
        memcpy(bytes + shift, text.ptr, text.len);
        assert_true(ki_hash(&key, (ki_str){bytes + shift, text.len}) == ki_hash(&key, text));
    }
}

static void another_key_gives_another_hash(void **state)
{
    (void)state;
    ki_hash_key a;
    ki_hash_key b;
    ki_hash_key_init_seeded(&a, 1);
    ki_hash_key_init_seeded(&b, 2);
    assert_true(ki_hash(&a, KI_STR("default/nginx")) != ki_hash(&b, KI_STR("default/nginx")));
}

static void one_seed_gives_one_key(void **state)
{
    (void)state;
    ki_hash_key a;
    ki_hash_key b;
    ki_hash_key_init_seeded(&a, 7);
    ki_hash_key_init_seeded(&b, 7);
    assert_true(a.k0 == b.k0 && a.k1 == b.k1);
    assert_true(a.k0 != a.k1);
}

static void keys_from_the_system_differ(void **state)
{
    (void)state;
    ki_hash_key a = {0};
    ki_hash_key b = {0};
    assert_int_equal(ki_hash_key_init(&a), 0);
    assert_int_equal(ki_hash_key_init(&b), 0);
    assert_true(a.k0 != b.k0 && a.k1 != b.k1);
}

/* Each of 64 bits flips with probability 1/2: 24 bytes * 8 flips * 50 texts give a mean within 0.3 of 32. */
static void one_flipped_bit_flips_half_of_the_hash(void **state)
{
    (void)state;
    ki_random random;
    ki_hash_key key;
    ki_random_init(&random, 3);
    ki_hash_key_init_seeded(&key, 3);
    int flips = 0;
    long changed = 0;
    for (int text = 0; text < 50; text++) {
        uint64_t words[3] = {ki_random_next(&random), ki_random_next(&random), ki_random_next(&random)};
        uint64_t before = ki_hash(&key, (ki_str){(const char *)words, sizeof(words)});
        for (int bit = 0; bit < 192; bit++, flips++) {
            words[bit / 64] ^= 1ull << (bit % 64);
            uint64_t after = ki_hash(&key, (ki_str){(const char *)words, sizeof(words)});
            words[bit / 64] ^= 1ull << (bit % 64);
            changed += __builtin_popcountll(before ^ after);
        }
    }
    double mean = (double)changed / flips;
    assert_true(mean > 31.7 && mean < 32.3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_slow_reference_gives_the_published_siphash_2_4_vectors),
        cmocka_unit_test(hash_agrees_with_the_slow_reference_for_every_length_and_key),
        cmocka_unit_test(hash_agrees_with_python),
        cmocka_unit_test(a_zeroed_string_hashes_like_an_empty_one),
        cmocka_unit_test(alignment_of_the_text_does_not_matter),
        cmocka_unit_test(another_key_gives_another_hash),
        cmocka_unit_test(one_seed_gives_one_key),
        cmocka_unit_test(keys_from_the_system_differ),
        cmocka_unit_test(one_flipped_bit_flips_half_of_the_hash),
    };
    return RUN_TESTS(tests);
}
