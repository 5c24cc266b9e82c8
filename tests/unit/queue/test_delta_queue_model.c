/* SPDX-License-Identifier: Apache-2.0 */
/* The public delta queue compared with a plain model: random pushes, replaces and resyncs, also while a key
 * is being processed. The consumer keeps a store and sometimes refuses deltas, and memory sometimes runs out.
 * A failing seed is printed; KI_SEED=<seed> runs it alone. */
#include <inttypes.h>
#include <kinformer/delta_queue.h>
#include <stdio.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/seeds.h"
#include "support/store/objects.h"
#include "support/unit.h"
#include "util/random.h"

enum { KEYS = 6, STEPS = 80, SEEDS = 2000, DELTAS = 3 * STEPS, ITEMS_MAX = 4, BYTES_MAX = 3000 };

typedef struct model_delta {
    ki_change_type type;
    int is_unseen;
    uint64_t version; /* unique for each object */
    size_t bytes;
} model_delta;

typedef struct model_entry {
    model_delta deltas[DELTAS];
    size_t count;   /* 0: nothing waits */
    uint64_t place; /* in the queue; keys queued by one walk over the store share a place */
    int is_initial;
} model_entry;

typedef struct model {
    uint64_t seed;
    int step;
    ki_random random;
    ki_delta_queue *queue;
    ki_store *store; /* NULL: the queue has no store of known objects */
    model_entry waiting[KEYS];
    model_entry processed;   /* while a callback runs */
    int processed_key;       /* -1: none */
    int outcome;             /* of the callback */
    model_delta known[KEYS]; /* version 0: not in the store */
    uint64_t next_version;
    uint64_t next_place;
    int is_populated;
} model;

#define CHECK(m, condition)                                                                                  \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            fail_msg("KI_SEED=%" PRIu64 ": step %d: not %s", (m)->seed, (m)->step, #condition);              \
    } while (0)

/* ---- the model ----------------------------------------------------------------------------------------- */

static size_t length(const model *m)
{
    size_t n = 0;
    for (int key = 0; key < KEYS; key++)
        n += m->waiting[key].count > 0;
    return n;
}

static size_t bytes(const model *m)
{
    size_t n = 0;
    for (int key = 0; key < KEYS; key++)
        for (size_t i = 0; i < m->waiting[key].count; i++)
            n += m->waiting[key].deltas[i].bytes;
    return n;
}

static int is_full(const model *m)
{
    return length(m) >= ITEMS_MAX || bytes(m) >= BYTES_MAX;
}

static int has_synced(const model *m)
{
    int is_initial = m->processed_key >= 0 && m->processed.is_initial;
    for (int key = 0; key < KEYS; key++)
        is_initial |= m->waiting[key].count > 0 && m->waiting[key].is_initial;
    return m->is_populated && !is_initial;
}

static const model_delta *newest(const model_entry *entry)
{
    return &entry->deltas[entry->count - 1];
}

static int is_being_processed(const model *m, int key)
{
    return m->processed_key == key;
}

static void append(model *m, int key, model_delta delta, uint64_t place)
{
    model_entry *entry = &m->waiting[key];
    model_delta *last = entry->count == 0 ? NULL : &entry->deltas[entry->count - 1];
    if (last == NULL)
        *entry = (model_entry){.place = place};
    if (last == NULL || last->type != KI_CHANGE_DELETED || delta.type != KI_CHANGE_DELETED)
        entry->deltas[entry->count++] = delta;
    else if (last->is_unseen)
        *last = delta;
}

static void append_unseen_delete(model *m, int key, model_delta last, uint64_t place)
{
    append(m, key, (model_delta){KI_CHANGE_DELETED, 1, last.version, last.bytes}, place);
}

static void check_numbers(model *m)
{
    CHECK(m, ki_delta_queue_len(m->queue) == length(m));
    CHECK(m, ki_delta_queue_bytes(m->queue) == bytes(m));
    CHECK(m, ki_delta_queue_has_synced(m->queue) == has_synced(m));
    CHECK(m, ki_delta_queue_has_room(m->queue) == (length(m) <= ITEMS_MAX / 2 && bytes(m) <= BYTES_MAX / 2));
}

/* ---- producing ----------------------------------------------------------------------------------------- */

static ki_object *new_object(model *m, int key)
{
    char name[24];
    snprintf(name, sizeof(name), "key-%d", key);
    return object_of(name, m->next_version++, ki_random_below(&m->random, 600));
}

/* The next call may run out of memory. */
static void plan_failure(model *m)
{
    if (ki_random_below(&m->random, 4) == 0)
        failing_allocator_fail_at(1 + ki_random_below(&m->random, 6));
}

