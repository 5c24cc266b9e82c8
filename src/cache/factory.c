/* SPDX-License-Identifier: Apache-2.0 */
/* One lock, which guards the array of informers; it is never held while an informer is made, waited for or
 * freed. */
#include <kinformer/factory.h>
#include <stdio.h>

#include "cache/informer.h"
#include "cache/registration.h"
#include "util/alloc.h"
#include "util/error.h"

typedef struct own_resync {
    ki_resource *resource;
    uint64_t resync_ms;
} own_resync;

struct ki_factory {
    ki_client *client; /* constant, as the next three */
    ki_informer_setup setup;
    own_resync *resyncs;
    size_t resync_count;
    ki_mutex mu;
    ki_informer **informers; /* guarded by mu, as all below */
    size_t count;
    size_t capacity;
    ki_error setup_error; /* the first; the next start reports it */
};

/* ---- making and freeing ------------------------------------------------------------------------------- */

static void factory_fini(ki_factory *factory)
{
    for (size_t i = 0; i < factory->resync_count; i++)
        ki_resource_free(factory->resyncs[i].resource);
    ki_free(factory->resyncs);
    ki_free(factory->informers);
    ki_informer_setup_fini(&factory->setup);
    ki_mutex_fini(&factory->mu);
    ki_free(factory);
}

static int copy_resyncs(ki_factory *factory, const ki_factory_resync *resyncs)
{
    size_t count = 0;
    while (resyncs != NULL && resyncs[count].resource != NULL)
        count++;
    if (count == 0)
        return 0;
    factory->resyncs = ki_calloc(count, sizeof(*factory->resyncs));
    if (factory->resyncs == NULL)
        return KI_ERR_NO_MEMORY;
    for (; factory->resync_count < count; factory->resync_count++) {
        own_resync *own = &factory->resyncs[factory->resync_count];
        own->resync_ms = resyncs[factory->resync_count].resync_ms;
        own->resource = ki_resource_new(resyncs[factory->resync_count].resource, NULL);
        if (own->resource == NULL)
            return KI_ERR_NO_MEMORY;
    }
    return 0;
}

ki_factory *ki_factory_new(ki_client *client, const ki_factory_options *options)
{
    static const ki_factory_options defaults = {0};
    if (options == NULL)
        options = &defaults;
    ki_factory *factory = client == NULL ? NULL : ki_calloc(1, sizeof(*factory));
    if (factory == NULL)
        return NULL;
    factory->client = client;
    ki_mutex_init(&factory->mu);
    if (ki_informer_setup_init(&factory->setup, &options->informer, NULL) < 0 ||
        copy_resyncs(factory, options->resync) < 0) {
        factory_fini(factory);
        return NULL;
    }
    return factory;
}

/* All are told to stop before the first one is waited for. */
void ki_factory_free(ki_factory *factory)
{
    if (factory == NULL)
        return;
    ki_factory_stop(factory);
    for (size_t i = 0; i < factory->count; i++)
        ki_informer_free(factory->informers[i]);
    factory_fini(factory);
}

/* ---- informers ---------------------------------------------------------------------------------------- */

static ki_informer *find_locked(const ki_factory *factory, const ki_resource *resource,
                                const ki_informer_setup *setup)
{
    for (size_t i = 0; i < factory->count; i++) {
        ki_informer *informer = factory->informers[i];
        if (ki_resource_equal(informer->resource, resource) &&
            ki_informer_setup_equal(&informer->setup, setup))
            return informer;
    }
    return NULL;
}

static int insert_locked(ki_factory *factory, ki_informer *informer)
{
    if (factory->count == factory->capacity) {
        size_t capacity = factory->capacity == 0 ? 8 : factory->capacity * 2;
        ki_informer **informers = ki_realloc(factory->informers, capacity * sizeof(ki_informer *));
        if (informers == NULL)
            return KI_ERR_NO_MEMORY;
        factory->informers = informers;
        factory->capacity = capacity;
    }
    factory->informers[factory->count++] = informer;
    return 0;
}

