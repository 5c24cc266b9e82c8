/* SPDX-License-Identifier: Apache-2.0 */
/* request_log - the latest requests, for tests that check which requests were made, and when.
 *
 *   From:     apiserver/serve/exchange.c, once per request; apiserver/serve/apiserver.c and
 *             apiserver/serve/handle_debug.c, which show it
 *   To:       ki_apiserver_requests(), /debug/requests
 *   Locks:    one mutex, a leaf; no callback runs while it is held
 *   Not here: which data of a request is logged
 *
 * A ring of entries, numbered from 1: entry n is in slot n % KI_AS_REQUESTS_MAX until entry
 * n + KI_AS_REQUESTS_MAX replaces it. Entries are immutable and reference-counted, so that a reader needs the
 * lock only to find the next one.
 */
#ifndef KI_APISERVER_SERVE_REQUEST_LOG_H
#define KI_APISERVER_SERVE_REQUEST_LOG_H

#include <jansson.h>
#include <kinformer/apiserver.h>

enum { KI_AS_REQUESTS_MAX = 10000 };

struct ki_as_request_log;

/* NULL if out of memory. */
struct ki_as_request_log *ki_as_request_log_new(void);
/* NULL is allowed. */
void ki_as_request_log_free(struct ki_as_request_log *log);

/* The texts of an entry, in the order in which they are written. */
enum ki_as_request_text {
    KI_AS_REQUEST_METHOD,
    KI_AS_REQUEST_PATH,
    KI_AS_REQUEST_USER_AGENT,
    KI_AS_REQUEST_REMOTE,
    KI_AS_REQUEST_USER,
    KI_AS_REQUEST_GROUP,
    KI_AS_REQUEST_RESOURCE,
    KI_AS_REQUEST_NAMESPACE,
    KI_AS_REQUEST_NAME,
    KI_AS_REQUEST_SUBRESOURCE,
    KI_AS_REQUEST_FAULT,
    KI_AS_REQUEST_TEXTS
};

/* The data of an entry. The start of each text is copied, with '?' for bytes that are not printable ASCII. */
struct ki_as_request_note {
    int64_t time_us;
    uint64_t took_us;
    uint64_t version;
    int status;
    ki_str texts[KI_AS_REQUEST_TEXTS];
};

/* Adds an entry. If out of memory, the entry is missing, and its number is skipped. */
void ki_as_request_log_add(struct ki_as_request_log *log, const struct ki_as_request_note *note);

/* Like ki_apiserver_requests(). */
uint64_t ki_as_request_log_read(struct ki_as_request_log *log, uint64_t since, ki_apiserver_request_cb each,
                                void *user);

/* A line of /debug/requests; NULL if out of memory. */
json_t *ki_as_request_json(const ki_apiserver_request *request);

#endif
