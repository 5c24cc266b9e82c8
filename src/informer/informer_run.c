/* SPDX-License-Identifier: Apache-2.0 */
/* What an informer does in the jobs of its life (reflector/life.c): on io it queues what the reflector
 * reports, on dispatch it applies that. */
#include <assert.h>

#include "informer/informer.h"
#include "informer/registration.h"
#include "util/error.h"
#include "util/units.h"

enum { RETRY_MS = 100, DETECT_MS = 1000 };

/* When dispatch has been out of memory for this long, it is reported. */
enum { SHORT_MS = 1000 };

/* The queue keeps spare entries for about this long. */
enum { SPARE_MS = 1000 };

/* After this many pushed changes, dispatch is woken although more follow: as many as it applies in one step.
 * With fewer, dispatch would often go to sleep and be woken again, and both threads would wait for the
 * allocator's lock more often. */
enum { CHANGES_AT_A_TIME = KI_APPLY_STEP };

/* Number of steps before another informer gets its turn on dispatch. */
enum { STEPS_AT_A_TIME = 4 };

/* ---- io: the reflector ------------------------------------------------------------------------------- */

static int push_object(ki_informer *informer, const ki_change *change)
{
    ki_delta delta = {.change_type = change->change_type,
                      .list = change->list,
                      .is_doubtful = change->is_doubtful != 0,
                      .object = change->object};
    return ki_delta_fifo_push(&informer->fifo, delta, change->version);
}

static int push_change(ki_informer *informer, const ki_change *change)
{
    ki_delta_fifo *fifo = &informer->fifo;
    switch (change->change_type) {
    case KI_CHANGE_ADDED:
    case KI_CHANGE_UPDATED:
    case KI_CHANGE_DELETED:
    case KI_CHANGE_REPLACED:
        return push_object(informer, change);
    case KI_CHANGE_SEEN:
        return ki_delta_fifo_push_seen(fifo, change->key, change->list);
    case KI_CHANGE_LIST_END:
    case KI_CHANGE_BOOKMARK:
        return ki_delta_fifo_push_marker(fifo, change->change_type, change->list, change->version);
    case KI_CHANGE_RESET:
        return ki_delta_fifo_begin_history(fifo, change->list);
    case KI_CHANGE_SYNC: /* only dispatch pushes it, in check_resync() */
        break;
    }
    return KI_ERR_INVALID;
}

/* Returns 1 if io must wait. The flag is set before the check, so either dispatch sees the flag, or io sees
 * the space that dispatch has made. Then io clears the flag, and dispatch may not have seen it and so not
 * wake io_job. Therefore io wakes it, if an earlier change has paused the reflector. */
static int wait_for_space(ki_informer *informer)
{
    KI_ASSERT_ON(informer->life.client->io);
    informer->is_queue_full = true;
    if (!ki_delta_fifo_has_space(&informer->fifo))
        return 1;
    informer->is_queue_full = false;
    if (informer->life.reflector.is_full)
        ki_job_wake(&informer->life.io_job);
    return 0;
}

/* Waking a thread costs more than pushing a change. So dispatch is woken once for all changes that one job on
 * io reads from a socket, when that job returns. */
static void wake_dispatch(ki_deferred *deferred)
{
    ki_informer *informer = KI_CONTAINER_OF(deferred, ki_informer, end_of_changes);
    KI_ASSERT_ON(informer->life.client->io);
    if (informer->pushed > 0)
        ki_life_wake_dispatch(&informer->life);
    informer->pushed = 0;
}

