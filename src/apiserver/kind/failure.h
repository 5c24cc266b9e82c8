/* SPDX-License-Identifier: Apache-2.0 */
/* failure - why a request is refused, as the Status object that Kubernetes would answer.
 *
 *   From:     every part of the server that can refuse
 *   To:       the HTTP answer
 *   Locks:    none
 *   Not here: ki_error, which is for whoever starts the server
 */
#ifndef KI_APISERVER_KIND_FAILURE_H
#define KI_APISERVER_KIND_FAILURE_H

#include <jansson.h>
#include <kinformer/common.h>
#include <stdbool.h>

struct ki_as_resource;

/* Zeroed: nothing failed. */
struct ki_as_failure {
    int code;                /* of HTTP; 0: nothing failed */
    int retry_after_seconds; /* 0: no Retry-After */
    json_t *status; /* the whole Status object; NULL with a code: memory is out, say 500 in plain text */
    const char *plain_text; /* instead of a Status, for paths that nobody serves; static */
};

void ki_as_failure_fini(struct ki_as_failure *failure);

/* All of these return -1, so that a refusal is one line: return ki_as_fail_not_found(failure, …). */

/* Any. `reason` "" leaves it out. `details` is taken over and may be NULL. */
int ki_as_fail(struct ki_as_failure *failure, int code, const char *reason, json_t *details,
               const char *format, ...) KI_PRINTF(5, 6);
int ki_as_fail_bad_request(struct ki_as_failure *failure, const char *format, ...) KI_PRINTF(2, 3);
int ki_as_fail_no_memory(struct ki_as_failure *failure);
/* 404 'pods "a" not found', 'deployments.apps "a" not found'. */
int ki_as_fail_not_found(struct ki_as_failure *failure, const struct ki_as_resource *resource, ki_str name);
/* "404 page not found" as text, for a path that is no API. */
int ki_as_fail_no_such_path(struct ki_as_failure *failure);
int ki_as_fail_already_exists(struct ki_as_failure *failure, const struct ki_as_resource *resource,
                              ki_str name, bool is_deleting);
/* 409 Conflict: 'Operation cannot be fulfilled on pods "a": …'. */
int ki_as_fail_conflict(struct ki_as_failure *failure, const struct ki_as_resource *resource, ki_str name,
                        const char *why);
/* 403 'pods "a" is forbidden: …'. */
int ki_as_fail_forbidden(struct ki_as_failure *failure, const struct ki_as_resource *resource, ki_str name,
                         const char *why);
/* 429 with Retry-After. */
int ki_as_fail_too_many(struct ki_as_failure *failure, const char *format, ...) KI_PRINTF(2, 3);
int ki_as_fail_method(struct ki_as_failure *failure);
/* 410 Expired. */
int ki_as_fail_expired(struct ki_as_failure *failure, const char *message);

/* ---- 422: what is wrong with an object, field by field ------------------------------------------------- */

/* Adds {"reason", "message", "field"} to an array of causes; reason as Kubernetes writes it,
 * "FieldValueInvalid", "FieldValueRequired", "FieldValueForbidden", "FieldValueNotSupported",
 * "FieldValueTooLong", …. `*causes` is made when it is NULL, and stays NULL without memory. */
void ki_as_cause_add(json_t **causes, const char *reason, const char *field, const char *format, ...)
    KI_PRINTF(4, 5);
/* 'Pod "a" is invalid: metadata.name: Invalid value: …' with all causes, several in brackets as Kubernetes
 * has them. Takes `causes` over. */
int ki_as_fail_invalid(struct ki_as_failure *failure, const struct ki_as_resource *resource, ki_str name,
                       json_t *causes);

#endif
