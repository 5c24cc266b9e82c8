/* SPDX-License-Identifier: Apache-2.0 */
/* The status of a feed, and waiting for a state. */
#include "feed/feed.h"
#include "queue/delta_queue.h"
#include "util/error.h"
#include "util/units.h"

/* ---- asking -------------------------------------------------------------------------------------------- */

int ki_feed_has_synced(const ki_feed *feed)
{
    if (feed == NULL || !feed->life.is_synced)
        return 0;
    if (feed->options.queue == NULL)
        return 1;
    return !ki_life_is_foreign(&feed->life) && ki_delta_queue_has_synced(feed->options.queue);
}

size_t ki_feed_last_resource_version(const ki_feed *feed, char *buffer, size_t buffer_bytes)
{
    return ki_life_write_version(feed == NULL ? NULL : &feed->life, buffer, buffer_bytes);
}

/* The age is at least that of the oldest change that waits to be processed. */
static uint64_t read_age_ms(const ki_feed *feed, uint64_t received_age_ms)
{
    if (!ki_feed_has_synced(feed))
        return UINT64_MAX;
    uint64_t oldest_ns =
        feed->options.queue == NULL ? UINT64_MAX : ki_delta_queue_oldest_ns(feed->options.queue);
    if (oldest_ns == UINT64_MAX)
        return received_age_ms;
    return ki_ns_max(ki_ns_age_ms(ki_clock_now_ns(feed->life.client->clock), oldest_ns), received_age_ms);
}

void ki_feed_read_status(const ki_feed *feed, ki_informer_status *out_status)
{
    if (out_status == NULL)
        return;
    ki_life_begin_status(feed == NULL ? NULL : &feed->life, out_status);
    if (feed == NULL)
        return;
    if (!ki_life_is_foreign(&feed->life)) {
        ki_reflector_read_status(&((ki_feed *)feed)->life.reflector, out_status);
        out_status->success_age_ms = read_age_ms(feed, out_status->success_age_ms);
    }
    out_status->has_synced = ki_feed_has_synced(feed);
    out_status->refused += feed->left_out;
    if (feed->options.store != NULL) {
        out_status->objects = ki_store_count(feed->options.store);
        out_status->bytes = ki_store_bytes(feed->options.store);
    }
    if (feed->options.queue != NULL && !ki_life_is_foreign(&feed->life))
        out_status->queued = ki_delta_queue_len(feed->options.queue);
}

/* ---- waiting ------------------------------------------------------------------------------------------- */

/* A wait also ends when its condition can no longer become true. */
static bool is_synced_or_cannot_succeed(void *user)
{
    const ki_feed *feed = user;
    return ki_feed_has_synced(feed) || ki_life_cannot_succeed_locked(&feed->life);
}

static int fail_waiting(ki_feed *feed, int code, ki_error *err)
{
    ki_informer_status status;
    ki_feed_read_status(feed, &status);
    const char *reason = ki_reason_name(status.reason);
    return ki_fail(err, code, "%s: %s: %s%s%s%s%s%s", feed->life.name,
                   code == KI_ERR_STOPPED ? "stopped" : "not ready in time", ki_phase_name(status.phase),
                   reason[0] == 0 ? "" : ", ", reason, status.message[0] == 0 ? "" : ": ", status.message,
                   ki_life_was_started(&feed->life) ? "" : "; it was never started");
}

int ki_feed_wait_for_sync(ki_feed *feed, uint64_t timeout_ms, ki_error *err)
{
    if (feed == NULL)
        return ki_fail_missing(err, "no feed");
    int rc = ki_life_begin_wait(&feed->life, err);
    if (rc < 0)
        return rc;
    bool is_over = ki_life_wait(&feed->life, is_synced_or_cannot_succeed, feed, timeout_ms);
    if (!ki_feed_has_synced(feed))
        rc = fail_waiting(feed, is_over ? KI_ERR_STOPPED : KI_ERR_TIMEOUT, err);
    ki_life_end_wait(&feed->life);
    return rc;
}
