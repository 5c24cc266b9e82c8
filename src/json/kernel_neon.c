/* SPDX-License-Identifier: Apache-2.0 */
/* 64 bytes as four registers of 16, for every 64-bit ARM processor. */
#if defined(__aarch64__)

#include <arm_neon.h>
#include <stdint.h>

#include "json/masks.h"
#include "json/squeeze.h"

/* Each lane of 0 or 255 becomes one bit: weights 1, 2, 4 … 128, added up pairwise until eight lanes are one
 * byte. */
KI_INLINE uint64_t mask_of(uint8x16x4_t lanes)
{
    const uint8x16_t weights = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t low = vpaddq_u8(vandq_u8(lanes.val[0], weights), vandq_u8(lanes.val[1], weights));
    const uint8x16_t high = vpaddq_u8(vandq_u8(lanes.val[2], weights), vandq_u8(lanes.val[3], weights));
    const uint8x16_t quarter = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(quarter, quarter)), 0);
}

KI_INLINE uint64_t equal_to(uint8x16x4_t bytes, uint8_t c)
{
    const uint8x16_t wanted = vdupq_n_u8(c);
    return mask_of((uint8x16x4_t){{vceqq_u8(bytes.val[0], wanted), vceqq_u8(bytes.val[1], wanted),
                                   vceqq_u8(bytes.val[2], wanted), vceqq_u8(bytes.val[3], wanted)}});
}

KI_INLINE uint8x16x4_t load(const uint8_t *bytes)
{
    return (uint8x16x4_t){
        {vld1q_u8(bytes), vld1q_u8(bytes + 16), vld1q_u8(bytes + 32), vld1q_u8(bytes + 48)}};
}

KI_INLINE uint8x16_t is_digit(uint8x16_t bytes)
{
    return vcltq_u8(vsubq_u8(bytes, vdupq_n_u8('0')), vdupq_n_u8(10));
}

KI_INLINE ki_masks ki_classify(const uint8_t *bytes)
{
    const uint8x16x4_t all = load(bytes);
    /* [ and ] differ from { and } in bit 5 alone. */
    const uint8x16_t bit5 = vdupq_n_u8(0x20);
    const uint8x16x4_t folded = {{vorrq_u8(all.val[0], bit5), vorrq_u8(all.val[1], bit5),
                                  vorrq_u8(all.val[2], bit5), vorrq_u8(all.val[3], bit5)}};
    const uint8x16x4_t brace = {{vtstq_u8(all.val[0], bit5), vtstq_u8(all.val[1], bit5),
                                 vtstq_u8(all.val[2], bit5), vtstq_u8(all.val[3], bit5)}};
    const uint8x16_t smallest = vminq_u8(vminq_u8(all.val[0], all.val[1]), vminq_u8(all.val[2], all.val[3]));
    const uint8x16_t largest = vmaxq_u8(vmaxq_u8(all.val[0], all.val[1]), vmaxq_u8(all.val[2], all.val[3]));
    return (ki_masks){
        .quote = equal_to(all, '"'),
        .backslash = equal_to(all, '\\'),
        .open = equal_to(folded, '{'),
        .close = equal_to(folded, '}'),
        .brace = mask_of(brace),
        .comma = equal_to(all, ','),
        .colon = equal_to(all, ':'),
        .digit = mask_of((uint8x16x4_t){
            {is_digit(all.val[0]), is_digit(all.val[1]), is_digit(all.val[2]), is_digit(all.val[3])}}),
        .zero = equal_to(all, '0'),
        .has_low = vminvq_u8(smallest) < 0x20,
        .has_high = vmaxvq_u8(largest) > 0x7f,
    };
}

KI_INLINE void ki_classify_low(const uint8_t *bytes, uint64_t *control, uint64_t *white)
{
    const uint8x16x4_t all = load(bytes);
    const uint8x16_t limit = vdupq_n_u8(0x20);
    *control = mask_of((uint8x16x4_t){{vcltq_u8(all.val[0], limit), vcltq_u8(all.val[1], limit),
                                       vcltq_u8(all.val[2], limit), vcltq_u8(all.val[3], limit)}});
    *white = equal_to(all, ' ') | equal_to(all, '\t') | equal_to(all, '\n') | equal_to(all, '\r');
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

const ki_json_kernel ki_json_kernel_neon = {"neon", scan, skip_container};

#else
typedef int ki_json_kernel_neon_is_for_aarch64;
#endif