static void remember_locked(ki_factory *factory, const ki_error *err)
{
    if (factory->setup_error.code == 0)
        factory->setup_error = *err;
}

/* The informer is made without the lock, so another thread may have made the same one meanwhile. */
static ki_informer *informer_of(ki_factory *factory, const ki_resource *resource,
                                const ki_informer_setup *setup)
{
    ki_error err = {0};
    ki_mutex_lock(&factory->mu);
    ki_informer *informer = find_locked(factory, resource, setup);
    ki_mutex_unlock(&factory->mu);
    if (informer != NULL)
        return informer;
    ki_informer *fresh = ki_informer_new(factory->client, resource, &setup->options, &err);
    ki_mutex_lock(&factory->mu);
    informer = find_locked(factory, resource, setup);
    if (informer == NULL && fresh != NULL && insert_locked(factory, fresh) == 0) {
        informer = fresh;
        fresh = NULL;
    }
    if (informer == NULL) {
        if (err.code == 0)
            (void)ki_fail_no_memory(&err);
        remember_locked(factory, &err);
    }
    ki_mutex_unlock(&factory->mu);
    ki_informer_free(fresh);
    return informer;
}

ki_informer *ki_factory_informer_with(ki_factory *factory, const ki_resource *resource,
                                      const ki_informer_options *options)
{
    ki_informer_setup setup;
    ki_error err = {0};
    if (factory == NULL || resource == NULL)
        return NULL;
    if (ki_informer_setup_init(&setup, options, &err) < 0) {
        ki_mutex_lock(&factory->mu);
        remember_locked(factory, &err);
        ki_mutex_unlock(&factory->mu);
        return NULL;
    }
    ki_informer *informer = informer_of(factory, resource, &setup);
    ki_informer_setup_fini(&setup);
    return informer;
}

ki_informer *ki_factory_informer(ki_factory *factory, const ki_resource *resource)
{
    if (factory == NULL || resource == NULL)
        return NULL;
    ki_informer_options options = factory->setup.options;
    for (size_t i = 0; i < factory->resync_count; i++)
        if (ki_resource_equal(factory->resyncs[i].resource, resource))
            options.resync_ms = factory->resyncs[i].resync_ms;
    return ki_factory_informer_with(factory, resource, &options);
}

ki_informer *ki_factory_for_resource(ki_factory *factory, const char *name)
{
    ki_error err = {0};
    if (factory == NULL)
        return NULL;
    const ki_resource *known = ki_resource_find(ki_str_of(name), &err);
    if (known != NULL)
        return ki_factory_informer(factory, known);
    ki_resource *custom = ki_resource_parse(ki_str_of(name), NULL);
    ki_informer *informer = ki_factory_informer(factory, custom);
    if (custom == NULL) {
        ki_mutex_lock(&factory->mu);
        remember_locked(factory, &err);
        ki_mutex_unlock(&factory->mu);
    }
    ki_resource_free(custom);
    return informer;
}

/* ---- all of them -------------------------------------------------------------------------------------- */

/* Informers are removed by their user only, so one that was found here stays. */
static ki_informer *informer_at(ki_factory *factory, size_t i)
{
    ki_mutex_lock(&factory->mu);
    ki_informer *informer = i < factory->count ? factory->informers[i] : NULL;
    ki_mutex_unlock(&factory->mu);
    return informer;
}

int ki_factory_start(ki_factory *factory, ki_error *err)
{
    if (factory == NULL)
        return ki_fail(err, KI_ERR_INVALID, "there is no factory: no client, a bad option, or no memory");
    ki_mutex_lock(&factory->mu);
    ki_error first = factory->setup_error;
    factory->setup_error = (ki_error){0};
    ki_mutex_unlock(&factory->mu);
    ki_informer *informer = NULL;
    for (size_t i = 0; (informer = informer_at(factory, i)) != NULL; i++)
        (void)!ki_informer_start(informer, first.code == 0 ? &first : NULL);
    if (first.code != 0 && err != NULL)
        *err = first;
    return first.code;
}

