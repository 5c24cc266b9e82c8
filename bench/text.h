/* SPDX-License-Identifier: Apache-2.0 */
/* text - a growable byte buffer for generated documents.
 *
 *   From:     generate_pods.c, pod_*.c
 *   Not here: escaping; the caller has escaped the text.
 */
#ifndef BENCH_TEXT_H
#define BENCH_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A zeroed struct is an empty text. */
struct text {
    char *data;
    size_t length;
    size_t capacity;
};

/* Makes space for `extra` more bytes. Ends the program if out of memory: a benchmark has nothing to measure
 * without its data. */
void text_reserve(struct text *out, size_t extra);
void text_fini(struct text *out);

void text_put_strings(struct text *out, const char *const *strings, size_t count);
void text_put_number(struct text *out, uint64_t number);

static inline void text_append(struct text *out, const char *bytes, size_t length)
{
    if (out->capacity - out->length < length) {
        text_reserve(out, length);
    }
    memcpy(out->data + out->length, bytes, length);
    out->length += length;
}

/* Appends any number of NUL-terminated strings. */
#define text_put(out, ...)                                                                                   \
    text_put_strings((out), (const char *const[]){__VA_ARGS__},                                              \
                     sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* Appends one string literal, whose length the compiler knows. */
#define text_put_literal(out, literal) text_append((out), "" literal, sizeof(literal) - 1)

#endif
