/* SPDX-License-Identifier: Apache-2.0 */
/* A watch is idle when a take has found nothing. Its position is then the end of the history, even if that
 * moves on, and a change that does not match costs one evaluation of its selector. A change that matches
 * wakes the watch; then it is busy until it has taken everything. */
#include "apiserver/storage/watch.h"

#include <assert.h>
#include <kinformer/error.h>
#include <string.h>

#include "apiserver/storage/storage_layout.h"
#include "util/alloc.h"

struct ki_as_watch {
    ki_list_node node; /* in a list of the collection, unless the watch has ended */
    struct ki_as_collection *collection;
    struct ki_as_resource *resource;
    struct ki_as_selector *selector;
    char *ns; /* "" for all */
    size_t ns_len;
    uint64_t next;  /* the number of the next change to take; unused while the watch is idle */
    uint64_t after; /* changes up to this version are ignored */
    uint64_t seen;  /* after the end: the version for a bookmark; if changes were lost, `after` */
    bool is_idle;
    bool is_owed; /* counted in `owed` of the collection */
    enum ki_as_watch_end end;
    uint64_t end_next; /* after the end: the number of the first change that the watch does not get */
    ki_as_wake_cb wake;
    ki_as_wake_cb lose;
    void *user;
};

static bool concerns(const struct ki_as_watch *watch, const struct ki_as_object *object)
{
    if (object == NULL)
        return false;
    if (watch->ns_len > 0 && !ki_str_equal(object->ns, (ki_str){watch->ns, watch->ns_len}))
        return false;
    return ki_as_selector_matches(watch->selector, object);
}

/* Translates a change into an event of this watch. False if the change does not concern it. */
static bool translate(const struct ki_as_watch *watch, const struct ki_as_change *change,
                      struct ki_as_event *event)
{
    if (change->version <= watch->after)
        return false;
    bool was_there = concerns(watch, change->before);
    bool is_there = !change->is_removal && concerns(watch, change->after);
    if (!was_there && !is_there)
        return false;
    event->version = change->version;
    event->object = change->after;
    event->type = KI_AS_MODIFIED;
    if (!was_there)
        event->type = KI_AS_ADDED;
    if (!is_there) {
        event->type = KI_AS_DELETED;
        /* An object that merely stopped matching is shown in its last matching state. */
        if (!change->is_removal)
            event->object = change->before;
    }
    return true;
}

static void list_move(ki_list *list, struct ki_as_watch *watch)
{
    ki_list_remove(&watch->node);
    ki_list_push_back(list, &watch->node);
}

/* Ends the busy watches that have not taken changes which the history has dropped. */
static void lose_slow(struct ki_as_collection *collection)
{
    for (ki_list_node *node = ki_list_first(&collection->busy), *next = NULL; node != NULL; node = next) {
        struct ki_as_watch *watch = KI_CONTAINER_OF(node, struct ki_as_watch, node);
        next = ki_list_next(&collection->busy, node);
        if (watch->next >= collection->history.first)
            continue;
        assert(watch->end == KI_AS_WATCH_OPEN && !watch->is_owed);
        watch->end = KI_AS_WATCH_EXPIRED;
        watch->end_next = 0;
        watch->seen = watch->after;
        ki_list_remove(&watch->node);
        if (watch->lose != NULL)
            watch->lose(watch->user);
    }
}

void ki_as_watches_notify_locked(struct ki_as_collection *collection, const struct ki_as_change *change)
{
    KI_ASSERT_HELD(collection->storage->mu);
    struct ki_as_event event;
    ki_list_node *node = ki_list_first(&collection->idle);
    while (node != NULL) {
        struct ki_as_watch *watch = KI_CONTAINER_OF(node, struct ki_as_watch, node);
        node = ki_list_next(&collection->idle, node);
        assert(watch->is_idle && watch->end == KI_AS_WATCH_OPEN);
        if (!translate(watch, change, &event))
            continue;
        watch->is_idle = false;
        watch->next = collection->history.next - 1;
        list_move(&collection->busy, watch);
        watch->wake(watch->user);
    }
    if (collection->history.first > 0)
        lose_slow(collection);
}

