/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/client.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cache/rcu.h"
#include "metrics/metrics.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/log.h"
#include "util/units.h"

enum { IO, DISPATCH, HANDLERS, LOOPS, NS_PER_MS = 1000000 };

/* ---- posts ------------------------------------------------------------------------------------------- */

typedef struct post {
    ki_list_node node;
    void (*callback)(void *user);
    void *user;
} post;

/* Those that are there now. What they post wakes the job again, behind the others. */
static void run_posts(ki_job *job)
{
    ki_client *client = KI_CONTAINER_OF(job, ki_client, post);
    ki_list taken;
    ki_list_init(&taken);
    ki_mutex_lock(&client->mu);
    ki_list_splice_back(&taken, &client->posts);
    ki_mutex_unlock(&client->mu);
    for (ki_list_node *node = ki_list_pop_front(&taken); node != NULL; node = ki_list_pop_front(&taken)) {
        post *next = KI_CONTAINER_OF(node, post, node);
        next->callback(next->user);
        ki_free(next);
    }
}

/* Nothing that was posted is forgotten, and nothing is posted from here on. */
static void run_last_posts(ki_client *client)
{
    ki_mutex_lock(&client->mu);
    client->takes_no_posts = true;
    ki_mutex_unlock(&client->mu);
    run_posts(&client->post);
}

int ki_client_post(ki_client *client, void (*callback)(void *user), void *user)
{
    if (client == NULL || callback == NULL)
        return KI_ERR_INVALID;
    post *fresh = ki_malloc(sizeof(*fresh));
    if (fresh == NULL)
        return KI_ERR_NO_MEMORY;
    *fresh = (post){.callback = callback, .user = user};
    ki_mutex_lock(&client->mu);
    bool is_taken = !client->takes_no_posts;
    if (is_taken)
        ki_list_push_back(&client->posts, &fresh->node);
    ki_mutex_unlock(&client->mu);
    if (!is_taken) {
        ki_free(fresh);
        return KI_ERR_STOPPED;
    }
    ki_job_wake(&client->post);
    return 0;
}

/* ---- making and freeing ------------------------------------------------------------------------------ */

static void nothing(ki_job *job)
{
    (void)job;
}

/* Which loop plays which role, by mode. */
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
    if (rc == 0 && (ki_job_init(&client->nudge, client->handlers, nothing) < 0 ||
                    ki_job_init(&client->post, client->io, run_posts) < 0))
        rc = ki_fail_no_memory(err);
    return rc;
}

/* Names of informers hold names of namespaces, which others may choose. */
static int init_users(ki_client *client, ki_error *err)
{
    if (client->seed != 0)
        ki_hash_key_init_seeded(&client->hash_key, client->seed);
    else if (ki_hash_key_init(&client->hash_key) < 0)
        return ki_fail(err, KI_ERR_SYSTEM, "the system gives no random bytes");
    ki_map_reserve(&client->names, 1);
    ki_map_reserve(&client->serials, 1);
    if (client->names.bucket_count == 0 || client->serials.bucket_count == 0)
        return ki_fail_no_memory(err);
    return 0;
}

static void destroy(ki_client *client)
{
    for (int i = 0; i < LOOPS; i++)
        if (client->loops[i].clock != NULL)
            ki_loop_stop(&client->loops[i]);
    run_last_posts(client);
    if (client->calls != NULL)
        client->calls->free(client->calls);
    ki_http_free(client->http);
    ki_credentials_free(client->credentials);
    ki_job_fini(&client->post);
    ki_job_fini(&client->nudge);
    for (int i = 0; i < LOOPS; i++)
        ki_loop_fini(&client->loops[i]);
    ki_metrics_free(client->metrics);
    ki_free(client->ns);
    ki_map_fini(&client->names);
    ki_map_fini(&client->serials);
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
                                    options->log_level == 0 ? KI_LOG_INFO : options->log_level};
    client->log = &client->own_log;
}

ki_client *ki_client_new_simulated(const ki_client_options *options, const ki_clock *clock, uint64_t seed,
                                   ki_error *err)
{
    ki_client *client = ki_calloc(1, sizeof(*client));
    if (client == NULL) {
        (void)ki_fail_no_memory(err);
        return NULL;
    }
    client->options = *options;
    client->clock = clock;
    client->seed = seed;
    init_log(client);
    ki_mutex_init(&client->mu);
    ki_cond_init(&client->changed);
    ki_list_init(&client->users);
    ki_list_init(&client->posts);
    client->metrics = options->metrics != NULL ? ki_metrics_ref(options->metrics) : ki_metrics_new(NULL, err);
    if (client->metrics == NULL || init_loops(client, err) < 0 || init_users(client, err) < 0) {
        destroy(client);
        return NULL;
    }
    return client;
}

