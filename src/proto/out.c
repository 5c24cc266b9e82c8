/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/out.h"

#include <assert.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "util/base64.h"

void ki_proto_out_begin(ki_proto_out *out, ki_json_sink *sink)
{
    assert(sink != NULL);
    out->sink = sink;
    out->at = NULL;
    out->end = NULL;
    if (sink->text.data == NULL)
        return;
    out->at = sink->text.data + sink->text.len;
    out->end = sink->text.data + sink->text.cap;
}

void ki_proto_out_end(ki_proto_out *out)
{
    out->sink->text.len = out->sink->text.data == NULL ? 0 : ki_proto_out_place(out);
}

/* The buffer has a little more room than the limit: what is written past that is found here,
 * or in the end. */
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

int ki_proto_out_int(ki_proto_out *out, int64_t number)
{
    enum { DIGITS_MAX = 20 };
    char digits[DIGITS_MAX];
    size_t n = 0;
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    int rc = ki_proto_out_reserve(out, DIGITS_MAX + 1);
    if (rc < 0)
        return rc;
    if ((uint64_t)number < 10) {
        *out->at++ = (char)('0' + number);
        return 0;
    }
    do {
        digits[n++] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (number < 0)
        *out->at++ = '-';
    while (n > 0)
        *out->at++ = digits[--n];
    return 0;
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

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Whether one of eight bytes cannot stand in a JSON string as it is, or is not ASCII. */
static inline int has_special(uint64_t word)
{
    uint64_t quote = word ^ EACH('"');
    uint64_t backslash = word ^ EACH('\\');
    uint64_t control = (word - EACH(0x20)) & ~word;
    return ((control | ((quote - EACH(1)) & ~quote) | ((backslash - EACH(1)) & ~backslash) | word) &
            EACH(0x80)) != 0;
}

static inline int is_special(uint8_t byte)
{
    return byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\';
}

/* Text of at most 16 bytes. Its end is read together with bytes before it, never beyond. */
static inline int copy_short(char *to, const uint8_t *from, size_t n)
{
    uint64_t word = EACH('a');
    if (n >= 8) {
        uint64_t end;
        memcpy(&word, from, 8);
        memcpy(&end, from + n - 8, 8);
        memcpy(to, &word, 8);
        memcpy(to + n - 8, &end, 8);
        return !has_special(word) && !has_special(end);
    }
    if (n >= 4) {
        uint32_t low, high;
        memcpy(&low, from, 4);
        memcpy(&high, from + n - 4, 4);
        memcpy(to, &low, 4);
        memcpy(to + n - 4, &high, 4);
        return !has_special((uint64_t)high << 32 | low);
    }
    for (size_t i = 0; i < n; i++) {
        to[i] = (char)from[i];
        word = word << 8 | from[i];
    }
    return !has_special(word);
}

/* 16 bytes; returns whether one is special. */
#if defined(__SSE2__)
static inline int copy_block(char *to, const uint8_t *from)
{
    __m128i block = _mm_loadu_si128((const __m128i *)(const void *)from);
    _mm_storeu_si128((__m128i *)(void *)to, block);
    /* As signed numbers, bytes that are not ASCII are less than those that are. */
    __m128i special = _mm_cmplt_epi8(block, _mm_set1_epi8(0x20));
    special = _mm_or_si128(special, _mm_cmpeq_epi8(block, _mm_set1_epi8('"')));
    special = _mm_or_si128(special, _mm_cmpeq_epi8(block, _mm_set1_epi8('\\')));
    return _mm_movemask_epi8(special) != 0;
}
#else
static inline int copy_block(char *to, const uint8_t *from)
{
    uint64_t words[2];
    memcpy(words, from, 16);
    memcpy(to, words, 16);
    return has_special(words[0]) || has_special(words[1]);
}
#endif

/* Copies text that has no special byte, and returns 1; or returns 0. */
static inline int copy_if_plain(char *to, const uint8_t *from, size_t n)
{
    if (n <= 16)
        return copy_short(to, from, n);
    for (size_t i = 0; i + 16 < n; i += 16)
        if (copy_block(to + i, from + i))
            return 0;
    return !copy_block(to + n - 16, from + n - 16);
}

/* Copies up to the first special byte, and returns how many bytes that are. */
static size_t copy_plain(char *to, const uint8_t *from, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t word;
        memcpy(&word, from + i, 8);
        if (has_special(word))
            break;
        memcpy(to + i, &word, 8);
    }
    for (; i < n && !is_special(from[i]); i++)
        to[i] = (char)from[i];
    return i;
}

/* The length of the character that begins here, or 0 if it is not UTF-8. */
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

/* Writes the special character at `from`, and returns how many bytes of the input it has. */
static size_t put_special(ki_proto_out *out, const uint8_t *from, size_t n)
{
    static const char short_form[0x20] = {
        ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
    static const char digits[] = "0123456789abcdef";
    uint8_t byte = from[0];
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

/* The rest of a string, after its first quote. */
static int put_special_string(ki_proto_out *out, ki_str bytes)
{
    const uint8_t *from = (const uint8_t *)bytes.ptr;
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
    if (copy_if_plain(out->at, from, bytes.len)) {
        out->at[bytes.len] = '"';
        out->at += bytes.len + 1;
        return 0;
    }
    return put_special_string(out, bytes);
}

int ki_proto_out_plain(ki_proto_out *out, ki_str name, ki_str bytes)
{
    char *at = out->at;
    if ((size_t)(out->end - at) < name.len + 16 + bytes.len + 2)
        return 0;
    ki_proto_out_copy_name(at, name.ptr, name.len);
    at += name.len;
    *at++ = '"';
    if (!copy_if_plain(at, (const uint8_t *)bytes.ptr, bytes.len))
        return 0;
    at[bytes.len] = '"';
    out->at = at + bytes.len + 1;
    return 1;
}
