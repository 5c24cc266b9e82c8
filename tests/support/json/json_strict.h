/* SPDX-License-Identifier: Apache-2.0 */
/* json_strict - another library's verdict on a text, by RFC 8259.
 *
 *   From:     tests and fuzz targets of the scanner
 *   To:       jansson, with JSON_DECODE_ANY and JSON_ALLOW_NUL
 *
 * jansson is a strict parser. Where it differs from RFC 8259, this compensates, case by case:
 *   - it cannot represent integers beyond 64 bits and reals beyond a double, which RFC 8259 allows:
 *     the number is replaced by 0 and the text is parsed again;
 *   - it cannot represent U+0000 in a name, which RFC 8259 allows: the escape is replaced by \u0001;
 *   - it overlooks a NUL byte directly after a number or a word; no JSON text contains a NUL byte;
 *   - it allows 2,048 levels, RFC 8259 any number, the scanner 1,000, as does this.
 */
#ifndef KI_TESTS_SUPPORT_JSON_JSON_STRICT_H
#define KI_TESTS_SUPPORT_JSON_JSON_STRICT_H

#include <kinformer/common.h>

/* Returns 1 if the text is exactly one value, with optional white space around it,
 * and at most 1,000 levels deep. */
int json_strict_accepts(ki_str text);

#endif
