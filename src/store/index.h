/* SPDX-License-Identifier: Apache-2.0 */
/* index - one named index: from a value to the objects that have it.
 *
 *   From:     store/content.c   (changes), store/store_read.c, store/store_list.c   (reads)
 *   To:       store/table.h, store/index_values.h
 *   Locks:    none; as a table's. Readers may be in any posting while the writer changes it.
 *   Not here: references to objects, which the store holds; the set of indexes.
 *
 * A value leads to a posting, and that is a table of objects by the hash of their key. So adding, removing
 * or replacing one object of a hundred thousand under one value costs the same as of ten. The objects of a
 * posting are told apart by address: the writer always knows which pointer is stored.
 *
 * A change has two parts. Preparing does everything that can fail: it calls the index function, reserves
 * room, makes new postings that readers do not see. Committing cannot fail.
 *
 * No posting may keep an object that has left the store. To find the postings of a leaving object, the
 * function is called again, and it may emit other values than before. So committing counts the postings from
 * which the object was removed, and the content knows how many have it; if the numbers differ, all postings
 * are searched.
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

/* The plan of a change; the writer's, separate from what readers use. */
typedef struct ki_index_plan {
    ki_index_values fresh;  /* of the new object */
    ki_index_values former; /* of the former object */
    bool is_refused;        /* the function has failed for the new object */
    int refusal;            /* with this code */
    bool was_refused;       /* it had failed for the former object, which is in no posting then */
    bool is_short;          /* out of memory when it was called for the former object */
    bool is_contradicted;   /* it emits other values for that object than before */
    ki_object_probe probe;  /* its path is what the function has looked for and a projection has dropped */
} ki_index_plan;

typedef struct ki_index {
    _Atomic(struct ki_index *) next; /* of the same store; an index is published when it is complete */
    ki_index_function function;
    ki_table postings;
    ki_table refused; /* objects for which the function has failed; the writer's */
    ki_index_plan *plan;
    bool has_looked; /* for a dropped field, which was noted: the writer's */
    size_t name_len;
    char name[];
} ki_index;

/* A failure of an index function, to be logged. */
typedef struct ki_index_failure {
    const char *what; /* constant */
    char index[64];   /* both are cut where they are longer */
    char key[320];
} ki_index_failure;

/* An index function that looks for what a projection drops, to be logged. */
typedef struct ki_index_miss {
    char index[64];
    char path[256]; /* "": none */
} ki_index_miss;

/* One object that is added, removed or replaced. */
typedef struct ki_index_change {
    const ki_object *former; /* NULL: none */
    ki_object *fresh;        /* NULL: none */
    uint64_t hash;           /* of the key of both */
    const ki_keyer *keyer;
    ki_reclaim *reclaim;
    const struct ki_projection *projection; /* of the objects; NULL: unknown */
} ki_index_change;

/* An empty index; NULL when out of memory. */
ki_index *ki_index_new(ki_str name, const ki_index_function *function);

/* Frees it with all its postings; there must be no readers. NULL is allowed. */
void ki_index_free(ki_index *index);

/* Returns 0 or KI_ERR_NO_MEMORY. A change that only removes never fails. In both cases commit or cancel. */
KI_NODISCARD int ki_index_prepare(ki_index *index, const ki_index_change *change);
void ki_index_cancel(ki_index *index);

/* Returns the number of postings from which the former object was removed. The plan's failures stay valid
 * until the next one. */
size_t ki_index_commit(ki_index *index, const ki_index_change *change);

/* After a commit: removes the former object from every posting that still has it. Returns how many had. */
size_t ki_index_purge(ki_index *index, const ki_index_change *change);

/* Before a commit: the number of postings that the new object will be in. */
static inline size_t ki_index_places(const ki_index *index)
{
    return index->plan->fresh.count;
}

/* Some changes ahead: prefetches the postings of an object, if its values are known without calling the
 * function. */
void ki_index_expect(const ki_index *index, const ki_object *object, uint64_t hash, const ki_keyer *keyer);

/* The posting of a value, or NULL. For readers too. */
ki_posting *ki_index_find(const ki_index *index, ki_str value, const ki_keyer *keyer);

static inline ki_str ki_posting_value(const ki_posting *posting)
{
    return (ki_str){posting->value, posting->value_len};
}

#endif
