/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/leader.h"

#include <assert.h>
#include <kinformer/resources.h>
#include <kinformer/rest.h>
#include <stdio.h>
#include <unistd.h>

#include "client/callback.h"
#include "metrics/names.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/log.h"
#include "util/random.h"
#include "util/units.h"

/* SAY_AGAIN_MS: how often the log repeats a failure that lasts. */
enum { HOST_BYTES = 256, LEASE_MS = 15000, RENEW_MS = 10000, RETRY_MS = 2000, SAY_AGAIN_MS = 60000 };

/* ---- the log ------------------------------------------------------------------------------------------ */

/* A request has failed. `kind` tells this failure from others; the text may differ each time. */
static void log_failure(ki_leader *leader, int64_t kind, const char *message)
{
    uint64_t now_ns = ki_clock_now_ns(leader->client->clock);
    ki_mutex_lock(&leader->mu);
    bool is_due = leader->failure != kind || now_ns >= leader->log_again_ns;
    leader->failure = kind;
    leader->has_read_failed = leader->is_reading;
    if (is_due)
        leader->log_again_ns = now_ns + ki_ns_of_ms(SAY_AGAIN_MS);
    ki_mutex_unlock(&leader->mu);
    if (is_due)
        ki_log_to(leader->client->log, KI_LOG_WARNING, "leader", KI_LOG_NO_FIELDS, "lease %s/%s: %s",
                  leader->ns, leader->name, message);
}

/* A read that succeeds does not end the failure of a write. */
static void log_success(ki_leader *leader)
{
    ki_mutex_lock(&leader->mu);
    bool had_failed = leader->failure != 0 && (leader->has_read_failed || !leader->is_reading);
    if (had_failed)
        leader->failure = 0;
    ki_mutex_unlock(&leader->mu);
    if (had_failed)
        ki_log_to(leader->client->log, KI_LOG_INFO, "leader", KI_LOG_NO_FIELDS,
                  "lease %s/%s: requests succeed again", leader->ns, leader->name);
}

static void log_loss(const ki_leader *leader)
{
    ki_str holder = ki_election_holder(&leader->election);
    bool is_ours = ki_str_equal(holder, ki_str_of(leader->identity));
    ki_log_to(leader->client->log, KI_LOG_WARNING, "leader", KI_LOG_NO_FIELDS,
              "lease %s/%s: not leading any more: %s%.*s", leader->ns, leader->name,
              is_ours ? "it was not renewed in time" : "it is held by ", is_ours ? 0 : (int)holder.len,
              holder.ptr);
}

/* ---- steer: the election ------------------------------------------------------------------------------ */

static void take_answer(const ki_rest_answer *answer, void *user)
{
    ki_leader *leader = user;
    KI_ASSERT_ON(leader->client->handlers);
    ki_election_outcome outcome = KI_ELECTION_FAILED;
    if (answer->error.code == 0)
        outcome = KI_ELECTION_DONE;
    else if (answer->http_status == 404)
        outcome = KI_ELECTION_NOT_FOUND;
    else if (answer->http_status == 409)
        outcome = KI_ELECTION_CONFLICT;
    else if (answer->http_status >= 400)
        outcome = answer->http_status < 500 ? KI_ELECTION_REJECTED : KI_ELECTION_UNCLEAR;
    bool is_usual = outcome == KI_ELECTION_DONE || outcome == KI_ELECTION_CONFLICT ||
                    (outcome == KI_ELECTION_NOT_FOUND && !leader->is_creating);
    if (is_usual)
        log_success(leader);
    else /* to a create, 404 says that there is no such namespace */
        log_failure(leader, ((int64_t)answer->reason << 16) + answer->http_status + 1, answer->error.message);
    ki_mutex_lock(&leader->mu);
    assert(!leader->has_answer && leader->answer == NULL);
    leader->has_answer = true;
    leader->outcome = outcome;
    leader->answer = outcome == KI_ELECTION_DONE ? ki_object_ref(answer->object) : NULL;
    ki_job_wake(&leader->steer);
    ki_mutex_unlock(&leader->mu);
}

static const int verbs[] = {[KI_ELECTION_GET] = KI_REST_GET,
                            [KI_ELECTION_CREATE] = KI_REST_CREATE,
                            [KI_ELECTION_UPDATE] = KI_REST_UPDATE};

