/* SPDX-License-Identifier: Apache-2.0 */
/* Removes a handler, and waits for its removal or until it is synced. */
#include "client/callback.h"
#include "informer/registration.h"
#include "util/error.h"

/* ---- leaving ----------------------------------------------------------------------------------------- */

/* Does not free the backlog, because that would make dispatch wait too long for the lock. */
static void remove_locked(ki_informer *informer, ki_registration *registration) KI_REQUIRES(informer->life.mu)
{
    (void)informer; /* only for KI_REQUIRES */
    if (registration->is_removed)
        return;
    registration->is_removed = true;
    ki_listener_close(&registration->subscriber.listener);
    ki_job_wake(&registration->job);
}

void ki_registrations_remove_all_locked(ki_informer *informer)
{
    for (ki_list_node *node = ki_list_first(&informer->registrations); node != NULL;
         node = ki_list_next(&informer->registrations, node))
        remove_locked(informer, ki_registration_of(node));
}

void ki_registrations_wake_all_locked(ki_informer *informer)
{
    for (ki_list_node *node = ki_list_first(&informer->registrations); node != NULL;
         node = ki_list_next(&informer->registrations, node))
        ki_job_wake(&ki_registration_of(node)->job);
}

bool ki_informer_has_handlers(ki_informer *informer)
{
    bool has_some = false;
    ki_mutex_lock(&informer->life.mu);
    ki_list_node *node = ki_list_first(&informer->registrations);
    for (; node != NULL && !has_some; node = ki_list_next(&informer->registrations, node))
        has_some = !ki_registration_of(node)->is_removed;
    ki_mutex_unlock(&informer->life.mu);
    return has_some;
}

/* Requests the removal. Counts the waiting call before it releases the lock, because without this handler
 * another thread may free the informer at once. */
static void request_removal(ki_registration *registration, bool is_waited_for)
{
    ki_informer *informer = registration->informer;
    ki_backlog rest;
    ki_mutex_lock(&informer->life.mu);
    remove_locked(informer, registration);
    /* Take the backlog here, because a running callback may take long to end; and under the lock, because
     * without it the registration may be gone. */
    ki_listener_take_rest(&registration->subscriber.listener, &rest);
    if (is_waited_for)
        ki_life_begin_wait_locked(&informer->life);
    ki_life_wake_dispatch(&informer->life);
    ki_mutex_unlock(&informer->life.mu);
    ki_backlog_clear(&rest);
}

void ki_registration_remove(ki_registration *registration)
{
    if (registration != NULL && !ki_life_is_foreign(&registration->informer->life))
        request_removal(registration, false);
}

/* ---- waiting ----------------------------------------------------------------------------------------- */

/* The condition of a wait. The registration may be freed during the wait, so it is looked up each time. The
 * informer is not freed, since it counts the waiting call. */
typedef struct sought {
    ki_informer *informer;
    uint64_t serial;
    bool has_synced;
} sought;

/* Called under the informer's mu, like all conditions. */
static ki_registration *find_locked(const sought *s)
{
    ki_list_node *node = ki_list_first(&s->informer->registrations);
    while (node != NULL && ki_registration_of(node)->serial != s->serial)
        node = ki_list_next(&s->informer->registrations, node);
    return node == NULL ? NULL : ki_registration_of(node);
}

static bool is_gone(void *user)
{
    return find_locked(user) == NULL;
}

int ki_registration_remove_and_wait(ki_registration *registration)
{
    if (registration == NULL)
        return 0;
    if (ki_life_is_foreign(&registration->informer->life))
        return KI_ERR_FORKED;
    bool is_own = ki_job_is_current(&registration->job);
    int rc = is_own ? 0 : ki_client_may_wait();
    if (rc < 0)
        return rc;
    ki_informer *informer = registration->informer;
    sought s = {.informer = informer, .serial = registration->serial};
    request_removal(registration, !is_own);
    if (!is_own) {
        (void)ki_life_wait(&informer->life, is_gone, &s, UINT64_MAX);
        ki_life_end_wait(&informer->life);
    }
    return 0;
}

static bool is_synced_or_cannot_succeed(void *user)
{
    sought *s = user;
    const ki_informer *informer = s->informer;
    const ki_registration *registration = find_locked(s);
    s->has_synced = ki_registration_has_synced(registration);
    return s->has_synced || registration == NULL || registration->is_removed ||
           ki_life_cannot_succeed_locked(&informer->life);
}

static int wait_for_sync(sought *s, uint64_t timeout_ms, ki_error *err)
{
    ki_informer *informer = s->informer;
    const char *name = informer->life.name;
    bool is_over = ki_life_wait(&informer->life, is_synced_or_cannot_succeed, s, timeout_ms);
    if (s->has_synced)
        return 0;
    if (!ki_informer_has_synced(informer)) /* report why the informer is not synced */
        return ki_informer_wait_for_sync(informer, 0, err);
    return is_over
               ? ki_fail(err, KI_ERR_STOPPED, "%s: stopped before the handler had received everything", name)
               : ki_fail(err, KI_ERR_TIMEOUT, "%s: the handler did not receive everything in time", name);
}

int ki_registration_wait_for_sync(ki_registration *registration, uint64_t timeout_ms, ki_error *err)
{
    if (registration == NULL)
        return ki_fail_missing(err, "no registration");
    ki_informer *informer = registration->informer;
    sought s = {.informer = informer, .serial = registration->serial};
    int rc = ki_life_begin_wait(&informer->life, err);
    if (rc < 0)
        return rc;
    rc = wait_for_sync(&s, timeout_ms, err);
    ki_life_end_wait(&informer->life);
    return rc;
}
