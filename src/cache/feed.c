/* SPDX-License-Identifier: Apache-2.0 */
/* Making, starting, stopping and freeing a feed: requests, which its jobs carry out. */
#include "cache/feed.h"

#include "cache/source.h"
#include "cache/store.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/units.h"

enum { RESYNC_MS_MIN = 1000 };

/* ---- making ------------------------------------------------------------------------------------------- */

static int check(const ki_feed_options *options, ki_error *err)
{
    int destinations = (options->on_change != NULL) + (options->store != NULL) + (options->queue != NULL);
    if (destinations != 1)
        return ki_fail(err, KI_ERR_INVALID, "feed: %d destinations, not one", destinations);
    if (options->store != NULL && options->store->is_sealed)
        return ki_fail(err, KI_ERR_INVALID, "feed: the store of an informer is written by that alone");
    if (options->queue == NULL && (options->process != NULL || options->resync_ms != 0))
        return ki_fail(err, KI_ERR_INVALID, "feed: process and resync_ms want a queue");
    return 0;
}

/* The last part to be made: from here on the source is the reflector's. When that fails, a source of the
 * caller's own stays the caller's. */
static int init_reflector(ki_feed *feed, ki_error *err)
{
    ki_reflector_options options = {.plan = feed->plan,
                                    .resource = feed->resource,
                                    .informer = &feed->setup.options,
                                    .metrics = &feed->metrics,
                                    .clock = feed->client->clock,
                                    .seed = feed->client->seed,
                                    .on_change = ki_feed_take_change,
                                    .on_error = ki_feed_report,
                                    .schedule = ki_feed_schedule_io,
                                    .user = feed};
    int rc = ki_source_open(feed->client, feed->resource, &feed->setup.options, &options.list_watch, err);
    if (rc < 0)
        return rc;
    if (feed->setup.options.list_watch == NULL)
        options.streams = &feed->client->streams;
    rc = ki_reflector_init(&feed->reflector, &options, err);
    if (rc < 0 && feed->setup.options.list_watch == NULL && options.list_watch.release != NULL)
        options.list_watch.release(options.list_watch.user);
    return rc;
}

static int init_parts(ki_feed *feed, ki_error *err)
{
    const ki_informer_options *options = &feed->setup.options;
    ki_object_options kept = {.keep = options->keep,
                              .drop = options->drop,
                              .keep_managed_fields = options->keep_managed_fields,
                              .depth_max = options->object_depth_max,
                              .bytes_max = options->object_bytes_max};
    feed->plan = ki_object_plan_new(feed->resource, &kept, err);
    if (feed->plan == NULL)
        return KI_ERR_INVALID;
    if (ki_gathered_init(&feed->gathered) < 0)
        return ki_fail(err, KI_ERR_SYSTEM, "the system gives no random bytes");
    if (ki_job_init(&feed->io_job, feed->client->io, ki_feed_run_io) < 0 ||
        ki_job_init(&feed->dispatch_job, feed->client->dispatch, ki_feed_run_dispatch) < 0)
        return ki_fail_no_memory(err);
    const char *name = ki_informer_setup_join(&feed->setup, feed->resource, feed->client, &feed->alive);
    ki_informer_metrics_init(&feed->metrics, feed->client->metrics, name, feed->resource);
    ki_error_log_init(&feed->errors, &(ki_error_log_owner){"feed", name, feed->resource},
                      feed->client->clock);
    return 0;
}

/* Neither so short that nothing else gets its turn, nor so long that sums overflow. */
static uint64_t period_ms(uint64_t asked_ms)
{
    if (asked_ms == 0)
        return 0;
    return ki_ns_max(ki_ns_of_ms(asked_ms) / KI_NS_PER_MS, RESYNC_MS_MIN);
}

static int init(ki_feed *feed, const ki_resource *resource, const ki_feed_options *options, ki_error *err)
{
    ki_mutex_init(&feed->mu);
    ki_cond_init(&feed->changed);
    feed->timers = (ki_feed_timers){UINT64_MAX, UINT64_MAX, UINT64_MAX};
    feed->options = *options;
    feed->options.informer = (ki_informer_options){0};
    feed->options.resync_ms = period_ms(options->resync_ms);
    feed->resource = ki_resource_new(resource, err);
    if (feed->resource == NULL)
        return KI_ERR_INVALID;
    int rc = ki_informer_setup_init(&feed->setup, &options->informer, err);
    if (rc == 0)
        rc = ki_informer_setup_check(&feed->setup, feed->resource, err);
    if (rc == 0)
        rc = init_parts(feed, err);
    if (rc == 0)
        rc = init_reflector(feed, err);
    return rc;
}

