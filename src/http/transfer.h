/* SPDX-License-Identifier: Apache-2.0 */
/* transfer - one request, and its response piece by piece.
 *
 *   From:     reflector/http_source.c, rest/rest_call.c   (requests)
 *             libcurl, which calls http/transfer_receive.c (received bytes)
 *   To:       libcurl (requests); the callbacks of reflector/http_source.c and rest/rest_call.c (responses)
 *   Locks:    none; io only.
 *   Not here: retrying; what a response means.
 *
 * The callbacks run on io, never inside ki_transfer_new(), ki_transfer_resume() or ki_transfer_cancel().
 * Redirects are not followed: they end with KI_REASON_REDIRECTED.
 */
#ifndef KI_HTTP_TRANSFER_H
#define KI_HTTP_TRANSFER_H

#include <kinformer/list_watch.h>

#include "http/http.h"
#include "http/response_head.h"

typedef struct ki_transfer ki_transfer;

typedef struct ki_transfer_events {
    /* Once, when the head of the response is complete. */
    void (*on_head)(ki_transfer *transfer, const ki_response_head *head, void *user);
    /* Consumes all bytes. Returns 0; 1 to pause, with neither more data nor the end until
     * ki_transfer_resume(); negative if it was cancelled. */
    int (*on_body)(ki_transfer *transfer, const char *bytes, size_t n, void *user);
    /* Once, at the end, unless the transfer was cancelled. `reason` is NONE if the response is complete,
     * whatever its status, or if it is an error whose body takes too long; otherwise it is the cause, with a
     * message without secrets. The transfer is freed afterwards. */
    void (*on_end)(ki_transfer *transfer, ki_reason reason, const char *message, void *user);
    /* There is a connection, and the request is now sent on it. Called again if the request has to be sent on
     * another connection. May be NULL. */
    void (*on_sent)(ki_transfer *transfer, void *user);
} ki_transfer_events;

/* Zero means default. Everything is copied except `events`. */
typedef struct ki_transfer_request {
    const char *method;         /* NULL for GET */
    ki_str target;              /* "/api/v1/pods?limit=500" */
    const char *const *headers; /* "Accept: application/json", …; NULL-terminated; NULL for none */
    ki_str body;
    const ki_transfer_events *events;
    void *user;
    uint64_t head_timeout_ms; /* from now to the head of the response; 0: as in the options of ki_http */
    bool is_watch;            /* long-lived: its duration is not measured */
    bool may_be_cut;          /* ended instead of paused, so that it may share an HTTP/2 connection */
    bool is_long;             /* a large response is likely; larger pieces are read */
} ki_transfer_request;

/* Returns NULL with KI_ERR_NO_MEMORY. */
KI_NODISCARD ki_transfer *ki_transfer_new(ki_http *http, const ki_transfer_request *request, ki_error *err);

/* Ends the transfer: no callback is called any more, even if this was called from one. Never waits. */
void ki_transfer_cancel(ki_transfer *transfer);

/* In on_end: whether the transfer failed because of the proxy, not because of the server. */
bool ki_transfer_is_proxys(const ki_transfer *transfer);

/* The loop of its callbacks, for assertions. */
ki_loop *ki_transfer_loop(const ki_transfer *transfer);

/* Continues after on_body has returned 1. */
void ki_transfer_resume(ki_transfer *transfer);

#endif
