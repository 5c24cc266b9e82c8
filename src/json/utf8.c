/* SPDX-License-Identifier: Apache-2.0 */
#include "json/utf8.h"

enum { NO_MISTAKE = 64 };

/* Sets what must follow a leading byte; the bounds of the second byte keep out overlong forms, surrogates and what is beyond
 * U+10FFFF. Returns 0 when no character begins with it. */
static int begin_character(ki_json_carry *carry, uint8_t lead)
{
    carry->utf8_low = 0x80;
    carry->utf8_high = 0xbf;
    if (lead >= 0xc2 && lead <= 0xdf) {
        carry->utf8_need = 1;
    } else if (lead >= 0xe0 && lead <= 0xef) {
        carry->utf8_need = 2;
        if (lead == 0xe0)
            carry->utf8_low = 0xa0;
        else if (lead == 0xed)
            carry->utf8_high = 0x9f;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
        carry->utf8_need = 3;
        if (lead == 0xf0)
            carry->utf8_low = 0x90;
        else if (lead == 0xf4)
            carry->utf8_high = 0x8f;
    } else {
        return 0;
    }
    return 1;
}

unsigned ki_utf8_check(ki_json_carry *carry, const uint8_t *bytes, unsigned n)
{
    for (unsigned at = 0; at < n; at++) {
        uint8_t byte = bytes[at];
        if (carry->utf8_need > 0) {
            if (byte < carry->utf8_low || byte > carry->utf8_high)
                return at;
            carry->utf8_need--;
            carry->utf8_low = 0x80;
            carry->utf8_high = 0xbf;
        } else if (byte >= 0x80 && !begin_character(carry, byte)) {
            return at;
        }
    }
    return NO_MISTAKE;
}
