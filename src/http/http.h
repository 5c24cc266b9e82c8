/* SPDX-License-Identifier: Apache-2.0 */
/* http - libcurl's multi interface on a loop: the only code that touches the network.
 *
 *   From:     client/ (which makes it), http/transfer.c (requests), reflector/; also http/request_options.c,
 *             http/transfer_send.c, rest/rest_call.c
 *   To:       libcurl; util/loop/fd_watch.h and timers of the loop
 *   Locks:    none; io only.
 *   Not here: the content of requests and responses.
 *
 * Each socket of libcurl is a watch of the loop, and the timer of each multi handle is a job. Descriptors are
 * close-on-exec, except those that libcurl opens for itself: its wake-up pair, and one for a name lookup.
 *
 * A name lookup runs on a thread of libcurl's, and getaddrinfo() cannot be cancelled. Cancelling a request
 * does not wait for it: libcurl detaches the thread (CURLOPT_QUICK_EXIT), which ends when the system's
 * resolver gives up, and then frees its memory and its descriptor. A numeric address needs no thread.
 */
#ifndef KI_HTTP_HTTP_H
#define KI_HTTP_HTTP_H

#include <stdbool.h>

#include "config/config.h"
#include "credentials/credentials.h"
#include "http/http_metrics.h"
#include "util/loop/loop.h"
#include "util/text/mask.h"

typedef struct ki_http ki_http;

/* Zero means default. */
typedef struct ki_http_options {
    const ki_config *config;     /* copied where needed */
    ki_credentials *credentials; /* borrowed, must live longer; NULL for anonymous requests */
    ki_loop *loop;               /* io; with a descriptor */
    uint64_t connect_timeout_ms; /* for name lookup, connection and TLS together; 0: 30,000 */
    uint64_t head_timeout_ms;    /* for the head, in addition to connect_timeout_ms; 0: 60,000 */
    uint64_t error_timeout_ms;   /* from the head to the end, if the status is not 2xx; 0: 10,000 */
    uint64_t request_timeout_ms; /* as returned by ki_http_request_timeout_ms() */
    size_t head_bytes_max;       /* of a response, including its trailers; 0: 64 KiB */
    size_t connections_max;      /* at a time; further requests wait. Each watch needs one. 0: no limit */
    size_t bytes_at_once;        /* of decompressed bodies at a time, rounded up to a piece; then others
                                  * get their turn, except with HTTP/2. 0: no limit */
    bool use_http2;              /* for requests that allow it, over TLS, if the server supports it */
    bool use_gzip;               /* requested, unless the configuration disables it */
    const char *user_agent;      /* NULL: "kinformer/" and the version */
    ki_metrics *metrics;         /* NULL disables counting */
} ki_http_options;

/* Returns NULL with KI_ERR_CONFIG (the server's URL, a file that cannot be read, a user agent with a line
 * end), KI_ERR_NO_MEMORY, KI_ERR_SYSTEM. */
KI_NODISCARD ki_http *ki_http_new(const ki_http_options *options, ki_error *err);

/* Whether watches share HTTP/2 connections if the server supports it. Then a list must not share one with
 * them. */
bool ki_http_uses_http2(const ki_http *http);

/* The timeout from the options, for the beginning of the response to a list and for the end of a single call;
 * 0 if not set. */
uint64_t ki_http_request_timeout_ms(const ki_http *http);

/* A mask for the secrets that are sent with requests. */
ki_mask ki_http_mask_of(const ki_http *http);

/* A text to add to the message of a 401 or 403: that credentials were withheld, and why. NULL if they were
 * not. Constant. */
const char *ki_http_withheld(const ki_http *http);

/* The metrics of its requests. */
ki_http_metrics *ki_http_metrics_of(ki_http *http);

/* For a forked child: closes its copies of the descriptors, and touches neither the connections nor libcurl.
 * NULL is allowed. */
void ki_http_close_descriptors(ki_http *http);

/* All transfers must be over. Call this on the loop's thread, or when no thread runs the loop. Never waits.
 * NULL is allowed. */
void ki_http_free(ki_http *http);

#endif
