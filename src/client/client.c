/* SPDX-License-Identifier: Apache-2.0 */
#include "client/client.h"

#include <assert.h>

#include "client/callback.h"
#include "metrics/metrics.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/fork.h"
#include "util/log.h"

enum { IO, DISPATCH, HANDLERS, LOOPS };

/* ---- posts ------------------------------------------------------------------------------------------- */

typedef struct post {
    ki_list_node node;
    void (*callback)(void *user);
    void *user;
} post;

/* Calls the functions posted so far. If they post more, the job is woken again, after other jobs. Logs what
 * grow_locked() must not log. */
static void run_posts(ki_job *job)
{
    ki_client *client = KI_CONTAINER_OF(job, ki_client, post);
    ki_list taken;
    ki_list_init(&taken);
    ki_mutex_lock(&client->mu);
    assert(client->takes_no_posts || ki_loop_is_mine(client->io));
    bool logs_shortage = client->logs_shortage;
    client->logs_shortage = false;
    ki_list_splice_back(&taken, &client->posts);
    ki_mutex_unlock(&client->mu);
    if (logs_shortage)
        ki_log_to(client->log, KI_LOG_WARNING, "client", KI_LOG_NO_FIELDS,
                  "cannot start a handler thread: a slow callback delays others, and the renewal of a lease");
    for (ki_list_node *node = ki_list_pop_front(&taken); node != NULL; node = ki_list_pop_front(&taken)) {
        post *next = KI_CONTAINER_OF(node, post, node);
        next->callback(next->user);
        ki_free(next);
    }
}

/* Calls all posted functions. No more posts are accepted after this. */
static void run_last_posts(ki_client *client)
{
    ki_mutex_lock(&client->mu);
    assert(!client->takes_no_posts);
    client->takes_no_posts = true;
    ki_mutex_unlock(&client->mu);
    run_posts(&client->post);
}

int ki_client_post(ki_client *client, void (*callback)(void *user), void *user)
{
    if (client == NULL || callback == NULL)
        return KI_ERR_INVALID;
    if (ki_client_is_foreign(client))
        return KI_ERR_FORKED;
    post *fresh = ki_malloc(sizeof(*fresh));
    if (fresh == NULL)
        return KI_ERR_NO_MEMORY;
    *fresh = (post){.callback = callback, .user = user};
    ki_mutex_lock(&client->mu);
    bool is_taken = !client->takes_no_posts;
    if (is_taken) { /* wake under the lock: once it is released, the callback may free the client */
        ki_list_push_back(&client->posts, &fresh->node);
        ki_job_wake(&client->post);
    }
    ki_mutex_unlock(&client->mu);
    if (is_taken)
        return 0;
    ki_free(fresh);
    return KI_ERR_STOPPED;
}

/* ---- making and freeing ------------------------------------------------------------------------------ */

/* Assigns loops to the roles, according to the mode. */
static int init_loops(ki_client *client, ki_error *err)
{
    bool is_single = client->options.mode == KI_MODE_EVENT_LOOP;
    ki_loop_options plain = {.clock = client->clock, .log = client->log};
    ki_loop_options network = {
        .clock = client->clock, .with_fd = !client->clock->is_virtual, .log = client->log};
    bool is_simulated = client->clock->is_virtual && client->seed != 0;
    ki_loop_options polled = {.clock = client->clock,
                              .with_fd = client->options.mode != KI_MODE_THREADS && !is_simulated,
                              .log = client->log};
    client->handlers = &client->loops[HANDLERS];
    client->io = is_single ? client->handlers : &client->loops[IO];
    client->dispatch = is_single ? client->handlers : &client->loops[DISPATCH];
    int rc = ki_loop_init(client->handlers, &polled, err);
    if (rc == 0 && !is_single)
        rc = ki_loop_init(client->io, &network, err);
    if (rc == 0 && !is_single)
        rc = ki_loop_init(client->dispatch, &plain, err);
    if (rc == 0 && (ki_job_init(&client->post, client->io, run_posts) < 0 ||
                    ki_job_init(&client->close_job, client->dispatch, ki_client_close_again) < 0))
        rc = ki_fail_no_memory(err);
    return rc;
}

/* The hash has a secret key, because names of informers contain names of namespaces,
 * which others may choose. */
static int init_users(ki_client *client, ki_error *err)
{
    if (client->seed != 0)
        ki_hash_key_init_seeded(&client->hash_key, client->seed);
    else if (ki_hash_key_init(&client->hash_key) < 0)
        return ki_fail_no_random(err);
    ki_map_reserve(&client->names, 1);
    ki_map_reserve(&client->serials, 1);
    if (client->names.bucket_count == 0 || client->serials.bucket_count == 0)
        return ki_fail_no_memory(err);
    return 0;
}

