/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/delta_fifo.h"

#include <assert.h>

/* Invariants, all under mu:
 *   - Every waiting entry is in `queue`. It is also in `keys` if it has the changes of a key; each key is
 *     there once. So all waiting changes of a key are together, oldest first, at the position where the key
 *     was first queued.
 *   - `items` is the length of `queue`, `bytes` the sum of its entries' bytes.
 *   - An entry in `spare` is cleared, and neither in `queue` nor in `keys`; `spare_count` is the length of
 *     `spare`.
 *   - entry->version_before is the value of `received` when the entry was queued. It does not decrease from
 *     head to tail, because `received` only grows while entries wait. So everything that was received up to
 *     the head's version_before has left the queue: it was in entries that were queued before the head.
 *   - fifo->fresh_ns is entry->fresh_ns of the first entry not yet processed (popped first, then the head);
 *     without any, heard_ns.
 *
 * A push appends to the waiting entry of its key or queues a new one, and raises `received` afterwards. A pop
 * takes from the head. Only begin_history() and reset() set `received` back, and they drop all entries first;
 * the markers that begin_history() queues come after that. */

enum { ITEMS_DEFAULT = 10000, BYTES_DEFAULT = 16 * 1024 * 1024 };

int ki_delta_fifo_init(ki_delta_fifo *fifo, const ki_delta_fifo_options *options)
{
    static const ki_delta_fifo_options defaults = {0};
    if (options == NULL)
        options = &defaults;
    ki_hash_key hash_key;
    if (options->hash_key != NULL)
        hash_key = *options->hash_key;
    else if (ki_hash_key_init(&hash_key) < 0)
        return KI_ERR_SYSTEM;
    *fifo = (ki_delta_fifo){.items_max = options->items_max == 0 ? ITEMS_DEFAULT : options->items_max,
                            .bytes_max = options->bytes_max == 0 ? BYTES_DEFAULT : options->bytes_max,
                            .hash_key = hash_key,
                            .heard_ns = UINT64_MAX};
    atomic_init(&fifo->fresh_ns, UINT64_MAX);
    ki_mutex_init(&fifo->mu);
    ki_list_init(&fifo->queue);
    ki_list_init(&fifo->spare);
    ki_map_init(&fifo->keys);
    return 0;
}

/* The parts of the invariants that are cheap to check. */
static KI_DEBUG_ONLY bool is_sound_locked(const ki_delta_fifo *fifo)
{
    return ki_list_is_empty(&fifo->queue) == (fifo->items == 0) && fifo->keys.count <= fifo->items &&
           (fifo->items > 0 || fifo->bytes == 0);
}

static void drop_all_locked(ki_delta_fifo *fifo)
{
    ki_delta_entry_free_all(&fifo->queue);
    ki_map_fini(&fifo->keys);
    fifo->items = 0;
    fifo->bytes = 0;
    fifo->ended_list = 0;
    fifo->heard_ns = ki_delta_fifo_fresh_ns(fifo); /* dropped changes count as not received */
}

void ki_delta_fifo_fini(ki_delta_fifo *fifo)
{
    if (fifo->items_max == 0)
        return;
    drop_all_locked(fifo);
    ki_delta_entry_free_all(&fifo->spare);
    ki_resource_version_clear(&fifo->received);
    ki_mutex_fini(&fifo->mu);
    *fifo = (ki_delta_fifo){0};
}

static ki_delta_entry *marker_new(ki_change_type marker, uint32_t list)
{
    ki_delta_entry *entry = ki_delta_entry_new((ki_str){0});
    if (entry != NULL) {
        entry->marker = marker;
        entry->list = list;
    }
    return entry;
}

static int is_full_locked(const ki_delta_fifo *fifo)
{
    KI_ASSERT_HELD(fifo->mu);
    return fifo->items >= fifo->items_max || fifo->bytes >= fifo->bytes_max;
}

/* ---- how fresh the consumer is ----------------------------------------------------------------------- */

/* Relaxed: nothing else is read together with this number. */
uint64_t ki_delta_fifo_fresh_ns(const ki_delta_fifo *fifo)
{
    return atomic_load_explicit(&fifo->fresh_ns, memory_order_relaxed);
}

/* Relaxed, for the same reason. Two threads never store at the same time: the consumer stores while it
 * processes what it has popped; the producer stores when it queues the first entry while nothing is being
 * processed. */
static void set_fresh(ki_delta_fifo *fifo, uint64_t fresh_ns)
{
    atomic_store_explicit(&fifo->fresh_ns, fresh_ns, memory_order_relaxed);
}

