/* SPDX-License-Identifier: Apache-2.0 */
#include "json/text.h"

#include <assert.h>
#include <string.h>

#include "util/text/byte.h"

/* ---- UTF-8 --------------------------------------------------------------------------------------------- */

size_t ki_utf8_encode(uint32_t code_point, char out[4])
{
    if (code_point < 0x80) {
        out[0] = (char)code_point;
        return 1;
    }
    if (code_point < 0x800) {
        out[0] = (char)(0xc0 | code_point >> 6);
        out[1] = (char)(0x80 | (code_point & 0x3f));
        return 2;
    }
    if (code_point < 0x10000) {
        out[0] = (char)(0xe0 | code_point >> 12);
        out[1] = (char)(0x80 | (code_point >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code_point & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code_point >> 18);
    out[1] = (char)(0x80 | (code_point >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code_point >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code_point & 0x3f));
    return 4;
}

static size_t ascii_len(const unsigned char *text, size_t n)
{
    size_t at = 0;
    for (; n - at >= sizeof(uint64_t); at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, text + at, sizeof(word));
        if ((word & 0x8080808080808080u) != 0)
            break;
    }
    while (at < n && text[at] < 0x80)
        at++;
    return at;
}

/* The length of the multi-byte sequence at text[0], according to table 3-7 of the Unicode standard; 0 if it
 * is ill-formed. Only the second byte has a special range, which excludes overlong forms, surrogates and
 * code points above U+10FFFF. */
static size_t sequence_len(const unsigned char *text, size_t n)
{
    unsigned char lead = text[0];
    if (lead < 0xc2 || lead > 0xf4)
        return 0;
    size_t len = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (n < len)
        return 0;
    unsigned char lowest = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    unsigned char highest = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (text[1] < lowest || text[1] > highest)
        return 0;
    for (size_t i = 2; i < len; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    }
    return len;
}

size_t ki_utf8_valid_len(const char *text, size_t n)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t at = 0;
    while (at < n) {
        at += ascii_len(bytes + at, n - at);
        while (at < n && bytes[at] >= 0x80) {
            size_t len = sequence_len(bytes + at, n - at);
            if (len == 0)
                return at;
            at += len;
        }
    }
    return n;
}

/* ---- escapes ------------------------------------------------------------------------------------------- */

/* The value of four hexadecimal digits, or -1. */
static int hex4(const char *digits)
{
    int value = 0;
    for (int i = 0; i < 4; i++) {
        unsigned digit = ki_byte_hex(digits[i]);
        if (digit > 15)
            return -1;
        value = value << 4 | (int)digit;
    }
    return value;
}

static size_t read_unicode_escape(const char *at, const char *end, uint32_t *out_code_point)
{
    if (end - at < 6)
        return 0;
    int high = hex4(at + 2);
    if (high < 0 || (high >= 0xdc00 && high < 0xe000))
        return 0;
    if (high < 0xd800 || high >= 0xe000) {
        *out_code_point = (uint32_t)high;
        return 6;
    }
    if (end - at < 12 || at[6] != '\\' || at[7] != 'u')
        return 0;
    int low = hex4(at + 8);
    if (low < 0xdc00 || low >= 0xe000)
        return 0;
    *out_code_point = 0x10000u + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
    return 12;
}

static int simple_escape(char c)
{
    switch (c) {
    case '"':
    case '\\':
    case '/':
        return c;
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return -1;
    }
}

size_t ki_json_escape_read(const char *at, const char *end, uint32_t *out_code_point)
{
    assert(out_code_point != NULL);
    if (end - at < 2)
        return 0;
    if (at[1] == 'u')
        return read_unicode_escape(at, end, out_code_point);
    int c = simple_escape(at[1]);
    if (c < 0)
        return 0;
    *out_code_point = (uint32_t)c;
    return 2;
}

static size_t utf8_len(uint32_t code_point)
{
    return code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
}

