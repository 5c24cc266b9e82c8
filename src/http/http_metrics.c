/* SPDX-License-Identifier: Apache-2.0 */
#include "http/http_metrics.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "util/alloc.h"

/* No server returns more different combinations than this. */
enum { COUNTS_MAX = 4096 };

static const char *const methods[KI_HTTP_METHODS] = {"GET", "POST", "PUT", "PATCH", "DELETE", "OTHER"};

static int method_of(const char *method)
{
    int i = 0;
    if (method == NULL)
        return 0;
    while (i < KI_HTTP_METHODS - 1 && strcmp(methods[i], method) != 0)
        i++;
    return i;
}

void ki_http_metrics_init(ki_http_metrics *m, ki_metrics *metrics, ki_str host)
{
    assert(host.ptr != NULL || host.len == 0);
    *m = (ki_http_metrics){.metrics = ki_metrics_ref(metrics), .host = host};
}

void ki_http_metrics_fini(ki_http_metrics *m)
{
    assert(m != NULL);
    for (size_t i = 0; i < m->count; i++)
        ki_counter_drop(m->counts[i].counter);
    for (size_t i = 0; i < KI_HTTP_METHODS; i++) {
        ki_histogram_drop(m->duration[i]);
        ki_histogram_drop(m->request_bytes[i]);
        ki_histogram_drop(m->response_bytes[i]);
        ki_histogram_drop(m->limiter[i]);
    }
    ki_histogram_drop(m->lookup);
    ki_free(m->counts);
    ki_metrics_free(m->metrics);
    *m = (ki_http_metrics){0};
}

/* ---- counters by status ------------------------------------------------------------------------------ */

static bool make_space(ki_http_metrics *m)
{
    if (m->count < m->cap)
        return true;
    size_t cap = m->cap == 0 ? 8 : m->cap * 2;
    ki_http_count *larger = cap > COUNTS_MAX ? NULL : ki_realloc(m->counts, cap * sizeof(*larger));
    if (larger == NULL)
        return false;
    m->counts = larger;
    m->cap = cap;
    return true;
}

/* client-go's label for a request without a response. */
static ki_str code_text(int status, char *buffer, size_t buffer_bytes)
{
    if (status == 0)
        return KI_STR("<error>");
    (void)snprintf(buffer, buffer_bytes, "%d", status);
    return ki_str_of(buffer);
}

static void add_one(ki_http_metrics *m, const ki_http_count *what)
{
    char buffer[16];
    for (size_t i = 0; i < m->count; i++) {
        const ki_http_count *known = &m->counts[i];
        if (known->desc == what->desc && known->method == what->method && known->status == what->status) {
            ki_counter_add(known->counter, 1);
            return;
        }
    }
    if (m->metrics == NULL || !make_space(m))
        return;
    ki_str labels[] = {code_text(what->status, buffer, sizeof(buffer)), ki_str_of(methods[what->method]),
                       m->host};
    ki_http_count *fresh = &m->counts[m->count];
    *fresh = *what;
    fresh->counter = ki_metrics_counter(m->metrics, what->desc, labels);
    if (fresh->counter == NULL)
        return;
    m->count++;
    ki_counter_add(fresh->counter, 1);
}

void ki_http_metrics_request(ki_http_metrics *m, const char *method, int status)
{
    add_one(m, &(ki_http_count){&ki_metric_rest_client_requests_total, method_of(method), status, NULL});
}

void ki_http_metrics_retry(ki_http_metrics *m, const char *method, int status)
{
    add_one(m,
            &(ki_http_count){&ki_metric_rest_client_request_retries_total, method_of(method), status, NULL});
}

/* ---- histograms by method ---------------------------------------------------------------------------- */

/* The cell of a method, created on first use. */
static ki_histogram *cell(ki_http_metrics *m, ki_histogram **cells, const ki_metric_desc *desc, int method)
{
    ki_str labels[] = {ki_str_of(methods[method]), m->host};
    if (cells[method] == NULL)
        cells[method] = ki_metrics_histogram(m->metrics, desc, labels);
    return cells[method];
}

#define OBSERVE(m, cells, name, method, value)                                                               \
    ki_histogram_observe(cell((m), (m)->cells, &ki_metric_rest_client_##name, (method)), (value))

void ki_http_metrics_sample(ki_http_metrics *m, const ki_http_sample *sample)
{
    int method = method_of(sample->method);
    OBSERVE(m, duration, request_duration_seconds, method, sample->duration_ns);
    OBSERVE(m, request_bytes, request_size_bytes, method, sample->request_bytes);
    OBSERVE(m, response_bytes, response_size_bytes, method, sample->response_bytes);
}

void ki_http_metrics_lookup(ki_http_metrics *m, uint64_t duration_ns)
{
    assert(m != NULL);
    if (m->lookup == NULL)
        m->lookup = ki_metrics_histogram(m->metrics, &ki_metric_rest_client_dns_resolution_duration_seconds,
                                         &m->host);
    ki_histogram_observe(m->lookup, duration_ns);
}

void ki_http_metrics_limited(ki_http_metrics *m, const char *method, uint64_t duration_ns)
{
    OBSERVE(m, limiter, rate_limiter_duration_seconds, method_of(method), duration_ns);
}