/* Ends the watch, and wakes it if it is idle. With `takes_rest`, it can still take the changes so far. */
static void finish(struct ki_as_watch *watch, enum ki_as_watch_end end, bool takes_rest)
{
    assert(watch->end == KI_AS_WATCH_OPEN && end != KI_AS_WATCH_OPEN);
    assert(ki_list_node_is_linked(&watch->node) && !watch->is_owed);
    struct ki_as_collection *collection = watch->collection;
    bool was_idle = watch->is_idle;
    if (was_idle)
        watch->next = collection->history.next;
    watch->is_idle = false;
    watch->end = end;
    watch->end_next = takes_rest ? collection->history.next : 0;
    watch->seen = collection->storage->version;
    watch->is_owed = watch->next < watch->end_next;
    collection->owed += watch->is_owed;
    ki_list_remove(&watch->node);
    if (was_idle)
        watch->wake(watch->user);
}

static void finish_all(ki_list *list, bool takes_rest)
{
    for (ki_list_node *node = ki_list_first(list); node != NULL; node = ki_list_first(list))
        finish(KI_CONTAINER_OF(node, struct ki_as_watch, node), KI_AS_WATCH_GONE, takes_rest);
}

void ki_as_watches_reset_locked(struct ki_as_collection *collection)
{
    KI_ASSERT_HELD(collection->storage->mu);
    finish_all(&collection->idle, false);
    finish_all(&collection->busy, false);
}

void ki_as_collection_end_watches(struct ki_as_collection *collection)
{
    KI_ASSERT_HELD(collection->storage->mu);
    finish_all(&collection->idle, true);
    finish_all(&collection->busy, true);
}

static bool is_served(const struct ki_as_watch *watch)
{
    const struct ki_as_resource *resource = watch->resource;
    return ki_as_resources_find(&watch->collection->storage->resources, ki_str_of(resource->group),
                                ki_str_of(resource->version), ki_str_of(resource->plural)) != NULL;
}

static void finish_unserved(ki_list *list)
{
    for (ki_list_node *node = ki_list_first(list), *next = NULL; node != NULL; node = next) {
        struct ki_as_watch *watch = KI_CONTAINER_OF(node, struct ki_as_watch, node);
        next = ki_list_next(list, node);
        if (!is_served(watch))
            finish(watch, KI_AS_WATCH_GONE, true);
    }
}

void ki_as_collection_end_unserved(struct ki_as_collection *collection)
{
    KI_ASSERT_HELD(collection->storage->mu);
    finish_unserved(&collection->idle);
    finish_unserved(&collection->busy);
}

static void watch_free(struct ki_as_watch *watch)
{
    ki_as_resource_unref(watch->resource);
    ki_as_selector_free(watch->selector);
    ki_free(watch->ns);
    ki_free(watch);
}

static struct ki_as_watch *watch_new(const struct ki_as_watch_options *options)
{
    assert(options->resource != NULL);
    struct ki_as_watch *watch = ki_calloc(1, sizeof(*watch));
    if (watch == NULL)
        return NULL;
    watch->ns = ki_malloc(options->ns.len + 1);
    if (watch->ns == NULL) {
        ki_free(watch);
        return NULL;
    }
    if (options->ns.len > 0)
        memcpy(watch->ns, options->ns.ptr, options->ns.len);
    watch->ns_len = options->ns.len;
    watch->resource = ki_as_resource_ref(options->resource);
    watch->selector = options->selector;
    watch->after = options->after;
    watch->wake = options->wake;
    watch->lose = options->lose;
    watch->user = options->user;
    return watch;
}

static void place(struct ki_as_watch *watch)
{
    KI_ASSERT_HELD(watch->collection->storage->mu);
    struct ki_as_collection *collection = watch->collection;
    if (!is_served(watch)) {
        watch->end = KI_AS_WATCH_GONE;
        return;
    }
    if (!ki_as_collection_has_history(collection, watch->after)) {
        watch->end = KI_AS_WATCH_EXPIRED;
        return;
    }
    watch->next = ki_as_history_after(&collection->history, watch->after);
    ki_list_push_back(&collection->busy, &watch->node);
}

