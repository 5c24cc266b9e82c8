/* SPDX-License-Identifier: Apache-2.0 */
#include "store/content.h"

#include <assert.h>
#include <kinformer/error.h>
#include <stdio.h>

#include "api/object/object_layout.h"
#include "util/alloc.h"

/* When many objects are put, the slot of each is prefetched AHEAD puts before its own, and the object itself
 * twice as early. */
enum { AHEAD = 8 };

/* ---- making and freeing ---------------------------------------------------------------------------- */

ki_content *ki_content_new(const ki_keyer *keyer)
{
    ki_content *content = ki_calloc(1, sizeof(ki_content));
    if (content != NULL)
        content->keyer = keyer;
    return content;
}

static int unref_object(void *entry, uint32_t hash, void *user)
{
    (void)hash;
    (void)user;
    (void)ki_object_unref(entry);
    return 0;
}

void ki_content_free(ki_content *content)
{
    if (content == NULL)
        return;
    ki_index *index = ki_content_first_index(content);
    while (index != NULL) {
        ki_index *next = ki_content_next_index(index);
        ki_index_free(index);
        index = next;
    }
    (void)ki_table_visit(&content->objects, &(ki_table_walk){.visit = unref_object});
    ki_table_fini(&content->objects);
    ki_free(content);
}

/* ---- finding --------------------------------------------------------------------------------------- */

static bool has_key(const void *entry, const void *what, const void *user)
{
    return ki_keyer_has_key(user, entry, *(const ki_str *)what);
}

/* For the default key, which the object contains: needs no buffer. */
static bool has_own_key(const void *entry, const void *what, const void *user)
{
    (void)user;
    return ki_str_equal(ki_object_key_str(entry), *(const ki_str *)what);
}

static ki_object *find_hashed(const ki_content *content, ki_str key, uint64_t hash)
{
    if (content->keyer->key == NULL)
        return ki_table_find(&content->objects, &(ki_table_key){hash, has_own_key, &key, NULL});
    return ki_table_find(&content->objects, &(ki_table_key){hash, has_key, &key, content->keyer});
}

ki_object *ki_content_find(const ki_content *content, ki_str key)
{
    assert(content != NULL);
    assert(key.ptr != NULL || key.len == 0);
    return find_hashed(content, key, ki_keyer_hash(content->keyer, key));
}

ki_index *ki_content_find_index(const ki_content *content, ki_str name)
{
    assert(name.ptr != NULL || name.len == 0);
    ki_index *index = ki_content_first_index(content);
    while (index != NULL && !ki_str_equal((ki_str){index->name, index->name_len}, name))
        index = ki_content_next_index(index);
    return index;
}

/* ---- changing -------------------------------------------------------------------------------------- */

/* Does everything that can fail, and changes nothing that readers find. Returns 0, or the error of
 * ki_content_put_at(). *out_postings is the number of postings that the new object will be in. */
static int prepare(ki_content *content, const ki_index_change *change, size_t *out_postings)
{
    size_t postings = 0;
    int rc = 0;
    if (change->former == NULL) {
        ki_table_owner owner = {ki_keyer_hash_object, content->keyer, change->reclaim};
        rc = ki_table_reserve(&content->objects, 1, &owner);
    }
    ki_index *index = ki_content_first_index(content);
    for (; index != NULL && rc == 0; index = ki_content_next_index(index)) {
        rc = ki_index_prepare(index, change);
        postings += ki_index_new_postings(index);
    }
    *out_postings = postings;
    return rc;
}

static void cancel(ki_content *content)
{
    ki_index *index = ki_content_first_index(content);
    for (; index != NULL; index = ki_content_next_index(index))
        ki_index_cancel(index);
}

static void count_failure(ki_content *content, const ki_index *index, const ki_object *object,
                          const char *what)
{
    ki_index_failure *failure = &content->failure;
    content->index_failures++;
    failure->what = what;
    (void)snprintf(failure->index, sizeof(failure->index), "%s", index->name);
    (void)snprintf(failure->key, sizeof(failure->key), "%s", ki_object_key(object));
}

static void count_contradiction(ki_content *content, const ki_index *index, const ki_index_change *change)
{
    count_failure(content, index, change->former, "it emitted different values for the same object");
}

/* Notes one miss for each index. If the miss of another index still waits to be logged, this one is skipped;
 * a later object will cause it again. */
