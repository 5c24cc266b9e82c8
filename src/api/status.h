/* SPDX-License-Identifier: Apache-2.0 */
/* status - a Kubernetes Status: how a server says what went wrong.
 *
 *   From:     error answers, ERROR events of a watch, answers that should have been a list
 *   Locks:    none; plain data with an owner.
 *   Not here: what to do about it.
 */
#ifndef KI_API_STATUS_H
#define KI_API_STATUS_H

#include <kinformer/error.h>
#include <kinformer/json.h>

#define KI_STATUS_CAUSES_MAX 8

typedef struct ki_status_cause {
    ki_str type; /* "ResourceVersionTooLarge"; "reason" on the wire */
    ki_str message;
    ki_str field;
} ki_status_cause;

/* All text is unescaped and lives in `memory`. A zeroed one is valid and empty. */
typedef struct ki_status {
    int code;                /* 410; 0 when it does not say */
    int retry_after_seconds; /* 0 when it does not say */
    ki_str status;           /* "Failure" */
    ki_str reason;           /* "Expired" */
    ki_str message;
    ki_str group; /* what the details are about */
    ki_str kind;
    ki_str name;
    ki_str uid;
    size_t cause_count; /* the first KI_STATUS_CAUSES_MAX are kept */
    ki_status_cause causes[KI_STATUS_CAUSES_MAX];
    char *memory;
} ki_status;

/* Reads valid JSON. Members that are missing or of a wrong type are left empty. Returns 0; KI_ERR_TYPE when
 * it is no object with the kind Status, KI_ERR_NO_MEMORY. `out` is written on success only; the caller ends
 * it with ki_status_fini(). */
KI_NODISCARD int ki_status_read(ki_json json, ki_status *out);

/* As above for a text that may be anything: the body of an answer. Returns also the errors of JSON. */
KI_NODISCARD int ki_status_parse(ki_str body, ki_status *out, ki_error *err);

void ki_status_fini(ki_status *status);

/* 1 when one of the causes has this type. */
int ki_status_has_cause(const ki_status *status, const char *type);

#endif
