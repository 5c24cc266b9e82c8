/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/request/request.h"
#include "util/text/byte.h"

/* The length of the character at `at`; 0 if it is invalid. By RFC 3629, surrogates and overlong forms are
 * invalid. */
static size_t character_bytes(const unsigned char *at, size_t left)
{
    static const unsigned char first_min[] = {0, 0, 0xc2, 0xe0, 0xf0};
    unsigned char c = at[0];
    if (c < 0x80)
        return c != 0;
    size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    if (c < first_min[n] || c > 0xf4 || n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    if ((c == 0xe0 && at[1] < 0xa0) || (c == 0xed && at[1] > 0x9f) || (c == 0xf0 && at[1] < 0x90) ||
        (c == 0xf4 && at[1] > 0x8f))
        return 0;
    return n;
}

static bool is_text(const char *text, size_t len)
{
    const unsigned char *at = (const unsigned char *)text;
    while (len > 0) {
        size_t n = character_bytes(at, len);
        if (n == 0)
            return false;
        at += n;
        len -= n;
    }
    return true;
}

ptrdiff_t ki_as_percent_decode(char *text, size_t len, bool is_form)
{
    size_t out = 0;
    for (size_t in = 0; in < len; in++) {
        char c = text[in];
        if (c == '%') {
            unsigned high = len - in > 2 ? ki_byte_hex(text[in + 1]) : 16;
            unsigned low = len - in > 2 ? ki_byte_hex(text[in + 2]) : 16;
            if (high > 15 || low > 15)
                return -1;
            c = (char)(high * 16 + low);
            in += 2;
        } else if (c == '+' && is_form) {
            c = ' ';
        }
        text[out++] = c;
    }
    return is_text(text, out) ? (ptrdiff_t)out : -1;
}
