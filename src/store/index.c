/* SPDX-License-Identifier: Apache-2.0 */
#include "store/index.h"

#include <assert.h>
#include <kinformer/error.h>
#include <string.h>

#include "util/alloc.h"
#include "util/list.h"

/* Invariant: a posting is in `postings` as long as it has an object, and no longer. An object is either in
 * `refused`, or in the postings of the values that the function emitted when the object was put.
 *
 * Preparing changes nothing that readers see: it reserves space, and makes postings that are not in
 * `postings`
 * yet. Committing then does three things. It swaps the pointer in postings of values that both objects have;
 * it inserts the fresh object into the other postings of its values; and it removes the former object from
 * the other postings of its values. Under a value that both objects have, a reader always finds one of them.
 * A posting that becomes empty leaves `postings` at once and is retired. */

/* What a commit does for a value of the new object. */
enum {
    STEP_SWAP = 0, /* the former object has the value too: its pointer is replaced */
    STEP_INSERT,   /* other objects have it */
    STEP_CREATE    /* no object has it: the posting is private until the commit */
};

/* ---- postings -------------------------------------------------------------------------------------- */

static size_t posting_bytes(size_t value_len)
{
    size_t bytes = offsetof(ki_posting, value) + value_len;
    return bytes < sizeof(ki_posting) ? sizeof(ki_posting) : bytes;
}

static ki_posting *posting_new(ki_str value)
{
    ki_posting *posting = ki_malloc(posting_bytes(value.len));
    if (posting == NULL)
        return NULL;
    *posting = (ki_posting){.value_len = (uint32_t)value.len};
    if (value.len > 0)
        memcpy(posting->value, value.ptr, value.len);
    return posting;
}

static uint64_t hash_posting(const void *posting, const void *user)
{
    return ki_keyer_hash(user, ki_posting_value(posting));
}

static ki_table_owner owner_of_postings(const ki_index_change *change)
{
    return (ki_table_owner){hash_posting, change->keyer, change->reclaim};
}

static ki_table_owner owner_of_objects(const ki_index_change *change)
{
    return (ki_table_owner){ki_keyer_hash_object, change->keyer, change->reclaim};
}

static bool has_value(const void *posting, const void *what, const void *user)
{
    (void)user;
    return ki_str_equal(ki_posting_value(posting), *(const ki_str *)what);
}

static ki_posting *find_posting(const ki_index *index, ki_str value, uint64_t hash)
{
    return ki_table_find(&index->postings, &(ki_table_key){hash, has_value, &value, NULL});
}

ki_posting *ki_index_find(const ki_index *index, ki_str value, const ki_keyer *keyer)
{
    assert(value.ptr != NULL || value.len == 0);
    return find_posting(index, value, ki_keyer_hash(keyer, value));
}

void ki_index_expect(const ki_index *index, const ki_object *object, uint64_t hash, const ki_keyer *keyer)
{
    if (index->function.field == NULL)
        return;
    const ki_posting *posting = ki_index_find(index, index->function.field(object), keyer);
    if (posting != NULL)
        ki_table_prefetch(&posting->objects, hash);
}

/* ---- making and freeing ---------------------------------------------------------------------------- */

ki_index *ki_index_new(ki_str name, const ki_index_function *function)
{
    assert(name.ptr != NULL || name.len == 0);
    ki_index *index = ki_calloc(1, sizeof(ki_index) + name.len + 1);
    ki_index_plan *plan = ki_calloc(1, sizeof(ki_index_plan));
    if (index == NULL || plan == NULL) {
        ki_free(index);
        ki_free(plan);
        return NULL;
    }
    ki_index_values_init(&plan->fresh);
    ki_index_values_init(&plan->former);
    index->plan = plan;
    index->function = *function;
    (void)ki_object_path_ref(function->path);
    index->name_len = name.len;
    if (name.len > 0)
        memcpy(index->name, name.ptr, name.len);
    return index;
}

static int free_posting(void *entry, uint32_t hash, void *user)
{
    (void)hash;
    (void)user;
    ki_posting *posting = entry;
    ki_table_fini(&posting->objects);
    ki_free(posting);
    return 0;
}

void ki_index_free(ki_index *index)
{
    if (index == NULL)
        return;
    (void)ki_table_visit(&index->postings, &(ki_table_walk){.visit = free_posting});
    ki_table_fini(&index->postings);
    ki_table_fini(&index->refused);
    ki_index_values_fini(&index->plan->fresh);
    ki_index_values_fini(&index->plan->former);
    ki_object_path_unref(index->function.path);
    ki_free(index->plan);
    ki_free(index);
}

/* ---- preparing ------------------------------------------------------------------------------------- */

