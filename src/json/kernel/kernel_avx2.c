/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel for AVX2: 64 bytes are two registers of 32. Compiled for AVX2, BMI2 and PCLMUL; used only if
 * kernel.c has found them. */
#if defined(__x86_64__)

#include <immintrin.h>
#include <stdint.h>

#include "json/kernel/masks.h"

KI_INLINE uint64_t mask_of(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

/* The constants are loaded from memory, through a pointer that is opaque to the compiler. Otherwise gcc
 * would rebuild each constant, with three instructions, in every block. */
#define REPEAT_8(c) c, c, c, c, c, c, c, c
#define REPEAT_32(c)                                                                                         \
    {                                                                                                        \
        REPEAT_8(c), REPEAT_8(c), REPEAT_8(c), REPEAT_8(c)                                                   \
    }
enum { QUOTE, BACKSLASH, BLANK, EXPECTS, BRACKET, MARKED, CONSTANTS };
static const _Alignas(32) char constants[CONSTANTS][32] = {
    [QUOTE] = REPEAT_32('"'),
    [BACKSLASH] = REPEAT_32('\\'),
    [BLANK] = REPEAT_32(' '),
    [EXPECTS] = {KI_TABLE_EXPECTS, KI_TABLE_EXPECTS},
    [BRACKET] = {KI_TABLE_BRACKET, KI_TABLE_BRACKET},
    [MARKED] = {KI_TABLE_MARKED, KI_TABLE_MARKED},
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

/* A byte above 0x7f selects 0, so it is in no table. */
KI_INLINE __m256i in_table(__m256i bytes, __m256i folded, int table)
{
    return _mm256_cmpeq_epi8(_mm256_shuffle_epi8(constant(table), bytes), folded);
}

KI_INLINE ki_masks ki_classify(const uint8_t *bytes)
{
    const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
    const __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + 32));
    const __m256i blank = constant(BLANK);
    const __m256i low_folded = _mm256_or_si256(low, blank);
    const __m256i high_folded = _mm256_or_si256(high, blank);
    /* The comparison is signed, so it also finds bytes above 0x7f. */
    const __m256i rare = _mm256_or_si256(_mm256_cmpgt_epi8(blank, _mm256_min_epi8(low, high)),
                                         _mm256_or_si256(_mm256_cmpeq_epi8(low, constant(BACKSLASH)),
                                                         _mm256_cmpeq_epi8(high, constant(BACKSLASH))));
    return (ki_masks){
        .quote = equal_to(low, high, constant(QUOTE)),
        .expects = mask_of(in_table(low, low_folded, EXPECTS), in_table(high, high_folded, EXPECTS)),
        .bracket = mask_of(in_table(low, low_folded, BRACKET), in_table(high, high_folded, BRACKET)),
        .marked = mask_of(in_table(low, low, MARKED), in_table(high, high, MARKED)),
        .is_rare = !_mm256_testz_si256(rare, rare),
    };
}

KI_INLINE ki_rare ki_classify_rare(const uint8_t *bytes)
{
    const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
    const __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + 32));
    const __m256i last = _mm256_set1_epi8(0x1f);
    return (ki_rare){
        .backslash = equal_to(low, high, constant(BACKSLASH)),
        .control = mask_of(_mm256_cmpeq_epi8(_mm256_min_epu8(low, last), low),
                           _mm256_cmpeq_epi8(_mm256_min_epu8(high, last), high)),
        .white = equal_to(low, high, constant(BLANK)) | equal_to(low, high, _mm256_set1_epi8('\t')) |
                 equal_to(low, high, _mm256_set1_epi8('\n')) | equal_to(low, high, _mm256_set1_epi8('\r')),
        .has_high = _mm256_movemask_epi8(_mm256_or_si256(low, high)) != 0,
    };
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

KI_INLINE uint64_t ki_gather(uint64_t bits, uint64_t select)
{
    return _pext_u64(bits, select);
}

#include "json/kernel/block.h"

const ki_json_kernel ki_json_kernel_avx2 = {"avx2", ki_scan_blocks, ki_skip_container_blocks};

#else
typedef int ki_json_kernel_avx2_is_for_x86_64;
#endif
