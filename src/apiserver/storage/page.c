/* SPDX-License-Identifier: Apache-2.0 */
/* A page of an older version merges the current objects with old ones: for each key that has changed since,
 * it shows the object before the first of these changes. */
#include <assert.h>
#include <kinformer/error.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/storage/storage_layout.h"
#include "util/alloc.h"

enum { PAGE_OBJECTS_MIN = 16 };

/* A key that changed after the version of the page. */
struct undone {
    const struct ki_as_object *key;
    struct ki_as_object *object; /* at that version; NULL if there was none */
    uint64_t number;
};

struct walk {
    const struct ki_as_collection *collection;
    const struct ki_as_page_request *request;
    ki_str after_ns;
    ki_str after_name;
    struct ki_as_place place;
    struct ki_as_place end;
    struct undone *undone; /* sorted by key */
    size_t undone_count;
    size_t undone_at;
};

static void split_key(struct walk *walk)
{
    ki_str key = walk->request->after;
    const char *slash = walk->collection->is_namespaced && key.len > 0 ? memchr(key.ptr, '/', key.len) : NULL;
    if (slash == NULL) {
        walk->after_name = key;
        return;
    }
    walk->after_ns = (ki_str){key.ptr, (size_t)(slash - key.ptr)};
    walk->after_name = (ki_str){slash + 1, key.len - walk->after_ns.len - 1};
}

static bool is_in_range(const struct walk *walk, const struct ki_as_object *object)
{
    if (walk->request->ns.len > 0 && !ki_str_equal(object->ns, walk->request->ns))
        return false;
    return walk->request->after.len == 0 || ki_as_key_compare(walk->after_ns, walk->after_name, object) < 0;
}

static int compare_undone(const void *a, const void *b)
{
    const struct undone *left = a;
    const struct undone *right = b;
    int order = ki_as_key_compare(left->key->ns, left->key->name, right->key);
    if (order == 0)
        order = left->number < right->number ? -1 : 1;
    return order;
}

/* Collects the keys that have changed since the version, with the objects of that version.
 * Returns 0 or KI_ERR_NO_MEMORY. */
static int undo(struct walk *walk)
{
    const struct ki_as_history *history = &walk->collection->history;
    uint64_t first = ki_as_history_after(history, walk->request->version);
    if (walk->request->version == 0 || first == history->next)
        return 0;
    walk->undone = ki_malloc((size_t)(history->next - first) * sizeof(struct undone));
    if (walk->undone == NULL)
        return KI_ERR_NO_MEMORY;
    size_t count = 0;
    for (uint64_t number = first; number < history->next; number++) {
        const struct ki_as_change *change = ki_as_history_at(history, number);
        if (is_in_range(walk, change->after))
            walk->undone[count++] = (struct undone){change->after, change->before, number};
    }
    qsort(walk->undone, count, sizeof(struct undone), compare_undone);
    for (size_t i = 0; i < count; i++) {
        const struct ki_as_object *key = walk->undone[i].key;
        if (i == 0 || ki_as_key_compare(key->ns, key->name, walk->undone[walk->undone_count - 1].key) != 0)
            walk->undone[walk->undone_count++] = walk->undone[i];
    }
    return 0;
}

static void seek(struct walk *walk)
{
    const struct ki_as_order *order = &walk->collection->order;
    ki_str ns = walk->request->ns;
    walk->place = ns.len == 0 ? (struct ki_as_place){0, 0} : ki_as_order_seek_namespace(order, ns, false);
    walk->end = ns.len == 0 ? ki_as_order_end(order) : ki_as_order_seek_namespace(order, ns, true);
    if (walk->request->after.len == 0)
        return;
    struct ki_as_place after = ki_as_order_seek(order, walk->after_ns, walk->after_name, true);
    if (ki_as_order_rank(order, after) > ki_as_order_rank(order, walk->place))
        walk->place = after;
    if (ki_as_order_rank(order, walk->place) > ki_as_order_rank(order, walk->end))
        walk->place = walk->end;
}

static bool is_at_end(const struct walk *walk)
{
    assert(walk->place.block <= walk->end.block);
    return walk->place.block == walk->end.block && walk->place.index == walk->end.index;
}

/* The next object of the page's version, or NULL at the end. */
static struct ki_as_object *next(struct walk *walk)
{
    for (;;) {
        const struct ki_as_order *order = &walk->collection->order;
        struct ki_as_object *now = is_at_end(walk) ? NULL : ki_as_order_at(order, walk->place);
        const struct undone *then =
            walk->undone_at < walk->undone_count ? &walk->undone[walk->undone_at] : NULL;
        if (now == NULL && then == NULL)
            return NULL;
        int side = now == NULL ? -1 : 1;
        if (now != NULL && then != NULL)
            side = ki_as_key_compare(then->key->ns, then->key->name, now);
        if (side >= 0)
            walk->place = ki_as_order_next(order, walk->place);
        if (side > 0)
            return now;
        assert(then != NULL);
        walk->undone_at++;
        if (then->object != NULL)
            return then->object;
    }
}

