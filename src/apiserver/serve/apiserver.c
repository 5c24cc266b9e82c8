/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <kinformer/apiserver.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/serve/http.h"
#include "apiserver/serve/request_log.h"
#include "apiserver/serve/restart.h"
#include "apiserver/serve/server.h"
#include "apiserver/serve/simulate.h"
#include "apiserver/serve/tls.h"
#include "apiserver/verbs/verbs.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/file.h"
#include "util/fork.h"
#include "util/random.h"
#include "util/secret.h"

enum {
    BOOKMARK_MS = 60 * 1000,
    WATCHES_MAX = 10000,
    BODY_BYTES_MAX = 3 * 1024 * 1024,
    IN_FLIGHT_BYTES_MAX = 1024 * 1024 * 1024,
    PEM_BYTES_MAX = 1024 * 1024
};

/* ---- steps of the start -------------------------------------------------------------------------------- */

/* Copies the texts, none of which may be empty, to an array that ends with NULL. After a failure, `*out` has
 * the texts that were copied so far. */
static int copy_texts(const char *const *texts, const char *what, char ***out, ki_error *err)
{
    assert(*out == NULL);
    size_t count = 0;
    if (texts == NULL)
        return 0;
    while (texts[count] != NULL)
        if (texts[count++][0] == 0)
            return ki_fail(err, KI_ERR_INVALID, "a %s is empty", what);
    *out = ki_calloc(count + 1, sizeof(char *));
    if (*out == NULL)
        return ki_fail_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        (*out)[i] = ki_str_copy(ki_str_of(texts[i]));
        if ((*out)[i] == NULL)
            return ki_fail_no_memory(err);
    }
    return 0;
}

static int read_pem(const char *file, char **out, ki_error *err)
{
    assert(*out == NULL);
    ki_file_text text = {0};
    int rc = ki_file_read(file, PEM_BYTES_MAX, &text, err);
    if (rc < 0)
        return rc;
    *out = ki_str_copy((ki_str){text.data, text.len});
    ki_file_text_fini(&text);
    return *out == NULL ? ki_fail_no_memory(err) : 0;
}

static int check_tls(const struct ki_apiserver *server, const ki_apiserver_options *options, ki_error *err)
{
    ki_error why = {0};
    int rc = ki_as_tls_check(server->certificate, server->key, &why);
    if (rc != KI_ERR_INVALID)
        return rc == 0 ? 0 : ki_fail_no_memory(err);
    return ki_fail(err, KI_ERR_INVALID, "%s, %s: not a certificate and its key: %s",
                   options->certificate_file, options->key_file, why.message);
}

static int set_up_tls(struct ki_apiserver *server, const ki_apiserver_options *options, ki_error *err)
{
    bool has_certificate = options->certificate_file != NULL;
    if (has_certificate != (options->key_file != NULL))
        return ki_fail(err, KI_ERR_INVALID, "a certificate and its key must be set together");
    if (!has_certificate)
        return options->is_tls ? ki_as_tls_make(options->bind, &server->certificate, &server->key, err) : 0;
    int rc = read_pem(options->certificate_file, &server->certificate, err);
    if (rc == 0)
        rc = read_pem(options->key_file, &server->key, err);
    return rc == 0 ? check_tls(server, options, err) : rc;
}

static int set_url(struct ki_apiserver *server, ki_error *err)
{
    assert(server->address[0] != '\0' && server->url == NULL);
    size_t bytes = sizeof("https://") + sizeof(server->address);
    server->url = ki_malloc(bytes);
    if (server->url == NULL)
        return ki_fail_no_memory(err);
    snprintf(server->url, bytes, "http%s://%s", server->certificate == NULL ? "" : "s", server->address);
    return 0;
}

static int set_up_storage(struct ki_apiserver *server, const ki_apiserver_options *options, ki_error *err)
{
    assert(server->storage == NULL && server->faults == NULL);
    struct ki_as_failure failure = {0};
    struct ki_as_storage_options storage = {.history_events_max = options->history_events,
                                            .history_bytes_max = options->history_bytes,
                                            .objects_max = options->objects_max,
                                            .object_bytes_max = options->object_bytes_max,
                                            .first_version = options->first_version,
                                            .seed = options->seed};
    uint64_t seed = options->seed;
    if (seed == 0 && ki_random_system_seed(&seed) < 0)
        return ki_fail(err, KI_ERR_SYSTEM, "cannot get random numbers from the system");
    server->faults = ki_as_faults_new(seed);
    server->storage = ki_as_storage_new(&storage);
    server->requests = ki_as_request_log_new();
    if (server->faults == NULL || server->storage == NULL || server->requests == NULL)
        return ki_fail_no_memory(err);
    int rc = ki_as_seed(server->storage, &failure);
    const char *message = json_string_value(json_object_get(failure.status, "message"));
    if (rc < 0)
        rc = message == NULL ? ki_fail_no_memory(err)
                             : ki_fail(err, KI_ERR_INVALID, "cannot create the initial objects: %s", message);
    ki_as_failure_fini(&failure);
    return rc;
}

static void set_limits(struct ki_apiserver *server, const ki_apiserver_options *options)
{
    server->bookmark_ms = options->bookmark_ms == 0 ? BOOKMARK_MS : options->bookmark_ms;
    server->watches_max = options->watches_max == 0 ? WATCHES_MAX : options->watches_max;
    server->body_bytes_max = options->body_bytes_max == 0 ? BODY_BYTES_MAX : options->body_bytes_max;
    server->in_flight_bytes_max =
        options->in_flight_bytes_max == 0 ? IN_FLIGHT_BYTES_MAX : options->in_flight_bytes_max;
    server->allows_debug = options->allows_debug != 0;
    server->on_warning = options->on_warning;
    server->warning_user = options->user;
}

