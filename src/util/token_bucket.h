/* SPDX-License-Identifier: Apache-2.0 */
/* token_bucket - so many at once, and then one each interval: no hot loop, whatever the other side does.
 *
 *   From:     reflector/reflector.c, rest/rest_call.c
 *   Locks:    none; one owner.
 *   Not here: waiting.
 */
#ifndef KI_UTIL_TOKEN_BUCKET_H
#define KI_UTIL_TOKEN_BUCKET_H

#include <stdint.h>

typedef struct ki_token_bucket {
    uint64_t interval_ns;
    uint64_t burst;
    uint64_t full_ns; /* when it is full again, if nothing is taken */
} ki_token_bucket;

/* Full at first. Both > 0. */
void ki_token_bucket_init(ki_token_bucket *bucket, uint64_t interval_ns, uint64_t burst);

/* Takes a token and returns 0; or takes none and returns the moment when there will be one. */
uint64_t ki_token_bucket_take(ki_token_bucket *bucket, uint64_t now_ns);

/* Takes a token, one of those to come if need be, and returns the moment when it is there: now, or later;
 * UINT64_MAX when that would be behind `latest_ns`, and takes none then. Who comes first is served first. */
uint64_t ki_token_bucket_reserve(ki_token_bucket *bucket, uint64_t now_ns, uint64_t latest_ns);

#endif
