/* SPDX-License-Identifier: Apache-2.0 */
#include "util/token_bucket.h"

#include <assert.h>
#include <stddef.h>

void ki_token_bucket_init(ki_token_bucket *bucket, uint64_t interval_ns, uint64_t burst)
{
    assert(interval_ns > 0 && burst > 0);
    *bucket = (ki_token_bucket){.interval_ns = interval_ns, .burst = burst};
}

/* Each missing token takes one interval to come back, so the time when the bucket will be full is the whole
 * state. */
uint64_t ki_token_bucket_take(ki_token_bucket *bucket, uint64_t now_ns)
{
    assert(bucket != NULL);
    uint64_t full = bucket->full_ns > now_ns ? bucket->full_ns : now_ns;
    uint64_t last_but_one = (bucket->burst - 1) * bucket->interval_ns;
    if (full - now_ns > last_but_one)
        return full - last_but_one;
    bucket->full_ns = full + bucket->interval_ns;
    return 0;
}

uint64_t ki_token_bucket_reserve(ki_token_bucket *bucket, uint64_t now_ns, uint64_t latest_ns)
{
    assert(bucket != NULL);
    uint64_t full = bucket->full_ns > now_ns ? bucket->full_ns : now_ns;
    uint64_t last_but_one = (bucket->burst - 1) * bucket->interval_ns;
    uint64_t at = full - now_ns > last_but_one ? full - last_but_one : now_ns;
    if (at > latest_ns)
        return UINT64_MAX;
    bucket->full_ns = full + bucket->interval_ns;
    return at;
}

void ki_token_bucket_give_back(ki_token_bucket *bucket)
{
    assert(bucket != NULL && bucket->full_ns >= bucket->interval_ns);
    bucket->full_ns -= bucket->interval_ns;
}