/* Takes a half-made one; the reflector has been ended, or was never made. */
static void feed_fini(ki_feed *feed)
{
    ki_job_fini(&feed->io_job);
    ki_job_fini(&feed->dispatch_job);
    ki_informer_metrics_fini(&feed->metrics);
    ki_gathered_fini(&feed->gathered);
    ki_resource_version_clear(&feed->version);
    ki_object_plan_free(feed->plan);
    ki_informer_setup_fini(&feed->setup);
    ki_resource_free(feed->resource);
    ki_cond_fini(&feed->changed);
    ki_mutex_fini(&feed->mu);
}

ki_feed *ki_feed_new(ki_client *client, const ki_resource *resource, const ki_feed_options *options,
                     ki_error *err)
{
    if (client == NULL || resource == NULL || options == NULL) {
        ki_error_set(err, KI_ERR_INVALID, 0, "feed: no client, resource or options");
        return NULL;
    }
    if (check(options, err) < 0)
        return NULL;
    ki_feed *feed = ki_calloc(1, sizeof(*feed));
    if (feed == NULL) {
        (void)ki_fail_no_memory(err);
        return NULL;
    }
    feed->client = client;
    if (init(feed, resource, options, err) < 0) {
        ki_client_leave(client, &feed->alive);
        feed_fini(feed);
        ki_free(feed);
        return NULL;
    }
    return feed;
}

/* ---- going -------------------------------------------------------------------------------------------- */

/* The client waits for those that have not left; and for this job, which frees the memory. */
void ki_feed_destroy(ki_feed *feed)
{
    feed_fini(feed);
    if (feed->options.on_release != NULL)
        feed->options.on_release(feed->options.user);
    ki_client_leave(feed->client, &feed->alive);
    ki_free(feed);
}

/* Nothing is asked of the feed itself any more once it is free. */
void ki_feed_free(ki_feed *feed)
{
    if (feed == NULL)
        return;
    ki_client *client = feed->client;
    uint64_t serial = feed->alive.serial;
    ki_mutex_lock(&feed->mu);
    feed->is_freed = true;
    feed->must_halt = true;
    feed->is_wanted = false;
    feed->stop_is_asked = true;
    ki_feed_wake_dispatch(
        feed); /* before the lock is given away: once dispatch sees it, the feed may be gone */
    ki_mutex_unlock(&feed->mu);
    if (ki_client_may_wait() == 0)
        ki_client_wait_gone(client, serial);
}

/* ---- running ------------------------------------------------------------------------------------------ */

int ki_feed_start(ki_feed *feed, ki_error *err)
{
    if (feed == NULL)
        return ki_fail(err, KI_ERR_INVALID, "no feed");
    int rc = ki_client_run(feed->client, err);
    if (rc < 0)
        return rc;
    ki_mutex_lock(&feed->mu);
    if (!feed->is_freed) {
        feed->is_wanted = true;
        feed->stop_is_asked = false;
    }
    ki_mutex_unlock(&feed->mu);
    ki_feed_wake_dispatch(feed);
    return 0;
}

static bool is_stopped(void *user)
{
    const ki_feed *feed = user;
    return feed->stage == KI_STAGE_STOPPED || feed->is_wanted;
}

void ki_feed_stop(ki_feed *feed)
{
    if (feed == NULL)
        return;
    ki_mutex_lock(&feed->mu);
    feed->is_wanted = false;
    feed->stop_is_asked = true;
    feed->must_halt = true;
    ki_client_notify(feed->client, &feed->changed); /* who waits for a sync waits in vain */
    ki_mutex_unlock(&feed->mu);
    ki_feed_wake_dispatch(feed);
    if (ki_client_may_wait() == 0)
        (void)ki_client_wait(feed->client, &(ki_wait){&feed->mu, &feed->changed, is_stopped, feed},
                             UINT64_MAX);
}

/* Said first, then looked at by io: see wait_for_room() of feed_take.c. */
void ki_feed_room(ki_feed *feed)
{
    if (feed == NULL || (feed->options.queue != NULL && !ki_delta_queue_has_room(feed->options.queue)))
        return;
    feed->has_room = true;
    if (feed->is_full)
        ki_job_wake(&feed->io_job);
}

void ki_feed_retry_now(ki_feed *feed)
{
    if (feed == NULL)
        return;
    ki_mutex_lock(&feed->mu);
    feed->retry_is_asked = true;
    ki_mutex_unlock(&feed->mu);
    ki_job_wake(&feed->io_job);
}