int ki_as_watch_open(struct ki_as_storage *storage, const struct ki_as_watch_options *options,
                     struct ki_as_watch **out)
{
    struct ki_as_watch *watch = watch_new(options);
    if (watch == NULL)
        return KI_ERR_NO_MEMORY;
    ki_as_storage_lock(storage);
    watch->collection = ki_as_storage_collection(storage, options->resource);
    if (watch->collection != NULL)
        place(watch);
    ki_as_storage_unlock(storage);
    if (watch->collection == NULL) {
        watch->selector = NULL;
        watch_free(watch);
        return KI_ERR_NO_MEMORY;
    }
    *out = watch;
    return 0;
}

/* Called when the watch no longer needs the history. */
static void settle(struct ki_as_watch *watch)
{
    KI_ASSERT_HELD(watch->collection->storage->mu);
    if (!watch->is_owed)
        return;
    watch->is_owed = false;
    assert(watch->collection->owed > 0);
    watch->collection->owed--;
    ki_as_collection_release_locked(watch->collection);
}

void ki_as_watch_close(struct ki_as_watch *watch)
{
    if (watch == NULL)
        return;
    struct ki_as_storage *storage = watch->collection->storage;
    ki_as_storage_lock(storage);
    ki_list_remove(&watch->node);
    settle(watch);
    ki_as_storage_unlock(storage);
    watch_free(watch);
}

/* Takes changes from `next` to `end`, up to `max` events. */
static size_t take_changes(struct ki_as_watch *watch, struct ki_as_event *events, size_t max, uint64_t end)
{
    assert(end <= watch->collection->history.next);
    const struct ki_as_history *history = &watch->collection->history;
    size_t count = 0;
    while (watch->next < end && count < max) {
        const struct ki_as_change *change = ki_as_history_at(history, watch->next++);
        if (translate(watch, change, &events[count]))
            (void)ki_as_object_ref(events[count++].object);
    }
    return count;
}

/* The version up to which the watch has taken every change before `end`. */
static uint64_t version_reached(const struct ki_as_watch *watch, uint64_t end)
{
    if (watch->next < end)
        return ki_as_history_at(&watch->collection->history, watch->next)->version - 1;
    return watch->end == KI_AS_WATCH_OPEN ? watch->collection->storage->version : watch->seen;
}

static size_t take_locked(struct ki_as_watch *watch, struct ki_as_event *events, size_t max,
                          uint64_t *out_version)
{
    KI_ASSERT_HELD(watch->collection->storage->mu);
    struct ki_as_collection *collection = watch->collection;
    const struct ki_as_history *history = &collection->history;
    if (watch->is_idle) {
        watch->after =
            collection->storage->version > watch->after ? collection->storage->version : watch->after;
        *out_version = watch->after;
        return 0;
    }
    bool is_over = watch->end != KI_AS_WATCH_OPEN;
    uint64_t end = is_over ? watch->end_next : history->next;
    if (watch->next < end && watch->next < history->first) {
        watch->end = KI_AS_WATCH_EXPIRED;
        watch->end_next = 0;
        ki_list_remove(&watch->node);
        *out_version = watch->after;
        return 0;
    }
    size_t count = take_changes(watch, events, max, end);
    uint64_t version = version_reached(watch, end);
    if (version > watch->after)
        watch->after = version;
    *out_version = watch->after;
    if (!is_over && count == 0 && watch->next == end) {
        watch->is_idle = true;
        list_move(&collection->idle, watch);
    }
    return count;
}

size_t ki_as_watch_take(struct ki_as_watch *watch, struct ki_as_event *events, size_t max,
                        uint64_t *out_version, enum ki_as_watch_end *out_end)
{
    assert(max > 0 && events != NULL);
    struct ki_as_storage *storage = watch->collection->storage;
    ki_as_storage_lock(storage);
    size_t count = take_locked(watch, events, max, out_version);
    /* A watch that starts at a version in the future has not seen more than the current version. */
    if (*out_version > storage->version)
        *out_version = storage->version;
    /* The end is reported only after all changes were taken. */
    *out_end = watch->next < watch->end_next ? KI_AS_WATCH_OPEN : watch->end;
    if (watch->next >= watch->end_next)
        settle(watch);
    ki_as_storage_unlock(storage);
    return count;
}
