/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and frees a feed. */
#include "feed/feed.h"

#include "metrics/informer_labels.h"
#include "store/store.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/units.h"

enum { RESYNC_MS_MIN = 1000 };

/* ---- making ------------------------------------------------------------------------------------------- */

static int check(const ki_feed_options *options, ki_error *err)
{
    int destinations = (options->on_change != NULL) + (options->store != NULL) + (options->queue != NULL);
    if (destinations != 1)
        return ki_fail(err, KI_ERR_INVALID, "feed: %d destinations; exactly one is needed", destinations);
    if (options->store != NULL && options->store->is_sealed)
        return ki_fail(err, KI_ERR_INVALID, "feed: the store of an informer cannot be a destination");
    if (options->queue == NULL && (options->process != NULL || options->resync_ms != 0))
        return ki_fail(err, KI_ERR_INVALID, "feed: process and resync_ms need a queue");
    const ki_informer_options *informer = &options->informer;
    if (informer->resync_ms != 0 || informer->deliver_unchanged || informer->mutations != KI_MUTATIONS_AUTO ||
        informer->queue_items_max != 0 || informer->queue_bytes_max != 0)
        return ki_fail(
            err, KI_ERR_INVALID,
            "feed: resync_ms, deliver_unchanged, mutations, queue_items_max and queue_bytes_max of "
            "`informer` have no effect");
    return 0;
}

/* Limits the period, so that it is neither so short that nothing else can run,
 * nor so long that sums overflow. */
static uint64_t period_ms(uint64_t asked_ms)
{
    if (asked_ms == 0)
        return 0;
    return ki_ns_max(ki_ns_of_ms(asked_ms) / KI_NS_PER_MS, RESYNC_MS_MIN);
}

static void init_metrics(ki_feed *feed)
{
    ki_metrics *metrics = feed->life.client->metrics;
    ki_informer_labels labels = ki_informer_labels_of(feed->life.name, feed->life.resource);
    if (feed->options.queue != NULL)
        feed->metrics.queued_items = KI_INFORMER_GAUGE(metrics, queued_items, labels);
    if (feed->options.store != NULL) {
        feed->metrics.store_objects = KI_INFORMER_GAUGE(metrics, store_objects, labels);
        feed->metrics.store_bytes = KI_INFORMER_GAUGE(metrics, store_bytes, labels);
    }
}

typedef struct keeping {
    ki_life *life;
    ki_error *err;
} keeping;

static int keep_path(const char *path, void *user)
{
    const keeping *k = user;
    return ki_life_keep_path(k->life, path, k->err);
}

/* Keeps the fields that the store's indexes need. */
static int keep_index_paths(ki_feed *feed, ki_error *err)
{
    ki_store *store = feed->options.store;
    if (store == NULL)
        return 0;
    int rc = ki_store_visit_index_paths(store, keep_path, &(keeping){&feed->life, err});
    if (rc == 0)
        ki_store_set_projection(store, feed->life.plan->projection);
    return rc;
}

static int init(ki_feed *feed, ki_client *client, const ki_resource *resource, const ki_feed_options *options,
                ki_error *err)
{
    feed->timers = (ki_feed_timers){UINT64_MAX, UINT64_MAX, UINT64_MAX};
    feed->options = *options;
    feed->options.informer = (ki_informer_options){0};
    feed->options.resync_ms = period_ms(options->resync_ms);
    feed->life.kind = &ki_feed_kind;
    int rc = ki_life_init(&feed->life, client, resource, &options->informer, err);
    if (rc == 0 && ki_list_buffer_init(&feed->buffer) < 0)
        rc = ki_fail_no_random(err);
    if (rc == 0)
        rc = ki_life_join(&feed->life, err);
    if (rc < 0)
        return rc;
    rc = keep_index_paths(feed, err);
    if (rc < 0)
        return rc;
    init_metrics(feed);
    ki_reflector_options reflector = {.informer = &feed->life.setup.options,
                                      .on_change = ki_feed_take_change,
                                      .on_error = ki_feed_report,
                                      .on_status = ki_feed_report_status};
    return ki_life_open(&feed->life, &reflector, err);
}

/* A half-made feed is allowed. The reflector must have been ended, or never made. */
static void feed_fini(ki_feed *feed)
{
    ki_life_fini(&feed->life);
    ki_gauge_drop(feed->metrics.queued_items);
    ki_gauge_drop(feed->metrics.store_objects);
    ki_gauge_drop(feed->metrics.store_bytes);
    ki_list_buffer_fini(&feed->buffer);
}

ki_feed *ki_feed_new(ki_client *client, const ki_resource *resource, const ki_feed_options *options,
                     ki_error *err)
{
    if (client == NULL || resource == NULL || options == NULL) {
        (void)ki_fail_missing(err, "feed: no client, resource or options");
        return NULL;
    }
    if (check(options, err) < 0)
        return NULL;
    ki_feed *feed = ki_calloc(1, sizeof(*feed));
    if (feed == NULL) {
        (void)ki_fail_no_memory(err);
        return NULL;
    }
    if (init(feed, client, resource, options, err) < 0) {
        feed_fini(feed);
        ki_life_leave(&feed->life, feed);
        return NULL;
    }
    return feed;
}

/* ---- running and freeing ------------------------------------------------------------------------------ */

void ki_feed_destroy(ki_feed *feed)
{
    feed_fini(feed);
    if (feed->options.on_release != NULL)
        feed->options.on_release(feed->options.user);
    ki_life_leave(&feed->life, feed);
}

void ki_feed_free(ki_feed *feed)
{
    if (feed != NULL)
        ki_life_free(&feed->life);
}

int ki_feed_start(ki_feed *feed, ki_error *err)
{
    return feed == NULL ? ki_fail_missing(err, "no feed") : ki_life_start(&feed->life, err);
}

void ki_feed_stop(ki_feed *feed)
{
    if (feed != NULL)
        ki_life_stop(&feed->life);
}

/* Sets has_space before it reads is_full, while io sets is_full before it reads has_space: see
 * wait_for_space() in feed_apply.c. */
void ki_feed_resume(ki_feed *feed)
{
    if (feed == NULL || ki_life_is_foreign(&feed->life) ||
        (feed->options.queue != NULL && !ki_delta_queue_has_room(feed->options.queue)))
        return;
    ki_mutex_lock(&feed->life.mu); /* otherwise a callback could free the feed before the wake */
    feed->has_space = true;
    if (feed->is_full)
        ki_job_wake(&feed->life.io_job);
    ki_mutex_unlock(&feed->life.mu);
}

void ki_feed_retry_now(ki_feed *feed)
{
    if (feed != NULL)
        ki_life_retry_now(&feed->life);
}
