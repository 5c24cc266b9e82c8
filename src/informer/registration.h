/* SPDX-License-Identifier: Apache-2.0 */
/* registration - one handler of an informer, from its adding to its removal.
 *
 *   From:     the user's calls (any thread); dispatch, which adds and removes it
 *   To:       handler/listener.c, on the handlers' loop
 *             informer/registration_leave.c   (removals, and waiting for it)
 *   Locks:    the informer's mu, for the fields guarded by it.
 *   Not here: what is delivered, and how.
 *
 * dispatch adds it between two batches, with the objects of the store. When it is removed, the handler's job
 * calls on_release after the last callback; then dispatch removes and frees it.
 */
#ifndef KI_INFORMER_REGISTRATION_H
#define KI_INFORMER_REGISTRATION_H

#include "handler/fanout.h"
#include "handler/handler_metrics.h"
#include "informer/informer.h"

struct ki_registration {
    ki_informer *informer; /* constant, as the next */
    uint64_t serial;
    ki_subscriber subscriber; /* dispatch's, except its listener */
    ki_job job;               /* calls the handler */
    ki_handler_metrics metrics;
    uint64_t coalesced;   /* that were counted; dispatch's */
    bool has_told_synced; /* a call waits for it; handler's */
    _Atomic bool is_held; /* nothing is delivered until it is released */
    ki_list_node node;    /* guarded by the informer's mu, as all below */
    bool is_joined;
    bool is_removed;
    bool is_released;
};

static inline ki_registration *ki_registration_of(ki_list_node *node)
{
    return KI_CONTAINER_OF(node, ki_registration, node);
}

/* On dispatch: adds new handlers and removes those that have ended. Returns 0, or KI_ERR_NO_MEMORY when it
 * must be tried again. */
KI_NODISCARD int ki_registrations_update(ki_informer *informer) KI_EXCLUDES(informer->life.mu);

/* Removes all: the informer is being freed. */
void ki_registrations_remove_all_locked(ki_informer *informer) KI_REQUIRES(informer->life.mu);

/* Wakes those with a backlog: the informer runs again. */
void ki_registrations_wake_all_locked(ki_informer *informer) KI_REQUIRES(informer->life.mu);

/* From a callback: the handler that is being called gets nothing more, not even `synced`, until it is
 * released. What comes meanwhile stays in its backlog. Returns the handler. */
ki_registration *ki_registration_hold(void);

/* On any thread, while the registration exists. */
void ki_registration_let_go(ki_registration *registration);

/* For handler/fanout.h. */
void ki_registration_wake(ki_subscriber *subscriber);

#endif