/* ---- from start to stop -------------------------------------------------------------------------------- */

static int start(struct ki_apiserver *server, const ki_apiserver_options *options, ki_error *err)
{
    struct ki_as_http_options http = {.bind = options->bind, .port = options->port};
    set_limits(server, options);
    int rc = ki_loop_init(&server->loop, &(ki_loop_options){.with_fd = 1}, err);
    if (rc == 0)
        rc = copy_texts(options->tokens, "token", &server->tokens, err);
    if (rc == 0)
        rc = copy_texts(options->hosts, "host", &server->hosts, err);
    if (rc == 0)
        rc = set_up_tls(server, options, err);
    if (rc == 0)
        rc = ki_as_http_open(server, &http, err);
    if (rc == 0)
        rc = set_url(server, err);
    if (rc == 0)
        rc = set_up_storage(server, options, err);
    if (rc == 0 && ki_as_restart_init(server) < 0)
        rc = ki_fail_no_memory(err);
    if (rc == 0)
        rc = ki_as_simulation_start(server, options, err);
    if (rc == 0)
        rc = ki_loop_grow(&server->loop, "as-wake", 1, err);
    return rc == 0 && !options->starts_down ? ki_as_http_start(server, err) : rc;
}

ki_apiserver *ki_apiserver_start(const ki_apiserver_options *options, ki_error *err)
{
    static const ki_apiserver_options defaults;
    struct ki_apiserver *server = ki_calloc(1, sizeof(*server));
    if (server == NULL) {
        (void)ki_fail_no_memory(err);
        return NULL;
    }
    server->generation = ki_fork_generation();
    ki_mutex_init(&server->mu);
    ki_mutex_init(&server->restart_mu);
    ki_list_init(&server->connections);
    ki_list_init(&server->exchanges);
    ki_list_init(&server->lingers);
    if (start(server, options == NULL ? &defaults : options, err) == 0)
        return server;
    ki_apiserver_free(server);
    return NULL;
}

int ki_as_check_process(const struct ki_apiserver *server, ki_error *err)
{
    if (server == NULL)
        return ki_fail_missing(err, "no server");
    return server->generation == ki_fork_generation()
               ? 0
               : ki_fail(err, KI_ERR_FORKED, "the server can only be used by the process that started it");
}

static bool is_of_no_use(const struct ki_apiserver *server)
{
    return ki_as_check_process(server, NULL) < 0;
}

/* In a forked child, this frees nothing: the threads that it would have to stop run only in the parent. */
void ki_apiserver_free(ki_apiserver *server)
{
    if (is_of_no_use(server))
        return;
    ki_as_restart_fini(server);
    ki_as_http_stop(server);
    ki_as_simulation_stop(server->simulation);
    ki_loop_stop(&server->loop);
    ki_loop_fini(&server->loop);
    ki_as_http_close(server->http);
    ki_as_storage_free(server->storage);
    ki_as_faults_free(server->faults);
    ki_as_request_log_free(server->requests);
    ki_secret_free_list(server->tokens);
    ki_secret_free_list(server->hosts);
    ki_secret_free(server->key);
    ki_free(server->certificate);
    ki_free(server->url);
    ki_mutex_fini(&server->mu);
    ki_mutex_fini(&server->restart_mu);
    ki_free(server);
}

const char *ki_apiserver_url(const ki_apiserver *server)
{
    return server == NULL ? "" : server->url;
}

const char *ki_apiserver_certificate(const ki_apiserver *server)
{
    return server == NULL ? NULL : server->certificate;
}

/* ---- faults -------------------------------------------------------------------------------------------- */

int ki_apiserver_fault(ki_apiserver *server, const ki_fault *fault, ki_error *err)
{
    int rc = ki_as_check_process(server, err);
    if (rc < 0)
        return rc;
    if (fault == NULL)
        return ki_fail(err, KI_ERR_INVALID, "no fault");
    return ki_as_faults_add(server->faults, fault, err);
}

void ki_apiserver_clear_faults(ki_apiserver *server)
{
    if (is_of_no_use(server))
        return;
    ki_as_faults_clear(server->faults);
    ki_as_http_clear_faults(server);
}

void ki_apiserver_compact(ki_apiserver *server)
{
    if (is_of_no_use(server))
        return;
    ki_as_storage_lock(server->storage);
    ki_as_storage_compact(server->storage);
    ki_as_storage_unlock(server->storage);
}

int ki_apiserver_rewind(ki_apiserver *server, uint64_t by, ki_error *err)
{
    int rc = ki_as_check_process(server, err);
    if (rc < 0)
        return rc;
    ki_as_storage_lock(server->storage);
    bool is_possible = by < ki_as_storage_version(server->storage);
    rc = is_possible ? ki_as_storage_rewind(server->storage, by) : KI_ERR_INVALID;
    ki_as_storage_unlock(server->storage);
    if (!is_possible)
        return ki_fail(err, KI_ERR_INVALID, "the history does not reach back that far");
    return rc < 0 ? ki_fail(err, rc, "%s", ki_error_text(rc)) : 0;
}

void ki_apiserver_cut(ki_apiserver *server, int is_reset)
{
    if (!is_of_no_use(server))
        ki_as_http_cut(server, is_reset != 0, NULL);
}

/* ---- requests ------------------------------------------------------------------------------------------ */

uint64_t ki_apiserver_requests(const ki_apiserver *server, uint64_t since, ki_apiserver_request_cb each,
                               void *user)
{
    return is_of_no_use(server) ? since : ki_as_request_log_read(server->requests, since, each, user);
}
