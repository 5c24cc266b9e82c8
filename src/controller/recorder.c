/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/recorder.h"

#include <assert.h>
#include <kinformer/resources.h>
#include <kinformer/rest.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/resource/label_syntax.h"
#include "metrics/names.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/log.h"
#include "util/units.h"

enum { QUEUE_MAX = 1000, FREE_MS = 5000, INSTANCE_BYTES = 128, BODY_BYTES_MAX = 1 << 20 };

/* How many times a response with Retry-After is retried, whatever the client's options say about other
 * calls. */
enum { RETRIES_MAX = 10 };

/* ---- what becomes of events -------------------------------------------------------------------------- */

/* Counts what has become of the event that the sender had. */
static void finish(ki_recorder *recorder, ki_event_outcome outcome)
{
    ki_mutex_lock(&recorder->mu);
    recorder->refreshed = recorder->sender.refreshed;
    recorder->retries = recorder->sender.retries;
    assert(recorder->ticket <= recorder->tickets && recorder->tickets_done <= recorder->tickets);
    if (outcome != KI_OUTCOME_NONE && recorder->ticket != 0) {
        assert(recorder->queued > 0 && recorder->ticket > recorder->tickets_done);
        recorder->counts[outcome]++;
        ki_counter_add(recorder->outcomes[outcome], 1);
        recorder->tickets_done = recorder->ticket;
        recorder->ticket = 0;
        ki_gauge_set(recorder->queue_depth, (int64_t)--recorder->queued);
        recorder->is_full = recorder->is_full && recorder->queued > 0;
        ki_client_notify(recorder->client); /* wakes threads that wait in ki_recorder_flush() */
    }
    ki_mutex_unlock(&recorder->mu);
}

/* Drops all queued events, since nothing more is sent. */
static void drop_queue(ki_recorder *recorder)
{
    ki_list dropped;
    ki_list_node *node;
    ki_list_init(&dropped);
    ki_mutex_lock(&recorder->mu);
    ki_list_splice_back(&dropped, &recorder->queue);
    assert(recorder->queued >= (recorder->ticket != 0));
    size_t count = recorder->queued - (recorder->ticket != 0);
    recorder->counts[KI_OUTCOME_STOPPED] += count;
    ki_counter_add(recorder->outcomes[KI_OUTCOME_STOPPED], count);
    recorder->queued -= count;
    ki_gauge_set(recorder->queue_depth, (int64_t)recorder->queued);
    if (recorder->ticket == 0)
        recorder->tickets_done = recorder->tickets;
    ki_client_notify(recorder->client);
    ki_mutex_unlock(&recorder->mu);
    while ((node = ki_list_pop_front(&dropped)) != NULL)
        ki_recorded_unref(KI_CONTAINER_OF(node, ki_recorded, node));
}

static void give_up(ki_recorder *recorder)
{
    KI_ASSERT_ON(recorder->client->dispatch);
    if (!recorder->sender.in_flight && recorder->sender.write.event != NULL) {
        ki_event_sender_drop(&recorder->sender);
        finish(recorder, KI_OUTCOME_STOPPED);
    }
    if (recorder->sender.in_flight && !recorder->is_cancelled) {
        recorder->is_cancelled = true;
        ki_rest_cancel(recorder->client, recorder->call);
    }
    drop_queue(recorder);
}

/* ---- sending ----------------------------------------------------------------------------------------- */

static ki_event_answer answer_of(int code, int http)
{
    if (code == 0 || (http >= 200 && http < 300))
        return KI_ANSWER_DONE;
    if (http == 404)
        return KI_ANSWER_NOT_FOUND;
    if (code == KI_ERR_ALREADY_EXISTS)
        return KI_ANSWER_EXISTS;
    if (http != 0 || code == KI_ERR_INVALID || code == KI_ERR_REFUSED)
        return KI_ANSWER_REFUSED;
    return code == KI_ERR_STOPPED ? KI_ANSWER_STOPPED : KI_ANSWER_NONE;
}

/* A 404 in answer to a patch is expected. A missing answer is logged as a warning only the first time. */
static void report(const ki_recorder *recorder, ki_event_answer answer, const char *message)
{
    const ki_event_sender *sender = &recorder->sender;
    if (answer == KI_ANSWER_DONE || answer == KI_ANSWER_STOPPED ||
        (answer == KI_ANSWER_NOT_FOUND && sender->write.is_patch))
        return;
    char name[KI_EVENT_NAME_BYTES];
    ki_event_name(&sender->source, &sender->write, name);
    ki_log_to(
        recorder->client->log, answer == KI_ANSWER_NONE && sender->tries > 0 ? KI_LOG_DEBUG : KI_LOG_WARNING,
        "recorder",
        KI_LOG_FIELDS({"namespace", ki_recorded_namespace(sender->write.event)}, {"event", ki_str_of(name)}),
        "%s: %s", answer == KI_ANSWER_NONE ? "no answer" : "event dropped", message);
}

