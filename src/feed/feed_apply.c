/* SPDX-License-Identifier: Apache-2.0 */
/* Passes one change to the destination of a feed. Everything runs on io. */
#include "client/callback.h"

#include "feed/feed.h"
#include "queue/delta_queue.h"
#include "store/store.h"
#include "util/alloc.h"
#include <assert.h>

/* ---- versions ----------------------------------------------------------------------------------------- */

/* Whether the version is older than what was received (`order_max` -1), or not newer (0).
 * Versions that are not numbers never are. */
static bool is_before(ki_str version, const ki_resource_version *received, int order_max)
{
    int order = 1;
    return ki_resource_version_is_set(received) &&
           ki_resource_version_compare(version, ki_resource_version_str(received), &order) == 0 &&
           order <= order_max;
}

/* A server sends events in the order of their versions,
 * so an event that is not newer was delivered before. */
static bool is_echo(const ki_feed *feed, const ki_change *change)
{
    return is_before(change->version, &feed->life.version, 0);
}

static bool is_stale_end(const ki_feed *feed, const ki_change *change)
{
    return change->change_type == KI_CHANGE_LIST_END && is_before(change->version, &feed->life.version, -1);
}

/* ---- one object ---------------------------------------------------------------------------------------- */

/* An object that the destination always rejects is not retried,
 * because it would block everything after it. */
static int leave_out_unusable(ki_feed *feed, const ki_object *object, int rc)
{
    if (rc != KI_ERR_INVALID && rc != KI_ERR_TOO_LARGE)
        return rc;
    atomic_fetch_add_explicit(&feed->left_out, 1, memory_order_relaxed); /* orders nothing else */
    ki_error_log_object(&feed->life.errors, ki_object_key_str(object), "the object has no usable key");
    return 0;
}

/* Finds the object's key in the destination. Returns what ki_delta_queue_key_of() returns. */
static int key_of(const ki_feed *feed, const ki_object *object, ki_key_buffer *buffer, ki_str *out_key)
{
    if (feed->options.queue != NULL)
        return ki_delta_queue_key_of(feed->options.queue, object, buffer, out_key);
    ki_str key = ki_keyer_key(&feed->options.store->keyer, object, buffer);
    if (key.len == 0 || key.len > KI_KEY_BYTES)
        return key.len == 0 ? KI_ERR_INVALID : KI_ERR_TOO_LARGE;
    *out_key = key;
    return 0;
}

static int write_store(ki_feed *feed, const ki_change *change)
{
    ki_key_buffer buffer;
    ki_str key = {0};
    if (change->change_type != KI_CHANGE_DELETED)
        return ki_store_put_at_once(feed->options.store, change->object);
    int rc = key_of(feed, change->object, &buffer, &key);
    if (rc == 0)
        rc = ki_store_remove_at_once(feed->options.store, key);
    return rc == KI_ERR_NOT_FOUND ? 0 : rc;
}

static int push(ki_feed *feed, const ki_change *change)
{
    return ki_delta_queue_push(feed->options.queue,
                               (ki_delta){.change_type = change->change_type, .object = change->object});
}

static int take_event(ki_feed *feed, const ki_change *change)
{
    KI_ASSERT_ON(feed->life.client->io);
    if (is_echo(feed, change))
        return 0;
    int rc = feed->options.store != NULL ? write_store(feed, change) : push(feed, change);
    return leave_out_unusable(feed, change->object, rc);
}

/* ---- lists --------------------------------------------------------------------------------------------- */

static int gather(ki_feed *feed, const ki_change *change)
{
    KI_ASSERT_ON(feed->life.client->io);
    ki_key_buffer buffer;
    ki_str key = {0};
    ki_list_buffer_begin(&feed->buffer, change->list);
    if (change->change_type == KI_CHANGE_SEEN)
        return ki_list_buffer_put_seen(&feed->buffer, change->key);
    int rc = key_of(feed, change->object, &buffer, &key);
    if (rc < 0)
        return leave_out_unusable(feed, change->object, rc);
    return ki_list_buffer_put(&feed->buffer, change->object);
}

/* An invalid item proves that its object exists, so the last good version stays in the destination. */
static void fill_in_seen(ki_feed *feed)
{
    if (feed->buffer.seen_count == 0)
        return;
    if (feed->options.store != NULL)
        (void)ki_store_walk(feed->options.store, ki_list_buffer_fill_in, &feed->buffer);
    else
        ki_delta_queue_walk(feed->options.queue, ki_list_buffer_fill_in, &feed->buffer);
}

static int replace(ki_feed *feed)
{
    ki_object **objects = NULL;
    size_t count = 0;
    int rc = ki_list_buffer_objects(&feed->buffer, &objects, &count);
    if (rc < 0)
        return rc;
    rc = feed->options.store != NULL ? ki_store_replace_at_once(feed->options.store, objects, count)
                                     : ki_delta_queue_replace(feed->options.queue, objects, count);
    ki_free(objects);
    return rc;
}

/* Drops a list that is older than what was received; the reflector begins another one. */
static int end_list(ki_feed *feed, const ki_change *change)
{
    KI_ASSERT_ON(feed->life.client->io);
    int rc = 0;
    ki_list_buffer_begin(&feed->buffer, change->list);
    if (!is_stale_end(feed, change)) {
        fill_in_seen(feed);
        rc = replace(feed);
    }
    ki_list_buffer_clear(&feed->buffer);
    return rc;
}