/* The reflector's on_change: a change leaves the reflector, and waits in the queue for dispatch. */
int ki_informer_take_change(const ki_change *change, void *user)
{
    ki_informer *informer = ki_informer_of(user);
    KI_ASSERT_ON(informer->life.client->io);
    if (informer->pushed == 0)
        ki_delta_fifo_set_now(&informer->fifo, ki_reflector_received_ns(&informer->life.reflector));
    int rc = push_change(informer, change);
    if (rc < 0)
        return rc;
    /* If rc is 1, the queue is full: nothing more arrives until there is space. */
    if (++informer->pushed >= CHANGES_AT_A_TIME || rc == 1)
        wake_dispatch(&informer->end_of_changes);
    else
        ki_loop_defer(&informer->end_of_changes, wake_dispatch);
    return rc == 1 ? wait_for_space(informer) : 0;
}

void ki_informer_report(const ki_informer_error *error, void *user)
{
    ki_informer *informer = ki_informer_of(user);
    KI_ASSERT_ON(informer->life.client->io);
    ki_error_log_write(&informer->life.errors, error);
    if (informer->on_error != NULL) /* never changes once started */
        informer->on_error(informer, error, informer->error_user);
}

void ki_informer_report_status(void *user)
{
    ki_informer *informer = ki_informer_of(user);
    KI_ASSERT_ON(informer->life.client->io);
    ki_informer_status status;
    ki_informer_read_status(informer, &status);
    ki_error_log_status(&informer->life.errors, &status);
    informer->has_told_synced = status.has_synced;
    if (informer->on_status == NULL) /* never changes once started */
        return;
    informer->on_status(informer, &status, informer->status_user);
}

static void halt(ki_life *life)
{
    KI_ASSERT_ON(life->client->io);
    ki_informer_of(life)->is_queue_full = false;
}

/* While dispatch is out of memory, requests still succeed, so nothing else would show that the store is not
 * updated. */
static void tell_shortage(ki_informer *informer)
{
    KI_ASSERT_ON(informer->life.client->io);
    bool is_short = informer->is_short;
    ki_error why;
    if (is_short == informer->has_told_short)
        return;
    informer->has_told_short = is_short;
    ki_error_set(&why, KI_ERR_NO_MEMORY, 0, "%s", KI_INFORMER_SHORT_TEXT);
    if (is_short)
        ki_informer_report(&(ki_informer_error){.reason = KI_REASON_NO_MEMORY,
                                                .party = KI_PARTY_SELF,
                                                .since_success_ms = ki_informer_age_ms(informer),
                                                .retry_ms = RETRY_MS,
                                                .error = &why,
                                                .key = ""},
                           &informer->life);
    ki_informer_report_status(&informer->life);
}

/* Reports what dispatch has found: the first list is in the store, or changes wait for memory. */
static void tell_news(ki_life *life)
{
    KI_ASSERT_ON(life->client->io);
    ki_informer *informer = ki_informer_of(life);
    tell_shortage(informer);
    if (life->is_synced && !informer->has_told_synced)
        ki_informer_report_status(life);
}

static bool has_space(const ki_life *life)
{
    KI_ASSERT_ON(life->client->io);
    return !ki_informer_of(life)->is_queue_full;
}

/* ---- stages ------------------------------------------------------------------------------------------ */

/* The caller holds life->mu. The functions called here require informer->life.mu, which is the same mutex.
 * The thread-safety analysis cannot know that, so it is turned off. */

/* Cancels a stop that has not taken effect yet. */
KI_NO_THREAD_SAFETY_ANALYSIS
static void want_locked(ki_life *life)
{
    KI_ASSERT_HELD(life->mu);
    if (life->stage != KI_STAGE_RUNNING || life->may_deliver)
        return;
    life->may_deliver = true;
    ki_registrations_wake_all_locked(ki_informer_of(life));
}

KI_NO_THREAD_SAFETY_ANALYSIS
static void begin_locked(ki_life *life)
{
    KI_ASSERT_HELD(life->mu);
    KI_ASSERT_ON(life->client->dispatch);
    ki_informer *informer = ki_informer_of(life);
    uint64_t now_ms = ki_clock_now_ms(life->client->clock);
    informer->timers.resync_ms = informer->check_ms == 0 ? UINT64_MAX : now_ms + informer->check_ms;
    ki_registrations_wake_all_locked(informer);
}

