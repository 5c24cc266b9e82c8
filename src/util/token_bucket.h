/* SPDX-License-Identifier: Apache-2.0 */
/* token_bucket - limits a rate: a burst, then one token per interval; prevents hot loops.
 *
 *   From:     reflector/reflector.c, rest/rest_call.c, controller/, reflector/error_log.c,
 *             reflector/reflector_probe.c, rest/rest.c
 *   Locks:    none; one owner.
 *   Not here: waiting.
 */
#ifndef KI_UTIL_TOKEN_BUCKET_H
#define KI_UTIL_TOKEN_BUCKET_H

#include <stdint.h>

typedef struct ki_token_bucket {
    uint64_t interval_ns;
    uint64_t burst;
    uint64_t full_ns; /* when the bucket will be full if nothing is taken */
} ki_token_bucket;

/* The bucket starts full. `interval_ns` and `burst` must be > 0. */
void ki_token_bucket_init(ki_token_bucket *bucket, uint64_t interval_ns, uint64_t burst);

/* Takes a token and returns 0. If there is none, returns the time of the next token. */
uint64_t ki_token_bucket_take(ki_token_bucket *bucket, uint64_t now_ns);

/* Takes a token, possibly a future one, and returns the time when it is available: now or later. Takes
 * none and returns UINT64_MAX if that time would be after `latest_ns`. First come, first served. */
uint64_t ki_token_bucket_reserve(ki_token_bucket *bucket, uint64_t now_ns, uint64_t latest_ns);

/* Gives back a reserved token that is not needed any more. Other reservations stay as they are. */
void ki_token_bucket_give_back(ki_token_bucket *bucket);

#endif
