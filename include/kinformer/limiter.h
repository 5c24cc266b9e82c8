/* SPDX-License-Identifier: Apache-2.0 */
/* limiter - how long a key waits before it is tried again: the rate limiters of work queues.
 *
 * Limiters are made from each other. Every function that is given limiters takes a reference to each, also
 * when it fails; so calls can be nested, and the first error is the one that is reported:
 *
 *     ki_limiter *parts[] = {ki_limiter_new_exponential(10, 60 * 1000, &err),
 *                            ki_limiter_new_bucket(50, 200, &err)};
 *     ki_limiter *limiter = ki_limiter_new_max_of(parts, 2, &err);
 *
 * Delays are those of client-go's limiters, to the nanosecond.
 * Threads: any, for all calls.
 */
#ifndef KI_LIMITER_H
#define KI_LIMITER_H

#include <kinformer/common.h>
#include <kinformer/error.h>

KI_EXTERN_C_BEGIN

typedef struct ki_limiter ki_limiter;

/* ---- the ready-made ones ----------------------------------------------------------------------------- */

/* All return a limiter with one reference, or NULL with KI_ERR_NO_MEMORY, KI_ERR_SYSTEM (no random bytes) or
 * KI_ERR_INVALID. */

/** Per key: `base_ms`, doubled with each failure, `max_ms` at the most. 0: 5 ms, and 1,000 s. */
KI_API KI_NODISCARD ki_limiter *ki_limiter_new_exponential(uint64_t base_ms, uint64_t max_ms, ki_error *err);

/**
 * For all keys together: `burst` at once, then so many a second. Each call takes a token, if need be one of
 * those to come, and waits until that is there. 0: 10 a second, 100 at once. Counts no failures.
 */
KI_API KI_NODISCARD ki_limiter *ki_limiter_new_bucket(double per_second, uint32_t burst, ki_error *err);

/** Per key: the first `fast_max` times `fast_ms`, then `slow_ms`. Zeroes mean what they say. */
KI_API KI_NODISCARD ki_limiter *ki_limiter_new_fast_slow(uint64_t fast_ms, uint64_t slow_ms,
                                                         uint32_t fast_max, ki_error *err);

/** The longest delay of several limiters, and their highest count of failures. All of them are asked. */
KI_API KI_NODISCARD ki_limiter *ki_limiter_new_max_of(ki_limiter *const *limiters, size_t count,
                                                      ki_error *err);

/** The delays of another limiter, `max_ms` at the most. */
KI_API KI_NODISCARD ki_limiter *ki_limiter_new_max_wait(ki_limiter *limiter, uint64_t max_ms, ki_error *err);

/** What controllers use: the largest of the exponential one and the bucket, both with their defaults. */
KI_API KI_NODISCARD ki_limiter *ki_limiter_new_default(ki_error *err);

/* ---- one of the program's own ------------------------------------------------------------------------ */

/** Called from any thread, also from several at once, and never under a lock of the library's. */
typedef struct ki_limiter_functions {
    /* How long the key has to wait this time. Returns 0, or a negative code that the caller gets. */
    int (*when)(ki_str key, uint64_t *out_delay_ns, void *user);
    void (*forget)(ki_str key, void *user);           /* NULL: there is nothing to forget */
    uint32_t (*num_requeues)(ki_str key, void *user); /* NULL: 0 */
    void (*on_release)(void *user); /* with the last reference, or when it was not made. NULL: none */
    void *user;
    uint64_t reserved[4];
} ki_limiter_functions;

KI_API KI_NODISCARD ki_limiter *ki_limiter_new_custom(const ki_limiter_functions *functions, ki_error *err);

/* ---- using one --------------------------------------------------------------------------------------- */

/**
 * The delay of the next try of this key, which is counted.
 *
 * Returns: 0; KI_ERR_NO_MEMORY; KI_ERR_INVALID; KI_ERR_TOO_LARGE for a key above 65,535 bytes; or what a
 *          limiter of the program's own has returned.
 */
KI_API KI_NODISCARD int ki_limiter_when(ki_limiter *limiter, ki_str key, uint64_t *out_delay_ns);

/** The key has no failures any more. Limiters that count per key keep it in memory until then. */
KI_API void ki_limiter_forget(ki_limiter *limiter, ki_str key);

/** How often ki_limiter_when() was called for the key since it was forgotten last. */
KI_API uint32_t ki_limiter_num_requeues(ki_limiter *limiter, ki_str key);

/** Another reference. Returns its argument; NULL stays NULL. */
KI_API ki_limiter *ki_limiter_ref(ki_limiter *limiter);

/** Drops one. NULL is allowed. Returns NULL. */
KI_API ki_limiter *ki_limiter_unref(ki_limiter *limiter);

KI_EXTERN_C_END

#endif
