/* SPDX-License-Identifier: Apache-2.0 */
/* http - libcurl's multi interface on a loop: the only code that touches the network.
 *
 *   From:     http/transfer.c    (requests)
 *   To:       libcurl; util/loop/fd_watch.h and timers of the loop
 *   Locks:    none; io only.
 *   Not here: the content of requests and responses.
 *
 * Each socket of libcurl's is a watch of the loop, and its single timer is a job. Descriptors are
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
#include "util/mask.h"

typedef struct ki_http ki_http;

/* Zero means default. */
typedef struct ki_http_options {
    const ki_config *config;     /* copied where needed */
    ki_credentials *credentials; /* borrowed, lives longer; NULL for anonymous requests */
    ki_loop *loop;               /* io; with a descriptor */
    uint64_t connect_timeout_ms; /* name, connection and TLS together; 0: 30,000 */
    uint64_t head_timeout_ms;    /* from then to the head of the response; 0: 60,000 */
    uint64_t error_timeout_ms;   /* from then to the end, if its status is not 2xx; 0: 10,000 */
    uint64_t request_timeout_ms; /* as returned by ki_http_request_timeout_ms() */
    size_t head_bytes_max;       /* of a response, with its trailers; 0: 64 KiB */
    size_t connections_max;      /* at a time; further requests wait. 0: no limit; each watch has one */
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

/* Whether watches share connections, if the server supports it: then a list must not use a watch's. */
bool ki_http_uses_http2(const ki_http *http);

/* The timeout from the options: until the response to a list begins, or to a single call ends; 0 if not
 * set. */
uint64_t ki_http_request_timeout_ms(const ki_http *http);

/* Masks the secrets that it sends. */
ki_mask ki_http_mask_of(const ki_http *http);

/* Text to add to a 401 or 403: that credentials were withheld, and why; NULL if they were not. Constant. */
const char *ki_http_withheld(const ki_http *http);

/* The metrics of its requests. */
ki_http_metrics *ki_http_metrics_of(ki_http *http);

/* For a forked child: closes the child's copies of its descriptors, and touches neither the connections
 * nor libcurl. NULL is allowed. */
void ki_http_close_descriptors(ki_http *http);

/* Its transfers are over. Call this on the loop's thread, or when no thread runs the loop. Never waits.
 * NULL is allowed. */
void ki_http_free(ki_http *http);

#endif
