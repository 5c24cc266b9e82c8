/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/delta_queue.h"

#include <assert.h>

#include "client/callback.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/loop/rcu.h"

enum { ITEMS_DEFAULT = 10000, BYTES_DEFAULT = 16 * 1024 * 1024 };

static void on_fork(ki_fork_hook *hook, ki_fork_phase phase);

/* ---- making and freeing ------------------------------------------------------------------------------ */

ki_delta_queue *ki_delta_queue_new(const ki_delta_queue_options *options, ki_error *err)
{
    static const ki_delta_queue_options defaults = {0};
    if (options == NULL)
        options = &defaults;
    if (ki_fork_check(err) < 0)
        return NULL;
    ki_delta_queue *queue = ki_calloc(1, sizeof(*queue));
    if (queue == NULL) {
        (void)ki_fail_no_memory(err);
        return NULL;
    }
    if (ki_hash_key_init(&queue->keyer.secret) < 0) {
        (void)ki_fail_no_random(err);
        ki_free(queue);
        return NULL;
    }
    queue->known = options->known;
    queue->keyer.key = options->key;
    queue->keyer.user = options->user;
    queue->items_max = options->items_max == 0 ? ITEMS_DEFAULT : options->items_max;
    queue->bytes_max = options->bytes_max == 0 ? BYTES_DEFAULT : options->bytes_max;
    ki_mutex_init(&queue->mu);
    ki_cond_init(&queue->changed);
    ki_list_init(&queue->waiting);
    ki_list_init(&queue->processing);
    ki_list_init(&queue->abandoned);
    ki_map_init(&queue->keys);
    queue->fork_hook = (ki_fork_hook){.order = KI_FORK_LEAVES, .run = on_fork};
    if (ki_fork_add(&queue->fork_hook) < 0) {
        (void)ki_fail_no_memory(err);
        ki_delta_queue_free(queue);
        return NULL;
    }
    return queue;
}

void ki_delta_queue_free(ki_delta_queue *queue)
{
    if (queue == NULL)
        return;
    assert(ki_list_is_empty(&queue->processing));
    ki_fork_remove(&queue->fork_hook);
    ki_delta_entry_free_all(&queue->waiting);
    ki_delta_entry_free_all(&queue->abandoned);
    ki_map_fini(&queue->keys);
    ki_cond_fini(&queue->changed);
    ki_mutex_fini(&queue->mu);
    ki_free(queue);
}

/* ---- entries ----------------------------------------------------------------------------------------- */

int ki_delta_queue_key_of(const ki_delta_queue *queue, const ki_object *object, ki_key_buffer *buffer,
                          ki_str *out_key)
{
    assert(queue != NULL && out_key != NULL);
    ki_str key = ki_keyer_key(&queue->keyer, object, buffer);
    if (key.len == 0)
        return KI_ERR_INVALID;
    if (key.len > KI_KEY_BYTES)
        return KI_ERR_TOO_LARGE;
    *out_key = key;
    return 0;
}

ki_delta_entry *ki_delta_queue_find_locked(const ki_delta_queue *queue, ki_str key)
{
    KI_ASSERT_HELD(queue->mu);
    assert(queue != NULL);
    assert(key.ptr != NULL || key.len == 0);
    return ki_delta_entry_find(&queue->keys, key, ki_keyer_hash(&queue->keyer, key));
}

/* The list has one entry per consumer, so a linear search is enough. */
ki_delta_entry *ki_delta_queue_find_processing_locked(const ki_delta_queue *queue, ki_str key)
{
    KI_ASSERT_HELD(queue->mu);
    assert(queue != NULL);
    assert(key.ptr != NULL || key.len == 0);
    ki_list_node *node = ki_list_first(&queue->processing);
    while (node != NULL && !ki_str_equal(ki_delta_entry_key(ki_delta_entry_of(node)), key))
        node = ki_list_next(&queue->processing, node);
    return node == NULL ? NULL : ki_delta_entry_of(node);
}

