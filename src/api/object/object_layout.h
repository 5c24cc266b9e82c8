/* SPDX-License-Identifier: Apache-2.0 */
/* object_layout - the memory layout of an object: one allocation.
 *
 *   header | offsets of the fields it has | "namespace/name" NUL | strings that cannot be read in the text |
 *   JSON text
 *
 *   From:     api/object/object_build.c writes it; api/object/, reflector/, store/, handler/ and
 *             informer/ read it
 *
 * A missing field takes no space: there may be hundreds of thousands of objects, and an object may have
 * only a few hundred bytes after its projection.
 */
#ifndef KI_API_OBJECT_OBJECT_LAYOUT_H
#define KI_API_OBJECT_OBJECT_LAYOUT_H

#include <kinformer/object.h>
#include <stdatomic.h>

#include "util/refcount.h"

/* The fields that a plan captures. First the strings with an offset and a length in the header, which are
 * kept even if the projection drops them. Then the values that have an offset if they are in the object's
 * text. The name and the namespace are stored as the key. */
enum {
    KI_FIELD_API_VERSION = 0,
    KI_FIELD_KIND,
    KI_FIELD_UID,
    KI_FIELD_RESOURCE_VERSION,
    KI_FIELD_STRINGS,
    KI_FIELD_CREATION_TIME = KI_FIELD_STRINGS,
    KI_FIELD_DELETION_TIME,
    KI_FIELD_GENERATION,
    KI_FIELD_LABELS,
    KI_FIELD_ANNOTATIONS,
    KI_FIELD_OWNERS,
    KI_FIELD_FINALIZERS,
    KI_FIELD_PLACED,
    KI_FIELD_NAME = KI_FIELD_PLACED,
    KI_FIELD_NAMESPACE,
    KI_FIELDS
};

/* The maximum length of a name, and of each string of the header. Because of it, the offsets of all
 * strings beside the text fit in 16 bits. */
enum { KI_OBJECT_STRING_BYTES_MAX = 8191 };

struct ki_unescaped;

/* Offsets are counted from the object's first byte. */
struct ki_object {
    ki_refcount refs;
    uint32_t text_at;
    _Atomic(struct ki_unescaped *)
        unescaped; /* NULL until a string with escapes is read, see api/object/object_text.c */
    uint32_t text_len;
    uint16_t string_at[KI_FIELD_STRINGS]; /* a string too far back in the text is also stored beside it */
    uint16_t string_len[KI_FIELD_STRINGS];
    uint16_t namespace_len;
    uint16_t name_len;
    uint16_t key_at;
    uint16_t has; /* bit i: there is an offset for field KI_FIELD_STRINGS + i */
    /* Not part of the object itself: a mark for the last list that contained it. Only the writer of the one
     * store that holds the object uses it. */
    uint32_t mark;
    uint32_t places[]; /* in the order of the fields */
};

#define KI_OBJECT_HEADER_BYTES offsetof(ki_object, places)

static inline const char *ki_object_at(const ki_object *object, uint32_t place)
{
    return (const char *)object + place;
}

/* The size of the object's allocation, without unescaped strings, according to its header. */
static inline size_t ki_object_own_bytes(const ki_object *object)
{
    return (size_t)object->text_at + object->text_len;
}

/* Prefetches the header and the key after it. Loops over many objects that are scattered in memory call
 * this a few objects ahead. NULL is allowed. Call it from code that does something else as well: compilers
 * remove calls of a function that only prefetches, because it has no visible effect. */
static inline void ki_object_prefetch(const ki_object *object)
{
    if (object == NULL)
        return;
    __builtin_prefetch(object);
    __builtin_prefetch((const char *)object + KI_OBJECT_HEADER_BYTES);
}

/* Returns a new object with the same fields and text, and one reference; NULL when out of memory. */
ki_object *ki_object_copy(const ki_object *object);

/* Frees what ki_object_text() has created, if anything. */
void ki_object_free_unescaped(ki_object *object);

#endif