/* Only reads the sender: its state does not change until run_send() passes the answer to it. */
static void take_answer(const ki_rest_answer *answer, void *user)
{
    ki_recorder *recorder = user;
    ki_event_answer what = answer_of(answer->error.code, answer->http_status);
    report(recorder, what, answer->error.message);
    ki_mutex_lock(&recorder->mu);
    assert(!recorder->has_answer); /* one write is in flight */
    recorder->has_answer = true;
    recorder->answer = what;
    ki_job_wake(&recorder->send);
    ki_mutex_unlock(&recorder->mu);
}

static void hand_in(ki_recorder *recorder, ki_event_answer answer, uint64_t now_ns, bool is_last)
{
    ki_event_outcome outcome = ki_event_sender_answer(&recorder->sender, answer, now_ns, is_last);
    recorder->is_unreachable = recorder->is_unreachable || (is_last && outcome == KI_OUTCOME_NO_ANSWER);
    finish(recorder, outcome);
}

static void send_write(ki_recorder *recorder, uint64_t now_ns, bool is_last)
{
    const ki_event_sender *sender = &recorder->sender;
    assert(sender->in_flight && sender->write.event != NULL);
    char name[KI_EVENT_NAME_BYTES];
    ki_error err = {0};
    ki_event_name(&sender->source, &sender->write, name);
    bool is_patch = sender->write.is_patch;
    ki_rest_request request = {.verb = is_patch ? KI_REST_PATCH : KI_REST_CREATE,
                               .patch = is_patch ? KI_PATCH_STRATEGIC : 0,
                               .resource = sender->source.api == KI_RECORDER_EVENTS_V1 ? &KI_EVENTS_V1_EVENTS
                                                                                       : &KI_CORE_V1_EVENTS,
                               .ns = ki_recorded_namespace(sender->write.event).ptr,
                               .name = is_patch ? name : NULL,
                               .retries_max = RETRIES_MAX,
                               .on_answer = take_answer,
                               .user = recorder};
    recorder->is_cancelled = false;
    int rc = ki_event_body(&sender->source, &sender->write, &recorder->body);
    request.body = ki_buf_str(&recorder->body);
    if (rc < 0)
        ki_error_set(&err, rc, 0, "%s", ki_error_text(rc));
    else
        rc = ki_rest_begin(recorder->client, &request, &recorder->call, &err);
    if (rc == 0)
        return;
    report(recorder, answer_of(rc, 0), err.message);
    hand_in(recorder, answer_of(rc, 0), now_ns, is_last);
}

/* Passes the next event of the queue to the sender, unless it already has one. */
static void take_next(ki_recorder *recorder, uint64_t now_ns)
{
    if (recorder->sender.write.event != NULL)
        return;
    ki_mutex_lock(&recorder->mu);
    assert(recorder->ticket == 0);
    ki_list_node *node = ki_list_pop_front(&recorder->queue);
    ki_recorded *event = node == NULL ? NULL : KI_CONTAINER_OF(node, ki_recorded, node);
    recorder->ticket = event == NULL ? 0 : event->ticket;
    ki_mutex_unlock(&recorder->mu);
    if (event == NULL)
        return;
    finish(recorder,
           ki_event_sender_take(&recorder->sender, event, now_ns, ki_clock_wall_ns(recorder->client->clock)));
    ki_recorded_unref(event);
}

/* ---- the job ----------------------------------------------------------------------------------------- */

static void recorder_fini(ki_recorder *recorder)
{
    ki_job_fini(&recorder->send);
    drop_queue(recorder);
    ki_event_sender_fini(&recorder->sender);
    ki_buf_fini(&recorder->body);
    for (int i = 0; i < KI_OUTCOMES; i++)
        ki_counter_drop(recorder->outcomes[i]);
    ki_gauge_drop(recorder->queue_depth);
    ki_free(recorder->component);
    ki_free(recorder->instance);
    ki_mutex_fini(&recorder->mu);
}

/* When there is nothing to do, the client may be closed, and a freed recorder can be destroyed. If the
 * recorder was freed during this run, another run follows, which writes its open series. Returns whether the
 * recorder can be destroyed. */
