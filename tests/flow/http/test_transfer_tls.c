/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts over TLS that end at every position of a record and of the read-ahead buffer, followed by silence:
 * the last event arrives at once. */
#include <openssl/ssl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow/support/http_bench.h"
#include "http/transfer_parts.h"
#include "support/client/certificates.h"
#include "support/failing_allocator.h"
#include "support/patience.h"
#include "support/unit.h"

enum {
    READ_AHEAD_BYTES = 32 * 1024, /* as in http/read_ahead.c */
    RECORD_MAX = 16 * 1024,
    RECORDS_MAX = 512,
    PLAIN_MAX = 256 * 1024,
    CHUNK_EXTRA = 8, /* "0123\r\n" and "\r\n" */
    URL_BYTES = 64
};

/* ---- a server that controls where records begin and what is sent at once ------------------------------ */

/* The records of a chunked body. The test fills it in, then pokes the server, which sends it. */
typedef struct script {
    char plain[PLAIN_MAX];
    size_t sizes[RECORDS_MAX]; /* plain text bytes of each record */
    int record_count;
    size_t body_bytes; /* bytes in the chunks */
    size_t until;      /* position in the encrypted bytes: the rest is sent when the server is poked again */
    bool is_new;       /* not yet encrypted */
    bool closes;       /* closes the connection after sending everything */
    int version;       /* of TLS */
    size_t encrypted_bytes;
    atomic_int done; /* the number of pokes handled; until then the script belongs to the server */
} script;

typedef struct engine {
    scripted_connection *c;
    SSL_CTX *tls;
    SSL *ssl;
    BIO *in;
    BIO *out;
} engine;

static bool engine_flush(engine *e)
{
    char *bytes = NULL;
    long n = BIO_get_mem_data(e->out, &bytes);
    bool is_sent = n == 0 || scripted_send_bytes(e->c, bytes, (size_t)n);
    (void)BIO_reset(e->out);
    return is_sent;
}

/* Reads one record of the client. */
static bool engine_feed(engine *e)
{
    unsigned char record[5 + RECORD_MAX + 512];
    if (!scripted_read_bytes(e->c, record, 5))
        return false;
    size_t n = (size_t)record[3] << 8 | record[4];
    return n <= sizeof(record) - 5 && scripted_read_bytes(e->c, record + 5, n) &&
           BIO_write(e->in, record, (int)n + 5) == (int)n + 5;
}

static bool engine_open(engine *e, int version)
{
    BIO *pem = BIO_new_mem_buf(certs.for_address.pem, -1);
    BIO *key_pem = BIO_new_mem_buf(certs.for_address.key_pem, -1);
    X509 *x509 = PEM_read_bio_X509(pem, NULL, NULL, NULL);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(key_pem, NULL, NULL, NULL);
    e->tls = SSL_CTX_new(TLS_server_method());
    bool is_good = SSL_CTX_set_max_proto_version(e->tls, version) == 1 &&
                   SSL_CTX_use_certificate(e->tls, x509) == 1 && SSL_CTX_use_PrivateKey(e->tls, key) == 1;
    e->ssl = SSL_new(e->tls);
    e->in = BIO_new(BIO_s_mem());
    e->out = BIO_new(BIO_s_mem());
    SSL_set_bio(e->ssl, e->in, e->out);
    SSL_set_accept_state(e->ssl);
    while (is_good && !SSL_is_init_finished(e->ssl)) {
        is_good = engine_feed(e);
        (void)SSL_do_handshake(e->ssl);
        is_good = engine_flush(e) && is_good;
    }
    X509_free(x509);
    EVP_PKEY_free(key);
    BIO_free(pem);
    BIO_free(key_pem);
    return is_good;
}

static void engine_close(engine *e)
{
    SSL_free(e->ssl);
    SSL_CTX_free(e->tls);
    OPENSSL_thread_stop();
}

/* Reads a request. */
static bool engine_hear(engine *e)
{
    char request[4096];
    while (SSL_read(e->ssl, request, sizeof(request)) <= 0)
        if (!engine_feed(e))
            return false;
    return true;
}

