/* SPDX-License-Identifier: Apache-2.0 */
/* limiter - how long a key waits before it is tried again: the rate limiters of work queues.
 *
 * Limiters can be combined. A function that combines limiters takes over your reference to each, even if it
 * fails. With a NULL part it fails, and the error of the call that failed first stays. So calls can be
 * nested:
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

/* All return a limiter with one reference, or NULL with KI_ERR_NO_MEMORY, KI_ERR_SYSTEM (no random bytes),
 * KI_ERR_INVALID, or KI_ERR_WOULD_DEADLOCK in an index function. Check for NULL before you pass one to a
 * queue or a controller, where NULL means the default. */

/** Per key: `base_ms` after the first failure, doubled with each further one, at most `max_ms`. A `base_ms`
 * of 0 means 5 ms, a `max_ms` of 0 means 1,000 s. */
KI_API KI_NODISCARD ki_limiter *ki_limiter_new_exponential(uint64_t base_ms, uint64_t max_ms, ki_error *err);

/**
 * A token bucket for all keys together: `burst` attempts at once, then `per_second`. Each attempt takes a
 * token. When none is left, it takes one that is added later, and the delay is the time until then. A
 * `per_second` of 0 means 10, a `burst` of 0 means 100. It counts no failures: ki_limiter_num_requeues() is
 * 0.
 */
KI_API KI_NODISCARD ki_limiter *ki_limiter_new_bucket(double per_second, uint32_t burst, ki_error *err);

/** Per key: `fast_ms` after each of the first `fast_max` failures, then `slow_ms`.
 * Here 0 is a value, not a default. */
KI_API KI_NODISCARD ki_limiter *ki_limiter_new_fast_slow(uint64_t fast_ms, uint64_t slow_ms,
                                                         uint32_t fast_max, ki_error *err);

/** The longest delay of several limiters, and their highest failure count. All of them are called each time.
 * The array, of at least one limiter, is copied. */
KI_API KI_NODISCARD ki_limiter *ki_limiter_new_max_of(ki_limiter *const *limiters, size_t count,
                                                      ki_error *err);

/** The delays of another limiter, but at most `max_ms`. Here, too, 0 is a value, not a default. */
KI_API KI_NODISCARD ki_limiter *ki_limiter_new_max_wait(ki_limiter *limiter, uint64_t max_ms, ki_error *err);

/** The default for controllers: the longer delay of the exponential limiter and the bucket, both with their
 * defaults. */
KI_API KI_NODISCARD ki_limiter *ki_limiter_new_default(ki_error *err);

/* ---- a limiter of your own --------------------------------------------------------------------------- */

/** Called from any thread, also from several at once, and never with a lock of the library held. A controller
 * and ki_workqueue_add_rate_limited() wait until `when` has returned. As in a reconcile function, the
 * controller and its client may be stopped and freed. */
typedef struct ki_limiter_functions {
    /* How long the key must wait this time. Returns 0, or a negative code that is passed to the caller. */
    int (*when)(ki_str key, uint64_t *out_delay_ns, void *user);
    void (*forget)(ki_str key, void *user);           /* NULL: there is nothing to forget */
    uint32_t (*num_requeues)(ki_str key, void *user); /* NULL: 0 */
    void (*on_release)(void *user); /* called with the last unref, or when the limiter cannot be made. NULL:
                                     * none */
    void *user;
    uint64_t reserved[4];
} ki_limiter_functions;

/** A limiter that calls these functions; the struct is copied. */
KI_API KI_NODISCARD ki_limiter *ki_limiter_new_custom(const ki_limiter_functions *functions, ki_error *err);

/* ---- using one --------------------------------------------------------------------------------------- */

/**
 * The delay before the next attempt with this key. Counts the attempt.
 *
 * Returns: 0; KI_ERR_NO_MEMORY; KI_ERR_INVALID, also for an empty key; KI_ERR_TOO_LARGE for a key above
 *          65,535 bytes; or the code that a custom limiter returned.
 */
KI_API KI_NODISCARD int ki_limiter_when(ki_limiter *limiter, ki_str key, uint64_t *out_delay_ns);

/** Resets the failure count of the key. Limiters that count per key keep the key in memory until then. */
KI_API void ki_limiter_forget(ki_limiter *limiter, ki_str key);

/** How many times ki_limiter_when() was called for the key since the last ki_limiter_forget(); 0 for a
 * limiter that does not count per key. */
KI_API uint32_t ki_limiter_num_requeues(const ki_limiter *limiter, ki_str key);

/** Takes another reference. Returns its argument; NULL is allowed. */
KI_API ki_limiter *ki_limiter_ref(ki_limiter *limiter);

/** Drops a reference. NULL is allowed. Always returns NULL. */
KI_API ki_limiter *ki_limiter_unref(ki_limiter *limiter);

KI_EXTERN_C_END

#endif
