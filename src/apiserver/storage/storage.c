/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/storage/storage.h"

#include <assert.h>
#include <kinformer/error.h>
#include <string.h>

#include "apiserver/object/convert.h"
#include "apiserver/storage/storage_layout.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/units.h"

#define SCRATCH_BYTES_MAX ((size_t)1 << 31)

enum {
    HISTORY_EVENTS = 10000,
    HISTORY_BYTES = 256 * 1024 * 1024,
    OBJECTS_MAX = 1000000,
    OBJECT_BYTES_MAX = 3 * 1024 * 1024,
    SCRATCH_BYTES_KEPT = 64 * 1024
};

/* Servers that start at the same time would get the same seed from the clock,
 * so the system's random source is tried first. */
static uint64_t random_seed(const ki_clock *clock)
{
    uint64_t seed = 0;
    if (ki_random_system_seed(&seed) < 0)
        seed = ki_clock_now_ns(clock);
    return seed;
}

struct ki_as_storage *ki_as_storage_new(const struct ki_as_storage_options *options)
{
    static const struct ki_as_storage_options defaults;
    const ki_clock *clock = ki_clock_real();
    if (options == NULL)
        options = &defaults;
    struct ki_as_storage *storage = ki_calloc(1, sizeof(*storage));
    if (storage == NULL)
        return NULL;
    if (ki_as_resources_init(&storage->resources) < 0) {
        ki_free(storage);
        return NULL;
    }
    ki_mutex_init(&storage->mu);
    storage->objects_max = options->objects_max == 0 ? OBJECTS_MAX : options->objects_max;
    storage->history_events_max =
        options->history_events_max == 0 ? HISTORY_EVENTS : options->history_events_max;
    storage->history_bytes_max = options->history_bytes_max == 0 ? HISTORY_BYTES : options->history_bytes_max;
    storage->object_bytes_max = options->object_bytes_max == 0 ? OBJECT_BYTES_MAX : options->object_bytes_max;
    storage->version = options->first_version != 0 ? options->first_version
                                                   : (uint64_t)ki_clock_wall_ns(clock) / KI_NS_PER_US;
    storage->compacted = storage->version;
    ki_random_init(&storage->random, options->seed == 0 ? random_seed(clock) : options->seed);
    for (size_t i = 0; i < KI_AS_SCRATCH_COUNT; i++)
        ki_buf_init(&storage->scratch[i], SCRATCH_BYTES_MAX);
    return storage;
}

static void collection_free(struct ki_as_collection *collection)
{
    assert(ki_list_is_empty(&collection->idle) && ki_list_is_empty(&collection->busy));
    assert(collection->owed == 0);
    ki_as_order_fini(&collection->order);
    ki_as_history_fini(&collection->history);
    ki_free(collection->group);
    ki_free(collection->plural);
    ki_free(collection);
}

void ki_as_storage_free(struct ki_as_storage *storage)
{
    if (storage == NULL)
        return;
    for (size_t i = 0; i < KI_AS_BUCKETS; i++)
        for (struct ki_as_collection *at = storage->buckets[i], *next = NULL; at != NULL; at = next) {
            next = at->next;
            collection_free(at);
        }
    for (size_t i = 0; i < KI_AS_SCRATCH_COUNT; i++)
        ki_buf_fini(&storage->scratch[i]);
    ki_as_resources_fini(&storage->resources);
    ki_mutex_fini(&storage->mu);
    ki_free(storage);
}

ki_buf *ki_as_storage_scratch(struct ki_as_storage *storage, enum ki_as_scratch which)
{
    KI_ASSERT_HELD(storage->mu);
    assert(which < KI_AS_SCRATCH_COUNT);
    ki_buf_reset(&storage->scratch[which], SCRATCH_BYTES_KEPT);
    return &storage->scratch[which];
}

/* clang cannot see that this function and the next one lock and unlock as a pair,
 * so each has an annotation. */
KI_NO_THREAD_SAFETY_ANALYSIS
void ki_as_storage_lock(struct ki_as_storage *storage)
{
    ki_mutex_lock(&storage->mu);
}

KI_NO_THREAD_SAFETY_ANALYSIS
void ki_as_storage_unlock(struct ki_as_storage *storage)
{
    ki_mutex_unlock(&storage->mu);
}

struct ki_as_resources *ki_as_storage_resources(struct ki_as_storage *storage)
{
    KI_ASSERT_HELD(storage->mu);
    return &storage->resources;
}

uint64_t ki_as_storage_version(const struct ki_as_storage *storage)
{
    KI_ASSERT_HELD(storage->mu);
    return storage->version;
}

uint64_t ki_as_storage_next_version(const struct ki_as_storage *storage)
{
    KI_ASSERT_HELD(storage->mu);
    return storage->version + 1;
}

size_t ki_as_storage_object_bytes_max(const struct ki_as_storage *storage)
{
    return storage->object_bytes_max;
}

uint64_t ki_as_storage_random(struct ki_as_storage *storage)
{
    KI_ASSERT_HELD(storage->mu);
    return ki_random_next(&storage->random);
}

/* ---- collections --------------------------------------------------------------------------------------- */

