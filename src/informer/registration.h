/* SPDX-License-Identifier: Apache-2.0 */
/* registration - one handler of an informer, from its coming to its going.
 *
 *   From:     the user's calls (any thread); dispatch, which lets it in and out
 *   To:       handler/listener.c, on the handlers' loop
 *             informer/registration_leave.c   (removals, and waiting for it)
 *   Locks:    the informer's mu for what is said to be guarded by it.
 *   Not here: what is delivered, and how.
 *
 * It is let in by dispatch, between two batches, with what the store holds. When it is removed, the handler's
 * job calls on_release after the last callback, dispatch takes it out, and then frees it.
 */
#ifndef KI_INFORMER_REGISTRATION_H
#define KI_INFORMER_REGISTRATION_H

#include "handler/fanout.h"
#include "handler/handler_metrics.h"
#include "informer/informer.h"

struct ki_registration {
    ki_informer *informer; /* constant, as the next */
    uint64_t serial;
    ki_subscriber subscriber; /* dispatch's, but for its listener */
    ki_job job;               /* calls the handler */
    ki_handler_metrics metrics;
    uint64_t coalesced;   /* that were counted; dispatch's */
    bool has_told_synced; /* whoever waits for it; handler's */
    ki_list_node node;    /* guarded by the informer's mu, as all below */
    bool is_joined;
    bool is_removed;
    bool is_released;
};

static inline ki_registration *ki_registration_of(ki_list_node *node)
{
    return KI_CONTAINER_OF(node, ki_registration, node);
}

/* Lets in those that have come and takes out those that have gone: on dispatch. Returns 0, or
 * KI_ERR_NO_MEMORY when it has to be tried again. */
KI_NODISCARD int ki_registrations_update(ki_informer *informer) KI_EXCLUDES(informer->life.mu);

/* All are removed: the informer is being freed. */
void ki_registrations_remove_all_locked(ki_informer *informer) KI_REQUIRES(informer->life.mu);

/* Those that have a backlog go on: the informer runs again. */
void ki_registrations_wake_all_locked(ki_informer *informer) KI_REQUIRES(informer->life.mu);

/* For handler/fanout.h. */
void ki_registration_wake(ki_subscriber *subscriber);

#endif
