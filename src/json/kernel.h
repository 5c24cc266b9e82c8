/* SPDX-License-Identifier: Apache-2.0 */
/* kernel - the two loops that look at every byte, in one variant per instruction set.
 *
 *   From:     json/scan.c, json/skip.c; json/kernel/ has the implementations
 *   To:       json/kernel/kernel_*.c: how 64 bytes become bit masks;
 *             json/kernel/block.h: what the masks mean, the same for all of them (json/kernel/tokens.h,
 *             json/kernel/grammar.h).
 *   Locks:    none.
 *   Not here: grammar.
 */
#ifndef KI_JSON_KERNEL_H
#define KI_JSON_KERNEL_H

#include <kinformer/common.h>

struct ki_json_scanner;

typedef struct ki_json_kernel {
    const char *name;

    /* Scans up to `n` bytes of the current value. Returns the number of bytes consumed: all of them; or up
     * to and including the last byte of the value (see scanner->state); or those before the invalid byte
     * (see scanner->error). The sink must have space for n + 64 more bytes. */
    size_t (*scan)(struct ki_json_scanner *scanner, const char *bytes, size_t n);

    /* Returns the length of the container that begins at text[0], or 0 if it does not end within n bytes.
     * Looks at brackets and strings only. */
    size_t (*skip_container)(const char *text, size_t n);
} ki_json_kernel;

/* The best variant for this processor, or the one named by the environment (KI_SIMD=scalar). Never NULL. */
const ki_json_kernel *ki_json_kernel_best(void);

/* For tests: all variants that this processor can run, best first, ended by NULL. */
const ki_json_kernel *const *ki_json_kernels(void);

extern const ki_json_kernel ki_json_kernel_scalar;
#if defined(__x86_64__)
extern const ki_json_kernel ki_json_kernel_sse42;
extern const ki_json_kernel ki_json_kernel_avx2;
#elif defined(__aarch64__)
extern const ki_json_kernel ki_json_kernel_neon;
#endif

#endif
