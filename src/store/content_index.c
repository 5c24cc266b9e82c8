/* SPDX-License-Identifier: Apache-2.0 */
/* Adds an index to a store with objects. The index is built where readers cannot see it,
 * and published with one pointer. */
#include <assert.h>
#include <kinformer/error.h>

#include "store/content.h"

typedef struct index_build {
    ki_content *content;
    ki_index *index;
    ki_reclaim reclaim; /* private: the index is not visible yet */
    uint64_t failures_before;
} index_build;

static int add_to_index(void *entry, uint32_t known_hash, void *user)
{
    (void)known_hash; /* 0 if there is only one entry */
    index_build *build = user;
    ki_content *content = build->content;
    uint64_t hash = ki_keyer_hash_object(entry, content->keyer);
    ki_index_change change = {.fresh = entry,
                              .hash = hash,
                              .keyer = content->keyer,
                              .reclaim = &build->reclaim,
                              .projection = content->projection};
    int rc = ki_index_prepare(build->index, &change);
    if (rc < 0) {
        ki_index_cancel(build->index);
        return rc;
    }
    ki_content_note_add(ki_table_note(&content->objects, hash, entry), ki_index_new_postings(build->index));
    (void)ki_index_commit(build->index, &change);
    ki_content_count_failures(content, build->index, &change);
    return 0;
}

static int forget_place(void *entry, uint32_t known_hash, void *user)
{
    (void)known_hash;
    ki_content *content = user;
    uint32_t *note = ki_table_note(&content->objects, ki_keyer_hash_object(entry, content->keyer), entry);
    if (*note < UINT32_MAX)
        (*note)--;
    return 0;
}

static int forget_posting(void *entry, uint32_t hash, void *user)
{
    (void)hash;
    const ki_posting *posting = entry;
    return ki_table_visit(&posting->objects, &(ki_table_walk){.visit = forget_place, .user = user});
}

/* Frees the index, and restores the notes of the objects. */
static void abandon_index(index_build *build)
{
    (void)ki_table_visit(&build->index->postings,
                         &(ki_table_walk){.visit = forget_posting, .user = build->content});
    build->content->index_failures = build->failures_before;
    ki_index_free(build->index);
}

/* Release: the index is complete before readers can find it. */
static void publish_index(ki_content *content, ki_index *index)
{
    ki_index *last = ki_content_first_index(content);
    while (last != NULL && ki_content_next_index(last) != NULL)
        last = ki_content_next_index(last);
    atomic_store_explicit(last == NULL ? &content->indexes : &last->next, index, memory_order_release);
}

int ki_content_add_index(ki_content *content, ki_str name, const ki_index_function *function)
{
    assert(content != NULL);
    assert(name.ptr != NULL || name.len == 0);
    if (ki_content_find_index(content, name) != NULL)
        return KI_ERR_INVALID;
    index_build build = {content, ki_index_new(name, function), .failures_before = content->index_failures};
    if (build.index == NULL)
        return KI_ERR_NO_MEMORY;
    ki_reclaim_init_private(&build.reclaim);
    int rc = ki_table_visit(&content->objects, &(ki_table_walk){.visit = add_to_index, .user = &build});
    ki_reclaim_fini(&build.reclaim);
    if (rc < 0) {
        abandon_index(&build);
        return rc;
    }
    publish_index(content, build.index);
    return 0;
}