/* Puts an entry at the end of the queue. Returns 0 or KI_ERR_NO_MEMORY with nothing changed. */
static int enqueue_locked(ki_delta_queue *queue, ki_delta_entry *entry) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    uint64_t hash = ki_keyer_hash(&queue->keyer, ki_delta_entry_key(entry));
    int rc = ki_map_insert(&queue->keys, &entry->by_key, hash);
    if (rc < 0)
        return rc;
    ki_list_push_back(&queue->waiting, &entry->node);
    queue->bytes += entry->bytes;
    ki_cond_signal(&queue->changed);
    return 0;
}

/* Of two deletes in a row the earlier one is kept, as in client-go, unless its final state is unknown. An
 * informer keeps the newer one, because its store has to know up to which version the object is deleted. */
static bool is_delete_again(const ki_delta_entry *entry, const ki_delta *delta)
{
    return delta->change_type == KI_CHANGE_DELETED && ki_delta_entry_ends_deleted(entry) &&
           !ki_delta_entry_last(entry)->final_state_unknown;
}

ki_delta_entry *ki_delta_queue_append_locked(ki_delta_queue *queue, ki_str key, ki_delta delta)
{
    KI_ASSERT_HELD(queue->mu);
    assert(queue != NULL);
    assert(key.ptr != NULL || key.len == 0);
    ki_delta_entry *entry = ki_delta_queue_find_locked(queue, key);
    if (entry != NULL && is_delete_again(entry, &delta))
        return entry;
    if (entry != NULL) {
        size_t before = entry->bytes;
        if (ki_delta_entry_reserve(entry) < 0)
            return NULL;
        ki_delta_entry_append(entry, delta);
        queue->bytes += entry->bytes - before;
        return entry;
    }
    entry = ki_delta_entry_new(key);
    if (entry == NULL)
        return NULL;
    /* Relaxed: the thread that pushes has set the time itself. */
    entry->queued_ns = atomic_load_explicit(&queue->now_ns, memory_order_relaxed);
    ki_delta_entry_append(entry, delta); /* a new entry has space for one */
    if (enqueue_locked(queue, entry) < 0) {
        ki_delta_entry_free(entry);
        return NULL;
    }
    return entry;
}

void ki_delta_queue_remove_locked(ki_delta_queue *queue, ki_delta_entry *entry)
{
    KI_ASSERT_HELD(queue->mu);
    assert(queue != NULL);
    ki_list_remove(&entry->node);
    ki_map_remove(&queue->keys, &entry->by_key);
    queue->bytes -= entry->bytes;
}

int ki_delta_queue_is_full_locked(const ki_delta_queue *queue)
{
    KI_ASSERT_HELD(queue->mu);
    assert(queue != NULL);
    return queue->keys.count >= queue->items_max || queue->bytes >= queue->bytes_max;
}

/* ---- producing --------------------------------------------------------------------------------------- */

static int is_in_store(const ki_delta_queue *queue, ki_str key)
{
    ki_rcu_read_lock();
    int is_known = ki_store_peek_key(queue->known, key) != NULL;
    ki_rcu_read_unlock();
    return is_known;
}

/* Whether there is an object to delete. */
static int is_known_locked(const ki_delta_queue *queue, ki_str key) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    if (ki_delta_queue_find_locked(queue, key) != NULL)
        return 1;
    const ki_delta_entry *entry = ki_delta_queue_find_processing_locked(queue, key);
    return (entry != NULL && !ki_delta_entry_ends_deleted(entry)) || is_in_store(queue, key);
}

static int push_locked(ki_delta_queue *queue, ki_str key, ki_delta delta) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    int is_wanted = delta.change_type != KI_CHANGE_DELETED || is_known_locked(queue, key);
    if (is_wanted && ki_delta_queue_append_locked(queue, key, delta) == NULL)
        return KI_ERR_NO_MEMORY;
    queue->is_populated = 1;
    return ki_delta_queue_is_full_locked(queue);
}

