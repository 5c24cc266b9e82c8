/* SPDX-License-Identifier: Apache-2.0 */
#include "util/mask.h"

#include <stdbool.h>
#include <string.h>

#define MARK "<masked>"
#define SHORT_MARK "***"

static size_t put_mark(char *out, size_t room)
{
    ki_str chosen = room < sizeof(MARK) - 1 ? KI_STR(SHORT_MARK) : KI_STR(MARK);
    memcpy(out, chosen.ptr, chosen.len);
    return chosen.len;
}

static size_t common_len(ki_str text, ki_str secret)
{
    size_t n = 0;
    while (n < text.len && n < secret.len && text.ptr[n] == secret.ptr[n])
        n++;
    return n;
}

static bool is_cut(ki_str rest)
{
    static const char cut[] = "\xe2\x80\xa6";
    return rest.len == 0 || (rest.len >= sizeof(cut) - 1 && memcmp(rest.ptr, cut, sizeof(cut) - 1) == 0);
}

/* How much of the secret the text begins with; 0 when it is no part of it. */
static size_t found_len(ki_str text, ki_str secret)
{
    size_t n = common_len(text, secret);
    if (n == secret.len)
        return n;
    return n >= KI_MASK_SECRET_BYTES_MIN && is_cut((ki_str){text.ptr + n, text.len - n}) ? n : 0;
}

size_t ki_mask_secret(char *text, size_t len, const char *secret)
{
    const ki_str hidden = ki_str_of(secret);
    size_t kept = 0;
    if (hidden.len < KI_MASK_SECRET_BYTES_MIN)
        return len;
    for (size_t at = 0; at < len;) {
        size_t n = found_len((ki_str){text + at, len - at}, hidden);
        if (n > 0)
            kept += put_mark(text + kept, n);
        else
            text[kept++] = text[at];
        at += n > 0 ? n : 1;
    }
    return kept;
}

void ki_mask_error(const ki_mask *mask, ki_error *err)
{
    if (mask->hide != NULL)
        err->message[mask->hide(err->message, strlen(err->message), mask->user)] = 0;
}

void ki_mask_text(const ki_mask *mask, char *memory, ki_str *text)
{
    if (mask->hide != NULL && text->len > 0)
        text->len = mask->hide(memory + (text->ptr - memory), text->len, mask->user);
}
