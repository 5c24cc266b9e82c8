/* SPDX-License-Identifier: Apache-2.0 */
/* object_fingerprint - a hash of all that never changes in an object.
 *
 *   From:     store/mutation_detector.c
 *   To:       api/object/object_layout.h, util/hash.h
 *   Locks:    none.
 *   Not here: the reference count, what is unescaped later, and what a writer notes in the header.
 */
#ifndef KI_API_OBJECT_OBJECT_FINGERPRINT_H
#define KI_API_OBJECT_OBJECT_FINGERPRINT_H

#include <kinformer/object.h>

#include "util/hash.h"

/* The bytes of the object's own allocation, as its header says. */
size_t ki_object_own_bytes(const ki_object *object);

/* `own_bytes` is what the header said when the object was whole: a header that was overwritten since does not
 * lead beyond the object. */
uint64_t ki_object_fingerprint(const ki_object *object, size_t own_bytes, const ki_hash_key *key);

#endif