/* A request that cannot be sent counts as failed. */
static void send_request(ki_leader *leader, ki_election_request request, uint64_t now_ns)
{
    KI_ASSERT_ON(leader->client->dispatch);
    assert(request.action != KI_ELECTION_NOTHING && leader->election.in_flight == request.action);
    ki_error err = {0};
    ki_rest_request call = {.verb = (ki_rest_verb)verbs[request.action],
                            .resource = &KI_COORDINATION_V1_LEASES,
                            .ns = leader->ns,
                            .name = request.action == KI_ELECTION_CREATE ? NULL : leader->name,
                            .body = request.body,
                            .timeout_ms = request.timeout_ns / KI_NS_PER_MS + 1,
                            .retries_max = -1,
                            .on_answer = take_answer,
                            .user = leader};
    leader->is_creating = request.action == KI_ELECTION_CREATE;
    leader->is_reading = request.action == KI_ELECTION_GET;
    if (ki_rest_begin(leader->client, &call, NULL, &err) == 0)
        return;
    log_failure(leader, err.code, err.message);
    ki_election_answer(&leader->election, KI_ELECTION_FAILED, NULL, now_ns);
}

/* For a client that is being freed, nothing more is sent; the lease expires by itself.
 *
 * Returns the present time. It is read after the answer was taken: the thread may be delayed in between, and
 * a record must not be taken as seen before it arrived. */
static uint64_t take_requests(ki_leader *leader)
{
    ki_election *election = &leader->election;
    ki_mutex_lock(&leader->mu);
    bool is_closing = leader->client->is_closing, is_wanted = leader->is_wanted && !is_closing;
    bool has_answer = leader->has_answer, is_acting_ended = leader->is_acting_ended;
    ki_election_outcome outcome = leader->outcome;
    ki_object *answer = leader->answer;
    leader->answer = NULL;
    leader->has_answer = leader->is_acting_ended = false;
    ki_mutex_unlock(&leader->mu);
    uint64_t now_ns = ki_clock_now_ns(leader->client->clock);
    if (is_closing)
        election->options.keeps_lease = true;
    if (has_answer)
        ki_election_answer(election, outcome, answer, now_ns);
    ki_object_unref(answer);
    if (is_acting_ended && election->phase == KI_ELECTION_ENDING)
        ki_election_acting_ended(election, now_ns);
    if (is_wanted)
        ki_election_start(election, now_ns);
    else
        ki_election_stop(election, now_ns);
    return now_ns;
}

/* If there is no memory for the name, on_new_leader is not called. */
static void note_holder_locked(ki_leader *leader) KI_REQUIRES(leader->mu)
{
    KI_ASSERT_HELD(leader->mu);
    ki_str holder = ki_election_holder(&leader->election);
    ki_str known = ki_str_of(leader->holder);
    if (ki_str_equal(holder, known))
        return;
    char *copy = ki_str_copy(holder);
    if (copy == NULL)
        return;
    ki_free(leader->holder);
    leader->holder = copy;
    leader->holders++;
}

/* The state is published before the callbacks are called. */
static void publish(ki_leader *leader)
{
    const ki_election *election = &leader->election;
    assert((election->leads_until_ns != 0) == (election->phase == KI_ELECTION_LEADING));
    uint64_t slow = election->slow_renewals;
    leader->leads_until_ns = election->leads_until_ns;
    ki_gauge_set(leader->is_master, election->phase == KI_ELECTION_LEADING);
    ki_counter_add(leader->slow_renewals, slow);
    leader->election.slow_renewals = 0;
    ki_mutex_lock(&leader->mu);
    bool is_lost = leader->phase == KI_ELECTION_LEADING && election->phase != KI_ELECTION_LEADING &&
                   leader->is_wanted && !leader->client->is_closing;
    leader->phase = election->phase;
    leader->is_quiet = election->phase == KI_ELECTION_STOPPED && election->in_flight == KI_ELECTION_NOTHING;
    note_holder_locked(leader);
    ki_job_wake(&leader->tell);
    ki_client_notify(leader->client); /* wakes threads that wait for the stop */
    ki_mutex_unlock(&leader->mu);
    if (is_lost)
        log_loss(leader);
}