/* While it calls a user's function, a probe notes whether the function looks for a dropped field;
 * not after one was noted. */
static int collect(ki_index *index, ki_index_values *values, const ki_object *object,
                   const ki_index_change *change)
{
    bool is_probed = change->projection != NULL && index->function.callback != NULL && !index->has_looked;
    ki_object_probe *probe = &index->plan->probe;
    if (is_probed) {
        probe->object = object;
        probe->projection = change->projection;
        probe->path[0] = 0;
        ki_object_probe_current = probe;
    }
    int rc = ki_index_values_collect(values, &index->function, object, change->keyer);
    if (is_probed)
        ki_object_probe_current = NULL;
    return rc;
}

/* Chooses the step for one value, and reserves space for it. */
static int prepare_value(ki_index *index, ki_index_value *value, const ki_index_change *change)
{
    ki_table_owner owner = owner_of_objects(change);
    value->posting = find_posting(index, value->text, value->hash);
    if (value->posting == NULL) {
        value->step = STEP_CREATE;
        value->posting = posting_new(value->text);
        return value->posting == NULL ? KI_ERR_NO_MEMORY : 0;
    }
    if (change->former != NULL && ki_table_contains(&value->posting->objects, change->hash, change->former)) {
        value->step = STEP_SWAP;
        return 0;
    }
    value->step = STEP_INSERT;
    return ki_table_reserve(&value->posting->objects, 1, &owner);
}

static int prepare_fresh(ki_index *index, const ki_index_change *change)
{
    ki_index_plan *plan = index->plan;
    ki_table_owner objects = owner_of_objects(change);
    ki_table_owner postings = owner_of_postings(change);
    size_t created = 0;
    int rc = collect(index, &plan->fresh, change->fresh, change);
    if (rc == KI_ERR_NO_MEMORY)
        return rc;
    plan->is_refused = rc < 0;
    plan->refusal = rc;
    if (plan->is_refused && !plan->was_refused)
        return ki_table_reserve(&index->refused, 1, &objects);
    for (size_t i = 0; i < plan->fresh.count; i++) {
        rc = prepare_value(index, &plan->fresh.items[i], change);
        if (rc < 0) {
            plan->fresh.count = i; /* the values from i on have nothing to undo */
            return rc;
        }
        created += plan->fresh.items[i].step == STEP_CREATE;
    }
    return ki_table_reserve(&index->postings, created, &postings);
}

static void reset_values(ki_index_plan *plan)
{
    ki_index_values_reset(&plan->fresh);
    ki_index_values_reset(&plan->former);
}

static void reset_plan(ki_index_plan *plan)
{
    reset_values(plan);
    plan->is_refused = plan->was_refused = false;
    plan->is_short = plan->is_contradicted = false;
}

/* A change that only removes does not fail, whatever the function returns. */
static void prepare_former(ki_index *index, const ki_index_change *change)
{
    ki_index_plan *plan = index->plan;
    int rc = ki_index_values_collect(&plan->former, &index->function, change->former, change->keyer);
    plan->is_short = rc == KI_ERR_NO_MEMORY;
    plan->is_contradicted = rc < 0 && !plan->is_short;
}

/* A field has one value. If the former object is in the posting of that value, it is in no other posting. */
static bool only_swaps(const ki_index *index)
{
    const ki_index_values *fresh = &index->plan->fresh;
    return index->function.field != NULL && fresh->count > 0 && fresh->items[0].step == STEP_SWAP;
}

int ki_index_prepare(ki_index *index, const ki_index_change *change)
{
    ki_index_plan *plan = index->plan;
    assert(change->fresh != NULL || change->former != NULL);
    reset_plan(plan);
    plan->was_refused =
        change->former != NULL && ki_table_contains(&index->refused, change->hash, change->former);
    int rc = change->fresh == NULL ? 0 : prepare_fresh(index, change);
    if (rc == 0 && change->former != NULL && !plan->was_refused && !only_swaps(index))
        prepare_former(index, change);
    return rc;
}

void ki_index_cancel(ki_index *index)
{
    ki_index_plan *plan = index->plan;
    for (size_t i = 0; i < plan->fresh.count; i++)
        if (plan->fresh.items[i].step == STEP_CREATE)
            ki_free(plan->fresh.items[i].posting);
    reset_plan(plan);
}

/* ---- committing ------------------------------------------------------------------------------------ */

