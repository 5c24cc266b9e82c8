/* SPDX-License-Identifier: Apache-2.0 */
/* content - the objects of a store by key, and the indexes over them.
 *
 *   From:     store/store.c, store/store_public_write.c (the writer), store/store_read.c, store/store_list.c;
 *             also store/store_index.c
 *   To:       store/table.h, store/index.h
 *   Locks:    none of its own; see store/table.h. The writer changes it under the store's lock.
 *   Not here: locks; the order of writers; the public calls.
 *
 * The table keeps a number with each object, its note (store/table.h). Here it is the number of postings, in
 * all indexes together, that contain the object.
 *
 * A change takes effect in the table and in every index, or not at all: everything that can fail is done
 * before anything becomes visible. The content owns one reference to each object. A content that replaces
 * another is built where readers cannot see it, and published with one pointer.
 */
#ifndef KI_STORE_CONTENT_H
#define KI_STORE_CONTENT_H

#include "store/index.h"

typedef struct ki_content {
    ki_retired retired; /* used once another content has replaced this one */
    ki_table objects;
    _Atomic(ki_index *) indexes; /* newest last */
    const ki_keyer *keyer;
    const struct ki_projection *projection; /* the store's; only the writer uses it and the members below */
    ki_index_miss miss;                     /* waits to be logged */
    size_t bytes;                           /* of the objects, without strings that are unescaped later */
    uint64_t index_failures;
    ki_index_failure failure; /* the last failure */
} ki_content;

/* An empty content without an index; NULL when out of memory. */
ki_content *ki_content_new(const ki_keyer *keyer);

/* Drops all references and frees it; there must be no readers. NULL is allowed. */
void ki_content_free(ki_content *content);

/* A key, its hash, and the object with this key, or NULL. Valid up to the next change. */
typedef struct ki_place {
    ki_str key;
    uint64_t hash;
    ki_object *object;
} ki_place;

/* For the writer: finds a key. `hash` is its hash by the content's keyer. */
ki_place ki_content_seek(const ki_content *content, ki_str key, uint64_t hash);

/* For the writer: prefetch the memory that a change of this key will touch. Call both some changes ahead,
 * ki_content_expect_hash() first. `object` is the object that will be put, or NULL. */
void ki_content_expect_hash(const ki_content *content, uint64_t hash);
void ki_content_expect(const ki_content *content, uint64_t hash, const ki_object *object);

/* Like ki_content_put() and ki_content_remove(), for a caller that has called ki_content_seek(). The caller
 * gets the content's reference to `place->object`, unless this is the object that is put. */
KI_NODISCARD int ki_content_put_at(ki_content *content, const ki_object *object, const ki_place *place,
                                   ki_reclaim *reclaim);
void ki_content_remove_at(ki_content *content, const ki_place *place, ki_reclaim *reclaim);

/* Returns 0; KI_ERR_INVALID for an object without a key; KI_ERR_TOO_LARGE for a key above KI_KEY_BYTES;
 * KI_ERR_NO_MEMORY. Adds a reference to `object`. The caller gets the content's reference to the former
 * object, or NULL, and passes it to ki_reclaim_object(). */
KI_NODISCARD int ki_content_put(ki_content *content, const ki_object *object, ki_reclaim *reclaim,
                                ki_object **out_former);

/* Returns 0 or KI_ERR_NOT_FOUND. The caller gets the reference to the former object, as above. */
KI_NODISCARD int ki_content_remove(ki_content *content, ki_str key, ki_reclaim *reclaim,
                                   ki_object **out_former);

/* Returns 0; KI_ERR_INVALID for a name already in use; KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_content_add_index(ki_content *content, ki_str name, const ki_index_function *function);

/* Adds the indexes of `model`, and these objects. Returns the errors of ki_content_put() and
 * ki_content_add_index(); on failure the caller frees the content. */
KI_NODISCARD int ki_content_fill(ki_content *content, const ki_content *model, ki_object *const *objects,
                                 size_t count);

/* For the writer and for readers: the object with this key, or the index with this name, or NULL. */
ki_object *ki_content_find(const ki_content *content, ki_str key);
ki_index *ki_content_find_index(const ki_content *content, ki_str name);

static inline ki_index *ki_content_first_index(const ki_content *content)
{
    /* Acquire, here and below: an index was complete before it was published. */
    return atomic_load_explicit(&((ki_content *)content)->indexes, memory_order_acquire);
}

static inline ki_index *ki_content_next_index(const ki_index *index)
{
    return atomic_load_explicit(&((ki_index *)index)->next, memory_order_acquire);
}

/* For the files of the content only: counts the failures of the index function, after a commit. */
void ki_content_count_failures(ki_content *content, ki_index *index, const ki_index_change *change);

/* A number of postings that is too large for a note is stored as the maximum. This never matches, so that all
 * postings are searched when the object leaves. */
static inline void ki_content_note_add(uint32_t *note, size_t postings)
{
    *note = postings >= UINT32_MAX - *note ? UINT32_MAX : *note + (uint32_t)postings;
}

#endif