static void run_steer(ki_job *job)
{
    ki_leader *leader = KI_CONTAINER_OF(job, ki_leader, steer);
    KI_ASSERT_ON(leader->client->dispatch);
    uint64_t now_ns = take_requests(leader);
    ki_election_request request =
        ki_election_step(&leader->election, now_ns, ki_clock_wall_ns(leader->client->clock));
    if (request.action != KI_ELECTION_NOTHING)
        send_request(leader, request, now_ns);
    ki_job_wake_at(job, ki_election_next_ns(&leader->election));
    publish(leader);
}

/* ---- tell: the program ------------------------------------------------------------------------------- */

typedef enum word { NOTHING = 0, STARTED, STOPPED, NEW_LEADER, ACTING_ENDED, IDLE, GONE } word;

/* Selects the next callback. on_stopped has priority, and on_new_leader precedes on_started. */
static word next_word_locked(ki_leader *leader) KI_REQUIRES(leader->mu)
{
    KI_ASSERT_HELD(leader->mu);
    if (leader->is_told_started && leader->phase != KI_ELECTION_LEADING)
        return STOPPED;
    if (leader->phase == KI_ELECTION_ENDING && !leader->is_acting_ended)
        return ACTING_ENDED;
    if (leader->is_freed && leader->is_quiet)
        return GONE;
    if (leader->holders_told != leader->holders)
        return NEW_LEADER;
    if (!leader->is_told_started && leader->phase == KI_ELECTION_LEADING)
        return STARTED;
    return leader->is_quiet && !leader->is_freed && (!leader->is_wanted || leader->client->is_closing)
               ? IDLE
               : NOTHING;
}

/* Passes a copy, since the name may be replaced while the callback runs. */
static void tell_new_leader(ki_leader *leader)
{
    ki_mutex_lock(&leader->mu);
    char *copy = ki_str_copy(ki_str_of(leader->holder));
    leader->holders_told = leader->holders;
    ki_mutex_unlock(&leader->mu);
    if (copy != NULL && leader->options.on_new_leader != NULL)
        leader->options.on_new_leader(leader, copy, leader->options.user);
    ki_free(copy);
}

static void end_acting(ki_leader *leader)
{
    ki_mutex_lock(&leader->mu);
    leader->is_told_started = false;
    if (leader->phase == KI_ELECTION_ENDING) {
        leader->is_acting_ended = true;
        ki_job_wake(&leader->steer);
    }
    ki_mutex_unlock(&leader->mu);
}

static void leader_fini(ki_leader *leader)
{
    ki_leader_end_guards(leader);
    ki_job_fini(&leader->steer);
    ki_job_fini(&leader->tell);
    ki_election_fini(&leader->election);
    ki_object_unref(leader->answer);
    ki_gauge_drop(leader->is_master);
    ki_counter_drop(leader->slow_renewals);
    ki_free(leader->holder);
    ki_free(leader->identity);
    ki_free(leader->name);
    ki_free(leader->ns);
    ki_mutex_fini(&leader->mu);
}

static void notify(ki_leader *leader, word what)
{
    const ki_leader_options *options = &leader->options;
    if (what == STARTED && options->on_started != NULL)
        options->on_started(leader, options->user);
    if (what == STOPPED && options->on_stopped != NULL)
        options->on_stopped(leader, options->user);
    if (what == NEW_LEADER)
        tell_new_leader(leader);
    if (what == STOPPED || what == ACTING_ENDED)
        end_acting(leader);
}

/* Calls one callback per run, so that other jobs get their turn. */
static void run_tell(ki_job *job)
{
    ki_leader *leader = KI_CONTAINER_OF(job, ki_leader, tell);
    KI_ASSERT_ON(leader->client->handlers);
    ki_mutex_lock(&leader->mu);
    word what = next_word_locked(leader);
    if (what == STARTED)
        leader->is_told_started = true;
    if (what == IDLE)
        ki_client_set_busy(leader->client, &leader->alive, false);
    assert(what != GONE || (leader->is_freed && leader->is_quiet));
    leader->is_told_all = what == IDLE;
    ki_client_notify(leader->client);
    if (what != NOTHING && what != IDLE && what != GONE)
        ki_job_wake(job);
    ki_mutex_unlock(&leader->mu);
    if (what != GONE) {
        notify(leader, what);
        return;
    }
    leader_fini(leader);
    ki_client_end_user(leader->client, &leader->alive, leader);
}

