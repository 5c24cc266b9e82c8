/* SPDX-License-Identifier: Apache-2.0 */
/* discovery - asks a cluster for a resource that is not built in, by the name that kubectl accepts.
 *
 * Built-in resources are found by ki_resource_find() and "widgets.v1.example.com" is read by
 * ki_resource_parse(), both without a server. This is for the rest: "widgets", "widget",
 * "wd", "widgets.example.com".
 */
#ifndef KI_DISCOVERY_H
#define KI_DISCOVERY_H

#include <kinformer/client.h>
#include <kinformer/common.h>
#include <kinformer/error.h>
#include <kinformer/resource.h>

KI_EXTERN_C_BEGIN

/**
 * Called once for each search that was begun. `found`: the resource, or NULL and `err` says why; see
 * ki_discovery_run().
 *
 * Ownership: `found` is the callee's, to be freed with ki_resource_free().
 * Threads:   as a ki_rest_cb.
 */
typedef void (*ki_discovery_cb)(ki_resource *found, const ki_error *err, void *user);

/** Zero means default. Texts are copied. */
typedef struct ki_discovery_request {
    ki_str name;         /* as for ki_resource_find() */
    uint64_t timeout_ms; /* of each request; 0: as the client's options say */
    ki_discovery_cb on_end;
    void *user;
    uint64_t reserved[4];
} ki_discovery_request;

/**
 * Begins a search: one request to servers of today, which answer with all they have; older ones are asked for
 * each group that comes into question. Full names (plural, singular, kind) go before short ones, and what the
 * server prefers before the rest. Only what can be listed and watched is found.
 *
 * Returns: 0, and on_end is called whatever happens, at the latest in ki_client_free(); or, and then nobody
 *          is called, KI_ERR_INVALID (no name, no on_end, or a client without a cluster), KI_ERR_NO_MEMORY,
 *          KI_ERR_SYSTEM, KI_ERR_STOPPED.
 * Threads: any. Never waits.
 */
KI_API KI_NODISCARD int ki_discovery_begin(ki_client *client, const ki_discovery_request *request,
                                           ki_error *err);

/**
 * The same, and waits for its end, running the client's loops meanwhile if it has no threads for them.
 *
 * Returns:   0; what ki_discovery_begin() returns; KI_ERR_RESOURCE: the server has no such resource, or none
 *            that can be watched; what ki_rest_run() returns: the server could not be asked;
 *            KI_ERR_WOULD_DEADLOCK.
 * Ownership: the caller frees *out_resource with ki_resource_free().
 */
KI_API KI_NODISCARD int ki_discovery_run(ki_client *client, ki_str name, ki_resource **out_resource,
                                         ki_error *err);

KI_EXTERN_C_END

#endif
