/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/fanout.h"

#include <assert.h>

void ki_fanout_init(ki_fanout *fanout, void (*wake)(ki_subscriber *subscriber))
{
    *fanout = (ki_fanout){.wake = wake};
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

/* ---- coming and going ------------------------------------------------------------------------------ */

typedef struct replay {
    ki_list entries;
    int rc;
} replay;

static int replay_object(const ki_object *object, void *user)
{
    replay *run = user;
    ki_backlog_entry *entry = ki_backlog_entry_new();
    if (entry == NULL)
        return run->rc = KI_ERR_NO_MEMORY;
    entry->what =
        (ki_notification){.type = KI_EVENT_ADD, .flags = KI_EVENT_INITIAL, .object = ki_object_ref(object)};
    ki_list_push_back(&run->entries, &entry->node);
    return 0;
}

static int replay_synced(replay *run)
{
    ki_backlog_entry *entry = ki_backlog_entry_new(); /* zeroed: the marker */
    if (entry == NULL)
        return run->rc = KI_ERR_NO_MEMORY;
    ki_list_push_back(&run->entries, &entry->node);
    return 0;
}

int ki_fanout_join(ki_fanout *fanout, ki_subscriber *subscriber, ki_store *store, bool is_synced)
{
    replay run = {.rc = 0};
    ki_list_init(&run.entries);
    int rc = ki_store_walk(store, replay_object, &run);
    if (rc == 0 && is_synced)
        rc = replay_synced(&run);
    if (rc < 0) {
        ki_backlog_entries_free(&run.entries);
        return rc;
    }
    ki_list_init(&subscriber->staged);
    subscriber->is_told_synced = is_synced;
    ki_list_push_back(&fanout->subscribers, &subscriber->node);
    ki_listener_begin(&subscriber->listener, &run.entries);
    fanout->wake(subscriber);
    return 0;
}

void ki_fanout_leave(ki_subscriber *subscriber)
{
    if (!ki_list_node_is_linked(&subscriber->node))
        return;
    ki_list_remove(&subscriber->node);
    ki_backlog_entries_free(&subscriber->staged);
    ki_backlog_entry_free(subscriber->reserved);
    subscriber->reserved = NULL;
}

/* ---- telling --------------------------------------------------------------------------------------- */

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
    size_t count = 0;
    if (next_of(fanout, ki_list_first(&fanout->subscribers), KI_TO_RESYNCING) != NULL)
        return 0;
    FOR_EACH_SUBSCRIBER(fanout, KI_TO_ALL, subscriber)
    {
        count += ki_resync_turn_check(&subscriber->resync, now_ms);
    }
    return count;
}

void ki_fanout_end_resync(ki_fanout *fanout)
{
    FOR_EACH_SUBSCRIBER(fanout, KI_TO_ALL, subscriber)
    {
        subscriber->resync.is_due = false;
    }
}

void ki_fanout_flush(ki_fanout *fanout)
{
    FOR_EACH_SUBSCRIBER(fanout, KI_TO_ALL, subscriber)
    {
        if (ki_list_is_empty(&subscriber->staged))
            continue;
        ki_listener_push_all(&subscriber->listener, &subscriber->staged);
        fanout->wake(subscriber);
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
