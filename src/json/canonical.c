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

size_t ki_json_canonical(char *text, size_t len, ki_capture *captures, size_t capture_count)
{
    ki_capture old[KI_PROJECTION_CAPTURES_MAX];
    memcpy(old, captures, capture_count * sizeof(*old));
    const char *end = text + len;
    const char *at = text;
    char *out = text;
    for (;;) {
        const char *escape = memchr(at, '\\', (size_t)(end - at));
        const size_t run = (size_t)((escape == NULL ? end : escape) - at);
        const size_t from = (size_t)(at - text);
        move_bounds(captures, old, capture_count, from, from + run, (size_t)(out - text));
        memmove(out, at, run);
        out += run;
        if (escape == NULL)
            return (size_t)(out - text);
        uint32_t code_point = 0;
        size_t n = ki_json_escape_read(escape, end, &code_point);
        assert(n > 0);
        out += spell(code_point, out);
        at = escape + n;
    }
}
