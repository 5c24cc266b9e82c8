/* SPDX-License-Identifier: Apache-2.0 */
/* follower - an informer of the real control plane, whose events are checked, and which is compared with
 * kubectl.
 *
 *   From:     tests of this folder
 *   To:       the public calls of the library; support/informer/heard.h; cluster/cluster.h
 */
#ifndef KI_TESTS_CLUSTER_FOLLOWER_H
#define KI_TESTS_CLUSTER_FOLLOWER_H

#include <kinformer.h>

#include "support/informer/heard.h"

typedef struct follower {
    const char *asked; /* arguments of kubectl get for the same objects: "pods -A" */
    ki_informer *informer;
    heard *heard; /* allocated separately: after a failed test, the informer still runs */
} follower;

/* Makes an informer that retries soon after each failure. It is not started. */
void follower_init(follower *f, ki_client *client, const ki_resource *resource,
                   const ki_informer_options *options);

/* Adds the handler and starts the informer; `asked` is kept. */
void follower_start(follower *f, const char *asked);

/* Like follower_start(), but the first event does not return before heard_let_go(), and the backlog holds
 * only this many events: so the list stops in the middle. */
void follower_start_held(follower *f, const char *asked, size_t backlog);

void follower_sync(follower *f);

/* Waits until the store, the handler and kubectl have the same objects: keys, UIDs, versions and all fields.
 * The test fails if that takes more than a minute and a half. */
void follower_converge(follower *f);

/* Converges once more, and frees it. The test fails if the handler has received an impossible event. */
void follower_fini(follower *f);

ki_informer_status follower_status(const follower *f);

typedef int (*follower_is)(follower *f);

/* Waits until the condition holds. The test fails after half a minute; its message names `what`. */
void follower_wait(follower *f, follower_is is_so, const char *what);

int follower_has(const follower *f, const char *ns, const char *name);

#endif