int ki_delta_queue_push(ki_delta_queue *queue, ki_delta delta)
{
    ki_key_buffer buffer;
    ki_str key = {0};
    if (queue == NULL || delta.object == NULL || delta.change_type < KI_CHANGE_ADDED ||
        delta.change_type > KI_CHANGE_DELETED)
        return KI_ERR_INVALID;
    int rc = ki_delta_queue_key_of(queue, delta.object, &buffer, &key);
    if (rc < 0)
        return rc;
    delta.final_state_unknown = delta.change_type == KI_CHANGE_DELETED && delta.final_state_unknown;
    ki_mutex_lock(&queue->mu);
    rc = push_locked(queue, key, delta);
    ki_mutex_unlock(&queue->mu);
    return rc;
}

/* Relaxed: the same thread pushes next. */
void ki_delta_queue_set_now(ki_delta_queue *queue, uint64_t now_ns)
{
    assert(queue != NULL);
    atomic_store_explicit(&queue->now_ns, now_ns, memory_order_relaxed);
}

int ki_delta_queue_has_room(const ki_delta_queue *queue)
{
    if (queue == NULL)
        return 0;
    ki_mutex_lock(&queue->mu);
    int has_space = queue->keys.count <= queue->items_max / 2 && queue->bytes <= queue->bytes_max / 2;
    ki_mutex_unlock(&queue->mu);
    return has_space;
}

void ki_delta_queue_close(ki_delta_queue *queue)
{
    if (queue == NULL)
        return;
    ki_mutex_lock(&queue->mu);
    queue->is_closed = 1;
    ki_cond_broadcast(&queue->changed);
    ki_mutex_unlock(&queue->mu);
}

/* ---- consuming --------------------------------------------------------------------------------------- */

static int has_synced_locked(const ki_delta_queue *queue) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    return queue->is_populated && queue->initial_left == 0;
}

static int wait_locked(ki_delta_queue *queue, uint64_t timeout_ms) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    const ki_clock *clock = ki_clock_real();
    uint64_t began_ms = ki_clock_now_ms(clock);
    uint64_t passed_ms = 0;
    while (ki_list_is_empty(&queue->waiting) && !queue->is_closed && passed_ms < timeout_ms) {
        (void)ki_cond_wait_ms(&queue->changed, &queue->mu, timeout_ms - passed_ms);
        passed_ms = ki_clock_now_ms(clock) - began_ms;
    }
    if (!ki_list_is_empty(&queue->waiting))
        return 0;
    return queue->is_closed ? KI_ERR_STOPPED : KI_ERR_TIMEOUT;
}

static ki_delta_entry *take_first_locked(ki_delta_queue *queue, ki_deltas *out_deltas) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    ki_delta_entry *entry = ki_delta_entry_of(ki_list_first(&queue->waiting));
    ki_delta_queue_remove_locked(queue, entry);
    ki_list_push_back(&queue->processing, &entry->node);
    *out_deltas = (ki_deltas){.key = ki_delta_entry_key(entry),
                              .items = entry->deltas,
                              .count = entry->count,
                              .is_initial = !has_synced_locked(queue)};
    return entry;
}

/* Puts the entry back, unless newer deltas wait for its key. Returns whether it is back. */
static int requeue_locked(ki_delta_queue *queue, ki_delta_entry *entry) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    ki_delta_entry *newer = ki_delta_queue_find_locked(queue, ki_delta_entry_key(entry));
    if (newer == NULL) {
        int rc = enqueue_locked(queue, entry);
        assert(rc == 0); /* the table has existed since the entry was first queued */
        return rc == 0;
    }
    if (entry->is_initial && !newer->is_initial) {
        newer->is_initial = 1;
        entry->is_initial = 0;
    }
    return 0;
}

