/* SPDX-License-Identifier: Apache-2.0 */
/* Making, starting, stopping and freeing an informer: requests, which its jobs carry out. */
#include "cache/informer.h"

#include "cache/registration.h"
#include "cache/source.h"
#include "util/alloc.h"
#include "util/error.h"

/* ---- making ------------------------------------------------------------------------------------------ */

/* The last part to be made: from here on the source is the reflector's. When that fails, a source of the
 * caller's own stays the caller's, as with every failure before it. */
static int init_reflector(ki_informer *informer, ki_error *err)
{
    ki_reflector_options options = {.plan = informer->plan,
                                    .resource = informer->resource,
                                    .informer = &informer->used,
                                    .metrics = &informer->metrics,
                                    .clock = informer->client->clock,
                                    .seed = informer->client->seed,
                                    .on_change = ki_informer_take_change,
                                    .on_pause = ki_informer_end_changes,
                                    .on_error = ki_informer_report,
                                    .on_status = ki_informer_report_status,
                                    .schedule = ki_informer_schedule_io,
                                    .key_bytes_max = KI_KEY_BYTES,
                                    .user = informer};
    int rc = ki_source_open(informer->client, informer->resource, &informer->setup.options,
                            &options.list_watch, err);
    if (rc < 0)
        return rc;
    if (informer->setup.options.list_watch == NULL)
        options.streams = &informer->client->streams;
    rc = ki_reflector_init(&informer->reflector, &options, err);
    if (rc < 0 && informer->setup.options.list_watch == NULL && options.list_watch.release != NULL)
        options.list_watch.release(options.list_watch.user);
    return rc;
}

static int init_detector(ki_informer *informer)
{
    ki_mutation_detector_options options = {.name = informer->resource->plural,
                                            .log = informer->client->log,
                                            .hash_seed = informer->client->seed};
    switch (informer->setup.options.mutations) {
    case KI_MUTATIONS_REPORT:
        options.mode = KI_MUTATION_REPORT;
        break;
    case KI_MUTATIONS_ABORT:
        options.mode = KI_MUTATION_ABORT;
        break;
    case KI_MUTATIONS_IGNORE:
        break;
    default:
        options.mode = ki_mutation_detector_mode_from_environment();
        break;
    }
    return ki_mutation_detector_init(&informer->detector, &options);
}

static int init_data(ki_informer *informer, ki_error *err)
{
    const ki_informer_options *options = &informer->setup.options;
    ki_object_options kept = {.keep = options->keep,
                              .drop = options->drop,
                              .keep_managed_fields = options->keep_managed_fields,
                              .depth_max = options->object_depth_max,
                              .bytes_max = options->object_bytes_max};
    informer->plan = ki_object_plan_new(informer->resource, &kept, err);
    informer->store = informer->plan == NULL ? NULL : ki_store_new(NULL, err);
    if (informer->store == NULL)
        return KI_ERR_NO_MEMORY;
    if (informer->client->seed != 0)
        ki_store_use_seed(informer->store, informer->client->seed);
    ki_store_seal(informer->store, informer->client->log);
    ki_delta_fifo_options queue = {.items_max = options->queue_items_max,
                                   .bytes_max = options->queue_bytes_max,
                                   .hash_key = ki_store_hash_key(informer->store)};
    if (ki_delta_fifo_init(&informer->fifo, &queue) < 0)
        return ki_fail(err, KI_ERR_SYSTEM, "the system gives no random bytes");
    if (init_detector(informer) < 0)
        return ki_fail(err, KI_ERR_SYSTEM, "the system gives no random bytes");
    return 0;
}

static int init_jobs(ki_informer *informer, ki_error *err)
{
    if (ki_job_init(&informer->io_job, informer->client->io, ki_informer_run_io) < 0 ||
        ki_job_init(&informer->dispatch_job, informer->client->dispatch, ki_informer_run_dispatch) < 0)
        return ki_fail_no_memory(err);
    return 0;
}

static void init_plain(ki_informer *informer)
{
    ki_mutex_init(&informer->mu);
    ki_cond_init(&informer->changed);
    ki_list_init(&informer->registrations);
    ki_fanout_init(&informer->fanout, ki_registration_wake);
    informer->timers = (ki_informer_timers){UINT64_MAX, 0, UINT64_MAX, UINT64_MAX, UINT64_MAX};
}

