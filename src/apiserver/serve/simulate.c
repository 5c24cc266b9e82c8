/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/serve/simulate.h"

#include <assert.h>
#include <string.h>

#include "apiserver/storage/watch.h"
#include "apiserver/value/timestamp.h"
#include "apiserver/verbs/verbs.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/units.h"

enum { DELAY_MS = 200, EVENTS = 64 };

struct ki_as_simulation {
    struct ki_apiserver *server;
    struct ki_as_resource *resource; /* deployments */
    uint64_t delay_ns;
    ki_job job;
    struct ki_as_watch *watch; /* used by the job's thread; NULL if it must be opened first */
};

/* ---- one Deployment ------------------------------------------------------------------------------------ */

/* Kubernetes omits a count of 0. */
static void set_count(json_t *status, const char *name, json_int_t count)
{
    if (count > 0)
        (void)json_object_set_new(status, name, json_integer(count));
    else
        (void)json_object_del(status, name);
}

/* The condition Available, borrowed; added if missing. */
static json_t *available_of(json_t *status)
{
    json_t *conditions = json_object_get(status, "conditions");
    json_t *condition = NULL;
    size_t i = 0;
    if (!json_is_array(conditions)) {
        conditions = json_array();
        (void)json_object_set_new(status, "conditions", conditions);
    }
    json_array_foreach(conditions, i, condition)
    {
        const char *type = json_string_value(json_object_get(condition, "type"));
        if (type != NULL && strcmp(type, "Available") == 0)
            return condition;
    }
    condition = json_pack("{s:s}", "type", "Available");
    (void)json_array_append_new(conditions, condition);
    return condition;
}

/* The times of the condition change only if its status changes. */
static void set_available(json_t *status)
{
    char now[KI_AS_TIME_BYTES];
    json_t *condition = available_of(status);
    const char *before = json_string_value(json_object_get(condition, "status"));
    if (before != NULL && strcmp(before, "True") == 0)
        return;
    ki_as_time_now(now);
    json_t *wanted = json_pack("{s:s, s:s, s:s, s:s, s:s}", "status", "True", "lastUpdateTime", now,
                               "lastTransitionTime", now, "reason", "MinimumReplicasAvailable", "message",
                               "Deployment has minimum availability.");
    (void)json_object_update(condition, wanted);
    json_decref(wanted);
}

/* The status that matches the spec, as a new tree; NULL if out of memory. */
static json_t *wanted_status(const json_t *tree)
{
    static const char *const counts[] = {"replicas", "updatedReplicas", "readyReplicas", "availableReplicas"};
    const json_t *replicas = json_object_get(json_object_get(tree, "spec"), "replicas");
    json_t *generation = json_object_get(json_object_get(tree, "metadata"), "generation");
    json_t *before = json_object_get(tree, "status");
    json_t *status = before == NULL ? json_object() : json_deep_copy(before);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        set_count(status, counts[i], replicas == NULL ? 1 : json_integer_value(replicas));
    set_count(status, "unavailableReplicas", 0);
    if (generation != NULL)
        (void)json_object_set(status, "observedGeneration", generation);
    set_available(status);
    return status;
}

/* If the status cannot be written, the next change of the object is another chance. */
static void settle(struct ki_as_simulation *simulation, const struct ki_as_object *object)
{
    const struct ki_as_resource *resource = simulation->resource;
    struct ki_as_failure failure = {0};
    struct ki_as_object *written = NULL;
    struct ki_as_call call = {.storage = simulation->server->storage,
                              .resource = simulation->resource,
                              .ns = object->ns,
                              .name = object->name,
                              .subresource = KI_STR("status"),
                              .field_manager = KI_STR("kube-controller-manager"),
                              .is_sketch = true};
    if (object->is_deleting)
        return;
    json_t *tree = ki_as_object_tree(object, resource->kind, resource->api_version);
    json_t *status = wanted_status(tree);
    bool is_settled = json_equal(status, json_object_get(tree, "status"));
    if (tree != NULL && status != NULL && !is_settled && json_object_set(tree, "status", status) == 0 &&
        ki_as_update(&call, tree, &written, NULL, &failure) == 0)
        ki_as_object_unref(written);
    ki_as_failure_fini(&failure);
    json_decref(status);
    json_decref(tree);
}

