/* SPDX-License-Identifier: Apache-2.0 */
/* Limiters that count the failures of each key: exponential, and fast then slow. */
#include <assert.h>

#include "util/error.h"
#include "util/units.h"
#include "workqueue/failures.h"
#include "workqueue/limiter.h"

enum { BASE_MS_DEFAULT = 5, MAX_MS_DEFAULT = 1000 * 1000 };

typedef struct item_limiter {
    ki_limiter base;
    ki_failures failures; /* guarded by base.mu */
    uint64_t first_ns;    /* base delay, or delay of the fast attempts */
    uint64_t last_ns;     /* longest delay, or delay of the slow attempts */
    uint32_t fast_max;
} item_limiter;

static item_limiter *of(ki_limiter *limiter)
{
    return (item_limiter *)limiter;
}

static void item_forget(ki_limiter *limiter, ki_str key)
{
    ki_mutex_lock(&limiter->mu);
    ki_failures_forget(&of(limiter)->failures, key);
    ki_mutex_unlock(&limiter->mu);
}

static uint32_t item_num_requeues(ki_limiter *limiter, ki_str key)
{
    ki_mutex_lock(&limiter->mu);
    uint32_t count = ki_failures_count(&of(limiter)->failures, key);
    ki_mutex_unlock(&limiter->mu);
    return count;
}

static void item_fini(ki_limiter *limiter)
{
    ki_failures_fini(&of(limiter)->failures);
}

static int count_one(ki_limiter *limiter, ki_str key, uint32_t *out_before)
{
    ki_mutex_lock(&limiter->mu);
    int rc = ki_failures_add(&of(limiter)->failures, key, out_before);
    ki_mutex_unlock(&limiter->mu);
    return rc;
}

static ki_limiter *item_make(const ki_limiter_kind *kind, ki_error *err)
{
    ki_limiter *limiter = ki_limiter_make(sizeof(item_limiter), kind, err);
    if (limiter == NULL || ki_failures_init(&of(limiter)->failures) == 0)
        return limiter;
    (void)ki_fail_no_random(err);
    return ki_limiter_unref(limiter);
}

/* ---- exponential --------------------------------------------------------------------------------------- */

/* Compares first with last / 2^n, rounded down: it is larger exactly when first * 2^n, which could overflow,
 * is larger than last. */
static int exponential_when(ki_limiter *limiter, ki_str key, uint64_t now_ns, uint64_t *out_delay_ns)
{
    const item_limiter *item = of(limiter);
    uint32_t n = 0;
    (void)now_ns;
    int rc = count_one(limiter, key, &n);
    if (rc == 0)
        *out_delay_ns = n >= 64 || item->first_ns > item->last_ns >> n ? item->last_ns : item->first_ns << n;
    assert(rc < 0 || *out_delay_ns <= item->last_ns);
    return rc;
}

ki_limiter *ki_limiter_new_exponential(uint64_t base_ms, uint64_t max_ms, ki_error *err)
{
    static const ki_limiter_kind kind = {exponential_when, item_forget, item_num_requeues, item_fini};
    ki_limiter *limiter = item_make(&kind, err);
    if (limiter == NULL)
        return NULL;
    of(limiter)->first_ns = ki_ns_of_ms(base_ms == 0 ? BASE_MS_DEFAULT : base_ms);
    of(limiter)->last_ns = ki_ns_of_ms(max_ms == 0 ? MAX_MS_DEFAULT : max_ms);
    return limiter;
}

/* ---- fast, then slow ----------------------------------------------------------------------------------- */

static int fast_slow_when(ki_limiter *limiter, ki_str key, uint64_t now_ns, uint64_t *out_delay_ns)
{
    const item_limiter *item = of(limiter);
    uint32_t n = 0;
    (void)now_ns;
    int rc = count_one(limiter, key, &n);
    if (rc == 0)
        *out_delay_ns = n < item->fast_max ? item->first_ns : item->last_ns;
    return rc;
}

ki_limiter *ki_limiter_new_fast_slow(uint64_t fast_ms, uint64_t slow_ms, uint32_t fast_max, ki_error *err)
{
    static const ki_limiter_kind kind = {fast_slow_when, item_forget, item_num_requeues, item_fini};
    ki_limiter *limiter = item_make(&kind, err);
    if (limiter == NULL)
        return NULL;
    of(limiter)->first_ns = ki_ns_of_ms(fast_ms);
    of(limiter)->last_ns = ki_ns_of_ms(slow_ms);
    of(limiter)->fast_max = fast_max;
    return limiter;
}
