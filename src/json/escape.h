/* SPDX-License-Identifier: Apache-2.0 */
/* escape - checks the escapes of the strings in one block.
 *
 *   From:     json/kernel/tokens.h and json/kernel/block.h, for blocks with a backslash and those after an
 *             unfinished \u
 *   Not here: replacing escapes (json/text.c, json/canonical.c).
 */
#ifndef KI_JSON_ESCAPE_H
#define KI_JSON_ESCAPE_H

#include "json/scan.h"

/* States: how many digits of a \u escape are still to come (4 … 1), or which byte must follow a high
 * surrogate. */
enum { KI_ESCAPE_NONE = 0, KI_ESCAPE_WANT_BACKSLASH = 5, KI_ESCAPE_WANT_U = 6 };

/* Returns which bytes are escaped: those after a backslash that is not escaped itself. For a block of n <
 * 64 bytes, bit n of the result says whether the byte after the block is escaped; for 64 bytes, *out_carry
 * does. */
uint64_t ki_escape_find(uint64_t backslash, uint64_t carry, uint64_t *out_carry);

/* Checks the escaped bytes of a block of n bytes. Returns the position of the first mistake, or 64. Sets
 * *rewritable if an escape may have a shorter spelling. */
unsigned ki_escape_check(ki_escape *escape, const uint8_t *bytes, unsigned n, uint64_t escaped,
                         int *rewritable);

#endif
