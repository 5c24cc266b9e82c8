/* SPDX-License-Identifier: Apache-2.0 */
/* object_fingerprint - a hash of everything immutable in an object.
 *
 *   From:     store/mutation_detector.c
 *   To:       api/object/object_layout.h, util/hash.h
 *   Locks:    none.
 *   Not here: the reference count, strings unescaped later, and the writer's mark in the header.
 */
#ifndef KI_API_OBJECT_OBJECT_FINGERPRINT_H
#define KI_API_OBJECT_OBJECT_FINGERPRINT_H

#include <kinformer/object.h>

#include "util/hash.h"

/* `own_bytes` is the result of ki_object_own_bytes() when the object was intact. So an overwritten header
 * does not cause reads beyond the object. */
uint64_t ki_object_fingerprint(const ki_object *object, size_t own_bytes, const ki_hash_key *key);

#endif