static struct ki_as_collection *collection_new(struct ki_as_storage *storage,
                                               const struct ki_as_resource *resource)
{
    struct ki_as_collection *collection = ki_calloc(1, sizeof(*collection));
    if (collection == NULL)
        return NULL;
    collection->storage = storage;
    ki_list_init(&collection->idle);
    ki_list_init(&collection->busy);
    ki_as_history_init(&collection->history, storage->history_events_max, storage->compacted);
    collection->history.bytes_max = storage->history_bytes_max;
    collection->group = ki_str_copy(ki_str_of(resource->group));
    collection->plural = ki_str_copy(ki_str_of(resource->plural));
    if (collection->group != NULL && collection->plural != NULL)
        return collection;
    collection_free(collection);
    return NULL;
}

static size_t bucket_of(ki_str plural)
{
    uint32_t hash = 2166136261U;
    for (size_t i = 0; i < plural.len; i++)
        hash = (hash ^ (unsigned char)plural.ptr[i]) * 16777619U;
    return hash % KI_AS_BUCKETS;
}

struct ki_as_collection *ki_as_storage_find_collection(struct ki_as_storage *storage, ki_str group,
                                                       ki_str plural)
{
    KI_ASSERT_HELD(storage->mu);
    struct ki_as_collection *found = storage->buckets[bucket_of(plural)];
    while (found != NULL &&
           (!ki_str_equal(ki_str_of(found->plural), plural) || !ki_str_equal(ki_str_of(found->group), group)))
        found = found->next;
    return found;
}

struct ki_as_collection *ki_as_storage_collection(struct ki_as_storage *storage,
                                                  const struct ki_as_resource *resource)
{
    KI_ASSERT_HELD(storage->mu);
    resource = ki_as_stored_resource(resource);
    ki_str plural = ki_str_of(resource->plural);
    struct ki_as_collection *found =
        ki_as_storage_find_collection(storage, ki_str_of(resource->group), plural);
    if (found == NULL) {
        size_t bucket = bucket_of(plural);
        found = collection_new(storage, resource);
        if (found == NULL)
            return NULL;
        found->next = storage->buckets[bucket];
        storage->buckets[bucket] = found;
    }
    /* A definition may be recreated with another scope once the collection is empty. */
    found->is_namespaced = resource->is_namespaced;
    return found;
}

void ki_as_storage_visit(struct ki_as_storage *storage, ki_as_collection_cb visit, void *user)
{
    KI_ASSERT_HELD(storage->mu);
    for (size_t i = 0; i < KI_AS_BUCKETS; i++)
        for (struct ki_as_collection *at = storage->buckets[i]; at != NULL; at = at->next)
            if (!visit(at, user))
                return;
}

bool ki_as_collection_is_namespaced(const struct ki_as_collection *collection)
{
    return collection->is_namespaced;
}

ki_str ki_as_collection_group(const struct ki_as_collection *collection)
{
    return ki_str_of(collection->group);
}

ki_str ki_as_collection_plural(const struct ki_as_collection *collection)
{
    return ki_str_of(collection->plural);
}

struct ki_as_resource *ki_as_collection_resource(const struct ki_as_collection *collection)
{
    KI_ASSERT_HELD(collection->storage->mu);
    const struct ki_as_resources *resources = &collection->storage->resources;
    for (size_t i = 0; i < resources->count; i++)
        if (strcmp(resources->entries[i]->plural, collection->plural) == 0 &&
            strcmp(resources->entries[i]->group, collection->group) == 0)
            return resources->entries[i];
    return NULL;
}

struct ki_as_object *ki_as_collection_find(const struct ki_as_collection *collection, ki_str ns, ki_str name)
{
    KI_ASSERT_HELD(collection->storage->mu);
    return ki_as_order_find(&collection->order, ns, name);
}

size_t ki_as_collection_count(const struct ki_as_collection *collection)
{
    KI_ASSERT_HELD(collection->storage->mu);
    return collection->order.count;
}

struct ki_as_object *ki_as_collection_next(const struct ki_as_collection *collection, ki_str ns,
                                           const struct ki_as_object *after)
{
    KI_ASSERT_HELD(collection->storage->mu);
    const struct ki_as_order *order = &collection->order;
    struct ki_as_place place = {0, 0};
    if (after != NULL)
        place = ki_as_order_seek(order, after->ns, after->name, true);
    else if (ns.len > 0)
        place = ki_as_order_seek_namespace(order, ns, false);
    struct ki_as_object *object = ki_as_order_at(order, place);
    return object == NULL || ns.len == 0 || ki_str_equal(object->ns, ns) ? object : NULL;
}

/* ---- changes ------------------------------------------------------------------------------------------- */

static void record(struct ki_as_collection *collection, const struct ki_as_change *change)
{
    KI_ASSERT_HELD(collection->storage->mu);
    struct ki_as_storage *storage = collection->storage;
    assert(change->version == storage->version + 1);
    storage->version++;
    collection->is_ended = false;
    ki_as_history_add(&collection->history, change);
    ki_as_watches_notify_locked(collection, change);
}

