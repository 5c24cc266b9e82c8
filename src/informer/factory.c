/* SPDX-License-Identifier: Apache-2.0 */
/* One lock guards the list of informers. It is not held while an informer is made, waited for or freed. Calls
 * that wait for an informer are counted, and the informer is not freed before they have ended. */
#include <kinformer/factory.h>
#include <stdio.h>

#include "client/callback.h"
#include "informer/informer.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/map.h"

typedef struct own_resync {
    ki_resource *resource;
    uint64_t resync_ms;
} own_resync;

/* An informer of the factory. It is kept while calls wait for it, even after it was removed. */
typedef struct member {
    ki_list_node node;
    ki_map_node by_setup; /* not linked after a removal */
    ki_map_node by_informer;
    ki_informer *informer;
    size_t waiting; /* calls of this factory that wait for it */
    bool is_removed;
} member;

struct ki_factory {
    ki_client *client; /* constant, like all members above mu */
    ki_hash_key hash_key;
    ki_reflector_setup setup;
    own_resync *resyncs;
    size_t resync_count;
    ki_error option_error; /* set if an option is invalid; then the factory makes no informers, and start and
                            * wait report this error */
    ki_refcount refs;      /* one for the owner and one for each waiting call, since a callback may free the
                            * factory meanwhile */
    ki_mutex mu;
    ki_list members;      /* guarded by mu, like all members below; in the order in which they were made */
    ki_map by_setup;      /* the members by resource and options */
    ki_map by_informer;   /* the members by informer */
    ki_error setup_error; /* the first error of the set-up; the next start reports it */
    bool is_freed;
};

/* ---- making and freeing ------------------------------------------------------------------------------ */

static member *member_of(ki_list_node *node)
{
    return KI_CONTAINER_OF(node, member, node);
}

static void factory_fini(ki_factory *factory)
{
    for (size_t i = 0; i < factory->resync_count; i++)
        ki_resource_free(factory->resyncs[i].resource);
    ki_free(factory->resyncs);
    ki_map_fini(&factory->by_setup);
    ki_map_fini(&factory->by_informer);
    ki_reflector_setup_fini(&factory->setup);
    ki_mutex_fini(&factory->mu);
    ki_client_unref(factory->client);
    ki_free(factory);
}