static bool engine_begin(engine *e)
{
    static const char head[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    return engine_hear(e) && SSL_write(e->ssl, head, sizeof(head) - 1) > 0 && engine_flush(e);
}

static void engine_encrypt(engine *e, script *s)
{
    const char *at = s->plain;
    for (int i = 0; i < s->record_count; at += s->sizes[i], i++)
        (void)SSL_write(e->ssl, at, (int)s->sizes[i]);
    s->is_new = false;
    s->encrypted_bytes = BIO_ctrl_pending(e->out);
}

static bool engine_send(engine *e, size_t n)
{
    char *bytes = malloc(n + 1);
    int got = bytes == NULL ? -1 : BIO_read(e->out, bytes, (int)n);
    bool is_sent = got <= 0 || scripted_send_bytes(e->c, bytes, (size_t)got);
    free(bytes);
    return is_sent;
}

static void serve_script(scripted_connection *c, void *user)
{
    script *s = user;
    engine e = {.c = c};
    bool is_open = engine_open(&e, s->version) && engine_begin(&e);
    size_t sent = 0;
    for (int number = 1; is_open && scripted_wait(c, number); number++) {
        if (s->is_new) {
            engine_encrypt(&e, s);
            sent = 0;
        }
        size_t all = sent + BIO_ctrl_pending(e.out);
        size_t until = s->until < all ? s->until : all;
        is_open = engine_send(&e, until - sent) && (!s->closes || until < all);
        sent = until;
        atomic_store(&s->done, number);
    }
    engine_close(&e);
}

/* The second response of a connection never comes: in the same segment as the first response, the server has
 * ended its side of TLS. The connection stays open. */
static void serve_last_words(scripted_connection *c, void *user)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    const int *version = user;
    engine e = {.c = c};
    if (engine_open(&e, *version) && engine_hear(&e)) {
        (void)SSL_write(e.ssl, answer, sizeof(answer) - 1);
        (void)SSL_shutdown(e.ssl);
        if (engine_flush(&e))
            scripted_wait_for_end(c);
    }
    engine_close(&e);
}

static void engine_write_chunk(engine *e)
{
    static const char chunk[] = "5\r\nhello\r\n";
    (void)SSL_write(e->ssl, chunk, sizeof(chunk) - 1);
}

/* Asks for a new handshake between chunks, and continues after it. */
static void serve_renegotiation(scripted_connection *c, void *user)
{
    char none[1];
    engine e = {.c = c};
    (void)user;
    bool is_open = engine_open(&e, TLS1_2_VERSION) && engine_begin(&e);
    for (int number = 1; is_open && scripted_wait(c, number); number++) {
        engine_write_chunk(&e);
        is_open = SSL_renegotiate(e.ssl) == 1 && SSL_do_handshake(e.ssl) == 1;
        engine_write_chunk(&e);
        engine_write_chunk(&e);
        is_open = engine_flush(&e) && is_open;
        while (is_open && SSL_renegotiate_pending(e.ssl)) {
            is_open = engine_feed(&e);
            (void)SSL_read(e.ssl, none, sizeof(none));
            is_open = engine_flush(&e) && is_open;
        }
        engine_write_chunk(&e);
        is_open = engine_flush(&e) && is_open;
    }
    engine_close(&e);
}

/* ---- bursts ------------------------------------------------------------------------------------------ */

static void script_begin(script *s)
{
    s->record_count = 0;
    s->body_bytes = 0;
    s->until = SIZE_MAX;
    s->is_new = true;
}

static size_t script_length(const script *s)
{
    size_t n = 0;
    for (int i = 0; i < s->record_count; i++)
        n += s->sizes[i];
    return n;
}

static void script_add(script *s, const char *bytes, size_t n)
{
    size_t at = script_length(s);
    assert_true(s->record_count < RECORDS_MAX && at + n < PLAIN_MAX);
    memcpy(s->plain + at, bytes, n);
    s->sizes[s->record_count++] = n;
}

/* Adds a chunk that fills one record. */
static void script_add_chunk(script *s, size_t n)
{
    static char bytes[RECORD_MAX + 8];
    assert_true(n > CHUNK_EXTRA && n <= RECORD_MAX);
    memset(bytes, 'x', n);
    char head[8];
    (void)snprintf(head, sizeof(head), "%04zx\r\n", n - CHUNK_EXTRA);
    memcpy(bytes, head, 6);
    memcpy(bytes + n - 2, "\r\n", 2);
    script_add(s, bytes, n);
    s->body_bytes += n - CHUNK_EXTRA;
}

