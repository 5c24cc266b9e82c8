/* SPDX-License-Identifier: Apache-2.0 */
#include "informer/registration.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "util/alloc.h"
#include "util/error.h"
#include "util/log.h"

/* Number of callbacks before another handler gets its turn on the same thread. */
enum { CALLBACKS_AT_A_TIME = 64 };

/* The registration whose handler this thread is calling. */
static _Thread_local ki_registration *delivering;

static void measure_backlog(const ki_registration *registration, const ki_listener_stats *stats)
{
    ki_gauge_set(registration->metrics.backlog, (int64_t)stats->items);
    ki_gauge_set(registration->metrics.backlog_bytes, (int64_t)stats->bytes);
}

/* From dispatch to the handler: ki_listener_push_all() puts the events into the listener's backlog
 * (handler/backlog.c), where they wait until the job, run_handler() below, delivers them. The backlog is also
 * measured here, since a stuck handler would not measure it. Coalescing happens during pushes,
 * so it is counted only here. */
void ki_registration_push(ki_subscriber *subscriber, ki_list *entries)
{
    assert(subscriber != NULL);
    ki_registration *registration = KI_CONTAINER_OF(subscriber, ki_registration, subscriber);
    ki_listener_push_all(&subscriber->listener, entries);
    ki_listener_stats stats = ki_listener_read_stats(&subscriber->listener);
    measure_backlog(registration, &stats);
    ki_counter_add(registration->metrics.coalesced, stats.coalesced - registration->coalesced);
    registration->coalesced = stats.coalesced;
    ki_job_wake(&registration->job);
}

/* ---- calling the handler ----------------------------------------------------------------------------- */

static void measure(ki_registration *registration)
{
    ki_listener_stats stats = ki_listener_read_stats(&registration->subscriber.listener);
    measure_backlog(registration, &stats);
}

/* Delivers one event. Returns false if there is none, or if none may be delivered. If dispatch waits for
 * space in a backlog, wakes it after each event, not only at the end of the run. */
static bool deliver_next(ki_registration *registration)
{
    KI_ASSERT_ON(registration->informer->life.client->handlers);
    ki_informer *informer = registration->informer;
    bool was_one = informer->life.may_deliver && !registration->is_paused &&
                   ki_listener_deliver(&registration->subscriber.listener);
    if (informer->is_blocked)
        ki_life_wake_dispatch(&informer->life);
    return was_one;
}

/* Wakes the calls that wait for this handler to be synced; they check the listener. */
static void wake_synced(ki_registration *registration)
{
    KI_ASSERT_ON(registration->informer->life.client->handlers);
    ki_informer *informer = registration->informer;
    if (registration->has_told_synced || !ki_listener_has_synced(&registration->subscriber.listener))
        return;
    registration->has_told_synced = true;
    ki_life_notify(&informer->life);
}

static void deliver(ki_registration *registration)
{
    KI_ASSERT_ON(registration->informer->life.client->handlers);
    size_t delivered = 0;
    bool has_time = true;
    delivering = registration;
    while (has_time && deliver_next(registration))
        has_time = ++delivered < CALLBACKS_AT_A_TIME && !ki_loop_is_over_budget();
    /* The batch also ends here while more events wait, since the handler may never catch up,
     * or may be stopped. */
    ki_listener_end_batch(&registration->subscriber.listener);
    delivering = NULL;
    wake_synced(registration);
    measure(registration);
    if (!has_time)
        ki_job_wake(&registration->job);
}

ki_registration *ki_registration_pause(void)
{
    assert(delivering != NULL);
    delivering->is_paused = true;
    return delivering;
}

void ki_registration_resume(ki_registration *registration)
{
    registration->is_paused = false;
    ki_job_wake(&registration->job);
}

/* Returns whether handlers may be called now. If so, a stop waits for leave(). */
static bool enter(ki_informer *informer)
{
    ki_mutex_lock(&informer->life.mu);
    bool may_deliver = informer->life.may_deliver;
    informer->callbacks += may_deliver;
    ki_mutex_unlock(&informer->life.mu);
    return may_deliver;
}

static void leave(ki_informer *informer)
{
    ki_mutex_lock(&informer->life.mu);
    bool is_last = --informer->callbacks == 0 && informer->life.stage == KI_STAGE_HALTED;
    ki_mutex_unlock(&informer->life.mu);
    if (is_last)
        ki_life_wake_dispatch(&informer->life);
}

