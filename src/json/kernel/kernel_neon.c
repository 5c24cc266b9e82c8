/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel for every 64-bit ARM processor: 64 bytes are four registers of 16. */
#if defined(__aarch64__)

#include <arm_neon.h>
#include <stdint.h>

#include "json/kernel/masks.h"
#include "json/kernel/squeeze.h"

/* Turns each lane, which is 0 or 255, into one bit. The lanes get the weights 1, 2, 4 … 128 and are added
 * pairwise until eight lanes are one byte. */
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

/* Looks up the table's character for the lower half of each byte, and compares it with the byte. */
KI_INLINE uint8x16_t is_in_table(uint8x16_t bytes, uint8x16_t folded, uint8x16_t table)
{
    return vceqq_u8(vqtbl1q_u8(table, vandq_u8(bytes, vdupq_n_u8(0x0f))), folded);
}

KI_INLINE uint64_t in_table(uint8x16x4_t bytes, uint8x16x4_t folded, uint8x16_t table)
{
    return mask_of((uint8x16x4_t){
        {is_in_table(bytes.val[0], folded.val[0], table), is_in_table(bytes.val[1], folded.val[1], table),
         is_in_table(bytes.val[2], folded.val[2], table), is_in_table(bytes.val[3], folded.val[3], table)}});
}

KI_INLINE uint8x16_t smallest(uint8x16x4_t all)
{
    return vminq_u8(vminq_u8(all.val[0], all.val[1]), vminq_u8(all.val[2], all.val[3]));
}

KI_INLINE uint8x16_t largest(uint8x16x4_t all)
{
    return vmaxq_u8(vmaxq_u8(all.val[0], all.val[1]), vmaxq_u8(all.val[2], all.val[3]));
}

KI_INLINE uint8x16_t is_backslash(uint8x16_t bytes)
{
    return vceqq_u8(bytes, vdupq_n_u8('\\'));
}

KI_INLINE ki_masks ki_classify(const uint8_t *bytes)
{
    const uint8x16_t expects = {KI_TABLE_EXPECTS};
    const uint8x16_t bracket = {KI_TABLE_BRACKET};
    const uint8x16_t marked = {KI_TABLE_MARKED};
    const uint8x16x4_t all = load(bytes);
    const uint8x16_t bit5 = vdupq_n_u8(0x20);
    const uint8x16x4_t folded = {{vorrq_u8(all.val[0], bit5), vorrq_u8(all.val[1], bit5),
                                  vorrq_u8(all.val[2], bit5), vorrq_u8(all.val[3], bit5)}};
    const uint8x16_t backslash = vorrq_u8(vorrq_u8(is_backslash(all.val[0]), is_backslash(all.val[1])),
                                          vorrq_u8(is_backslash(all.val[2]), is_backslash(all.val[3])));
    const uint8x16_t outside_ascii =
        vorrq_u8(vcltq_u8(smallest(all), bit5), vcgtq_u8(largest(all), vdupq_n_u8(0x7f)));
    return (ki_masks){
        .quote = equal_to(all, '"'),
        .expects = in_table(all, folded, expects),
        .bracket = in_table(all, folded, bracket),
        .marked = in_table(all, all, marked),
        .is_rare = vmaxvq_u8(vorrq_u8(backslash, outside_ascii)) != 0,
    };
}

KI_INLINE ki_rare ki_classify_rare(const uint8_t *bytes)
{
    const uint8x16x4_t all = load(bytes);
    const uint8x16_t limit = vdupq_n_u8(0x20);
    return (ki_rare){
        .backslash = equal_to(all, '\\'),
        .control = mask_of((uint8x16x4_t){{vcltq_u8(all.val[0], limit), vcltq_u8(all.val[1], limit),
                                           vcltq_u8(all.val[2], limit), vcltq_u8(all.val[3], limit)}}),
        .white = equal_to(all, ' ') | equal_to(all, '\t') | equal_to(all, '\n') | equal_to(all, '\r'),
        .has_high = vmaxvq_u8(largest(all)) > 0x7f,
    };
}

KI_INLINE uint64_t ki_prefix_xor(uint64_t bits)
{
    return ki_parity_below(bits);
}

#include "json/kernel/block.h"

const ki_json_kernel ki_json_kernel_neon = {"neon", ki_scan_blocks, ki_skip_container_blocks};

#else
typedef int ki_json_kernel_neon_is_for_aarch64;
#endif
