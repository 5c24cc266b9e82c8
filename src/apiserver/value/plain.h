/* SPDX-License-Identifier: Apache-2.0 */
/* plain - which bytes of a JSON string stand for themselves, eight at a time.
 *
 *   From:     apiserver/value/encode.c
 *   To:       nothing
 *   Locks:    none
 *   Not here: escapes
 */
#ifndef KI_APISERVER_VALUE_PLAIN_H
#define KI_APISERVER_VALUE_PLAIN_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define KI_AS_EVERY_BYTE(byte) (UINT64_MAX / 255 * (byte))

static inline bool ki_as_is_plain(unsigned char c)
{
    return c >= 0x20 && c != '"' && c != '\\';
}

/* Eight bytes, of which the first is the lowest. */
static inline uint64_t ki_as_word_at(const char *bytes)
{
    uint64_t word = 0;
    memcpy(&word, bytes, sizeof(word));
    return le64toh(word);
}

/* The top bit of bytes that are equal to the one of which `pattern` has eight, up to the first of them. */
static inline uint64_t ki_as_word_equal(uint64_t word, uint64_t pattern)
{
    uint64_t difference = word ^ pattern;
    return (difference - KI_AS_EVERY_BYTE(1)) & ~difference & KI_AS_EVERY_BYTE(0x80);
}

/* The top bit of the first byte that does not stand for itself, and perhaps of others behind it;
 * 0: all do. */
static inline uint64_t ki_as_word_marks(uint64_t word)
{
    uint64_t low = (word - KI_AS_EVERY_BYTE(0x20)) & ~word & KI_AS_EVERY_BYTE(0x80);
    return low | ki_as_word_equal(word, KI_AS_EVERY_BYTE('"')) |
           ki_as_word_equal(word, KI_AS_EVERY_BYTE('\\'));
}

/* How many bytes are before the first mark. */
static inline unsigned ki_as_word_before(uint64_t marks)
{
    return (unsigned)__builtin_ctzll(marks) / 8;
}

#endif