typedef enum handler_state { STAYS, IS_ENDING, HAS_ENDED } handler_state;

static handler_state state_of(ki_registration *registration)
{
    handler_state state = STAYS;
    ki_mutex_lock(&registration->informer->life.mu);
    if (registration->is_removed)
        state = registration->is_released ? HAS_ENDED : IS_ENDING;
    ki_mutex_unlock(&registration->informer->life.mu);
    return state;
}

/* Calls on_release, the last callback, since nothing is delivered after a removal. dispatch frees the
 * registration when this run has ended; until then the job may be woken again. */
static void release(ki_registration *registration)
{
    ki_informer *informer = registration->informer;
    const ki_handler *handler = &registration->subscriber.listener.handler;
    ki_listener_drop_rest(&registration->subscriber.listener);
    if (handler->on_release != NULL)
        handler->on_release(handler->user);
    ki_mutex_lock(&informer->life.mu);
    registration->is_released = true;
    ki_mutex_unlock(&informer->life.mu);
    ki_life_wake_dispatch(&informer->life);
}

static void run_handler(ki_job *job)
{
    ki_registration *registration = KI_CONTAINER_OF(job, ki_registration, job);
    KI_ASSERT_ON(registration->informer->life.client->handlers);
    handler_state state = state_of(registration);
    if (state == IS_ENDING) {
        release(registration);
    } else if (state == STAYS && enter(registration->informer)) {
        deliver(registration);
        leave(registration->informer);
    }
}

/* ---- coming ------------------------------------------------------------------------------------------ */

static void registration_free(ki_registration *registration)
{
    ki_job_fini(&registration->job);
    ki_listener_fini(&registration->subscriber.listener);
    ki_handler_metrics_fini(&registration->metrics);
    ki_free(registration);
}

static void init_metrics(ki_registration *registration, const char *name)
{
    ki_informer *informer = registration->informer;
    char number[24];
    (void)snprintf(number, sizeof(number), "%" PRIu64, registration->serial);
    ki_handler_metrics_init(&registration->metrics, informer->life.client->metrics, informer->life.name,
                            informer->life.resource, ki_str_of(name == NULL ? number : name));
    registration->subscriber.listener.duration = registration->metrics.duration;
}

static ki_registration *registration_new(ki_informer *informer, const ki_handler *handler)
{
    ki_client *client = informer->life.client;
    ki_registration *registration = ki_calloc(1, sizeof(*registration));
    if (registration == NULL)
        return NULL;
    registration->informer = informer;
    registration->serial = atomic_fetch_add(&informer->last_serial, 1) + 1;
    if (ki_listener_init(&registration->subscriber.listener, handler, client->clock, client->seed) < 0 ||
        ki_job_init(&registration->job, client->handlers, run_handler) < 0) {
        registration_free(registration);
        return NULL;
    }
    return registration;
}

static void set_resync_locked(ki_registration *registration, const ki_handler *handler)
{
    ki_informer *informer = registration->informer;
    ki_resync_turn *turn = &registration->subscriber.resync;
    ki_resync_turn_init(turn, handler->resync_ms, &informer->check_ms, informer->life.was_started);
    ki_resync_turn_begin(turn, ki_clock_now_ms(informer->life.client->clock));
}

/* Why the handler is invalid, or NULL. */
static const char *fault_of(ki_informer *informer, const ki_handler *handler)
{
    if (handler == NULL)
        return "the handler is NULL";
    if (handler->overflow < KI_OVERFLOW_COALESCE || handler->overflow > KI_OVERFLOW_UNBOUNDED)
        return "its overflow is not a ki_overflow";
    if (handler->resync_ms > 0 && informer->used.resync_ms == 0)
        return "its resync_ms has no effect, since the informer has none";
    return NULL;
}

/* Also remembers the first failure of the set-up, which the start reports. Not after the first start, since a
 * later start would fail although the informer works. */
static ki_registration *refuse(ki_informer *informer, int code, const char *why, ki_error *err)
{
    ki_error failure = {0};
    ki_error_set(&failure, code, 0, "%s: adding a handler: %s", informer->life.name, why);
    ki_mutex_lock(&informer->life.mu);
    bool was_started = informer->life.was_started;
    if (!was_started && informer->life.setup_error.code == 0)
        informer->life.setup_error = failure;
    ki_mutex_unlock(&informer->life.mu);
    if (was_started)
        ki_log_to(informer->life.client->log, KI_LOG_ERROR, "informer", KI_LOG_NO_FIELDS, "%s",
                  failure.message);
    if (err != NULL)
        *err = failure;
    return NULL;
}

