/* SPDX-License-Identifier: Apache-2.0 */
/* sync - what the controller does about one Foo. */
#ifndef SAMPLE_SYNC_H
#define SAMPLE_SYNC_H

#include <kinformer.h>

extern const ki_resource FOOS;

typedef struct sync_context {
    ki_client *client; /* for writes */
    ki_informer *foos;
    ki_informer *deployments;
    ki_recorder *recorder;
} sync_context;

/* The reconcile function; `user` is a sync_context. */
ki_result sync_foo(ki_request *request, void *user);

#endif
