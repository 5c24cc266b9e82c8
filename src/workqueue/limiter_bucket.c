/* SPDX-License-Identifier: Apache-2.0 */
/* The token bucket. Unlike util/token_bucket.h it counts fractions of tokens, as Go's rate limiter does, so
 * its delays are the same to the nanosecond, at any rate. */
#include <assert.h>

#include "util/error.h"
#include "util/units.h"
#include "workqueue/limiter.h"

enum { PER_SECOND_DEFAULT = 10, BURST_DEFAULT = 100 };

typedef struct bucket_limiter {
    ki_limiter base;
    double per_second;
    double burst;
    double tokens;    /* at last_ns; below 0: taken in advance. Both are guarded by base.mu */
    uint64_t last_ns; /* 0: not used yet */
} bucket_limiter;

static bucket_limiter *of(ki_limiter *limiter)
{
    return (bucket_limiter *)limiter;
}

/* Converts whole seconds and the rest separately, so that long times do not lose nanoseconds. */
static double seconds_of(uint64_t ns)
{
    uint64_t whole = ns / KI_NS_PER_S;
    return (double)whole + (double)(ns % KI_NS_PER_S) / (double)KI_NS_PER_S;
}

static uint64_t reserve_locked(bucket_limiter *bucket, uint64_t now_ns) KI_REQUIRES(bucket->base.mu)
{
    KI_ASSERT_HELD(bucket->base.mu);
    assert(bucket->per_second > 0 && bucket->burst >= 1);
    assert(bucket->tokens <= bucket->burst);
    if (now_ns > bucket->last_ns) {
        double grown = seconds_of(now_ns - bucket->last_ns) * bucket->per_second;
        bucket->tokens += grown;
        bucket->last_ns = now_ns;
    }
    if (bucket->tokens > bucket->burst)
        bucket->tokens = bucket->burst;
    bucket->tokens -= 1;
    if (bucket->tokens >= 0)
        return 0;
    double delay_ns = -bucket->tokens / bucket->per_second * (double)KI_NS_PER_S;
    double longest_ns = (double)ki_ns_of_ms(UINT64_MAX);
    return delay_ns < longest_ns ? (uint64_t)delay_ns : ki_ns_of_ms(UINT64_MAX);
}

static int bucket_when(ki_limiter *limiter, ki_str key, uint64_t now_ns, uint64_t *out_delay_ns)
{
    bucket_limiter *bucket = of(limiter);
    (void)key;
    ki_mutex_lock(&bucket->base.mu);
    *out_delay_ns = reserve_locked(bucket, now_ns);
    ki_mutex_unlock(&bucket->base.mu);
    return 0;
}

static void bucket_forget(ki_limiter *limiter, ki_str key)
{
    (void)limiter;
    (void)key;
}

static uint32_t bucket_num_requeues(ki_limiter *limiter, ki_str key)
{
    (void)limiter;
    (void)key;
    return 0;
}

static void bucket_fini(ki_limiter *limiter)
{
    (void)limiter;
}

ki_limiter *ki_limiter_new_bucket(double per_second, uint32_t burst, ki_error *err)
{
    static const ki_limiter_kind kind = {bucket_when, bucket_forget, bucket_num_requeues, bucket_fini};
    if (!(per_second >= 0)) { /* rejects NaN as well */
        (void)ki_fail(err, KI_ERR_INVALID, "a rate of %g per second is not valid", per_second);
        return NULL;
    }
    ki_limiter *limiter = ki_limiter_make(sizeof(bucket_limiter), &kind, err);
    if (limiter == NULL)
        return NULL;
    bucket_limiter *bucket = of(limiter);
    bucket->per_second = per_second > 0 ? per_second : PER_SECOND_DEFAULT;
    bucket->burst = burst > 0 ? burst : BURST_DEFAULT;
    bucket->tokens = bucket->burst;
    return limiter;
}
