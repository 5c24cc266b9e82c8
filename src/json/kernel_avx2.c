/* SPDX-License-Identifier: Apache-2.0 */
/* 64 bytes as two registers of 32. Compiled for AVX2, BMI2 and PCLMUL; runs only where kernel.c found them. */
#if defined(__x86_64__)

#include <immintrin.h>
#include <stdint.h>

#include "json/masks.h"

static inline uint64_t mask_of(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

static inline uint64_t equal_to(__m256i low, __m256i high, char c)
{
    const __m256i wanted = _mm256_set1_epi8(c);
    return mask_of(_mm256_cmpeq_epi8(low, wanted), _mm256_cmpeq_epi8(high, wanted));
}

static inline ki_masks ki_classify(const uint8_t *bytes)
{
    const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
    const __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + 32));
    /* [ and ] differ from { and } in bit 5 alone. */
    const __m256i bit5 = _mm256_set1_epi8(0x20);
    const __m256i low_folded = _mm256_or_si256(low, bit5);
    const __m256i high_folded = _mm256_or_si256(high, bit5);
    const __m256i control = _mm256_set1_epi8(0x1f);
    const __m256i smallest = _mm256_min_epu8(low, high);
    const __m256i has_low = _mm256_cmpeq_epi8(_mm256_min_epu8(smallest, control), smallest);
    return (ki_masks){
        .quote = equal_to(low, high, '"'),
        .backslash = equal_to(low, high, '\\'),
        .open = equal_to(low_folded, high_folded, '{'),
        .close = equal_to(low_folded, high_folded, '}'),
        .brace = mask_of(_mm256_slli_epi16(low, 2), _mm256_slli_epi16(high, 2)),
        .comma = equal_to(low, high, ','),
        .colon = equal_to(low, high, ':'),
        .space = equal_to(low, high, ' '),
        .has_low = !_mm256_testz_si256(has_low, has_low),
        .has_high = _mm256_movemask_epi8(_mm256_or_si256(low, high)) != 0,
    };
}

static inline void ki_classify_low(const uint8_t *bytes, uint64_t *control, uint64_t *blank)
{
    const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
    const __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + 32));
    const __m256i last = _mm256_set1_epi8(0x1f);
    *control = mask_of(_mm256_cmpeq_epi8(_mm256_min_epu8(low, last), low),
                       _mm256_cmpeq_epi8(_mm256_min_epu8(high, last), high));
    *blank = equal_to(low, high, '\t') | equal_to(low, high, '\n') | equal_to(low, high, '\r');
}

static inline uint64_t ki_prefix_xor(uint64_t bits)
{
    const __m128i product =
        _mm_clmulepi64_si128(_mm_set_epi64x(0, (long long)bits), _mm_set1_epi8((char)0xff), 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

typedef uint64_t ki_squeeze;

static inline ki_squeeze ki_squeeze_for(uint64_t keep)
{
    return keep;
}

static inline uint64_t ki_squeeze_bits(const ki_squeeze *squeeze, uint64_t bits)
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