/* The last reference is gone. The client was closed before that, or making it has failed. */
static void destroy(ki_client *client)
{
    assert(ki_list_is_empty(&client->users) && ki_list_is_empty(&client->posts));
    assert(client->busy == 0 && client->inside == 0);
    if (client->calls != NULL)
        client->calls->free(client->calls);
    ki_job_fini(&client->post);
    ki_job_fini(&client->close_job);
    for (int i = 0; i < LOOPS; i++)
        ki_loop_fini(&client->loops[i]);
    ki_metrics_free(client->metrics);
    ki_free(client->ns);
    ki_map_fini(&client->names);
    ki_map_fini(&client->serials);
    ki_write_gate_fini(&client->gate);
    ki_wire_memory_fini(&client->wires);
    ki_cond_fini(&client->changed);
    ki_mutex_fini(&client->mu);
    ki_free(client);
}

static void init_log(ki_client *client)
{
    const ki_client_options *options = &client->options;
    if (options->log == NULL)
        return;
    client->own_log = (ki_log_sink){options->log, options->log_user,
                                    options->log_level == 0 ? KI_LOG_INFO : (int)options->log_level};
    client->log = &client->own_log;
}

ki_client *ki_client_new_simulated(const ki_client_options *options, const ki_clock *clock, uint64_t seed,
                                   ki_error *err)
{
    assert(options != NULL && clock != NULL);
    ki_client *client = ki_calloc(1, sizeof(*client));
    if (client == NULL) {
        (void)ki_fail_no_memory(err);
        return NULL;
    }
    client->options = *options;
    client->clock = clock;
    client->seed = seed;
    client->generation = ki_fork_generation();
    ki_refcount_init(&client->refs);
    init_log(client);
    ki_mutex_init(&client->mu);
    ki_cond_init(&client->changed);
    ki_write_gate_init(&client->gate);
    ki_list_init(&client->users);
    ki_list_init(&client->posts);
    client->metrics = options->metrics != NULL ? ki_metrics_ref(options->metrics) : ki_metrics_new(NULL, err);
    if (client->metrics == NULL || init_loops(client, err) < 0 || init_users(client, err) < 0) {
        destroy(client);
        return NULL;
    }
    return client;
}

static int check(const ki_client_options *options, ki_error *err)
{
    if (options->mode < KI_MODE_THREADS || options->mode > KI_MODE_EVENT_LOOP)
        return ki_fail(err, KI_ERR_INVALID, "client: %d is not a mode", options->mode);
    if (options->handler_threads > 0 && options->mode != KI_MODE_THREADS)
        return ki_fail(err, KI_ERR_INVALID,
                       "client: handler_threads has no effect: handlers run on the program's loop");
    if (options->log_level < 0 || options->log_level > KI_LOG_TRACE)
        return ki_fail(err, KI_ERR_INVALID, "client: %d is not a log level", options->log_level);
    if (options->wire < KI_WIRE_AUTO || options->wire > KI_WIRE_PROTOBUF)
        return ki_fail(err, KI_ERR_INVALID, "client: %d is not a ki_wire", options->wire);
    return ki_fork_check(err);
}

ki_client *ki_client_new(const ki_client_options *options, ki_error *err)
{
    static const ki_client_options defaults = {0};
    if (options == NULL)
        options = &defaults;
    if (check(options, err) < 0)
        return NULL;
    ki_client *client = ki_client_new_simulated(options, ki_clock_real(), 0, err);
    if (client == NULL || options->source != NULL || options->no_cluster)
        return client;
    const ki_log_sink *log = ki_log_use(client->log);
    int rc = ki_client_connect_as_configured(client, err);
    (void)ki_log_use(log);
    if (rc < 0) {
        destroy(client);
        return NULL;
    }
    return client;
}

void ki_client_ref(ki_client *client)
{
    ki_refcount_ref(&client->refs);
}

void ki_client_unref(ki_client *client)
{
    if (ki_refcount_unref(&client->refs))
        destroy(client);
}

bool ki_client_is_foreign(const ki_client *client)
{
    return client->generation != ki_fork_generation();
}

int ki_client_check_process(const ki_client *client, ki_error *err)
{
    return ki_client_is_foreign(client)
               ? ki_fail(err, KI_ERR_FORKED, "the client belongs to the process that made it, not to a child")
               : 0;
}

ki_client_part *ki_client_calls(ki_client *client)
{
    return ki_client_set_calls(client, NULL);
}

ki_client_part *ki_client_set_calls(ki_client *client, ki_client_part *part)
{
    ki_mutex_lock(&client->mu);
    if (client->calls == NULL && !client->is_closing)
        client->calls = part;
    part = client->calls;
    ki_mutex_unlock(&client->mu);
    return part;
}

ki_metrics *ki_client_metrics(ki_client *client)
{
    return client == NULL ? NULL : client->metrics;
}

/* ---- threads ---------------------------------------------------------------------------------------- */

static size_t handler_threads_locked(const ki_client *client)
{
    KI_ASSERT_HELD(client->mu);
    size_t count = client->options.handler_threads;
    if (count == 0)
        count = client->handler_count == 0 ? 1 : client->handler_count;
    return count;
}

/* Starts missing threads; some may exist after a failed start. One handler thread is enough; more threads
 * only keep handlers from waiting for each other. */
