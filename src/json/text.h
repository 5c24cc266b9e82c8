/* SPDX-License-Identifier: Apache-2.0 */
/* text - the characters of JSON strings: escapes, UTF-8, comparison without allocation.
 *
 *   From:     json/read.c, json/pointer.c, json/names.c, json/equal.c, json/write.c, json/canonical.c,
 *             api/object/object_build.c, api/object/object_text.c, api/resource/resource.c,
 *             api/selector/field_selector.c, proto/, api/object/object_fields.c, api/object/object_path.c,
 *             json/body_format.c, json/projection.c
 *   Locks:    none; pure functions.
 *   Not here: finding where a string ends (json/skip.h).
 *
 * `raw` is the text between the quotes, with its escapes. Any bytes are safe.
 */
#ifndef KI_JSON_TEXT_H
#define KI_JSON_TEXT_H

#include <kinformer/common.h>

#define KI_JSON_BAD_ESCAPE SIZE_MAX

/* The length of `raw` when unescaped, or KI_JSON_BAD_ESCAPE. */
size_t ki_json_unescaped_len(const char *raw, size_t n);

/* Unescapes into `out`, for which `n` bytes are enough; out == raw unescapes in place. Returns the number
 * of bytes written, or KI_JSON_BAD_ESCAPE for a malformed escape or a lone surrogate; `out` is unspecified
 * then. */
size_t ki_json_unescape(const char *raw, size_t n, char *out);

/* Reads the escape at at[0], a backslash. Returns its length (2, 6, or 12 for a surrogate pair), or 0 if
 * it is malformed or incomplete before `end`. */
size_t ki_json_escape_read(const char *at, const char *end, uint32_t *out_code_point);

/* How the characters of a text are encoded. */
typedef enum ki_json_spelling {
    KI_JSON_PLAIN,   /* not encoded */
    KI_JSON_RAW,     /* the text between the quotes of a JSON string */
    KI_JSON_POINTER, /* one token of a JSON Pointer: ~0 and ~1 */
} ki_json_spelling;

typedef struct ki_json_spelt {
    ki_str text;
    ki_json_spelling spelling;
} ki_json_spelt;

/* Compares the decoded texts bytewise. Returns negative, 0 or positive. A malformed escape stands for its
 * own bytes, so any two texts can be compared. */
int ki_json_text_compare(ki_json_spelt a, ki_json_spelt b);

/* Writes `code_point` (at most 0x10FFFF) as UTF-8 and returns the number of bytes, 1 to 4. */
size_t ki_utf8_encode(uint32_t code_point, char out[4]);

/* The number of bytes before the first one that is not part of well-formed UTF-8; `n` if all of them
 * are. */
size_t ki_utf8_valid_len(const char *text, size_t n);

#endif