static int init(ki_informer *informer, const ki_resource *resource, const ki_informer_options *options,
                ki_error *err)
{
    init_plain(informer);
    informer->resource = ki_resource_new(resource, err);
    if (informer->resource == NULL)
        return KI_ERR_INVALID;
    int rc = ki_informer_setup_init(&informer->setup, options, err);
    informer->used = informer->setup.options;
    if (rc == 0)
        rc = ki_informer_setup_check(&informer->setup, informer->resource, err);
    if (rc == 0)
        rc = init_data(informer, err);
    if (rc == 0)
        rc = init_jobs(informer, err);
    if (rc == 0) {
        informer->name =
            ki_informer_setup_join(&informer->setup, informer->resource, informer->client, &informer->alive);
        ki_informer_metrics_init(&informer->metrics, informer->client->metrics, informer->name,
                                 informer->resource);
    }
    if (rc == 0)
        rc = init_reflector(informer, err);
    if (rc < 0)
        return rc;
    ki_error_log_init(&informer->errors,
                      &(ki_error_log_owner){"reflector", informer->name, informer->resource},
                      informer->client->clock);
    informer->check_ms = ki_resync_period_ms(informer->setup.options.resync_ms);
    ki_apply_init(&informer->apply,
                  &(ki_apply_options){.store = informer->store,
                                      .fifo = &informer->fifo,
                                      .fanout = &informer->fanout,
                                      .detector = &informer->detector,
                                      .deliver_unchanged = informer->setup.options.deliver_unchanged != 0});
    return 0;
}

/* Takes a half-made one; the reflector has been ended, or was never made. */
static void informer_fini(ki_informer *informer)
{
    ki_job_fini(&informer->io_job);
    ki_job_fini(&informer->dispatch_job);
    ki_apply_fini(&informer->apply);
    ki_resource_version_clear(&informer->version);
    ki_informer_metrics_fini(&informer->metrics);
    ki_delta_fifo_fini(&informer->fifo);
    ki_mutation_detector_fini(&informer->detector);
    ki_store_free(informer->store);
    ki_object_plan_free(informer->plan);
    ki_informer_setup_fini(&informer->setup);
    ki_resource_free(informer->resource);
    ki_cond_fini(&informer->changed);
    ki_mutex_fini(&informer->mu);
}

ki_informer *ki_informer_new(ki_client *client, const ki_resource *resource,
                             const ki_informer_options *options, ki_error *err)
{
    if (client == NULL || resource == NULL) {
        ki_error_set(err, KI_ERR_INVALID, 0, "informer: no %s", client == NULL ? "client" : "resource");
        return NULL;
    }
    ki_informer *informer = ki_calloc(1, sizeof(*informer));
    if (informer == NULL) {
        (void)ki_fail_no_memory(err);
        return NULL;
    }
    informer->client = client;
    if (init(informer, resource, options, err) < 0) {
        ki_client_leave(client, &informer->alive);
        informer_fini(informer);
        ki_free(informer);
        return NULL;
    }
    return informer;
}

/* ---- going ------------------------------------------------------------------------------------------- */

/* The client waits for those that have not left; and for this job, which frees the memory. */
void ki_informer_destroy(ki_informer *informer)
{
    informer_fini(informer);
    ki_client_leave(informer->client, &informer->alive);
    ki_free(informer);
}

/* Once dispatch sees that it is freed, it may be gone: so dispatch is woken before the lock is given away. */
void ki_informer_free(ki_informer *informer)
{
    if (informer == NULL)
        return;
    ki_client *client = informer->client;
    uint64_t serial = informer->alive.serial;
    ki_mutex_lock(&informer->mu);
    informer->is_freed = true;
    informer->is_wanted = false;
    informer->stop_is_asked = true;
    ki_registrations_remove_all_locked(informer);
    ki_informer_wake_dispatch(informer);
    ki_mutex_unlock(&informer->mu);
    if (ki_client_may_wait() == 0)
        ki_client_wait_gone(client, serial);
}

/* ---- running ----------------------------------------------------------------------------------------- */

/* A stop that has not been carried out yet is taken back. */
static void want_locked(ki_informer *informer) KI_REQUIRES(informer->mu)
{
    informer->is_wanted = informer->was_started = true;
    informer->stop_is_asked = false;
    if (informer->stage == KI_STAGE_RUNNING && !informer->may_deliver) {
        informer->may_deliver = true;
        ki_registrations_wake_all_locked(informer);
    }
}

int ki_informer_start(ki_informer *informer, ki_error *err)
{
    if (informer == NULL)
        return ki_fail(err, KI_ERR_INVALID, "no informer");
    int rc = ki_client_run(informer->client, err);
    if (rc < 0)
        return rc;
    ki_mutex_lock(&informer->mu);
    rc = informer->setup_error.code;
    if (rc < 0 && err != NULL)
        *err = informer->setup_error;
    informer->setup_error = (ki_error){0};
    if (rc == 0 && !informer->is_freed)
        want_locked(informer);
    ki_mutex_unlock(&informer->mu);
    ki_informer_wake_dispatch(informer);
    return rc;
}

