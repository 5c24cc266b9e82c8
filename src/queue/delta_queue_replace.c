/* SPDX-License-Identifier: Apache-2.0 */
/* Operations of a delta queue on many keys at once. They only append deltas, so that they can be undone if
 * memory runs out half-way. */
#include <assert.h>

#include "queue/delta_queue.h"

/* A walk over the known objects. */
typedef struct known_walk {
    ki_delta_queue *queue;
    ki_delta delta;            /* queued with each object */
    int leaves_out_processing; /* skip keys that are being processed */
} known_walk;

static ki_delta unseen_delete_of(const ki_object *object)
{
    return (ki_delta){.change_type = KI_CHANGE_DELETED, .final_state_unknown = 1, .object = object};
}

/* ---- all or nothing ---------------------------------------------------------------------------------- */

static void begin_locked(ki_delta_queue *queue) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    for (ki_list_node *node = ki_list_first(&queue->waiting); node != NULL;
         node = ki_list_next(&queue->waiting, node)) {
        ki_delta_entry *entry = ki_delta_entry_of(node);
        entry->settled = entry->count;
        entry->is_listed = 0;
    }
}

static void take_back_locked(ki_delta_queue *queue) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    for (ki_list_node *node = ki_list_first(&queue->waiting), *next = NULL; node != NULL; node = next) {
        next = ki_list_next(&queue->waiting, node);
        ki_delta_entry *entry = ki_delta_entry_of(node);
        size_t before = entry->bytes;
        if (entry->settled == 0) {
            ki_delta_queue_remove_locked(queue, entry);
            ki_delta_entry_free(entry);
            continue;
        }
        ki_delta_entry_truncate(entry, entry->settled);
        queue->bytes -= before - entry->bytes;
    }
}

/* ---- known objects ----------------------------------------------------------------------------------- */

/* Called with the queue's mutex held. Skips an object whose key already waits. If the key is being processed,
 * the stored object is older than the one in that entry. */
static int append_known(const ki_object *object, void *user) KI_NO_THREAD_SAFETY_ANALYSIS
{
    const known_walk *walk = user;
    ki_key_buffer buffer;
    ki_str key = {0};
    ki_delta delta = walk->delta;
    if (ki_delta_queue_key_of(walk->queue, object, &buffer, &key) < 0 ||
        ki_delta_queue_find_locked(walk->queue, key) != NULL)
        return 0;
    const ki_delta_entry *processing = ki_delta_queue_find_processing_locked(walk->queue, key);
    if (processing != NULL && walk->leaves_out_processing)
        return 0;
    delta.object = processing == NULL ? object : ki_delta_entry_newest(processing);
    return ki_delta_queue_append_locked(walk->queue, key, delta) == NULL ? KI_ERR_NO_MEMORY : 0;
}

/* ---- walking ------------------------------------------------------------------------------------------ */

typedef struct newest_walk {
    ki_delta_queue *queue;
    ki_walk_cb callback;
    void *user;
} newest_walk;

/* Called with the queue's mutex held. */
static int walk_known(const ki_object *object, void *user) KI_NO_THREAD_SAFETY_ANALYSIS
{
    const newest_walk *walk = user;
    ki_key_buffer buffer;
    ki_str key = {0};
    if (ki_delta_queue_key_of(walk->queue, object, &buffer, &key) < 0 ||
        ki_delta_queue_find_locked(walk->queue, key) != NULL ||
        ki_delta_queue_find_processing_locked(walk->queue, key) != NULL)
        return 0;
    return walk->callback(object, walk->user);
}

static void walk_entry(const newest_walk *walk, const ki_delta_entry *entry)
{
    if (!ki_delta_entry_ends_deleted(entry))
        (void)walk->callback(ki_delta_entry_newest(entry), walk->user);
}

void ki_delta_queue_walk(ki_delta_queue *queue, ki_walk_cb callback, void *user)
{
    assert(queue != NULL);
    newest_walk walk = {queue, callback, user};
    ki_mutex_lock(&queue->mu);
    for (ki_list_node *node = ki_list_first(&queue->waiting); node != NULL;
         node = ki_list_next(&queue->waiting, node))
        walk_entry(&walk, ki_delta_entry_of(node));
    for (ki_list_node *node = ki_list_first(&queue->processing); node != NULL;
         node = ki_list_next(&queue->processing, node))
        if (ki_delta_queue_find_locked(queue, ki_delta_entry_key(ki_delta_entry_of(node))) == NULL)
            walk_entry(&walk, ki_delta_entry_of(node));
    if (queue->known != NULL)
        (void)ki_store_walk(queue->known, walk_known, &walk);
    ki_mutex_unlock(&queue->mu);
}

