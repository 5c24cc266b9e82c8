/* SPDX-License-Identifier: Apache-2.0 */
/* What the jobs of a feed do: io_job drives the reflector, dispatch_job the stages,
 * the clock and `process`. */
#include "cache/feed.h"
#include "cache/store.h"
#include "util/error.h"
#include "util/log.h"
#include "util/units.h"

enum { LOOK_AGAIN_MS = 100 };

/* Keys before something else gets its turn on dispatch. */
enum { KEYS_AT_A_TIME = 64 };

void ki_feed_wake_dispatch(ki_feed *feed)
{
    if (!atomic_exchange(&feed->dispatch_is_due, true))
        ki_job_wake(&feed->dispatch_job);
}

/* ---- io ------------------------------------------------------------------------------------------------ */

void ki_feed_schedule_io(uint64_t due_ns, void *user)
{
    ki_feed *feed = user;
    ki_job_wake_at(&feed->io_job, due_ns);
}

void ki_feed_report(const ki_watch_error *error, void *user)
{
    ki_feed *feed = user;
    ki_error_log_write(&feed->errors, error);
    if (feed->options.on_error == NULL)
        return;
    ki_callback_enter();
    feed->options.on_error(error, feed->options.user);
    ki_callback_leave();
}

typedef struct io_requests {
    bool is_begin;
    bool is_retry;
    ki_stage stage;
    ki_resource_version version; /* to be cleared */
} io_requests;

static io_requests take_io_requests(ki_feed *feed)
{
    ki_mutex_lock(&feed->mu);
    io_requests requests = {
        .is_begin = feed->begin_is_asked, .is_retry = feed->retry_is_asked, .stage = feed->stage};
    ki_resource_version_copy(&requests.version, &feed->version);
    feed->begin_is_asked = feed->retry_is_asked = false;
    ki_mutex_unlock(&feed->mu);
    return requests;
}

static void answer_dispatch(ki_feed *feed, ki_stage stage)
{
    ki_mutex_lock(&feed->mu);
    feed->stage = stage;
    ki_mutex_unlock(&feed->mu);
    ki_feed_wake_dispatch(feed);
}

static void drive_reflector(ki_feed *feed, const io_requests *requests)
{
    ki_reflector *reflector = &feed->reflector;
    if (requests->is_begin && feed->owes_list)
        ki_reflector_owe_list(reflector);
    if (requests->is_begin) {
        feed->owes_list = false;
        ki_reflector_begin(reflector, &requests->version);
    }
    if (requests->is_retry)
        ki_reflector_retry_now(reflector);
    if (feed->has_room)
        feed->is_full = false;
    if (!feed->is_full)
        ki_reflector_room(reflector);
    ki_reflector_tick(reflector);
}

/* A stage that waits for io comes before everything else: it is the last thing that io does here. */
void ki_feed_run_io(ki_job *job)
{
    ki_feed *feed = KI_CONTAINER_OF(job, ki_feed, io_job);
    io_requests requests = take_io_requests(feed);
    if (requests.stage == KI_STAGE_HALTING) {
        ki_reflector_halt(&feed->reflector);
        ki_gathered_clear(&feed->gathered);
        feed->is_full = false;
        answer_dispatch(feed, KI_STAGE_HALTED);
    } else if (requests.stage == KI_STAGE_LEAVING) {
        ki_reflector_fini(&feed->reflector);
        answer_dispatch(feed, KI_STAGE_RELEASED);
    } else if (requests.stage == KI_STAGE_RUNNING) {
        drive_reflector(feed, &requests);
    }
    ki_resource_version_clear(&requests.version);
}

/* ---- dispatch: stages ---------------------------------------------------------------------------------- */

static void ask_io_locked(ki_feed *feed, ki_stage stage) KI_REQUIRES(feed->mu)
{
    feed->stage = stage;
    ki_job_wake(&feed->io_job);
}

static void begin_locked(ki_feed *feed) KI_REQUIRES(feed->mu)
{
    uint64_t period_ms = feed->options.resync_ms;
    feed->timers.resync_ms = period_ms == 0 ? UINT64_MAX : ki_clock_now_ms(feed->client->clock) + period_ms;
    feed->must_halt = false;
    feed->begin_is_asked = true;
    ask_io_locked(feed, KI_STAGE_RUNNING);
}

/* Goes one stage on, if it is time. Returns the stage. No callback runs here,
 * and none on io once that has halted. */
static ki_stage advance_stage(ki_feed *feed)
{
    ki_mutex_lock(&feed->mu);
    if (feed->stage == KI_STAGE_RUNNING && feed->must_halt) {
        ask_io_locked(feed, KI_STAGE_HALTING);
    } else if (feed->stage == KI_STAGE_HALTED) {
        feed->stage = KI_STAGE_STOPPED;
        ki_client_notify(feed->client, &feed->changed);
    }
    if (feed->stage == KI_STAGE_STOPPED && feed->is_freed)
        ask_io_locked(feed, KI_STAGE_LEAVING);
    else if (feed->stage == KI_STAGE_STOPPED && feed->is_wanted)
        begin_locked(feed);
    ki_stage stage = feed->stage;
    ki_mutex_unlock(&feed->mu);
    return stage;
}