static void note_miss(ki_content *content, ki_index *index)
{
    if (index->has_looked || index->plan->probe.path[0] == 0 || content->miss.path[0] != 0)
        return;
    index->has_looked = true;
    (void)snprintf(content->miss.index, sizeof(content->miss.index), "%s", index->name);
    (void)snprintf(content->miss.path, sizeof(content->miss.path), "%s", index->plan->probe.path);
}

void ki_content_count_failures(ki_content *content, ki_index *index, const ki_index_change *change)
{
    const ki_index_plan *plan = index->plan;
    note_miss(content, index);
    if (plan->is_refused)
        count_failure(content, index, change->fresh, ki_error_text(plan->refusal));
    if (plan->is_contradicted)
        count_contradiction(content, index, change);
}

/* The function of an index emitted other values for the former object than when it was put. Searches all
 * postings, or a pointer would outlive the object. */
static void purge(ki_content *content, const ki_index_change *change)
{
    ki_index *index = ki_content_first_index(content);
    for (; index != NULL; index = ki_content_next_index(index)) {
        bool was_contradicted = index->plan->is_contradicted;
        if (ki_index_purge(index, change) > 0 && !index->plan->is_short && !was_contradicted)
            count_contradiction(content, index, change);
    }
}

/* Replaces the former object, which is in `postings` postings, by the new one in all indexes. Readers without
 * a lock may see a state in between. A key enters the table before the indexes and leaves it after them, so a
 * key that an index finds is also in the table. */
static void commit_indexes(ki_content *content, const ki_index_change *change, uint32_t postings)
{
    size_t left = 0;
    ki_index *index = ki_content_first_index(content);
    for (; index != NULL; index = ki_content_next_index(index)) {
        left += ki_index_commit(index, change);
        ki_content_count_failures(content, index, change);
    }
    if (left != postings)
        purge(content, change);
}

static void commit_put(ki_content *content, const ki_index_change *change, size_t postings)
{
    uint32_t *note;
    (void)ki_object_ref(change->fresh);
    if (change->former == NULL) {
        note = ki_table_insert(&content->objects, change->hash, change->fresh);
    } else {
        note = ki_table_replace(&content->objects, change->hash, change->former, change->fresh);
        content->bytes -= ki_object_own_bytes(change->former);
    }
    content->bytes += ki_object_own_bytes(change->fresh);
    uint32_t postings_before = *note;
    *note = 0;
    ki_content_note_add(note, postings);
    commit_indexes(content, change, postings_before);
}

ki_place ki_content_seek(const ki_content *content, ki_str key, uint64_t hash)
{
    assert(key.ptr != NULL || key.len == 0);
    return (ki_place){key, hash, find_hashed(content, key, hash)};
}

void ki_content_expect_hash(const ki_content *content, uint64_t hash)
{
    assert(content != NULL);
    ki_table_prefetch(&content->objects, hash);
}

static void expect_in_indexes(const ki_content *content, uint64_t hash, const ki_object *object)
{
    const ki_index *index = ki_content_first_index(content);
    for (; index != NULL; index = ki_content_next_index(index))
        ki_index_expect(index, object, hash, content->keyer);
}

void ki_content_expect(const ki_content *content, uint64_t hash, const ki_object *object)
{
    assert(content != NULL);
    ki_object_prefetch(ki_table_guess(&content->objects, hash));
    if (object != NULL)
        expect_in_indexes(content, hash, object);
}

static int check_key(ki_str key)
{
    if (key.len == 0)
        return KI_ERR_INVALID;
    return key.len > KI_KEY_BYTES ? KI_ERR_TOO_LARGE : 0;
}

int ki_content_put_at(ki_content *content, const ki_object *object, const ki_place *place,
                      ki_reclaim *reclaim)
{
    assert(content != NULL);
    ki_index_change change = {.former = place->object,
                              .fresh = (ki_object *)object,
                              .hash = place->hash,
                              .keyer = content->keyer,
                              .reclaim = reclaim,
                              .projection = content->projection};
    int rc = check_key(place->key);
    if (rc < 0 || place->object == object)
        return rc;
    size_t postings = 0;
    rc = prepare(content, &change, &postings);
    if (rc < 0) {
        cancel(content);
        return rc;
    }
    commit_put(content, &change, postings);
    return 0;
}

/* An object that is about to be put. */
typedef struct coming {
    const ki_object *object;
    ki_str key;
    uint64_t hash;
    ki_key_buffer buffer;
} coming;