/* Returns whether the call has failed; then it has changed nothing. */
static int has_failed(model *m, int rc)
{
    int ran_out = failing_allocator_has_failed();
    failing_allocator_fail_at(0);
    CHECK(m, rc >= 0 || (rc == KI_ERR_NO_MEMORY && ran_out));
    return rc < 0;
}

static void push(model *m)
{
    int key = (int)ki_random_below(&m->random, KEYS);
    ki_object *object = new_object(m, key);
    model_delta delta = {.type = (ki_change_type)(KI_CHANGE_ADDED + ki_random_below(&m->random, 3)),
                         .version = object_version(object),
                         .bytes = ki_object_bytes(object)};
    delta.is_unseen = delta.type == KI_CHANGE_DELETED && ki_random_below(&m->random, 3) == 0;
    int is_lively = is_being_processed(m, key) && newest(&m->processed)->type != KI_CHANGE_DELETED;
    plan_failure(m);
    int rc = ki_delta_queue_push(
        m->queue,
        (ki_delta){.change_type = delta.type, .final_state_unknown = delta.is_unseen != 0, .object = object});
    (void)ki_object_unref(object);
    if (has_failed(m, rc))
        return;
    if (delta.type != KI_CHANGE_DELETED || m->waiting[key].count > 0 || is_lively ||
        m->known[key].version > 0)
        append(m, key, delta, m->next_place++);
    m->is_populated = 1;
    CHECK(m, rc == is_full(m));
}

static void delete_unlisted(model *m, const int *is_listed)
{
    for (int key = 0; key < KEYS; key++)
        if (!is_listed[key] && m->waiting[key].count > 0 &&
            newest(&m->waiting[key])->type != KI_CHANGE_DELETED)
            append_unseen_delete(m, key, *newest(&m->waiting[key]), 0);
    int key = m->processed_key;
    if (key >= 0 && m->waiting[key].count == 0 && newest(&m->processed)->type != KI_CHANGE_DELETED)
        append_unseen_delete(m, key, *newest(&m->processed), m->next_place++);
    uint64_t place = m->next_place++;
    for (key = 0; key < KEYS; key++)
        if (m->waiting[key].count == 0 && m->known[key].version > 0)
            append_unseen_delete(m, key, is_being_processed(m, key) ? *newest(&m->processed) : m->known[key],
                                 place);
}

/* Objects of some keys; one key may occur twice. */
static size_t new_collection(model *m, ki_object **out_objects, int *out_keys)
{
    size_t count = 0;
    uint64_t of_ten = ki_random_below(&m->random, 11);
    for (int key = 0; key < KEYS; key++)
        if (ki_random_below(&m->random, 10) < of_ten)
            out_keys[count++] = key;
    if (count > 0 && ki_random_below(&m->random, 4) == 0) {
        out_keys[count] = out_keys[ki_random_below(&m->random, count)];
        count++;
    }
    for (size_t i = 0; i < count; i++)
        out_objects[i] = new_object(m, out_keys[i]);
    return count;
}

static void replace(model *m)
{
    ki_object *objects[KEYS + 1];
    int keys[KEYS + 1];
    model_delta deltas[KEYS + 1];
    int is_listed[KEYS] = {0};
    size_t count = new_collection(m, objects, keys);
    for (size_t i = 0; i < count; i++)
        deltas[i] =
            (model_delta){KI_CHANGE_REPLACED, 0, object_version(objects[i]), ki_object_bytes(objects[i])};
    plan_failure(m);
    int rc = ki_delta_queue_replace(m->queue, objects, count);
    for (size_t i = 0; i < count; i++)
        (void)ki_object_unref(objects[i]);
    if (has_failed(m, rc))
        return;
    for (size_t i = 0; i < count; i++) {
        is_listed[keys[i]] = 1;
        append(m, keys[i], deltas[i], m->next_place++);
    }
    delete_unlisted(m, is_listed);
    for (int key = 0; key < KEYS && !m->is_populated; key++)
        m->waiting[key].is_initial = 1;
    m->is_populated = 1;
    CHECK(m, rc == is_full(m));
}

static void resync(model *m)
{
    plan_failure(m);
    int rc = ki_delta_queue_resync(m->queue);
    if (has_failed(m, rc))
        return;
    uint64_t place = m->next_place++;
    for (int key = 0; key < KEYS; key++)
        if (m->known[key].version > 0 && m->waiting[key].count == 0 && !is_being_processed(m, key))
            append(m, key, (model_delta){KI_CHANGE_SYNC, 0, m->known[key].version, m->known[key].bytes},
                   place);
    CHECK(m, rc == is_full(m));
}

