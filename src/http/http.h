/* SPDX-License-Identifier: Apache-2.0 */
/* http - libcurl's multi interface on a loop: the only code that touches the network.
 *
 *   From:     http/transfer.c    (requests)
 *   To:       libcurl; util/loop/fd_watch.h and timers of the loop
 *   Locks:    none; io's.
 *   Not here: what is asked, what an answer means.
 *
 * Each socket of libcurl's is a watch of the loop, and its one timer a job. Descriptors are close-on-exec,
 * but for those that libcurl opens for itself: a pair by which it wakes itself, and one for a name lookup.
 *
 * A name lookup runs on a thread of libcurl's, and getaddrinfo() cannot be ended. Who cancels a request
 * meanwhile does not wait: libcurl lets go of the thread (CURLOPT_QUICK_EXIT), which ends by itself when the
 * system's resolver gives up, and takes its memory and its one descriptor with it.
 * An address needs no thread.
 */
#ifndef KI_HTTP_HTTP_H
#define KI_HTTP_HTTP_H

#include <stdbool.h>

#include "config/config.h"
#include "config/credentials.h"
#include "http/http_metrics.h"
#include "util/loop/loop.h"
#include "util/mask.h"

typedef struct ki_http ki_http;

/* Zero means default. */
typedef struct ki_http_options {
    const ki_config *config;     /* copied where needed */
    ki_credentials *credentials; /* borrowed, lives longer; NULL: nobody in particular */
    ki_loop *loop;               /* io; with a descriptor */
    uint64_t connect_timeout_ms; /* name, connection and TLS together; 0: 30,000 */
    uint64_t head_timeout_ms;    /* from then to the head of the answer; 0: 60,000 */
    uint64_t error_timeout_ms;   /* from then to the end, when its status is not 2xx; 0: 10,000 */
    uint64_t request_timeout_ms; /* what ki_http_request_timeout_ms() says */
    size_t head_bytes_max;       /* of an answer, its trailers too; 0: 64 KiB */
    size_t connections_max;      /* at a time; more requests wait. 0: no limit: each watch has one */
    size_t bytes_at_once;        /* of bodies, opened, in one go, and the rest of a piece: then others have
                                  * their turn, but for HTTP/2. 0: as many as are there */
    bool use_http2;              /* where a request allows it, over TLS, and the server agrees */
    bool use_gzip;               /* asked for, unless the configuration forbids it */
    const char *user_agent;      /* NULL: "kinformer/" and the version */
    ki_metrics *metrics;         /* NULL: nothing is counted */
} ki_http_options;

/* Returns NULL with KI_ERR_CONFIG (the server's URL, a file that cannot be read, a user agent with a line
 * end), KI_ERR_NO_MEMORY, KI_ERR_SYSTEM. */
KI_NODISCARD ki_http *ki_http_new(const ki_http_options *options, ki_error *err);

/* Whether watches share connections, where the server agrees: then a list must not come by a watch. */
bool ki_http_uses_http2(const ki_http *http);

/* Until the answer to a list begins, or to a single call ends, as the options have it; 0: not said. */
uint64_t ki_http_request_timeout_ms(const ki_http *http);

/* Hides what it sends as a secret. */
ki_mask ki_http_mask_of(const ki_http *http);

/* What to add to an error of 401 or 403: that credentials were withheld, and why;
 * NULL: none were. Constant. */
const char *ki_http_withheld(const ki_http *http);

/* What is counted of its requests. */
ki_http_metrics *ki_http_metrics_of(ki_http *http);

/* In a child of the process: closes the child's copies of its descriptors, and touches neither the
 * connections nor libcurl. NULL is allowed. */
void ki_http_close_descriptors(ki_http *http);

/* Its transfers are over. On the loop's thread, or when nobody runs the loop. Never waits.
 * NULL is allowed. */
void ki_http_free(ki_http *http);

#endif
