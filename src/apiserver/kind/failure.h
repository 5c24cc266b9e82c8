/* SPDX-License-Identifier: Apache-2.0 */
/* failure - why a request is rejected, as the Status object that Kubernetes would send.
 *
 *   From:     all code that can reject a request
 *   To:       the HTTP response
 *   Locks:    none
 *   Not here: ki_error, which the functions that start the server use
 */
#ifndef KI_APISERVER_KIND_FAILURE_H
#define KI_APISERVER_KIND_FAILURE_H

#include <jansson.h>
#include <kinformer/common.h>
#include <stdbool.h>

struct ki_as_resource;

/* A zeroed struct means no failure. */
struct ki_as_failure {
    int code;                /* HTTP status; 0 means no failure */
    int retry_after_seconds; /* 0 omits Retry-After */
    /* The whole Status object. If it is NULL although `code` is set,
     * memory ran out: respond 500 in plain text. */
    json_t *status;
    const char *plain_text; /* static; the response instead of a Status, for paths that are not served */
};

void ki_as_failure_fini(struct ki_as_failure *failure);

/* The functions below return -1, so that a caller can write: return ki_as_fail_not_found(failure, …). */

/* Any code. A `reason` of "" is omitted. Takes `details`, which may be NULL. */
int ki_as_fail(struct ki_as_failure *failure, int code, const char *reason, json_t *details,
               const char *format, ...) KI_PRINTF(5, 6);
int ki_as_fail_bad_request(struct ki_as_failure *failure, const char *format, ...) KI_PRINTF(2, 3);
int ki_as_fail_no_memory(struct ki_as_failure *failure);
/* 404 'pods "a" not found', 'deployments.apps "a" not found'. */
int ki_as_fail_not_found(struct ki_as_failure *failure, const struct ki_as_resource *resource, ki_str name);
/* "404 page not found" as text, for a path outside the API. */
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

/* ---- 422: an object's validation errors, field by field ------------------------------------------------ */

/* Adds {"reason", "message", "field"} to an array of causes. `reason` is Kubernetes' word, such as
 * "FieldValueInvalid", "FieldValueRequired", "FieldValueForbidden", "FieldValueNotSupported" or
 * "FieldValueTooLong". `*causes` is created if it is NULL; it stays NULL if out of memory. */
void ki_as_cause_add(json_t **causes, const char *reason, const char *field, const char *format, ...)
    KI_PRINTF(4, 5);
/* 'Pod "a" is invalid: metadata.name: Invalid value: …' with all causes, several in brackets as in
 * Kubernetes. Takes `causes`. */
int ki_as_fail_invalid(struct ki_as_failure *failure, const struct ki_as_resource *resource, ki_str name,
                       json_t *causes);

#endif