size_t ki_json_unescaped_len(const char *raw, size_t n)
{
    const char *end = raw + n;
    size_t len = n;
    while (raw < end && (raw = memchr(raw, '\\', (size_t)(end - raw))) != NULL) {
        uint32_t code_point;
        size_t taken = ki_json_escape_read(raw, end, &code_point);
        if (taken == 0)
            return KI_JSON_BAD_ESCAPE;
        len -= taken - utf8_len(code_point);
        raw += taken;
    }
    return len;
}

/* `out` may be `raw`: the output never overtakes the input, because every escape is longer than its
 * character. */
size_t ki_json_unescape(const char *raw, size_t n, char *out)
{
    const char *end = raw + n;
    char *begin = out;
    while (raw < end) {
        const char *backslash = memchr(raw, '\\', (size_t)(end - raw));
        size_t run = (size_t)((backslash == NULL ? end : backslash) - raw);
        if (out != raw)
            memmove(out, raw, run);
        out += run;
        raw += run;
        if (backslash == NULL)
            break;
        uint32_t code_point;
        size_t taken = ki_json_escape_read(raw, end, &code_point);
        if (taken == 0)
            return KI_JSON_BAD_ESCAPE;
        out += ki_utf8_encode(code_point, out);
        raw += taken;
    }
    return (size_t)(out - begin);
}

/* ---- comparison ---------------------------------------------------------------------------------------- */

/* Reads a text in runs. A run is a part without escapes, or the bytes of one decoded escape. */
typedef struct run_reader {
    const char *at;
    const char *end;
    ki_json_spelling spelling;
    char escape; /* the byte that begins an escape; 0 for plain text */
    char decoded[4];
    const char *run;
    size_t run_len;
} run_reader;

static run_reader run_reader_of(ki_json_spelt text)
{
    static const char escapes[] = {[KI_JSON_PLAIN] = 0, [KI_JSON_RAW] = '\\', [KI_JSON_POINTER] = '~'};
    return (run_reader){
        .at = text.text.ptr,
        .end = text.text.len == 0 ? text.text.ptr : text.text.ptr + text.text.len,
        .spelling = text.spelling,
        .escape = escapes[text.spelling],
    };
}

/* Decodes the escape at reader->at. Returns the length of the escape, or 0 if it is malformed. */
static size_t decode_escape(run_reader *reader)
{
    if (reader->spelling == KI_JSON_RAW) {
        uint32_t code_point;
        size_t taken = ki_json_escape_read(reader->at, reader->end, &code_point);
        if (taken != 0)
            reader->run_len = ki_utf8_encode(code_point, reader->decoded);
        return taken;
    }
    if (reader->end - reader->at < 2 || (reader->at[1] != '0' && reader->at[1] != '1'))
        return 0;
    reader->decoded[0] = reader->at[1] == '0' ? '~' : '/';
    reader->run_len = 1;
    return 2;
}

static void next_run(run_reader *reader)
{
    size_t left = (size_t)(reader->end - reader->at);
    const char *escape = NULL;
    if (reader->spelling != KI_JSON_PLAIN)
        escape = memchr(reader->at, reader->escape, left);
    if (escape != NULL && escape == reader->at) {
        size_t taken = decode_escape(reader);
        if (taken != 0) {
            reader->run = reader->decoded;
            reader->at += taken;
            return;
        }
        escape = reader->at + 1;
    }
    reader->run = reader->at;
    reader->run_len = escape == NULL ? left : (size_t)(escape - reader->at);
    reader->at += reader->run_len;
}

/* Reads the next run if the current run is used up. Returns 0 at the end of the text. */
static int fill(run_reader *reader)
{
    if (reader->run_len == 0 && reader->at < reader->end)
        next_run(reader);
    return reader->run_len != 0;
}

int ki_json_text_compare(ki_json_spelt a, ki_json_spelt b)
{
    run_reader left = run_reader_of(a);
    run_reader right = run_reader_of(b);
    for (;;) {
        int more_left = fill(&left);
        int more_right = fill(&right);
        if (!more_left || !more_right)
            return more_left - more_right;
        size_t shared = left.run_len < right.run_len ? left.run_len : right.run_len;
        int order = memcmp(left.run, right.run, shared);
        if (order != 0)
            return order;
        left.run += shared;
        left.run_len -= shared;
        right.run += shared;
        right.run_len -= shared;
    }
}
