/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/listener.h"

#include <assert.h>

#include "api/object_layout.h"
#include "util/alloc.h"

enum { ITEMS_DEFAULT = 100000, BYTES_DEFAULT = 64 * 1024 * 1024 };

/* How many entries ahead of the one that is looked at an object is fetched from memory. */
enum { AHEAD = 4 };

int ki_listener_init(ki_listener *listener, const ki_handler *handler, const ki_clock *clock,
                     uint64_t hash_seed)
{
    *listener = (ki_listener){.handler = *handler, .clock = clock};
    if (hash_seed != 0)
        ki_hash_key_init_seeded(&listener->hash_key, hash_seed);
    else if (ki_hash_key_init(&listener->hash_key) < 0)
        return KI_ERR_SYSTEM;
    if (listener->handler.backlog_items_max == 0)
        listener->handler.backlog_items_max = ITEMS_DEFAULT;
    if (listener->handler.backlog_bytes_max == 0)
        listener->handler.backlog_bytes_max = BYTES_DEFAULT;
    ki_mutex_init(&listener->mu);
    ki_list_init(&listener->queue);
    ki_map_init(&listener->by_key);
    return 0;
}

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

static void drop_all_locked(ki_listener *listener)
{
    ki_backlog_entries_free(&listener->queue);
    ki_map_fini(&listener->by_key);
    listener->is_coalescing = 0;
    listener->stats.items = 0;
    listener->stats.bytes = 0;
}

void ki_listener_fini(ki_listener *listener)
{
    if (listener->clock == NULL)
        return;
    drop_all_locked(listener);
    ki_mutex_fini(&listener->mu);
    *listener = (ki_listener){0};
}

static size_t bytes_of(const ki_notification *what)
{
    return (what->object == NULL ? 0 : ki_object_bytes(what->object)) +
           (what->old == NULL || what->old == what->object ? 0 : ki_object_bytes(what->old));
}

static int is_past_limit(const ki_listener *listener)
{
    return listener->stats.items > listener->handler.backlog_items_max ||
           listener->stats.bytes > listener->handler.backlog_bytes_max;
}

/* Counts an entry anew after its content has changed. Past the byte limit an old object is let go, unless
 * delivering needs it. */
static void settle_locked(ki_listener *listener, ki_backlog_entry *entry)
{
    const ki_handler *handler = &listener->handler;
    int needs_old = handler->filter != NULL || handler->split_replaced;
    listener->stats.bytes -= entry->bytes;
    entry->bytes = bytes_of(&entry->what);
    if (listener->is_coalescing && !needs_old && entry->what.old != NULL &&
        listener->stats.bytes + entry->bytes > handler->backlog_bytes_max) {
        entry->what.old = ki_object_unref(entry->what.old);
        entry->what.flags |= KI_EVENT_COALESCED;
        entry->bytes = bytes_of(&entry->what);
    }
    listener->stats.bytes += entry->bytes;
}

static uint64_t hash_of(const ki_listener *listener, const ki_backlog_entry *entry)
{
    return ki_hash(&listener->hash_key, ki_object_key_str(entry->what.object));
}

static int has_key(const ki_map_node *node, const void *key)
{
    const ki_backlog_entry *entry = KI_CONTAINER_OF(node, ki_backlog_entry, by_key);
    return ki_str_equal(ki_object_key_str(entry->what.object), *(const ki_str *)key);
}

static ki_backlog_entry *find_locked(ki_listener *listener, const ki_backlog_entry *entry, uint64_t hash)
{
    ki_str key = ki_object_key_str(entry->what.object);
    ki_map_node *node = ki_map_find(&listener->by_key, hash, has_key, &key);
    return node == NULL ? NULL : KI_CONTAINER_OF(node, ki_backlog_entry, by_key);
}

static void remove_locked(ki_listener *listener, ki_backlog_entry *entry)
{
    ki_list_remove(&entry->node);
    if (listener->is_coalescing && entry->what.type != 0)
        ki_map_remove(&listener->by_key, &entry->by_key);
    listener->stats.items--;
    listener->stats.bytes -= entry->bytes;
}

