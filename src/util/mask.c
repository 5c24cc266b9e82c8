/* SPDX-License-Identifier: Apache-2.0 */
#include "util/mask.h"

#include <assert.h>
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

static bool is_cut(ki_str rest)
{
    static const char cut[] = "\xe2\x80\xa6";
    return rest.len == 0 || (rest.len >= sizeof(cut) - 1 && memcmp(rest.ptr, cut, sizeof(cut) - 1) == 0);
}

/* ---- as it is ------------------------------------------------------------------------------------------ */

/* How much of the secret the text begins with; 0 when it is no part of it. */
static size_t plain_len(ki_str text, ki_str secret)
{
    size_t n = 0;
    while (n < text.len && n < secret.len && text.ptr[n] == secret.ptr[n])
        n++;
    if (n == secret.len)
        return n;
    return n >= KI_MASK_SECRET_BYTES_MIN && is_cut((ki_str){text.ptr + n, text.len - n}) ? n : 0;
}

/* ---- in base64 ----------------------------------------------------------------------------------------- */

/* A secret behind `before` bytes that nobody knows, modulo 3. Character k has the bits 6k to 6k + 5 of it
 * all. Those from `begin` to `end` have bits of the secret alone; their neighbours may have some of it. */
typedef struct base64_form {
    ki_str secret;
    size_t before;
    size_t begin;
    size_t end;
} base64_form;

/* Both alphabets; -1: in neither of them. */
static int value_of(char c)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    c = c == '-' ? '+' : c == '_' ? '/' : c;
    const char *found = c == 0 ? NULL : strchr(letters, c);
    return found == NULL ? -1 : (int)(found - letters);
}

static int form_value(const base64_form *form, size_t k)
{
    int value = 0;
    for (size_t bit = 6 * k; bit < 6 * k + 6; bit++) {
        unsigned char byte = (unsigned char)form->secret.ptr[bit / 8 - form->before];
        value = value << 1 | (byte >> (7 - bit % 8) & 1);
    }
    return value;
}

static bool is_base64_at(ki_str text, size_t at)
{
    return at < text.len && value_of(text.ptr[at]) >= 0;
}

/* As plain_len(), with the neighbours and the padding. */
static size_t form_len(ki_str text, const base64_form *form)
{
    size_t n = 0, k = form->begin;
    if (form->before > 0 && !is_base64_at(text, n++))
        return 0;
    for (; k < form->end && n < text.len && value_of(text.ptr[n]) == form_value(form, k); k++)
        n++;
    if (k < form->end)
        return k - form->begin >= KI_MASK_SECRET_BYTES_MIN && is_cut((ki_str){text.ptr + n, text.len - n})
                   ? n
                   : 0;
    if ((form->before + form->secret.len) % 3 != 0 && is_base64_at(text, n))
        n++;
    for (int i = 0; i < 2 && n < text.len && text.ptr[n] == '='; i++)
        n++;
    return n;
}

static size_t base64_len(ki_str text, ki_str secret)
{
    size_t longest = 0;
    for (size_t before = 0; before < 3; before++) {
        base64_form form = {secret, before, (8 * before + 5) / 6, 8 * (before + secret.len) / 6};
        size_t n = form_len(text, &form);
        longest = n > longest ? n : longest;
    }
    return longest;
}

/* ---- the calls ----------------------------------------------------------------------------------------- */

size_t ki_mask_secret(char *text, size_t len, const char *secret)
{
    const ki_str hidden = ki_str_of(secret);
    size_t kept = 0;
    if (hidden.len < KI_MASK_SECRET_BYTES_MIN)
        return len;
    for (size_t at = 0; at < len;) {
        const ki_str rest = {text + at, len - at};
        size_t n = plain_len(rest, hidden);
        n = n > 0 ? n : base64_len(rest, hidden);
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
    assert(mask != NULL);
    if (mask->hide != NULL)
        err->message[mask->hide(err->message, strlen(err->message), mask->user)] = 0;
}

void ki_mask_text(const ki_mask *mask, char *memory, ki_str *text)
{
    assert(mask != NULL);
    if (mask->hide != NULL && text->len > 0)
        text->len = mask->hide(memory + (text->ptr - memory), text->len, mask->user);
}
