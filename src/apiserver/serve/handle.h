/* SPDX-License-Identifier: Apache-2.0 */
/* handle - the request handlers: one file per kind of request.
 *
 *   From:     apiserver/serve/exchange.c
 *   To:       apiserver/serve/handle_*.c; these call apiserver/storage/ (reads), apiserver/verbs/ (changes),
 *             apiserver/show/ (discovery) and apiserver/serve/render.h (the response)
 *   Locks:    the storage's, for each read or change
 *   Not here: sockets, transport faults
 */
#ifndef KI_APISERVER_SERVE_HANDLE_H
#define KI_APISERVER_SERVE_HANDLE_H

#include "apiserver/serve/exchange.h"
#include "apiserver/verbs/verbs.h"

enum ki_as_step {
    KI_AS_STEP_FAILED = -1, /* with exchange->failure */
    KI_AS_STEP_DONE = 0,    /* exchange->answer or exchange->stream is set */
    KI_AS_STEP_WAIT = 1     /* try again later, until give_up_ns */
};

/* Handles any request. */
enum ki_as_step ki_as_handle(struct ki_as_exchange *exchange);

/* The kind of request for fault rules; 0 if no rule can apply. */
ki_fault_on ki_as_handle_fault_on(const struct ki_as_request *request);

/* The parameters of a resource's handlers. */
struct ki_as_task {
    struct ki_as_exchange *exchange;
    struct ki_as_request *request;
    struct ki_as_query *query;
    struct ki_as_resource *resource;
    struct ki_as_failure *failure;
    enum ki_as_form form; /* JSON, TABLE or METADATA; for protobuf, see answer.is_proto */
};

enum ki_as_step ki_as_handle_get(struct ki_as_task *task);
enum ki_as_step ki_as_handle_list(struct ki_as_task *task);
enum ki_as_step ki_as_handle_watch(struct ki_as_task *task);
enum ki_as_step ki_as_handle_write(struct ki_as_task *task);
/* Handles discovery, health, schemas, …: all requests except those for resources and /debug. */
enum ki_as_step ki_as_handle_about(struct ki_as_exchange *exchange);
enum ki_as_step ki_as_handle_debug(struct ki_as_exchange *exchange);
/* Access and identity reviews, which clients create and the server does not store. */
bool ki_as_is_review(const struct ki_as_request *request);
enum ki_as_step ki_as_handle_review(struct ki_as_exchange *exchange);

/* ---- for handlers -------------------------------------------------------------------------------------- */

/* Parses the body as JSON, YAML or protobuf, by its Content-Type. An empty body gives NULL and returns 0. */
KI_NODISCARD int ki_as_body_tree(struct ki_as_exchange *exchange, const char *kind, json_t **out);

/* Parses a resourceVersion. Fails with 500 and Kubernetes' message if it is not a number. */
KI_NODISCARD int ki_as_version_parse(ki_str text, uint64_t *out, struct ki_as_failure *failure);

/* Checks that the storage has reached `version`. Returns KI_AS_STEP_WAIT for up to 3 s,
 * then fails with 504. */
enum ki_as_step ki_as_wait_for_version(struct ki_as_exchange *exchange, uint64_t version);

/* Fails with 422 because of an option of a list or watch. */
enum ki_as_step ki_as_fail_option(struct ki_as_failure *failure, const char *field, const char *why);

/* The version that a stale replica shows because of a fault; 0 if there is no such fault. */
uint64_t ki_as_stale_version(struct ki_as_task *task);

#endif
