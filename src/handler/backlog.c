/* SPDX-License-Identifier: Apache-2.0 */
#include "handler/backlog.h"

#include <assert.h>

#include "api/object/object_layout.h"
#include "util/alloc.h"
#include "util/annotations.h"

/* ---- entries ------------------------------------------------------------------------------------------ */

ki_backlog_entry *ki_backlog_entry_new(void)
{
    return ki_calloc(1, sizeof(ki_backlog_entry));
}

void ki_backlog_entry_free(ki_backlog_entry *entry)
{
    if (entry == NULL)
        return;
    ki_notification_fini(&entry->what);
    ki_free(entry);
}

static ki_backlog_entry *entry_of(ki_list_node *node)
{
    return KI_CONTAINER_OF(node, ki_backlog_entry, node);
}

void ki_backlog_entries_free(ki_list *entries)
{
    for (ki_list_node *node = ki_list_pop_front(entries); node != NULL; node = ki_list_pop_front(entries))
        ki_backlog_entry_free(entry_of(node));
}

static size_t bytes_of(const ki_notification *what)
{
    return (what->object == NULL ? 0 : ki_object_own_bytes(what->object)) +
           (what->old == NULL || what->old == what->object ? 0 : ki_object_own_bytes(what->old));
}

/* Invariant: the events of one key leave in the order in which they were pushed. This holds because
 *   - `merged`, `initial` and `waiting` leave in this order, and a push appends to `waiting`;
 *   - merging takes the first of `initial` or, when that is empty, the first of `waiting`. So the entry of
 *     its key in `merged` is older, and no event of that key is between the two;
 *   - `merged` has at most one entry per key, which `by_key` finds, and at most one marker SYNCED, which has
 *     no key;
 *   - coalescing ends only when `initial` or `merged` is empty. The rest of `merged` is then moved to the
 *     front of `waiting`.
 * `items` and `bytes` are the totals of all three. */
static KI_DEBUG_ONLY bool is_sound(const ki_backlog *backlog)
{
    return backlog->initial_gone <= backlog->initial.count && backlog->by_key.count <= backlog->items &&
           (backlog->is_coalescing || (ki_list_is_empty(&backlog->merged) && backlog->by_key.count == 0)) &&
           (backlog->items > 0 || backlog->bytes == 0);
}

/* ---- initial adds -------------------------------------------------------------------------------------- */

static bool has_initial(const ki_backlog *backlog)
{
    return backlog->initial_gone < backlog->initial.count;
}

/* Prefetches the objects of the next step, which may be anywhere in memory. */
static void prefetch_initial(const ki_backlog *backlog)
{
    size_t left = backlog->initial.count - backlog->initial_gone;
    for (size_t i = 0; i < backlog->limits.step && i < left; i++)
        ki_object_prefetch(backlog->initial.objects[backlog->initial_gone + i]);
}

static ki_notification take_initial(ki_backlog *backlog)
{
    assert(has_initial(backlog));
    ki_notification what = {.type = KI_CHANGE_ADDED,
                            .flags = KI_EVENT_INITIAL,
                            .object = backlog->initial.objects[backlog->initial_gone++]};
    if (!has_initial(backlog)) {
        ki_free(backlog->initial.objects);
        backlog->initial = (ki_object_list){0};
        backlog->initial_gone = 0;
    }
    return what;
}

void ki_backlog_begin(ki_backlog *backlog, ki_object_list *objects, size_t bytes)
{
    assert(backlog->items == 0 && (objects->count > 0 || objects->objects == NULL));
    backlog->initial = *objects;
    backlog->items = backlog->items_high_water = objects->count;
    backlog->bytes = bytes;
    *objects = (ki_object_list){0};
}

/* ---- making and clearing ------------------------------------------------------------------------------- */

void ki_backlog_init(ki_backlog *backlog, const ki_backlog_limits *limits, const ki_hash_key *hash_key)
{
    assert(limits->step != 1);
    *backlog = (ki_backlog){.limits = *limits, .hash_key = *hash_key};
    if (backlog->limits.step == 0)
        backlog->limits.step = KI_BACKLOG_STEP;
    ki_list_init(&backlog->merged);
    ki_list_init(&backlog->waiting);
    ki_map_init(&backlog->by_key);
}

void ki_backlog_clear(ki_backlog *backlog)
{
    assert(is_sound(backlog));
    ki_backlog_entries_free(&backlog->merged);
    ki_map_fini(&backlog->by_key);
    while (has_initial(backlog)) {
        ki_notification what = take_initial(backlog);
        ki_notification_fini(&what);
    }
    ki_backlog_entries_free(&backlog->waiting);
    backlog->is_coalescing = false;
    backlog->items = 0;
    backlog->bytes = 0;
}

