/* SPDX-License-Identifier: Apache-2.0 */
/* request - parses the method and the address of a request.
 *
 *   From:     apiserver/serve/exchange.c, which has the address as sent; apiserver/serve/http.c (the method),
 *             apiserver/serve/handle_write.c (numbers)
 *   To:       apiserver/request/query.c, apiserver/request/percent.c; the request goes to
 *             apiserver/serve/handle.c
 *   Locks:    none
 *   Not here: headers, bodies; whether a resource is served
 */
#ifndef KI_APISERVER_REQUEST_REQUEST_H
#define KI_APISERVER_REQUEST_REQUEST_H

#include <kinformer/common.h>
#include <stdbool.h>

#include "apiserver/kind/failure.h"

enum ki_as_method {
    KI_AS_METHOD_OTHER,
    KI_AS_METHOD_GET,
    KI_AS_METHOD_HEAD,
    KI_AS_METHOD_POST,
    KI_AS_METHOD_PUT,
    KI_AS_METHOD_PATCH,
    KI_AS_METHOD_DELETE
};

/* The target of an address. */
enum ki_as_target {
    KI_AS_TARGET_NONE, /* not served */
    KI_AS_TARGET_ROOT,
    KI_AS_TARGET_HEALTH,         /* /healthz, /livez, /readyz */
    KI_AS_TARGET_SERVER_VERSION, /* /version */
    KI_AS_TARGET_CORE,           /* /api */
    KI_AS_TARGET_GROUPS,         /* /apis */
    KI_AS_TARGET_GROUP,          /* /apis/GROUP */
    KI_AS_TARGET_VERSION,        /* /api/VERSION, /apis/GROUP/VERSION */
    KI_AS_TARGET_RESOURCE,
    KI_AS_TARGET_OPENAPI_OLD,     /* /openapi/v2 */
    KI_AS_TARGET_OPENAPI,         /* /openapi/v3 */
    KI_AS_TARGET_OPENAPI_VERSION, /* /openapi/v3/api/VERSION, /openapi/v3/apis/GROUP/VERSION */
    KI_AS_TARGET_DEBUG            /* /debug/NAME */
};

/* The parameters of the query that this server uses; missing ones are empty. All texts are decoded. */
struct ki_as_query {
    ki_str label_selector;
    ki_str field_selector;
    ki_str resource_version;
    ki_str resource_version_match;
    ki_str continue_token;
    ki_str field_manager;
    ki_str field_validation;
    ki_str dry_run;
    ki_str propagation_policy;
    ki_str grace_period_seconds;
    ki_str include_object;
    ki_str by;                /* of /debug/rewind */
    ki_str ms;                /* of /debug/down */
    ki_str since;             /* of /debug/requests */
    uint64_t limit;           /* 0 for no limit */
    uint64_t timeout_seconds; /* 0 for no timeout */
    bool is_watch;
    bool allows_bookmarks;
    bool has_send_initial_events;
    bool send_initial_events;
    bool has_force;
    bool is_forced;
    bool has_pretty;
    bool is_pretty;
    bool is_reset; /* of /debug/cut */
};

/* Texts point into `memory`. A zeroed struct is empty. */
struct ki_as_request {
    enum ki_as_method method;
    enum ki_as_target target;
    ki_str path; /* decoded, without the query */
    ki_str group;
    ki_str version;
    ki_str plural;
    ki_str ns;
    ki_str name; /* of an object; of /debug/NAME */
    ki_str subresource;
    struct ki_as_query query;
    char *memory;
};

enum ki_as_method ki_as_method_of(const char *name);

/* Parses an address as in the request line: "/api/v1/pods?limit=3". If it cannot be decoded or an option is
 * invalid, fails with 400 and Kubernetes' message. `out` must be freed in either case. */
KI_NODISCARD int ki_as_request_parse(ki_str address, struct ki_as_request *out,
                                     struct ki_as_failure *failure);
void ki_as_request_fini(struct ki_as_request *request);

/* Parses an int64. A negative number gives 0: no limit or timeout.
 * So does an empty text. Fails with 400 and Go's message if the text is not a number. */
KI_NODISCARD int ki_as_number_parse(ki_str value, uint64_t *out, struct ki_as_failure *failure);

/* For request.c: parses the part of the address after '?', and decodes it in place. */
KI_NODISCARD int ki_as_query_parse(char *text, size_t len, struct ki_as_query *out,
                                   struct ki_as_failure *failure);

/* Decodes %XX in place (with `is_form` also '+'). Returns the length, or -1 if a %XX is malformed, or if the
 * result is invalid UTF-8 or contains a NUL. */
ptrdiff_t ki_as_percent_decode(char *text, size_t len, bool is_form);

#endif
