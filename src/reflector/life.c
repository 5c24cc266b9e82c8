/* SPDX-License-Identifier: Apache-2.0 */
#include "reflector/life.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "api/object/object_probe.h"
#include "client/callback.h"
#include "reflector/source.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/text/str.h"

/* ---- making ------------------------------------------------------------------------------------------ */

static ki_object_options object_options(const ki_informer_options *options)
{
    return (ki_object_options){.keep = options->keep,
                               .drop = options->drop,
                               .keep_managed_fields = options->keep_managed_fields,
                               .depth_max = options->object_depth_max,
                               .bytes_max = options->object_bytes_max};
}

static int make_plan(ki_life *life, ki_error *err)
{
    ki_object_options kept = object_options(&life->setup.options);
    life->plan = ki_object_plan_new(life->resource, &kept, err);
    return life->plan == NULL ? KI_ERR_INVALID : 0;
}

/* Options without `keep` keep everything, which is the path "". */
static int keep_all(ki_life *life, const char *const *extra, ki_error *err)
{
    const char *const *keep = life->setup.options.keep;
    size_t count = ki_str_count(keep);
    const char **all = ki_calloc(count + ki_str_count(extra) + 2, sizeof(*all));
    if (all == NULL)
        return ki_fail_no_memory(err);
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        all[used++] = keep[i];
    if (count == 0)
        all[used++] = "";
    for (size_t i = 0; extra[i] != NULL; i++)
        all[used++] = extra[i];
    ki_object_options kept = object_options(&life->setup.options);
    kept.keep = all;
    int rc = ki_object_plan_keep(life->plan, &kept, err);
    ki_free(all);
    return rc;
}

static char *copy_of(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = ki_malloc(bytes);
    return copy == NULL ? NULL : memcpy(copy, text, bytes);
}

int ki_life_keep_path(ki_life *life, const char *path, ki_error *err)
{
    assert(life != NULL && path != NULL && !life->was_started);
    if (!ki_object_kept_lacks(life->plan->projection, path))
        return 0;
    size_t count = ki_str_count(life->extra_keep);
    const char **longer = ki_realloc(life->extra_keep, (count + 2) * sizeof(*longer));
    if (longer == NULL)
        return ki_fail_no_memory(err);
    life->extra_keep = longer;
    longer[count] = copy_of(path);
    longer[count + 1] = NULL;
    int rc = longer[count] == NULL ? ki_fail_no_memory(err) : keep_all(life, longer, err);
    if (rc < 0) {
        ki_free((char *)longer[count]);
        longer[count] = NULL;
    }
    return rc;
}

int ki_life_init(ki_life *life, ki_client *client, const ki_resource *resource,
                 const ki_informer_options *options, ki_error *err)
{
    assert(life != NULL);
    ki_mutex_init(&life->mu);
    ki_client_ref(client);
    life->client = client;
    int rc = ki_client_check_process(client, err);
    if (rc < 0)
        return rc;
    life->resource = ki_resource_new(resource, err);
    if (life->resource == NULL)
        return KI_ERR_INVALID;
    rc = ki_reflector_setup_init(&life->setup, resource, options, err);
    if (rc == 0)
        rc = ki_reflector_setup_check(&life->setup, life->resource, err);
    return rc == 0 ? make_plan(life, err) : rc;
}

/* On success, the reflector owns the source. */
static int init_reflector(ki_life *life, ki_reflector_options *options, ki_error *err)
{
    bool is_own = life->setup.options.list_watch != NULL;
    int rc = ki_source_open(life->client, life->resource, &life->setup.options, &options->list_watch, err);
    if (rc < 0)
        return rc;
    if (!is_own) {
        options->streams = &life->client->streams;
        options->wires = &life->client->wires;
    }
    rc = ki_reflector_init(&life->reflector, options, err);
    if (rc < 0 && !is_own && options->list_watch.release != NULL)
        options->list_watch.release(options->list_watch.user);
    return rc;
}