static bool settle(ki_recorder *recorder, bool is_over, bool was_freed)
{
    ki_mutex_lock(&recorder->mu);
    bool is_idle = recorder->sender.write.event == NULL, is_empty = ki_list_is_empty(&recorder->queue);
    assert(is_empty || recorder->is_busy);
    if (is_idle && is_empty && recorder->is_busy && !recorder->is_freed) {
        recorder->is_busy = false;
        ki_client_set_busy(recorder->client, &recorder->alive, false);
    }
    if (is_idle && !is_empty)
        ki_job_wake(&recorder->send);
    uint64_t next_ns = is_over ? UINT64_MAX : ki_event_sender_next_ns(&recorder->sender);
    if (recorder->is_freed && !is_over)
        next_ns = ki_ns_min(next_ns, recorder->send_until_ns);
    ki_job_wake_at(&recorder->send, next_ns);
    bool is_gone = is_idle && is_empty && was_freed;
    ki_mutex_unlock(&recorder->mu);
    return is_gone;
}

/* Handles one event per run, so that other jobs get their turn. */
static void run_send(ki_job *job)
{
    ki_recorder *recorder = KI_CONTAINER_OF(job, ki_recorder, send);
    KI_ASSERT_ON(recorder->client->dispatch);
    uint64_t now_ns = ki_clock_now_ns(recorder->client->clock);
    ki_mutex_lock(&recorder->mu);
    bool has_answer = recorder->has_answer, is_last = recorder->is_freed;
    bool is_late = is_last && now_ns >= recorder->send_until_ns;
    ki_event_answer answer = recorder->answer;
    recorder->has_answer = false;
    ki_mutex_unlock(&recorder->mu);
    if (has_answer)
        hand_in(recorder, answer, now_ns, is_last);
    bool is_over = recorder->client->is_closing || is_late || recorder->is_unreachable;
    if (is_over) {
        give_up(recorder);
    } else {
        take_next(recorder, now_ns);
        if (ki_event_sender_step(&recorder->sender, now_ns, is_last))
            send_write(recorder, now_ns, is_last);
    }
    if (!settle(recorder, is_over, is_last))
        return;
    recorder_fini(recorder);
    ki_client_free_user(recorder->client, &recorder->alive, recorder);
}

/* ---- making ------------------------------------------------------------------------------------------ */

static bool is_printable(const char *text)
{
    for (; *text != 0; text++)
        if (*text < ' ' || *text > '~')
            return false;
    return true;
}

static int check(const ki_client *client, const ki_recorder_options *options, ki_error *err)
{
    const char *component = options->component, *instance = options->instance;
    if (component == NULL || component[0] == 0)
        return ki_fail(err, KI_ERR_INVALID, "recorder: no component");
    if (!is_printable(component) || (instance != NULL && !is_printable(instance)))
        return ki_fail(err, KI_ERR_INVALID, "recorder: component and instance must be printable ASCII");
    if (options->api != KI_RECORDER_CORE_V1 && options->api != KI_RECORDER_EVENTS_V1)
        return ki_fail(err, KI_ERR_INVALID, "recorder: unknown api %d", (int)options->api);
    size_t at = 0;
    if (options->api == KI_RECORDER_EVENTS_V1 && ki_label_key_fault(ki_str_of(component), &at) != NULL)
        return ki_fail(err, KI_ERR_INVALID,
                       "recorder: the component \"%s\" is not a qualified name, as events.k8s.io/v1 needs",
                       component);
    if (client->http == NULL && !client->is_closing)
        return ki_fail(err, KI_ERR_INVALID, "recorder: the client has no cluster");
    return ki_client_check_process(client, err);
}

static char *copy_cut(const char *text)
{
    size_t len = strnlen(text, INSTANCE_BYTES);
    char *copy = ki_malloc(len + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, len);
    copy[len] = 0;
    return copy;
}

static int copy_texts(ki_recorder *recorder, const ki_recorder_options *options, ki_error *err)
{
    char host[256] = "", made[512] = "";
    size_t bytes = strlen(options->component) + 1;
    if (options->api == KI_RECORDER_EVENTS_V1 && (options->instance == NULL || options->instance[0] == 0)) {
        (void)gethostname(host, sizeof(host) - 1);
        (void)snprintf(made, sizeof(made), "%.128s-%.128s", options->component, host);
    }
    recorder->component = ki_malloc(bytes);
    recorder->instance = copy_cut(options->instance == NULL || made[0] != 0 ? made : options->instance);
    if (recorder->component == NULL || recorder->instance == NULL)
        return ki_fail_no_memory(err);
    memcpy(recorder->component, options->component, bytes);
    return 0;
}