/* A watch reports changes in order, so an event or a bookmark that is newer than what was received shows that
 * everything before it has been received: `is_news`. An item of a list has no version, so it is never news.
 * Before the end of a list nothing is complete. */
static uint64_t fresh_before_locked(const ki_delta_fifo *fifo, int is_news)
{
    KI_ASSERT_HELD(fifo->mu);
    return is_news && fifo->heard_ns != UINT64_MAX ? fifo->now_ns : fifo->heard_ns;
}

/* ---- pushing ----------------------------------------------------------------------------------------- */

/* Puts a new entry at the end of the queue. */
static void enqueue_locked(ki_delta_fifo *fifo, ki_delta_entry *entry, uint64_t fresh_ns)
{
    KI_ASSERT_HELD(fifo->mu);
    assert(!ki_list_node_is_linked(&entry->node));
    ki_resource_version_copy(&entry->version_before, &fifo->received);
    entry->fresh_ns = fresh_ns;
    if (fifo->items == 0 && !fifo->is_processing)
        set_fresh(fifo, fresh_ns);
    ki_list_push_back(&fifo->queue, &entry->node);
    fifo->items++;
}

/* Whether this is KI_CHANGE_SEEN, and the last change of the key already shows that the list contains it. */
static int adds_nothing(const ki_delta_entry *entry, const ki_delta *delta)
{
    const ki_delta *last = ki_delta_entry_last(entry);
    return last != NULL && delta->change_type == KI_CHANGE_SEEN && last->change_type != KI_CHANGE_DELETED &&
           last->list == delta->list;
}

/* Makes an entry that is not in the queue yet. NULL when out of memory. */
static ki_delta_entry *make_entry_locked(ki_delta_fifo *fifo, ki_str key)
{
    KI_ASSERT_HELD(fifo->mu);
    ki_list_node *node = ki_list_pop_front(&fifo->spare);
    if (node == NULL)
        return ki_delta_entry_new(key);
    fifo->spare_count--;
    if (ki_delta_entry_renew(ki_delta_entry_of(node), key))
        return ki_delta_entry_of(node);
    ki_delta_entry_free(ki_delta_entry_of(node));
    return ki_delta_entry_new(key);
}

/* The entry of a key, with space for one more delta; a new one is not in the queue yet. NULL when out of
 * memory. */
static ki_delta_entry *entry_for_locked(ki_delta_fifo *fifo, ki_str key)
{
    KI_ASSERT_HELD(fifo->mu);
    uint64_t hash = ki_hash(&fifo->hash_key, key);
    ki_delta_entry *entry = ki_delta_entry_find(&fifo->keys, key, hash);
    if (entry != NULL)
        return ki_delta_entry_reserve(entry) < 0 ? NULL : entry;
    entry = make_entry_locked(fifo, key);
    if (entry != NULL && ki_map_insert(&fifo->keys, &entry->by_key, hash) < 0) {
        ki_delta_entry_free(entry);
        return NULL;
    }
    return entry;
}

/* Whether the version is newer than what was received. An echo of an earlier change proves nothing. */
static int advances_locked(const ki_delta_fifo *fifo, const ki_resource_version *version)
{
    KI_ASSERT_HELD(fifo->mu);
    return ki_resource_version_is_set(version) &&
           ki_resource_version_latest(&fifo->received, version) == version &&
           !ki_resource_version_equal(&fifo->received, version);
}

static int push_locked(ki_delta_fifo *fifo, ki_str key, ki_delta delta, const ki_resource_version *version)
{
    KI_ASSERT_HELD(fifo->mu);
    assert(is_sound_locked(fifo) && key.len > 0);
    ki_delta_entry *entry = entry_for_locked(fifo, key);
    if (entry == NULL)
        return KI_ERR_NO_MEMORY;
    size_t before = entry->bytes;
    int is_news = advances_locked(fifo, version);
    delta.after_list = fifo->ended_list;
    if (delta.list > fifo->begun_list) {
        fifo->begun_list = delta.list;
        fifo->begun_ns = fifo->now_ns;
    }
    if (!adds_nothing(entry, &delta))
        ki_delta_entry_append(entry, delta);
    fifo->bytes += entry->bytes - before;
    if (!ki_list_node_is_linked(&entry->node))
        enqueue_locked(fifo, entry, fresh_before_locked(fifo, is_news));
    if (is_news)
        fifo->heard_ns = fifo->now_ns;
    (void)ki_resource_version_advance(&fifo->received, version);
    return is_full_locked(fifo);
}

