/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/out.h"

#include <assert.h>

#include "proto/plain.h"
#include "util/text/base64.h"

void ki_proto_out_begin(ki_proto_out *out, ki_json_sink *sink)
{
    assert(sink != NULL);
    out->sink = sink;
    out->text = sink->text.data;
    out->at = NULL;
    out->end = NULL;
    if (sink->text.data == NULL)
        return;
    out->at = sink->text.data + sink->text.len;
    out->end = sink->text.data + sink->text.cap;
}

void ki_proto_out_end(ki_proto_out *out)
{
    out->sink->text.len = out->text == NULL ? 0 : ki_proto_out_place(out);
}

/* The buffer has a little more space than the limit. A text that exceeds the limit is noticed here or at the
 * end. */
int ki_proto_out_grow(ki_proto_out *out, size_t n)
{
    ki_json_sink *sink = out->sink;
    ki_proto_out_end(out);
    int rc = sink->text.len > sink->bytes_max ? KI_ERR_TOO_LARGE : ki_buf_reserve(&sink->text, n);
    if (rc < 0)
        return rc;
    ki_proto_out_begin(out, sink);
    return 0;
}

int ki_proto_out_text(ki_proto_out *out, ki_str text)
{
    int rc = ki_proto_out_reserve(out, text.len);
    if (rc < 0)
        return rc;
    if (text.len > 0)
        memcpy(out->at, text.ptr, text.len);
    out->at += text.len;
    return 0;
}

char *ki_proto_out_long_number(char *to, int64_t number)
{
    enum { DIGITS_MAX = 19 };
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    unsigned count = 1;
    *to = '-';
    to += number < 0;
    for (uint64_t limit = 10; count < DIGITS_MAX && left >= limit; limit *= 10)
        count++;
    for (char *at = to + count; at > to; left /= 10)
        *--at = (char)('0' + left % 10);
    return to + count;
}

int ki_proto_out_int(ki_proto_out *out, int64_t number)
{
    int rc = ki_proto_out_reserve(out, KI_PROTO_NAME_BYTES);
    if (rc == 0)
        out->at = ki_proto_out_digits(out->at, number);
    return rc;
}

int ki_proto_out_base64(ki_proto_out *out, ki_str bytes)
{
    int rc = ki_proto_out_reserve(out, KI_BASE64_ENCODED_BYTES(bytes.len) + 2);
    if (rc < 0)
        return rc;
    *out->at++ = '"';
    if (bytes.len > 0)
        out->at += ki_base64_encode(bytes, out->at);
    *out->at++ = '"';
    return 0;
}

/* ---- strings ------------------------------------------------------------------------------------------- */

int ki_proto_copy_long(char *to, const uint8_t *from, size_t n)
{
    return ki_proto_copy_exact(to, from, n);
}

/* Copies the bytes before the first special byte, and returns their number. */
static size_t copy_plain(char *to, const uint8_t *from, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t word;
        memcpy(&word, from + i, 8);
        if (ki_proto_has_special(word))
            break;
        memcpy(to + i, &word, 8);
    }
    for (; i < n && !ki_proto_is_special(from[i]); i++)
        to[i] = (char)from[i];
    return i;
}

/* The length of the multi-byte character that begins at `at`, or 0 if it is not UTF-8. */
static size_t character_len(const uint8_t *at, size_t n)
{
    uint8_t lead = at[0];
    size_t len = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (len == 0 || len > n)
        return 0;
    uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (at[1] < low || at[1] > high)
        return 0;
    for (size_t i = 2; i < len; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return len;
}

enum { SPELT_BYTES_MAX = 6 };

/* Writes the special character at `from`. Returns its length in the input. */
static size_t put_special(ki_proto_out *out, const uint8_t *from, size_t n)
{
    static const char short_form[0x20] = {
        ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
    static const char digits[] = "0123456789abcdef";
    uint8_t byte = from[0];
    assert(out->at != NULL);
    if (byte >= 0x80) {
        size_t len = character_len(from, n);
        memcpy(out->at, len == 0 ? "\xef\xbf\xbd" : (const char *)from, len == 0 ? 3 : len);
        out->at += len == 0 ? 3 : len;
        return len == 0 ? 1 : len;
    }
    char letter = byte < 0x20 ? short_form[byte] : (char)byte;
    *out->at++ = '\\';
    if (letter != 0) {
        *out->at++ = letter;
        return 1;
    }
    memcpy(out->at, "u00", 3);
    out->at[3] = digits[byte >> 4];
    out->at[4] = digits[byte & 15];
    out->at += 5;
    return 1;
}

/* Writes the rest of a string, after its first quote. */
static int put_special_string(ki_proto_out *out, ki_str bytes)
{
    const uint8_t *from = (const uint8_t *)bytes.ptr;
    assert(out->at != NULL);
    for (size_t i = 0; i < bytes.len;) {
        size_t plain = copy_plain(out->at, from + i, bytes.len - i);
        out->at += plain;
        i += plain;
        if (i == bytes.len)
            break;
        int rc = ki_proto_out_reserve(out, bytes.len - i + 1 + SPELT_BYTES_MAX);
        if (rc < 0)
            return rc;
        i += put_special(out, from + i, bytes.len - i);
    }
    *out->at++ = '"';
    return 0;
}

int ki_proto_out_string(ki_proto_out *out, ki_str bytes)
{
    const uint8_t *from = (const uint8_t *)bytes.ptr;
    int rc = ki_proto_out_reserve(out, bytes.len + 2 + SPELT_BYTES_MAX);
    if (rc < 0)
        return rc;
    *out->at++ = '"';
    if (ki_proto_copy_exact(out->at, from, bytes.len)) {
        out->at[bytes.len] = '"';
        out->at += bytes.len + 1;
        return 0;
    }
    return put_special_string(out, bytes);
}
