/* SPDX-License-Identifier: Apache-2.0 */
/* plain - finds the bytes of a JSON string that need no escaping, eight at a time.
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

/* Loads eight bytes; the first becomes the lowest. */
static inline uint64_t ki_as_word_at(const char *bytes)
{
    uint64_t word = 0;
    memcpy(&word, bytes, sizeof(word));
    return le64toh(word);
}

/* Sets the top bit of each byte that equals the byte repeated in `pattern`. Only the first mark is reliable:
 * bytes after it may be marked wrongly. */
static inline uint64_t ki_as_word_equal(uint64_t word, uint64_t pattern)
{
    uint64_t difference = word ^ pattern;
    return (difference - KI_AS_EVERY_BYTE(1)) & ~difference & KI_AS_EVERY_BYTE(0x80);
}

/* Sets the top bit of the first byte that needs escaping, and possibly of bytes after it.
 * Returns 0 if no byte needs escaping. */
static inline uint64_t ki_as_word_marks(uint64_t word)
{
    uint64_t low = (word - KI_AS_EVERY_BYTE(0x20)) & ~word & KI_AS_EVERY_BYTE(0x80);
    return low | ki_as_word_equal(word, KI_AS_EVERY_BYTE('"')) |
           ki_as_word_equal(word, KI_AS_EVERY_BYTE('\\'));
}

#endif