/* Header, tag, and the explicit nonce or the inner type. */
static size_t record_extra(const script *s)
{
    return s->version == TLS1_3_VERSION ? 5 + 1 + 16 : 5 + 8 + 16;
}

/* Records of `record` plain bytes, the last one shorter, with `total` encrypted bytes. */
static void script_fill(script *s, size_t record, size_t total)
{
    size_t extra = record_extra(s);
    size_t least = extra + CHUNK_EXTRA + 1;
    script_begin(s);
    while (total > record + extra) {
        size_t part = total - (record + extra) < least ? record - least : record;
        script_add_chunk(s, part);
        total -= part + extra;
    }
    script_add_chunk(s, total - extra);
}

typedef struct scene {
    script script;
    http_bench bench;
    char url[URL_BYTES];
    fetch f;
    int pokes;
} scene;

static void start(http_bench *bench, char *url, const scripted_http_options *options)
{
    bench->server = scripted_http_start(options);
    (void)snprintf(url, URL_BYTES, "https://127.0.0.1:%d", scripted_http_port(bench->server));
    bench->config.server = url;
    bench->config.ca_pem = certs.authority.pem;
}

static void scene_begin(scene *s, const ki_http_options *options)
{
    s->f.keeps_nothing = true;
    http_bench_init(&s->bench, NULL, options);
    fetch_begin(&s->f, &s->bench, &(ki_transfer_request){.target = KI_STR("/watch"), .is_watch = true});
    while (s->f.heads == 0)
        http_bench_step(&s->bench);
}

static void scene_init(scene *s, int version, const ki_http_options *options)
{
    memset(s, 0, sizeof(*s));
    s->script.version = version;
    start(&s->bench, s->url, &(scripted_http_options){.serve_bytes = serve_script, .user = &s->script});
    scene_begin(s, options);
}

static void scene_fini(scene *s)
{
    fetch_free(&s->f);
    http_bench_fini(&s->bench);
}

/* Sends the script. */
static void scene_poke(scene *s)
{
    scripted_http_poke(s->bench.server, ++s->pokes);
    while (atomic_load(&s->script.done) < s->pokes)
        http_bench_run_ms(&s->bench, 1);
}

/* With pauses, each piece is followed by one. */
static void scene_wait(scene *s, size_t bytes)
{
    uint64_t deadline_ms = ki_clock_now_ms(ki_clock_real()) + AT_ONCE_MS;
    int pieces = 0; /* one may have arrived already */
    while (s->f.bytes < bytes) {
        assert_non_null(s->f.transfer);
        assert_true(ki_clock_now_ms(ki_clock_real()) < deadline_ms);
        http_bench_step(&s->bench);
        if (s->f.pause_after != 0 && s->f.pieces != pieces)
            ki_transfer_resume(s->f.transfer);
        pieces = s->f.pieces;
    }
    assert_int_equal(s->f.bytes, bytes);
}

static void scene_burst(scene *s)
{
    size_t bytes = s->f.bytes + s->script.body_bytes;
    scene_poke(s);
    scene_wait(s, bytes);
}

#define FOR_BOTH_VERSIONS(version) for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++)

/* ---- tests ------------------------------------------------------------------------------------------- */

static void run_alignments(scene *s, size_t record, size_t around, size_t distance)
{
    for (size_t total = around - distance; total <= around + distance; total++) {
        script_fill(&s->script, record, total);
        scene_burst(s);
        assert_int_equal(s->script.encrypted_bytes, total);
    }
}

static void the_last_event_arrives_at_every_alignment(void **state)
{
    (void)state;
    static const size_t records[] = {700, 1400, 4096, RECORD_MAX};
    static scene s;
    FOR_BOTH_VERSIONS(version)
    {
        scene_init(&s, version, NULL);
        for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
            run_alignments(&s, records[i], READ_AHEAD_BYTES, 50);
            run_alignments(&s, records[i], READ_AHEAD_BYTES / 2, 30);
            run_alignments(&s, records[i], 2 * (size_t)READ_AHEAD_BYTES, 10);
        }
        scene_fini(&s);
    }
}