/* ---- dispatch: processing ------------------------------------------------------------------------------ */

typedef struct one_key {
    ki_feed *feed;
    bool was_popped;
} one_key;

static int process(const ki_queued_deltas *deltas, void *user)
{
    one_key *one = user;
    ki_feed *feed = one->feed;
    one->was_popped = true;
    int rc = feed->options.process(deltas, feed->options.user);
    if (rc < 0)
        ki_log(KI_LOG_WARNING, "feed",
               KI_LOG_FIELDS({"resource", ki_str_of(feed->resource->plural)}, {"key", deltas->key}),
               "processing has failed: %s", ki_error_text(rc));
    return rc;
}

/* One key. Returns whether there was one. */
static bool process_one(ki_feed *feed)
{
    one_key one = {.feed = feed};
    int rc = ki_delta_queue_pop(feed->options.queue, process, &one, 0);
    feed->put_back = one.was_popped && rc > 0 ? feed->put_back + 1 : 0;
    return one.was_popped;
}

/* When all that waits was put back since something was done, dispatch would turn around and around: then it
 * rests for a moment. */
static void process_some(ki_feed *feed, uint64_t now_ms)
{
    ki_delta_queue *queue = feed->options.queue;
    bool goes_on = true;
    for (int i = 0; i < KEYS_AT_A_TIME && goes_on; i++) {
        bool is_idle = feed->put_back > 0 && feed->put_back >= ki_delta_queue_len(queue);
        goes_on = !feed->must_halt && !is_idle && process_one(feed);
    }
    if (goes_on) {
        ki_feed_wake_dispatch(feed);
    } else if (feed->put_back > 0) {
        feed->put_back = 0;
        feed->timers.look_ms = now_ms + LOOK_AGAIN_MS;
    }
}

/* Who pops a queue for themselves does not tell that there is room, nor do readers of a store. */
static void look_for_room(ki_feed *feed, uint64_t now_ms)
{
    if (!feed->is_full || feed->options.on_change != NULL)
        return;
    if (ki_feed_destination_has_room(feed))
        ki_feed_room(feed);
    else if (feed->timers.look_ms == UINT64_MAX)
        feed->timers.look_ms = now_ms + LOOK_AGAIN_MS;
}

static void check_resync(ki_feed *feed, uint64_t now_ms)
{
    if (now_ms < feed->timers.resync_ms)
        return;
    int rc = ki_delta_queue_resync(feed->options.queue);
    feed->timers.resync_ms = now_ms + (rc < 0 ? LOOK_AGAIN_MS : feed->options.resync_ms);
}

static void work_on_queue(ki_feed *feed, uint64_t now_ms)
{
    check_resync(feed, now_ms);
    if (feed->options.process != NULL)
        process_some(feed, now_ms);
}

/* ---- dispatch: all of it ----------------------------------------------------------------------------- */

static void measure(ki_feed *feed)
{
    const ki_informer_metrics *metrics = &feed->metrics;
    if (feed->options.queue != NULL)
        ki_gauge_set(metrics->queued_items, (int64_t)ki_delta_queue_len(feed->options.queue));
    if (feed->options.store != NULL) {
        ki_gauge_set(metrics->store_objects, (int64_t)ki_store_count(feed->options.store));
        ki_gauge_set(metrics->store_bytes, (int64_t)ki_store_bytes(feed->options.store));
    }
}

static void tell_who_waits(ki_feed *feed)
{
    if (feed->was_synced || !ki_feed_has_synced(feed))
        return;
    feed->was_synced = true;
    ki_mutex_lock(&feed->mu);
    ki_client_notify(feed->client, &feed->changed);
    ki_mutex_unlock(&feed->mu);
}

void ki_feed_run_dispatch(ki_job *job)
{
    ki_feed *feed = KI_CONTAINER_OF(job, ki_feed, dispatch_job);
    uint64_t now_ms = ki_clock_now_ms(feed->client->clock);
    uint64_t due_ms = UINT64_MAX;
    feed->dispatch_is_due = false;
    ki_stage stage = advance_stage(feed);
    if (stage == KI_STAGE_RELEASED) {
        ki_feed_destroy(feed);
        return;
    }
    if (stage == KI_STAGE_RUNNING) {
        feed->timers.look_ms = UINT64_MAX;
        if (feed->options.queue != NULL)
            work_on_queue(feed, now_ms);
        look_for_room(feed, now_ms);
        due_ms = ki_ns_min(feed->timers.look_ms, feed->timers.resync_ms);
    }
    if (feed->options.store != NULL)
        ki_store_flush_when_due(feed->options.store, now_ms, &feed->timers.flush_ms);
    measure(feed);
    tell_who_waits(feed);
    due_ms = ki_ns_min(due_ms, feed->timers.flush_ms);
    ki_job_wake_at(&feed->dispatch_job, due_ms == UINT64_MAX ? UINT64_MAX : due_ms * KI_NS_PER_MS);
}
