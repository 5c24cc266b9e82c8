/* SPDX-License-Identifier: Apache-2.0 */
#include "json/canonical.h"

#include <assert.h>
#include <string.h>

#include "json/text.h"

static const char *const digits = "0123456789abcdef";

/* Writes one character as it stands in a JSON string. */
static size_t spell(uint32_t code_point, char *out)
{
    static const char short_form[32] = {['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
    if (code_point >= 0x20 && code_point != '"' && code_point != '\\')
        return ki_utf8_encode(code_point, out);
    char letter = code_point < 0x20 ? short_form[code_point] : (char)code_point;
    out[0] = '\\';
    if (letter != 0) {
        out[1] = letter;
        return 2;
    }
    out[1] = 'u';
    out[2] = '0';
    out[3] = '0';
    out[4] = digits[code_point >> 4];
    out[5] = digits[code_point & 15];
    return 6;
}

/* Captures begin and end between tokens, so never inside of an escape: each bound lies in one of the runs
 * that are copied. */
static void move_bounds(ki_capture *captures, const ki_capture *old, size_t count, size_t from, size_t until,
                        size_t to)
{
    for (size_t i = 0; i < count; i++) {
        if (old[i].place != KI_CAPTURE_TEXT)
            continue;
        if (old[i].start >= from && old[i].start <= until)
            captures[i].start = (uint32_t)(old[i].start - from + to);
        if (old[i].end >= from && old[i].end <= until)
            captures[i].end = (uint32_t)(old[i].end - from + to);
    }
}

/* The next escape that has another spelling, which goes to `spelt`. Returns the end when there is none. */
static const char *next_rewritten(const char *at, const char *end, char spelt[6], size_t *out_len,
                                  size_t *out_spelt_len)
{
    *out_len = 0;
    *out_spelt_len = 0;
    while (at < end && (at = memchr(at, '\\', (size_t)(end - at))) != NULL) {
        uint32_t code_point = 0;
        size_t n = ki_json_escape_read(at, end, &code_point);
        assert(n > 0);
        size_t spelt_len = spell(code_point, spelt);
        if (n != spelt_len || memcmp(at, spelt, n) != 0) {
            *out_len = n;
            *out_spelt_len = spelt_len;
            return at;
        }
        at += n;
    }
    return end;
}

size_t ki_json_canonical(char *text, size_t len, ki_capture *captures, size_t capture_count)
{
    ki_capture old[KI_PROJECTION_CAPTURES_MAX];
    memcpy(old, captures, capture_count * sizeof(*old));
    const char *end = text + len;
    const char *at = text;
    char *out = text;
    for (;;) {
        char spelt[6];
        size_t escape_len = 0;
        size_t spelt_len = 0;
        const char *escape = next_rewritten(at, end, spelt, &escape_len, &spelt_len);
        const size_t run = (size_t)(escape - at);
        if (out != at) { /* else all is in its place */
            const size_t from = (size_t)(at - text);
            move_bounds(captures, old, capture_count, from, from + run, (size_t)(out - text));
            memmove(out, at, run);
        }
        out += run;
        if (escape == end)
            return (size_t)(out - text);
        memcpy(out, spelt, spelt_len);
        out += spelt_len;
        at = escape + escape_len;
    }
}