void ki_factory_stop(ki_factory *factory)
{
    ki_informer *informer = NULL;
    if (factory == NULL)
        return;
    for (size_t i = 0; (informer = informer_at(factory, i)) != NULL; i++)
        ki_informer_request_stop(informer);
    for (size_t i = 0; (informer = informer_at(factory, i)) != NULL; i++)
        ki_informer_stop(informer);
}

size_t ki_factory_read_pending(ki_factory *factory, ki_factory_pending *out, size_t count)
{
    size_t pending = 0;
    ki_informer *informer = NULL;
    for (size_t i = 0; factory != NULL && (informer = informer_at(factory, i)) != NULL; i++) {
        if (ki_informer_has_synced(informer))
            continue;
        if (pending < count) {
            out[pending].informer = informer;
            ki_informer_read_status(informer, &out[pending].status);
        }
        pending++;
    }
    return pending;
}

/* "2 of 3 are not ready: pods: BACKING_OFF, Forbidden; nodes: LISTING", as far as there is room. */
static int fail_pending(ki_factory *factory, int code, ki_error *err)
{
    enum { NAMED_MAX = 4, TEXT_BYTES = KI_ERROR_MESSAGE_BYTES };
    ki_factory_pending pending[NAMED_MAX];
    char text[TEXT_BYTES] = "";
    size_t count = ki_factory_read_pending(factory, pending, NAMED_MAX);
    size_t len = 0;
    for (size_t i = 0; i < count && i < NAMED_MAX && len < sizeof(text); i++) {
        const ki_informer_status *status = &pending[i].status;
        const char *reason = ki_reason_name(status->reason);
        int n = snprintf(text + len, sizeof(text) - len, "%s%s: %s%s%s%s%s", i == 0 ? "" : "; ",
                         pending[i].informer->resource->plural, ki_phase_name(status->phase),
                         reason[0] == 0 ? "" : ", ", reason, status->message[0] == 0 ? "" : ": ",
                         status->message);
        len += n < 0 ? 0 : (size_t)n;
    }
    return ki_fail(err, code, "%zu not ready: %s", count, text);
}

int ki_factory_wait_for_sync(ki_factory *factory, uint64_t timeout_ms, ki_error *err)
{
    if (factory == NULL)
        return ki_fail(err, KI_ERR_INVALID, "no factory");
    const ki_clock *clock = factory->client->clock;
    uint64_t began_ms = ki_clock_now_ms(clock);
    ki_informer *informer = NULL;
    for (size_t i = 0; (informer = informer_at(factory, i)) != NULL; i++) {
        uint64_t passed_ms = ki_clock_now_ms(clock) - began_ms;
        int rc =
            ki_informer_wait_for_sync(informer, passed_ms < timeout_ms ? timeout_ms - passed_ms : 0, err);
        if (rc == KI_ERR_TIMEOUT || rc == KI_ERR_STOPPED)
            return fail_pending(factory, rc, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int take_out_locked(ki_factory *factory, const ki_informer *informer)
{
    for (size_t i = 0; i < factory->count; i++) {
        if (factory->informers[i] != informer)
            continue;
        if (ki_informer_has_handlers(factory->informers[i]))
            return 1;
        factory->informers[i] = factory->informers[--factory->count];
        return 0;
    }
    return KI_ERR_NOT_FOUND;
}

int ki_factory_remove(ki_factory *factory, ki_informer *informer)
{
    if (factory == NULL || informer == NULL)
        return KI_ERR_INVALID;
    ki_mutex_lock(&factory->mu);
    int rc = take_out_locked(factory, informer);
    ki_mutex_unlock(&factory->mu);
    if (rc == 0)
        ki_informer_free(informer);
    return rc;
}