ki_registration *ki_informer_add_handler(ki_informer *informer, const ki_handler *handler, ki_error *err)
{
    if (informer == NULL) {
        (void)ki_fail_missing(err, "adding a handler: no informer");
        return NULL;
    }
    if (ki_client_check_process(informer->life.client, err) < 0)
        return NULL;
    const char *fault = fault_of(informer, handler);
    if (fault != NULL)
        return refuse(informer, KI_ERR_INVALID, fault, err);
    ki_registration *registration = registration_new(informer, handler);
    if (registration == NULL)
        return refuse(informer, KI_ERR_NO_MEMORY, ki_error_text(KI_ERR_NO_MEMORY), err);
    init_metrics(registration, handler->name);
    ki_mutex_lock(&informer->life.mu);
    set_resync_locked(registration, handler);
    ki_list_push_back(&informer->registrations, &registration->node);
    ki_client_count_handlers(informer->life.client, 1);
    ki_life_wake_dispatch(&informer->life);
    ki_mutex_unlock(&informer->life.mu);
    return registration;
}

/* ---- what dispatch does ------------------------------------------------------------------------------ */

static bool is_leaving(const ki_registration *registration)
{
    return registration->is_removed && (registration->is_joined || registration->is_released);
}

static bool is_coming(const ki_registration *registration)
{
    return !registration->is_removed && !registration->is_joined;
}

/* The next registration that needs work. It stays valid without the lock,
 * because only dispatch removes registrations. */
static ki_registration *next_that(ki_informer *informer, bool (*is_due)(const ki_registration *registration))
{
    ki_registration *due = NULL;
    ki_mutex_lock(&informer->life.mu);
    ki_list_node *node = ki_list_first(&informer->registrations);
    for (; node != NULL && due == NULL; node = ki_list_next(&informer->registrations, node))
        if (is_due(ki_registration_of(node)))
            due = ki_registration_of(node);
    ki_mutex_unlock(&informer->life.mu);
    return due;
}

static void dismiss(ki_informer *informer, ki_registration *registration)
{
    ki_fanout_leave(&registration->subscriber);
    ki_mutex_lock(&informer->life.mu);
    registration->is_joined = false;
    bool is_released = registration->is_released;
    if (is_released)
        ki_list_remove(&registration->node);
    ki_client_notify(informer->life.client);
    ki_mutex_unlock(&informer->life.mu);
    if (is_released) {
        ki_client_count_handlers(informer->life.client, -1);
        registration_free(registration);
    }
}

static int admit(ki_informer *informer, ki_registration *registration)
{
    int rc = ki_fanout_join(&informer->fanout, &registration->subscriber, informer->store,
                            informer->apply.is_synced);
    if (rc < 0)
        return rc;
    ki_mutex_lock(&informer->life.mu);
    registration->is_joined = true;
    ki_mutex_unlock(&informer->life.mu);
    return 0;
}

int ki_registrations_update(ki_informer *informer)
{
    KI_ASSERT_ON(informer->life.client->dispatch);
    int rc = 0;
    ki_registration *registration = NULL;
    while ((registration = next_that(informer, is_leaving)) != NULL)
        dismiss(informer, registration);
    while (rc == 0 && (registration = next_that(informer, is_coming)) != NULL)
        rc = admit(informer, registration);
    return rc;
}

/* ---- asking ------------------------------------------------------------------------------------------ */

int ki_registration_has_synced(const ki_registration *registration)
{
    return registration != NULL && !ki_life_is_foreign(&registration->informer->life) &&
           ki_listener_has_synced((ki_listener *)&registration->subscriber.listener);
}

void ki_registration_read_stats(const ki_registration *registration, ki_registration_stats *out_stats)
{
    if (out_stats == NULL)
        return;
    *out_stats = (ki_registration_stats){0};
    if (registration == NULL || ki_life_is_foreign(&registration->informer->life))
        return;
    ki_listener_stats stats = ki_listener_read_stats((ki_listener *)&registration->subscriber.listener);
    *out_stats = (ki_registration_stats){.backlog = stats.items,
                                         .backlog_bytes = stats.bytes,
                                         .backlog_high_water = stats.items_high_water,
                                         .coalesced = stats.coalesced,
                                         .delivered = stats.delivered,
                                         .handler_ns = stats.handler_ns};
}
