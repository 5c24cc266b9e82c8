/* SPDX-License-Identifier: Apache-2.0 */
/* discovery - asks a cluster for a resource that is not built in, by the name that kubectl accepts.
 *
 * ki_resource_find() finds built-in resources and ki_resource_parse() reads "widgets.v1.example.com", both
 * without a server. Discovery is for all other names: "widgets", "widget", "wd", "widgets.example.com".
 */
#ifndef KI_DISCOVERY_H
#define KI_DISCOVERY_H

#include <kinformer/client.h>
#include <kinformer/common.h>
#include <kinformer/error.h>
#include <kinformer/resource.h>

KI_EXTERN_C_BEGIN

/**
 * Called once for each search that was started. `found` is the resource, or NULL; then `err` says why: see
 * ki_discovery_run(). On success the code of `err` is 0.
 *
 * Ownership: the callback takes `found` and frees it with ki_resource_free().
 * Threads:   the same as for a ki_rest_cb.
 */
typedef void (*ki_discovery_cb)(ki_resource *found, const ki_error *err, void *user);

/** Zero means default. Texts are copied. */
typedef struct ki_discovery_request {
    ki_str name;         /* as for ki_resource_find() */
    uint64_t timeout_ms; /* of each request; 0: as in the client's options */
    ki_discovery_cb on_end;
    void *user;
    uint64_t reserved[4];
} ki_discovery_request;

/**
 * Begins a search, which cannot be cancelled. Current servers describe all their resources in one response;
 * older ones need one request per candidate group. Full names (plural, singular, kind) take precedence over
 * short names, and the server's preferred version over others. Only resources that can be listed and watched
 * are found.
 *
 * Returns: 0: on_end will be called exactly once, at the latest by ki_client_free(). On failure on_end is not
 *          called: KI_ERR_INVALID (no name, no on_end, or a client without a cluster), KI_ERR_NO_MEMORY,
 *          KI_ERR_SYSTEM, KI_ERR_STOPPED, KI_ERR_FORKED.
 * Threads: any. Never waits.
 */
KI_API KI_NODISCARD int ki_discovery_begin(ki_client *client, const ki_discovery_request *request,
                                           ki_error *err);

/**
 * Searches and waits for the result; each request may take as long as the client's request_timeout_ms. With
 * KI_MODE_EVENT_LOOP and KI_MODE_HANDLERS_ON_LOOP it runs the client's loop meanwhile, handlers included:
 * call it on the thread that dispatches.
 *
 * Returns:   0; what ki_discovery_begin() returns; KI_ERR_RESOURCE: the server has no such resource;
 *            KI_ERR_TYPE: it has one that cannot be listed and watched; KI_ERR_NOT_A_LIST: its response
 *            cannot be read; KI_ERR_WOULD_DEADLOCK inside a callback or a read section; the code of
 *            ki_rest_run() when the request failed.
 * Ownership: the caller frees *out_resource with ki_resource_free(). Untouched on failure.
 */
KI_API KI_NODISCARD int ki_discovery_run(ki_client *client, ki_str name, ki_resource **out_resource,
                                         ki_error *err);

KI_EXTERN_C_END

#endif