/* `entry` joins the one that its key has. Takes the entry. */
static void join_locked(ki_listener *listener, ki_backlog_entry *place, ki_backlog_entry *entry)
{
    ki_notification merged = ki_notification_merge(place->what, entry->what);
    entry->what = (ki_notification){0};
    ki_backlog_entry_free(entry);
    listener->stats.coalesced++;
    if (merged.type == 0) {
        remove_locked(listener, place);
        place->what = merged;
        ki_backlog_entry_free(place);
        return;
    }
    place->what = merged;
    settle_locked(listener, place);
}

/* A walk through a list that is taken apart from its front, some places ahead. There may be a hundred thousand
 * entries, and dispatch waits for the end of it. */
static ki_list_node *prefetch(const ki_list *entries, ki_list_node *ahead)
{
    if (ahead == NULL)
        return NULL;
    ki_object_prefetch(entry_of(ahead)->what.object);
    return ki_list_next(entries, ahead);
}

static ki_list_node *begin_prefetch(const ki_list *entries)
{
    ki_list_node *ahead = ki_list_first(entries);
    for (int i = 0; i < AHEAD; i++)
        ahead = prefetch(entries, ahead);
    return ahead;
}

/* Makes the entries that wait one per key. Without memory for that the backlog stays a plain queue, and it
 * is tried again. */
static void begin_coalescing_locked(ki_listener *listener)
{
    ki_list waiting;
    ki_list_init(&waiting);
    ki_list_splice_back(&waiting, &listener->queue);
    listener->is_coalescing = 1;
    ki_map_reserve(&listener->by_key, listener->stats.items);
    ki_list_node *ahead = begin_prefetch(&waiting);
    for (ki_list_node *node = ki_list_pop_front(&waiting); node != NULL; node = ki_list_pop_front(&waiting)) {
        ki_backlog_entry *entry = entry_of(node);
        uint64_t hash = entry->what.type == 0 ? 0 : hash_of(listener, entry);
        ki_backlog_entry *place = entry->what.type == 0 ? NULL : find_locked(listener, entry, hash);
        ahead = prefetch(&waiting, ahead);
        if (place != NULL) {
            listener->stats.items--;
            listener->stats.bytes -= entry->bytes;
            join_locked(listener, place, entry);
            continue;
        }
        ki_list_push_back(&listener->queue, &entry->node);
        if (entry->what.type != 0 && ki_map_insert(&listener->by_key, &entry->by_key, hash) < 0) {
            ki_list_splice_back(&listener->queue, &waiting);
            listener->is_coalescing = 0;
            return;
        }
        settle_locked(listener, entry);
    }
}

/* Back to a plain queue once the handler has caught up; the table is given back with it. */
static void end_coalescing_locked(ki_listener *listener)
{
    if (!listener->is_coalescing || listener->stats.items > listener->handler.backlog_items_max / 2 ||
        listener->stats.bytes > listener->handler.backlog_bytes_max / 2)
        return;
    listener->is_coalescing = 0;
    ki_map_fini(&listener->by_key);
}

static void append_plain_locked(ki_listener *listener, ki_backlog_entry *entry)
{
    ki_list_push_back(&listener->queue, &entry->node);
    listener->stats.items++;
    if (listener->stats.items > listener->stats.items_high_water)
        listener->stats.items_high_water = listener->stats.items;
    settle_locked(listener, entry);
}

/* `hash` is the key's while the backlog coalesces. */
static void append_locked(ki_listener *listener, ki_backlog_entry *entry, uint64_t hash)
{
    append_plain_locked(listener, entry);
    if (!listener->is_coalescing) {
        if (listener->handler.overflow == KI_OVERFLOW_COALESCE && is_past_limit(listener))
            begin_coalescing_locked(listener);
    } else if (entry->what.type != 0 && ki_map_insert(&listener->by_key, &entry->by_key, hash) < 0) {
        listener->is_coalescing = 0; /* only the first insert can fail, so nothing else is in the table */
    }
}