void ki_backlog_detach(ki_backlog *backlog, ki_backlog *out_rest)
{
    assert(backlog != NULL && out_rest != NULL);
    *out_rest = *backlog;
    ki_list_init(&out_rest->merged);
    ki_list_init(&out_rest->waiting);
    ki_list_splice_back(&out_rest->merged, &backlog->merged);
    ki_list_splice_back(&out_rest->waiting, &backlog->waiting);
    ki_map_init(&backlog->by_key);
    backlog->initial = (ki_object_list){0};
    backlog->initial_gone = 0;
    ki_backlog_clear(backlog);
}

/* ---- the table ----------------------------------------------------------------------------------------- */

bool ki_backlog_is_past_limit(const ki_backlog *backlog)
{
    assert(is_sound(backlog));
    return backlog->items > backlog->limits.items_max || backlog->bytes > backlog->limits.bytes_max;
}

static uint64_t hash_of(const ki_backlog *backlog, const ki_object *object)
{
    assert(object != NULL);
    return ki_hash(&backlog->hash_key, ki_object_key_str(object));
}

static int has_key(const ki_map_node *node, const void *key)
{
    const ki_backlog_entry *entry = KI_CONTAINER_OF(node, ki_backlog_entry, by_key);
    return ki_str_equal(ki_object_key_str(entry->what.object), *(const ki_str *)key);
}

static ki_backlog_entry *find(const ki_backlog *backlog, const ki_object *object, uint64_t hash)
{
    ki_str key = ki_object_key_str(object);
    ki_map_node *node = ki_map_find(&backlog->by_key, hash, has_key, &key);
    return node == NULL ? NULL : KI_CONTAINER_OF(node, ki_backlog_entry, by_key);
}

static void uncount(ki_backlog *backlog, const ki_backlog_entry *entry)
{
    assert(backlog->items > 0 && backlog->bytes >= entry->bytes);
    backlog->items--;
    backlog->bytes -= entry->bytes;
}

static void recount(ki_backlog *backlog, ki_backlog_entry *entry)
{
    assert(backlog->bytes >= entry->bytes);
    backlog->bytes -= entry->bytes;
    entry->bytes = bytes_of(&entry->what);
    backlog->bytes += entry->bytes;
}

static void remove_merged(ki_backlog *backlog, ki_backlog_entry *entry)
{
    ki_list_remove(&entry->node);
    if (entry->what.type != 0)
        ki_map_remove(&backlog->by_key, &entry->by_key);
    uncount(backlog, entry);
}

/* ---- merging ------------------------------------------------------------------------------------------- */

/* Past the byte limit, drops the old object of a merged entry, unless it is the same as the object and uses
 * no extra memory. */
static void let_go_of_old(ki_backlog *backlog, ki_backlog_entry *entry)
{
    if (entry->what.old == NULL || entry->what.old == entry->what.object || backlog->limits.keeps_old ||
        backlog->bytes <= backlog->limits.bytes_max)
        return;
    entry->what.old = ki_object_unref(entry->what.old);
    entry->what.flags |= KI_EVENT_COALESCED;
    recount(backlog, entry);
}

/* Merges `entry` into `place`, the merged entry of its key. Takes `entry`. */
static void join(ki_backlog *backlog, ki_backlog_entry *place, ki_backlog_entry *entry)
{
    assert(place != entry && place->what.type != 0 && entry->what.type != 0);
    ki_notification merged = ki_notification_merge(place->what, entry->what);
    uncount(backlog, entry);
    ki_free(entry);
    backlog->coalesced++;
    if (merged.type == 0) {
        remove_merged(backlog, place);
        ki_free(place);
        return;
    }
    place->what = merged;
    recount(backlog, place);
    let_go_of_old(backlog, place);
}

/* Turns the next initial add into a merged entry. The merged entries have other keys.
 * Returns false when out of memory. */
static bool merge_initial(ki_backlog *backlog)
{
    assert(backlog->is_coalescing && has_initial(backlog));
    const ki_object *object = backlog->initial.objects[backlog->initial_gone];
    ki_backlog_entry *entry = ki_backlog_entry_new();
    if (entry == NULL || ki_map_insert(&backlog->by_key, &entry->by_key, hash_of(backlog, object)) < 0) {
        ki_free(entry);
        return false;
    }
    entry->what = take_initial(backlog);
    entry->bytes = bytes_of(&entry->what);
    ki_list_push_back(&backlog->merged, &entry->node);
    return true;
}