static void run_io(ki_job *job);
static void run_dispatch(ki_job *job);
static void schedule_io(uint64_t due_ns, void *user);

/* A user that has joined is busy until ki_life_open() has succeeded,
 * so the client is not closed before that. */
int ki_life_join(ki_life *life, ki_error *err)
{
    assert(life != NULL);
    ki_client *client = life->client;
    if (ki_job_init(&life->io_job, client->io, run_io) < 0 ||
        ki_job_init(&life->dispatch_job, client->dispatch, run_dispatch) < 0)
        return ki_fail_no_memory(err);
    life->alive.job = &life->dispatch_job;
    if (ki_reflector_setup_join(&life->setup, life->resource, client, &life->alive) < 0)
        return ki_fail(err, KI_ERR_STOPPED, "%s: the client has been freed", life->resource->plural);
    const char *given = life->setup.options.name;
    life->name = given != NULL ? given : life->alive.name;
    ki_reflector_metrics_init(&life->metrics, client->metrics, life->name, life->resource);
    ki_error_log_init(&life->errors, &(ki_error_log_owner){life->kind->name, life->name, life->resource},
                      client->clock);
    return 0;
}

/* Whether the program provides the source, instead of an API server. */
static bool is_programs(const ki_life *life)
{
    return life->setup.options.list_watch != NULL || life->client->options.source != NULL;
}

int ki_life_open(ki_life *life, ki_reflector_options *reflector, ki_error *err)
{
    ki_client *client = life->client;
    reflector->plan = life->plan;
    reflector->resource = life->resource;
    reflector->metrics = &life->metrics;
    reflector->clock = client->clock;
    reflector->seed = client->seed;
    reflector->wire = life->setup.options.wire;
    if (reflector->wire == KI_WIRE_AUTO)
        reflector->wire = client->options.wire;
    if (reflector->wire == KI_WIRE_AUTO && is_programs(life))
        reflector->wire = KI_WIRE_JSON;
    reflector->schedule = schedule_io;
    reflector->user = life;
    int rc = init_reflector(life, reflector, err);
    if (rc == 0)
        ki_client_set_busy(client, &life->alive, false);
    return rc;
}

void ki_life_fini(ki_life *life)
{
    assert(life != NULL);
    ki_job_fini(&life->io_job);
    ki_job_fini(&life->dispatch_job);
    ki_reflector_metrics_fini(&life->metrics);
    ki_resource_version_clear(&life->version);
    ki_object_plan_free(life->plan);
    for (size_t i = 0; i < ki_str_count(life->extra_keep); i++)
        ki_free((char *)life->extra_keep[i]);
    ki_free(life->extra_keep);
    ki_reflector_setup_fini(&life->setup);
    ki_resource_free(life->resource);
    ki_mutex_fini(&life->mu);
}

void ki_life_leave(ki_life *life, void *memory)
{
    assert(life != NULL);
    ki_client_free_user(life->client, &life->alive, memory);
}

/* ---- any thread -------------------------------------------------------------------------------------- */

void ki_life_wake_dispatch(ki_life *life)
{
    assert(life != NULL);
    if (!atomic_exchange(&life->dispatch_is_due, true))
        ki_job_wake(&life->dispatch_job);
}

int ki_life_start(ki_life *life, ki_error *err)
{
    int rc = ki_client_run(life->client, err);
    if (rc < 0)
        return rc;
    ki_mutex_lock(&life->mu);
    rc = life->setup_error.code;
    if (rc < 0 && err != NULL)
        *err = life->setup_error;
    life->setup_error = (ki_error){0};
    if (rc == 0 && !life->is_freed) {
        life->is_wanted = life->was_started = true;
        life->stop_is_asked = false;
        if (life->kind->want_locked != NULL)
            life->kind->want_locked(life);
        ki_life_wake_dispatch(life);
    }
    ki_mutex_unlock(&life->mu);
    return rc;
}

