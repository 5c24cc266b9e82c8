/* SPDX-License-Identifier: Apache-2.0 */
/* utf8 - checks UTF-8 in pieces.
 *
 *   From:     json/kernel/block.h, for blocks with a byte above 127 and those behind an unfinished character
 *   Not here: decoding.
 *
 * Kubernetes text is ASCII nearly everywhere, and a block of ASCII is recognised before this is called; so
 * plain code that all variants share is worth more than speed here.
 */
#ifndef KI_JSON_UTF8_H
#define KI_JSON_UTF8_H

#include "json/scan.h"

/* Returns the position of the first byte that is wrong, or 64. */
unsigned ki_utf8_check(ki_utf8 *utf8, const uint8_t *bytes, unsigned n);

#endif
