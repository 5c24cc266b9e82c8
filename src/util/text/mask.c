/* SPDX-License-Identifier: Apache-2.0 */
#include "util/text/mask.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "util/text/byte.h"

#define MARK "<masked>"
#define SHORT_MARK "***"

static size_t put_mark(char *out, size_t space)
{
    ki_str chosen = space < sizeof(MARK) - 1 ? KI_STR(SHORT_MARK) : KI_STR(MARK);
    memcpy(out, chosen.ptr, chosen.len);
    return chosen.len;
}

static bool is_cut(ki_str rest)
{
    static const char cut[] = "\xe2\x80\xa6";
    return rest.len == 0 || (rest.len >= sizeof(cut) - 1 && memcmp(rest.ptr, cut, sizeof(cut) - 1) == 0);
}

/* ---- escapes ------------------------------------------------------------------------------------------- */

/* Reads `n` hexadecimal digits. */
static bool read_digits(const char *at, size_t n, unsigned *out_number)
{
    unsigned number = 0;
    for (size_t i = 0; i < n; i++) {
        if (ki_byte_hex(at[i]) == 16)
            return false;
        number = number * 16 + ki_byte_hex(at[i]);
    }
    *out_number = number;
    return true;
}

/* An escape: its length, and the bytes that it stands for. */
typedef struct escape {
    size_t len;
    size_t count;
    char bytes[3];
} escape;

/* The UTF-8 of a UTF-16 unit. The two halves of a surrogate pair are not combined. */
static escape escape_of_unit(unsigned unit)
{
    if (unit < 0x80)
        return (escape){6, 1, {(char)unit}};
    if (unit < 0x800)
        return (escape){6, 2, {(char)(0xc0 | unit >> 6), (char)(0x80 | (unit & 0x3f))}};
    return (escape){
        6, 3, {(char)(0xe0 | unit >> 12), (char)(0x80 | (unit >> 6 & 0x3f)), (char)(0x80 | (unit & 0x3f))}};
}

/* Reads the escape at the beginning of the text: "%2F" as in a URL, "\/" and "\u002f" as in JSON, "\x2f" as
 * in logs. The length is 0 if there is none. */
static escape read_escape(ki_str text)
{
    static const char letters[] = "\"\\/'bfnrt", bytes[] = "\"\\/'\b\f\n\r\t";
    unsigned number = 0;
    if (text.len >= 3 && text.ptr[0] == '%' && read_digits(text.ptr + 1, 2, &number))
        return (escape){3, 1, {(char)number}};
    if (text.len < 2 || text.ptr[0] != '\\')
        return (escape){0};
    if (text.len >= 6 && text.ptr[1] == 'u' && read_digits(text.ptr + 2, 4, &number))
        return escape_of_unit(number);
    if (text.len >= 4 && text.ptr[1] == 'x' && read_digits(text.ptr + 2, 2, &number))
        return (escape){4, 1, {(char)number}};
    const char *found = memchr(letters, text.ptr[1], sizeof(letters) - 1);
    return found == NULL ? (escape){0} : (escape){2, 1, {bytes[found - letters]}};
}

/* ---- plain or escaped text ----------------------------------------------------------------------------- */

/* The length of an incomplete escape at the beginning of the text, where the text may have been cut. */
static size_t cut_escape_len(ki_str text)
{
    size_t n = text.len > 0 && (text.ptr[0] == '%' || text.ptr[0] == '\\') ? 1 : 0;
    n += n > 0 && n < text.len && (text.ptr[n] == 'u' || text.ptr[n] == 'x') ? 1 : 0;
    while (n > 0 && n < text.len && ki_byte_hex(text.ptr[n]) < 16)
        n++;
    return n;
}

/* URL-encoded forms have '+' for a blank, and messages have '?' for a control character
 * (util/text/one_line.h). */
static bool stands_for(char shown, char byte)
{
    return (shown == '+' && byte == ' ') || (shown == '?' && ((unsigned char)byte < ' ' || byte == 0x7f));
}

