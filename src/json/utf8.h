/* SPDX-License-Identifier: Apache-2.0 */
/* utf8 - checks UTF-8 in pieces.
 *
 *   From:     json/kernel/block.h, for blocks with a byte above 127 and those after an unfinished character
 *   Not here: decoding.
 *
 * Kubernetes text is nearly all ASCII, and blocks of ASCII are recognised before this is called. So this
 * code, which all kernels share, is simple rather than fast.
 */
#ifndef KI_JSON_UTF8_H
#define KI_JSON_UTF8_H

#include "json/scan.h"

/* Returns the position of the first wrong byte, or 64. */
unsigned ki_utf8_check(ki_utf8 *utf8, const uint8_t *bytes, unsigned n);

#endif