/* A delete without a version happened during a streamed list, and is part of that list. */
static int write_change(ki_feed *feed, const ki_change *change)
{
    KI_ASSERT_ON(feed->life.client->io);
    switch (change->change_type) {
    case KI_CHANGE_DELETED:
        if (change->version.len == 0) {
            ki_list_buffer_remove(&feed->buffer, ki_object_key_str(change->object));
            return 0;
        }
        return take_event(feed, change);
    case KI_CHANGE_ADDED:
    case KI_CHANGE_UPDATED:
        return take_event(feed, change);
    case KI_CHANGE_REPLACED:
    case KI_CHANGE_SEEN:
        return gather(feed, change);
    case KI_CHANGE_LIST_END:
        return end_list(feed, change);
    case KI_CHANGE_RESET:
        ki_list_buffer_clear(&feed->buffer);
        return 0;
    case KI_CHANGE_BOOKMARK:
    case KI_CHANGE_SYNC: /* a reflector never sends it */
        break;
    }
    return 0;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static int call_user(ki_feed *feed, const ki_change *change)
{
    KI_ASSERT_ON(feed->life.client->io);
    ki_callback_enter();
    int rc = feed->options.on_change(change, feed->options.user);
    ki_callback_leave();
    return rc;
}

/* Publishes the received version for readers and for the next start. `version` is that of the change. */
static void publish(ki_feed *feed, const ki_change *change, const ki_resource_version *version)
{
    KI_ASSERT_ON(feed->life.client->io);
    bool is_end = change->change_type == KI_CHANGE_LIST_END;
    bool is_reset = change->change_type == KI_CHANGE_RESET;
    if (is_stale_end(feed, change))
        return;
    ki_mutex_lock(&feed->life.mu);
    if (is_end || is_reset)
        ki_resource_version_copy(&feed->life.version, version);
    else
        (void)ki_resource_version_advance(&feed->life.version, version);
    if (is_end)
        feed->life.is_synced = true;
    ki_mutex_unlock(&feed->life.mu);
}

/* A store has no space while too much released memory waits for readers. */
bool ki_feed_destination_has_space(ki_feed *feed)
{
    if (feed->options.store != NULL)
        return ki_store_has_space(feed->options.store);
    return feed->options.queue != NULL && ki_delta_queue_has_room(feed->options.queue);
}

/* Space that was reported before a change does not count after it. Sets the flag first, and checks for space
 * again afterwards: either the thread that makes space sees that io waits, or io sees the space. If io sees
 * space, an earlier change of the same piece may have paused the reflector, and no other thread would resume
 * it. So io wakes its job, which does. */
static int wait_for_space(ki_feed *feed)
{
    KI_ASSERT_ON(feed->life.client->io);
    feed->is_full = true;
    if (ki_feed_destination_has_space(feed))
        feed->has_space = true;
    if (!feed->has_space)
        return 1;
    feed->is_full = false;
    if (feed->life.reflector.is_full)
        ki_job_wake(&feed->life.io_job);
    return 0;
}

/* A stop drops this change. The version is not raised, so the next watch delivers the change again. But only
 * another list can repeat the end of a list or a reset, so a list is owed.
 */
static void require_list(ki_feed *feed, const ki_change *change)
{
    KI_ASSERT_ON(feed->life.client->io);
    ki_mutex_lock(&feed->life.mu);
    feed->life.list_is_owed |=
        change->change_type == KI_CHANGE_LIST_END || change->change_type == KI_CHANGE_RESET;
    if (change->change_type == KI_CHANGE_RESET) /* the reset will be reported again */
        ki_resource_version_clear(&feed->life.version);
    ki_mutex_unlock(&feed->life.mu);
}

int ki_feed_take_change(const ki_change *change, void *user)
{
    ki_feed *feed = ki_feed_of(user);
    if (!feed->life.may_deliver) {
        require_list(feed, change);
        return 0;
    }
    ki_resource_version version = {0};
    bool had_space = atomic_exchange(&feed->has_space, false);
    if (feed->options.queue != NULL)
        ki_delta_queue_set_now(feed->options.queue, ki_reflector_received_ns(&feed->life.reflector));
    int rc = ki_resource_version_set(&version, change->version); /* first, since it may fail */
    if (rc == 0)
        rc = feed->options.on_change != NULL ? call_user(feed, change) : write_change(feed, change);
    if (rc < 0) {
        ki_resource_version_clear(&version);
        ki_list_buffer_clear(&feed->buffer); /* the next attempt starts over */
        return KI_ERR_NO_MEMORY;
    }
    publish(feed, change, &version);
    ki_resource_version_clear(&version);
    if (feed->options.store != NULL && !ki_feed_destination_has_space(feed))
        rc = 1;
    if (rc > 0)
        rc = wait_for_space(feed);
    else if (had_space)
        feed->has_space = true; /* keep the report, which io may not have seen yet */
    if (feed->options.on_change == NULL || change->change_type == KI_CHANGE_LIST_END)
        ki_life_wake_dispatch(&feed->life);
    return rc;
}