/* io has no requests any more. Drops the queue. The store is complete up to `version`,
 * from which the next run continues. */
static bool stop_locked(ki_life *life)
{
    KI_ASSERT_HELD(life->mu);
    KI_ASSERT_ON(life->client->dispatch);
    ki_informer *informer = ki_informer_of(life);
    life->list_is_owed |= ki_apply_drop(&informer->apply);
    ki_fanout_end_resync(&informer->fanout);
    ki_delta_fifo_reset(&informer->fifo, &informer->apply.version);
    ki_gauge_set(informer->metrics.queued_items, 0);
    ki_resource_version_copy(&life->version, &informer->apply.version);
    return informer->callbacks == 0; /* otherwise the last one wakes dispatch */
}

KI_NO_THREAD_SAFETY_ANALYSIS
static void free_locked(ki_life *life)
{
    KI_ASSERT_HELD(life->mu);
    ki_registrations_remove_all_locked(ki_informer_of(life));
}

/* Handlers may have been added after ki_informer_free(). */
KI_NO_THREAD_SAFETY_ANALYSIS
static bool leave_locked(ki_life *life)
{
    KI_ASSERT_HELD(life->mu);
    KI_ASSERT_ON(life->client->dispatch);
    ki_informer *informer = ki_informer_of(life);
    ki_registrations_remove_all_locked(informer);
    return ki_list_is_empty(&informer->registrations); /* the last one wakes dispatch */
}

/* ---- dispatch: applying ------------------------------------------------------------------------------ */

/* Like wait_for_space(), it sets the flag first, and checks the backlogs again afterwards: either the handler
 * sees that dispatch waits, or dispatch sees that the handler has caught up. */
static bool is_blocked(ki_informer *informer)
{
    KI_ASSERT_ON(informer->life.client->dispatch);
    if (!ki_fanout_is_blocked(&informer->fanout)) {
        informer->is_blocked = false;
        return false;
    }
    informer->is_blocked = true;
    if (ki_fanout_is_blocked(&informer->fanout))
        return true;
    informer->is_blocked = false;
    return false;
}

static void publish(ki_informer *informer)
{
    KI_ASSERT_ON(informer->life.client->dispatch);
    const ki_apply *apply = &informer->apply;
    bool has_synced = apply->is_synced && !informer->life.is_synced;
    ki_mutex_lock(&informer->life.mu);
    bool is_news = has_synced || !ki_resource_version_equal(&informer->life.version, &apply->version);
    ki_resource_version_copy(&informer->life.version, &apply->version);
    informer->life.is_synced = apply->is_synced;
    if (is_news)
        ki_client_notify(informer->life.client);
    if (has_synced)
        ki_job_wake(&informer->life.io_job);
    ki_mutex_unlock(&informer->life.mu);
}

static void measure(ki_informer *informer)
{
    KI_ASSERT_ON(informer->life.client->dispatch);
    const ki_informer_metrics *metrics = &informer->metrics;
    uint64_t failures = ki_store_index_failures(informer->store);
    ki_counter_add(metrics->index_failures, failures - informer->index_failures);
    informer->index_failures = failures;
    ki_gauge_set(metrics->queued_items, (int64_t)ki_delta_fifo_items(&informer->fifo));
    ki_gauge_set(metrics->store_objects, (int64_t)ki_store_count(informer->store));
    ki_gauge_set(metrics->store_bytes, (int64_t)ki_store_bytes(informer->store));
    int64_t version = ki_informer_metrics_version(&informer->apply.version);
    if (version >= 0)
        ki_gauge_set(metrics->store_resource_version, version);
}

/* Asks io to abandon the list. Items that arrive before io does so are held back as well; they are no more
 * than the queue can hold. */
