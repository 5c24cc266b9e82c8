/* SPDX-License-Identifier: Apache-2.0 */
/* Watches that share a connection. The server implements just enough HTTP/2 for that. */
#include <stdatomic.h>
#include <string.h>

#include "flow/support/http_bench.h"
#include "support/client/certificates.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

enum {
    DATA = 0,
    HEADERS = 1,
    RST_STREAM = 3,
    SETTINGS = 4,
    PING = 6,
    ACK = 1,
    END_STREAM = 1,
    END_HEADERS = 4
};
enum { FRAME_BYTES_MAX = 32 * 1024, STREAMS_MAX = 64 };

typedef struct frame {
    unsigned length;
    unsigned char type;
    unsigned char flags;
    unsigned stream;
    unsigned char payload[FRAME_BYTES_MAX];
} frame;

static bool read_frame(scripted_connection *c, frame *f)
{
    unsigned char h[9];
    if (!scripted_read_bytes(c, h, sizeof(h)))
        return false;
    f->length = (unsigned)h[0] << 16 | (unsigned)h[1] << 8 | h[2];
    f->type = h[3];
    f->flags = h[4];
    f->stream = ((unsigned)h[5] << 24 | (unsigned)h[6] << 16 | (unsigned)h[7] << 8 | h[8]) & 0x7fffffffU;
    return f->length <= sizeof(f->payload) && scripted_read_bytes(c, f->payload, f->length);
}

static bool send_frame(scripted_connection *c, const frame *f, const char *payload)
{
    const unsigned char h[9] = {(unsigned char)(f->length >> 16),
                                (unsigned char)(f->length >> 8),
                                (unsigned char)f->length,
                                f->type,
                                f->flags,
                                (unsigned char)(f->stream >> 24),
                                (unsigned char)(f->stream >> 16),
                                (unsigned char)(f->stream >> 8),
                                (unsigned char)f->stream};
    return scripted_send_bytes(c, h, sizeof(h)) && scripted_send_bytes(c, payload, f->length);
}

static bool send_data(scripted_connection *c, unsigned stream, const char *text, bool is_last)
{
    frame f = {
        .length = (unsigned)strlen(text), .type = DATA, .flags = is_last ? END_STREAM : 0, .stream = stream};
    return send_frame(c, &f, text);
}

static atomic_int streams_seen;
static atomic_int resets_seen;

/* Each stream gets a head and some bytes; when one is cancelled, the others get more, and end. */
static bool answer_frame(scripted_connection *c, const frame *f, unsigned *streams, int *count)
{
    static frame settings_ack = {.type = SETTINGS, .flags = ACK};
    frame head = {.length = 1, .type = HEADERS, .flags = END_HEADERS, .stream = f->stream};
    bool is_well = true;
    if (f->type == SETTINGS && (f->flags & ACK) == 0)
        return send_frame(c, &settings_ack, "");
    if (f->type == HEADERS && *count < STREAMS_MAX) {
        streams[(*count)++] = f->stream;
        atomic_fetch_add(&streams_seen, 1);
        return send_frame(c, &head, "\x88") && send_data(c, f->stream, "hello", false);
    }
    if (f->type != RST_STREAM)
        return true;
    atomic_fetch_add(&resets_seen, 1);
    for (int i = 0; is_well && i < *count; i++)
        if (streams[i] != f->stream)
            is_well = send_data(c, streams[i], " more", true);
    return is_well;
}

static void serve_http2(scripted_connection *c, void *user)
{
    char preface[24];
    static _Thread_local frame f;
    unsigned streams[STREAMS_MAX];
    int count = 0;
    (void)user;
    if (scripted_read_bytes(c, preface, sizeof(preface)) && send_frame(c, &(frame){.type = SETTINGS}, ""))
        while (read_frame(c, &f) && answer_frame(c, &f, streams, &count))
            continue;
}

static scripted_next serve_http1(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)r;
    (void)user;
    (void)scripted_answer(c, "200 OK", "", "old");
    return SCRIPTED_KEEP;
}

static void bench_init(http_bench *bench, bool is_offered)
{
    scripted_http_options server = {.serve = serve_http1,
                                    .certificate_pem = certs.for_address.pem,
                                    .key_pem = certs.for_address.key_pem,
                                    .serve_http2 = is_offered ? serve_http2 : NULL};
    *bench = (http_bench){.config.ca_pem = certs.authority.pem};
    atomic_store(&streams_seen, 0);
    atomic_store(&resets_seen, 0);
    http_bench_init(bench, &server, &(ki_http_options){.use_http2 = true});
}

static const ki_transfer_request watch = {.target = {"/watch", 6}, .may_be_cut = true};

