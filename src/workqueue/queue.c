/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of the queue, and the calls that add and take keys. They are in one file so that the compiler can
 * inline the steps, which saves a fifth of the time. */
#include "workqueue/queue.h"

#include <assert.h>

#include "util/prefetch.h"
#include "util/units.h"

/* About the time that it takes to put a thread to sleep and to wake it. */
enum { LINGER_NS = 2500 };

/* How far ahead the slots of arrivals are prefetched: about ten keys. */
enum { AHEAD_BYTES = 512 };

int ki_workqueue_check(const ki_workqueue *queue)
{
    if (queue == NULL)
        return KI_ERR_INVALID;
    return queue->is_inherited ? KI_ERR_FORKED : 0;
}

int ki_workqueue_check_key(const ki_workqueue *queue, ki_str key, ki_priority priority)
{
    int rc = ki_workqueue_check(queue);
    if (rc < 0)
        return rc;
    if (key.len == 0 || (priority != KI_PRIORITY_HIGH && priority != KI_PRIORITY_LOW))
        return KI_ERR_INVALID;
    return key.len > KI_WORK_KEY_BYTES_MAX ? KI_ERR_TOO_LARGE : 0;
}

/* The time, only with metrics: reading the clock costs as much as the rest of a call. */
static uint64_t now_for_metrics(const ki_workqueue *queue)
{
    return ki_work_metrics_are_on(&queue->metrics) ? ki_clock_now_ns(queue->clock) : 0;
}

void ki_workqueue_unlock(ki_workqueue *queue)
{
    KI_ASSERT_HELD(queue->mu);
    ki_work_waiters *waiters = &queue->waiters;
    if (waiters->fd.is_open) {
        ki_wake_fd_raise(&waiters->fd, queue->is_stopping || ki_work_order_count(&queue->order) > 0);
        ki_wake_fd_raise_at(&waiters->fd, ki_workqueue_next_due_locked(queue));
    }
    ki_work_signals signals = ki_work_waiters_take_signals(waiters);
    ki_mutex_unlock(&queue->mu);
    if (signals.sleeper || signals.keeper)
        ki_work_waiters_send(waiters, signals);
}

/* ---- keys ---------------------------------------------------------------------------------------------- */

/* In a large table, reading the slot is a cache miss. So it is prefetched while an entry is allocated. Most
 * adds need the entry; otherwise it is freed again. */
ki_work_entry *ki_workqueue_intern_locked(ki_workqueue *queue, ki_str key, uint32_t hash)
{
    KI_ASSERT_HELD(queue->mu);
    ki_work_entry *made = NULL;
    if (ki_work_keys_is_large(&queue->keys)) {
        ki_work_keys_expect(&queue->keys, hash);
        made = ki_work_entry_new(&queue->spares, key, hash);
    }
    ki_work_entry *known = ki_work_keys_find(&queue->keys, key, hash);
    if (known == NULL && made == NULL)
        made = ki_work_entry_new(&queue->spares, key, hash);
    if (known == NULL && made != NULL && ki_work_keys_reserve(&queue->keys, 1) == 0) {
        ki_work_keys_insert(&queue->keys, made);
        return made;
    }
    ki_work_entry_free(&queue->spares, made);
    return known;
}

void ki_workqueue_release_locked(ki_workqueue *queue, ki_work_entry *entry)
{
    KI_ASSERT_HELD(queue->mu);
    if (entry->is_dirty || entry->is_processing || ki_work_entry_is_timed(entry))
        return;
    assert(!ki_list_node_is_linked(&entry->node));
    ki_work_keys_remove(&queue->keys, entry);
    ki_work_entry_free(&queue->spares, entry);
}

static ki_work_entry **at_hand_locked(ki_workqueue *queue, const char *text) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    return &queue->at_hand[(uintptr_t)text / KI_WORK_SPARE_STEP % KI_WORK_AT_HAND];
}

ki_work_entry *ki_workqueue_find_processing_locked(ki_workqueue *queue, ki_str key)
{
    KI_ASSERT_HELD(queue->mu);
    ki_work_entry *entry = *at_hand_locked(queue, key.ptr);
    if (entry != NULL && entry->key == key.ptr && entry->key_len == key.len)
        return entry;
    entry = ki_work_keys_find(&queue->keys, key, ki_workqueue_hash(queue, key));
    return entry != NULL && entry->is_processing ? entry : NULL;
}