/* The length of the secret at the beginning of the text, or of a prefix of the secret where the text was
 * cut; 0 if there is neither. */
static size_t plain_len(ki_str text, ki_str secret, bool with_escapes)
{
    size_t n = 0, matched = 0;
    while (n < text.len && matched < secret.len) {
        escape found = with_escapes ? read_escape((ki_str){text.ptr + n, text.len - n}) : (escape){0};
        bool is_same = found.len > 0 && found.count <= secret.len - matched &&
                       memcmp(found.bytes, secret.ptr + matched, found.count) == 0;
        if (!is_same && text.ptr[n] != secret.ptr[matched] &&
            !(with_escapes && stands_for(text.ptr[n], secret.ptr[matched])))
            break;
        n += is_same ? found.len : 1;
        matched += is_same ? found.count : 1;
    }
    if (matched == secret.len)
        return n;
    n += with_escapes ? cut_escape_len((ki_str){text.ptr + n, text.len - n}) : 0;
    return matched >= KI_MASK_SECRET_BYTES_MIN && is_cut((ki_str){text.ptr + n, text.len - n}) ? n : 0;
}

/* ---- in base64 ----------------------------------------------------------------------------------------- */

/* A secret in base64, after an unknown number of other bytes, which is `before` modulo 3. Character k
 * encodes the bits 6k to 6k + 5. The characters from `begin` up to `end` encode only bits of the secret;
 * the characters next to them may encode some. */
typedef struct base64_form {
    ki_str secret;
    size_t before;
    size_t begin;
    size_t end;
} base64_form;

/* The value of a character in either alphabet; -1 if it is in neither. */
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

/* The value of the first character, which may be escaped; -1 if it is not a base64 character. */
static int read_value(ki_str text, size_t *out_len)
{
    escape found = read_escape(text);
    *out_len = found.len > 0 ? found.len : 1;
    return found.len > 0 ? value_of(found.bytes[0]) : text.len > 0 ? value_of(text.ptr[0]) : -1;
}

static ki_str behind(ki_str text, size_t n)
{
    return (ki_str){text.ptr + n, text.len - n};
}

/* The length of the first character, which may be escaped; 0 if it is not a base64 character. */
static size_t neighbour_len(ki_str text)
{
    size_t len = 0;
    return read_value(text, &len) >= 0 ? len : 0;
}

static size_t padding_len(ki_str text)
{
    size_t n = 0;
    for (int i = 0; i < 2 && n < text.len; i++) {
        escape found = read_escape(behind(text, n));
        bool is_escaped = found.len > 0 && found.bytes[0] == '=';
        n += is_escaped ? found.len : text.ptr[n] == '=';
    }
    return n;
}

/* Like plain_len(), for base64; includes the neighbours and the padding. */
static size_t form_len(ki_str text, const base64_form *form)
{
    size_t k = form->begin, len = 0;
    size_t n = form->before > 0 ? neighbour_len(text) : 0;
    if (form->before > 0 && n == 0)
        return 0;
    for (; k < form->end && read_value(behind(text, n), &len) == form_value(form, k); k++)
        n += len;
    if (k < form->end) {
        n += cut_escape_len(behind(text, n));
        return k - form->begin >= KI_MASK_SECRET_BYTES_MIN && is_cut(behind(text, n)) ? n : 0;
    }
    if ((form->before + form->secret.len) % 3 != 0)
        n += neighbour_len(behind(text, n));
    return n + padding_len(behind(text, n));
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

/* ---- masking ------------------------------------------------------------------------------------------- */

size_t ki_mask_secret(char *text, size_t len, const char *secret)
{
    const ki_str hidden = ki_str_of(secret);
    size_t kept = 0;
    if (hidden.len < KI_MASK_SECRET_BYTES_MIN)
        return len;
    for (size_t at = 0; at < len;) {
        const ki_str rest = {text + at, len - at};
        size_t n = plain_len(rest, hidden, false);
        n = n > 0 ? n : plain_len(rest, hidden, true);
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
