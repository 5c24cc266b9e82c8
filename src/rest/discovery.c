/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a resource by name, with as many calls as necessary, one after another. */
#include <assert.h>
#include <kinformer/discovery.h>
#include <kinformer/rest.h>
#include <string.h>

#include "api/resource/discovery_decoder.h"
#include "client/callback.h"
#include "client/client.h"
#include "util/alloc.h"
#include "util/error.h"

#define PATHS_BYTES_MAX ((size_t)1024 * 1024)

enum { SHOWN_BYTES_MAX = 100 };

/* In order of preference. Servers before 1.26 only understand the last one. */
static const char accept_all[] = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
                                 "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
                                 "application/json";

typedef struct discovery {
    ki_client *client;
    char *name;
    uint64_t timeout_ms;
    ki_discovery_cb on_end;
    void *user;
    ki_discovery_search search;
    ki_buf paths; /* paths still to be requested, each with its NUL */
    size_t at;
    bool has_begun;   /* the first response was processed */
    ki_error failure; /* the failure of the first group that failed; other groups may still succeed */
} discovery;

static void free_discovery(discovery *d)
{
    ki_discovery_search_fini(&d->search);
    ki_buf_fini(&d->paths);
    ki_free(d->name);
    ki_free(d);
}

/* ---- ends -------------------------------------------------------------------------------------------- */

static void end(discovery *d, ki_resource *found, const ki_error *err)
{
    assert((found == NULL) == (err->code != 0));
    ki_discovery_cb on_end = d->on_end;
    void *user = d->user;
    ki_error copy = *err;
    free_discovery(d);
    on_end(found, &copy, user);
}

static void end_search(discovery *d)
{
    ki_error err = {0};
    ki_resource *found = d->search.best;
    d->search.best = NULL;
    if (found == NULL && d->search.is_unwatched)
        (void)ki_fail(&err, KI_ERR_TYPE, "the server has \"%.*s\", which cannot be listed and watched",
                      SHOWN_BYTES_MAX, d->name);
    else if (found == NULL && d->failure.code != 0)
        err = d->failure;
    else if (found == NULL)
        (void)ki_fail(&err, KI_ERR_RESOURCE, "the server has no resource \"%.*s\"", SHOWN_BYTES_MAX, d->name);
    end(d, found, &err);
}

/* ---- one call after the other ------------------------------------------------------------------------ */

static void on_answer(const ki_rest_answer *answer, void *user);

static int ask(discovery *d, const char *path, const char *accept, ki_error *err)
{
    ki_rest_request request = {.verb = KI_REST_GET,
                               .path = path,
                               .accept = accept,
                               .timeout_ms = d->timeout_ms,
                               .on_answer = on_answer,
                               .user = d};
    return ki_rest_begin(d->client, &request, NULL, err);
}

static void go_on(discovery *d)
{
    assert(d->at <= d->paths.len);
    ki_error err = {0};
    if (d->search.rank == 0 || d->at == d->paths.len) {
        end_search(d);
        return;
    }
    const char *path = d->paths.data + d->at;
    d->at += strlen(path) + 1;
    if (ask(d, path, NULL, &err) < 0)
        end(d, NULL, &err);
}

static void note_failure(discovery *d, const ki_error *err)
{
    if (d->failure.code == 0)
        d->failure = *err;
}

/* Continues after the failure of one group, since the resource may be in another. */
static void on_answer(const ki_rest_answer *answer, void *user)
{
    discovery *d = user;
    KI_ASSERT_ON(d->client->handlers);
    ki_error err = answer->error;
    if (err.code == 0) {
        int rc = ki_discovery_search_take(&d->search, answer->body, &d->paths);
        if (rc == KI_ERR_NO_MEMORY)
            (void)ki_fail_no_memory(&err);
        else if (rc < 0)
            (void)ki_fail(&err, rc, "the server's list of resources cannot be read");
    }
    bool is_first = !d->has_begun;
    d->has_begun = true;
    if (err.code != 0 && (is_first || err.code == KI_ERR_STOPPED || err.code == KI_ERR_NO_MEMORY)) {
        end(d, NULL, &err);
        return;
    }
    if (err.code != 0)
        note_failure(d, &err);
    go_on(d);
}

/* ---- the calls --------------------------------------------------------------------------------------- */

static discovery *make(ki_client *client, const ki_discovery_request *request)
{
    assert(request->name.len > 0 && request->on_end != NULL);
    discovery *d = ki_calloc(1, sizeof(*d));
    if (d == NULL)
        return NULL;
    d->client = client;
    d->timeout_ms = request->timeout_ms;
    d->on_end = request->on_end;
    d->user = request->user;
    ki_buf_init(&d->paths, PATHS_BYTES_MAX);
    d->name = ki_str_copy(request->name);
    if (d->name == NULL) {
        free_discovery(d);
        return NULL;
    }
    ki_discovery_search_init(&d->search, (ki_str){d->name, request->name.len});
    return d;
}

int ki_discovery_begin(ki_client *client, const ki_discovery_request *request, ki_error *err)
{
    if (client == NULL)
        return ki_fail_missing(err, "discovery: no client");
    if (request == NULL || request->name.len == 0 || request->on_end == NULL)
        return ki_fail(err, KI_ERR_INVALID, "discovery: name and callback are required");
    discovery *d = make(client, request);
    if (d == NULL)
        return ki_fail_no_memory(err);
    int rc = ask(d, "/apis", accept_all, err);
    if (rc < 0)
        free_discovery(d);
    return rc;
}

/* ---- waiting ----------------------------------------------------------------------------------------- */

typedef struct waiter {
    ki_client *client;
    ki_mutex mu;
    ki_resource *found; /* guarded by mu, like all below */
    ki_error err;
    bool is_done;
} waiter;

static void wake(ki_resource *found, const ki_error *err, void *user)
{
    waiter *w = user;
    ki_mutex_lock(&w->mu);
    assert(!w->is_done);
    w->found = found;
    w->err = *err;
    w->is_done = true;
    ki_client_notify(w->client);
    ki_mutex_unlock(&w->mu);
}

static bool is_done(void *user)
{
    const waiter *w = user;
    KI_ASSERT_HELD(w->mu);
    return w->is_done;
}

static int wait_for(waiter *w, ki_str name, ki_error *err)
{
    int rc =
        ki_discovery_begin(w->client, &(ki_discovery_request){.name = name, .on_end = wake, .user = w}, err);
    if (rc < 0)
        return rc;
    (void)ki_client_wait(w->client, &(ki_wait){&w->mu, is_done, w, false}, UINT64_MAX);
    if (w->found == NULL && err != NULL)
        *err = w->err;
    return w->found != NULL ? 0 : w->err.code;
}

int ki_discovery_run(ki_client *client, ki_str name, ki_resource **out_resource, ki_error *err)
{
    waiter w = {.client = client};
    if (out_resource == NULL)
        return ki_fail(err, KI_ERR_INVALID, "discovery: the output pointer must not be NULL");
    if (client == NULL)
        return ki_fail_missing(err, "discovery: no client");
    if (ki_client_check_process(client, err) < 0)
        return KI_ERR_FORKED;
    if (ki_client_may_wait() < 0)
        return ki_fail(err, KI_ERR_WOULD_DEADLOCK, "discovery: cannot wait in a callback or a read section");
    ki_mutex_init(&w.mu);
    /* Another thread may free the client when the discovery has ended, before this one waits. */
    ki_client_ref(client);
    int rc = wait_for(&w, name, err);
    ki_client_unref(client);
    if (rc == 0)
        *out_resource = w.found;
    ki_mutex_fini(&w.mu);
    return rc;
}
