/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/support/http_bench.h"

#include <poll.h>
#include <stdio.h>

#include "flow/support/fake_credentials.h"
#include "support/patience.h"
#include "support/unit.h"

void http_bench_init(http_bench *bench, const scripted_http_options *server, const ki_http_options *options)
{
    ki_http_options used = options != NULL ? *options : (ki_http_options){0};
    ki_error err = {0};
    fake_credentials_reset();
    if (server != NULL)
        bench->server = scripted_http_start(server);
    if (bench->server != NULL && bench->config.server == NULL)
        bench->config.server = (char *)(uintptr_t)scripted_http_url(bench->server);
    assert_int_equal(
        ki_loop_init(&bench->loop, &(ki_loop_options){.clock = bench->clock, .with_fd = 1}, NULL), 0);
    used.loop = &bench->loop;
    used.config = &bench->config;
    bench->http = ki_http_new(&used, &err);
    assert_string_equal(err.message, "");
    assert_non_null(bench->http);
}

void http_bench_fini(http_bench *bench)
{
    ki_http_free(bench->http);
    assert_int_equal(bench->loop.armed_count, 0);
    ki_loop_fini(&bench->loop);
    scripted_http_stop(bench->server);
}

static void on_head(ki_transfer *transfer, const ki_response_head *head, void *user)
{
    fetch *f = user;
    assert_ptr_equal(transfer, f->transfer);
    f->head = *head;
    f->heads++;
}

static void count_read(ki_deferred *deferred)
{
    fetch *f = KI_CONTAINER_OF(deferred, fetch, end_of_read);
    f->reads++;
    assert_true(f->reads <= f->pieces);
}

static int on_body(ki_transfer *transfer, const char *bytes, size_t n, void *user)
{
    fetch *f = user;
    assert_int_equal(f->heads, 1);
    assert_int_equal(f->ends, 0);
    f->bytes += n;
    f->pieces++;
    ki_loop_defer(&f->end_of_read, count_read);
    if (!f->keeps_nothing)
        text_log_add(&f->body, "%.*s", (int)n, bytes);
    if (f->cancel_after != 0 && f->pieces >= f->cancel_after) {
        ki_transfer_cancel(transfer);
        f->transfer = NULL;
        return KI_ERR_NOT_FOUND;
    }
    return f->pause_after != 0 && f->pieces >= f->pause_after;
}

static void on_end(ki_transfer *transfer, ki_reason reason, const char *message, void *user)
{
    fetch *f = user;
    (void)transfer;
    f->transfer = NULL;
    f->ends++;
    f->reason = reason;
    (void)snprintf(f->message, sizeof(f->message), "%s", message);
}

static void on_sent(ki_transfer *transfer, void *user)
{
    fetch *f = user;
    assert_ptr_equal(transfer, f->transfer);
    assert_int_equal(f->heads, 0);
    f->sends++;
    if (!f->cancels_when_sent)
        return;
    ki_transfer_cancel(transfer);
    f->transfer = NULL;
}

static const ki_transfer_events events = {on_head, on_body, on_end, on_sent};

void fetch_begin(fetch *f, http_bench *bench, const ki_transfer_request *request)
{
    ki_transfer_request used = request != NULL ? *request : (ki_transfer_request){.target = KI_STR("/")};
    f->bench = bench;
    used.events = &events;
    used.user = f;
    f->transfer = ki_transfer_new(bench->http, &used, NULL);
    assert_non_null(f->transfer);
    assert_int_equal(f->heads + f->pieces + f->ends, 0);
}

void fetch_free(fetch *f)
{
    if (f->transfer != NULL)
        ki_transfer_cancel(f->transfer);
    text_log_free(&f->body);
    *f = (fetch){0};
}

void http_bench_step(http_bench *bench)
{
    struct pollfd polled = {.fd = ki_loop_fd(&bench->loop), .events = POLLIN};
    if (bench->clock != NULL) {
        (void)poll(&polled, 1, 1);
        ki_clock_advance_ms(bench->clock, 1);
    } else {
        ki_loop_wait(&bench->loop, 100);
    }
    (void)ki_loop_step(&bench->loop, 0);
}

void fetch_run_until_bytes(fetch *f, size_t bytes)
{
    uint64_t deadline_ms = ki_clock_now_ms(ki_clock_real()) + HANG_MS;
    while (f->transfer != NULL && f->bytes < bytes) {
        assert_true(ki_clock_now_ms(ki_clock_real()) < deadline_ms);
        http_bench_step(f->bench);
    }
}

void fetch_run(fetch *f)
{
    fetch_run_until_bytes(f, SIZE_MAX);
}

void http_bench_run_ms(http_bench *bench, uint64_t ms)
{
    uint64_t deadline_ms = ki_clock_now_ms(ki_clock_real()) + ms;
    for (uint64_t now = 0; (now = ki_clock_now_ms(ki_clock_real())) < deadline_ms;) {
        ki_loop_wait(&bench->loop, deadline_ms - now);
        (void)ki_loop_step(&bench->loop, 0);
    }
}

void fetch_get(fetch *f, http_bench *bench, const char *target)
{
    fetch_begin(f, bench, &(ki_transfer_request){.target = ki_str_of(target)});
    fetch_run(f);
}

void http_bench_expect(http_bench *bench, ki_reason reason)
{
    fetch f = {0};
    fetch_get(&f, bench, "/");
    if (f.reason != reason)
        print_error("%s\n", f.message);
    assert_int_equal(f.reason, reason);
    assert_int_equal(f.heads, reason == KI_REASON_NONE);
    fetch_free(&f);
}

scripted_http_options http_bench_tls_server(const certificate *own)
{
    return (scripted_http_options){
        .serve = scripted_serve_echo, .certificate_pem = own->pem, .key_pem = own->key_pem};
}