static void tell_doubt(ki_informer *informer)
{
    KI_ASSERT_ON(informer->life.client->dispatch);
    if (informer->apply.doubted_list == 0)
        return;
    ki_mutex_lock(&informer->life.mu);
    informer->life.doubted_list = informer->apply.doubted_list;
    ki_mutex_unlock(&informer->life.mu);
    informer->apply.doubted_list = 0;
    ki_job_wake(&informer->life.io_job);
}

static void report_space(ki_informer *informer)
{
    KI_ASSERT_ON(informer->life.client->dispatch);
    if (informer->is_queue_full && ki_delta_fifo_has_space(&informer->fifo)) {
        informer->is_queue_full = false;
        ki_job_wake(&informer->life.io_job);
    }
}

/* Does not wait for readers, so that readers that stay in a section delay only this informer. */
static bool store_has_space(ki_informer *informer)
{
    KI_ASSERT_ON(informer->life.client->dispatch);
    bool has_space = ki_store_has_space(informer->store);
    informer->timers.space_ms =
        has_space ? UINT64_MAX : ki_clock_now_ms(informer->life.client->clock) + KI_STORE_SPACE_MS;
    return has_space;
}

/* Returns 1 if dispatch should continue at once; 0 if nothing waits, or if a handler or a timer will wake it;
 * or KI_ERR_NO_MEMORY. Does not measure the latency of a run that finds nothing to apply. */
static int apply_some(ki_informer *informer)
{
    KI_ASSERT_ON(informer->life.client->dispatch);
    const ki_clock *clock = informer->life.client->clock;
    uint64_t began_ns = ki_clock_now_ns(clock);
    int rc = 1;
    bool was_something = false;
    bool has_time = true;
    for (int i = 0; has_time && rc == 1 && !is_blocked(informer) && store_has_space(informer); i++) {
        rc = ki_apply_step(&informer->apply);
        was_something |= rc == 1;
        publish(informer);
        tell_doubt(informer);
        has_time = i + 1 < STEPS_AT_A_TIME && !ki_loop_is_over_budget();
    }
    if (was_something)
        ki_histogram_observe(informer->metrics.processing_latency, ki_clock_now_ns(clock) - began_ns);
    measure(informer);
    /* The handler wakes dispatch when it has caught up. A timer wakes it when read sections may have
     * ended. */
    if (rc == 1 && (informer->is_blocked || informer->timers.space_ms != UINT64_MAX))
        rc = 0;
    report_space(informer);
    return rc;
}

/* ---- dispatch: what happens by the clock ------------------------------------------------------------- */

/* There is no resync before the first list has ended. A resync that becomes due earlier happens at the first
 * check afterwards. */
static void check_resync(ki_informer *informer, uint64_t now_ms)
{
    KI_ASSERT_ON(informer->life.client->dispatch);
    ki_informer_timers *timers = &informer->timers;
    if (now_ms < timers->resync_ms)
        return;
    ki_mutex_lock(&informer->life.mu);
    timers->resync_ms = now_ms + informer->check_ms;
    ki_mutex_unlock(&informer->life.mu);
    if (informer->apply.is_synced && ki_fanout_begin_resync(&informer->fanout, now_ms) > 0 &&
        ki_delta_fifo_push_marker(&informer->fifo, KI_CHANGE_SYNC, 0, (ki_str){0}) < 0)
        ki_fanout_end_resync(&informer->fanout); /* out of memory: try again at the next check */
}

static void check_mutations(ki_informer *informer, uint64_t now_ms)
{
    KI_ASSERT_ON(informer->life.client->dispatch);
    ki_informer_timers *timers = &informer->timers;
    if (informer->detector.mode == KI_MUTATION_OFF || now_ms < timers->detect_ms)
        return;
    timers->detect_ms = now_ms + DETECT_MS;
    (void)ki_mutation_detector_check(&informer->detector);
}

/* Frees memory that is not needed any more: objects that readers may have used,
 * and spare entries of the queue. */