/* ---- making ------------------------------------------------------------------------------------------ */

static int check(const ki_leader_options *options, ki_error *err)
{
    uint64_t lease_ms = options->lease_duration_ms, renew_ms = options->renew_deadline_ms;
    if (options->name == NULL || options->name[0] == 0)
        return ki_fail(err, KI_ERR_INVALID, "leader: no name for the lease");
    if (options->identity != NULL && options->identity[0] == 0)
        return ki_fail(err, KI_ERR_INVALID, "leader: the identity is empty");
    if (lease_ms <= renew_ms)
        return ki_fail(err, KI_ERR_INVALID, "leader: lease_duration_ms must be more than renew_deadline_ms");
    if (renew_ms <= options->retry_period_ms + options->retry_period_ms / 5)
        return ki_fail(err, KI_ERR_INVALID,
                       "leader: renew_deadline_ms must be more than 1.2 times retry_period_ms");
    if (lease_ms < 1000 || lease_ms > (uint64_t)INT32_MAX)
        return ki_fail(err, KI_ERR_INVALID, "leader: lease_duration_ms must be between 1,000 and %d",
                       INT32_MAX);
    return 0;
}

/* The host and a random number, in the form that client-go's controllers use, so two processes on one host
 * differ. */
static char *make_identity(void)
{
    char host[HOST_BYTES] = "", text[HOST_BYTES + 32];
    uint64_t number = 0;
    if (gethostname(host, sizeof(host) - 1) < 0 || ki_random_system_seed(&number) < 0)
        return NULL;
    (void)snprintf(text, sizeof(text), "%s_%016llx", host, (unsigned long long)number);
    return ki_str_copy(ki_str_of(text));
}

static int copy_texts(ki_leader *leader, ki_error *err)
{
    assert(leader->identity == NULL && leader->name == NULL && leader->ns == NULL);
    const ki_leader_options *given = &leader->options;
    const char *ns = given->ns != NULL && given->ns[0] != 0 ? given->ns : ki_client_namespace(leader->client);
    leader->identity = given->identity == NULL ? make_identity() : ki_str_copy(ki_str_of(given->identity));
    leader->name = ki_str_copy(ki_str_of(given->name));
    leader->ns = ki_str_copy(ki_str_of(ns));
    if (leader->identity == NULL || leader->name == NULL || leader->ns == NULL)
        return ki_fail_no_memory(err);
    leader->options.identity = leader->options.name = leader->options.ns = NULL;
    return 0;
}

static void init_election(ki_leader *leader, uint64_t seed)
{
    const ki_leader_options *options = &leader->options;
    ki_election_init(&leader->election,
                     &(ki_election_options){.ns = leader->ns,
                                            .name = leader->name,
                                            .identity = leader->identity,
                                            .lease_ns = ki_ns_of_ms(options->lease_duration_ms),
                                            .renew_ns = ki_ns_of_ms(options->renew_deadline_ms),
                                            .retry_ns = ki_ns_of_ms(options->retry_period_ms),
                                            .keeps_lease = options->keep_lease_on_stop != 0,
                                            .seed = seed});
}

static int init(ki_leader *leader, ki_error *err)
{
    ki_client *client = leader->client;
    uint64_t seed = client->seed;
    int rc = ki_client_check_process(client, err);
    if (rc == 0)
        rc = copy_texts(leader, err);
    if (rc < 0)
        return rc;
    if (seed == 0 && ki_random_system_seed(&seed) < 0)
        return ki_fail_no_random(err);
    init_election(leader, seed);
    if (ki_job_init(&leader->steer, client->dispatch, run_steer) < 0 ||
        ki_job_init(&leader->tell, client->handlers, run_tell) < 0)
        return ki_fail_no_memory(err);
    leader->alive = (ki_client_user){
        .job = &leader->steer, .on_release = leader->options.on_release, .user = leader->options.user};
    rc = ki_client_join_as(client, &leader->alive, "leader", leader->name, err);
    if (rc < 0)
        return rc;
    ki_str label = ki_str_of(leader->name);
    leader->is_master = ki_metrics_gauge(client->metrics, &ki_metric_leader_election_master_status, &label);
    leader->slow_renewals =
        ki_metrics_counter(client->metrics, &ki_metric_leader_election_slowpath_total, &label);
    ki_client_count_handlers(client, 1);
    ki_client_set_busy(client, &leader->alive, false);
    return 0;
}