int ki_delta_fifo_push(ki_delta_fifo *fifo, ki_delta delta, ki_str version)
{
    assert(delta.object != NULL && delta.change_type >= KI_CHANGE_ADDED &&
           delta.change_type <= KI_CHANGE_REPLACED);
    ki_resource_version received = {0};
    int rc = ki_resource_version_set(&received, version);
    if (rc < 0)
        return rc;
    ki_mutex_lock(&fifo->mu);
    rc = push_locked(fifo, ki_object_key_str(delta.object), delta, &received);
    ki_mutex_unlock(&fifo->mu);
    ki_resource_version_clear(&received);
    return rc;
}

int ki_delta_fifo_push_seen(ki_delta_fifo *fifo, ki_str key, uint32_t list)
{
    assert(key.ptr != NULL || key.len == 0);
    const ki_resource_version none = {0};
    ki_mutex_lock(&fifo->mu);
    int rc = push_locked(fifo, key, (ki_delta){.change_type = KI_CHANGE_SEEN, .list = list}, &none);
    ki_mutex_unlock(&fifo->mu);
    return rc;
}

/* A list or a bookmark that is older than what was received proves nothing. */
static int is_news_locked(const ki_delta_fifo *fifo, const ki_delta_entry *entry)
{
    KI_ASSERT_HELD(fifo->mu);
    return (entry->marker == KI_CHANGE_LIST_END || entry->marker == KI_CHANGE_BOOKMARK) &&
           !ki_resource_version_is_newer(&fifo->received, &entry->version);
}

/* A list shows the state when it began, not when it ended. An event may have arrived since then. */
static uint64_t heard_with_locked(const ki_delta_fifo *fifo, const ki_delta_entry *entry)
{
    KI_ASSERT_HELD(fifo->mu);
    assert(entry->marker != 0);
    uint64_t at_ns = fifo->now_ns;
    if (entry->marker == KI_CHANGE_LIST_END && entry->list == fifo->begun_list)
        at_ns = fifo->begun_ns;
    return fifo->heard_ns != UINT64_MAX && fifo->heard_ns > at_ns ? fifo->heard_ns : at_ns;
}

int ki_delta_fifo_push_marker(ki_delta_fifo *fifo, ki_change_type marker, uint32_t list, ki_str version)
{
    assert(marker == KI_CHANGE_LIST_END || marker == KI_CHANGE_BOOKMARK || marker == KI_CHANGE_SYNC);
    assert(version.ptr != NULL || version.len == 0);
    ki_delta_entry *entry = marker_new(marker, list);
    if (entry == NULL)
        return KI_ERR_NO_MEMORY;
    int rc = ki_resource_version_set(&entry->version, version);
    if (rc < 0) {
        ki_delta_entry_free(entry);
        return rc;
    }
    ki_mutex_lock(&fifo->mu);
    int is_news = is_news_locked(fifo, entry);
    enqueue_locked(fifo, entry, fresh_before_locked(fifo, is_news && marker == KI_CHANGE_BOOKMARK));
    if (is_news)
        fifo->heard_ns = heard_with_locked(fifo, entry);
    (void)ki_resource_version_advance(&fifo->received, &entry->version);
    if (marker == KI_CHANGE_LIST_END && list > fifo->ended_list)
        fifo->ended_list = list;
    rc = is_full_locked(fifo);
    ki_mutex_unlock(&fifo->mu);
    return rc;
}

/* Takes the waiting resyncs off the queue; they belong to no history. */
static void take_resyncs_locked(ki_delta_fifo *fifo, ki_list *out_resyncs)
{
    KI_ASSERT_HELD(fifo->mu);
    ki_list_node *next = NULL;
    for (ki_list_node *node = ki_list_first(&fifo->queue); node != NULL; node = next) {
        next = ki_list_next(&fifo->queue, node);
        if (ki_delta_entry_of(node)->marker != KI_CHANGE_SYNC)
            continue;
        ki_list_remove(node);
        ki_list_push_back(out_resyncs, node);
        fifo->items--;
    }
}

