/* SPDX-License-Identifier: Apache-2.0 */
/* control - characters in a server's text that would end a line or control the terminal.
 *
 *   From:     cli/output.c, cli/failure.c
 *   Locks:    none.
 */
#ifndef KI_CLI_CONTROL_H
#define KI_CLI_CONTROL_H

#include <stddef.h>

/* The length of the control character at the beginning of the text; 0 if there is none. Control characters
 * are those of ASCII; U+0080 to U+009F, which terminals also interpret; U+061C, U+200E, U+200F, U+2028 to
 * U+202E and U+2066 to U+2069, which change the order in which a terminal shows characters, or end a line. */
static inline size_t cli_control_bytes(const char *text, size_t n)
{
    const unsigned char *at = (const unsigned char *)text;
    if (n > 0 && (at[0] < 0x20 || at[0] == 0x7f))
        return 1;
    if (n > 1 && ((at[0] == 0xc2 && (at[1] & 0xe0) == 0x80) || (at[0] == 0xd8 && at[1] == 0x9c)))
        return 2;
    if (n < 3 || at[0] != 0xe2)
        return 0;
    int is_general = at[1] == 0x80 && ((at[2] | 1) == 0x8f || (at[2] >= 0xa8 && at[2] <= 0xae));
    return is_general || (at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9) ? 3 : 0;
}

#endif