static void watches_share_a_connection(void **state)
{
    (void)state;
    enum { COUNT = 10 };
    http_bench bench;
    fetch f[COUNT] = {0};
    bench_init(&bench, true);
    for (int i = 0; i < COUNT; i++)
        fetch_begin(&f[i], &bench, &watch);
    for (int i = 0; i < COUNT; i++) {
        fetch_run_until_bytes(&f[i], 5);
        assert_int_equal(f[i].head.status, 200);
        assert_string_equal(f[i].body.text, "hello");
    }
    assert_int_equal(atomic_load(&streams_seen), COUNT);
    assert_int_equal(scripted_http_connections(bench.server), 1);
    for (int i = 0; i < COUNT; i++)
        fetch_free(&f[i]);
    http_bench_fini(&bench);
}

static void a_watch_that_would_be_paused_is_cut_and_the_others_continue(void **state)
{
    (void)state;
    http_bench bench;
    fetch slow = {.pause_after = 1};
    fetch quick = {0};
    bench_init(&bench, true);
    fetch_begin(&quick, &bench, &watch);
    fetch_run_until_bytes(&quick, 5);
    fetch_begin(&slow, &bench, &watch);
    fetch_run(&slow);
    assert_int_equal(slow.reason, KI_REASON_CONNECTION_LOST);
    assert_int_equal(slow.ends, 1);
    assert_non_null(strstr(slow.message, "cut"));
    fetch_free(&slow);
    fetch_begin(&slow, &bench, &watch);
    fetch_run_until_bytes(&slow, 5);
    fetch_run(&quick);
    assert_int_equal(quick.reason, KI_REASON_NONE);
    assert_string_equal(quick.body.text, "hello more");
    assert_int_equal(atomic_load(&resets_seen), 1);
    assert_int_equal(scripted_http_connections(bench.server), 1);
    fetch_free(&slow);
    fetch_free(&quick);
    http_bench_fini(&bench);
}

/* The same is true for a write that the gate refuses. */
static void a_request_cancelled_while_it_is_sent_leaves_no_trace(void **state)
{
    (void)state;
    http_bench bench;
    fetch steady = {0};
    fetch refused = {.cancels_when_sent = true};
    fetch next = {0};
    ki_transfer_request write = {
        .method = "POST", .target = KI_STR("/pods"), .body = KI_STR("{}"), .may_be_cut = true};
    bench_init(&bench, true);
    fetch_begin(&steady, &bench, &watch);
    fetch_run_until_bytes(&steady, 5);
    fetch_begin(&refused, &bench, &write);
    fetch_run(&refused);
    assert_int_equal(refused.sends, 1);
    assert_int_equal(refused.ends, 0);
    fetch_begin(&next, &bench, &write);
    fetch_run_until_bytes(&next, 5);
    assert_string_equal(next.body.text, "hello");
    assert_non_null(steady.transfer);
    assert_int_equal(atomic_load(&streams_seen), 2);
    assert_int_equal(scripted_http_connections(bench.server), 1);
    fetch_free(&steady);
    fetch_free(&refused);
    fetch_free(&next);
    http_bench_fini(&bench);
}

static void a_request_that_may_not_be_cut_has_its_own_connection(void **state)
{
    (void)state;
    http_bench bench;
    fetch f[2] = {0};
    bench_init(&bench, true);
    fetch_begin(&f[0], &bench, &watch);
    fetch_run_until_bytes(&f[0], 5);
    fetch_get(&f[1], &bench, "/list");
    assert_string_equal(f[1].body.text, "old");
    assert_int_equal(atomic_load(&streams_seen), 1);
    fetch_free(&f[0]);
    fetch_free(&f[1]);
    http_bench_fini(&bench);
}

static void a_server_without_http2_gets_http1(void **state)
{
    (void)state;
    http_bench bench;
    fetch f = {.pause_after = 1};
    bench_init(&bench, false);
    fetch_begin(&f, &bench, &watch);
    fetch_run_until_bytes(&f, 3);
    http_bench_run_ms(&bench, 20);
    f.pause_after = 0;
    if (f.transfer != NULL)
        ki_transfer_resume(f.transfer);
    fetch_run(&f);
    assert_int_equal(f.reason, KI_REASON_NONE);
    assert_string_equal(f.body.text, "old");
    fetch_free(&f);
    http_bench_fini(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(watches_share_a_connection),
        WITH_MEMORY_CHECK(a_watch_that_would_be_paused_is_cut_and_the_others_continue),
        WITH_MEMORY_CHECK(a_request_cancelled_while_it_is_sent_leaves_no_trace),
        WITH_MEMORY_CHECK(a_request_that_may_not_be_cut_has_its_own_connection),
        WITH_MEMORY_CHECK(a_server_without_http2_gets_http1),
    };
    return cmocka_run_group_tests_name(__FILE__, tests, certificates_set_up, certificates_tear_down);
}
