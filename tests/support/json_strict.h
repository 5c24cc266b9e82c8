/* SPDX-License-Identifier: Apache-2.0 */
/* json_strict - another library's verdict on a text, by RFC 8259.
 *
 *   From:     tests and fuzz targets of the scanner
 *   To:       jansson, with JSON_DECODE_ANY and JSON_ALLOW_NUL
 *
 * jansson is a strict parser. Where it is not RFC 8259, this makes up for it, case by case:
 *   - it has no place for integers beyond 64 bits and for reals beyond a double, which RFC 8259 allows:
 *     the number is replaced by 0 and the text is asked about again;
 *   - it has no place for U+0000 in a name, which RFC 8259 allows: the escape is replaced by \u0001;
 *   - it overlooks a NUL byte right behind a number or a word; a NUL byte is part of no JSON text;
 *   - it allows 2,048 levels, RFC 8259 as many as one likes, the scanner 1,000: so does this.
 */
#ifndef KI_TESTS_SUPPORT_JSON_STRICT_H
#define KI_TESTS_SUPPORT_JSON_STRICT_H

#include <kinformer/common.h>

/* 1 when the text is exactly one value, with white space around it at the most, and no deeper than
 * 1,000. */
int json_strict_accepts(ki_str text);

#endif