ki_client *ki_client_new(const ki_client_options *options, ki_error *err)
{
    static const ki_client_options defaults = {0};
    if (options == NULL)
        options = &defaults;
    if (options->mode < KI_MODE_THREADS || options->mode > KI_MODE_EVENT_LOOP) {
        ki_error_set(err, KI_ERR_INVALID, 0, "client: %d is no mode", options->mode);
        return NULL;
    }
    if (options->log_level < 0 || options->log_level > KI_LOG_TRACE) {
        ki_error_set(err, KI_ERR_INVALID, 0, "client: %d is no level of a log", options->log_level);
        return NULL;
    }
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

static bool is_alone(void *user)
{
    const ki_client *client = user;
    return ki_list_is_empty(&client->users);
}

/* What was freed from a callback may still be on its way out. */
void ki_client_free(ki_client *client)
{
    if (client == NULL)
        return;
    if (ki_client_may_wait() < 0) { /* it would wait for itself; better a leak than that */
        ki_log_to(client->log, KI_LOG_ERROR, "client", KI_LOG_NO_FIELDS,
                  "a client cannot be freed inside of a callback or a read section: it stays");
        return;
    }
    ki_client_part *calls = ki_client_calls(client);
    if (calls != NULL)
        calls->close(calls);
    ki_mutex_lock(&client->mu);
    bool is_used = !ki_list_is_empty(&client->users);
    ki_mutex_unlock(&client->mu);
    if (is_used)
        ki_log_to(client->log, KI_LOG_WARNING, "client", KI_LOG_NO_FIELDS,
                  "a client is freed before what was made with it: waiting until that is freed");
    (void)ki_client_wait(client, &(ki_wait){&client->mu, &client->changed, is_alone, client}, UINT64_MAX);
    destroy(client);
}

ki_client_part *ki_client_calls(ki_client *client)
{
    return ki_client_set_calls(client, NULL);
}

ki_client_part *ki_client_set_calls(ki_client *client, ki_client_part *part)
{
    ki_mutex_lock(&client->mu);
    if (client->calls == NULL)
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
    size_t count = client->options.handler_threads;
    if (count == 0)
        count = client->handler_count == 0 ? 1 : client->handler_count;
    return count;
}

static int run_locked(ki_client *client, ki_error *err)
{
    if (client->options.mode == KI_MODE_EVENT_LOOP || client->is_running)
        return 0;
    client->is_running = true; /* from here on nobody else runs what the threads do */
    int rc = ki_loop_grow(client->io, "io", 1, err);
    if (rc == 0)
        rc = ki_loop_grow(client->dispatch, "dispatch", 1, err);
    if (rc == 0 && client->options.mode == KI_MODE_THREADS)
        rc = ki_loop_grow(client->handlers, "handler", 1, err);
    client->is_running = rc == 0;
    /* By the clock: then all who have waited on the loop look, and see that it has threads. */
    ki_job_wake_at(&client->nudge, 0);
    return rc;
}

/* More threads than the first only spare handlers the waiting for each other. */
static void grow_locked(ki_client *client)
{
    if (client->is_running && client->options.mode == KI_MODE_THREADS)
        (void)!ki_loop_grow(client->handlers, "handler", handler_threads_locked(client), NULL);
}

int ki_client_run(ki_client *client, ki_error *err)
{
    ki_mutex_lock(&client->mu);
    int rc = run_locked(client, err);
    grow_locked(client);
    ki_mutex_unlock(&client->mu);
    return rc;
}

void ki_client_count_handlers(ki_client *client, int change)
{
    ki_mutex_lock(&client->mu);
    client->handler_count += (size_t)(ptrdiff_t)change;
    grow_locked(client);
    ki_mutex_unlock(&client->mu);
}

/* ---- on someone else's loop -------------------------------------------------------------------------- */

int ki_client_fd(const ki_client *client)
{
    return client == NULL ? -1 : ki_loop_fd(client->handlers);
}

int ki_client_timeout_ms(ki_client *client)
{
    if (client == NULL || client->options.mode == KI_MODE_THREADS)
        return -1;
    uint64_t next_ns = ki_loop_next_ns(client->handlers);
    if (next_ns == UINT64_MAX)
        return -1;
    uint64_t now_ns = ki_clock_now_ns(client->clock);
    uint64_t left_ms = next_ns <= now_ns ? 0 : (next_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS;
    return left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}

int ki_client_dispatch(ki_client *client, uint64_t budget_ms)
{
    if (ki_client_may_wait() < 0)
        return KI_ERR_WOULD_DEADLOCK;
    if (client == NULL || client->options.mode == KI_MODE_THREADS)
        return KI_ERR_INVALID;
    size_t count = ki_loop_step(client->handlers, ki_ns_of_ms(budget_ms));
    return count > INT_MAX ? INT_MAX : (int)count;
}

/* ---- who is alive ------------------------------------------------------------------------------------ */

static int has_name(const ki_map_node *node, const void *name)
{
    return strcmp(KI_CONTAINER_OF(node, ki_client_user, by_name)->name, name) == 0;
}

static int has_serial(const ki_map_node *node, const void *serial)
{
    return KI_CONTAINER_OF(node, ki_client_user, by_serial)->serial == *(const uint64_t *)serial;
}

static uint64_t hash_name(const ki_client *client, const char *name)
{
    return ki_hash(&client->hash_key, ki_str_of(name));
}

void ki_client_join(ki_client *client, ki_client_user *user, const char *name)
{
    ki_mutex_lock(&client->mu);
    user->serial = ++client->serial;
    bool is_taken = ki_map_find(&client->names, hash_name(client, name), has_name, name) != NULL;
    int n = is_taken ? snprintf(user->name, sizeof(user->name), "%.128s#%" PRIu64, name, user->serial)
                     : snprintf(user->name, sizeof(user->name), "%s", name);
    (void)n;
    ki_list_push_back(&client->users, &user->node);
    int rc = ki_map_insert(&client->names, &user->by_name, hash_name(client, user->name));
    assert(rc == 0); /* there is room, as for the next */
    rc = ki_map_insert(&client->serials, &user->by_serial, user->serial);
    assert(rc == 0);
    (void)rc;
    ki_mutex_unlock(&client->mu);
}

void ki_client_leave(ki_client *client, ki_client_user *user)
{
    ki_mutex_lock(&client->mu);
    if (ki_list_node_is_linked(&user->node)) {
        ki_list_remove(&user->node);
        ki_map_remove(&client->names, &user->by_name);
        ki_map_remove(&client->serials, &user->by_serial);
    }
    ki_client_notify(client, &client->changed);
    ki_mutex_unlock(&client->mu);
}

typedef struct sought {
    ki_client *client;
    uint64_t serial;
} sought;

static bool is_gone(void *user)
{
    const sought *s = user;
    return ki_map_find(&s->client->serials, s->serial, has_serial, &s->serial) == NULL;
}

void ki_client_wait_gone(ki_client *client, uint64_t serial)
{
    sought s = {client, serial};
    (void)ki_client_wait(client, &(ki_wait){&client->mu, &client->changed, is_gone, &s}, UINT64_MAX);
}

/* ---- waiting ----------------------------------------------------------------------------------------- */

static _Thread_local unsigned callback_depth;

void ki_callback_enter(void)
{
    callback_depth++;
}

void ki_callback_leave(void)
{
    callback_depth--;
}

int ki_client_may_wait(void)
{
    return callback_depth > 0 || ki_loop_is_current(NULL) || ki_rcu_is_reading() ? KI_ERR_WOULD_DEADLOCK : 0;
}

/* Before the first start no loop has a thread. */
static bool has_threads(const ki_client *client)
{
    return client->options.mode == KI_MODE_THREADS && client->is_running;
}

void ki_client_notify(ki_client *client, ki_cond *changed)
{
    ki_cond_broadcast(changed);
    if (client->waiters > 0 && !has_threads(client))
        ki_job_wake(&client->nudge);
}

/* How long to run at a time: handlers that make work for themselves would never come to an end. */
enum { STEP_NS = 10 * NS_PER_MS };

/* Runs what nobody else runs; returns whether there was anything. */
static bool step_unmanned(ki_client *client)
{
    size_t count = 0;
    if (atomic_exchange(&client->is_stepped, true))
        return false; /* by another thread: what runs on io runs on one at a time */
    if (client->options.mode != KI_MODE_EVENT_LOOP && !client->is_running) {
        count += ki_loop_step(client->io, STEP_NS);
        count += ki_loop_step(client->dispatch, STEP_NS);
    }
    count += ki_loop_step(client->handlers, STEP_NS);
    client->is_stepped = false;
    return count > 0;
}

static bool ask(const ki_wait *wait)
{
    ki_mutex_lock(wait->mu);
    bool is_met = wait->is_met(wait->user);
    ki_mutex_unlock(wait->mu);
    return is_met;
}

/* How long to sleep at a time: neither a condition nor a loop knows of a machine that was suspended, and a
 * loop does not know that it has got threads. */
enum { LOOK_AGAIN_MS = 1000 };

static void sleep_until_notified(const ki_wait *wait, uint64_t timeout_ms)
{
    ki_mutex_lock(wait->mu);
    if (!wait->is_met(wait->user))
        (void)ki_cond_wait_ms(wait->changed, wait->mu, timeout_ms);
    ki_mutex_unlock(wait->mu);
}

/* A virtual clock stands still, so waiting for it would last for ever. */
static bool wait_until(ki_client *client, const ki_wait *wait, uint64_t timeout_ms)
{
    uint64_t began_ms = ki_clock_now_ms(client->clock);
    while (!ask(wait)) {
        uint64_t passed_ms = ki_clock_now_ms(client->clock) - began_ms;
        if (passed_ms >= timeout_ms)
            return false;
        uint64_t nap_ms = timeout_ms - passed_ms < LOOK_AGAIN_MS ? timeout_ms - passed_ms : LOOK_AGAIN_MS;
        if (has_threads(client))
            sleep_until_notified(wait, nap_ms);
        else if (!step_unmanned(client)) {
            if (client->clock->is_virtual)
                return ask(wait);
            ki_loop_wait(client->handlers, nap_ms);
        }
    }
    return true;
}

/* Whoever makes it true looks whether somebody waits, so that is said before it is asked for. */
bool ki_client_wait(ki_client *client, const ki_wait *wait, uint64_t timeout_ms)
{
    client->waiters++;
    bool is_met = wait_until(client, wait, timeout_ms);
    client->waiters--;
    return is_met;
}