static void commit_value(ki_index *index, const ki_index_value *value, const ki_index_change *change)
{
    ki_table *objects = &value->posting->objects;
    assert(change->fresh != NULL && (value->step != STEP_SWAP || change->former != NULL));
    assert((value->step == STEP_CREATE) == (objects->count == 0));
    switch (value->step) {
    case STEP_SWAP:
        (void)ki_table_replace(objects, change->hash, change->former, change->fresh);
        break;
    case STEP_INSERT:
        (void)ki_table_insert(objects, change->hash, change->fresh);
        break;
    default: /* the posting is complete before readers find it */
        (void)ki_table_insert(objects, change->hash, change->fresh);
        (void)ki_table_insert(&index->postings, value->hash, value->posting);
        break;
    }
}

/* The last object has left the posting. */
static void retire_posting(ki_index *index, ki_posting *posting, const ki_index_change *change)
{
    ki_table_owner postings = owner_of_postings(change);
    assert(posting->objects.count == 0);
    ki_table_remove(&index->postings, hash_posting(posting, change->keyer), posting, &postings);
    ki_reclaim_block(change->reclaim, &posting->retired, posting_bytes(posting->value_len));
}

/* Returns whether the former object was under the value. */
static bool leave(ki_index *index, const ki_index_value *value, const ki_index_change *change)
{
    ki_table_owner objects = owner_of_objects(change);
    ki_posting *posting = find_posting(index, value->text, value->hash);
    if (posting == NULL || !ki_table_contains(&posting->objects, change->hash, change->former))
        return false;
    ki_table_remove(&posting->objects, change->hash, change->former, &objects);
    if (posting->objects.count == 0)
        retire_posting(index, posting, change);
    return true;
}

/* Removes the former object from the postings of values that the new object does not have; both lists are
 * sorted. In the others, the pointer was swapped. Returns the number of postings from which it was
 * removed. */
static size_t leave_former(ki_index *index, const ki_index_change *change)
{
    ki_index_plan *plan = index->plan;
    size_t j = 0;
    size_t left = 0;
    for (size_t i = 0; i < plan->former.count; i++) {
        const ki_index_value *value = &plan->former.items[i];
        while (j < plan->fresh.count && ki_index_value_compare(&plan->fresh.items[j], value) < 0)
            j++;
        if (j < plan->fresh.count && ki_index_value_compare(&plan->fresh.items[j], value) == 0)
            plan->is_contradicted |= plan->fresh.items[j].step != STEP_SWAP;
        else if (leave(index, value, change))
            left++;
        else
            plan->is_contradicted = true;
    }
    return left;
}

static void commit_refused(ki_index *index, const ki_index_change *change)
{
    const ki_index_plan *plan = index->plan;
    ki_table_owner owner = owner_of_objects(change);
    if (plan->was_refused && plan->is_refused)
        (void)ki_table_replace(&index->refused, change->hash, change->former, change->fresh);
    else if (plan->was_refused)
        ki_table_remove(&index->refused, change->hash, change->former, &owner);
    else if (plan->is_refused)
        (void)ki_table_insert(&index->refused, change->hash, change->fresh);
}

size_t ki_index_commit(ki_index *index, const ki_index_change *change)
{
    ki_index_plan *plan = index->plan;
    size_t left = 0;
    assert(!plan->is_refused || plan->fresh.count == 0);
    commit_refused(index, change);
    for (size_t i = 0; i < plan->fresh.count; i++) {
        commit_value(index, &plan->fresh.items[i], change);
        left += plan->fresh.items[i].step == STEP_SWAP;
    }
    left += leave_former(index, change);
    reset_values(plan);
    return left;
}

/* ---- purging --------------------------------------------------------------------------------------- */

typedef struct purge {
    const ki_index_change *change;
    ki_retired *empty; /* empty postings, which are retired after the walk */
    size_t found;
} purge;

/* Links empty postings by `retired`, which readers do not use. */
static int purge_posting(void *entry, uint32_t hash, void *user)
{
    (void)hash;
    purge *p = user;
    ki_posting *posting = entry;
    ki_table_owner objects = owner_of_objects(p->change);
    if (!ki_table_contains(&posting->objects, p->change->hash, p->change->former))
        return 0;
    ki_table_remove(&posting->objects, p->change->hash, p->change->former, &objects);
    p->found++;
    if (posting->objects.count == 0) {
        posting->retired.next = p->empty;
        p->empty = &posting->retired;
    }
    return 0;
}

size_t ki_index_purge(ki_index *index, const ki_index_change *change)
{
    purge p = {.change = change};
    (void)ki_table_visit(&index->postings, &(ki_table_walk){.visit = purge_posting, .user = &p});
    while (p.empty != NULL) {
        ki_posting *posting = KI_CONTAINER_OF(p.empty, ki_posting, retired);
        p.empty = posting->retired.next;
        retire_posting(index, posting, change);
    }
    return p.found;
}
