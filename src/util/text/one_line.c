/* SPDX-License-Identifier: Apache-2.0 */
#include "util/text/one_line.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "util/text/byte.h"

enum { CHARACTER_BYTES_MAX = 4 };

/* A run of continuation bytes that is longer than a character is not UTF-8, and may be cut anywhere. */
static size_t cut_length(ki_str text, size_t limit)
{
    if (text.len <= limit)
        return text.len;
    size_t len = limit;
    while (len > 0 && limit - len < CHARACTER_BYTES_MAX && ki_byte_is_continuation(text.ptr[len]))
        len--;
    return ki_byte_is_continuation(text.ptr[len]) ? limit : len;
}

static bool is_ascii_control(char byte)
{
    return (unsigned char)byte < 0x20 || byte == 0x7f;
}

/* The length of the control character of several bytes that begins the text, or 0. These are U+0080 to
 * U+009F, and U+061C, U+200E, U+200F, U+2028 to U+202E and U+2066 to U+2069, which change the direction of
 * text or end a line. */
static size_t wide_control_bytes(const char *text, size_t len)
{
    const unsigned char *at = (const unsigned char *)text;
    if (len >= 2 && ((at[0] == 0xc2 && (at[1] & 0xe0) == 0x80) || (at[0] == 0xd8 && at[1] == 0x9c)))
        return 2;
    if (len < 3 || at[0] != 0xe2)
        return 0;
    bool is_general = at[1] == 0x80 && ((at[2] | 1) == 0x8f || (at[2] >= 0xa8 && at[2] <= 0xae));
    return is_general || (at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9) ? 3 : 0;
}

/* Whether a terminal with a one-byte character set takes the byte for a control character. The bytes of
 * UTF-8 characters are an exception. */
static bool is_c1_byte(char byte)
{
    return ((unsigned char)byte & 0xe0) == 0x80;
}

/* The number of bytes that follow the first byte of a character. */
static size_t bytes_behind(char byte)
{
    unsigned char first = (unsigned char)byte;
    return first < 0xc2 || first > 0xf4 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
}

size_t ki_one_line(char *out, size_t out_bytes, ki_str text)
{
    assert(out_bytes > 0);
    size_t len = cut_length(text, out_bytes - 1);
    size_t written = 0, behind = 0;
    for (size_t i = 0; i < len; i++) {
        char byte = text.ptr[i];
        bool is_inside = behind > 0 && ki_byte_is_continuation(byte);
        behind = is_inside ? behind - 1 : bytes_behind(byte);
        size_t wide = wide_control_bytes(text.ptr + i, len - i);
        if (wide > 0) {
            byte = '?';
            behind = 0;
            i += wide - 1; /* one '?' for all bytes of the character */
        } else if (is_ascii_control(byte) || (is_c1_byte(byte) && !is_inside)) {
            byte = '?';
        }
        out[written++] = byte;
    }
    out[written] = 0;
    return written;
}

size_t ki_one_line_cut(char *out, size_t out_bytes, ki_str text)
{
    assert(text.ptr != NULL || text.len == 0);
    static const char mark[] = "\xe2\x80\xa6";
    const size_t mark_bytes = sizeof(mark) - 1;
    assert(out_bytes > mark_bytes);
    if (text.len < out_bytes)
        return ki_one_line(out, out_bytes, text);
    size_t written = ki_one_line(out, out_bytes - mark_bytes, text);
    memcpy(out + written, mark, sizeof(mark));
    return written + mark_bytes;
}
