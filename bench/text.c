/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <stdio.h>
#include <stdlib.h>

enum { SMALLEST_CAPACITY = 16384, DIGITS_MAX = 20 };

void text_reserve(struct text *out, size_t extra)
{
    size_t capacity = out->capacity < SMALLEST_CAPACITY ? SMALLEST_CAPACITY : out->capacity;
    while (capacity - out->length < extra) {
        capacity *= 2;
    }
    if (capacity == out->capacity) {
        return;
    }
    char *data = realloc(out->data, capacity);
    if (data == NULL) {
        fprintf(stderr, "out of memory: a text of %zu bytes\n", capacity);
        exit(EXIT_FAILURE);
    }
    out->data = data;
    out->capacity = capacity;
}

void text_fini(struct text *out)
{
    if (out != NULL) {
        free(out->data);
        *out = (struct text){0};
    }
}

void text_put_strings(struct text *out, const char *const *strings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        text_append(out, strings[i], strlen(strings[i]));
    }
}

void text_put_number(struct text *out, uint64_t number)
{
    char digits[DIGITS_MAX];
    size_t start = sizeof(digits);
    do {
        digits[--start] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    text_append(out, digits + start, sizeof(digits) - start);
}
