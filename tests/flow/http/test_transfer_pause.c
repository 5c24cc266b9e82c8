/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies that are paused, resumed or cancelled while they are received. */
#include "http/transfer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "flow/support/http_bench.h"
#include "flow/support/target_server.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

static scripted_next serve_forever(scripted_connection *c, const scripted_request *r, void *user)
{
    char block[16 * 1024 + 1];
    (void)r;
    (void)user;
    memset(block, 'x', sizeof(block) - 1);
    block[sizeof(block) - 1] = 0;
    if (scripted_begin(c, "200 OK"))
        while (scripted_chunk(c, block))
            continue;
    return SCRIPTED_CLOSE;
}

static void a_pause_stops_the_server_and_a_resume_lets_it_continue(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {.pause_after = 3, .keeps_nothing = true};
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_forever}, NULL);
    fetch_begin(&f, &bench, NULL);
    fetch_run_until_bytes(&f, 1);
    http_bench_run_ms(&bench, 100);
    int pieces = f.pieces;
    size_t bytes = f.bytes;
    assert_true(pieces <= 4 && bytes <= (size_t)4 * 16 * 1024);
    http_bench_run_ms(&bench, 100);
    assert_int_equal(f.pieces, pieces);
    for (int i = 0; i < 50; i++) {
        bytes = f.bytes;
        ki_transfer_resume(f.transfer);
        fetch_run_until_bytes(&f, bytes + 1);
        assert_true(f.bytes > bytes);
    }
    f.pause_after = 0;
    ki_transfer_resume(f.transfer);
    fetch_run_until_bytes(&f, bytes + 10 * 1000 * 1000);
    assert_int_equal(f.ends, 0);
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void pieces_that_arrive_together_are_read_by_one_job(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {.keeps_nothing = true, .pause_after = 1};
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_forever}, NULL);
    fetch_begin(&f, &bench, &(ki_transfer_request){.target = KI_STR("/"), .is_long = true});
    fetch_run_until_bytes(&f, 1);
    http_bench_run_ms(&bench, 100); /* the server fills the system's buffers */
    int reads = f.reads;
    int pieces = f.pieces;
    f.pause_after = 0;
    ki_transfer_resume(f.transfer);
    fetch_run_until_bytes(&f, f.bytes + 192 * 1024);
    assert_true(f.reads > reads && f.reads - reads < (f.pieces - pieces) / 2);
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void a_paused_request_that_is_complete_ends_after_its_resume(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {.pause_after = 1};
    http_bench_init(&bench, &target_server, NULL);
    fetch_begin(&f, &bench, &(ki_transfer_request){.target = KI_STR("/chunked")});
    fetch_run_until_bytes(&f, 1);
    http_bench_run_ms(&bench, 50);
    f.pause_after = 0;
    if (f.transfer != NULL)
        ki_transfer_resume(f.transfer);
    fetch_run(&f);
    assert_int_equal(f.ends, 1);
    assert_int_equal(f.reason, KI_REASON_NONE);
    assert_string_equal(f.body.text, "hello");
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void nothing_is_called_after_a_cancel(void **state)
{
    (void)state;
    http_bench bench = {0};
    http_bench_init(&bench, &target_server, NULL);
    for (int when = 0; when < 3; when++) {
        fetch f = {0};
        fetch_begin(&f, &bench, &(ki_transfer_request){.target = KI_STR("/wait")});
        if (when > 0)
            http_bench_run_ms(&bench, when == 1 ? 1 : 20);
        ki_transfer_cancel(f.transfer);
        f.transfer = NULL;
        http_bench_run_ms(&bench, 10);
        assert_int_equal(f.heads + f.pieces + f.ends, 0);
        fetch_free(&f);
    }
    http_bench_fini(&bench);
}

static void a_request_may_be_cancelled_while_its_body_arrives(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {.cancel_after = 2, .keeps_nothing = true};
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_forever}, NULL);
    fetch_begin(&f, &bench, NULL);
    fetch_run(&f);
    http_bench_run_ms(&bench, 10);
    assert_int_equal(f.pieces, 2);
    assert_int_equal(f.ends, 0);
    fetch_free(&f);
    http_bench_fini(&bench);
}

/* ---- turns ------------------------------------------------------------------------------------------- */

/* Runs one job after the other until this many bytes have arrived.
 * Returns the most bytes that one job has delivered. */
static size_t run_job_by_job(fetch *f, size_t bytes)
{
    size_t most = 0;
    while (f->transfer != NULL && f->bytes < bytes) {
        size_t before = f->bytes;
        ki_loop_wait(&f->bench->loop, 100);
        (void)ki_loop_step(&f->bench->loop, 1);
        most = f->bytes - before > most ? f->bytes - before : most;
    }
    return most;
}

enum { AT_ONCE = 64 * 1024, PIECE = 64 * 1024, LARGE = 16 * 1000 * 1000 };

static void a_body_lets_other_requests_run(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {.keeps_nothing = true};
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_forever},
                    &(ki_http_options){.bytes_at_once = AT_ONCE});
    fetch_begin(&f, &bench, NULL);
    assert_true(run_job_by_job(&f, LARGE) <= AT_ONCE + PIECE);
    assert_true(f.bytes >= LARGE);
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void a_turn_does_not_undo_a_pause(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {.pause_after = 3, .keeps_nothing = true};
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_forever},
                    &(ki_http_options){.bytes_at_once = 1});
    fetch_begin(&f, &bench, NULL);
    while (f.pieces < 3)
        (void)run_job_by_job(&f, f.bytes + 1);
    int pieces = f.pieces;
    http_bench_run_ms(&bench, 50);
    assert_int_equal(f.pieces, pieces);
    ki_transfer_resume(f.transfer);
    fetch_run_until_bytes(&f, f.bytes + 1);
    assert_true(f.pieces > pieces);
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void a_body_read_in_turns_is_complete(void **state)
{
    (void)state;
    static const char *const targets[] = {"/plain", "/chunked", "/until-closed", "/bytewise"};
    http_bench bench = {0};
    http_bench_init(&bench, &target_server, &(ki_http_options){.bytes_at_once = 1});
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        fetch f = {0};
        fetch_get(&f, &bench, targets[i]);
        assert_int_equal(f.reason, KI_REASON_NONE);
        assert_string_equal(f.body.text, "hello");
        fetch_free(&f);
    }
    http_bench_fini(&bench);
}

