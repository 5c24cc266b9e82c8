/* SPDX-License-Identifier: Apache-2.0 */
/* The work of dispatch for a feed: timers and `process`; and the functions of a feed for its life. */
#include "client/callback.h"
#include "feed/feed.h"
#include "store/store.h"
#include "util/error.h"
#include "util/log.h"
#include "util/units.h"

enum { LOOK_AGAIN_MS = 100 };

/* Number of keys to process before other work on dispatch gets its turn. */
enum { KEYS_AT_A_TIME = 64 };

/* ---- io ------------------------------------------------------------------------------------------------ */

void ki_feed_report(const ki_informer_error *error, void *user)
{
    ki_feed *feed = ki_feed_of(user);
    KI_ASSERT_ON(feed->life.client->io);
    ki_error_log_write(&feed->life.errors, error);
    if (feed->options.on_error == NULL)
        return;
    ki_callback_enter();
    feed->options.on_error(error, feed->options.user);
    ki_callback_leave();
}

void ki_feed_report_status(void *user)
{
    ki_feed *feed = ki_feed_of(user);
    KI_ASSERT_ON(feed->life.client->io);
    ki_informer_status status = {0};
    ki_reflector_read_status(&feed->life.reflector, &status);
    ki_error_log_status(&feed->life.errors, &status);
}

static void halt(ki_life *life)
{
    KI_ASSERT_ON(life->client->io);
    ki_feed *feed = ki_feed_of(life);
    ki_list_buffer_clear(&feed->buffer);
    feed->is_full = false;
}

static bool has_space(const ki_life *life)
{
    KI_ASSERT_ON(life->client->io);
    ki_feed *feed = ki_feed_of(life);
    if (feed->has_space)
        feed->is_full = false;
    return !feed->is_full;
}

static void begin_locked(ki_life *life)
{
    KI_ASSERT_HELD(life->mu);
    KI_ASSERT_ON(life->client->dispatch);
    ki_feed *feed = ki_feed_of(life);
    uint64_t period_ms = feed->options.resync_ms;
    feed->timers.resync_ms = period_ms == 0 ? UINT64_MAX : ki_clock_now_ms(life->client->clock) + period_ms;
}

/* ---- dispatch: processing ------------------------------------------------------------------------------ */

typedef struct one_key {
    ki_feed *feed;
    bool was_popped;
} one_key;

static int process(const ki_deltas *deltas, void *user)
{
    one_key *one = user;
    ki_feed *feed = one->feed;
    KI_ASSERT_ON(feed->life.client->dispatch);
    one->was_popped = true;
    int rc = feed->options.process(deltas, feed->options.user);
    if (rc < 0)
        ki_log(KI_LOG_WARNING, "feed",
               KI_LOG_FIELDS({"resource", ki_str_of(feed->life.resource->plural)}, {"key", deltas->key}),
               "processing failed: %s", ki_error_text(rc));
    return rc;
}

/* Processes one key. Returns whether there was one. */
static bool process_one(ki_feed *feed)
{
    KI_ASSERT_ON(feed->life.client->dispatch);
    one_key one = {.feed = feed};
    int rc = ki_delta_queue_pop(feed->options.queue, 0, process, &one);
    feed->put_back = one.was_popped && rc > 0 ? feed->put_back + 1 : 0;
    return one.was_popped;
}

/* If every waiting key was put back since the last success, pauses for a moment,
 * because dispatch would spin. */
static void process_some(ki_feed *feed, uint64_t now_ms)
{
    KI_ASSERT_ON(feed->life.client->dispatch);
    ki_delta_queue *queue = feed->options.queue;
    bool goes_on = true;
    for (int i = 0; goes_on && i < KEYS_AT_A_TIME && (i == 0 || !ki_loop_is_over_budget()); i++) {
        bool is_idle = feed->put_back > 0 && feed->put_back >= ki_delta_queue_len(queue);
        goes_on = feed->life.may_deliver && !is_idle && process_one(feed);
    }
    if (goes_on) {
        ki_life_wake_dispatch(&feed->life);
    } else if (feed->put_back > 0) {
        feed->put_back = 0;
        feed->timers.look_ms = now_ms + LOOK_AGAIN_MS;
    }
}

