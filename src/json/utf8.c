/* SPDX-License-Identifier: Apache-2.0 */
#include "json/utf8.h"

#include <assert.h>

enum { NO_MISTAKE = 64 };

/* Sets the number of bytes that must follow a leading byte, and the bounds of the second byte, which
 * exclude overlong forms, surrogates and code points above U+10FFFF. Returns 0 if no character begins with
 * `lead`. */
static int begin_character(ki_utf8 *utf8, uint8_t lead)
{
    utf8->low = 0x80;
    utf8->high = 0xbf;
    if (lead >= 0xc2 && lead <= 0xdf) {
        utf8->need = 1;
    } else if (lead >= 0xe0 && lead <= 0xef) {
        utf8->need = 2;
        if (lead == 0xe0)
            utf8->low = 0xa0;
        else if (lead == 0xed)
            utf8->high = 0x9f;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
        utf8->need = 3;
        if (lead == 0xf0)
            utf8->low = 0x90;
        else if (lead == 0xf4)
            utf8->high = 0x8f;
    } else {
        return 0;
    }
    return 1;
}

unsigned ki_utf8_check(ki_utf8 *utf8, const uint8_t *bytes, unsigned n)
{
    assert(utf8 != NULL);
    for (unsigned at = 0; at < n; at++) {
        uint8_t byte = bytes[at];
        if (utf8->need > 0) {
            if (byte < utf8->low || byte > utf8->high)
                return at;
            utf8->need--;
            utf8->low = 0x80;
            utf8->high = 0xbf;
        } else if (byte >= 0x80 && !begin_character(utf8, byte)) {
            return at;
        }
    }
    return NO_MISTAKE;
}
