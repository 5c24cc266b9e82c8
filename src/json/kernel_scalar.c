/* SPDX-License-Identifier: Apache-2.0 */
/* The masks one byte at a time: for every processor, and the reference for the other variants. */
#include <stdint.h>

#include "json/masks.h"
#include "json/squeeze.h"

KI_INLINE ki_masks ki_classify(const uint8_t *bytes)
{
    ki_masks m = {0};
    for (unsigned i = 0; i < 64; i++) {
        const uint8_t c = bytes[i];
        const uint64_t bit = UINT64_C(1) << i;
        m.quote |= c == '"' ? bit : 0;
        m.backslash |= c == '\\' ? bit : 0;
        m.open |= (c | 0x20) == '{' ? bit : 0;
        m.close |= (c | 0x20) == '}' ? bit : 0;
        m.brace |= c & 0x20 ? bit : 0;
        m.comma |= c == ',' ? bit : 0;
        m.colon |= c == ':' ? bit : 0;
        m.digit |= c >= '0' && c <= '9' ? bit : 0;
        m.zero |= c == '0' ? bit : 0;
        m.has_low |= c < 0x20;
        m.has_high |= c > 0x7f;
    }
    return m;
}

KI_INLINE void ki_classify_low(const uint8_t *bytes, uint64_t *control, uint64_t *white)
{
    *control = 0;
    *white = 0;
    for (unsigned i = 0; i < 64; i++) {
        const uint8_t c = bytes[i];
        *control |= (uint64_t)(c < 0x20) << i;
        *white |= (uint64_t)(c == ' ' || c == '\t' || c == '\n' || c == '\r') << i;
    }
}

KI_INLINE uint64_t ki_prefix_xor(uint64_t bits)
{
    return ki_parity_below(bits);
}

#include "json/block.h"

static size_t scan(ki_json_scanner *s, const char *bytes, size_t n)
{
    return ki_scan_blocks(s, bytes, n);
}

static size_t skip_container(const char *text, size_t n)
{
    return ki_skip_container_blocks(text, n);
}

const ki_json_kernel ki_json_kernel_scalar = {"scalar", scan, skip_container};
