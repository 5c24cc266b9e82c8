/* SPDX-License-Identifier: Apache-2.0 */
#include "handler/fanout.h"

#include <assert.h>

#include "api/object/object_layout.h"
#include "util/alloc.h"

void ki_fanout_init(ki_fanout *fanout, void (*push)(ki_subscriber *subscriber, ki_list *entries))
{
    assert(fanout != NULL);
    *fanout = (ki_fanout){.push = push};
    ki_list_init(&fanout->subscribers);
}

static ki_subscriber *subscriber_of(ki_list_node *node)
{
    return KI_CONTAINER_OF(node, ki_subscriber, node);
}

/* The next subscriber that belongs to the audience; NULL at the end. */
static ki_subscriber *next_of(const ki_fanout *fanout, ki_list_node *node, ki_audience audience)
{
    while (node != NULL && audience == KI_TO_RESYNCING && !subscriber_of(node)->resync.is_due)
        node = ki_list_next(&fanout->subscribers, node);
    return node == NULL ? NULL : subscriber_of(node);
}

#define FOR_EACH_SUBSCRIBER(fanout, audience, s)                                                             \
    for (ki_subscriber *s = next_of((fanout), ki_list_first(&(fanout)->subscribers), (audience)); s != NULL; \
         s = next_of((fanout), ki_list_next(&(fanout)->subscribers, &s->node), (audience)))

/* ---- adding and removing listeners ----------------------------------------------------------------- */

/* The objects of the store, with a reference to each. */
typedef struct snapshot {
    ki_object_list list;
    size_t bytes;
} snapshot;

static int add_object(const ki_object *object, void *user)
{
    snapshot *all = user;
    all->list.objects[all->list.count++] = ki_object_ref(object);
    all->bytes += ki_object_own_bytes(object);
    return 0;
}

/* Only dispatch changes the store, so the number of objects is exact. */
static int take_snapshot(ki_store *store, snapshot *out_all)
{
    snapshot all = {0};
    size_t count = ki_store_count(store);
    if (count > 0) {
        all.list.objects = ki_malloc(count * sizeof(ki_object *));
        if (all.list.objects == NULL)
            return KI_ERR_NO_MEMORY;
        (void)ki_store_walk(store, add_object, &all);
    }
    assert(all.list.count == count);
    *out_all = all;
    return 0;
}

/* Hands the objects of the store to a new handler, followed by the marker if the store is synced. */
static void begin(ki_fanout *fanout, ki_subscriber *subscriber, snapshot *all, ki_backlog_entry *marker)
{
    ki_list first;
    ki_list_init(&first);
    if (marker != NULL)
        ki_list_push_back(&first, &marker->node);
    ki_listener_begin(&subscriber->listener, &all->list, all->bytes);
    fanout->push(subscriber, &first);
}

int ki_fanout_join(ki_fanout *fanout, ki_subscriber *subscriber, ki_store *store, bool is_synced)
{
    assert(fanout != NULL);
    snapshot all;
    ki_backlog_entry *marker = is_synced ? ki_backlog_entry_new() : NULL; /* a zeroed entry has type 0,
                                                                           * SYNCED */
    if ((is_synced && marker == NULL) || take_snapshot(store, &all) < 0) {
        ki_backlog_entry_free(marker);
        return KI_ERR_NO_MEMORY;
    }
    ki_list_init(&subscriber->staged);
    subscriber->is_told_synced = is_synced;
    ki_list_push_back(&fanout->subscribers, &subscriber->node);
    begin(fanout, subscriber, &all, marker);
    return 0;
}

void ki_fanout_leave(ki_subscriber *subscriber)
{
    assert(subscriber != NULL);
    if (!ki_list_node_is_linked(&subscriber->node))
        return;
    ki_list_remove(&subscriber->node);
    ki_backlog_entries_free(&subscriber->staged);
    ki_backlog_entry_free(subscriber->reserved);
    subscriber->reserved = NULL;
}

/* ---- notifying ------------------------------------------------------------------------------------- */

int ki_fanout_reserve(ki_fanout *fanout, ki_audience audience)
{
    FOR_EACH_SUBSCRIBER(fanout, audience, subscriber)
    {
        if (subscriber->reserved == NULL)
            subscriber->reserved = ki_backlog_entry_new();
        if (subscriber->reserved == NULL)
            return KI_ERR_NO_MEMORY;
    }
    return 0;
}

static ki_backlog_entry *take_reserved(ki_subscriber *subscriber)
{
    ki_backlog_entry *entry = subscriber->reserved;
    assert(entry != NULL);
    subscriber->reserved = NULL;
    ki_list_push_back(&subscriber->staged, &entry->node);
    return entry;
}

void ki_fanout_tell(ki_fanout *fanout, ki_audience audience, const ki_notification *notification)
{
    assert(notification->type >= KI_CHANGE_ADDED && notification->type <= KI_CHANGE_DELETED);
    assert(notification->object != NULL);
    FOR_EACH_SUBSCRIBER(fanout, audience, subscriber)
    {
        ki_backlog_entry *entry = take_reserved(subscriber);
        entry->what = *notification;
        (void)ki_object_ref(entry->what.object);
        (void)ki_object_ref(entry->what.old);
    }
}

int ki_fanout_tell_synced(ki_fanout *fanout)
{
    FOR_EACH_SUBSCRIBER(fanout, KI_TO_ALL, subscriber)
    {
        if (subscriber->is_told_synced)
            continue;
        if (subscriber->reserved == NULL)
            subscriber->reserved = ki_backlog_entry_new();
        if (subscriber->reserved == NULL)
            return KI_ERR_NO_MEMORY;
        (void)take_reserved(subscriber);
        subscriber->is_told_synced = true;
    }
    return 0;
}

size_t ki_fanout_begin_resync(ki_fanout *fanout, uint64_t now_ms)
{
    assert(fanout != NULL);
    size_t count = 0;
    if (fanout->is_resyncing)
        return 0;
    FOR_EACH_SUBSCRIBER(fanout, KI_TO_ALL, subscriber)
    {
        count += ki_resync_turn_check(&subscriber->resync, now_ms);
    }
    fanout->is_resyncing = count > 0;
    return count;
}

void ki_fanout_end_resync(ki_fanout *fanout)
{
    assert(fanout != NULL);
    FOR_EACH_SUBSCRIBER(fanout, KI_TO_ALL, subscriber)
    {
        subscriber->resync.is_due = false;
    }
    fanout->is_resyncing = false;
}

/* Here the events leave dispatch. `push` is ki_registration_push() in informer/registration.c, where the
 * handler's job delivers them. */
void ki_fanout_flush(ki_fanout *fanout)
{
    assert(fanout != NULL);
    FOR_EACH_SUBSCRIBER(fanout, KI_TO_ALL, subscriber)
    {
        if (!ki_list_is_empty(&subscriber->staged))
            fanout->push(subscriber, &subscriber->staged);
    }
}

bool ki_fanout_is_blocked(ki_fanout *fanout)
{
    FOR_EACH_SUBSCRIBER(fanout, KI_TO_ALL, subscriber)
    {
        if (ki_listener_blocks(&subscriber->listener))
            return true;
    }
    return false;
}
