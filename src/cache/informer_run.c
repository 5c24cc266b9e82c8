/* SPDX-License-Identifier: Apache-2.0 */
/* What the jobs of an informer do: io_job drives the reflector, dispatch_job applies what it queued. */
#include <assert.h>

#include "cache/informer.h"
#include "cache/registration.h"
#include "util/error.h"

enum { NS_PER_MS = 1000000, RETRY_MS = 100, DETECT_MS = 1000 };

/* That dispatch is given while more of them come. */
enum { CHANGES_AT_A_TIME = 64 };

/* Steps before another informer gets its turn on dispatch. */
enum { STEPS_AT_A_TIME = 4 };

void ki_informer_wake_dispatch(ki_informer *informer)
{
    if (!atomic_exchange(&informer->dispatch_is_due, true))
        ki_job_wake(&informer->dispatch_job);
}

/* ---- io: the reflector ------------------------------------------------------------------------------- */

void ki_informer_schedule_io(uint64_t due_ns, void *user)
{
    ki_informer *informer = user;
    ki_job_wake_at(&informer->io_job, due_ns);
}

static int push_object(ki_informer *informer, const ki_change *change, ki_delta_type type)
{
    ki_delta delta = {.type = type,
                      .list = change->list,
                      .is_doubtful = change->is_doubtful != 0,
                      .object = ki_object_ref(change->object)};
    int rc = ki_delta_fifo_push(&informer->fifo, delta, change->version);
    if (rc < 0)
        (void)ki_object_unref(delta.object);
    return rc;
}

static int push_change(ki_informer *informer, const ki_change *change)
{
    ki_delta_fifo *fifo = &informer->fifo;
    switch (change->type) {
    case KI_CHANGE_ADDED:
        return push_object(informer, change, KI_DELTA_ADDED);
    case KI_CHANGE_UPDATED:
        return push_object(informer, change, KI_DELTA_UPDATED);
    case KI_CHANGE_DELETED:
        return push_object(informer, change, KI_DELTA_DELETED);
    case KI_CHANGE_ITEM:
        return push_object(informer, change, KI_DELTA_REPLACED);
    case KI_CHANGE_SEEN:
        return ki_delta_fifo_push_seen(fifo, change->key, change->list);
    case KI_CHANGE_LIST_END:
        return ki_delta_fifo_push_marker(fifo, KI_ENTRY_LIST_END, change->list, change->version);
    case KI_CHANGE_BOOKMARK:
        return ki_delta_fifo_push_marker(fifo, KI_ENTRY_BOOKMARK, 0, change->version);
    case KI_CHANGE_RESET:
        return ki_delta_fifo_begin_history(fifo, change->list);
    }
    return KI_ERR_INVALID;
}

/* Full is said first and asked again afterwards: either dispatch sees that io waits for room, or io sees
 * that dispatch has made some. Then an earlier change of the same answer may have been told to wait, and
 * dispatch will not see that any more: the job tells the reflector. */
static int wait_for_room(ki_informer *informer)
{
    informer->is_queue_full = true;
    if (!ki_delta_fifo_has_room(&informer->fifo))
        return 1;
    informer->is_queue_full = false;
    if (informer->reflector.is_full) /* said before, by a change of the same piece: dispatch does not know */
        ki_job_wake(&informer->io_job);
    return 0;
}

int ki_informer_take_change(const ki_change *change, void *user)
{
    ki_informer *informer = user;
    if (informer->pushed == 0)
        ki_delta_fifo_set_now(&informer->fifo, ki_clock_now_ns(informer->client->clock));
    int rc = push_change(informer, change);
    if (rc < 0)
        return rc;
    if (++informer->pushed >= CHANGES_AT_A_TIME || rc == 1) /* full: nothing more comes until there is room */
        ki_informer_end_changes(informer);
    return rc == 1 ? wait_for_room(informer) : 0;
}

