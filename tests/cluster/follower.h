/* SPDX-License-Identifier: Apache-2.0 */
/* follower - an informer of the real control plane, a handler that knows legal histories, what kubectl says.
 *
 *   From:     tests of this folder
 *   To:       the public calls of the library; support/heard.h; cluster/cluster.h
 */
#ifndef KI_TESTS_CLUSTER_FOLLOWER_H
#define KI_TESTS_CLUSTER_FOLLOWER_H

#include <kinformer.h>

#include "support/heard.h"

typedef struct follower {
    const char *asked; /* of kubectl get, for the same objects: "pods -A" */
    ki_informer *informer;
    heard *heard; /* of its own memory: the informer of a test that fails continues */
} follower;

/* Makes an informer that is not started, which tries again soon after each failure. */
void follower_init(follower *f, ki_client *client, const ki_resource *resource,
                   const ki_informer_options *options);

/* Starts it, with the handler; `asked` is kept. */
void follower_start(follower *f, const char *asked);

/* The same; the first event does not return before heard_let_go(), and no more than this many wait behind it:
 * so the list stands still in the middle. */
void follower_start_held(follower *f, const char *asked, size_t backlog);

void follower_sync(follower *f);

/* Waits until the store, the handler and kubectl know the same objects: keys, UIDs, versions and all fields.
 * The test fails when that takes longer than a minute and a half. */
void follower_converge(follower *f);

/* Converges once more, and frees it; the test fails when the handler has heard of something that cannot
 * be. */
void follower_fini(follower *f);

ki_informer_status follower_status(const follower *f);

typedef int (*follower_is)(follower *f);

/* Waits until it is so; the test fails after half a minute, and says `what` has not come. */
void follower_wait(follower *f, follower_is is_so, const char *what);

int follower_has(const follower *f, const char *ns, const char *name);

#endif