/* ---- all Deployments ----------------------------------------------------------------------------------- */

/* Called with the storage's lock held. */
static void on_change(void *user)
{
    struct ki_as_simulation *simulation = user;
    ki_job_wake_at(&simulation->job, ki_clock_now_ns(ki_clock_real()) + simulation->delay_ns);
}

/* Handles the current objects, and watches from their version on. */
static void open_watch(struct ki_as_simulation *simulation)
{
    assert(simulation->watch == NULL);
    struct ki_as_storage *storage = simulation->server->storage;
    struct ki_as_failure failure = {0};
    struct ki_as_page page = {0};
    ki_as_storage_lock(storage);
    struct ki_as_collection *collection = ki_as_storage_collection(storage, simulation->resource);
    int rc = collection == NULL
                 ? -1
                 : ki_as_storage_page(storage, collection, &(struct ki_as_page_request){0}, &page, &failure);
    ki_as_storage_unlock(storage);
    struct ki_as_watch_options options = {
        .resource = simulation->resource, .after = page.version, .wake = on_change, .user = simulation};
    if (rc < 0 || ki_as_watch_open(storage, &options, &simulation->watch) < 0)
        on_change(simulation); /* out of memory: try again later */
    for (size_t i = 0; i < page.count; i++)
        settle(simulation, page.objects[i]);
    ki_as_page_fini(&page);
    ki_as_failure_fini(&failure);
}

static void on_job(ki_job *job)
{
    struct ki_as_simulation *simulation = KI_CONTAINER_OF(job, struct ki_as_simulation, job);
    KI_ASSERT_ON(&simulation->server->loop);
    struct ki_as_event events[EVENTS];
    enum ki_as_watch_end end = KI_AS_WATCH_OPEN;
    uint64_t version = 0;
    size_t count = 0;
    if (simulation->watch == NULL)
        open_watch(simulation);
    if (simulation->watch == NULL)
        return;
    do {
        count = ki_as_watch_take(simulation->watch, events, EVENTS, &version, &end);
        for (size_t i = 0; i < count; i++) {
            if (events[i].type != KI_AS_DELETED)
                settle(simulation, events[i].object);
            ki_as_object_unref(events[i].object);
        }
    } while (count > 0);
    if (end == KI_AS_WATCH_OPEN)
        return;
    ki_as_watch_close(simulation->watch);
    simulation->watch = NULL;
    on_change(simulation);
}

/* ---- from start to stop -------------------------------------------------------------------------------- */

int ki_as_simulation_start(struct ki_apiserver *server, const ki_apiserver_options *options, ki_error *err)
{
    assert(server->storage != NULL && server->simulation == NULL);
    struct ki_as_storage *storage = server->storage;
    if ((options->simulate & ~(uint32_t)KI_SIMULATE_DEPLOYMENTS) != 0)
        return ki_fail(err, KI_ERR_INVALID, "simulate: %u is unknown", (unsigned)options->simulate);
    if (options->simulate == 0)
        return 0;
    struct ki_as_simulation *simulation = ki_calloc(1, sizeof(*simulation));
    if (simulation == NULL)
        return ki_fail_no_memory(err);
    simulation->server = server;
    simulation->delay_ns = ki_ns_of_ms(options->simulate_ms == 0 ? DELAY_MS : options->simulate_ms);
    ki_as_storage_lock(storage);
    simulation->resource = ki_as_resource_ref(ki_as_resources_find(
        ki_as_storage_resources(storage), KI_STR("apps"), KI_STR("v1"), KI_STR("deployments")));
    ki_as_storage_unlock(storage);
    server->simulation = simulation;
    if (ki_job_init(&simulation->job, &server->loop, on_job) < 0)
        return ki_fail_no_memory(err);
    ki_job_wake(&simulation->job);
    return 0;
}

/* The job ends first, because it reads the watch. The watch may still wake the job,
 * which then does nothing. */
void ki_as_simulation_stop(struct ki_as_simulation *simulation)
{
    if (simulation == NULL)
        return;
    ki_job_fini(&simulation->job);
    if (simulation->watch != NULL)
        ki_as_watch_close(simulation->watch);
    ki_as_resource_unref(simulation->resource);
    ki_free(simulation);
}