int ki_as_storage_put(struct ki_as_storage *storage, struct ki_as_collection *collection,
                      struct ki_as_object *object)
{
    KI_ASSERT_HELD(storage->mu);
    assert(collection->storage == storage);
    if (ki_as_history_reserve(&collection->history) < 0 || ki_as_order_reserve(&collection->order) < 0)
        return KI_ERR_NO_MEMORY;
    if (storage->object_count >= storage->objects_max &&
        ki_as_order_find(&collection->order, object->ns, object->name) == NULL)
        return KI_ERR_TOO_LARGE;
    struct ki_as_object *before = ki_as_order_put(&collection->order, ki_as_object_ref(object));
    storage->object_count += before == NULL;
    record(collection, &(struct ki_as_change){object->version, before, ki_as_object_ref(object), false});
    return 0;
}

int ki_as_storage_remove(struct ki_as_storage *storage, struct ki_as_collection *collection,
                         struct ki_as_object *last)
{
    KI_ASSERT_HELD(storage->mu);
    if (ki_as_history_reserve(&collection->history) < 0)
        return KI_ERR_NO_MEMORY;
    struct ki_as_object *before = ki_as_order_remove(&collection->order, last->ns, last->name);
    assert(before != NULL);
    assert(storage->object_count > 0);
    storage->object_count--;
    record(collection, &(struct ki_as_change){last->version, before, ki_as_object_ref(last), true});
    return 0;
}

bool ki_as_collection_has_history(const struct ki_as_collection *collection, uint64_t version)
{
    KI_ASSERT_HELD(collection->storage->mu);
    return version >= collection->history.forgotten;
}

void ki_as_collection_release_locked(struct ki_as_collection *collection)
{
    KI_ASSERT_HELD(collection->storage->mu);
    if (collection->is_ended && collection->owed == 0)
        ki_as_history_forget(&collection->history, collection->storage->version);
}

void ki_as_collection_end(struct ki_as_collection *collection)
{
    KI_ASSERT_HELD(collection->storage->mu);
    ki_as_collection_end_watches(collection);
    collection->is_ended = true;
    ki_as_collection_release_locked(collection);
}

/* ---- faults -------------------------------------------------------------------------------------------- */

static bool forget(struct ki_as_collection *collection, void *user)
{
    (void)user;
    ki_as_history_forget(&collection->history, collection->storage->version);
    return true;
}

void ki_as_storage_compact(struct ki_as_storage *storage)
{
    KI_ASSERT_HELD(storage->mu);
    storage->compacted = storage->version;
    ki_as_storage_visit(storage, forget, NULL);
}

/* Copies of the objects whose version is beyond the new counter, with the counter as their version. */
struct renewal {
    struct ki_as_object **objects;
    size_t count;
    size_t used;
    uint64_t version;
    bool is_out_of_memory;
};

static bool renew(struct ki_as_collection *collection, void *user)
{
    struct renewal *renewal = user;
    const struct ki_as_order *order = &collection->order;
    struct ki_as_place place = {0, 0};
    for (struct ki_as_object *object = NULL; (object = ki_as_order_at(order, place)) != NULL;
         place = ki_as_order_next(order, place)) {
        if (object->version <= renewal->version)
            continue;
        renewal->objects[renewal->count] = ki_as_object_with_version(object, renewal->version);
        if (renewal->objects[renewal->count] == NULL) {
            renewal->is_out_of_memory = true;
            return false;
        }
        renewal->count++;
    }
    return true;
}

/* Replaces the objects by their copies. */
static bool replace_objects(struct ki_as_collection *collection, void *user)
{
    struct renewal *renewal = user;
    struct ki_as_order *order = &collection->order;
    struct ki_as_place place = {0, 0};
    for (struct ki_as_object *object = NULL; (object = ki_as_order_at(order, place)) != NULL;
         place = ki_as_order_next(order, place)) {
        if (object->version > renewal->version) {
            assert(renewal->used < renewal->count);
            order->blocks[place.block]->objects[place.index] = renewal->objects[renewal->used++];
            ki_as_object_unref(object);
        }
    }
    ki_as_history_forget(&collection->history, renewal->version);
    ki_as_watches_reset_locked(collection);
    return true;
}

int ki_as_storage_rewind(struct ki_as_storage *storage, uint64_t by)
{
    KI_ASSERT_HELD(storage->mu);
    if (by >= storage->version)
        return KI_ERR_RANGE;
    struct renewal renewal = {.version = storage->version - by};
    renewal.objects = ki_calloc(storage->object_count + 1, sizeof(struct ki_as_object *));
    if (renewal.objects == NULL)
        return KI_ERR_NO_MEMORY;
    ki_as_storage_visit(storage, renew, &renewal);
    if (!renewal.is_out_of_memory) {
        storage->version = storage->compacted = renewal.version;
        ki_as_storage_visit(storage, replace_objects, &renewal);
    }
    while (renewal.count > renewal.used)
        ki_as_object_unref(renewal.objects[--renewal.count]);
    ki_free(renewal.objects);
    return renewal.is_out_of_memory ? KI_ERR_NO_MEMORY : 0;
}
