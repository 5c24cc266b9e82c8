/* SPDX-License-Identifier: Apache-2.0 */
/* limiter - what all limiters have in common; each kind embeds it and has a table of functions.
 *
 *   From:     workqueue/rate_limited.c, <kinformer/limiter.h>
 *   To:       workqueue/limiter_item.c (per key), workqueue/limiter_bucket.c (for all),
 *             workqueue/limiter_combined.c (of others), workqueue/limiter_custom.c
 *   Locks:    one mutex a limiter, a leaf; held by the kinds that have a state, never around a call of
 *             another limiter or of the program's.
 *   Not here: waiting.
 */
#ifndef KI_WORKQUEUE_LIMITER_H
#define KI_WORKQUEUE_LIMITER_H

#include <kinformer/limiter.h>

#include "util/fork.h"
#include "util/refcount.h"
#include "util/thread.h"

typedef struct ki_limiter_kind {
    int (*when)(ki_limiter *limiter, ki_str key, uint64_t now_ns, uint64_t *out_delay_ns);
    void (*forget)(ki_limiter *limiter, ki_str key);
    uint32_t (*num_requeues)(ki_limiter *limiter, ki_str key);
    void (*fini)(ki_limiter *limiter); /* takes one whose own part is zeroed */
} ki_limiter_kind;

struct ki_limiter {
    const ki_limiter_kind *kind;
    ki_refcount refs;
    ki_fork_hook fork_hook; /* a child finds it whole, and can free it */
    ki_mutex mu;
};

/* Makes one of `bytes` bytes, of which the first are a ki_limiter and the others zero. NULL: no memory. */
KI_NODISCARD ki_limiter *ki_limiter_make(size_t bytes, const ki_limiter_kind *kind, ki_error *err);

/* ki_limiter_when() at a time of the caller's clock. */
KI_NODISCARD int ki_limiter_when_at(ki_limiter *limiter, ki_str key, uint64_t now_ns, uint64_t *out_delay_ns);

#endif
