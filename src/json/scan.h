/* SPDX-License-Identifier: Apache-2.0 */
/* scan - finds the end of one JSON value in bytes that arrive in any split, and checks every byte of it.
 *
 *   From:     api/decode/envelope.c (io feeds it the received bytes), api/object/, json/kernel/, proto/; also
 *             api/decode/list_decoder.c, api/decode/watch_decoder.c
 *   To:       json/kernel/kernel_*.c     (blocks of 64 bytes), json/sink.c (what is kept)
 *   Locks:    none; one owner.
 *   Not here: what the value means; several values; looking at a value again later (json/read.c).
 *
 * Invariant: after each call the scanner has fully processed the bytes it was given, and stores none of them
 * (the sink stores those that are kept). So each byte is read once, and a value that ends with the last byte
 * of a chunk is reported with that chunk.
 */
#ifndef KI_JSON_SCAN_H
#define KI_JSON_SCAN_H

#include <kinformer/error.h>

#include "json/sink.h"

#define KI_JSON_DEPTH_DEFAULT 1000
#define KI_JSON_DEPTH_LIMIT 1024 /* the maximum of depth_max; sizes the bit stack */
#define KI_JSON_VALUE_BYTES_DEFAULT ((size_t)64 * 1024 * 1024)

struct ki_json_kernel;

/* Where the scanner is. */
enum { KI_SCAN_BEFORE = 0, KI_SCAN_INSIDE, KI_SCAN_BEHIND };

/* The type of the value, from its first byte. */
enum { KI_SCALAR_NONE = 0, KI_SCALAR_STRING, KI_SCALAR_LITERAL };

/* Zero means the default. */
typedef struct ki_json_limits {
    uint32_t depth_max;
    size_t value_bytes_max;
} ki_json_limits;

/* The state of an escape that a block leaves unfinished (json/escape.c). */
typedef struct ki_escape {
    uint32_t state;
    uint32_t unit; /* the current UTF-16 unit; in the upper half, the high surrogate before it */
} ki_escape;

/* The state of a character that a block leaves unfinished (json/utf8.c). */
typedef struct ki_utf8 {
    uint32_t need; /* continuation bytes to come */
    uint32_t low;  /* `low` and `high` bound the next of them */
    uint32_t high;
} ki_utf8;

/* What the last character was, ignoring white space. Each member is 0 or 1. */
typedef struct ki_json_grammar {
    uint64_t expects_value;  /* one of : , { [ or nothing yet */
    uint64_t may_begin_name; /* one of , { */
    uint64_t opened;         /* { or [ */
    uint64_t in_name;        /* inside a string that began after , or { */
    uint64_t ended_name;     /* the closing quote of such a string */
} ki_json_grammar;

/* State carried from one block to the next. Members are 0 or 1 if nothing else is said. */
typedef struct ki_json_carry {
    uint64_t in_string;     /* all ones inside a string, else 0 */
    uint64_t escaped;       /* the next byte is escaped by a backslash */
    uint64_t literal_open;  /* the last byte belongs to a number, true, false or null */
    uint32_t literal_state; /* of json/literal.h */
    ki_escape escape;
    ki_utf8 utf8;
    ki_json_grammar grammar;
} ki_json_carry;

typedef struct ki_json_scanner {
    const struct ki_json_kernel *kernel;
    ki_json_sink *sink; /* NULL: check only */
    ki_json_carry carry;
    uint32_t depth; /* open containers */
    uint32_t depth_max;
    uint32_t inside_depth_max; /* up to this depth, kinds[0] is enough and no limit is reached */
    uint32_t too_deep;         /* open containers beyond depth_max, in a value that is scanned leniently */
    uint64_t kinds[KI_JSON_DEPTH_LIMIT / 64 + 1]; /* bit i: the i-th open container is an object; else 0 */
    int scalar;                                   /* KI_SCALAR_… */
    int state;                                    /* KI_SCAN_… */
    int error;                                    /* first ki_error_code found */
    uint64_t offset;                              /* of the next byte, counted over all values */
    uint64_t value_bytes;                         /* bytes of this value so far */
    uint64_t value_bytes_max;
    uint64_t error_offset;
    int is_lenient;
    int refused; /* first ki_error_code after which a lenient scan continued; 0 if the value is JSON */
    uint64_t refused_offset;
    const uint8_t *slice; /* the kernel's input; `offset` is that of its first byte */
} ki_json_scanner;

/* `limits` may be NULL. A depth_max above KI_JSON_DEPTH_LIMIT is reduced to it. A scanner need not be
 * freed. */
void ki_json_scanner_init(ki_json_scanner *scanner, const ki_json_limits *limits);

/* Prepares for one value. `sink` (borrowed, may be NULL) receives the bytes that are kept; the caller has
 * begun it. */
void ki_json_scan_begin(ki_json_scanner *scanner, ki_json_sink *sink);

/* Like ki_json_scan_begin(), for one of several values, where the others should be read even if this one is
 * invalid. Some mistakes leave no doubt about where a container ends: nesting that is too deep, and wrong
 * escapes, wrong UTF-8 and control characters in strings. The first of them is stored in `refused`, and the
 * value is scanned to its end. Then the sink's text is not valid JSON, and its captures may not be
 * either. */
void ki_json_scan_begin_lenient(ki_json_scanner *scanner, ki_json_sink *sink);

/* Feeds `n` bytes; white space before the value is skipped. *out_used is the number of bytes that belong to
 * the value or precede it. Returns 1 when the value is complete, 0 when more bytes are needed, or an error
 * code with the scanner's error_offset set. A number at the top level only ends with the byte after it or
 * with ki_json_scan_end(). */
KI_NODISCARD int ki_json_scan(ki_json_scanner *scanner, const char *bytes, size_t n, size_t *out_used);

/* Signals that no byte follows. Returns 1 if a value is complete, 0 if none has begun,
 * KI_ERR_JSON_TRUNCATED in the middle of one. */
KI_NODISCARD int ki_json_scan_end(ki_json_scanner *scanner);

/* Feeds a text that must be exactly one value, optionally surrounded by white space. Returns 0 or an
 * error. */
KI_NODISCARD int ki_json_scan_whole(ki_json_scanner *scanner, ki_str text);

/* Fills in `err` for the code that the scanner returned, with the offset. Returns the code. */
int ki_json_scan_explain(const ki_json_scanner *scanner, int code, ki_error *err);

/* Like ki_json_scan_explain(), for the mistake in `refused`. */
int ki_json_scan_explain_refused(const ki_json_scanner *scanner, ki_error *err);

#endif