/* Checks for space itself, because neither a program that pops the queue itself nor the readers of a store
 * report space. */
static void check_space(ki_feed *feed, uint64_t now_ms)
{
    KI_ASSERT_ON(feed->life.client->dispatch);
    if (!feed->is_full || feed->options.on_change != NULL)
        return;
    if (ki_feed_destination_has_space(feed))
        ki_feed_resume(feed);
    else if (feed->timers.look_ms == UINT64_MAX)
        feed->timers.look_ms = now_ms + LOOK_AGAIN_MS;
}

static void check_resync(ki_feed *feed, uint64_t now_ms)
{
    KI_ASSERT_ON(feed->life.client->dispatch);
    if (now_ms < feed->timers.resync_ms)
        return;
    int rc = ki_delta_queue_resync(feed->options.queue);
    feed->timers.resync_ms = now_ms + (rc < 0 ? LOOK_AGAIN_MS : feed->options.resync_ms);
}

static void work_on_queue(ki_feed *feed, uint64_t now_ms)
{
    KI_ASSERT_ON(feed->life.client->dispatch);
    check_resync(feed, now_ms);
    if (feed->options.process != NULL)
        process_some(feed, now_ms);
}

/* ---- dispatch: all of it ----------------------------------------------------------------------------- */

static void measure(ki_feed *feed)
{
    KI_ASSERT_ON(feed->life.client->dispatch);
    const ki_feed_metrics *metrics = &feed->metrics;
    if (feed->options.queue != NULL)
        ki_gauge_set(metrics->queued_items, (int64_t)ki_delta_queue_len(feed->options.queue));
    if (feed->options.store != NULL) {
        ki_gauge_set(metrics->store_objects, (int64_t)ki_store_count(feed->options.store));
        ki_gauge_set(metrics->store_bytes, (int64_t)ki_store_bytes(feed->options.store));
    }
}

static void wake_waiters(ki_feed *feed)
{
    KI_ASSERT_ON(feed->life.client->dispatch);
    if (feed->was_synced || !ki_feed_has_synced(feed))
        return;
    feed->was_synced = true;
    ki_life_notify(&feed->life);
}

static void dispatch(ki_life *life)
{
    KI_ASSERT_ON(life->client->dispatch);
    ki_feed *feed = ki_feed_of(life);
    uint64_t now_ms = ki_clock_now_ms(feed->life.client->clock);
    uint64_t due_ms = UINT64_MAX;
    ki_stage stage = ki_life_advance(life);
    if (stage == KI_STAGE_RELEASED) {
        ki_feed_destroy(feed);
        return;
    }
    if (stage == KI_STAGE_RUNNING) {
        feed->timers.look_ms = UINT64_MAX;
        if (feed->options.queue != NULL)
            work_on_queue(feed, now_ms);
        check_space(feed, now_ms);
        due_ms = ki_ns_min(feed->timers.look_ms, feed->timers.resync_ms);
    }
    if (feed->options.store != NULL)
        ki_store_flush_when_due(feed->options.store, now_ms, &feed->timers.flush_ms);
    measure(feed);
    wake_waiters(feed);
    due_ms = ki_ns_min(due_ms, feed->timers.flush_ms);
    ki_job_wake_at(&feed->life.dispatch_job, due_ms == UINT64_MAX ? UINT64_MAX : due_ms * KI_NS_PER_MS);
}

const ki_life_kind ki_feed_kind = {
    .name = "feed", .begin_locked = begin_locked, .halt = halt, .has_space = has_space, .dispatch = dispatch};
