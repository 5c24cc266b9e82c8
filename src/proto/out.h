/* SPDX-License-Identifier: Apache-2.0 */
/* out - writes JSON into the text of a sink.
 *
 *   From:     proto/
 *   To:       json/sink.h
 *   Locks:    none; one owner.
 *   Not here: which values are written.
 *
 * Every function that returns an int reserves what it writes. It returns 0, KI_ERR_NO_MEMORY, or
 * KI_ERR_TOO_LARGE if the text would exceed the limit of the sink.
 */
#ifndef KI_PROTO_OUT_H
#define KI_PROTO_OUT_H

#include <assert.h>
#include <kinformer/error.h>
#include <string.h>

#include "json/sink.h"

/* The text of a date. Dates are cached, because most objects have times of the same few days. */
typedef struct ki_proto_day {
    uint64_t number; /* days since 1970-01-01; 0 if not set */
    char text[16];
} ki_proto_day;

enum { KI_PROTO_DAYS = 16 };

/* While this is in use, `at` is the end of the sink's text, and the sink's own length is not valid. */
typedef struct ki_proto_out {
    ki_json_sink *sink;
    char *text; /* of the sink */
    char *at;
    char *end;
    /* The last time that was written (proto/leaf.c): its message and its text. */
    uint64_t usual_message;
    char usual[24];
    ki_proto_day days[KI_PROTO_DAYS]; /* indexed by the number of the day, modulo KI_PROTO_DAYS */
} ki_proto_out;

/* Begins to write at the end of the sink's text; ki_proto_out_end() sets the length of the text. */
void ki_proto_out_begin(ki_proto_out *out, ki_json_sink *sink);
void ki_proto_out_end(ki_proto_out *out);

KI_NODISCARD int ki_proto_out_grow(ki_proto_out *out, size_t n);

static inline int ki_proto_out_reserve(ki_proto_out *out, size_t n)
{
    int rc = (size_t)(out->end - out->at) >= n ? 0 : ki_proto_out_grow(out, n);
    assert(rc < 0 || n == 0 || out->at != NULL);
    return rc;
}

/* The position, which remains valid when the text moves. */
static inline size_t ki_proto_out_place(const ki_proto_out *out)
{
    return (size_t)(out->at - out->text);
}

static inline void ki_proto_out_rewind(ki_proto_out *out, size_t place)
{
    out->at = out->text + place;
}

enum { KI_PROTO_NAME_BYTES = 32 };

/* Copies 32 bytes at a time. So 32 bytes after `n` must be readable and writable. */
static inline void ki_proto_out_copy_name(char *to, const char *text, size_t n)
{
    memcpy(to, text, KI_PROTO_NAME_BYTES);
    for (size_t i = KI_PROTO_NAME_BYTES; i < n; i += KI_PROTO_NAME_BYTES)
        memcpy(to + i, text + i, KI_PROTO_NAME_BYTES);
}

/* Copies at most 255 bytes of text that is followed by 32 more bytes. */
static inline int ki_proto_out_name(ki_proto_out *out, const char *text, size_t n)
{
    int rc = ki_proto_out_reserve(out, n + KI_PROTO_NAME_BYTES);
    if (rc < 0)
        return rc;
    ki_proto_out_copy_name(out->at, text, n);
    out->at += n;
    return 0;
}

static inline int ki_proto_out_byte(ki_proto_out *out, char byte)
{
    int rc = ki_proto_out_reserve(out, 1);
    if (rc == 0)
        *out->at++ = byte;
    return rc;
}

KI_NODISCARD int ki_proto_out_text(ki_proto_out *out, ki_str text);
/* Writes a number at `to`, which has space for 32 bytes, and returns its end. */
char *ki_proto_out_long_number(char *to, int64_t number);

static inline char *ki_proto_out_digits(char *to, int64_t number)
{
    if ((uint64_t)number >= 10)
        return ki_proto_out_long_number(to, number);
    *to = (char)('0' + number);
    return to + 1;
}

KI_NODISCARD int ki_proto_out_int(ki_proto_out *out, int64_t number);

/* Bytes as base64, in quotes. */
KI_NODISCARD int ki_proto_out_base64(ki_proto_out *out, ki_str bytes);

/* Any bytes as a JSON string. Each byte that is not part of well-formed UTF-8 becomes U+FFFD, as in Go. */
KI_NODISCARD int ki_proto_out_string(ki_proto_out *out, ki_str bytes);

/* Members and elements are written with a comma before each of them. This ends the container that began at
 * `start`: its first comma becomes the opening bracket. */
static inline int ki_proto_out_close(ki_proto_out *out, size_t start, const char brackets[2])
{
    int rc = ki_proto_out_reserve(out, 2);
    if (rc < 0)
        return rc;
    if (ki_proto_out_place(out) == start)
        out->at++;
    out->text[start] = brackets[0];
    *out->at++ = brackets[1];
    return 0;
}

#endif
