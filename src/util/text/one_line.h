/* SPDX-License-Identifier: Apache-2.0 */
/* one_line - makes foreign text safe for one line of a log or a message.
 *
 *   From:     util/log.c, util/error.c, api/decode/refusal.c, api/selector/, config/, credentials/
 *   Not here: checking whether a text is UTF-8; escaping for a format.
 */
#ifndef KI_UTIL_TEXT_ONE_LINE_H
#define KI_UTIL_TEXT_ONE_LINE_H

#include <kinformer/common.h>

/* Copies as much of `text` as fits into `out_bytes` > 0, including a NUL, and cuts it between two UTF-8
 * characters. Control characters of ASCII, U+0080 to U+009F (also as single bytes), and characters that
 * change the direction of text or end a line (such as U+202E and U+2028) become '?'. So text from the wire
 * can neither forge a line nor control a terminal. `text` may be at `out` itself. Returns the length
 * written. */
size_t ki_one_line(char *out, size_t out_bytes, ki_str text);

/* Like ki_one_line(), but a text that is cut ends with "…". `out_bytes` must be > 3. */
size_t ki_one_line_cut(char *out, size_t out_bytes, ki_str text);

#endif