/* No event is delivered after this, not even the rest of a batch that another thread is delivering. */
static void request_stop_locked(ki_life *life) KI_REQUIRES(life->mu)
{
    KI_ASSERT_HELD(life->mu);
    life->is_wanted = false;
    life->stop_is_asked = true;
    life->may_deliver = false;
    ki_client_notify(life->client); /* waits for a sync fail now */
    ki_life_wake_dispatch(life);
}

void ki_life_request_stop(ki_life *life)
{
    assert(life != NULL);
    if (ki_life_is_foreign(life))
        return;
    ki_mutex_lock(&life->mu);
    request_stop_locked(life);
    ki_mutex_unlock(&life->mu);
}

static bool is_stopped(void *user)
{
    const ki_life *life = user;
    return life->stage == KI_STAGE_STOPPED || life->is_wanted;
}

/* Counts itself as a waiter before it releases the lock, because a callback that notices the stop may free
 * the life at once. */
void ki_life_stop(ki_life *life)
{
    if (ki_life_is_foreign(life))
        return;
    bool may_wait = ki_client_may_wait() == 0;
    ki_mutex_lock(&life->mu);
    request_stop_locked(life);
    if (may_wait)
        ki_life_begin_wait_locked(life);
    ki_mutex_unlock(&life->mu);
    if (!may_wait)
        return;
    (void)ki_life_wait(life, is_stopped, life, UINT64_MAX);
    ki_life_end_wait(life);
}

void ki_life_free(ki_life *life)
{
    assert(life != NULL);
    ki_client *client = life->client;
    if (ki_life_is_foreign(life))
        return;
    ki_client_ref(client);
    ki_mutex_lock(&life->mu);
    uint64_t serial = life->alive.serial;
    ki_client_set_busy(client, &life->alive, true);
    life->is_freed = true;
    life->is_wanted = false;
    life->stop_is_asked = true;
    life->may_deliver = false;
    if (life->kind->free_locked != NULL)
        life->kind->free_locked(life);
    ki_life_wake_dispatch(life);
    ki_mutex_unlock(&life->mu);
    ki_client_wait_gone(client, serial);
    ki_client_unref(client);
}

void ki_life_retry_now(ki_life *life)
{
    assert(life != NULL);
    if (ki_life_is_foreign(life))
        return;
    ki_mutex_lock(&life->mu);
    life->retry_is_asked = true;
    ki_job_wake(&life->io_job);
    ki_mutex_unlock(&life->mu);
}

size_t ki_life_write_version(const ki_life *life, char *buffer, size_t buffer_bytes)
{
    static const ki_resource_version none;
    if (life == NULL || ki_life_is_foreign(life))
        return ki_resource_version_write(&none, buffer, buffer_bytes);
    ki_mutex_lock(&life->mu);
    size_t length = ki_resource_version_write(&life->version, buffer, buffer_bytes);
    ki_mutex_unlock(&life->mu);
    return length;
}

void ki_life_begin_status(const ki_life *life, ki_informer_status *out_status)
{
    memset(out_status, 0, offsetof(ki_informer_status, resource_version));
    out_status->resource_version_bytes =
        ki_life_write_version(life, out_status->resource_version, sizeof(out_status->resource_version));
}

bool ki_life_is_foreign(const ki_life *life)
{
    assert(life != NULL);
    return ki_client_is_foreign(life->client);
}

bool ki_life_was_started(ki_life *life)
{
    assert(life != NULL);
    ki_mutex_lock(&life->mu);
    bool was_started = life->was_started;
    ki_mutex_unlock(&life->mu);
    return was_started;
}

bool ki_life_cannot_succeed_locked(const ki_life *life)
{
    KI_ASSERT_HELD(life->mu);
    return !life->was_started || life->stop_is_asked || life->client->is_closing;
}