static struct ki_as_object *next_match(struct walk *walk)
{
    struct ki_as_object *object = next(walk);
    while (object != NULL && !ki_as_selector_matches(walk->request->selector, object))
        object = next(walk);
    return object;
}

/* Counts the remaining objects without visiting them; there must be no selector. These are the current
 * objects, less those with an undone key, plus the old objects. */
static size_t count_rest(const struct walk *walk)
{
    assert(walk->undone_at <= walk->undone_count);
    const struct ki_as_order *order = &walk->collection->order;
    size_t rest = ki_as_order_rank(order, walk->end) - ki_as_order_rank(order, walk->place);
    for (size_t i = walk->undone_at; i < walk->undone_count; i++) {
        const struct undone *then = &walk->undone[i];
        rest += then->object != NULL;
        rest -= ki_as_order_find(order, then->key->ns, then->key->name) != NULL;
    }
    return rest;
}

static int append(struct ki_as_page *page, size_t *capacity, struct ki_as_object *object)
{
    assert(page->count <= *capacity);
    if (page->count == *capacity) {
        size_t bigger = *capacity == 0 ? PAGE_OBJECTS_MIN : *capacity * 2;
        struct ki_as_object **objects = ki_realloc(page->objects, bigger * sizeof(struct ki_as_object *));
        if (objects == NULL)
            return KI_ERR_NO_MEMORY;
        page->objects = objects;
        *capacity = bigger;
    }
    page->objects[page->count++] = ki_as_object_ref(object);
    return 0;
}

static int fill(struct walk *walk, struct ki_as_page *page)
{
    assert(page->count == 0 && page->objects == NULL);
    size_t limit = walk->request->limit;
    size_t capacity = 0;
    while (limit == 0 || page->count < limit) {
        struct ki_as_object *object = next_match(walk);
        if (object == NULL)
            return 0;
        if (append(page, &capacity, object) < 0)
            return KI_ERR_NO_MEMORY;
    }
    if (walk->request->selector == NULL) {
        page->remaining = count_rest(walk);
        page->is_more = page->remaining > 0;
    } else {
        page->is_more = next_match(walk) != NULL;
    }
    return 0;
}

/* A single object requested by name needs no iteration. */
static int fill_one(const struct ki_as_collection *collection, const struct ki_as_page_request *request,
                    struct ki_as_page *page)
{
    assert(request->ns.len > 0 || !collection->is_namespaced);
    ki_str name = ki_as_selector_name(request->selector);
    struct ki_as_object *object = ki_as_order_find(&collection->order, request->ns, name);
    size_t capacity = 0;
    if (object == NULL || !ki_as_selector_matches(request->selector, object))
        return 0;
    return append(page, &capacity, object);
}

int ki_as_storage_page(struct ki_as_storage *storage, struct ki_as_collection *collection,
                       const struct ki_as_page_request *request, struct ki_as_page *out_page,
                       struct ki_as_failure *failure)
{
    KI_ASSERT_HELD(storage->mu);
    assert(collection->storage == storage);
    bool is_now = request->version == 0 || request->version >= storage->version;
    if (!is_now && !ki_as_collection_has_history(collection, request->version))
        return ki_as_fail_expired(failure, "The resourceVersion for the provided list is too old.");
    struct ki_as_page page = {.version = is_now ? storage->version : request->version};
    struct walk walk = {.collection = collection, .request = request};
    int rc = 0;
    if (is_now && request->after.len == 0 && (request->ns.len > 0 || !collection->is_namespaced) &&
        ki_as_selector_name(request->selector).len > 0) {
        rc = fill_one(collection, request, &page);
    } else {
        split_key(&walk);
        rc = undo(&walk);
        seek(&walk);
        if (rc == 0)
            rc = fill(&walk, &page);
        ki_free(walk.undone);
    }
    if (rc < 0) {
        ki_as_page_fini(&page);
        return ki_as_fail_no_memory(failure);
    }
    *out_page = page;
    return 0;
}

void ki_as_page_fini(struct ki_as_page *page)
{
    for (size_t i = 0; i < page->count; i++)
        ki_as_object_unref(page->objects[i]);
    ki_free(page->objects);
    *page = (struct ki_as_page){0};
}