/* The record before the last event is not delivered to the program,
 * so only OpenSSL knows that there is more. */
static void an_event_in_parts_of_chunks_arrives(void **state)
{
    (void)state;
    static scene s;
    FOR_BOTH_VERSIONS(version)
    {
        scene_init(&s, version, NULL);
        for (int i = 0; i < 20; i++) {
            script_begin(&s.script);
            script_add_chunk(&s.script, 100);
            script_add(&s.script, "5", 1);
            script_add(&s.script, "\r\n", 2);
            script_add(&s.script, "hello", 5);
            script_add(&s.script, "\r\n", 2);
            s.script.body_bytes += 5;
            scene_burst(&s);
        }
        scene_fini(&s);
    }
}

/* The last record is split inside the header, at both ends of it, inside the text and in the tag. */
static void an_event_in_several_segments_arrives(void **state)
{
    (void)state;
    static scene s;
    FOR_BOTH_VERSIONS(version)
    {
        scene_init(&s, version, NULL);
        for (size_t cut = 0; cut < 60; cut++) {
            script_fill(&s.script, 4096, READ_AHEAD_BYTES);
            size_t bytes = s.f.bytes + s.script.body_bytes;
            size_t last = s.script.sizes[s.script.record_count - 1] + record_extra(&s.script);
            s.script.until = READ_AHEAD_BYTES - last + (cut < 30 ? cut : last - (cut - 29));
            scene_poke(&s);
            http_bench_run_ms(&s.bench, 2);
            s.script.until = SIZE_MAX;
            scene_poke(&s);
            scene_wait(&s, bytes);
        }
        scene_fini(&s);
    }
}

static void a_handler_that_pauses_gets_everything(void **state)
{
    (void)state;
    static scene s;
    FOR_BOTH_VERSIONS(version)
    {
        scene_init(&s, version, NULL);
        s.f.pause_after = 1;
        for (size_t total = READ_AHEAD_BYTES - 20; total < READ_AHEAD_BYTES + 20; total += 3) {
            script_fill(&s.script, 1400, total);
            scene_burst(&s);
            script_fill(&s.script, 4096, 3 * total);
            scene_burst(&s);
        }
        scene_fini(&s);
    }
}

/* Other requests run in turns, so the transfer is paused and continues by itself. */
static void a_turn_that_ends_inside_a_burst_continues(void **state)
{
    (void)state;
    static scene s;
    scene_init(&s, TLS1_3_VERSION, &(ki_http_options){.bytes_at_once = 3000});
    for (size_t total = READ_AHEAD_BYTES - 20; total < READ_AHEAD_BYTES + 20; total++) {
        script_fill(&s.script, 1400, total);
        scene_burst(&s);
    }
    scene_fini(&s);
}

/* There is something to read, but not a complete record. */
static void part_of_a_record_keeps_no_thread_busy(void **state)
{
    (void)state;
    enum { LOOKS = 20 };
    static scene s;
    size_t runs = 0;
    scene_init(&s, TLS1_3_VERSION, NULL);
    script_fill(&s.script, 4096, READ_AHEAD_BYTES);
    s.script.until = READ_AHEAD_BYTES - 1;
    scene_poke(&s);
    http_bench_run_ms(&s.bench, 50);
    for (int i = 0; i < LOOKS; i++) {
        (void)poll(NULL, 0, 5);
        runs += ki_loop_step(&s.bench.loop, 0);
    }
    assert_true(runs < LOOKS);
    s.script.until = SIZE_MAX;
    scene_poke(&s);
    scene_wait(&s, s.script.body_bytes);
    scene_fini(&s);
}

