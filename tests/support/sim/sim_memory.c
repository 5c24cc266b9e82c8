/* SPDX-License-Identifier: Apache-2.0 */
#include "support/sim/sim_memory.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void *sim_array(size_t count, size_t size)
{
    void *array = calloc(count, size);
    if (array == NULL)
        abort();
    return array;
}

void *sim_array_grow(void *array, size_t *cap, size_t count, size_t size)
{
    if (count <= *cap)
        return array;
    size_t wanted = *cap * 2 > count ? *cap * 2 : count;
    void *grown = realloc(array, wanted * size);
    if (grown == NULL)
        abort();
    *cap = wanted;
    return grown;
}

void sim_text_fini(sim_text *text)
{
    free(text->data);
    *text = (sim_text){0};
}

static void reserve(sim_text *text, size_t extra)
{
    text->data = sim_array_grow(text->data, &text->cap, text->len + extra, 1);
}

void sim_text_append(sim_text *text, const char *bytes, size_t n)
{
    if (n == 0)
        return;
    reserve(text, n);
    memcpy(text->data + text->len, bytes, n);
    text->len += n;
}

static void append_number(sim_text *text, uint64_t number)
{
    char digits[SIM_NUMBER_BYTES];
    sim_text_append(text, digits, sim_write_number(digits, number));
}

size_t sim_write_number(char *out, uint64_t number)
{
    char digits[SIM_NUMBER_BYTES];
    size_t first = sizeof(digits);
    do
        digits[--first] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    size_t n = sizeof(digits) - first;
    memcpy(out, digits + first, n);
    return n;
}

/* A replacement for printf, which would take most of the time of a simulation. */
void sim_text_put(sim_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    while (*format != 0) {
        size_t plain = strcspn(format, "%");
        sim_text_append(text, format, plain);
        format += plain;
        if (*format == 0)
            break;
        if (strncmp(format, "%s", 2) == 0) {
            const char *string = va_arg(arguments, const char *);
            sim_text_append(text, string, strlen(string));
            format += 2;
        } else if (strncmp(format, "%" PRIu64, strlen("%" PRIu64)) == 0) {
            append_number(text, va_arg(arguments, uint64_t));
            format += strlen("%" PRIu64);
        } else if (strncmp(format, "%" PRIu32, strlen("%" PRIu32)) == 0) {
            append_number(text, va_arg(arguments, uint32_t));
            format += strlen("%" PRIu32);
        } else {
            abort();
        }
    }
    va_end(arguments);
}

void sim_text_fill(sim_text *text, char c, size_t count)
{
    reserve(text, count);
    memset(text->data + text->len, c, count);
    text->len += count;
}
