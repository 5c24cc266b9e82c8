/* SPDX-License-Identifier: Apache-2.0 */
/* control - control characters in a server's text, which would end a line or control the terminal.
 *
 *   From:     cli/output.c, cli/failure.c
 *   Locks:    none.
 */
#ifndef KI_CLI_CONTROL_H
#define KI_CLI_CONTROL_H

#include <stddef.h>

/* The length of the control character at the beginning of the text: ASCII's, or U+0080 to U+009F, which
 * terminals also obey and which are 0xc2 followed by 0x80 to 0x9f. 0 if there is none. */
static inline size_t cli_control_bytes(const char *text, size_t n)
{
    const unsigned char *at = (const unsigned char *)text;
    if (n > 0 && (at[0] < 0x20 || at[0] == 0x7f))
        return 1;
    return n > 1 && at[0] == 0xc2 && (at[1] & 0xe0) == 0x80 ? 2 : 0;
}

#endif
