/* SPDX-License-Identifier: Apache-2.0 */
/* 64 bytes as two registers of 32. Compiled for AVX2, BMI2, PCLMUL; runs only where kernel.c found them. */
#if defined(__x86_64__)

#include <immintrin.h>
#include <stdint.h>

#include "json/masks.h"

KI_INLINE uint64_t mask_of(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

/* Compared from memory, through a pointer that the compiler knows nothing of: gcc would otherwise build
 * each constant anew, in three instructions, in every block. */
#define REPEAT_8(c) c, c, c, c, c, c, c, c
#define REPEAT_32(c)                                                                                         \
    {                                                                                                        \
        REPEAT_8(c), REPEAT_8(c), REPEAT_8(c), REPEAT_8(c)                                                   \
    }
enum { QUOTE, BACKSLASH, OPEN, CLOSE, COMMA, COLON, SPACE, LAST_CONTROL, ZERO, NINE, CONSTANTS };
static const _Alignas(32) char constants[CONSTANTS][32] = {
    [QUOTE] = REPEAT_32('"'), [BACKSLASH] = REPEAT_32('\\'),    [OPEN] = REPEAT_32('{'),
    [CLOSE] = REPEAT_32('}'), [COMMA] = REPEAT_32(','),         [COLON] = REPEAT_32(':'),
    [SPACE] = REPEAT_32(' '), [LAST_CONTROL] = REPEAT_32(0x1f), [ZERO] = REPEAT_32('0'),
    [NINE] = REPEAT_32(9),
};

KI_INLINE __m256i constant(int which)
{
    const char(*hidden)[32] = constants;
    __asm__("" : "+r"(hidden));
    return _mm256_load_si256((const __m256i *)(const void *)hidden[which]);
}

KI_INLINE uint64_t equal_to(__m256i low, __m256i high, __m256i wanted)
{
    return mask_of(_mm256_cmpeq_epi8(low, wanted), _mm256_cmpeq_epi8(high, wanted));
}

KI_INLINE ki_masks ki_classify(const uint8_t *bytes)
{
    const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
    const __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + 32));
    /* [ and ] differ from { and } in bit 5 alone. */
    const __m256i bit5 = constant(SPACE);
    const __m256i low_folded = _mm256_or_si256(low, bit5);
    const __m256i high_folded = _mm256_or_si256(high, bit5);
    const __m256i control = constant(LAST_CONTROL);
    const __m256i zero = constant(ZERO);
    const __m256i nine = constant(NINE);
    const __m256i low_digits = _mm256_sub_epi8(low, zero);
    const __m256i high_digits = _mm256_sub_epi8(high, zero);
    const __m256i smallest = _mm256_min_epu8(low, high);
    const __m256i has_low = _mm256_cmpeq_epi8(_mm256_min_epu8(smallest, control), smallest);
    return (ki_masks){
        .quote = equal_to(low, high, constant(QUOTE)),
        .backslash = equal_to(low, high, constant(BACKSLASH)),
        .open = equal_to(low_folded, high_folded, constant(OPEN)),
        .close = equal_to(low_folded, high_folded, constant(CLOSE)),
        .brace = mask_of(_mm256_slli_epi16(low, 2), _mm256_slli_epi16(high, 2)),
        .comma = equal_to(low, high, constant(COMMA)),
        .colon = equal_to(low, high, constant(COLON)),
        .digit = mask_of(_mm256_cmpeq_epi8(_mm256_min_epu8(low_digits, nine), low_digits),
                         _mm256_cmpeq_epi8(_mm256_min_epu8(high_digits, nine), high_digits)),
        .zero = equal_to(low, high, zero),
        .has_low = !_mm256_testz_si256(has_low, has_low),
        .has_high = _mm256_movemask_epi8(_mm256_or_si256(low, high)) != 0,
    };
}

KI_INLINE void ki_classify_low(const uint8_t *bytes, uint64_t *control, uint64_t *white)
{
    const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
    const __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + 32));
    const __m256i last = _mm256_set1_epi8(0x1f);
    *control = mask_of(_mm256_cmpeq_epi8(_mm256_min_epu8(low, last), low),
                       _mm256_cmpeq_epi8(_mm256_min_epu8(high, last), high));
    *white = equal_to(low, high, constant(SPACE)) | equal_to(low, high, _mm256_set1_epi8('\t')) |
             equal_to(low, high, _mm256_set1_epi8('\n')) | equal_to(low, high, _mm256_set1_epi8('\r'));
}

KI_INLINE uint64_t ki_prefix_xor(uint64_t bits)
{
    const __m128i product =
        _mm_clmulepi64_si128(_mm_set_epi64x(0, (long long)bits), _mm_set1_epi8((char)0xff), 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

typedef uint64_t ki_squeeze;

KI_INLINE ki_squeeze ki_squeeze_for(uint64_t keep)
{
    return keep;
}

KI_INLINE uint64_t ki_squeeze_bits(const ki_squeeze *squeeze, uint64_t bits)
{
    return _pext_u64(bits, *squeeze);
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

const ki_json_kernel ki_json_kernel_avx2 = {"avx2", scan, skip_container};

#else
typedef int ki_json_kernel_avx2_is_for_x86_64;
#endif
