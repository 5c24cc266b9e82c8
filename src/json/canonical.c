/* SPDX-License-Identifier: Apache-2.0 */
#include "json/canonical.h"

#include <assert.h>
#include <string.h>

#include "json/text.h"

static const char *const digits = "0123456789abcdef";

/* Writes the canonical spelling of one character in a JSON string. Returns its length. */
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

/* Captures begin and end between tokens, never inside an escape. So each start and end is in one of the
 * copied runs. This moves those from `from` to `until`, a run that is copied to `to`. */
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

/* An escape that is not in its canonical spelling. */
typedef struct rewrite {
    const char *at; /* the end of the text if there is none */
    size_t len;
    char spelt[6];
    size_t spelt_len;
} rewrite;

static rewrite next_rewrite(const char *at, const char *end)
{
    rewrite r = {.at = end};
    while (at < end && (at = memchr(at, '\\', (size_t)(end - at))) != NULL) {
        uint32_t code_point = 0;
        r.len = ki_json_escape_read(at, end, &code_point);
        assert(r.len > 0);
        r.spelt_len = spell(code_point, r.spelt);
        if (r.len != r.spelt_len || memcmp(at, r.spelt, r.len) != 0) {
            r.at = at;
            return r;
        }
        at += r.len;
    }
    return r;
}

size_t ki_json_canonical(char *text, size_t len, ki_capture *captures, size_t capture_count)
{
    ki_capture old[KI_PROJECTION_CAPTURES_MAX];
    memcpy(old, captures, capture_count * sizeof(*old));
    const char *end = text + len;
    const char *at = text;
    char *out = text;
    for (;;) {
        const rewrite next = next_rewrite(at, end);
        const size_t run = (size_t)(next.at - at);
        if (out != at) { /* otherwise nothing has moved */
            const size_t from = (size_t)(at - text);
            move_bounds(captures, old, capture_count, from, from + run, (size_t)(out - text));
            memmove(out, at, run);
        }
        out += run;
        if (next.at == end)
            return (size_t)(out - text);
        memcpy(out, next.spelt, next.spelt_len);
        out += next.spelt_len;
        at = next.at + next.len;
    }
}
