/* SPDX-License-Identifier: Apache-2.0 */
/* index - one named index: finds the objects that have a value.
 *
 *   From:     store/content.c (changes), store/store_read.c, store/store_list.c (reads); also
 *             store/content_index.c
 *   To:       store/table.h, store/index_values.h; store/reclaim.h   (postings that are out of use)
 *   Locks:    none of its own; see store/table.h. Readers may be in any posting while the writer changes it.
 *   Not here: references to objects, which the store holds; the set of indexes.
 *
 * Each value has a posting, which is a table of objects by the hash of their key. So it costs the same to
 * add, remove or replace an object under a value with a hundred thousand objects as with ten. Within a
 * posting, objects are identified by address, since the writer always knows which pointer is stored.
 *
 * A change has two parts. Preparing does everything that can fail: it calls the index function, reserves
 * space, and makes new postings that readers do not see yet. Committing cannot fail.
 *
 * No posting may keep an object that has left the store. To find the postings of a leaving object, the
 * function is called again, and it may emit other values than before. So committing counts the postings from
 * which it has removed the object. The content knows how many postings contain the object. If the numbers
 * differ, all postings are searched.
 */
#ifndef KI_STORE_INDEX_H
#define KI_STORE_INDEX_H

#include "api/object/object_probe.h"
#include "store/index_values.h"
#include "store/table.h"

typedef struct ki_posting {
    ki_retired retired;
    ki_table objects;
    uint32_t value_len;
    char value[];
} ki_posting;

/* The plan of a change. Only the writer uses it. */
typedef struct ki_index_plan {
    ki_index_values fresh;  /* of the new object */
    ki_index_values former; /* of the former object */
    bool is_refused;        /* the function has failed for the new object */
    int refusal;            /* the error code of that failure */
    bool was_refused;       /* it had failed for the former object, so that this is in no posting */
    bool is_short;          /* out of memory during the call for the former object */
    bool is_contradicted;   /* it emits other values for the former object than before */
    ki_object_probe probe;  /* its path is a field that the function has looked for, but a projection drops */
} ki_index_plan;

typedef struct ki_index {
    _Atomic(struct ki_index *) next; /* the next index of the store; an index is published when it is
                                      * complete */
    ki_index_function function;
    ki_table postings;
    ki_table refused; /* objects for which the function has failed; only the writer uses it */
    ki_index_plan *plan;
    bool has_looked; /* the function has looked for a dropped field, which was noted; only the writer uses
                      * it */
    size_t name_len;
    char name[];
} ki_index;

/* A failure of an index function, to be logged. */
typedef struct ki_index_failure {
    const char *what; /* constant */
    char index[64];   /* longer names and keys are truncated */
    char key[320];
} ki_index_failure;

/* An index function looks for a field that a projection drops, to be logged. */
typedef struct ki_index_miss {
    char index[64];
    char path[256]; /* "": none */
} ki_index_miss;

/* An object is added, removed or replaced. */
typedef struct ki_index_change {
    const ki_object *former; /* NULL: none */
    ki_object *fresh;        /* NULL: none */
    uint64_t hash;           /* of the key, which both objects have */
    const ki_keyer *keyer;
    ki_reclaim *reclaim;
    const struct ki_projection *projection; /* with which the objects were made; NULL: unknown, or no probe
                                             * is wanted (a removal) */
} ki_index_change;

/* An empty index; NULL when out of memory. */
ki_index *ki_index_new(ki_str name, const ki_index_function *function);

/* Frees it with all its postings; there must be no readers. NULL is allowed. */
void ki_index_free(ki_index *index);

/* Returns 0; then commit or cancel. Or KI_ERR_NO_MEMORY; then cancel.
 * A change that only removes never fails. */
KI_NODISCARD int ki_index_prepare(ki_index *index, const ki_index_change *change);
void ki_index_cancel(ki_index *index);

/* Returns the number of postings from which the former object was removed. The failures in the plan stay
 * valid until the next call of ki_index_prepare(). */
size_t ki_index_commit(ki_index *index, const ki_index_change *change);

/* After a commit: removes the former object from every posting that still contains it.
 * Returns the number of these postings. */
size_t ki_index_purge(ki_index *index, const ki_index_change *change);

/* Before a commit: the number of postings that the new object will be in. */
static inline size_t ki_index_new_postings(const ki_index *index)
{
    return index->plan->fresh.count;
}

/* Prefetches the posting of an object some changes ahead,
 * if the value is known without calling the function. */
void ki_index_expect(const ki_index *index, const ki_object *object, uint64_t hash, const ki_keyer *keyer);

/* The posting of a value, or NULL. Readers may call it. */
ki_posting *ki_index_find(const ki_index *index, ki_str value, const ki_keyer *keyer);

static inline ki_str ki_posting_value(const ki_posting *posting)
{
    return (ki_str){posting->value, posting->value_len};
}

#endif