static int init_sender(ki_recorder *recorder, ki_recorder_api api, ki_error *err)
{
    ki_event_source source = {
        .api = api, .component = ki_str_of(recorder->component), .instance = ki_str_of(recorder->instance)};
    uint64_t seed = recorder->client->seed;
    if (seed != 0) {
        ki_hash_key_init_seeded(&source.hash.a, seed);
        ki_hash_key_init_seeded(&source.hash.b, seed + 1);
    } else if (ki_random_system_seed(&seed) < 0 || ki_hash_key_init(&source.hash.a) < 0 ||
               ki_hash_key_init(&source.hash.b) < 0) {
        return ki_fail_no_random(err);
    }
    ki_event_sender_init(&recorder->sender, &source, seed);
    return 0;
}

static void init_metrics(ki_recorder *recorder)
{
    static const char *const results[KI_OUTCOMES] = {
        [KI_OUTCOME_CREATED] = "created",     [KI_OUTCOME_PATCHED] = "patched",
        [KI_OUTCOME_COUNTED] = "counted",     [KI_OUTCOME_QUEUE_FULL] = "queue_full",
        [KI_OUTCOME_NO_MEMORY] = "no_memory", [KI_OUTCOME_STOPPED] = "stopped",
        [KI_OUTCOME_SPAM] = "spam",           [KI_OUTCOME_REFUSED] = "refused",
        [KI_OUTCOME_NO_ANSWER] = "no_answer",
    };
    ki_metrics *metrics = recorder->client->metrics;
    ki_str labels[2] = {ki_str_of(recorder->component)};
    recorder->queue_depth = ki_metrics_gauge(metrics, &ki_metric_event_recorder_queued, labels);
    for (int i = KI_OUTCOME_NONE + 1; i < KI_OUTCOMES; i++) {
        labels[1] = ki_str_of(results[i]);
        recorder->outcomes[i] = ki_metrics_counter(metrics, &ki_metric_event_recorder_events_total, labels);
    }
}

static int init(ki_recorder *recorder, const ki_recorder_options *options, ki_error *err)
{
    ki_client *client = recorder->client;
    int rc = ki_client_run(client, err);
    if (rc == 0)
        rc = copy_texts(recorder, options, err);
    if (rc == 0)
        rc = init_sender(recorder, options->api, err);
    if (rc < 0)
        return rc;
    if (ki_job_init(&recorder->send, client->dispatch, run_send) < 0)
        return ki_fail_no_memory(err);
    recorder->alive.job = &recorder->send;
    rc = ki_client_join_as(client, &recorder->alive, "recorder", recorder->component, err);
    if (rc < 0)
        return rc;
    init_metrics(recorder);
    ki_client_set_busy(client, &recorder->alive, false);
    return 0;
}

ki_recorder *ki_recorder_new(ki_client *client, const ki_recorder_options *options, ki_error *err)
{
    if (client == NULL || options == NULL) {
        (void)ki_fail_missing(err, "recorder: no client or no options");
        return NULL;
    }
    if (check(client, options, err) < 0)
        return NULL;
    ki_recorder *recorder = ki_calloc(1, sizeof(*recorder));
    if (recorder == NULL) {
        (void)ki_fail_no_memory(err);
        return NULL;
    }
    ki_mutex_init(&recorder->mu);
    ki_list_init(&recorder->queue);
    ki_buf_init(&recorder->body, BODY_BYTES_MAX);
    ki_client_ref(client);
    recorder->client = client;
    recorder->queue_max = options->queue_max == 0 ? QUEUE_MAX : options->queue_max;
    recorder->free_timeout_ms = options->free_timeout_ms == 0 ? FREE_MS : options->free_timeout_ms;
    recorder->message_bytes_max =
        options->api == KI_RECORDER_EVENTS_V1 ? (size_t)KI_NOTE_BYTES : (size_t)KI_MESSAGE_BYTES;
    if (init(recorder, options, err) < 0) {
        recorder_fini(recorder);
        ki_client_free_user(recorder->client, &recorder->alive, recorder);
        return NULL;
    }
    return recorder;
}

void ki_recorder_free(ki_recorder *recorder)
{
    if (recorder == NULL || ki_client_is_foreign(recorder->client))
        return;
    ki_client *client = recorder->client;
    ki_client_ref(client);
    ki_mutex_lock(&recorder->mu);
    uint64_t serial = recorder->alive.serial;
    ki_client_set_busy(client, &recorder->alive, true);
    recorder->is_busy = recorder->is_freed = true;
    recorder->send_until_ns = ki_clock_now_ns(client->clock) + ki_ns_of_ms(recorder->free_timeout_ms);
    ki_job_wake(&recorder->send);
    ki_mutex_unlock(&recorder->mu);
    ki_client_wait_gone(client, serial);
    ki_client_unref(client);
}
