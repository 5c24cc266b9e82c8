/* SPDX-License-Identifier: Apache-2.0 */
#include "handler/listener.h"

#include <assert.h>

#include "util/alloc.h"

enum { ITEMS_DEFAULT = 100000, BYTES_DEFAULT = 64 * 1024 * 1024 };

/* ---- making and freeing -------------------------------------------------------------------------------- */

static ki_backlog_limits limits_of(const ki_handler *handler)
{
    return (ki_backlog_limits){
        .items_max = handler->backlog_items_max == 0 ? ITEMS_DEFAULT : handler->backlog_items_max,
        .bytes_max = handler->backlog_bytes_max == 0 ? BYTES_DEFAULT : handler->backlog_bytes_max,
        .is_plain = handler->overflow != KI_OVERFLOW_COALESCE,
        .keeps_old = handler->filter != NULL || handler->split_replaced != 0};
}

int ki_listener_init(ki_listener *listener, const ki_handler *handler, const ki_clock *clock,
                     uint64_t hash_seed)
{
    assert(listener != NULL);
    ki_backlog_limits limits = limits_of(handler);
    ki_hash_key hash_key;
    if (hash_seed != 0)
        ki_hash_key_init_seeded(&hash_key, hash_seed);
    else if (ki_hash_key_init(&hash_key) < 0)
        return KI_ERR_SYSTEM;
    *listener = (ki_listener){.handler = *handler, .clock = clock};
    ki_mutex_init(&listener->mu);
    ki_backlog_init(&listener->backlog, &limits, &hash_key);
    return 0;
}

void ki_listener_fini(ki_listener *listener)
{
    assert(listener != NULL);
    if (listener->clock == NULL)
        return;
    ki_backlog_clear(&listener->backlog);
    ki_mutex_fini(&listener->mu);
    *listener = (ki_listener){0};
}

void ki_listener_close(ki_listener *listener)
{
    assert(listener != NULL);
    ki_mutex_lock(&listener->mu);
    listener->is_closed = 1;
    ki_mutex_unlock(&listener->mu);
}

void ki_listener_take_rest(ki_listener *listener, ki_backlog *out_rest)
{
    assert(listener != NULL);
    ki_mutex_lock(&listener->mu);
    ki_backlog_detach(&listener->backlog, out_rest);
    ki_mutex_unlock(&listener->mu);
}

void ki_listener_drop_rest(ki_listener *listener)
{
    ki_backlog rest;
    ki_listener_take_rest(listener, &rest);
    ki_backlog_clear(&rest);
}

/* ---- pushes from dispatch ------------------------------------------------------------------------------ */

void ki_listener_begin(ki_listener *listener, ki_object_list *objects, size_t bytes)
{
    ki_mutex_lock(&listener->mu);
    if (!listener->is_closed)
        ki_backlog_begin(&listener->backlog, objects, bytes);
    ki_mutex_unlock(&listener->mu);
    ki_object_list_fini(objects);
}

void ki_listener_push_all(ki_listener *listener, ki_list *entries)
{
    ki_mutex_lock(&listener->mu);
    if (!listener->is_closed)
        for (ki_list_node *node = ki_list_pop_front(entries); node != NULL; node = ki_list_pop_front(entries))
            ki_backlog_push(&listener->backlog, KI_CONTAINER_OF(node, ki_backlog_entry, node));
    ki_mutex_unlock(&listener->mu);
    ki_backlog_entries_free(entries);
}

int ki_listener_blocks(ki_listener *listener)
{
    ki_mutex_lock(&listener->mu);
    int blocks = listener->handler.overflow == KI_OVERFLOW_BLOCK &&
                 ki_backlog_is_past_limit(&listener->backlog) && !listener->is_closed;
    ki_mutex_unlock(&listener->mu);
    return blocks;
}

/* ---- calling the handler ------------------------------------------------------------------------------- */