void ki_life_begin_wait_locked(ki_life *life)
{
    ki_client_visit_begin();
    life->waiters++;
}

int ki_life_begin_wait(ki_life *life, ki_error *err)
{
    int rc = ki_client_check_process(life->client, err);
    if (rc < 0)
        return rc;
    if (ki_client_may_wait() < 0)
        return ki_fail(err, KI_ERR_WOULD_DEADLOCK, "%s: cannot wait in a callback or a read section",
                       life->name);
    ki_mutex_lock(&life->mu);
    ki_life_begin_wait_locked(life);
    ki_mutex_unlock(&life->mu);
    return 0;
}

void ki_life_keep(ki_life *life)
{
    ki_mutex_lock(&life->mu);
    life->waiters++;
    ki_mutex_unlock(&life->mu);
}

/* A free may have waited for this call. In a closed client no other thread would carry it out,
 * so this thread runs the jobs. */
void ki_life_let_go(ki_life *life)
{
    ki_client *client = life->client;
    if (ki_client_is_foreign(client))
        return;
    ki_client_ref(client);
    ki_mutex_lock(&life->mu);
    if (--life->waiters == 0 && life->is_freed)
        ki_life_wake_dispatch(life);
    ki_mutex_unlock(&life->mu);
    while (client->is_closed && ki_client_step(client)) {
    }
    ki_client_unref(client);
}

void ki_life_end_wait(ki_life *life)
{
    if (ki_life_is_foreign(life))
        return;
    ki_life_let_go(life);
    ki_client_visit_end();
}

bool ki_life_wait(ki_life *life, bool (*is_met)(void *user), void *user, uint64_t timeout_ms)
{
    assert(life != NULL);
    return ki_client_wait(life->client, &(ki_wait){&life->mu, is_met, user, false}, timeout_ms);
}

void ki_life_notify(ki_life *life)
{
    assert(life != NULL);
    ki_mutex_lock(&life->mu);
    ki_client_notify(life->client);
    ki_mutex_unlock(&life->mu);
}

/* ---- io ---------------------------------------------------------------------------------------------- */

static void schedule_io(uint64_t due_ns, void *user)
{
    ki_life *life = user;
    ki_job_wake_at(&life->io_job, due_ns);
}

typedef struct requests {
    bool is_begin;
    bool is_retry;
    bool is_list_owed;
    ki_stage stage;
    uint32_t doubted_list;
    ki_resource_version version; /* the caller clears it */
} requests;

static requests take_requests(ki_life *life)
{
    KI_ASSERT_ON(life->client->io);
    ki_mutex_lock(&life->mu);
    requests taken = {.is_begin = life->begin_is_asked,
                      .is_retry = life->retry_is_asked,
                      .is_list_owed = life->list_is_owed,
                      .stage = life->stage,
                      .doubted_list = life->doubted_list};
    ki_resource_version_copy(&taken.version, &life->version);
    life->doubted_list = 0;
    life->begin_is_asked = life->retry_is_asked = life->list_is_owed = false;
    ki_mutex_unlock(&life->mu);
    return taken;
}

/* io must not use the life after this, since dispatch may free it. */
static void answer_dispatch(ki_life *life, ki_stage stage)
{
    KI_ASSERT_ON(life->client->io);
    assert(stage == KI_STAGE_HALTED || stage == KI_STAGE_RELEASED);
    ki_mutex_lock(&life->mu);
    life->stage = stage;
    ki_life_wake_dispatch(life);
    ki_mutex_unlock(&life->mu);
}

static void drive(ki_life *life, const requests *taken)
{
    KI_ASSERT_ON(life->client->io);
    ki_reflector *reflector = &life->reflector;
    if (taken->is_begin)
        ki_reflector_begin(reflector, &taken->version);
    if (taken->is_retry)
        ki_reflector_retry_now(reflector);
    if (taken->doubted_list != 0)
        ki_reflector_doubt_list(reflector, taken->doubted_list);
    if (life->kind->has_space(life))
        ki_reflector_resume(reflector);
    ki_reflector_tick(reflector);
    if (life->kind->drive != NULL)
        life->kind->drive(life);
}