/* ---- steps --------------------------------------------------------------------------------------------- */

static void push_locked(ki_workqueue *queue, ki_work_entry *entry) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    assert(entry->is_dirty && !entry->is_processing);
    ki_work_order_push(&queue->order, entry);
    ki_work_waiters_wake_one(&queue->waiters);
}

static void raise_locked(ki_workqueue *queue, ki_work_entry *entry) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    assert(entry->is_dirty && entry->priority == KI_PRIORITY_LOW);
    if (entry->is_processing)
        entry->priority = KI_PRIORITY_HIGH;
    else
        ki_work_order_raise(&queue->order, entry);
}

static void mark_dirty_locked(ki_workqueue *queue, ki_work_entry *entry, ki_priority priority)
    KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    assert(priority == KI_PRIORITY_HIGH || priority == KI_PRIORITY_LOW);
    if (entry->is_dirty) {
        if (priority < entry->priority)
            raise_locked(queue, entry);
        return;
    }
    if (entry->is_put_off)
        priority = ki_workqueue_end_put_off_locked(queue, entry, priority);
    entry->is_dirty = true;
    entry->priority = (uint8_t)priority;
    entry->dirty_ns = now_for_metrics(queue);
    queue->depth++;
    ki_gauge_add(queue->metrics.depth, 1);
    if (!entry->is_processing)
        push_locked(queue, entry);
}

void ki_workqueue_make_dirty_locked(ki_workqueue *queue, ki_work_entry *entry, ki_priority priority)
{
    KI_ASSERT_HELD(queue->mu);
    if (!entry->is_dirty || entry->is_again)
        ki_counter_add(queue->metrics.adds, 1);
    entry->is_again = false;
    mark_dirty_locked(queue, entry, priority);
}

void ki_workqueue_resume_locked(ki_workqueue *queue, ki_work_entry *entry, ki_priority priority)
{
    KI_ASSERT_HELD(queue->mu);
    entry->is_again = entry->is_again || !entry->is_dirty;
    mark_dirty_locked(queue, entry, priority);
}

/* When the oldest unfinished work began; UINT64_MAX: there is none. */
static uint64_t oldest_ns_locked(const ki_workqueue *queue) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    assert(ki_work_metrics_are_on(&queue->metrics));
    ki_list_node *first = ki_list_first(&queue->processing);
    return first == NULL ? UINT64_MAX : KI_CONTAINER_OF(first, ki_work_entry, node)->started_ns;
}

/* More keys wait, so this worker wakes the next one. It also prefetches what later calls will read, which
 * would be cache misses in a queue with many keys: the slot of the key after the next one, because a miss
 * takes longer than one get and one done, and the entry that is read here by the next call. */
static void pass_on_locked(ki_workqueue *queue) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    const ki_work_entry *ahead = ki_work_order_ahead(&queue->order);
    ki_work_waiters_wake_one(&queue->waiters);
    ki_work_keys_expect(&queue->keys, ahead->hash);
    ki_prefetch_write(ahead->node.next);
}

/* Hands out the next key; NULL when none waits. `now_ns` is for the metrics. */
static ki_work_entry *take_locked(ki_workqueue *queue, uint64_t now_ns) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    ki_work_entry *entry = ki_work_order_pop(&queue->order);
    if (entry == NULL)
        return NULL;
    assert(entry->is_dirty && !entry->is_processing && queue->depth > 0);
    entry->is_dirty = false;
    entry->is_processing = true;
    entry->started_ns = now_ns;
    if (ki_work_metrics_are_on(&queue->metrics)) {
        ki_list_push_back(&queue->processing, &entry->node);
        ki_work_metrics_begin(&queue->metrics, entry->started_ns, oldest_ns_locked(queue));
    }
    *at_hand_locked(queue, entry->key) = entry;
    queue->processing_count++;
    queue->depth--;
    ki_gauge_add(queue->metrics.depth, -1);
    if (!entry->is_again)
        ki_histogram_observe(queue->metrics.queued, entry->started_ns - entry->dirty_ns);
    entry->is_again = false;
    if (ki_work_order_count(&queue->order) > 0)
        pass_on_locked(queue);
    return entry;
}