/* One wake for all that a piece of an answer has brought: waking a thread costs more than a change. */
void ki_informer_end_changes(void *user)
{
    ki_informer *informer = user;
    if (informer->pushed > 0)
        ki_informer_wake_dispatch(informer);
    informer->pushed = 0;
}

void ki_informer_report(const ki_watch_error *error, void *user)
{
    ki_informer *informer = user;
    ki_error_log_write(&informer->errors, error);
    if (informer->on_watch_error != NULL) /* never changes once started */
        informer->on_watch_error(informer, error, informer->watch_error_user);
}

void ki_informer_report_status(void *user)
{
    ki_informer *informer = user;
    ki_informer_status status;
    if (informer->on_status == NULL) /* never changes once started */
        return;
    ki_informer_read_status(informer, &status);
    informer->on_status(informer, &status, informer->status_user);
}

typedef struct io_requests {
    bool is_begin;
    bool is_retry;
    bool is_list_owed;
    uint32_t doubted_list;
    ki_stage stage;
    ki_resource_version version; /* to be cleared */
} io_requests;

static io_requests take_io_requests(ki_informer *informer)
{
    ki_mutex_lock(&informer->mu);
    io_requests requests = {.is_begin = informer->begin_is_asked,
                            .is_retry = informer->retry_is_asked,
                            .is_list_owed = informer->list_is_owed,
                            .doubted_list = informer->doubted_list,
                            .stage = informer->stage};
    ki_resource_version_copy(&requests.version, &informer->version);
    informer->doubted_list = 0;
    informer->begin_is_asked = informer->retry_is_asked = informer->list_is_owed = false;
    ki_mutex_unlock(&informer->mu);
    return requests;
}

static void answer_dispatch(ki_informer *informer, ki_stage stage)
{
    ki_mutex_lock(&informer->mu);
    informer->stage = stage;
    ki_mutex_unlock(&informer->mu);
    ki_informer_wake_dispatch(informer);
}

/* A stage that waits for io comes before everything else: it is the last thing that io does here. */
void ki_informer_run_io(ki_job *job)
{
    ki_informer *informer = KI_CONTAINER_OF(job, ki_informer, io_job);
    ki_reflector *reflector = &informer->reflector;
    io_requests requests = take_io_requests(informer);
    if (requests.is_list_owed)
        ki_reflector_owe_list(reflector);
    if (requests.stage == KI_STAGE_HALTING) {
        ki_reflector_halt(reflector);
        informer->is_queue_full = false;
        answer_dispatch(informer, KI_STAGE_HALTED);
    } else if (requests.stage == KI_STAGE_LEAVING) {
        ki_reflector_fini(reflector);
        answer_dispatch(informer, KI_STAGE_RELEASED);
    } else if (requests.stage == KI_STAGE_RUNNING) {
        if (requests.is_begin)
            ki_reflector_begin(reflector, &requests.version);
        if (requests.is_retry)
            ki_reflector_retry_now(reflector);
        if (requests.doubted_list != 0)
            ki_reflector_doubt_list(reflector, requests.doubted_list);
        if (!informer->is_queue_full)
            ki_reflector_room(reflector);
        ki_reflector_tick(reflector);
    }
    ki_resource_version_clear(&requests.version);
}

/* ---- dispatch: stages -------------------------------------------------------------------------------- */

static void begin_locked(ki_informer *informer) KI_REQUIRES(informer->mu)
{
    uint64_t now_ms = ki_clock_now_ms(informer->client->clock);
    informer->stage = KI_STAGE_RUNNING;
    informer->begin_is_asked = true;
    informer->may_deliver = true;
    informer->timers.resync_ms = informer->check_ms == 0 ? UINT64_MAX : now_ms + informer->check_ms;
    ki_registrations_wake_all_locked(informer);
    ki_job_wake(&informer->io_job);
}

static void end_locked(ki_informer *informer) KI_REQUIRES(informer->mu)
{
    informer->stage = KI_STAGE_HALTING;
    informer->may_deliver = false;
    ki_job_wake(&informer->io_job);
}

