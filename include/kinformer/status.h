/* SPDX-License-Identifier: Apache-2.0 */
/* status - a Kubernetes Status: the server's description of an error. Threads: any, for all calls. */
#ifndef KI_STATUS_H
#define KI_STATUS_H

#include <kinformer/common.h>

KI_EXTERN_C_BEGIN

#define KI_STATUS_CAUSES_MAX 8

/** One cause of an error, possibly about one field. */
typedef struct ki_status_cause {
    ki_str cause_type; /* "FieldValueRequired"; "reason" on the wire */
    ki_str message;
    ki_str field; /* "spec.containers[0].image" */
} ki_status_cause;

/** All text is unescaped and lives as long as the ki_rest_answer that points to the Status. Fields that the
 * server did not send are empty. */
typedef struct ki_status {
    int http_status;         /* 409; "code" on the wire; 0: not sent */
    int retry_after_seconds; /* 0: not sent */
    ki_str status;           /* "Failure" */
    ki_str reason;           /* "AlreadyExists" */
    ki_str message;
    ki_str group; /* the object that the error is about */
    ki_str kind;
    ki_str name;
    ki_str uid;
    size_t cause_count; /* of `causes`; the server's further causes are not kept */
    ki_status_cause causes[KI_STATUS_CAUSES_MAX];
    uint64_t reserved[4]; /* the library's */
} ki_status;

/** 1 when one of the causes that were kept has this type, else 0; 0 for a NULL status. */
KI_API int ki_status_has_cause(const ki_status *status, const char *cause_type);

KI_EXTERN_C_END

#endif