static void push_locked(ki_listener *listener, ki_backlog_entry *entry)
{
    int is_keyed = listener->is_coalescing && entry->what.type != 0;
    uint64_t hash = is_keyed ? hash_of(listener, entry) : 0;
    ki_backlog_entry *place = is_keyed ? find_locked(listener, entry, hash) : NULL;
    if (listener->is_closed)
        ki_backlog_entry_free(entry);
    else if (place != NULL)
        join_locked(listener, place, entry);
    else
        append_locked(listener, entry, hash);
}

void ki_listener_push(ki_listener *listener, ki_backlog_entry *entry)
{
    ki_mutex_lock(&listener->mu);
    push_locked(listener, entry);
    ki_mutex_unlock(&listener->mu);
}

/* They are one per key already, so before another event comes there is nothing to merge; and a handler that comes
 * late, to which they all come at once, may have caught up by then. */
void ki_listener_begin(ki_listener *listener, ki_list *entries)
{
    ki_list_node *ahead = begin_prefetch(entries);
    ki_mutex_lock(&listener->mu);
    for (ki_list_node *node = ki_list_pop_front(entries); node != NULL; node = ki_list_pop_front(entries)) {
        ahead = prefetch(entries, ahead);
        if (listener->is_closed)
            ki_backlog_entry_free(entry_of(node));
        else
            append_plain_locked(listener, entry_of(node));
    }
    ki_mutex_unlock(&listener->mu);
}

void ki_listener_push_all(ki_listener *listener, ki_list *entries)
{
    ki_list_node *ahead = begin_prefetch(entries);
    ki_mutex_lock(&listener->mu);
    for (ki_list_node *node = ki_list_pop_front(entries); node != NULL; node = ki_list_pop_front(entries)) {
        ahead = prefetch(entries, ahead);
        push_locked(listener, entry_of(node));
    }
    ki_mutex_unlock(&listener->mu);
}

int ki_listener_blocks(ki_listener *listener)
{
    ki_mutex_lock(&listener->mu);
    int blocks =
        listener->handler.overflow == KI_OVERFLOW_BLOCK && is_past_limit(listener) && !listener->is_closed;
    ki_mutex_unlock(&listener->mu);
    return blocks;
}

static void call(ki_event_cb callback, const ki_event *event, void *user)
{
    if (callback != NULL)
        callback(event, user);
}

static int is_closed(ki_listener *listener)
{
    ki_mutex_lock(&listener->mu);
    int is_closed = listener->is_closed;
    ki_mutex_unlock(&listener->mu);
    return is_closed;
}

/* A handler that is removed in the first of two calls does not get the second. */
static void call_update(ki_listener *listener, const ki_event *event)
{
    const ki_handler *handler = &listener->handler;
    if (!handler->split_replaced || (event->flags & KI_EVENT_REPLACED) == 0) {
        call(handler->on_update, event, handler->user);
        return;
    }
    ki_event gone = {.type = KI_EVENT_DELETE, .flags = KI_EVENT_FINAL_STATE_UNKNOWN, .object = event->old};
    ki_event come = {
        .type = KI_EVENT_ADD, .flags = event->flags & KI_EVENT_COALESCED, .object = event->object};
    call(handler->on_delete, &gone, handler->user);
    if (!is_closed(listener))
        call(handler->on_add, &come, handler->user);
}

/* What an update is to a handler that does not hear of every object. Returns 0 when it is nothing. */
static int filter_update(const ki_handler *handler, ki_event *event)
{
    int knew = handler->filter(event->old, handler->user);
    int knows = handler->filter(event->object, handler->user);
    if (knew && !knows)
        *event = (ki_event){
            .type = KI_EVENT_DELETE, .flags = event->flags & KI_EVENT_COALESCED, .object = event->old};
    else if (!knew && knows)
        *event = (ki_event){
            .type = KI_EVENT_ADD, .flags = event->flags & KI_EVENT_COALESCED, .object = event->object};
    return knew || knows;
}

/* Whether the handler hears of an add or a delete: a delete is judged by what it knows, which the final state may
 * differ from. */
