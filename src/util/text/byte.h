/* SPDX-License-Identifier: Apache-2.0 */
/* byte - kinds of bytes in text, whatever the locale.
 *
 *   From:     all code that reads text byte by byte
 *   Not here: whole texts: util/text/str.h
 */
#ifndef KI_UTIL_TEXT_BYTE_H
#define KI_UTIL_TEXT_BYTE_H

#include <stdbool.h>

static inline bool ki_byte_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool ki_byte_is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool ki_byte_is_lower_or_digit(char c)
{
    return ki_byte_is_lower(c) || ki_byte_is_digit(c);
}

static inline bool ki_byte_is_letter_or_digit(char c)
{
    return ki_byte_is_lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

/* White space of JSON, HTTP and label selectors. */
static inline bool ki_byte_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* A byte of a UTF-8 character that is not its first. */
static inline bool ki_byte_is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* The value of a hexadecimal digit; 16 if it is not one. */
static inline unsigned ki_byte_hex(char c)
{
    if (ki_byte_is_digit(c))
        return (unsigned)(c - '0');
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

#endif
