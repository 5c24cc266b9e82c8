/* SPDX-License-Identifier: Apache-2.0 */
#include "api/object/object_fingerprint.h"

#include <assert.h>
#include <string.h>

#include "api/object/object_layout.h"

/* The immutable fields of a header, and the hash of everything after the header. The struct has no padding,
 * so it can be hashed as bytes. */
typedef struct digest {
    uint64_t rest;
    uint32_t text_at;
    uint32_t text_len;
    uint16_t string_at[KI_FIELD_STRINGS];
    uint16_t string_len[KI_FIELD_STRINGS];
    uint16_t namespace_len;
    uint16_t name_len;
    uint16_t key_at;
    uint16_t has;
} digest;

_Static_assert(sizeof(digest) == 24 + KI_FIELD_STRINGS * 4, "padding would be hashed");

uint64_t ki_object_fingerprint(const ki_object *object, size_t own_bytes, const ki_hash_key *key)
{
    assert(own_bytes >= KI_OBJECT_HEADER_BYTES);
    ki_str rest = {(const char *)object + KI_OBJECT_HEADER_BYTES, own_bytes - KI_OBJECT_HEADER_BYTES};
    digest d = {.rest = ki_hash(key, rest),
                .text_at = object->text_at,
                .text_len = object->text_len,
                .namespace_len = object->namespace_len,
                .name_len = object->name_len,
                .key_at = object->key_at,
                .has = object->has};
    memcpy(d.string_at, object->string_at, sizeof(d.string_at));
    memcpy(d.string_len, object->string_len, sizeof(d.string_len));
    return ki_hash(key, (ki_str){(const char *)&d, sizeof(d)});
}
