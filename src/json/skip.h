/* SPDX-License-Identifier: Apache-2.0 */
/* skip - the length of the value at a position; the inner loop of everything that reads JSON without a
 * tree.
 *
 *   From:     json/read.c, json/pointer.c, json/names.c, json/equal.c, json/reformat.c,
 *             api/object/object_text.c, api/object/object.c, api/object/object_build.c
 *   To:       json/kernel.h, for containers
 *   Locks:    none; pure functions.
 *   Not here: validation. Any bytes are safe, but the length is only meaningful for valid JSON.
 */
#ifndef KI_JSON_SKIP_H
#define KI_JSON_SKIP_H

#include <stddef.h>

#include "util/text/byte.h"

/* The number of bytes before the first quote or backslash; `n` if there is neither. */
size_t ki_json_skip_plain(const char *text, size_t n);

/* text[0] is a quote. Returns the length with both quotes, or 0 if the string does not end within `n`
 * bytes. */
size_t ki_json_skip_string(const char *text, size_t n);

/* text[0] is an opening bracket or brace. Returns the length of the container, or 0 if it does not end
 * within `n` bytes. Looks at brackets and strings only; ] also closes {. */
size_t ki_json_skip_container(const char *text, size_t n);

/* Returns the length of the value that begins at text[0], or 0 if there is none or it does not end within
 * `n` bytes. A number or literal ends at the next comma, colon, quote, bracket or white space, or at `n`. */
size_t ki_json_skip_value(const char *text, size_t n);

static inline const char *ki_json_skip_space(const char *at, const char *end)
{
    while (at < end && ki_byte_is_space(*at))
        at++;
    return at;
}

#endif
