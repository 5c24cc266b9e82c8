/* SPDX-License-Identifier: Apache-2.0 */
/* handle - what is answered to a request: one file per kind of request.
 *
 *   From:     apiserver/serve/exchange.c
 *   To:       storage, verbs, discovery, …; the answer of the exchange
 *   Locks:    the storage's, for each look or change
 *   Not here: sockets, faults of transport
 */
#ifndef KI_APISERVER_SERVE_HANDLE_H
#define KI_APISERVER_SERVE_HANDLE_H

#include "apiserver/serve/exchange.h"
#include "apiserver/verbs/verbs.h"

enum ki_as_step {
    KI_AS_STEP_FAILED = -1, /* exchange->failure says why */
    KI_AS_STEP_DONE = 0,    /* exchange->answer or exchange->stream is there */
    KI_AS_STEP_WAIT = 1     /* ask again a little later, until give_up_ns */
};

/* Any request. */
enum ki_as_step ki_as_handle(struct ki_as_exchange *exchange);

/* Which faults are for it. */
ki_fault_on ki_as_handle_kind(const struct ki_as_request *request);

/* What handlers of one resource get. */
struct ki_as_visit {
    struct ki_as_exchange *exchange;
    struct ki_as_request *request;
    struct ki_as_query *query;
    struct ki_as_resource *resource;
    struct ki_as_failure *failure;
    enum ki_as_form form;
};

enum ki_as_step ki_as_handle_get(struct ki_as_visit *visit);
enum ki_as_step ki_as_handle_list(struct ki_as_visit *visit);
enum ki_as_step ki_as_handle_watch(struct ki_as_visit *visit);
enum ki_as_step ki_as_handle_write(struct ki_as_visit *visit);
/* Discovery, health, schemas, …: all that is no resource. */
enum ki_as_step ki_as_handle_about(struct ki_as_exchange *exchange);
enum ki_as_step ki_as_handle_debug(struct ki_as_exchange *exchange);
/* What the client may do and who it is, asked by a creation. */
bool ki_as_is_review(const struct ki_as_request *request);
enum ki_as_step ki_as_handle_review(struct ki_as_exchange *exchange);

/* ---- for them ------------------------------------------------------------------------------------------ */

/* One object, in the form that is asked for. Drops the reference. */
enum ki_as_step ki_as_answer_object(struct ki_as_visit *visit, struct ki_as_object *object, int code);
/* Its Scale. Drops the reference. */
enum ki_as_step ki_as_answer_scale(struct ki_as_visit *visit, struct ki_as_object *object, int code);
/* A tree as it is. Takes it over; NULL is out of memory. */
enum ki_as_step ki_as_answer_tree(struct ki_as_exchange *exchange, json_t *tree, int code);
enum ki_as_step ki_as_answer_plain(struct ki_as_exchange *exchange, int code, const char *text);
/* What came of putting text together. */
enum ki_as_step ki_as_answer_text(struct ki_as_exchange *exchange, int rc, int code);
/* `failure` as the answer. */
void ki_as_answer_failure(struct ki_as_exchange *exchange, struct ki_as_failure *failure);

/* A page in the form that is asked for: `continue_token` "" for the last. */
struct ki_as_list_text {
    const struct ki_as_page *page;
    const char *continue_token;
    bool has_remaining;
};
enum ki_as_step ki_as_answer_page(struct ki_as_visit *visit, const struct ki_as_list_text *list);

/* The tree of a body, JSON or YAML by its Content-Type; an empty one is NULL with 0. */
KI_NODISCARD int ki_as_body_tree(struct ki_as_exchange *exchange, const char *kind, json_t **out);

/* resourceVersion as a number; 500 as Kubernetes says it for what is none. */
KI_NODISCARD int ki_as_version_parse(ki_str text, uint64_t *out, struct ki_as_failure *failure);

/* Whether `version` has been reached. Waits for 3 s (KI_AS_STEP_WAIT), then it is 504. */
enum ki_as_step ki_as_wait_for_version(struct ki_as_exchange *exchange, uint64_t version);

/* 422 about the options of a list or watch. */
enum ki_as_step ki_as_fail_option(struct ki_as_failure *failure, const char *field, const char *why);

/* The version that a replica shows that is late by a fault; 0: it is not. */
uint64_t ki_as_stale_version(struct ki_as_visit *visit);

#endif