/* Returns the entry, which the caller frees without the lock; or NULL if it waits again. */
static ki_delta_entry *finish_locked(ki_delta_queue *queue, ki_delta_entry *entry, int is_unfinished)
    KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    ki_list_remove(&entry->node);
    if (is_unfinished && requeue_locked(queue, entry))
        return NULL;
    queue->initial_left -= entry->is_initial ? 1 : 0;
    return entry;
}

/* In a child process, the threads that were processing entries or waiting for changes do not exist. Puts the
 * entries back. Frees nothing, since another thread may have been inside the allocator during the fork. */
static void take_over_locked(ki_delta_queue *queue) KI_REQUIRES(queue->mu)
{
    ki_cond_init(&queue->changed);
    for (ki_list_node *node = ki_list_first(&queue->processing); node != NULL;
         node = ki_list_first(&queue->processing)) {
        ki_delta_entry *left = finish_locked(queue, ki_delta_entry_of(node), true);
        if (left != NULL)
            ki_list_push_back(&queue->abandoned, &left->node);
    }
}

KI_NO_THREAD_SAFETY_ANALYSIS
static void on_fork(ki_fork_hook *hook, ki_fork_phase phase)
{
    ki_delta_queue *queue = KI_CONTAINER_OF(hook, ki_delta_queue, fork_hook);
    if (phase == KI_FORK_PREPARE) {
        ki_mutex_lock(&queue->mu);
        return;
    }
    if (phase == KI_FORK_CHILD)
        take_over_locked(queue);
    ki_mutex_unlock(&queue->mu);
    if (phase == KI_FORK_CHILD)
        ki_mutex_init(&queue->mu); /* it may count waiting threads, which do not exist here */
}

int ki_delta_queue_pop(ki_delta_queue *queue, uint64_t timeout_ms, ki_delta_queue_cb process, void *user)
{
    ki_deltas deltas = {0};
    ki_delta_entry *entry = NULL;
    if (queue == NULL || process == NULL)
        return KI_ERR_INVALID;
    if (ki_rcu_is_reading() || (timeout_ms > 0 && ki_client_may_wait() < 0))
        return KI_ERR_WOULD_DEADLOCK;
    ki_mutex_lock(&queue->mu);
    int rc = wait_locked(queue, timeout_ms);
    if (rc == 0)
        entry = take_first_locked(queue, &deltas);
    ki_mutex_unlock(&queue->mu);
    if (entry == NULL)
        return rc;
    rc = process(&deltas, user);
    ki_mutex_lock(&queue->mu);
    entry = finish_locked(queue, entry, rc > 0);
    ki_mutex_unlock(&queue->mu);
    ki_delta_entry_free(entry);
    return rc;
}

int ki_delta_queue_has_synced(const ki_delta_queue *queue)
{
    if (queue == NULL)
        return 0;
    ki_mutex_lock(&queue->mu);
    int has_synced = has_synced_locked(queue);
    ki_mutex_unlock(&queue->mu);
    return has_synced;
}

uint64_t ki_delta_queue_oldest_ns(ki_delta_queue *queue)
{
    assert(queue != NULL);
    ki_mutex_lock(&queue->mu);
    ki_list_node *node = ki_list_first(&queue->processing);
    if (node == NULL)
        node = ki_list_first(&queue->waiting);
    uint64_t oldest_ns = node == NULL ? 0 : ki_delta_entry_of(node)->queued_ns;
    ki_mutex_unlock(&queue->mu);
    return oldest_ns == 0 ? UINT64_MAX : oldest_ns;
}

size_t ki_delta_queue_len(const ki_delta_queue *queue)
{
    if (queue == NULL)
        return 0;
    ki_mutex_lock(&queue->mu);
    size_t len = queue->keys.count;
    ki_mutex_unlock(&queue->mu);
    return len;
}

size_t ki_delta_queue_bytes(const ki_delta_queue *queue)
{
    if (queue == NULL)
        return 0;
    ki_mutex_lock(&queue->mu);
    size_t bytes = queue->bytes;
    ki_mutex_unlock(&queue->mu);
    return bytes;
}
