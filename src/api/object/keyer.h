/* SPDX-License-Identifier: Apache-2.0 */
/* keyer - the key of an object in one store, and the hashes that the store uses.
 *
 *   From:     store/, queue/, the readers of a store, feed/feed_apply.c
 *   To:       util/hash.h, the user's ki_key_cb
 *   Locks:    none; immutable once the store exists.
 *   Not here: tables.
 */
#ifndef KI_API_OBJECT_KEYER_H
#define KI_API_OBJECT_KEYER_H

#include <kinformer/store.h>
#include <stdbool.h>
#include <string.h>

#include "util/hash.h"

typedef struct ki_keyer {
    ki_hash_key secret;
    ki_key_cb key; /* NULL for "namespace/name" */
    void *user;
} ki_keyer;

/* Buffer for a key that the object does not contain as text. */
typedef struct ki_key_buffer {
    char bytes[KI_KEY_BYTES];
} ki_key_buffer;

/* Writes "ns/name", or the name alone if there is no namespace. The key is only looked up, so the parts are
 * not checked as in ki_key_join(). Returns an empty key if it would be too long; no object in a store has
 * that one. */
static inline ki_str ki_key_buffer_join(ki_key_buffer *buffer, ki_str ns, ki_str name)
{
    size_t head = ns.len > 0 ? ns.len + 1 : 0;
    if (ns.len >= KI_KEY_BYTES || name.len > KI_KEY_BYTES - head)
        return (ki_str){0};
    if (ns.len > 0) {
        memcpy(buffer->bytes, ns.ptr, ns.len);
        buffer->bytes[ns.len] = '/';
    }
    if (name.len > 0)
        memcpy(buffer->bytes + head, name.ptr, name.len);
    return (ki_str){buffer->bytes, head + name.len};
}

/* The key is valid as long as the object and the buffer. */
static inline ki_str ki_keyer_key(const ki_keyer *keyer, const ki_object *object, ki_key_buffer *buffer)
{
    return keyer->key == NULL ? ki_object_key_str(object)
                              : keyer->key(object, buffer->bytes, sizeof(buffer->bytes), keyer->user);
}

static inline uint64_t ki_keyer_hash(const ki_keyer *keyer, ki_str text)
{
    return ki_hash(&keyer->secret, text);
}

static inline bool ki_keyer_has_key(const ki_keyer *keyer, const ki_object *object, ki_str key)
{
    ki_key_buffer buffer;
    return ki_str_equal(ki_keyer_key(keyer, object, &buffer), key);
}

/* For ki_table_owner.hash and ki_table_walk.same, in tables of objects; `user` is the keyer. */
uint64_t ki_keyer_hash_object(const void *object, const void *user);
bool ki_keyer_same_key(const void *object, const void *other, const void *user);

#endif
