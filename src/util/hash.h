/* SPDX-License-Identifier: Apache-2.0 */
/* hash - a keyed 64-bit hash of text (SipHash-1-3), for tables whose keys come from the wire.
 *
 *   From:     all code that has hash tables: of objects, index values, keys in a queue
 *   To:       util/random.h for the key
 *   Not here: tables; stable hashes (the key differs from run to run).
 */
#ifndef KI_UTIL_HASH_H
#define KI_UTIL_HASH_H

#include <kinformer/common.h>

/* A secret of one table or process. An attacker who does not know it cannot choose names that collide. */
typedef struct ki_hash_key {
    uint64_t k0;
    uint64_t k1;
} ki_hash_key;

/* Creates a random key. Returns 0, or KI_ERR_SYSTEM if the system has no random bytes; `out_key` is
 * untouched then. */
KI_NODISCARD int ki_hash_key_init(ki_hash_key *out_key);

/* Creates the same key for the same seed, for simulations and tests. */
void ki_hash_key_init_seeded(ki_hash_key *out_key, uint64_t seed);

/* The same text under the same key has the same hash on every machine. */
uint64_t ki_hash(const ki_hash_key *key, ki_str text);

#endif
