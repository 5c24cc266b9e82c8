/* SPDX-License-Identifier: Apache-2.0 */
/* http_bench - a ki_http whose loop the test runs itself, and requests that record their results. */
#ifndef KI_TESTS_FLOW_SUPPORT_HTTP_BENCH_H
#define KI_TESTS_FLOW_SUPPORT_HTTP_BENCH_H

#include "http/http.h"
#include "http/transfer.h"
#include "support/client/certificates.h"
#include "support/client/scripted_http.h"
#include "support/text_log.h"

typedef struct http_bench {
    ki_loop loop;
    ki_config config; /* its strings belong to the test */
    ki_http *http;
    scripted_http *server; /* NULL: none */
    ki_clock *clock; /* the test's virtual clock, which advances 1 ms with each step; NULL: the real one */
} http_bench;

typedef struct fetch {
    http_bench *bench;
    ki_transfer *transfer; /* NULL: it has ended */
    int sends;
    ki_response_head head;
    int heads;
    text_log body;
    size_t bytes; /* counted even if the body is not kept */
    bool keeps_nothing;
    int pieces;
    int reads; /* jobs that have read a part of the body */
    ki_deferred end_of_read;
    int pause_after; /* pauses after this many pieces, and after each one from then on; 0: never */
    int cancel_after;
    bool cancels_when_sent;
    int ends;
    ki_reason reason;
    char message[256];
} fetch;

/* `server` and `options` may be NULL. Configuration and server may be set in `bench` before;
 * they are kept. */
void http_bench_init(http_bench *bench, const scripted_http_options *server, const ki_http_options *options);

/* Checks that nothing is left. */
void http_bench_fini(http_bench *bench);

/* Begins a request; NULL: GET "/". */
void fetch_begin(fetch *f, http_bench *bench, const ki_transfer_request *request);
void fetch_free(fetch *f);

/* Runs the loop until the request has ended, or has reached a state; fails the test after a while. */
void fetch_run(fetch *f);
void fetch_run_until_bytes(fetch *f, size_t bytes);

/* Runs the loop; waits for a moment if there is nothing to do. */
void http_bench_step(http_bench *bench);

/* Runs the loop while there is something to do, and at least for `ms`. */
void http_bench_run_ms(http_bench *bench, uint64_t ms);

/* Makes one whole request. */
void fetch_get(fetch *f, http_bench *bench, const char *target);

/* A GET of "/" must end with this reason; without a reason it must have a response. */
void http_bench_expect(http_bench *bench, ki_reason reason);

/* A server with this certificate, which responds with the head of the request. */
scripted_http_options http_bench_tls_server(const certificate *own);

#endif