/* Prefetches the memory that the put will touch. */
static int expect_put(const ki_content *content, const ki_object *object, coming *out_coming)
{
    ki_str key = ki_keyer_key(content->keyer, object, &out_coming->buffer);
    /* Check first: a callback may return the length that it would have needed, as snprintf() does. */
    int rc = check_key(key);
    if (rc < 0)
        return rc;
    uint64_t hash = ki_keyer_hash(content->keyer, key);
    ki_content_expect_hash(content, hash);
    expect_in_indexes(content, hash, object);
    out_coming->object = object;
    out_coming->key = key;
    out_coming->hash = hash;
    return 0;
}

static int put_coming(ki_content *content, const coming *put, ki_reclaim *reclaim, ki_object **out_former)
{
    ki_place place = ki_content_seek(content, put->key, put->hash);
    int rc = ki_content_put_at(content, put->object, &place, reclaim);
    if (rc == 0)
        *out_former = place.object == put->object ? NULL : place.object;
    return rc;
}

int ki_content_put(ki_content *content, const ki_object *object, ki_reclaim *reclaim, ki_object **out_former)
{
    coming put;
    int rc = expect_put(content, object, &put);
    return rc < 0 ? rc : put_coming(content, &put, reclaim, out_former);
}

void ki_content_remove_at(ki_content *content, const ki_place *place, ki_reclaim *reclaim)
{
    assert(content != NULL);
    ki_index_change change = {
        .former = place->object, .hash = place->hash, .keyer = content->keyer, .reclaim = reclaim};
    ki_table_owner owner = {ki_keyer_hash_object, content->keyer, reclaim};
    size_t postings = 0;
    int rc = prepare(content, &change, &postings);
    assert(rc == 0 && postings == 0);
    (void)rc;
    commit_indexes(content, &change, *ki_table_note(&content->objects, place->hash, place->object));
    ki_table_remove(&content->objects, place->hash, place->object, &owner);
    content->bytes -= ki_object_own_bytes(place->object);
}

int ki_content_remove(ki_content *content, ki_str key, ki_reclaim *reclaim, ki_object **out_former)
{
    assert(content != NULL);
    assert(key.ptr != NULL || key.len == 0);
    ki_place place = ki_content_seek(content, key, ki_keyer_hash(content->keyer, key));
    if (place.object == NULL)
        return KI_ERR_NOT_FOUND;
    ki_content_remove_at(content, &place, reclaim);
    *out_former = place.object;
    return 0;
}

/* ---- whole contents --------------------------------------------------------------------------------- */

static int fill_with(ki_content *content, ki_object *const *objects, size_t count, ki_reclaim *reclaim)
{
    coming ahead[AHEAD];
    int rc = 0;
    for (size_t i = 0; i < count + AHEAD && rc == 0; i++) {
        coming *put = &ahead[i % AHEAD];
        ki_object *former = NULL;
        if (i >= AHEAD)
            rc = put_coming(content, put, reclaim, &former);
        (void)ki_object_unref(former);
        if (rc == 0 && i < count) {
            ki_object_prefetch(i + AHEAD < count ? objects[i + AHEAD] : NULL);
            rc = expect_put(content, objects[i], put);
        }
    }
    return rc;
}

/* Copies the index without its objects. */
static int copy_index(ki_content *content, const ki_index *index)
{
    ki_str name = {index->name, index->name_len};
    int rc = ki_content_add_index(content, name, &index->function);
    if (rc == 0)
        ki_content_find_index(content, name)->has_looked = index->has_looked;
    return rc;
}

int ki_content_fill(ki_content *content, const ki_content *model, ki_object *const *objects, size_t count)
{
    assert(content != NULL);
    ki_reclaim reclaim;
    ki_reclaim_init_private(&reclaim);
    ki_table_owner owner = {ki_keyer_hash_object, content->keyer, &reclaim};
    int rc = ki_table_reserve(&content->objects, count, &owner);
    content->projection = model->projection;
    content->miss = model->miss;
    const ki_index *index = ki_content_first_index(model);
    for (; index != NULL && rc == 0; index = ki_content_next_index(index))
        rc = copy_index(content, index);
    if (rc == 0)
        rc = fill_with(content, objects, count, &reclaim);
    ki_reclaim_fini(&reclaim);
    return rc;
}
