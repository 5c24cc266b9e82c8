/* SPDX-License-Identifier: Apache-2.0 */
/* http_metrics - metrics of the requests to one server: rest_client_….
 *
 *   From:     http/transfer.c, rest/rest_call.c, http/http.c, http/transfer_receive.c
 *   To:       metrics/metrics.h
 *   Locks:    none; io only.
 *   Not here: metrics of informers.
 *
 * A metric is created when there is something to count. Nothing is counted when out of memory, or without
 * metrics.
 */
#ifndef KI_HTTP_HTTP_METRICS_H
#define KI_HTTP_HTTP_METRICS_H

#include <kinformer/common.h>
#include <stdbool.h>

#include "metrics/names.h"

enum { KI_HTTP_METHODS = 6 }; /* GET, POST, PUT, PATCH, DELETE and all others */

/* Requests by the status of their response, or without a response. */
typedef struct ki_http_count {
    const ki_metric_desc *desc;
    int method;
    int status; /* 0 for no response */
    ki_counter *counter;
} ki_http_count;

/* A zeroed struct counts nothing. */
typedef struct ki_http_metrics {
    ki_metrics *metrics;
    ki_str host; /* "10.0.0.1:6443" */
    ki_http_count *counts;
    size_t count;
    size_t cap;
    ki_histogram *lookup;
    ki_histogram *duration[KI_HTTP_METHODS];
    ki_histogram *request_bytes[KI_HTTP_METHODS];
    ki_histogram *response_bytes[KI_HTTP_METHODS];
    ki_histogram *limiter[KI_HTTP_METHODS];
} ki_http_metrics;

/* `metrics` may be NULL; `host` is borrowed. */
void ki_http_metrics_init(ki_http_metrics *m, ki_metrics *metrics, ki_str host);
void ki_http_metrics_fini(ki_http_metrics *m);

/* A request got a response with that status; 0 for no response. If `method` is NULL it is GET, here and
 * below. */
void ki_http_metrics_request(ki_http_metrics *m, const char *method, int status);

/* The same for a retry. */
void ki_http_metrics_retry(ki_http_metrics *m, const char *method, int status);

/* Time and sizes of a request, from its sending to its end. */
typedef struct ki_http_sample {
    const char *method;
    uint64_t request_bytes;
    uint64_t response_bytes;
    uint64_t duration_ns;
} ki_http_sample;

void ki_http_metrics_sample(ki_http_metrics *m, const ki_http_sample *sample);

/* A name was resolved. */
void ki_http_metrics_lookup(ki_http_metrics *m, uint64_t duration_ns);

/* A call has waited for the rate limiter. */
void ki_http_metrics_limited(ki_http_metrics *m, const char *method, uint64_t duration_ns);

#endif
