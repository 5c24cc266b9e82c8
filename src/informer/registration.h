/* SPDX-License-Identifier: Apache-2.0 */
/* registration - one handler of an informer, from its adding to its removal.
 *
 *   From:     informer/informer_run.c (dispatch adds and removes it), informer/informer.c (which passes
 *             ki_registration_push() to the fan-out), informer/registration_leave.c,
 *             controller/controller_watch.c, and the user, through <kinformer/informer.h>; by callback,
 *             handler/fanout.c (dispatch: events)
 *   To:       handler/listener.c (events on dispatch, deliveries on the handlers' loop),
 *             informer/registration_leave.c (removals, and waiting for their end)
 *   Locks:    the informer's mu, for the fields guarded by it.
 *   Not here: what is delivered, and how.
 *
 * dispatch adds the handler between two batches, and queues the objects of the store for it. After a removal,
 * the handler's job calls on_release as the last callback; then dispatch frees the registration.
 */
#ifndef KI_INFORMER_REGISTRATION_H
#define KI_INFORMER_REGISTRATION_H

#include "handler/fanout.h"
#include "handler/handler_metrics.h"
#include "informer/informer.h"

struct ki_registration {
    ki_informer *informer; /* constant, like `serial` */
    uint64_t serial;
    ki_subscriber subscriber; /* used on dispatch only, except its listener */
    ki_job job;               /* calls the handler */
    ki_handler_metrics metrics;
    uint64_t coalesced;     /* the number that has been added to the metrics; used on dispatch only */
    bool has_told_synced;   /* waiting calls were woken after SYNCED; used by the handler's job only */
    _Atomic bool is_paused; /* nothing is delivered until ki_registration_resume() */
    ki_list_node node;      /* guarded by the informer's mu, like all members below */
    bool is_joined;
    bool is_removed;
    bool is_released;
};

static inline ki_registration *ki_registration_of(ki_list_node *node)
{
    return KI_CONTAINER_OF(node, ki_registration, node);
}

/* On dispatch: adds new handlers, and frees those that were removed and released. Returns 0, or
 * KI_ERR_NO_MEMORY if it must be tried again. */
KI_NODISCARD int ki_registrations_update(ki_informer *informer) KI_EXCLUDES(informer->life.mu);

/* Removes all handlers: the informer is being freed. */
void ki_registrations_remove_all_locked(ki_informer *informer) KI_REQUIRES(informer->life.mu);

/* Wakes the jobs of all handlers: the informer runs again. */
void ki_registrations_wake_all_locked(ki_informer *informer) KI_REQUIRES(informer->life.mu);

/* Called from a callback: the handler that is being called gets nothing more, not even on_synced, until
 * ki_registration_resume(). Events stay in its backlog meanwhile. Returns the registration. */
ki_registration *ki_registration_pause(void);

/* Any thread, while the registration exists: delivers to the handler again. */
void ki_registration_resume(ki_registration *registration);

/* On dispatch, called by handler/fanout.c: queues events for the handler and wakes its job. Takes the
 * entries. */
void ki_registration_push(ki_subscriber *subscriber, ki_list *entries);

#endif