static int copy_resyncs(ki_factory *factory, const ki_factory_resync *resyncs, ki_error *err)
{
    size_t count = 0;
    while (resyncs != NULL && resyncs[count].resource != NULL)
        count++;
    if (count == 0)
        return 0;
    factory->resyncs = ki_calloc(count, sizeof(*factory->resyncs));
    if (factory->resyncs == NULL)
        return ki_fail_no_memory(err);
    for (; factory->resync_count < count; factory->resync_count++) {
        own_resync *own = &factory->resyncs[factory->resync_count];
        own->resync_ms = resyncs[factory->resync_count].resync_ms;
        own->resource = ki_resource_new(resyncs[factory->resync_count].resource, err);
        if (own->resource == NULL)
            return err->code;
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
    ki_client_ref(client);
    ki_refcount_init(&factory->refs);
    ki_mutex_init(&factory->mu);
    ki_list_init(&factory->members);
    int rc = ki_hash_key_init(&factory->hash_key);
    if (rc < 0)
        (void)ki_fail_no_random(&factory->option_error);
    else
        rc = ki_reflector_setup_init(&factory->setup, NULL, &options->informer, &factory->option_error);
    if (rc == 0)
        rc = copy_resyncs(factory, options->resync, &factory->option_error);
    if (rc == KI_ERR_NO_MEMORY) {
        factory_fini(factory);
        return NULL;
    }
    return factory;
}

static int refuse(const ki_factory *factory, ki_error *err)
{
    if (err != NULL)
        *err = factory->option_error;
    return factory->option_error.code;
}

/* ---- informers --------------------------------------------------------------------------------------- */

typedef struct sought {
    const ki_resource *resource;
    const ki_reflector_setup *setup;
} sought;

static int is_as_sought(const ki_map_node *node, const void *key)
{
    const sought *s = key;
    const ki_informer *informer = KI_CONTAINER_OF(node, member, by_setup)->informer;
    return ki_resource_equal(informer->life.resource, s->resource) &&
           ki_reflector_setup_equal(&informer->life.setup, s->setup);
}

static uint64_t hash_of(const ki_factory *factory, const sought *s)
{
    return ki_reflector_setup_hash(s->setup, s->resource, &factory->hash_key);
}

static ki_informer *find_locked(const ki_factory *factory, const sought *s)
{
    ki_map_node *node = ki_map_find(&factory->by_setup, hash_of(factory, s), is_as_sought, s);
    return node == NULL ? NULL : KI_CONTAINER_OF(node, member, by_setup)->informer;
}

static uint64_t hash_address(const ki_informer *informer)
{
    return (uint64_t)(uintptr_t)informer / sizeof(ki_informer);
}

static int insert_locked(ki_factory *factory, ki_informer *informer, const sought *s)
{
    member *fresh = ki_calloc(1, sizeof(*fresh));
    if (fresh == NULL)
        return KI_ERR_NO_MEMORY;
    fresh->informer = informer;
    int rc = ki_map_insert(&factory->by_setup, &fresh->by_setup, hash_of(factory, s));
    if (rc == 0) {
        rc = ki_map_insert(&factory->by_informer, &fresh->by_informer, hash_address(informer));
        if (rc < 0)
            ki_map_remove(&factory->by_setup, &fresh->by_setup);
    }
    if (rc == 0)
        ki_list_push_back(&factory->members, &fresh->node);
    else
        ki_free(fresh);
    return rc;
}

static void remember_locked(ki_factory *factory, const ki_error *err)
{
    if (factory->setup_error.code == 0)
        factory->setup_error = *err;
}

static ki_informer *remember(ki_factory *factory, const ki_error *err)
{
    ki_mutex_lock(&factory->mu);
    remember_locked(factory, err);
    ki_mutex_unlock(&factory->mu);
    return NULL;
}

/* The informer is made without the lock, so another thread may have made the same one meanwhile. */
static ki_informer *informer_of(ki_factory *factory, const sought *s)
{
    ki_error err = {0};
    ki_mutex_lock(&factory->mu);
    ki_informer *informer = find_locked(factory, s);
    ki_mutex_unlock(&factory->mu);
    if (informer != NULL)
        return informer;
    ki_informer *fresh = ki_informer_new(factory->client, s->resource, &s->setup->options, &err);
    ki_mutex_lock(&factory->mu);
    informer = find_locked(factory, s);
    if (informer == NULL && fresh != NULL && insert_locked(factory, fresh, s) == 0) {
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

static ki_informer *informer_with(ki_factory *factory, const ki_resource *resource,
                                  const ki_informer_options *options)
{
    ki_reflector_setup setup;
    ki_error err = {0};
    if (factory == NULL || factory->option_error.code != 0 || ki_client_is_foreign(factory->client))
        return NULL;
    if (resource == NULL)
        (void)ki_fail(&err, KI_ERR_INVALID, "factory: no resource");
    if (resource == NULL || ki_reflector_setup_init(&setup, resource, options, &err) < 0)
        return remember(factory, &err);
    ki_informer *informer = informer_of(factory, &(sought){resource, &setup});
    ki_reflector_setup_fini(&setup);
    return informer;
}

/* The factory's options for a resource. The namespace applies to namespaced resources only. */
static ki_informer_options options_for(const ki_factory *factory, const ki_resource *resource)
{
    ki_informer_options options = factory->setup.options;
    if (resource != NULL && resource->scope == KI_SCOPE_CLUSTER)
        options.ns = "";
    for (size_t i = 0; resource != NULL && i < factory->resync_count; i++)
        if (ki_resource_equal(factory->resyncs[i].resource, resource))
            options.resync_ms = factory->resyncs[i].resync_ms;
    return options;
}

ki_informer *ki_factory_informer(ki_factory *factory, const ki_resource *resource,
                                 const ki_informer_options *options)
{
    if (factory == NULL)
        return NULL;
    if (options != NULL)
        return informer_with(factory, resource, options);
    ki_informer_options usual = options_for(factory, resource);
    return informer_with(factory, resource, &usual);
}

ki_informer *ki_factory_for_resource(ki_factory *factory, ki_str name, const ki_informer_options *options)
{
    ki_error err = {0};
    if (factory == NULL || ki_client_is_foreign(factory->client))
        return NULL;
    const ki_resource *known = ki_resource_find(name, &err);
    if (known != NULL)
        return ki_factory_informer(factory, known, options);
    ki_resource *custom = ki_resource_parse(name, NULL);
    if (custom == NULL)
        return remember(factory, &err);
    ki_informer *informer = ki_factory_informer(factory, custom, options);
    ki_resource_free(custom);
    return informer;
}

/* ---- one after the other ----------------------------------------------------------------------------- */

/* The member after `before`, or the first if that is NULL; skips removed members. */
static member *next_locked(const ki_factory *factory, const member *before)
{
    ki_list_node *node =
        before == NULL ? ki_list_first(&factory->members) : ki_list_next(&factory->members, &before->node);
    while (node != NULL && member_of(node)->is_removed)
        node = ki_list_next(&factory->members, node);
    return node == NULL ? NULL : member_of(node);
}

static int is_informer(const ki_map_node *node, const void *key)
{
    return KI_CONTAINER_OF(node, member, by_informer)->informer == key;
}

static member *member_locked(const ki_factory *factory, const ki_informer *informer)
{
    ki_map_node *node = ki_map_find(&factory->by_informer, hash_address(informer), is_informer, informer);
    return node == NULL ? NULL : KI_CONTAINER_OF(node, member, by_informer);
}

static void take_out_locked(ki_factory *factory, member *out)
{
    ki_list_remove(&out->node);
    ki_map_remove(&factory->by_informer, &out->by_informer);
    if (!out->is_removed)
        ki_map_remove(&factory->by_setup, &out->by_setup);
    ki_free(out);
}

/* Borrows the next member, so that the caller can wait for it without the lock; give_back() returns it.
 * Informers may be added and removed meanwhile, but `before` stays in the list,
 * since it has not been given back yet. */
static member *borrow_next(ki_factory *factory, const member *before)
{
    ki_mutex_lock(&factory->mu);
    member *next = next_locked(factory, before);
    if (next != NULL)
        next->waiting++;
    ki_mutex_unlock(&factory->mu);
    return next;
}

/* The last call that waits for a removed informer frees it. Returns whether the informer was removed. */
static bool give_back(ki_factory *factory, member *given)
{
    ki_mutex_lock(&factory->mu);
    ki_informer *informer = given->informer;
    bool is_removed = given->is_removed;
    bool is_last = --given->waiting == 0 && is_removed;
    if (is_last)
        take_out_locked(factory, given);
    ki_mutex_unlock(&factory->mu);
    if (is_last)
        ki_informer_free(informer);
    return is_removed;
}

/* ---- all of them ------------------------------------------------------------------------------------- */

int ki_factory_start(ki_factory *factory, ki_error *err)
{
    if (factory == NULL)
        return ki_fail_missing(err, "no factory: no client, or out of memory");
    if (factory->option_error.code != 0)
        return refuse(factory, err);
    int rc = ki_client_check_process(factory->client, err);
    if (rc < 0)
        return rc;
    ki_mutex_lock(&factory->mu);
    ki_error first = factory->setup_error;
    factory->setup_error = (ki_error){0};
    for (member *next = NULL; (next = next_locked(factory, next)) != NULL;)
        (void)!ki_informer_start(next->informer, first.code == 0 ? &first : NULL);
    ki_mutex_unlock(&factory->mu);
    if (first.code != 0 && err != NULL)
        *err = first;
    return first.code;
}

static void factory_unref(ki_factory *factory)
{
    if (ki_refcount_unref(&factory->refs))
        factory_fini(factory);
}

static void wait_until_stopped(ki_factory *factory)
{
    member *next = NULL;
    for (member *each = borrow_next(factory, NULL); each != NULL; each = next) {
        ki_informer_stop(each->informer);
        next = borrow_next(factory, each);
        (void)give_back(factory, each);
    }
}

/* All are asked to stop before the wait for the first one. */
void ki_factory_stop(ki_factory *factory)
{
    if (factory == NULL || ki_client_is_foreign(factory->client))
        return;
    ki_refcount_ref(&factory->refs); /* a callback that notices the stop may free the factory */
    ki_mutex_lock(&factory->mu);
    for (member *next = NULL; (next = next_locked(factory, next)) != NULL;)
        ki_life_request_stop(&next->informer->life);
    ki_mutex_unlock(&factory->mu);
    if (ki_client_may_wait() == 0)
        wait_until_stopped(factory);
    factory_unref(factory);
}

static size_t read_pending_locked(const ki_factory *factory, ki_factory_pending *out, size_t count)
{
    size_t pending = 0;
    for (member *next = NULL; (next = next_locked(factory, next)) != NULL;) {
        if (ki_informer_has_synced(next->informer))
            continue;
        if (pending < count) {
            out[pending].informer = next->informer;
            ki_informer_read_status(next->informer, &out[pending].status);
        }
        pending++;
    }
    return pending;
}

size_t ki_factory_read_pending(const ki_factory *factory, ki_factory_pending *out, size_t count)
{
    if (factory == NULL || ki_client_is_foreign(factory->client))
        return 0;
    ki_mutex_lock(&factory->mu);
    size_t pending = read_pending_locked(factory, out, count);
    ki_mutex_unlock(&factory->mu);
    return pending;
}

static int write_pending(const ki_factory_pending *pending, char *buffer, size_t bytes)
{
    const ki_informer_status *status = &pending->status;
    const char *reason = ki_reason_name(status->reason);
    return snprintf(buffer, bytes, "%s: %s%s%s%s%s", pending->informer->life.name,
                    ki_phase_name(status->phase), reason[0] == 0 ? "" : ", ", reason,
                    status->message[0] == 0 ? "" : ": ", status->message);
}

/* "2 not ready: pods: BACKING_OFF, Forbidden; nodes: LISTING", as far as they fit. */
static int fail_pending(ki_factory *factory, int code, ki_error *err)
{
    enum { NAMED_MAX = 4, TEXT_BYTES = KI_ERROR_MESSAGE_BYTES };
    ki_factory_pending pending[NAMED_MAX];
    char text[TEXT_BYTES] = "";
    size_t len = 0;
    ki_mutex_lock(&factory->mu);
    size_t count = read_pending_locked(factory, pending, NAMED_MAX);
    for (size_t i = 0; i < count && i < NAMED_MAX && len < sizeof(text) - 2; i++) {
        if (i > 0)
            len += (size_t)snprintf(text + len, sizeof(text) - len, "; ");
        int n = write_pending(&pending[i], text + len, sizeof(text) - len);
        len += n < 0 ? 0 : (size_t)n;
    }
    ki_mutex_unlock(&factory->mu);
    return count == 0 ? 0 : ki_fail(err, code, "%zu not ready: %s", count, text);
}

static int fail_freed(ki_factory *factory, ki_error *err)
{
    ki_mutex_lock(&factory->mu);
    bool is_freed = factory->is_freed;
    ki_mutex_unlock(&factory->mu);
    return is_freed ? ki_fail(err, KI_ERR_STOPPED, "factory: freed during the wait") : 0;
}

/* Skips an informer that is removed during the wait. */
static int wait_for_all(ki_factory *factory, uint64_t timeout_ms, ki_error *err)
{
    const ki_clock *clock = factory->client->clock;
    uint64_t began_ms = ki_clock_now_ms(clock);
    member *next = NULL;
    for (member *each = borrow_next(factory, NULL); each != NULL; each = next) {
        ki_informer *informer = each->informer;
        uint64_t passed_ms = ki_clock_now_ms(clock) - began_ms;
        uint64_t left_ms = passed_ms < timeout_ms ? timeout_ms - passed_ms : 0;
        int rc =
            ki_life_was_started(&informer->life) ? ki_informer_wait_for_sync(informer, left_ms, NULL) : 0;
        next = borrow_next(factory, each);
        bool is_removed = give_back(factory, each);
        if (rc < 0 && !is_removed) {
            if (next != NULL)
                (void)give_back(factory, next);
            return fail_pending(factory, rc, err);
        }
    }
    return fail_freed(factory, err);
}

int ki_factory_wait_for_sync(ki_factory *factory, uint64_t timeout_ms, ki_error *err)
{
    if (factory == NULL)
        return ki_fail_missing(err, "no factory");
    if (factory->option_error.code != 0)
        return refuse(factory, err);
    int rc = ki_client_check_process(factory->client, err);
    if (rc < 0)
        return rc;
    if (ki_client_may_wait() < 0)
        return ki_fail(err, KI_ERR_WOULD_DEADLOCK, "factory: cannot wait in a callback or a read section");
    ki_refcount_ref(&factory->refs);
    rc = wait_for_all(factory, timeout_ms, err);
    factory_unref(factory);
    return rc;
}

/* ---- one of them ------------------------------------------------------------------------------------- */

/* Returns whether the caller frees the informer. Otherwise calls wait for it: they are woken,
 * and the last one frees it. */
static bool forget_locked(ki_factory *factory, member *out)
{
    if (out->waiting == 0) {
        take_out_locked(factory, out);
        return true;
    }
    out->is_removed = true;
    ki_map_remove(&factory->by_setup, &out->by_setup);
    ki_informer_abandon(out->informer);
    return false;
}

int ki_factory_remove(ki_factory *factory, ki_informer *informer)
{
    if (factory == NULL || informer == NULL)
        return KI_ERR_INVALID;
    int rc = ki_client_check_process(factory->client, NULL);
    if (rc < 0)
        return rc;
    ki_refcount_ref(&factory->refs); /* as in ki_factory_stop() */
    ki_mutex_lock(&factory->mu);
    member *found = member_locked(factory, informer);
    rc = found == NULL || found->is_removed ? KI_ERR_NOT_FOUND : ki_informer_has_handlers(informer);
    uint64_t serial = rc == 0 ? informer->life.alive.serial : 0;
    bool is_mine = rc == 0 && forget_locked(factory, found);
    ki_mutex_unlock(&factory->mu);
    if (is_mine)
        ki_informer_free(informer);
    else if (rc == 0)
        ki_client_wait_gone(factory->client, serial);
    factory_unref(factory);
    return rc;
}

/* ---- freeing ----------------------------------------------------------------------------------------- */

static member *mark_freed(ki_factory *factory)
{
    ki_mutex_lock(&factory->mu);
    factory->is_freed = true;
    member *first = next_locked(factory, NULL);
    ki_mutex_unlock(&factory->mu);
    return first;
}

/* Like ki_factory_remove(), but also removes an informer that has handlers. */
static void remove_whole(ki_factory *factory, member *out)
{
    ki_informer *informer = out->informer;
    uint64_t serial = informer->life.alive.serial;
    ki_mutex_lock(&factory->mu);
    bool is_mine = forget_locked(factory, out);
    ki_mutex_unlock(&factory->mu);
    if (is_mine)
        ki_informer_free(informer);
    else
        ki_client_wait_gone(factory->client, serial);
}

/* All are asked to stop before the wait for the first one. */
void ki_factory_free(ki_factory *factory)
{
    if (factory == NULL || ki_client_is_foreign(factory->client))
        return;
    ki_factory_stop(factory);
    for (member *first = mark_freed(factory); first != NULL; first = mark_freed(factory))
        remove_whole(factory, first);
    factory_unref(factory);
}
