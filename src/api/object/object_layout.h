/* SPDX-License-Identifier: Apache-2.0 */
/* object_layout - how an object lies in memory: one allocation.
 *
 *   header | places of the fields it has | "namespace/name" NUL | strings that are not in the text as they
 *   must be read | JSON text
 *
 *   From:     api/object/object_build.c writes it, api/object/object.c and api/object/object_text.c read it.
 *
 * There are a hundred thousand of them, and a projected one is a few hundred bytes: a field that an object
 * does not have costs nothing.
 */
#ifndef KI_API_OBJECT_OBJECT_LAYOUT_H
#define KI_API_OBJECT_OBJECT_LAYOUT_H

#include <kinformer/object.h>
#include <stdatomic.h>

#include "util/refcount.h"

/* What a plan captures. First strings with a place and a length in the header, kept whatever a projection
 * says; then values of which the object has a place, if they are in its text. */
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

/* Of a name, and of each string of the header: so that all that is beside the text begins before 1 << 16. */
enum { KI_OBJECT_STRING_BYTES_MAX = 8191 };

struct ki_unescaped;

/* Places are counted from the object's first byte. */
struct ki_object {
    ki_refcount refs;
    uint32_t text_at;
    _Atomic(struct ki_unescaped *)
        unescaped; /* of api/object/object_text.c; NULL until a string with escapes is read */
    uint32_t text_len;
    uint16_t string_at[KI_FIELD_STRINGS]; /* those that stand further behind in the text are beside it, too */
    uint16_t string_len[KI_FIELD_STRINGS];
    uint16_t namespace_len;
    uint16_t name_len;
    uint16_t key_at;
    uint16_t has; /* bit i: there is a place for field KI_FIELD_STRINGS + i */
    /* The one thing that is not the object's own: which list has met it last, for the writer of the one
     * informer's store that holds it. Not set elsewhere; nobody else looks at it. */
    uint32_t mark;
    uint32_t places[]; /* in the order of the fields */
};

#define KI_OBJECT_HEADER_BYTES offsetof(ki_object, places)

static inline const char *ki_object_at(const ki_object *object, uint32_t place)
{
    return (const char *)object + place;
}

/* For who goes through many objects, which lie anywhere, some places before it looks at this one: brings
 * its header near, and the key behind that. NULL is allowed. To be called where something else is done, too:
 * calls of a function that does nothing else are left out by compilers, which see no effect in it. */
static inline void ki_object_prefetch(const ki_object *object)
{
    if (object == NULL)
        return;
    __builtin_prefetch(object);
    __builtin_prefetch((const char *)object + KI_OBJECT_HEADER_BYTES);
}

/* Another object with the same fields and text, which has one owner. Returns NULL when memory is out. */
ki_object *ki_object_copy(const ki_object *object);

/* Frees what ki_object_text() has made, if it has. */
void ki_object_free_unescaped(ki_object *object);

#endif