/* ---- replace ----------------------------------------------------------------------------------------- */

static int append_listed_locked(ki_delta_queue *queue, ki_object *const *objects, size_t count)
    KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    ki_key_buffer buffer;
    ki_str key = {0};
    for (size_t i = 0; i < count; i++) {
        int rc = ki_delta_queue_key_of(queue, objects[i], &buffer, &key);
        if (rc < 0)
            return rc;
        ki_delta delta = {.change_type = KI_CHANGE_REPLACED, .object = objects[i]};
        ki_delta_entry *entry = ki_delta_queue_append_locked(queue, key, delta);
        if (entry == NULL)
            return KI_ERR_NO_MEMORY;
        entry->is_listed = 1;
    }
    return 0;
}

/* Queues a delete of the newest object of an entry, unless that is deleted already. */
static int delete_newest_locked(ki_delta_queue *queue, const ki_delta_entry *entry) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    if (ki_delta_entry_ends_deleted(entry))
        return 0;
    ki_delta delta = unseen_delete_of(ki_delta_entry_newest(entry));
    return ki_delta_queue_append_locked(queue, ki_delta_entry_key(entry), delta) == NULL ? KI_ERR_NO_MEMORY
                                                                                         : 0;
}

static int delete_unlisted_locked(ki_delta_queue *queue) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    int rc = 0;
    for (ki_list_node *node = ki_list_first(&queue->waiting); node != NULL && rc == 0;
         node = ki_list_next(&queue->waiting, node))
        if (!ki_delta_entry_of(node)->is_listed)
            rc = delete_newest_locked(queue, ki_delta_entry_of(node));
    for (ki_list_node *node = ki_list_first(&queue->processing); node != NULL && rc == 0;
         node = ki_list_next(&queue->processing, node)) {
        const ki_delta_entry *entry = ki_delta_entry_of(node);
        if (ki_delta_queue_find_locked(queue, ki_delta_entry_key(entry)) == NULL)
            rc = delete_newest_locked(queue, entry);
    }
    return rc;
}

/* All entries that wait at the end of the first replace belong to it. */
static void populate_locked(ki_delta_queue *queue) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    if (queue->is_populated)
        return;
    queue->is_populated = 1;
    for (ki_list_node *node = ki_list_first(&queue->waiting); node != NULL;
         node = ki_list_next(&queue->waiting, node)) {
        ki_delta_entry_of(node)->is_initial = 1;
        queue->initial_left++;
    }
}

static int replace_locked(ki_delta_queue *queue, ki_object *const *objects, size_t count)
    KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    begin_locked(queue);
    int rc = append_listed_locked(queue, objects, count);
    if (rc == 0)
        rc = delete_unlisted_locked(queue);
    if (rc == 0 && queue->known != NULL) {
        known_walk walk = {.queue = queue, .delta = unseen_delete_of(NULL)};
        rc = ki_store_walk(queue->known, append_known, &walk);
    }
    if (rc < 0) {
        take_back_locked(queue);
        return rc;
    }
    populate_locked(queue);
    return ki_delta_queue_is_full_locked(queue);
}

int ki_delta_queue_replace(ki_delta_queue *queue, ki_object *const *objects, size_t count)
{
    if (queue == NULL || (objects == NULL && count > 0))
        return KI_ERR_INVALID;
    for (size_t i = 0; i < count; i++)
        if (objects[i] == NULL)
            return KI_ERR_INVALID;
    ki_mutex_lock(&queue->mu);
    int rc = replace_locked(queue, objects, count);
    ki_mutex_unlock(&queue->mu);
    return rc;
}

/* ---- resync ------------------------------------------------------------------------------------------ */

static int resync_locked(ki_delta_queue *queue) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    known_walk walk = {.queue = queue, .delta = {.change_type = KI_CHANGE_SYNC}, .leaves_out_processing = 1};
    begin_locked(queue);
    int rc = queue->known == NULL ? 0 : ki_store_walk(queue->known, append_known, &walk);
    if (rc < 0) {
        take_back_locked(queue);
        return rc;
    }
    return ki_delta_queue_is_full_locked(queue);
}

int ki_delta_queue_resync(ki_delta_queue *queue)
{
    if (queue == NULL)
        return KI_ERR_INVALID;
    ki_mutex_lock(&queue->mu);
    int rc = resync_locked(queue);
    ki_mutex_unlock(&queue->mu);
    return rc;
}
