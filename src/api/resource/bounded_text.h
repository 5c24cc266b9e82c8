/* SPDX-License-Identifier: Apache-2.0 */
/* bounded_text - writes text into the caller's buffer like snprintf: it counts all bytes, and writes as
 * many as fit before the NUL.
 *
 *   From:     api/object/key.c, api/resource/resource.c, api/selector/selector.c,
 *             api/selector/field_selector.c
 *   Locks:    none; one owner.
 *   Not here: memory; formats.
 */
#ifndef KI_API_RESOURCE_BOUNDED_TEXT_H
#define KI_API_RESOURCE_BOUNDED_TEXT_H

#include <kinformer/common.h>

typedef struct ki_bounded_text {
    char *buffer;
    size_t cap;
    size_t len;
} ki_bounded_text;

/* `buffer` may be NULL if `buffer_bytes` is 0: then everything is only counted. */
static inline ki_bounded_text ki_bounded_text_in(char *buffer, size_t buffer_bytes)
{
    return (ki_bounded_text){buffer, buffer_bytes, 0};
}

static inline void ki_bounded_put_byte(ki_bounded_text *text, char byte)
{
    if (text->len + 1 < text->cap)
        text->buffer[text->len] = byte;
    text->len++;
}

static inline void ki_bounded_put(ki_bounded_text *text, ki_str more)
{
    for (size_t i = 0; i < more.len; i++)
        ki_bounded_put_byte(text, more.ptr[i]);
}

/* Ends the text with a NUL and returns its whole length, which fits an int. */
static inline int ki_bounded_finish(ki_bounded_text *text)
{
    if (text->cap > 0)
        text->buffer[text->len < text->cap ? text->len : text->cap - 1] = 0;
    return (int)text->len;
}

#endif