/* Without the end of the body, then with it. */
static void bytes_before_the_end_of_the_connection_arrive(void **state)
{
    (void)state;
    static scene s;
    for (int is_whole = 0; is_whole < 2; is_whole++)
        for (int pauses = 0; pauses < 2; pauses++) {
            scene_init(&s, TLS1_3_VERSION, NULL);
            s.f.pause_after = pauses;
            script_fill(&s.script, 1400, READ_AHEAD_BYTES + 7);
            if (is_whole)
                script_add(&s.script, "0\r\n\r\n", 5);
            s.script.closes = true;
            scene_burst(&s);
            s.f.pause_after = 0;
            if (s.f.transfer != NULL)
                ki_transfer_resume(s.f.transfer);
            fetch_run(&s.f);
            assert_int_equal(s.f.reason, is_whole ? KI_REASON_NONE : KI_REASON_CONNECTION_LOST);
            assert_int_equal(s.f.bytes, s.script.body_bytes);
            scene_fini(&s);
        }
}

/* A timer of libcurl expires after the connection timeout, when data has arrived that the loop has not
 * noticed yet. */
static void data_that_libcurl_reads_in_a_timer_is_read_completely(void **state)
{
    (void)state;
    enum { TIMER_MS = 1000 };
    static scene s;
    scene_init(&s, TLS1_3_VERSION, &(ki_http_options){.connect_timeout_ms = TIMER_MS});
    script_fill(&s.script, 1400, READ_AHEAD_BYTES / 2);
    http_bench_run_ms(&s.bench, TIMER_MS / 2);
    scripted_http_poke(s.bench.server, ++s.pokes);
    (void)poll(NULL, 0, TIMER_MS); /* the loop does not run meanwhile */
    ki_sockets_act(s.f.transfer->pool, CURL_SOCKET_TIMEOUT, 0);
    scene_wait(&s, s.script.body_bytes);
    scene_fini(&s);
}

/* The next request on the connection receives only what was read after the end of the response. */
static void a_request_on_a_connection_that_has_ended_is_sent_again(void **state)
{
    (void)state;
    FOR_BOTH_VERSIONS(version)
    {
        char url[URL_BYTES];
        http_bench bench = {0};
        start(&bench, url, &(scripted_http_options){.serve_bytes = serve_last_words, .user = &version});
        http_bench_init(&bench, NULL, NULL);
        for (int i = 1; i <= 3; i++) {
            uint64_t began_ms = ki_clock_now_ms(ki_clock_real());
            fetch f = {0};
            fetch_get(&f, &bench, "/");
            assert_int_equal(f.reason, KI_REASON_NONE);
            assert_string_equal(f.body.text, "hello");
            assert_int_equal(scripted_http_connections(bench.server), i);
            assert_true(ki_clock_now_ms(ki_clock_real()) < began_ms + AT_ONCE_MS);
            fetch_free(&f);
        }
        http_bench_fini(&bench);
    }
}

/* OpenSSL begins it when no record is left, but only in a read. */
static void a_renegotiation_inside_a_burst_is_not_forgotten(void **state)
{
    (void)state;
    static scene s;
    memset(&s, 0, sizeof(s));
    start(&s.bench, s.url, &(scripted_http_options){.serve_bytes = serve_renegotiation});
    scene_begin(&s, NULL);
    for (size_t i = 1; i <= 3; i++) {
        scripted_http_poke(s.bench.server, (int)i);
        scene_wait(&s, i * 4 * strlen("hello"));
    }
    scene_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(the_last_event_arrives_at_every_alignment),
        WITH_MEMORY_CHECK(an_event_in_parts_of_chunks_arrives),
        WITH_MEMORY_CHECK(an_event_in_several_segments_arrives),
        WITH_MEMORY_CHECK(part_of_a_record_keeps_no_thread_busy),
        WITH_MEMORY_CHECK(a_handler_that_pauses_gets_everything),
        WITH_MEMORY_CHECK(a_turn_that_ends_inside_a_burst_continues),
        WITH_MEMORY_CHECK(bytes_before_the_end_of_the_connection_arrive),
        WITH_MEMORY_CHECK(data_that_libcurl_reads_in_a_timer_is_read_completely),
        WITH_MEMORY_CHECK(a_request_on_a_connection_that_has_ended_is_sent_again),
        WITH_MEMORY_CHECK(a_renegotiation_inside_a_burst_is_not_forgotten),
    };
    return cmocka_run_group_tests_name(__FILE__, tests, certificates_set_up, certificates_tear_down);
}