static int run_locked(ki_client *client, ki_error *err)
{
    KI_ASSERT_HELD(client->mu);
    if (client->is_closing)
        return ki_fail(err, KI_ERR_STOPPED, "the client has been freed");
    if (client->options.mode == KI_MODE_EVENT_LOOP || client->clock->is_virtual)
        return 0; /* the program, or the driver of the clock, runs the loops */
    int rc = ki_loop_grow(client->io, "io", 1, err);
    if (rc == 0)
        rc = ki_loop_grow(client->dispatch, "dispatch", 1, err);
    if (rc == 0 && client->options.mode == KI_MODE_THREADS)
        rc = ki_loop_grow(client->handlers, "handler", 1, err);
    return rc;
}

/* With too few threads the client works, but a slow handler delays others. So this is logged, once until
 * there are enough again; by a job, since callers hold locks. */
static void grow_locked(ki_client *client)
{
    KI_ASSERT_HELD(client->mu);
    if (client->is_closing || !ki_loop_has_threads(client->handlers))
        return;
    bool was_short = client->is_short;
    client->is_short = ki_loop_grow(client->handlers, "handler", handler_threads_locked(client), NULL) < 0;
    if (client->is_short && !was_short) {
        client->logs_shortage = true;
        ki_job_wake(&client->post);
    }
}

int ki_client_run(ki_client *client, ki_error *err)
{
    int rc = ki_client_check_process(client, err);
    if (rc < 0)
        return rc;
    ki_mutex_lock(&client->mu);
    rc = run_locked(client, err);
    grow_locked(client);
    ki_mutex_unlock(&client->mu);
    return rc;
}

void ki_client_count_handlers(ki_client *client, int change)
{
    ki_mutex_lock(&client->mu);
    assert(change > 0 || client->handler_count > 0);
    client->handler_count += (size_t)(ptrdiff_t)change;
    grow_locked(client);
    ki_mutex_unlock(&client->mu);
}

/* ---- closing ----------------------------------------------------------------------------------------- */

static void announce(ki_client *client)
{
    ki_mutex_lock(&client->mu);
    assert(!client->is_closing);
    client->is_closing = true;
    for (ki_list_node *node = ki_list_first(&client->users); node != NULL;
         node = ki_list_next(&client->users, node))
        ki_job_wake(KI_CONTAINER_OF(node, ki_client_user, node)->job);
    ki_mutex_unlock(&client->mu);
}

/* Whether no user is busy, and the caller's wait is the only call inside. All other waits end: their
 * condition is met, or they fail. */
static bool is_quiet(void *user)
{
    const ki_client *client = user;
    KI_ASSERT_HELD(client->mu);
    return client->busy == 0 && client->inside == 1;
}

/* No thread runs io any more. Calls the last posted functions here; as on io, they must not wait. */
static void disconnect(ki_client *client)
{
    ki_loop_hold(client->io);
    ki_callback_enter();
    run_last_posts(client);
    ki_callback_leave();
    ki_http *http = client->http;
    ki_credentials *credentials = client->credentials;
    client->http = NULL; /* before the free, since a fork may happen at any moment */
    client->credentials = NULL;
    ki_http_free(http);
    ki_credentials_free(credentials);
    ki_loop_release(client->io);
}

/* Where waiting is not allowed, the free of an object leaves the rest to the loops. Either that free sees
 * is_closed and runs the loops itself, or the loop below does its work. */
static void close_loops(ki_client *client)
{
    assert(client->is_closing && !client->is_closed);
    for (int i = 0; i < LOOPS; i++)
        ki_loop_stop(&client->loops[i]);
    disconnect(client);
    for (int i = 0; i < LOOPS; i++)
        ki_loop_close_fd(&client->loops[i]);
    client->is_closed = true;
    while (ki_client_step(client)) {
    }
}

void ki_client_close(ki_client *client)
{
    if (ki_client_is_foreign(client))
        return;
    assert(client->is_closing);
    assert(ki_client_may_wait() == 0);
    ki_client_visit_begin();
    if (client->calls != NULL)
        client->calls->close(client->calls);
    (void)ki_client_wait(client, &(ki_wait){&client->mu, is_quiet, client, false}, UINT64_MAX);
    close_loops(client);
    ki_client_unref(client);
    ki_client_visit_end();
}

/* For a child process: closes its copies of the descriptors.
 * Does not touch the parent's connections and poll sets. */
static void close_descriptors(ki_client *client)
{
    ki_http_close_descriptors(client->http);
    for (int i = 0; i < LOOPS; i++)
        ki_loop_close_fd(&client->loops[i]);
}

void ki_client_free(ki_client *client)
{
    if (client == NULL)
        return;
    if (ki_client_is_foreign(client)) {
        close_descriptors(client);
        return;
    }
    announce(client);
    if (client->calls != NULL)
        client->calls->stop(client->calls);
    if (ki_client_may_wait() < 0 || ki_callback_is_in_worker())
        ki_client_close_later(client);
    else
        ki_client_close(client);
}