/* ---- gzip -------------------------------------------------------------------------------------------- */

enum { ZEROES = 4 * 1000 * 1000 };

/* A small compressed body that expands to a large one. */
static scripted_next serve_gzip(scripted_connection *c, const scripted_request *r, void *user)
{
    char head[256];
    z_stream stream = {0};
    unsigned char *zeroes = calloc(1, ZEROES);
    unsigned char *packed = calloc(1, ZEROES);
    (void)user;
    bool is_asked_for = strstr(r->head, "Accept-Encoding: gzip\r\n") != NULL;
    if (zeroes != NULL && packed != NULL && deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, 0) == Z_OK) {
        stream.next_in = zeroes;
        stream.avail_in = ZEROES;
        stream.next_out = packed;
        stream.avail_out = ZEROES;
        (void)deflate(&stream, Z_FINISH);
        size_t n = stream.total_out;
        size_t sent = strcmp(r->target, "/cut") == 0 ? n / 2 : n;
        (void)deflateEnd(&stream);
        (void)snprintf(head, sizeof(head),
                       "HTTP/1.1 %s\r\nContent-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n",
                       is_asked_for ? "200 OK" : "400 Bad Request", sent);
        (void)(scripted_send(c, head) && scripted_send_bytes(c, packed, sent));
    }
    free(zeroes);
    free(packed);
    return SCRIPTED_KEEP;
}

static void a_gzip_body_is_decompressed_in_steps_that_can_be_paused(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {.pause_after = 1, .keeps_nothing = true};
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_gzip},
                    &(ki_http_options){.use_gzip = true});
    fetch_begin(&f, &bench, NULL);
    fetch_run_until_bytes(&f, 1);
    while (f.transfer != NULL) {
        size_t bytes = f.bytes;
        ki_transfer_resume(f.transfer);
        fetch_run_until_bytes(&f, bytes + 1);
        assert_true(f.bytes <= bytes + (size_t)32 * 1024);
    }
    assert_int_equal(f.head.status, 200);
    assert_int_equal(f.reason, KI_REASON_NONE);
    assert_int_equal(f.bytes, ZEROES);
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void a_gzip_body_lets_other_requests_run(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {.keeps_nothing = true};
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_gzip},
                    &(ki_http_options){.use_gzip = true, .bytes_at_once = AT_ONCE});
    fetch_begin(&f, &bench, NULL);
    assert_true(run_job_by_job(&f, SIZE_MAX) <= AT_ONCE + PIECE);
    assert_int_equal(f.reason, KI_REASON_NONE);
    assert_int_equal(f.bytes, ZEROES);
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void a_gzip_body_that_is_cut_is_a_lost_connection(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {.keeps_nothing = true};
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_gzip},
                    &(ki_http_options){.use_gzip = true});
    fetch_get(&f, &bench, "/cut");
    assert_int_equal(f.reason, KI_REASON_CONNECTION_LOST);
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void a_configuration_can_disable_compression(void **state)
{
    (void)state;
    http_bench bench = {.config.disable_compression = true};
    fetch f = {0};
    http_bench_init(&bench, &target_server, &(ki_http_options){.use_gzip = true});
    fetch_get(&f, &bench, "/echo");
    assert_int_equal(f.reason, KI_REASON_NONE);
    assert_null(strstr(f.body.text, "Accept-Encoding"));
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void a_gzip_body_that_was_not_requested_is_refused(void **state)
{
    (void)state;
    http_bench bench = {.config.disable_compression = true};
    fetch f = {.keeps_nothing = true};
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_gzip},
                    &(ki_http_options){.use_gzip = true});
    fetch_get(&f, &bench, "/");
    assert_int_equal(f.reason, KI_REASON_MALFORMED);
    assert_int_equal(f.bytes, 0);
    fetch_free(&f);
    http_bench_fini(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_pause_stops_the_server_and_a_resume_lets_it_continue),
        WITH_MEMORY_CHECK(pieces_that_arrive_together_are_read_by_one_job),
        WITH_MEMORY_CHECK(a_paused_request_that_is_complete_ends_after_its_resume),
        WITH_MEMORY_CHECK(nothing_is_called_after_a_cancel),
        WITH_MEMORY_CHECK(a_request_may_be_cancelled_while_its_body_arrives),
        WITH_MEMORY_CHECK(a_body_lets_other_requests_run),
        WITH_MEMORY_CHECK(a_turn_does_not_undo_a_pause),
        WITH_MEMORY_CHECK(a_body_read_in_turns_is_complete),
        WITH_MEMORY_CHECK(a_gzip_body_lets_other_requests_run),
        WITH_MEMORY_CHECK(a_gzip_body_is_decompressed_in_steps_that_can_be_paused),
        WITH_MEMORY_CHECK(a_gzip_body_that_is_cut_is_a_lost_connection),
        WITH_MEMORY_CHECK(a_configuration_can_disable_compression),
        WITH_MEMORY_CHECK(a_gzip_body_that_was_not_requested_is_refused),
    };
    return RUN_TESTS(tests);
}