bool ki_informer_was_started(ki_informer *informer)
{
    ki_mutex_lock(&informer->mu);
    bool was_started = informer->was_started;
    ki_mutex_unlock(&informer->mu);
    return was_started;
}

static bool is_stopped(void *user)
{
    const ki_informer *informer = user;
    return informer->stage == KI_STAGE_STOPPED || informer->is_wanted;
}

/* No handler is called from here on, also not by a thread that is inside of a run of events. */
static void request_stop(ki_informer *informer, bool is_for_good)
{
    ki_mutex_lock(&informer->mu);
    informer->is_wanted = false;
    informer->stop_is_asked = true;
    informer->may_deliver = false;
    informer->is_abandoned |= is_for_good;
    ki_client_notify(informer->client, &informer->changed); /* who waits for a sync waits in vain */
    ki_informer_wake_dispatch(informer);
    ki_mutex_unlock(&informer->mu);
}

void ki_informer_request_stop(ki_informer *informer)
{
    request_stop(informer, false);
}

void ki_informer_abandon(ki_informer *informer)
{
    request_stop(informer, true);
}

void ki_informer_stop(ki_informer *informer)
{
    if (informer == NULL)
        return;
    ki_informer_request_stop(informer);
    if (ki_client_may_wait() == 0)
        (void)ki_client_wait(informer->client,
                             &(ki_wait){&informer->mu, &informer->changed, is_stopped, informer}, UINT64_MAX);
}

void ki_informer_retry_now(ki_informer *informer)
{
    if (informer == NULL)
        return;
    ki_mutex_lock(&informer->mu);
    informer->retry_is_asked = true;
    ki_mutex_unlock(&informer->mu);
    ki_job_wake(&informer->io_job);
}

/* ---- set-up ------------------------------------------------------------------------------------------ */

ki_store *ki_informer_store(ki_informer *informer)
{
    return informer == NULL ? NULL : informer->store;
}

const ki_resource *ki_informer_resource(const ki_informer *informer)
{
    return informer == NULL ? NULL : informer->resource;
}

/* Remembers the first failure of the set-up, for the start. Afterwards the caller alone is told. */
static int remember(ki_informer *informer, int code, const char *what, const char *name)
{
    ki_mutex_lock(&informer->mu);
    if (code < 0 && informer->setup_error.code == 0 && !informer->was_started)
        ki_error_set(&informer->setup_error, code, 0, "%s: %s \"%s\": %s", informer->resource->plural, what,
                     name == NULL ? "" : name,
                     code != KI_ERR_INVALID ? ki_error_text(code)
                     : name == NULL         ? "no name or no function"
                                            : "the name is taken");
    ki_mutex_unlock(&informer->mu);
    return code;
}

int ki_informer_add_index(ki_informer *informer, const char *name, ki_index_cb callback, void *user)
{
    if (informer == NULL)
        return KI_ERR_INVALID;
    int rc = ki_store_add_index(informer->store, name, callback, user);
    ki_informer_wake_dispatch(informer); /* which counts what the function has failed for */
    return remember(informer, rc, "adding the index", name == NULL || callback == NULL ? NULL : name);
}

int ki_informer_set_transform(ki_informer *informer, ki_transform_cb transform, void *user)
{
    if (informer == NULL)
        return KI_ERR_INVALID;
    ki_mutex_lock(&informer->mu);
    int rc = informer->was_started ? KI_ERR_INVALID : 0;
    if (rc == 0) {
        informer->used.transform = transform;
        informer->used.transform_user = user;
    }
    ki_mutex_unlock(&informer->mu);
    return rc;
}

int ki_informer_set_watch_error_handler(ki_informer *informer, ki_watch_error_cb callback, void *user)
{
    if (informer == NULL)
        return KI_ERR_INVALID;
    ki_mutex_lock(&informer->mu);
    int rc = informer->was_started ? KI_ERR_INVALID : 0;
    if (rc == 0) {
        informer->on_watch_error = callback;
        informer->watch_error_user = user;
    }
    ki_mutex_unlock(&informer->mu);
    return rc;
}

int ki_informer_set_status_handler(ki_informer *informer, ki_informer_status_cb callback, void *user)
{
    if (informer == NULL)
        return KI_ERR_INVALID;
    ki_mutex_lock(&informer->mu);
    int rc = informer->was_started ? KI_ERR_INVALID : 0;
    if (rc == 0) {
        informer->on_status = callback;
        informer->status_user = user;
    }
    ki_mutex_unlock(&informer->mu);
    return rc;
}
