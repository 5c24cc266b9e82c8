/* SPDX-License-Identifier: Apache-2.0 */
/* The public calls of a work queue, except for delays, rate limits and shut downs. */
#include <assert.h>

#include "util/alloc.h"
#include "util/error.h"
#include "util/units.h"
#include "workqueue/queue.h"

/* ---- making and freeing -------------------------------------------------------------------------------- */

KI_NO_THREAD_SAFETY_ANALYSIS
static void on_fork(ki_fork_hook *hook, ki_fork_phase phase)
{
    ki_workqueue *queue = KI_CONTAINER_OF(hook, ki_workqueue, fork_hook);
    if (phase == KI_FORK_PREPARE) {
        ki_mutex_lock(&queue->mu);
        return;
    }
    if (phase == KI_FORK_CHILD)
        ki_work_waiters_forget(&queue->waiters);
    ki_mutex_unlock(&queue->mu);
}

static int init(ki_workqueue *queue, const ki_workqueue_options *options, ki_error *err)
{
    queue->fork_hook = (ki_fork_hook){.order = KI_FORK_LEAVES, .run = on_fork};
    queue->generation = ki_fork_generation();
    ki_mutex_init_short(&queue->mu);
    ki_work_waiters_init(&queue->waiters);
    ki_work_order_init(&queue->order);
    ki_list_init(&queue->processing);
    ki_workqueue_delays_init(queue);
    ki_work_metrics_init(&queue->metrics, options->metrics, options->name, queue->clock);
    if (ki_hash_key_init(&queue->secret) < 0)
        return ki_fail(err, KI_ERR_SYSTEM, "cannot get random bytes from the system");
    return ki_fork_add(&queue->fork_hook) < 0 ? ki_fail_no_memory(err) : 0;
}

ki_workqueue *ki_workqueue_new_simulated(const ki_workqueue_options *options, const ki_clock *clock,
                                         ki_error *err)
{
    static const ki_workqueue_options defaults = {0};
    if (options == NULL)
        options = &defaults;
    if (ki_fork_check(err) < 0) {
        (void)ki_limiter_unref(options->limiter);
        return NULL;
    }
    ki_limiter *limiter = options->limiter == NULL ? ki_limiter_new_default(err) : options->limiter;
    ki_workqueue *queue = limiter == NULL ? NULL : ki_calloc(1, sizeof(*queue));
    if (queue == NULL) {
        if (limiter != NULL)
            (void)ki_fail_no_memory(err);
        (void)ki_limiter_unref(limiter);
        return NULL;
    }
    queue->clock = clock;
    queue->limiter = limiter;
    if (init(queue, options, err) < 0) {
        ki_workqueue_free(queue);
        return NULL;
    }
    return queue;
}

ki_workqueue *ki_workqueue_new(const ki_workqueue_options *options, ki_error *err)
{
    return ki_workqueue_new_simulated(options, ki_clock_real(), err);
}

static void free_entries(ki_workqueue *queue)
{
    for (size_t i = 0; i < queue->keys.slot_count; i++)
        ki_free(queue->keys.slots[i].entry);
}

void ki_workqueue_free(ki_workqueue *queue)
{
    if (queue == NULL)
        return;
    ki_fork_remove(&queue->fork_hook);
    ki_gauge_add(queue->metrics.depth, -(int64_t)queue->depth); /* another queue may have the same name */
    ki_work_metrics_fini(&queue->metrics);
    ki_heap_fini(&queue->delayed);
    free_entries(queue);
    ki_work_keys_fini(&queue->keys);
    ki_work_spares_fini(&queue->spares);
    ki_work_waiters_fini(&queue->waiters);
    ki_mutex_fini(&queue->mu);
    (void)ki_limiter_unref(queue->limiter);
    ki_free(queue);
}

/* ---- adding -------------------------------------------------------------------------------------------- */

static int add_locked(ki_workqueue *queue, ki_str key, uint32_t hash, ki_priority priority)
    KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    assert(key.len > 0 && key.len <= KI_WORK_KEY_BYTES_MAX);
    if (queue->is_stopping)
        return KI_ERR_STOPPED;
    ki_work_entry *entry = ki_workqueue_intern_locked(queue, key, hash);
    if (entry == NULL)
        return KI_ERR_NO_MEMORY;
    ki_workqueue_make_dirty_locked(queue, entry, priority);
    return 0;
}

int ki_workqueue_add(ki_workqueue *queue, ki_str key, ki_priority priority)
{
    int rc = ki_workqueue_check_key(queue, key, priority);
    if (rc < 0)
        return rc;
    uint32_t hash = ki_workqueue_hash(queue, key);
    ki_workqueue_lock(queue);
    rc = add_locked(queue, key, hash, priority);
    ki_workqueue_unlock(queue);
    return rc;
}

/* ---- working ------------------------------------------------------------------------------------------- */

/* In milliseconds, rounded up, so that a sleeper does not wake too early. */
static uint64_t left_ms(uint64_t now_ns, uint64_t until_ns)
{
    if (until_ns == UINT64_MAX)
        return UINT64_MAX;
    return until_ns <= now_ns ? 0 : (until_ns - now_ns + KI_NS_PER_MS - 1) / KI_NS_PER_MS;
}

