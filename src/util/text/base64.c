/* SPDX-License-Identifier: Apache-2.0 */
#include "util/text/base64.h"

#include <assert.h>
#include <kinformer/error.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The six bits of a character; -1 if it is not in the alphabet. */
static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+')
        return 62;
    return c == '/' ? 63 : -1;
}

/* The characters read so far of a group of four. */
typedef struct group {
    uint32_t bits;
    unsigned count; /* characters, padding included */
    unsigned padding;
} group;

static int group_take(group *now, char c)
{
    if (c == '=') {
        if (now->count < 2)
            return KI_ERR_INVALID;
        now->bits <<= 6;
        now->padding++;
    } else {
        int value = value_of(c);
        if (value < 0 || now->padding > 0)
            return KI_ERR_INVALID;
        now->bits = now->bits << 6 | (uint32_t)value;
    }
    now->count++;
    return 0;
}

/* The bits after the last whole byte must be zero, so that each value has one spelling. */
static int group_write(const group *now, char *out, size_t *len)
{
    unsigned bytes = 3 - now->padding;
    if (now->padding > 0 && (now->bits & ((1U << (8 * now->padding)) - 1)) != 0)
        return KI_ERR_INVALID;
    for (unsigned i = 0; i < bytes; i++)
        out[(*len)++] = (char)(now->bits >> (16 - 8 * i) & 0xff);
    return 0;
}

int ki_base64_decode(ki_str text, char *out, size_t *out_len)
{
    assert(out_len != NULL);
    assert(text.ptr != NULL || text.len == 0);
    group now = {0};
    size_t len = 0;
    int is_ended = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '\n' || c == '\r')
            continue;
        if (is_ended || group_take(&now, c) < 0)
            return KI_ERR_INVALID;
        if (now.count < 4)
            continue;
        if (group_write(&now, out, &len) < 0)
            return KI_ERR_INVALID;
        is_ended = now.padding > 0;
        now = (group){0};
    }
    if (now.count > 0)
        return KI_ERR_INVALID;
    *out_len = len;
    return 0;
}

size_t ki_base64_encode(ki_str bytes, char *out)
{
    assert(bytes.ptr != NULL || bytes.len == 0);
    size_t len = 0;
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t n = bytes.len - i < 3 ? bytes.len - i : 3;
        uint32_t bits = 0;
        for (size_t j = 0; j < 3; j++)
            bits = bits << 8 | (j < n ? (unsigned char)bytes.ptr[i + j] : 0U);
        for (size_t j = 0; j < 4; j++)
            out[len++] = (char)(j <= n ? alphabet[bits >> (18 - 6 * j) & 63] : '=');
    }
    return len;
}
