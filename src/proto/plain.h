/* SPDX-License-Identifier: Apache-2.0 */
/* plain - copies text, and checks whether it needs escapes in a JSON string.
 *
 *   From:     proto/out.c, proto/fast_path.h, proto/map.c
 *   Locks:    none; pure functions.
 *   Not here: escapes.
 *
 * A byte is special if it is a quote, a backslash, a control character, or not ASCII.
 */
#ifndef KI_PROTO_PLAIN_H
#define KI_PROTO_PLAIN_H

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define KI_EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Whether one of the eight bytes of `word` is special. */
static inline int ki_proto_has_special(uint64_t word)
{
    uint64_t quote = word ^ KI_EACH_BYTE('"');
    uint64_t backslash = word ^ KI_EACH_BYTE('\\');
    uint64_t control = (word - KI_EACH_BYTE(0x20)) & ~word;
    return ((control | ((quote - KI_EACH_BYTE(1)) & ~quote) | ((backslash - KI_EACH_BYTE(1)) & ~backslash) |
             word) &
            KI_EACH_BYTE(0x80)) != 0;
}

static inline int ki_proto_is_special(uint8_t byte)
{
    return byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\';
}

/* Copies text of less than 16 bytes. Returns whether it has no special byte. Never reads beyond the end of
 * the text: its last bytes are read together with the bytes before them. */
static inline int ki_proto_copy_short(char *to, const uint8_t *from, size_t n)
{
    uint64_t word = KI_EACH_BYTE('a');
    if (n >= 8) {
        uint64_t end;
        memcpy(&word, from, 8);
        memcpy(&end, from + n - 8, 8);
        memcpy(to, &word, 8);
        memcpy(to + n - 8, &end, 8);
        return !ki_proto_has_special(word) && !ki_proto_has_special(end);
    }
    if (n >= 4) {
        uint32_t low, high;
        memcpy(&low, from, 4);
        memcpy(&high, from + n - 4, 4);
        memcpy(to, &low, 4);
        memcpy(to + n - 4, &high, 4);
        return !ki_proto_has_special((uint64_t)high << 32 | low);
    }
    for (size_t i = 0; i < n; i++) {
        to[i] = (char)from[i];
        word = word << 8 | from[i];
    }
    return !ki_proto_has_special(word);
}

/* Copies 16 bytes. Bit i of the result is set if byte i is special; without SSE2, the result is 1 if any
 * byte is special. */
#if defined(__SSE2__)
static inline unsigned ki_proto_copy_block(char *to, const uint8_t *from)
{
    __m128i block = _mm_loadu_si128((const __m128i *)(const void *)from);
    _mm_storeu_si128((__m128i *)(void *)to, block);
    /* The comparison is signed, so it also finds bytes that are not ASCII. */
    __m128i special = _mm_cmplt_epi8(block, _mm_set1_epi8(0x20));
    special = _mm_or_si128(special, _mm_cmpeq_epi8(block, _mm_set1_epi8('"')));
    special = _mm_or_si128(special, _mm_cmpeq_epi8(block, _mm_set1_epi8('\\')));
    return (unsigned)_mm_movemask_epi8(special);
}
#else
static inline unsigned ki_proto_copy_block(char *to, const uint8_t *from)
{
    uint64_t words[2];
    memcpy(words, from, 16);
    memcpy(to, words, 16);
    return ki_proto_has_special(words[0]) || ki_proto_has_special(words[1]);
}
#endif

/* Copies text without special bytes and returns 1. Returns 0 if there is a special byte. Does not read or
 * write beyond the text. */
static inline int ki_proto_copy_exact(char *to, const uint8_t *from, size_t n)
{
    if (n < 16)
        return ki_proto_copy_short(to, from, n);
    for (size_t i = 0; i + 16 < n; i += 16)
        if (ki_proto_copy_block(to + i, from + i) != 0)
            return 0;
    return ki_proto_copy_block(to + n - 16, from + n - 16) == 0;
}

int ki_proto_copy_long(char *to, const uint8_t *from, size_t n);

/* Like ki_proto_copy_exact(), but up to 16 bytes after the text may be written. Short text is read together
 * with the bytes after it if they are before `readable_end`, the end of the memory that contains the text,
 * or NULL. */
static inline __attribute__((always_inline)) int ki_proto_copy_plain(char *to, const uint8_t *from, size_t n,
                                                                     const uint8_t *readable_end)
{
#if defined(__SSE2__)
    if (n < 16 && (uintptr_t)from + 16 <= (uintptr_t)readable_end)
        return (ki_proto_copy_block(to, from) & ((1U << n) - 1)) == 0;
#else
    (void)readable_end;
#endif
    return ki_proto_copy_long(to, from, n);
}

#endif