/* Returns false when there is nothing to merge, or when out of memory. */
static bool merge_waiting(ki_backlog *backlog)
{
    assert(backlog->is_coalescing && !has_initial(backlog));
    ki_list_node *node = ki_list_first(&backlog->waiting);
    if (node == NULL)
        return false;
    ki_backlog_entry *entry = entry_of(node);
    bool is_keyed = entry->what.type != 0;
    uint64_t hash = is_keyed ? hash_of(backlog, entry->what.object) : 0;
    ki_backlog_entry *place = is_keyed ? find(backlog, entry->what.object, hash) : NULL;
    if (is_keyed && place == NULL && ki_map_insert(&backlog->by_key, &entry->by_key, hash) < 0)
        return false;
    ki_list_remove(node);
    if (place != NULL) {
        join(backlog, place, entry);
    } else {
        ki_list_push_back(&backlog->merged, node);
        let_go_of_old(backlog, entry);
    }
    return true;
}

/* The number of entries that a push merges. It grows with the bytes of the event. With a fixed number, large
 * events after many small ones would exceed the byte limit by far before they are merged. */
static size_t steps_for(const ki_backlog *backlog, const ki_backlog_entry *entry)
{
    assert(backlog->is_coalescing && backlog->bytes_each > 0);
    size_t steps = entry->bytes * KI_BACKLOG_SHARE / backlog->bytes_each + 1;
    return steps > backlog->limits.step ? steps : backlog->limits.step;
}

/* When out of memory, the entries stay as they are; the next push tries again. */
static void merge_some(ki_backlog *backlog, size_t steps)
{
    bool was_one = true;
    for (size_t i = 0; i < steps && was_one; i++) {
        if (i % backlog->limits.step == 0)
            prefetch_initial(backlog);
        was_one = has_initial(backlog) ? merge_initial(backlog) : merge_waiting(backlog);
    }
}

/* ---- adding and taking --------------------------------------------------------------------------------- */

static void begin_coalescing(ki_backlog *backlog)
{
    assert(!backlog->is_coalescing && !backlog->limits.is_plain && backlog->items > 0);
    size_t bytes = backlog->bytes > backlog->limits.bytes_max ? backlog->bytes : backlog->limits.bytes_max;
    backlog->is_coalescing = true;
    backlog->bytes_each = bytes < backlog->items ? 1 : bytes / backlog->items;
    ki_map_reserve(&backlog->by_key, backlog->items);
}

void ki_backlog_push(ki_backlog *backlog, ki_backlog_entry *entry)
{
    assert(is_sound(backlog));
    entry->bytes = bytes_of(&entry->what);
    backlog->items++;
    backlog->bytes += entry->bytes;
    ki_list_push_back(&backlog->waiting, &entry->node);
    if (!backlog->is_coalescing && !backlog->limits.is_plain && ki_backlog_is_past_limit(backlog))
        begin_coalescing(backlog);
    if (backlog->is_coalescing)
        merge_some(backlog, steps_for(backlog, entry));
    if (backlog->items > backlog->items_high_water)
        backlog->items_high_water = backlog->items;
}

/* Once the handler has caught up, the backlog becomes a plain queue again, and the table is freed. Not while
 * initial adds wait after merged entries, because the order would change. */
static void end_coalescing(ki_backlog *backlog)
{
    if (!backlog->is_coalescing || backlog->items > backlog->limits.items_max / 2 ||
        backlog->bytes > backlog->limits.bytes_max / 2 ||
        (has_initial(backlog) && !ki_list_is_empty(&backlog->merged)))
        return;
    backlog->is_coalescing = false;
    ki_map_fini(&backlog->by_key);
    ki_list_splice_back(&backlog->merged, &backlog->waiting);
    ki_list_splice_back(&backlog->waiting, &backlog->merged);
}

static ki_notification take_initial_out(ki_backlog *backlog)
{
    assert(backlog->items > 0 && ki_list_is_empty(&backlog->merged));
    ki_notification what = take_initial(backlog);
    backlog->items--;
    backlog->bytes -= bytes_of(&what);
    return what;
}

static ki_backlog_entry *take_entry_out(ki_backlog *backlog)
{
    ki_list_node *node = ki_list_first(&backlog->merged);
    if (node != NULL) {
        remove_merged(backlog, entry_of(node));
    } else if ((node = ki_list_pop_front(&backlog->waiting)) != NULL) {
        uncount(backlog, entry_of(node));
    }
    return node == NULL ? NULL : entry_of(node);
}

bool ki_backlog_take(ki_backlog *backlog, ki_notification *out_what, ki_backlog_entry **out_spent)
{
    assert(is_sound(backlog));
    ki_backlog_entry *entry = NULL;
    if (ki_list_is_empty(&backlog->merged) && has_initial(backlog)) {
        *out_what = take_initial_out(backlog);
    } else {
        entry = take_entry_out(backlog);
        if (entry == NULL)
            return false;
        *out_what = entry->what;
    }
    *out_spent = entry;
    end_coalescing(backlog);
    return true;
}
