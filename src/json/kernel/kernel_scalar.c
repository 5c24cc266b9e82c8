/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel for every processor, and the reference for the other variants: computes the masks one byte at
 * a time. */
#include <stdint.h>

#include "json/kernel/masks.h"
#include "json/kernel/squeeze.h"

KI_INLINE ki_masks ki_classify(const uint8_t *bytes)
{
    ki_masks m = {0};
    for (unsigned i = 0; i < 64; i++) {
        const uint8_t c = bytes[i];
        const uint64_t bit = UINT64_C(1) << i;
        const int is_bracket = (c | 0x20) == '{' || (c | 0x20) == '}';
        m.quote |= c == '"' ? bit : 0;
        m.expects |= (c | 0x20) == '{' || c == ',' || c == ':' ? bit : 0;
        m.bracket |= is_bracket ? bit : 0;
        m.marked |= c == '{' || c == '}' || c == ',' || (c >= '0' && c <= '9') ? bit : 0;
        m.is_rare |= c == '\\' || c < 0x20 || c > 0x7f;
    }
    return m;
}

KI_INLINE ki_rare ki_classify_rare(const uint8_t *bytes)
{
    ki_rare rare = {0};
    for (unsigned i = 0; i < 64; i++) {
        const uint8_t c = bytes[i];
        rare.backslash |= (uint64_t)(c == '\\') << i;
        rare.control |= (uint64_t)(c < 0x20) << i;
        rare.white |= (uint64_t)(c == ' ' || c == '\t' || c == '\n' || c == '\r') << i;
        rare.has_high |= c > 0x7f;
    }
    return rare;
}

KI_INLINE uint64_t ki_prefix_xor(uint64_t bits)
{
    return ki_parity_below(bits);
}

#include "json/kernel/block.h"

const ki_json_kernel ki_json_kernel_scalar = {"scalar", ki_scan_blocks, ki_skip_container_blocks};
