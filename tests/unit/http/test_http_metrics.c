/* SPDX-License-Identifier: Apache-2.0 */
#include "http/http_metrics.h"

#include <string.h>

#include "support/failing_allocator.h"
#include "support/unit.h"

#define HOST "10.0.0.1:6443"

typedef struct bench {
    ki_metrics *metrics;
    ki_http_metrics http;
} bench;

static void bench_init(bench *b)
{
    b->metrics = ki_metrics_new(NULL, NULL);
    assert_non_null(b->metrics);
    ki_http_metrics_init(&b->http, b->metrics, KI_STR(HOST));
}

static void bench_fini(bench *b)
{
    ki_http_metrics_fini(&b->http);
    ki_metrics_free(b->metrics);
}

static int has_line(const bench *b, const char *line)
{
    ki_metrics_text text = {0};
    assert_int_equal(ki_metrics_render(b->metrics, &text, NULL), 0);
    int is_there = text.bytes != NULL && strstr(text.bytes, line) != NULL;
    ki_metrics_text_fini(&text);
    return is_there;
}

static void nothing_is_written_before_the_first_request(void **state)
{
    (void)state;
    bench b;
    bench_init(&b);
    assert_false(has_line(&b, "rest_client"));
    bench_fini(&b);
}

static void requests_are_counted_by_status_and_method(void **state)
{
    (void)state;
    bench b;
    bench_init(&b);
    ki_http_metrics_request(&b.http, NULL, 200);
    ki_http_metrics_request(&b.http, "GET", 200);
    ki_http_metrics_request(&b.http, "PUT", 409);
    ki_http_metrics_request(&b.http, "PUT", 0);
    ki_http_metrics_request(&b.http, "BREW", 418);
    ki_http_metrics_retry(&b.http, "PUT", 409);
    assert_true(
        has_line(&b, "rest_client_requests_total{code=\"200\",method=\"GET\",host=\"" HOST "\"} 2\n"));
    assert_true(
        has_line(&b, "rest_client_requests_total{code=\"409\",method=\"PUT\",host=\"" HOST "\"} 1\n"));
    assert_true(
        has_line(&b, "rest_client_requests_total{code=\"<error>\",method=\"PUT\",host=\"" HOST "\"} 1\n"));
    assert_true(
        has_line(&b, "rest_client_requests_total{code=\"418\",method=\"OTHER\",host=\"" HOST "\"} 1\n"));
    assert_true(
        has_line(&b, "rest_client_request_retries_total{code=\"409\",verb=\"PUT\",host=\"" HOST "\"} 1\n"));
    bench_fini(&b);
}

static void durations_and_sizes_are_counted_in_buckets(void **state)
{
    (void)state;
    bench b;
    bench_init(&b);
    ki_http_metrics_sample(&b.http, &(ki_http_sample){.method = "POST",
                                                      .request_bytes = 100,
                                                      .response_bytes = 5000,
                                                      .duration_ns = 30 * UINT64_C(1000000)});
    ki_http_metrics_lookup(&b.http, 1000);
    ki_http_metrics_limited(&b.http, "POST", 0);
#define POSTED "{verb=\"POST\",host=\"" HOST "\""
    assert_true(has_line(&b, "rest_client_request_duration_seconds_bucket" POSTED ",le=\"0.025\"} 0\n"));
    assert_true(has_line(&b, "rest_client_request_duration_seconds_bucket" POSTED ",le=\"0.1\"} 1\n"));
    assert_true(has_line(&b, "rest_client_request_size_bytes_sum" POSTED "} 100\n"));
    assert_true(has_line(&b, "rest_client_response_size_bytes_sum" POSTED "} 5000\n"));
    assert_true(has_line(&b, "rest_client_rate_limiter_duration_seconds_count" POSTED "} 1\n"));
    assert_true(has_line(&b, "rest_client_dns_resolution_duration_seconds_count{host=\"" HOST "\"} 1\n"));
    bench_fini(&b);
}

static void the_number_of_statuses_is_bounded(void **state)
{
    (void)state;
    bench b;
    bench_init(&b);
    for (int status = 100; status < 9000; status++)
        ki_http_metrics_request(&b.http, "GET", status);
    assert_true(b.http.count <= 4096);
    assert_true(has_line(&b, "{code=\"599\","));
    bench_fini(&b);
}

static void without_metrics_nothing_is_counted(void **state)
{
    (void)state;
    ki_http_metrics http;
    ki_http_metrics_init(&http, NULL, KI_STR(HOST));
    ki_http_metrics_request(&http, "GET", 200);
    ki_http_metrics_sample(&http, &(ki_http_sample){.method = "GET"});
    ki_http_metrics_lookup(&http, 1);
    assert_int_equal(http.count, 0);
    ki_http_metrics_fini(&http);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t n = 1; n == 1 || failing_allocator_has_failed(); n++) {
        bench b;
        failing_allocator_fail_at(0);
        bench_init(&b);
        failing_allocator_fail_at(n);
        ki_http_metrics_request(&b.http, "GET", 200);
        ki_http_metrics_sample(&b.http, &(ki_http_sample){.method = "GET"});
        ki_http_metrics_lookup(&b.http, 1);
        bench_fini(&b);
        assert_int_equal(failing_allocator_live_count(), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(nothing_is_written_before_the_first_request),
        WITH_MEMORY_CHECK(requests_are_counted_by_status_and_method),
        WITH_MEMORY_CHECK(durations_and_sizes_are_counted_in_buckets),
        WITH_MEMORY_CHECK(the_number_of_statuses_is_bounded),
        WITH_MEMORY_CHECK(without_metrics_nothing_is_counted),
        WITH_MEMORY_CHECK(each_allocation_may_fail),
    };
    return RUN_TESTS(tests);
}
