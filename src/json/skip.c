/* SPDX-License-Identifier: Apache-2.0 */
#include "json/skip.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "json/kernel.h"
#include "util/text/byte.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { WORD_BYTES = 8 };

/* ---- bytes eight at a time, on any machine ------------------------------------------------------------- */

#define EACH_BYTE(byte) (0x0101010101010101u * (uint64_t)(byte))

static uint64_t load_word(const char *text)
{
    uint64_t word;
    memcpy(&word, text, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Sets the top bit of each byte of `word` that equals `byte`, and no other bit. This is exact because no
 * carry crosses a byte. */
static uint64_t bytes_equal(uint64_t word, unsigned char byte)
{
    uint64_t difference = word ^ EACH_BYTE(byte);
    uint64_t low_bits = (difference & EACH_BYTE(0x7f)) + EACH_BYTE(0x7f);
    return ~(low_bits | difference | EACH_BYTE(0x7f));
}

static size_t plain_in_words(const char *text, size_t n)
{
    size_t at = 0;
    for (; n - at >= WORD_BYTES; at += WORD_BYTES) {
        uint64_t word = load_word(text + at);
        uint64_t hits = bytes_equal(word, '"') | bytes_equal(word, '\\');
        if (hits != 0)
            return at + (size_t)__builtin_ctzll(hits) / 8;
    }
    while (at < n && text[at] != '"' && text[at] != '\\')
        at++;
    return at;
}

#ifdef __SSE2__

size_t ki_json_skip_plain(const char *text, size_t n)
{
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    size_t at = 0;
    for (; n - at >= sizeof(__m128i); at += sizeof(__m128i)) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(text + at));
        __m128i hits = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash));
        unsigned mask = (unsigned)_mm_movemask_epi8(hits);
        if (mask != 0)
            return at + (size_t)__builtin_ctz(mask);
    }
    return at + plain_in_words(text + at, n - at);
}

#else

size_t ki_json_skip_plain(const char *text, size_t n)
{
    return plain_in_words(text, n);
}

#endif

/* ---- strings ------------------------------------------------------------------------------------------- */

size_t ki_json_skip_string(const char *text, size_t n)
{
    size_t at = 1;
    while (at < n) {
        at += ki_json_skip_plain(text + at, n - at);
        if (at == n)
            return 0;
        if (text[at] == '"')
            return at + 1;
        if (n - at < 2)
            return 0;
        at += 2; /* an escaped byte cannot end the string */
    }
    return 0;
}

/* ---- containers and values ----------------------------------------------------------------------------- */

size_t ki_json_skip_container(const char *text, size_t n)
{
    assert(n > 0 && (text[0] == '{' || text[0] == '['));
    if (n >= 2 && (text[1] == '}' || text[1] == ']'))
        return 2;
    return ki_json_kernel_best()->skip_container(text, n);
}

static int ends_scalar(char c)
{
    switch (c) {
    case ',':
    case ':':
    case '"':
    case '[':
    case ']':
    case '{':
    case '}':
        return 1;
    default:
        return ki_byte_is_space(c);
    }
}

static size_t skip_scalar(const char *text, size_t n)
{
    size_t at = 1;
    while (at < n && !ends_scalar(text[at]))
        at++;
    return at;
}

size_t ki_json_skip_value(const char *text, size_t n)
{
    if (n == 0)
        return 0;
    switch (text[0]) {
    case '"':
        return ki_json_skip_string(text, n);
    case '{':
    case '[':
        return ki_json_skip_container(text, n);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
    case 't':
    case 'f':
    case 'n':
        return skip_scalar(text, n);
    default:
        return 0;
    }
}
