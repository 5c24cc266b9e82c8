/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and frees an informer, and sets it up. */
#include "informer/informer.h"

#include <assert.h>

#include "informer/registration.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/log.h"
#include "util/loop/rcu.h"

/* ---- making ------------------------------------------------------------------------------------------ */

static int init_detector(ki_informer *informer)
{
    ki_mutation_detector_options options = {.name = informer->life.resource->plural,
                                            .log = informer->life.client->log,
                                            .hash_seed = informer->life.client->seed};
    switch (informer->life.setup.options.mutations) {
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
    const ki_informer_options *options = &informer->life.setup.options;
    informer->store = ki_store_new(NULL, err);
    if (informer->store == NULL)
        return KI_ERR_NO_MEMORY;
    if (informer->life.client->seed != 0)
        ki_store_use_seed(informer->store, informer->life.client->seed);
    ki_store_seal(informer->store, informer->life.client->log);
    ki_store_set_projection(informer->store, informer->life.plan->projection);
    ki_delta_fifo_options queue = {.items_max = options->queue_items_max,
                                   .bytes_max = options->queue_bytes_max,
                                   .hash_key = ki_store_hash_key(informer->store)};
    if (ki_delta_fifo_init(&informer->fifo, &queue) < 0 || init_detector(informer) < 0)
        return ki_fail_no_random(err);
    informer->check_ms = ki_resync_period_ms(options->resync_ms);
    ki_apply_init(&informer->apply,
                  &(ki_apply_options){.store = informer->store,
                                      .fifo = &informer->fifo,
                                      .fanout = &informer->fanout,
                                      .detector = &informer->detector,
                                      .deliver_unchanged = options->deliver_unchanged != 0});
    return 0;
}

static int init(ki_informer *informer, ki_client *client, const ki_resource *resource,
                const ki_informer_options *options, ki_error *err)
{
    ki_mutex_init(&informer->paths_mu);
    ki_list_init(&informer->registrations);
    ki_fanout_init(&informer->fanout, ki_registration_push);
    informer->timers = (ki_informer_timers){UINT64_MAX, 0, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    informer->life.kind = &ki_informer_kind;
    int rc = ki_life_init(&informer->life, client, resource, options, err);
    informer->used = informer->life.setup.options;
    if (rc == 0)
        rc = init_data(informer, err);
    if (rc == 0)
        rc = ki_life_join(&informer->life, err);
    if (rc < 0)
        return rc;
    ki_informer_metrics_init(&informer->metrics, client->metrics, informer->life.name,
                             informer->life.resource);
    ki_reflector_options reflector = {.informer = &informer->used,
                                      .on_change = ki_informer_take_change,
                                      .on_error = ki_informer_report,
                                      .on_status = ki_informer_report_status,
                                      .key_bytes_max = KI_KEY_BYTES};
    rc = ki_life_open(&informer->life, &reflector, err);
    if (rc == 0)
        ki_informer_follow_age(informer);
    return rc;
}

/* A half-made informer is allowed. The reflector must have been ended, or never made. */
static void informer_fini(ki_informer *informer)
{
    ki_informer_metrics_fini(&informer->metrics); /* first, since the age is read from the other parts */
    ki_life_fini(&informer->life);
    ki_apply_fini(&informer->apply);
    ki_delta_fifo_fini(&informer->fifo);
    ki_mutation_detector_fini(&informer->detector);
    ki_store_free(informer->store);
    ki_mutex_fini(&informer->paths_mu);
}

ki_informer *ki_informer_new(ki_client *client, const ki_resource *resource,
                             const ki_informer_options *options, ki_error *err)
{
    if (client == NULL || resource == NULL) {
        (void)ki_fail_missing(err, client == NULL ? "informer: no client" : "informer: no resource");
        return NULL;
    }
    ki_informer *informer = ki_calloc(1, sizeof(*informer));
    if (informer == NULL) {
        (void)ki_fail_no_memory(err);
        return NULL;
    }
    ki_list_init(&informer->releases);
    if (init(informer, client, resource, options, err) < 0) {
        ki_informer_destroy(informer);
        return NULL;
    }
    return informer;
}

/* ---- running and freeing ----------------------------------------------------------------------------- */

/* A function to call when no other callback of the informer can be called any more. */
typedef struct release {
    ki_list_node node;
    ki_release_cb callback;
    void *user;
} release;

int ki_informer_add_release(ki_informer *informer, ki_release_cb callback, void *user)
{
    if (informer == NULL || callback == NULL)
        return KI_ERR_INVALID;
    if (ki_life_is_foreign(&informer->life))
        return KI_ERR_FORKED;
    release *added = ki_calloc(1, sizeof(*added));
    if (added == NULL)
        return KI_ERR_NO_MEMORY;
    added->callback = callback;
    added->user = user;
    ki_mutex_lock(&informer->life.mu);
    ki_list_push_back(&informer->releases, &added->node);
    ki_mutex_unlock(&informer->life.mu);
    return 0;
}

static void release_users(ki_list *releases)
{
    for (ki_list_node *node = ki_list_pop_front(releases); node != NULL; node = ki_list_pop_front(releases)) {
        release *next = KI_CONTAINER_OF(node, release, node);
        next->callback(next->user);
        ki_free(next);
    }
}

void ki_informer_destroy(ki_informer *informer)
{
    assert(informer != NULL);
    assert(!ki_list_node_is_linked(&informer->end_of_changes.node)); /* io has ended its last job */
    informer_fini(informer);
    release_users(&informer->releases);
    ki_life_leave(&informer->life, informer);
}

void ki_informer_free(ki_informer *informer)
{
    if (informer != NULL)
        ki_life_free(&informer->life);
}

int ki_informer_start(ki_informer *informer, ki_error *err)
{
    return informer == NULL ? ki_fail_missing(err, "no informer") : ki_life_start(&informer->life, err);
}

void ki_informer_abandon(ki_informer *informer)
{
    assert(informer != NULL);
    ki_mutex_lock(&informer->life.mu);
    informer->is_abandoned = true;
    ki_mutex_unlock(&informer->life.mu);
    ki_life_request_stop(&informer->life);
}

void ki_informer_stop(ki_informer *informer)
{
    if (informer != NULL)
        ki_life_stop(&informer->life);
}

void ki_informer_retry_now(ki_informer *informer)
{
    if (informer != NULL)
        ki_life_retry_now(&informer->life);
}

/* ---- set-up ------------------------------------------------------------------------------------------ */

const ki_store *ki_informer_store(const ki_informer *informer)
{
    return informer == NULL ? NULL : informer->store;
}

const ki_resource *ki_informer_resource(const ki_informer *informer)
{
    return informer == NULL ? NULL : informer->life.resource;
}

/* Remembers the first failure of the set-up, which the start reports.
 * After the start only the caller gets the error. */
static void remember(ki_informer *informer, int code, const char *index, const char *why)
{
    ki_mutex_lock(&informer->life.mu);
    if (code < 0 && informer->life.setup_error.code == 0 && !informer->life.was_started)
        ki_error_set(&informer->life.setup_error, code, 0, "%s: adding the index \"%s\": %s",
                     informer->life.name, index == NULL ? "" : index,
                     code == KI_ERR_INVALID ? why : ki_error_text(code));
    ki_mutex_unlock(&informer->life.mu);
}

int ki_informer_add_index(ki_informer *informer, const char *name, ki_index_cb callback, void *user)
{
    if (informer == NULL)
        return KI_ERR_INVALID;
    if (ki_life_is_foreign(&informer->life))
        return KI_ERR_FORKED;
    ki_life_keep(&informer->life); /* the function may free the informer */
    int rc = ki_store_add_index(informer->store, name, callback, user);
    ki_life_wake_dispatch(&informer->life); /* dispatch counts the failures of the function */
    remember(informer, rc, name,
             name == NULL       ? "there is no name"
             : callback == NULL ? "there is no function"
                                : "the name is already in use");
    ki_life_let_go(&informer->life);
    return rc;
}

/* Keeps the values at the path from the first object on. After the start it is too late for that; then the
 * store refuses a path that is dropped. It also refuses a NULL path, which is ignored here. Projections only
 * grow, so the store has the latest one when the lock is released. */
static int keep_path(ki_informer *informer, const char *path, ki_error *err)
{
    ki_life *life = &informer->life;
    ki_mutex_lock(&informer->paths_mu);
    ki_mutex_lock(&life->mu);
    int rc = life->was_started || path == NULL ? 0 : ki_life_keep_path(life, path, err);
    ki_mutex_unlock(&life->mu);
    if (rc == 0)
        ki_store_set_projection(informer->store, life->plan->projection);
    ki_mutex_unlock(&informer->paths_mu);
    return rc;
}

/* Does not take the lock in a read section, because the owner of the lock may wait for the store, and so for
 * the section. The store then refuses the index. */
static int add_index_path(ki_informer *informer, const char *name, const char *path, ki_error *err)
{
    int rc = ki_rcu_is_reading() ? 0 : keep_path(informer, path, err);
    return rc < 0 ? rc : ki_store_try_index_path(informer->store, name, path, err);
}

int ki_informer_add_index_path(ki_informer *informer, const char *name, const char *path)
{
    ki_error err = {0};
    if (informer == NULL)
        return KI_ERR_INVALID;
    ki_life *life = &informer->life;
    if (ki_life_is_foreign(life))
        return KI_ERR_FORKED;
    int rc = add_index_path(informer, name, path, &err);
    ki_life_wake_dispatch(life); /* dispatch counts the objects that could not be indexed */
    if (rc == 0)
        return 0;
    ki_mutex_lock(&life->mu);
    bool was_started = life->was_started;
    if (!was_started && life->setup_error.code == 0)
        ki_error_set(&life->setup_error, rc, 0, "%s: %s", life->name, err.message);
    ki_mutex_unlock(&life->mu);
    if (was_started)
        ki_log_to(life->client->log, KI_LOG_ERROR, "informer", KI_LOG_NO_FIELDS, "%s: %s", life->name,
                  err.message);
    return rc;
}

/* On success the caller holds the lock, so that the informer does not start meanwhile. */
KI_NO_THREAD_SAFETY_ANALYSIS
static int begin_setting(ki_informer *informer)
{
    if (informer == NULL)
        return KI_ERR_INVALID;
    if (ki_life_is_foreign(&informer->life))
        return KI_ERR_FORKED;
    ki_mutex_lock(&informer->life.mu);
    if (!informer->life.was_started)
        return 0;
    ki_mutex_unlock(&informer->life.mu);
    return KI_ERR_INVALID;
}

KI_NO_THREAD_SAFETY_ANALYSIS
int ki_informer_set_transform(ki_informer *informer, ki_transform_cb transform, void *user)
{
    int rc = begin_setting(informer);
    if (rc < 0)
        return rc;
    informer->used.transform = transform;
    informer->used.transform_user = user;
    ki_mutex_unlock(&informer->life.mu);
    return 0;
}

KI_NO_THREAD_SAFETY_ANALYSIS
int ki_informer_set_error_handler(ki_informer *informer, ki_informer_error_cb callback, void *user)
{
    int rc = begin_setting(informer);
    if (rc < 0)
        return rc;
    informer->on_error = callback;
    informer->error_user = user;
    ki_mutex_unlock(&informer->life.mu);
    return 0;
}

KI_NO_THREAD_SAFETY_ANALYSIS
int ki_informer_set_status_handler(ki_informer *informer, ki_informer_status_cb callback, void *user)
{
    int rc = begin_setting(informer);
    if (rc < 0)
        return rc;
    informer->on_status = callback;
    informer->status_user = user;
    ki_mutex_unlock(&informer->life.mu);
    return 0;
}
