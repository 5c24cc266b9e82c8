/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel for SSE4.2: 64 bytes are four registers of 16. Compiled for SSE4.2 and PCLMUL; used only if
 * kernel.c has found them. */
#if defined(__x86_64__)

#include <nmmintrin.h>
#include <stdint.h>
#include <wmmintrin.h>

#include "json/kernel/masks.h"
#include "json/kernel/squeeze.h"

typedef struct quarters {
    __m128i part[4];
} quarters;

KI_INLINE quarters load(const uint8_t *bytes)
{
    const __m128i *from = (const __m128i *)(const void *)bytes;
    return (quarters){{_mm_loadu_si128(from), _mm_loadu_si128(from + 1), _mm_loadu_si128(from + 2),
                       _mm_loadu_si128(from + 3)}};
}

KI_INLINE uint64_t mask_of(__m128i a, __m128i b, __m128i c, __m128i d)
{
    return (uint64_t)(uint32_t)_mm_movemask_epi8(a) | (uint64_t)(uint32_t)_mm_movemask_epi8(b) << 16 |
           (uint64_t)(uint32_t)_mm_movemask_epi8(c) << 32 | (uint64_t)(uint32_t)_mm_movemask_epi8(d) << 48;
}

KI_INLINE uint64_t equal_to(const quarters *q, char c)
{
    const __m128i wanted = _mm_set1_epi8(c);
    return mask_of(_mm_cmpeq_epi8(q->part[0], wanted), _mm_cmpeq_epi8(q->part[1], wanted),
                   _mm_cmpeq_epi8(q->part[2], wanted), _mm_cmpeq_epi8(q->part[3], wanted));
}

KI_INLINE __m128i is_control(__m128i bytes)
{
    return _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
}

/* A byte above 0x7f selects 0, so it is in no table. */
KI_INLINE uint64_t in_table(const quarters *q, const quarters *folded, __m128i table)
{
    return mask_of(_mm_cmpeq_epi8(_mm_shuffle_epi8(table, q->part[0]), folded->part[0]),
                   _mm_cmpeq_epi8(_mm_shuffle_epi8(table, q->part[1]), folded->part[1]),
                   _mm_cmpeq_epi8(_mm_shuffle_epi8(table, q->part[2]), folded->part[2]),
                   _mm_cmpeq_epi8(_mm_shuffle_epi8(table, q->part[3]), folded->part[3]));
}

KI_INLINE __m128i is_backslash(__m128i bytes)
{
    return _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
}

KI_INLINE ki_masks ki_classify(const uint8_t *bytes)
{
    const quarters q = load(bytes);
    const __m128i blank = _mm_set1_epi8(' ');
    const quarters folded = {{_mm_or_si128(q.part[0], blank), _mm_or_si128(q.part[1], blank),
                              _mm_or_si128(q.part[2], blank), _mm_or_si128(q.part[3], blank)}};
    /* The comparison is signed, so it also finds bytes above 0x7f. */
    const __m128i smallest =
        _mm_min_epi8(_mm_min_epi8(q.part[0], q.part[1]), _mm_min_epi8(q.part[2], q.part[3]));
    const __m128i backslash = _mm_or_si128(_mm_or_si128(is_backslash(q.part[0]), is_backslash(q.part[1])),
                                           _mm_or_si128(is_backslash(q.part[2]), is_backslash(q.part[3])));
    const __m128i rare = _mm_or_si128(_mm_cmpgt_epi8(blank, smallest), backslash);
    return (ki_masks){
        .quote = equal_to(&q, '"'),
        .expects = in_table(&q, &folded, _mm_setr_epi8(KI_TABLE_EXPECTS)),
        .bracket = in_table(&q, &folded, _mm_setr_epi8(KI_TABLE_BRACKET)),
        .marked = in_table(&q, &q, _mm_setr_epi8(KI_TABLE_MARKED)),
        .is_rare = _mm_movemask_epi8(rare) != 0,
    };
}

KI_INLINE ki_rare ki_classify_rare(const uint8_t *bytes)
{
    const quarters q = load(bytes);
    const __m128i any = _mm_or_si128(_mm_or_si128(q.part[0], q.part[1]), _mm_or_si128(q.part[2], q.part[3]));
    return (ki_rare){
        .backslash = equal_to(&q, '\\'),
        .control = mask_of(is_control(q.part[0]), is_control(q.part[1]), is_control(q.part[2]),
                           is_control(q.part[3])),
        .white = equal_to(&q, ' ') | equal_to(&q, '\t') | equal_to(&q, '\n') | equal_to(&q, '\r'),
        .has_high = _mm_movemask_epi8(any) != 0,
    };
}

KI_INLINE uint64_t ki_prefix_xor(uint64_t bits)
{
    const __m128i product =
        _mm_clmulepi64_si128(_mm_set_epi64x(0, (long long)bits), _mm_set1_epi8((char)0xff), 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

#include "json/kernel/block.h"

const ki_json_kernel ki_json_kernel_sse42 = {"sse42", ki_scan_blocks, ki_skip_container_blocks};

#else
typedef int ki_json_kernel_sse42_is_for_x86_64;
#endif