static void run_io(ki_job *job)
{
    ki_life *life = KI_CONTAINER_OF(job, ki_life, io_job);
    KI_ASSERT_ON(life->client->io);
    assert(ki_job_is_current(job));
    requests taken = take_requests(life);
    if (taken.is_list_owed)
        ki_reflector_require_list(&life->reflector);
    if (taken.stage == KI_STAGE_HALTING) {
        ki_reflector_halt(&life->reflector);
        if (life->kind->halt != NULL)
            life->kind->halt(life);
        answer_dispatch(life, KI_STAGE_HALTED);
    } else if (taken.stage == KI_STAGE_LEAVING) {
        ki_reflector_fini(&life->reflector);
        answer_dispatch(life, KI_STAGE_RELEASED);
    } else if (taken.stage == KI_STAGE_RUNNING) {
        drive(life, &taken);
    }
    ki_resource_version_clear(&taken.version);
}

/* ---- dispatch ---------------------------------------------------------------------------------------- */

/* dispatch_is_due is cleared before anything is checked, so that work recorded from now on wakes the job
 * again. */
static void run_dispatch(ki_job *job)
{
    ki_life *life = KI_CONTAINER_OF(job, ki_life, dispatch_job);
    KI_ASSERT_ON(life->client->dispatch);
    assert(ki_job_is_current(job));
    life->dispatch_is_due = false;
    life->kind->dispatch(life);
}

static void ask_io_locked(ki_life *life, ki_stage stage) KI_REQUIRES(life->mu)
{
    KI_ASSERT_HELD(life->mu);
    life->stage = stage;
    ki_job_wake(&life->io_job);
}

/* Does nothing if the client is being freed. */
static void begin_locked(ki_life *life) KI_REQUIRES(life->mu)
{
    KI_ASSERT_HELD(life->mu);
    if (!ki_client_begin(life->client, &life->alive))
        return;
    life->begin_is_asked = true;
    life->may_deliver = true;
    if (life->kind->begin_locked != NULL)
        life->kind->begin_locked(life);
    ask_io_locked(life, KI_STAGE_RUNNING);
}

/* While callbacks still run, it does nothing; the last callback wakes dispatch again. */
static void stop_locked(ki_life *life) KI_REQUIRES(life->mu)
{
    KI_ASSERT_HELD(life->mu);
    if (life->kind->stop_locked != NULL && !life->kind->stop_locked(life))
        return;
    life->stage = KI_STAGE_STOPPED;
    ki_client_set_busy(life->client, &life->alive, life->is_freed);
}

ki_stage ki_life_advance(ki_life *life)
{
    KI_ASSERT_ON(life->client->dispatch);
    ki_mutex_lock(&life->mu);
    if (life->client->is_closing)
        life->may_deliver = false;
    if (life->stage == KI_STAGE_RUNNING && !life->may_deliver)
        ask_io_locked(life, KI_STAGE_HALTING);
    else if (life->stage == KI_STAGE_HALTED)
        stop_locked(life);
    if (life->stage == KI_STAGE_STOPPED && life->is_freed) {
        bool may_leave = life->kind->leave_locked == NULL || life->kind->leave_locked(life);
        if (may_leave && life->waiters == 0) /* the last waiter wakes dispatch */
            ask_io_locked(life, KI_STAGE_LEAVING);
    } else if (life->stage == KI_STAGE_STOPPED && life->is_wanted) {
        begin_locked(life);
    }
    if (life->client->is_closing)
        ki_client_notify(life->client); /* waits for a sync fail now */
    ki_stage stage = life->stage;
    ki_mutex_unlock(&life->mu);
    return stage;
}