/* Drops only waiting entries. Popped entries are still processed. */
int ki_delta_fifo_begin_history(ki_delta_fifo *fifo, uint32_t list)
{
    assert(list > 0);
    ki_list resyncs;
    ki_list_init(&resyncs);
    ki_delta_entry *entry = marker_new(KI_CHANGE_RESET, list);
    if (entry == NULL)
        return KI_ERR_NO_MEMORY;
    ki_mutex_lock(&fifo->mu);
    take_resyncs_locked(fifo, &resyncs);
    drop_all_locked(fifo);
    ki_resource_version_clear(&fifo->received);
    enqueue_locked(fifo, entry, fifo->heard_ns);
    for (ki_list_node *node = ki_list_pop_front(&resyncs); node != NULL; node = ki_list_pop_front(&resyncs))
        enqueue_locked(fifo, ki_delta_entry_of(node), fifo->heard_ns);
    ki_mutex_unlock(&fifo->mu);
    return 0;
}

int ki_delta_fifo_has_space(ki_delta_fifo *fifo)
{
    ki_mutex_lock(&fifo->mu);
    int has_space = fifo->items <= fifo->items_max / 2 && fifo->bytes <= fifo->bytes_max / 2;
    ki_mutex_unlock(&fifo->mu);
    return has_space;
}

/* Removes an entry from `keys` and the totals; the caller has taken it off `queue`. */
static void unregister_locked(ki_delta_fifo *fifo, ki_delta_entry *entry)
{
    KI_ASSERT_HELD(fifo->mu);
    assert(fifo->items > 0 && fifo->bytes >= entry->bytes);
    if (entry->marker == 0)
        ki_map_remove(&fifo->keys, &entry->by_key);
    fifo->items--;
    fifo->bytes -= entry->bytes;
}

size_t ki_delta_fifo_pop(ki_delta_fifo *fifo, size_t max, ki_list *out_batch,
                         ki_resource_version *out_version)
{
    size_t n = 0;
    ki_mutex_lock(&fifo->mu);
    for (ki_list_node *node = NULL; n < max && (node = ki_list_pop_front(&fifo->queue)) != NULL; n++) {
        unregister_locked(fifo, ki_delta_entry_of(node));
        ki_list_push_back(out_batch, node);
    }
    assert(is_sound_locked(fifo));
    fifo->is_processing = fifo->is_processing || n > 0;
    ki_list_node *head = ki_list_first(&fifo->queue);
    ki_resource_version_copy(out_version,
                             head == NULL ? &fifo->received : &ki_delta_entry_of(head)->version_before);
    ki_mutex_unlock(&fifo->mu);
    return n;
}

void ki_delta_fifo_report_processed(ki_delta_fifo *fifo, const ki_delta_entry *next)
{
    if (next != NULL) {
        set_fresh(fifo, next->fresh_ns);
        return;
    }
    ki_mutex_lock(&fifo->mu);
    ki_list_node *head = ki_list_first(&fifo->queue);
    fifo->is_processing = false;
    set_fresh(fifo, head == NULL ? fifo->heard_ns : ki_delta_entry_of(head)->fresh_ns);
    ki_mutex_unlock(&fifo->mu);
}

void ki_delta_fifo_give_back(ki_delta_fifo *fifo, ki_list *entries)
{
    ki_list_node *node = NULL;
    ki_mutex_lock(&fifo->mu);
    while (fifo->spare_count < KI_DELTA_FIFO_SPARE_MAX && (node = ki_list_pop_front(entries)) != NULL) {
        ki_list_push_front(&fifo->spare, node);
        fifo->spare_count++;
    }
    ki_mutex_unlock(&fifo->mu);
    ki_delta_entry_free_all(entries);
}

void ki_delta_fifo_trim(ki_delta_fifo *fifo)
{
    ki_mutex_lock(&fifo->mu);
    ki_delta_entry_free_all(&fifo->spare);
    fifo->spare_count = 0;
    ki_mutex_unlock(&fifo->mu);
}

bool ki_delta_fifo_has_spares(ki_delta_fifo *fifo)
{
    ki_mutex_lock(&fifo->mu);
    bool has_spares = fifo->spare_count > KI_DELTA_FIFO_SPARE_FEW;
    ki_mutex_unlock(&fifo->mu);
    return has_spares;
}

void ki_delta_fifo_reset(ki_delta_fifo *fifo, const ki_resource_version *version)
{
    ki_mutex_lock(&fifo->mu);
    drop_all_locked(fifo);
    ki_resource_version_copy(&fifo->received, version);
    fifo->is_processing = false;
    ki_mutex_unlock(&fifo->mu);
}

size_t ki_delta_fifo_items(const ki_delta_fifo *fifo)
{
    ki_mutex_lock(&fifo->mu);
    size_t items = fifo->items;
    ki_mutex_unlock(&fifo->mu);
    return items;
}