/* Sleeps once. Returns 0 to check again, or KI_ERR_TIMEOUT. */
static int sleep_locked(ki_workqueue *queue, uint64_t until_ns) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    assert(ki_work_order_count(&queue->order) == 0 && !queue->is_stopping);
    uint64_t due_ns = ki_workqueue_next_due_locked(queue);
    uint64_t now_ns = until_ns == UINT64_MAX && due_ns == UINT64_MAX ? 0 : ki_clock_now_ns(queue->clock);
    if (until_ns <= now_ns || queue->clock->is_virtual)
        return KI_ERR_TIMEOUT;
    ki_work_waiters_sleep(&queue->waiters, &queue->mu, left_ms(now_ns, until_ns), left_ms(now_ns, due_ns));
    ki_workqueue_ripen_locked(queue);
    return 0;
}

static int get_locked(ki_workqueue *queue, uint64_t until_ns, ki_work_item *out_item) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    for (;;) {
        ki_work_entry *entry = ki_workqueue_take_locked(queue);
        if (entry != NULL) {
            *out_item =
                (ki_work_item){.key = ki_work_entry_key(entry), .priority = (ki_priority)entry->priority};
            return 0;
        }
        if (queue->is_stopping)
            return KI_ERR_STOPPED;
        int rc = sleep_locked(queue, until_ns);
        if (rc < 0)
            return rc;
    }
}

/* Returns KI_ERR_NOT_FOUND if no worker has the key. */
static int done_locked(ki_workqueue *queue, ki_str key) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    ki_work_entry *entry = ki_workqueue_find_processing_locked(queue, key);
    if (entry == NULL)
        return KI_ERR_NOT_FOUND;
    ki_workqueue_finish_locked(queue, entry);
    return 0;
}

/* Ends the work on `done`, unless it is empty, and gets the next key. */
static int take_turn(ki_workqueue *queue, ki_str done, uint64_t timeout_ms, ki_work_item *out_item)
{
    uint64_t until_ns = 0;
    if (timeout_ms == UINT64_MAX)
        until_ns = UINT64_MAX;
    else if (timeout_ms > 0)
        until_ns = ki_clock_now_ns(queue->clock) + ki_ns_of_ms(timeout_ms);
    ki_workqueue_lock(queue);
    if (done.len > 0)
        (void)done_locked(queue, done);
    int rc = get_locked(queue, until_ns, out_item);
    if (queue->delayed.count > 0 && !queue->waiters.has_keeper) /* it may have been this worker */
        ki_work_waiters_wake_keeper(&queue->waiters);
    ki_workqueue_unlock(queue);
    return rc;
}

int ki_workqueue_get(ki_workqueue *queue, uint64_t timeout_ms, ki_work_item *out_item)
{
    int rc = out_item == NULL ? KI_ERR_INVALID : ki_workqueue_check(queue);
    return rc < 0 ? rc : take_turn(queue, (ki_str){0}, timeout_ms, out_item);
}

int ki_workqueue_next(ki_workqueue *queue, uint64_t timeout_ms, ki_work_item *item)
{
    int rc = item == NULL ? KI_ERR_INVALID : ki_workqueue_check(queue);
    if (rc < 0)
        return rc;
    ki_str done = item->key;
    *item = (ki_work_item){0};
    return take_turn(queue, done, timeout_ms, item);
}

int ki_workqueue_done(ki_workqueue *queue, ki_str key)
{
    int rc = ki_workqueue_check_key(queue, key, KI_PRIORITY_HIGH);
    if (rc < 0)
        return rc == KI_ERR_TOO_LARGE ? KI_ERR_NOT_FOUND : rc;
    ki_workqueue_lock(queue);
    rc = done_locked(queue, key);
    ki_workqueue_unlock(queue);
    return rc;
}

int ki_workqueue_fd(ki_workqueue *queue, ki_error *err)
{
    if (queue == NULL)
        return ki_fail_missing(err, "no queue");
    int rc = ki_workqueue_check(queue);
    if (rc < 0 || queue->clock->is_virtual)
        return ki_fail(err, rc < 0 ? rc : KI_ERR_INVALID, "%s", ki_error_text(rc < 0 ? rc : KI_ERR_INVALID));
    ki_workqueue_lock(queue);
    if (!queue->waiters.fd.is_open)
        rc = ki_wake_fd_open(&queue->waiters.fd, err);
    if (rc == 0)
        rc = queue->waiters.fd.epoll_fd;
    ki_workqueue_unlock(queue);
    return rc;
}

/* ---- looking at it ------------------------------------------------------------------------------------- */

void ki_workqueue_read_stats(const ki_workqueue *queue, ki_workqueue_stats *out_stats)
{
    *out_stats = (ki_workqueue_stats){0};
    if (ki_workqueue_check(queue) < 0)
        return;
    ki_workqueue *mine = (ki_workqueue *)queue; /* locks are not part of its const state */
    ki_workqueue_lock(mine);
    assert(mine->depth >= ki_work_order_count(&mine->order) && mine->depth <= mine->keys.count);
    assert(mine->processing_count <= mine->keys.count && mine->delayed.count <= mine->keys.count);
    *out_stats = (ki_workqueue_stats){.waiting = ki_work_order_count(&mine->order),
                                      .low = mine->order.counts[KI_PRIORITY_LOW],
                                      .depth = mine->depth,
                                      .processing = mine->processing_count,
                                      .delayed = mine->delayed.count,
                                      .dropped = mine->dropped};
    ki_workqueue_unlock(mine);
}

size_t ki_workqueue_len(const ki_workqueue *queue)
{
    ki_workqueue_stats stats;
    ki_workqueue_read_stats(queue, &stats);
    return stats.waiting;
}
