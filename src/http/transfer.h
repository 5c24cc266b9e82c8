/* SPDX-License-Identifier: Apache-2.0 */
/* transfer - one request, and its answer piece by piece.
 *
 *   From:     reflector/http_source.c
 *   To:       http/http.c; the callbacks of who asked
 *   Locks:    none; io's.
 *   Not here: trying again; what an answer means.
 *
 * The callbacks run on io, never inside ki_transfer_new(), ki_transfer_resume() or ki_transfer_cancel(). A
 * redirect is not followed: it is an end with KI_REASON_REDIRECTED.
 */
#ifndef KI_HTTP_TRANSFER_H
#define KI_HTTP_TRANSFER_H

#include <kinformer/list_watch.h>

#include "http/http.h"
#include "http/response_head.h"

typedef struct ki_transfer ki_transfer;

typedef struct ki_transfer_events {
    /* Once, when the server has answered. */
    void (*on_head)(ki_transfer *transfer, const ki_response_head *head, void *user);
    /* All bytes are taken. Returns 0; 1: neither more nor the end of the answer until ki_transfer_resume();
     * negative: it was cancelled. */
    int (*on_body)(ki_transfer *transfer, const char *bytes, size_t n, void *user);
    /* Once, at last, unless it was cancelled: NONE when the answer is complete, whatever its status, or is
     * an error whose body takes too long; else what cut it, in words without a secret.
     * The transfer is gone afterwards. */
    void (*on_end)(ki_transfer *transfer, ki_reason reason, const char *message, void *user);
    /* After one on_body or several: no more is at hand now. NULL: does not matter. */
    void (*on_pause)(ki_transfer *transfer, void *user);
    /* There is a connection, and the request goes out on it now; again when it has to be sent anew on
     * another one. NULL: does not matter. */
    void (*on_sent)(ki_transfer *transfer, void *user);
} ki_transfer_events;

/* Zero means default. All is copied but `events`. */
typedef struct ki_request {
    const char *method;         /* NULL: GET */
    ki_str target;              /* "/api/v1/pods?limit=500" */
    const char *const *headers; /* "Accept: application/json", …; NULL-terminated; NULL: none */
    ki_str body;
    const ki_transfer_events *events;
    void *user;
    uint64_t
        head_timeout_ms; /* from now to the head of the answer, in all; 0: as the options of ki_http say */
    bool is_watch;       /* lives for long: how long is not measured */
    bool may_be_cut;     /* instead of being paused: so it may share a connection (HTTP/2) with others */
    bool is_long;        /* a large answer is likely, which larger pieces make faster */
} ki_request;

/* Returns NULL with KI_ERR_NO_MEMORY. */
KI_NODISCARD ki_transfer *ki_transfer_new(ki_http *http, const ki_request *request, ki_error *err);

/* Ends it: no callback any more, also when it is called inside one. Never waits. */
void ki_transfer_cancel(ki_transfer *transfer);

/* After on_body has returned 1. */
void ki_transfer_resume(ki_transfer *transfer);

#endif