static void call(ki_event_cb callback, const ki_event *event, void *user)
{
    assert(ki_mutex_held() == 0); /* a handler may take any lock */
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

/* If the first of the two calls removes the handler, it does not get the second. */
static void call_update(ki_listener *listener, const ki_event *event)
{
    assert(event->change_type == KI_CHANGE_UPDATED);
    const ki_handler *handler = &listener->handler;
    if (!handler->split_replaced || (event->flags & KI_EVENT_REPLACED) == 0) {
        call(handler->on_update, event, handler->user);
        return;
    }
    ki_event gone = {
        .change_type = KI_CHANGE_DELETED, .flags = KI_EVENT_FINAL_STATE_UNKNOWN, .object = event->old};
    ki_event come = {
        .change_type = KI_CHANGE_ADDED, .flags = event->flags & KI_EVENT_COALESCED, .object = event->object};
    call(handler->on_delete, &gone, handler->user);
    if (!is_closed(listener))
        call(handler->on_add, &come, handler->user);
}

/* Turns an update into the event that a handler with a filter gets: an add, an update or a delete. Returns 0
 * if the handler gets no event. */
static int filter_update(const ki_handler *handler, ki_event *event)
{
    assert(handler->filter != NULL && event->change_type == KI_CHANGE_UPDATED && event->old != NULL);
    int knew = handler->filter(event->old, handler->user);
    int knows = handler->filter(event->object, handler->user);
    if (knew && !knows)
        *event = (ki_event){.change_type = KI_CHANGE_DELETED,
                            .flags = event->flags & KI_EVENT_COALESCED,
                            .object = event->old};
    else if (!knew && knows)
        *event = (ki_event){.change_type = KI_CHANGE_ADDED,
                            .flags = event->flags & KI_EVENT_COALESCED,
                            .object = event->object};
    return knew || knows;
}

/* Whether an add or a delete passes the filter. For a delete, the filter judges the object that the handler
 * knows, which may differ from the final state. */
static int passes(const ki_handler *handler, const ki_notification *what)
{
    const ki_object *judged = what->type == KI_CHANGE_DELETED && what->old != NULL ? what->old : what->object;
    return handler->filter == NULL || handler->filter(judged, handler->user);
}

/* Returns whether a callback was called. */
static int call_handler(ki_listener *listener, const ki_notification *what)
{
    assert(what->type >= KI_CHANGE_ADDED && what->type <= KI_CHANGE_DELETED && what->object != NULL);
    const ki_handler *handler = &listener->handler;
    ki_event event = {.change_type = what->type, .flags = what->flags, .object = what->object};
    if (event.change_type == KI_CHANGE_UPDATED)
        event.old = what->old;
    else
        event.flags &= ~KI_EVENT_REPLACED;
    if (handler->filter != NULL && event.change_type == KI_CHANGE_UPDATED && !filter_update(handler, &event))
        return 0;
    if (what->type != KI_CHANGE_UPDATED && !passes(handler, what))
        return 0;
    if (event.change_type == KI_CHANGE_ADDED)
        call(handler->on_add, &event, handler->user);
    else if (event.change_type == KI_CHANGE_UPDATED)
        call_update(listener, &event);
    else
        call(handler->on_delete, &event, handler->user);
    return 1;
}

/* ---- delivering ---------------------------------------------------------------------------------------- */

static int take_first(ki_listener *listener, ki_notification *out_what)
{
    assert(ki_mutex_held() == 0);
    ki_backlog_entry *spent = NULL;
    ki_mutex_lock(&listener->mu);
    int was_one = !listener->is_closed && ki_backlog_take(&listener->backlog, out_what, &spent);
    ki_mutex_unlock(&listener->mu);
    ki_free(spent);
    return was_one;
}

/* The callbacks of all events before the marker have returned. The marker counts as an event of the batch, so
 * that the batch ends after it. A handler that commits at the end of a batch then commits the whole list. */
static void deliver_synced(ki_listener *listener)
{
    ki_mutex_lock(&listener->mu);
    listener->is_synced = 1;
    ki_mutex_unlock(&listener->mu);
    listener->in_batch = 1;
    if (listener->handler.on_synced != NULL)
        listener->handler.on_synced(listener->handler.user);
}

/* Relaxed: these numbers are for the stats only and order nothing; one thread writes them. */
static void count(_Atomic uint64_t *number, uint64_t more)
{
    uint64_t before = atomic_load_explicit(number, memory_order_relaxed);
    atomic_store_explicit(number, before + more, memory_order_relaxed);
}

/* Reading the clock is a large part of the cost of an event. So a callback counts as started when the
 * previous one of the batch ended; the time in between is short. */
static void deliver_timed(ki_listener *listener, ki_notification *what)
{
    uint64_t start = listener->last_ns != 0 ? listener->last_ns : ki_clock_now_ns(listener->clock);
    if (what->type == 0)
        deliver_synced(listener);
    else if (call_handler(listener, what))
        listener->in_batch = 1;
    listener->last_ns = ki_clock_now_ns(listener->clock);
    uint64_t spent = listener->last_ns - start;
    ki_histogram_observe(listener->duration, spent);
    count(&listener->delivered, what->type != 0);
    count(&listener->handler_ns, spent);
    ki_notification_fini(what);
}

bool ki_listener_deliver(ki_listener *listener)
{
    ki_notification what;
    if (!take_first(listener, &what)) {
        ki_listener_end_batch(listener);
        return false;
    }
    deliver_timed(listener, &what);
    return true;
}

void ki_listener_end_batch(ki_listener *listener)
{
    listener->last_ns = 0;
    if (!listener->in_batch)
        return;
    listener->in_batch = 0;
    if (listener->handler.on_batch_end != NULL && !is_closed(listener))
        listener->handler.on_batch_end(listener->handler.user);
}

/* ---- asking -------------------------------------------------------------------------------------------- */

int ki_listener_has_synced(ki_listener *listener)
{
    assert(listener != NULL);
    ki_mutex_lock(&listener->mu);
    int is_synced = listener->is_synced;
    ki_mutex_unlock(&listener->mu);
    return is_synced;
}

ki_listener_stats ki_listener_read_stats(ki_listener *listener)
{
    assert(listener != NULL);
    const ki_backlog *backlog = &listener->backlog;
    ki_mutex_lock(&listener->mu);
    ki_listener_stats stats = {.items = backlog->items,
                               .bytes = backlog->bytes,
                               .items_high_water = backlog->items_high_water,
                               .coalesced = backlog->coalesced};
    ki_mutex_unlock(&listener->mu);
    /* Relaxed, for the reason given at count(). */
    stats.delivered = atomic_load_explicit(&listener->delivered, memory_order_relaxed);
    stats.handler_ns = atomic_load_explicit(&listener->handler_ns, memory_order_relaxed);
    return stats;
}
