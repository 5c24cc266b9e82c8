/* SPDX-License-Identifier: Apache-2.0 */
/* object_layout - the memory layout of an object: one allocation.
 *
 *   header | offsets of the fields it has | "namespace/name" NUL | strings that cannot be read in the text |
 *   JSON text
 *
 *   From:     api/object/object_build.c writes it, api/object/object.c and api/object/object_text.c read it.
 *
 * There may be hundreds of thousands of objects, and a projected one has a few hundred bytes: so a missing
 * field takes no space.
 */
#ifndef KI_API_OBJECT_OBJECT_LAYOUT_H
#define KI_API_OBJECT_OBJECT_LAYOUT_H

#include <kinformer/object.h>
#include <stdatomic.h>

#include "util/refcount.h"

/* What a plan captures. First strings with an offset and a length in the header, kept whatever the
 * projection; then values with an offset, if they are in the object's text. */
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

/* Maximum of a name, and of each string of the header, so that all strings beside the text begin before 1
 * << 16. */
enum { KI_OBJECT_STRING_BYTES_MAX = 8191 };

struct ki_unescaped;

/* Offsets are counted from the object's first byte. */
struct ki_object {
    ki_refcount refs;
    uint32_t text_at;
    _Atomic(struct ki_unescaped *)
        unescaped; /* see api/object/object_text.c; NULL until a string with escapes is read */
    uint32_t text_len;
    uint16_t string_at[KI_FIELD_STRINGS]; /* strings further back in the text are also stored beside it */
    uint16_t string_len[KI_FIELD_STRINGS];
    uint16_t namespace_len;
    uint16_t name_len;
    uint16_t key_at;
    uint16_t has; /* bit i: there is an offset for field KI_FIELD_STRINGS + i */
    /* Not part of the object itself: the last list that contained it. Only the writer of the one
     * informer's store that holds the object uses it. */
    uint32_t mark;
    uint32_t places[]; /* in the order of the fields */
};

#define KI_OBJECT_HEADER_BYTES offsetof(ki_object, places)

static inline const char *ki_object_at(const ki_object *object, uint32_t place)
{
    return (const char *)object + place;
}

/* For loops over many objects that are scattered in memory, a few objects ahead: prefetches the header and
 * the key after it. NULL is allowed. Call it from code that does something else as well: compilers remove
 * calls of a function that only prefetches, because it has no visible effect. */
static inline void ki_object_prefetch(const ki_object *object)
{
    if (object == NULL)
        return;
    __builtin_prefetch(object);
    __builtin_prefetch((const char *)object + KI_OBJECT_HEADER_BYTES);
}

/* Another object with the same fields and text, with one owner. NULL when out of memory. */
ki_object *ki_object_copy(const ki_object *object);

/* Frees what ki_object_text() has created, if anything. */
void ki_object_free_unescaped(ki_object *object);

#endif