/* io has nothing under way any more. What is queued is forgotten; the store is complete up to `version`, and
 * that is where it goes on. */
static void forget_queue_locked(ki_informer *informer) KI_REQUIRES(informer->mu)
{
    informer->list_is_owed |= ki_apply_drop(&informer->apply);
    ki_fanout_end_resync(&informer->fanout);
    ki_delta_fifo_reset(&informer->fifo, &informer->apply.version);
    ki_gauge_set(informer->metrics.queued_items, 0);
    ki_resource_version_copy(&informer->version, &informer->apply.version);
}

static void stop_locked(ki_informer *informer) KI_REQUIRES(informer->mu)
{
    if (informer->callbacks > 0)
        return; /* the last one wakes dispatch */
    informer->stage = KI_STAGE_STOPPED;
    ki_client_notify(informer->client, &informer->changed);
}

static void leave_locked(ki_informer *informer) KI_REQUIRES(informer->mu)
{
    ki_registrations_remove_all_locked(informer);
    if (!ki_list_is_empty(&informer->registrations) || informer->waiters > 0)
        return; /* the last one wakes dispatch */
    informer->stage = KI_STAGE_LEAVING;
    ki_job_wake(&informer->io_job);
}

/* Goes one stage on, if it is time. Returns the stage. */
static ki_stage advance_stage(ki_informer *informer)
{
    ki_mutex_lock(&informer->mu);
    if (informer->stage == KI_STAGE_RUNNING && !informer->is_wanted) {
        end_locked(informer);
    } else if (informer->stage == KI_STAGE_HALTED) {
        forget_queue_locked(informer);
        stop_locked(informer);
    }
    if (informer->stage == KI_STAGE_STOPPED && informer->is_freed)
        leave_locked(informer);
    else if (informer->stage == KI_STAGE_STOPPED && informer->is_wanted)
        begin_locked(informer);
    ki_stage stage = informer->stage;
    ki_mutex_unlock(&informer->mu);
    return stage;
}

/* ---- dispatch: applying ------------------------------------------------------------------------------ */

/* Blocked is said first and asked again afterwards, as above. */
static bool is_blocked(ki_informer *informer)
{
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
    const ki_apply *apply = &informer->apply;
    bool is_news = apply->is_synced != informer->is_synced;
    ki_mutex_lock(&informer->mu);
    is_news = is_news || !ki_resource_version_equal(&informer->version, &apply->version);
    ki_resource_version_copy(&informer->version, &apply->version);
    informer->is_synced = apply->is_synced;
    if (is_news)
        ki_client_notify(informer->client, &informer->changed);
    ki_mutex_unlock(&informer->mu);
}