void ki_workqueue_finish_locked(ki_workqueue *queue, ki_work_entry *entry)
{
    KI_ASSERT_HELD(queue->mu);
    ki_work_entry **at_hand = at_hand_locked(queue, entry->key);
    assert(entry->is_processing);
    assert(queue->processing_count > 0);
    if (*at_hand == entry)
        *at_hand = NULL;
    entry->is_processing = false;
    queue->processing_count--;
    if (ki_work_metrics_are_on(&queue->metrics)) {
        ki_list_remove(&entry->node);
        ki_work_metrics_end(&queue->metrics, entry->started_ns, oldest_ns_locked(queue));
    }
    if (entry->is_dirty)
        push_locked(queue, entry);
    else if (queue->is_stopping && ki_workqueue_is_drained_locked(queue))
        ki_cond_broadcast(&queue->waiters.drained);
    assert(*at_hand != entry && !entry->is_processing);
    ki_workqueue_release_locked(queue, entry);
}

/* ---- arrivals ------------------------------------------------------------------------------------------ */

/* Queues an arrival. Its entry and its slot were reserved. */
static void settle_locked(ki_workqueue *queue, const ki_work_arrival *arrival) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    ki_str key = {arrival->key, arrival->key_len};
    ki_work_entry *entry = ki_work_keys_find(&queue->keys, key, arrival->hash);
    if (entry == NULL) {
        entry = ki_work_entry_new(&queue->spares, key, arrival->hash);
        assert(entry != NULL);
        ki_work_keys_insert(&queue->keys, entry);
    }
    ki_workqueue_make_dirty_locked(queue, entry, (ki_priority)arrival->priority);
}

/* Queues all arrivals in order, and prefetches the slots of the next ones meanwhile. */
static void settle_all_locked(ki_workqueue *queue) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    const ki_work_arrivals *arrivals = &queue->arrivals;
    size_t ahead = 0;
    for (size_t at = 0; at < arrivals->used;) {
        while (ahead < arrivals->used && ahead <= at + AHEAD_BYTES)
            ki_work_keys_expect(&queue->keys, ki_work_arrivals_next(arrivals, &ahead)->hash);
        settle_locked(queue, ki_work_arrivals_next(arrivals, &at));
    }
    ki_work_arrivals_clear(&queue->arrivals);
    ki_work_spares_trim(&queue->spares);
}

/* Arrivals first: they were added before the delays ended. */
static void catch_up_locked(ki_workqueue *queue) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    if (queue->arrivals.count > 0)
        settle_all_locked(queue);
    if (queue->delayed.count > 0)
        ki_workqueue_ripen_locked(queue);
}

void ki_workqueue_lock(ki_workqueue *queue)
{
    ki_mutex_lock_short(&queue->mu);
    catch_up_locked(queue);
}

/* Whether an added key becomes an arrival. Metrics and the descriptor must show a key at once, without
 * another call, so with them no key does. A long key never does. If a worker has to be woken, the key is
 * queued at once, because an arrival does not tell whether there is anything to do: the key may be known. */
static bool takes_arrivals_locked(const ki_workqueue *queue, ki_str key) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    return ki_work_spares_list(key.len) < KI_WORK_SPARE_SIZES && !ki_work_metrics_are_on(&queue->metrics) &&
           !queue->waiters.fd.is_open && !ki_work_waiters_has_idle(&queue->waiters);
}

/* Returns false, with nothing changed, when out of memory. */
static bool arrive_locked(ki_workqueue *queue, ki_str key, uint32_t hash, ki_priority priority)
    KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    if (!ki_work_arrivals_fit(&queue->arrivals, key.len))
        settle_all_locked(queue);
    if (ki_work_keys_reserve(&queue->keys, queue->arrivals.count + 1) < 0 ||
        ki_work_spares_reserve(&queue->spares, key.len, queue->arrivals.by_list) < 0)
        return false;
    ki_work_arrivals_push(&queue->arrivals, key, hash, priority);
    return true;
}

/* ---- adding -------------------------------------------------------------------------------------------- */