static void produce(model *m)
{
    uint64_t choice = ki_random_below(&m->random, 10);
    if (choice < 7)
        push(m);
    else if (choice < 9)
        replace(m);
    else
        resync(m);
    check_numbers(m);
}

/* ---- consuming ----------------------------------------------------------------------------------------- */

static int key_number(ki_str key)
{
    assert_int_equal(key.len, strlen("default/key-0"));
    return key.ptr[key.len - 1] - '0';
}

static void check_deltas(model *m, const ki_deltas *deltas, const model_entry *entry)
{
    CHECK(m, deltas->count == entry->count);
    for (size_t i = 0; i < entry->count; i++) {
        CHECK(m, deltas->items[i].change_type == entry->deltas[i].type);
        CHECK(m, deltas->items[i].final_state_unknown == entry->deltas[i].is_unseen);
        CHECK(m, object_version(deltas->items[i].object) == entry->deltas[i].version);
    }
}

static void apply_to_store(model *m, int key, const ki_delta *last)
{
    if (m->store == NULL)
        return;
    if (last->change_type == KI_CHANGE_DELETED) {
        CHECK(m, ki_store_remove(m->store, ki_object_key_str(last->object)) ==
                     (m->known[key].version > 0 ? 0 : KI_ERR_NOT_FOUND));
        m->known[key] = (model_delta){0};
    } else {
        CHECK(m, ki_store_put(m->store, last->object) == 0);
        m->known[key] = (model_delta){0, 0, object_version(last->object), ki_object_bytes(last->object)};
    }
}

static int process(const ki_deltas *deltas, void *user)
{
    model *m = user;
    int key = key_number(deltas->key);
    model_entry *entry = &m->waiting[key];
    CHECK(m, entry->count > 0);
    for (int other = 0; other < KEYS; other++)
        CHECK(m, m->waiting[other].count == 0 || m->waiting[other].place >= entry->place);
    CHECK(m, deltas->is_initial == !has_synced(m));
    check_deltas(m, deltas, entry);
    m->processed = *entry;
    m->processed_key = key;
    entry->count = 0;
    check_numbers(m);
    if (ki_random_below(&m->random, 3) == 0)
        produce(m);
    m->outcome = ki_random_below(&m->random, 5) == 0   ? KI_DELTA_QUEUE_REQUEUE
                 : ki_random_below(&m->random, 8) == 0 ? KI_ERR_RANGE
                                                       : 0;
    if (m->outcome == 0)
        apply_to_store(m, key, &deltas->items[deltas->count - 1]);
    if (ki_random_below(&m->random, 3) == 0)
        produce(m);
    check_deltas(m, deltas, &m->processed);
    return m->outcome;
}

static void pop(model *m)
{
    int was_empty = length(m) == 0;
    int rc = ki_delta_queue_pop(m->queue, 0, process, m);
    if (was_empty) {
        CHECK(m, rc == KI_ERR_TIMEOUT);
        return;
    }
    CHECK(m, m->processed_key >= 0 && rc == m->outcome);
    model_entry *newer = &m->waiting[m->processed_key];
    if (rc == KI_DELTA_QUEUE_REQUEUE && newer->count == 0) {
        *newer = m->processed;
        newer->place = m->next_place++;
    } else if (rc == KI_DELTA_QUEUE_REQUEUE) {
        newer->is_initial |= m->processed.is_initial;
    }
    m->processed_key = -1;
    check_numbers(m);
}

/* ---- runs ---------------------------------------------------------------------------------------------- */

static void run_seed(uint64_t seed)
{
    static model only;
    model *m = &only;
    memset(m, 0, sizeof(*m));
    m->seed = seed;
    m->processed_key = -1;
    m->next_version = m->next_place = 1;
    ki_random_init(&m->random, seed);
    m->store = ki_random_below(&m->random, 4) == 0 ? NULL : ki_store_new(NULL, NULL);
    ki_delta_queue_options options = {.known = m->store, .items_max = ITEMS_MAX, .bytes_max = BYTES_MAX};
    m->queue = ki_delta_queue_new(&options, NULL);
    CHECK(m, m->queue != NULL);
    uint64_t pops_of_ten = 2 + ki_random_below(&m->random, 6);
    if (ki_random_below(&m->random, 2) == 0)
        replace(m);
    for (m->step = 1; m->step <= STEPS; m->step++)
        if (ki_random_below(&m->random, 10) < pops_of_ten)
            pop(m);
        else
            produce(m);
    ki_delta_queue_free(m->queue);
    ki_store_free(m->store);
}

static void the_queue_agrees_with_a_plain_model(void **state)
{
    (void)state;
    for_each_seed(SEEDS, run_seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(the_queue_agrees_with_a_plain_model),
    };
    return RUN_TESTS(tests);
}
