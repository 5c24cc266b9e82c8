/* SPDX-License-Identifier: Apache-2.0 */
/* limiter - the common part of all limiters; each kind embeds it and has a table of functions.
 *
 *   From:     workqueue/, controller/, <kinformer/limiter.h>
 *   To:       workqueue/limiter_item.c (per key), workqueue/limiter_bucket.c (for all keys together),
 *             workqueue/limiter_combined.c (made of others), workqueue/limiter_custom.c
 *   Locks:    one mutex per limiter, a leaf, for kinds that have a state; not held while another limiter or
 *             a function of the program is called.
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
    void (*fini)(ki_limiter *limiter); /* the members of the kind may still be zeroed */
} ki_limiter_kind;

struct ki_limiter {
    const ki_limiter_kind *kind;
    ki_refcount refs;
    ki_fork_hook fork_hook; /* keeps the mutex usable in a forked child, which may free the limiter */
    ki_mutex mu;
};

/* Allocates a limiter of `bytes` bytes: a ki_limiter, followed by zeros. NULL when out of memory. */
KI_NODISCARD ki_limiter *ki_limiter_make(size_t bytes, const ki_limiter_kind *kind, ki_error *err);

/* Like ki_limiter_when(), but at a time of the caller's clock. */
KI_NODISCARD int ki_limiter_when_at(ki_limiter *limiter, ki_str key, uint64_t now_ns, uint64_t *out_delay_ns);

#endif