static int add_locked(ki_workqueue *queue, ki_str key, uint32_t hash, ki_priority priority)
    KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    assert(key.len > 0 && key.len <= KI_WORK_KEY_BYTES_MAX);
    if (queue->is_stopping)
        return KI_ERR_STOPPED;
    if (takes_arrivals_locked(queue, key) && arrive_locked(queue, key, hash, priority))
        return 0;
    /* Arrivals first, to keep the order. Also reached when there was no memory for an arrival: a known key
     * needs none. */
    catch_up_locked(queue);
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
    ki_mutex_lock_short(&queue->mu);
    if (queue->delayed.count > 0) /* delays may have ended; without delays, arrivals may go on waiting */
        catch_up_locked(queue);
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

/* Releases the mutex for a moment, unless another worker is doing so (workqueue/waiters.h says why). */
static void linger_locked(ki_workqueue *queue) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    if (queue->waiters.is_lingering)
        return;
    queue->waiters.is_lingering = true;
    ki_workqueue_unlock(queue);
    ki_thread_spin_ns(LINGER_NS);
    ki_workqueue_lock(queue);
    queue->waiters.is_lingering = false;
}

/* Lingers and sleeps, once. Returns 0 if the caller should check again, or KI_ERR_TIMEOUT. */
static int wait_locked(ki_workqueue *queue, uint64_t until_ns) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    assert(ki_work_order_count(&queue->order) == 0 && !queue->is_stopping);
    if (until_ns == 0 || queue->clock->is_virtual)
        return KI_ERR_TIMEOUT;
    linger_locked(queue);
    if (ki_work_order_count(&queue->order) > 0 || queue->is_stopping)
        return 0;
    uint64_t due_ns = ki_workqueue_next_due_locked(queue);
    uint64_t now_ns = until_ns == UINT64_MAX && due_ns == UINT64_MAX ? 0 : ki_clock_now_ns(queue->clock);
    if (until_ns <= now_ns)
        return KI_ERR_TIMEOUT;
    ki_work_waiters_sleep(&queue->waiters, &queue->mu, left_ms(now_ns, until_ns), left_ms(now_ns, due_ns));
    catch_up_locked(queue);
    return 0;
}

static int get_locked(ki_workqueue *queue, uint64_t now_ns, uint64_t until_ns, ki_work_item *out_item)
    KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    for (;;) {
        ki_work_entry *entry = take_locked(queue, now_ns);
        if (entry != NULL) {
            *out_item =
                (ki_work_item){.key = ki_work_entry_key(entry), .priority = (ki_priority)entry->priority};
            return 0;
        }
        if (queue->is_stopping)
            return KI_ERR_STOPPED;
        int rc = wait_locked(queue, until_ns);
        if (rc < 0)
            return rc;
        now_ns = now_for_metrics(queue);
    }
}

/* Returns KI_ERR_NOT_FOUND if no worker has the key. */
static int done_locked(ki_workqueue *queue, ki_str key, uint64_t now_ns) KI_REQUIRES(queue->mu)
{
    KI_ASSERT_HELD(queue->mu);
    ki_work_entry *entry = ki_workqueue_find_processing_locked(queue, key);
    if (entry == NULL)
        return KI_ERR_NOT_FOUND;
    ki_histogram_observe(queue->metrics.worked, now_ns - entry->started_ns);
    ki_workqueue_finish_locked(queue, entry);
    return 0;
}

/* Ends the work on `done`, unless it is empty, and takes the next key. */
static int take_turn(ki_workqueue *queue, ki_str done, uint64_t timeout_ms, ki_work_item *out_item)
{
    uint64_t until_ns = 0;
    if (timeout_ms == UINT64_MAX)
        until_ns = UINT64_MAX;
    else if (timeout_ms > 0)
        until_ns = ki_clock_now_ns(queue->clock) + ki_ns_of_ms(timeout_ms);
    ki_workqueue_lock(queue);
    uint64_t now_ns = now_for_metrics(queue);
    if (done.len > 0)
        (void)done_locked(queue, done, now_ns);
    int rc = get_locked(queue, now_ns, until_ns, out_item);
    if (queue->delayed.count > 0 && !queue->waiters.has_keeper) /* this worker may have been the timekeeper */
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
    rc = done_locked(queue, key, now_for_metrics(queue));
    ki_workqueue_unlock(queue);
    return rc;
}