static int passes(const ki_handler *handler, const ki_notification *what)
{
    const ki_object *judged = what->type == KI_EVENT_DELETE && what->old != NULL ? what->old : what->object;
    return handler->filter == NULL || handler->filter(judged, handler->user);
}

/* Returns whether there was anything to be called for. */
static int call_handler(ki_listener *listener, const ki_notification *what)
{
    const ki_handler *handler = &listener->handler;
    ki_event event = {.type = what->type, .flags = what->flags, .object = what->object};
    if (event.type == KI_EVENT_UPDATE)
        event.old = what->old;
    else
        event.flags &= ~KI_EVENT_REPLACED;
    if (handler->filter != NULL && event.type == KI_EVENT_UPDATE && !filter_update(handler, &event))
        return 0;
    if (what->type != KI_EVENT_UPDATE && !passes(handler, what))
        return 0;
    if (event.type == KI_EVENT_ADD)
        call(handler->on_add, &event, handler->user);
    else if (event.type == KI_EVENT_UPDATE)
        call_update(listener, &event);
    else
        call(handler->on_delete, &event, handler->user);
    return 1;
}

static ki_backlog_entry *take_first(ki_listener *listener)
{
    ki_mutex_lock(&listener->mu);
    ki_list_node *node = listener->is_closed ? NULL : ki_list_first(&listener->queue);
    ki_backlog_entry *entry = node == NULL ? NULL : entry_of(node);
    if (entry != NULL) {
        remove_locked(listener, entry);
        end_coalescing_locked(listener);
    }
    ki_mutex_unlock(&listener->mu);
    return entry;
}

/* Everything before the marker has returned from its callback by now. */
static void deliver_synced(ki_listener *listener)
{
    ki_mutex_lock(&listener->mu);
    listener->is_synced = 1;
    ki_mutex_unlock(&listener->mu);
    if (listener->handler.on_synced != NULL)
        listener->handler.on_synced(listener->handler.user);
}

static void deliver_one(ki_listener *listener, ki_backlog_entry *entry)
{
    uint64_t start = ki_clock_now_ns(listener->clock);
    if (entry->what.type == 0)
        deliver_synced(listener);
    else if (call_handler(listener, &entry->what))
        listener->in_batch = 1;
    uint64_t spent = ki_clock_now_ns(listener->clock) - start;
    ki_histogram_observe(listener->duration, spent);
    ki_mutex_lock(&listener->mu);
    listener->stats.delivered += entry->what.type != 0;
    listener->stats.handler_ns += spent;
    ki_mutex_unlock(&listener->mu);
    ki_backlog_entry_free(entry);
}

size_t ki_listener_deliver(ki_listener *listener, size_t max)
{
    size_t n = 0;
    for (ki_backlog_entry *entry = NULL; n < max && (entry = take_first(listener)) != NULL; n++)
        deliver_one(listener, entry);
    if (n < max)
        ki_listener_end_batch(listener);
    return n;
}

void ki_listener_end_batch(ki_listener *listener)
{
    if (!listener->in_batch)
        return;
    listener->in_batch = 0;
    if (listener->handler.on_batch_end != NULL && !is_closed(listener))
        listener->handler.on_batch_end(listener->handler.user);
}

int ki_listener_is_waiting(ki_listener *listener)
{
    ki_mutex_lock(&listener->mu);
    int is_waiting = listener->stats.items > 0 && !listener->is_closed;
    ki_mutex_unlock(&listener->mu);
    return is_waiting;
}

void ki_listener_close(ki_listener *listener)
{
    ki_mutex_lock(&listener->mu);
    listener->is_closed = 1;
    drop_all_locked(listener);
    ki_mutex_unlock(&listener->mu);
}

int ki_listener_has_synced(ki_listener *listener)
{
    ki_mutex_lock(&listener->mu);
    int is_synced = listener->is_synced;
    ki_mutex_unlock(&listener->mu);
    return is_synced;
}

ki_listener_stats ki_listener_read_stats(ki_listener *listener)
{
    ki_mutex_lock(&listener->mu);
    ki_listener_stats stats = listener->stats;
    ki_mutex_unlock(&listener->mu);
    return stats;
}
