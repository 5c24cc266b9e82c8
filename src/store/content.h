/* SPDX-License-Identifier: Apache-2.0 */
/* content - the objects of a store by key, and the indexes over them.
 *
 *   From:     store/store.c   (the writer), store/store_read.c, store/store_list.c
 *   To:       store/table.h, store/index.h
 *   Locks:    none; as a table's. The writer changes it under the store's lock.
 *   Not here: locks; the order of writers; the public calls.
 *
 * The note of an object in the table is the number of postings, of all indexes, that hold it.
 *
 * A change is atomic, in the table and in every index: everything that can fail is done before anything
 * becomes visible. The content owns one reference to each object. A content that replaces another is built in
 * private, and published by one pointer.
 */
#ifndef KI_STORE_CONTENT_H
#define KI_STORE_CONTENT_H

#include "store/index.h"

typedef struct ki_content {
    ki_retired retired; /* when another has replaced it */
    ki_table objects;
    _Atomic(ki_index *) indexes; /* newest last */
    const ki_keyer *keyer;
    const struct ki_projection *projection; /* the store's; the writer's, as all below */
    ki_index_miss miss;                     /* to be logged */
    size_t bytes;                           /* of the objects, without later unescaped strings */
    uint64_t index_failures;
    ki_index_failure failure; /* the last of them */
} ki_content;

/* Empty, without an index. NULL when out of memory. */
ki_content *ki_content_new(const ki_keyer *keyer);

/* Drops all references and frees it; there must be no readers. NULL is allowed. */
void ki_content_free(ki_content *content);

/* Of a key: its hash, and the object that has it, or NULL; up to the next change. */
typedef struct ki_place {
    ki_str key;
    uint64_t hash;
    ki_object *object;
} ki_place;

/* The writer's: where a key is. `hash` is that of the content's keyer. */
ki_place ki_content_seek(const ki_content *content, ki_str key, uint64_t hash);

/* The writer's, in this order, some changes before a change of this key: they bring near what it will touch.
 * `object` is what will be put, or NULL. */
void ki_content_expect_hash(const ki_content *content, uint64_t hash);
void ki_content_expect(const ki_content *content, uint64_t hash, const ki_object *object);

/* As the two below, for a caller that has searched already. The reference to the slot's object goes to the
 * caller, unless it is the object that is put. */
KI_NODISCARD int ki_content_put_at(ki_content *content, const ki_object *object, const ki_place *place,
                                   ki_reclaim *reclaim);
void ki_content_remove_at(ki_content *content, const ki_place *place, ki_reclaim *reclaim);

/* Returns 0; KI_ERR_INVALID for an object without a key; KI_ERR_TOO_LARGE for a key above KI_KEY_BYTES;
 * KI_ERR_NO_MEMORY. Takes a reference of its own. The one to the object that was there, or NULL, goes to
 * the caller, who gives it to ki_reclaim_object(). */
KI_NODISCARD int ki_content_put(ki_content *content, const ki_object *object, ki_reclaim *reclaim,
                                ki_object **out_former);

/* Returns 0 or KI_ERR_NOT_FOUND; likewise. */
KI_NODISCARD int ki_content_remove(ki_content *content, ki_str key, ki_reclaim *reclaim,
                                   ki_object **out_former);

/* Returns 0; KI_ERR_INVALID for a name already in use; KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_content_add_index(ki_content *content, ki_str name, const ki_index_function *function);

/* Adds the indexes of another content, and these objects. Returns as the calls above; the caller frees the
 * content on failure. */
KI_NODISCARD int ki_content_fill(ki_content *content, const ki_content *model, ki_object *const *objects,
                                 size_t count);

/* For readers too: the object with this key, or the index with this name, or NULL. */
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

/* The size of an object without the part that may grow. */
size_t ki_content_object_bytes(const ki_object *object);

/* Shared by the files of the content. After a commit: counts the failures of the index function. */
void ki_content_count_failures(ki_content *content, ki_index *index, const ki_index_change *change);

/* A number of postings that is too large for a note is stored as the maximum, which never matches: then all
 * postings are searched. */
static inline void ki_content_note_add(uint32_t *note, size_t places)
{
    *note = places >= UINT32_MAX - *note ? UINT32_MAX : *note + (uint32_t)places;
}

#endif