ki_leader *ki_leader_new(ki_client *client, const ki_leader_options *options, ki_error *err)
{
    if (client == NULL || options == NULL) {
        (void)ki_fail_missing(err, "leader: no client or no options");
        return NULL;
    }
    ki_leader_options used = *options;
    used.lease_duration_ms = used.lease_duration_ms == 0 ? LEASE_MS : used.lease_duration_ms;
    used.renew_deadline_ms = used.renew_deadline_ms == 0 ? RENEW_MS : used.renew_deadline_ms;
    used.retry_period_ms = used.retry_period_ms == 0 ? RETRY_MS : used.retry_period_ms;
    if (check(&used, err) < 0)
        return NULL;
    ki_leader *leader = ki_calloc(1, sizeof(*leader));
    if (leader == NULL) {
        (void)ki_fail_no_memory(err);
        return NULL;
    }
    ki_mutex_init(&leader->mu);
    ki_list_init(&leader->guards);
    ki_client_ref(client);
    leader->client = client;
    leader->options = used;
    leader->is_quiet = leader->is_told_all = true;
    if (init(leader, err) < 0) {
        leader_fini(leader);
        ki_client_free_user(leader->client, &leader->alive, leader);
        return NULL;
    }
    return leader;
}

/* ---- any thread -------------------------------------------------------------------------------------- */

int ki_leader_start(ki_leader *leader, ki_error *err)
{
    if (leader == NULL)
        return ki_fail_missing(err, "no leader");
    int rc = ki_client_run(leader->client, err);
    if (rc < 0)
        return rc;
    ki_mutex_lock(&leader->mu);
    if (!leader->is_freed && !ki_client_begin(leader->client, &leader->alive))
        rc = ki_fail(err, KI_ERR_STOPPED, "leader: the client has been freed");
    if (rc == 0 && !leader->is_freed) {
        leader->is_wanted = true;
        leader->is_quiet = leader->is_told_all = false;
        ki_job_wake(&leader->steer);
    }
    ki_mutex_unlock(&leader->mu);
    return rc;
}

static bool is_stopped(void *user)
{
    const ki_leader *leader = user;
    KI_ASSERT_HELD(leader->mu);
    return leader->is_told_all || leader->is_wanted;
}

void ki_leader_stop(ki_leader *leader)
{
    if (leader == NULL || ki_client_is_foreign(leader->client))
        return;
    ki_mutex_lock(&leader->mu);
    leader->is_wanted = false;
    ki_job_wake(&leader->steer);
    ki_mutex_unlock(&leader->mu);
    if (ki_client_may_wait() == 0)
        (void)ki_client_wait(leader->client, &(ki_wait){&leader->mu, is_stopped, leader, false}, UINT64_MAX);
}

void ki_leader_free(ki_leader *leader)
{
    if (leader == NULL || ki_client_is_foreign(leader->client))
        return;
    ki_client *client = leader->client;
    ki_client_ref(client);
    ki_mutex_lock(&leader->mu);
    uint64_t serial = leader->alive.serial;
    ki_client_set_busy(client, &leader->alive, true);
    leader->is_freed = true;
    leader->is_wanted = false;
    ki_job_wake(&leader->steer);
    ki_mutex_unlock(&leader->mu);
    ki_client_wait_gone(client, serial);
    ki_client_unref(client);
}

int ki_leader_is_leading(const ki_leader *leader)
{
    if (leader == NULL || ki_client_is_foreign(leader->client))
        return 0;
    return ki_clock_now_ns(leader->client->clock) < leader->leads_until_ns;
}

size_t ki_leader_holder(const ki_leader *leader, char *buffer, size_t buffer_bytes)
{
    if (leader == NULL || ki_client_is_foreign(leader->client))
        return (size_t)snprintf(buffer, buffer_bytes, "%s", "");
    ki_mutex_lock(&leader->mu);
    int n = snprintf(buffer, buffer_bytes, "%s", leader->holder == NULL ? "" : leader->holder);
    ki_mutex_unlock(&leader->mu);
    return n < 0 ? 0 : (size_t)n;
}

const char *ki_leader_identity(const ki_leader *leader)
{
    return leader == NULL ? "" : leader->identity;
}