static void flush(ki_informer *informer, uint64_t now_ms)
{
    KI_ASSERT_ON(informer->life.client->dispatch);
    uint64_t *due_ms = &informer->timers.flush_ms;
    uint64_t before_ms = *due_ms;
    ki_store_flush_when_due(informer->store, now_ms, due_ms);
    if (now_ms >= before_ms)
        ki_delta_fifo_trim(&informer->fifo);
    else if (*due_ms == UINT64_MAX && ki_delta_fifo_has_spares(&informer->fifo))
        *due_ms = before_ms == UINT64_MAX ? now_ms + SPARE_MS : before_ms;
}

static void schedule_dispatch(ki_informer *informer, ki_stage stage)
{
    KI_ASSERT_ON(informer->life.client->dispatch);
    const ki_informer_timers *timers = &informer->timers;
    uint64_t due_ms = ki_ns_min(timers->retry_ms, timers->flush_ms);
    if (stage == KI_STAGE_RUNNING)
        due_ms = ki_ns_min(due_ms, ki_ns_min(timers->resync_ms, timers->space_ms));
    if (informer->detector.mode != KI_MUTATION_OFF)
        due_ms = ki_ns_min(due_ms, timers->detect_ms);
    ki_job_wake_at(&informer->life.dispatch_job, due_ms == UINT64_MAX ? UINT64_MAX : due_ms * KI_NS_PER_MS);
}

static void note_memory(ki_informer *informer, bool is_short, uint64_t now_ms)
{
    KI_ASSERT_ON(informer->life.client->dispatch);
    ki_informer_timers *timers = &informer->timers;
    timers->retry_ms = is_short ? now_ms + RETRY_MS : UINT64_MAX;
    if (!is_short || timers->short_ms == UINT64_MAX)
        timers->short_ms = is_short ? now_ms : UINT64_MAX;
    bool is_lasting = is_short && now_ms - timers->short_ms >= SHORT_MS;
    if (is_lasting == informer->is_short)
        return;
    informer->is_short = is_lasting;
    ki_job_wake(&informer->life.io_job);
}

/* ---- dispatch: all of it ----------------------------------------------------------------------------- */

/* Each run of dispatch_job, which ki_life_wake_dispatch() wakes. */
static void dispatch(ki_life *life)
{
    KI_ASSERT_ON(life->client->dispatch);
    ki_informer *informer = ki_informer_of(life);
    uint64_t now_ms = ki_clock_now_ms(informer->life.client->clock);
    bool is_short = ki_registrations_update(informer) < 0; /* out of memory; other informers continue
                                                            * meanwhile */
    int rc = 0;
    ki_stage stage = ki_life_advance(life);
    if (stage == KI_STAGE_RELEASED) {
        /* While a reader may still use an object of the store, try again later. But if the client has been
         * freed, no thread would run dispatch again. */
        if (life->client->is_closed || ki_store_close(informer->store))
            ki_informer_destroy(informer);
        else
            ki_job_wake_at(&life->dispatch_job, (now_ms + KI_STORE_SPACE_MS) * KI_NS_PER_MS);
        return;
    }
    if (stage == KI_STAGE_RUNNING) {
        check_resync(informer, now_ms);
        rc = apply_some(informer);
    }
    check_mutations(informer, now_ms);
    if (rc != 1)
        flush(informer, now_ms);
    note_memory(informer, rc < 0 || is_short, now_ms);
    schedule_dispatch(informer, stage);
    if (rc == 1)
        ki_life_wake_dispatch(&informer->life);
}

const ki_life_kind ki_informer_kind = {.name = "reflector",
                                       .want_locked = want_locked,
                                       .begin_locked = begin_locked,
                                       .stop_locked = stop_locked,
                                       .free_locked = free_locked,
                                       .leave_locked = leave_locked,
                                       .halt = halt,
                                       .drive = tell_news,
                                       .has_space = has_space,
                                       .dispatch = dispatch};
