/* SPDX-License-Identifier: Apache-2.0 */
#include "support/sim_memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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

void sim_text_put(sim_text *text, const char *format, ...)
{
    text->data = sim_array_grow(text->data, &text->cap, text->len + 256, 1);
    for (;;) {
        size_t room = text->cap - text->len;
        va_list arguments;
        va_start(arguments, format);
        int n = vsnprintf(text->data + text->len, room, format, arguments);
        va_end(arguments);
        if (n < 0)
            abort();
        if ((size_t)n < room) {
            text->len += (size_t)n;
            return;
        }
        text->data = sim_array_grow(text->data, &text->cap, text->len + (size_t)n + 1, 1);
    }
}