static void measure(ki_informer *informer)
{
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

/* What more comes of it until io has heard is held back as well: not more than the queue holds. */
static void tell_doubt(ki_informer *informer)
{
    if (informer->apply.doubted_list == 0)
        return;
    ki_mutex_lock(&informer->mu);
    informer->doubted_list = informer->apply.doubted_list;
    ki_mutex_unlock(&informer->mu);
    informer->apply.doubted_list = 0;
    ki_job_wake(&informer->io_job);
}

static void give_room(ki_informer *informer)
{
    if (informer->is_queue_full && ki_delta_fifo_has_room(&informer->fifo)) {
        informer->is_queue_full = false;
        ki_job_wake(&informer->io_job);
    }
}

/* Readers that stay in a section keep this informer waiting, and no other. */
static bool has_room(ki_informer *informer)
{
    bool has_room = ki_store_has_room(informer->store);
    informer->timers.room_ms =
        has_room ? UINT64_MAX : ki_clock_now_ms(informer->client->clock) + KI_STORE_ROOM_MS;
    return has_room;
}

/* Returns as ki_apply_step(). A run that finds nothing to apply says nothing about how long that takes. */
static int apply_some(ki_informer *informer)
{
    const ki_clock *clock = informer->client->clock;
    uint64_t began_ns = ki_clock_now_ns(clock);
    int rc = 1;
    bool was_something = false;
    for (int i = 0; i < STEPS_AT_A_TIME && rc == 1 && !is_blocked(informer) && has_room(informer); i++) {
        rc = ki_apply_step(&informer->apply);
        was_something |= rc == 1;
        publish(informer);
        tell_doubt(informer);
    }
    if (was_something)
        ki_histogram_observe(informer->metrics.processing_latency, ki_clock_now_ns(clock) - began_ns);
    measure(informer);
    if (rc == 1 && (informer->is_blocked || informer->timers.room_ms != UINT64_MAX))
        rc =
            0; /* the handler wakes dispatch when it has caught up; and the clock does when readers may have */
    give_room(informer);
    return rc;
}

/* ---- dispatch: what happens by the clock ------------------------------------------------------------- */

/* Before the first list has ended nobody has anything to be reminded of; a turn that comes then is due at the
 * first check afterwards. */
static void check_resync(ki_informer *informer, uint64_t now_ms)
{
    ki_informer_timers *timers = &informer->timers;
    if (now_ms < timers->resync_ms)
        return;
    ki_mutex_lock(&informer->mu);
    timers->resync_ms = now_ms + informer->check_ms;
    ki_mutex_unlock(&informer->mu);
    if (informer->apply.is_synced && ki_fanout_begin_resync(&informer->fanout, now_ms) > 0 &&
        ki_delta_fifo_push_marker(&informer->fifo, KI_ENTRY_RESYNC, 0, (ki_str){0}) < 0)
        ki_fanout_end_resync(&informer->fanout); /* no memory: at the next check */
}

static void check_mutations(ki_informer *informer, uint64_t now_ms)
{
    ki_informer_timers *timers = &informer->timers;
    if (informer->detector.mode == KI_MUTATION_OFF || now_ms < timers->detect_ms)
        return;
    timers->detect_ms = now_ms + DETECT_MS;
    (void)ki_mutation_detector_check(&informer->detector);
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void schedule_dispatch(ki_informer *informer, ki_stage stage)
{
    const ki_informer_timers *timers = &informer->timers;
    uint64_t due_ms = earliest(timers->retry_ms, timers->flush_ms);
    if (stage == KI_STAGE_RUNNING)
        due_ms = earliest(due_ms, earliest(timers->resync_ms, timers->room_ms));
    if (informer->detector.mode != KI_MUTATION_OFF)
        due_ms = earliest(due_ms, timers->detect_ms);
    ki_job_wake_at(&informer->dispatch_job, due_ms == UINT64_MAX ? UINT64_MAX : due_ms * NS_PER_MS);
}

/* ---- dispatch: all of it ----------------------------------------------------------------------------- */

void ki_informer_run_dispatch(ki_job *job)
{
    ki_informer *informer = KI_CONTAINER_OF(job, ki_informer, dispatch_job);
    uint64_t now_ms = ki_clock_now_ms(informer->client->clock);
    informer->dispatch_is_due = false;
    bool is_short = ki_registrations_update(informer) < 0; /* of memory: the others go on meanwhile */
    int rc = 0;
    ki_stage stage = advance_stage(informer);
    if (stage == KI_STAGE_RELEASED) {
        if (ki_store_close(informer->store))
            ki_informer_destroy(informer);
        else /* a reader may still look at an object of the store */
            ki_job_wake_at(job, (now_ms + KI_STORE_ROOM_MS) * NS_PER_MS);
        return;
    }
    if (stage == KI_STAGE_RUNNING) {
        check_resync(informer, now_ms);
        rc = apply_some(informer);
    }
    check_mutations(informer, now_ms);
    if (rc != 1)
        ki_store_flush_when_due(informer->store, now_ms, &informer->timers.flush_ms);
    informer->timers.retry_ms = rc < 0 || is_short ? now_ms + RETRY_MS : UINT64_MAX;
    schedule_dispatch(informer, stage);
    if (rc == 1)
        ki_informer_wake_dispatch(informer);
}
