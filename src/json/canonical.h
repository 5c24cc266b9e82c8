/* SPDX-License-Identifier: Apache-2.0 */
/* canonical - the shortest spelling of every string in a JSON text.
 *
 *   From:     api/object/object_build.c, for the few texts in which the scanner saw an escape that may have a
 *             shorter spelling
 *   Not here: the order of names; numbers.
 *
 * Servers written in Go spell <, > and & as \u003c, \u003e and \u0026. With one spelling for each character,
 * equal strings are equal bytes, most strings can be read in place, and the text is smaller.
 */
#ifndef KI_JSON_CANONICAL_H
#define KI_JSON_CANONICAL_H

#include "json/sink.h"

/* Rewrites valid, minified JSON in place and moves the captures in it. Returns the new length, which is
 * never larger. */
size_t ki_json_canonical(char *text, size_t len, ki_capture *captures, size_t capture_count);

#endif
