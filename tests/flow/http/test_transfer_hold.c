/* SPDX-License-Identifier: Apache-2.0 */
/* What a pause does to the connection, with TLS and without: no thread is kept busy, nothing received is
 * lost, and the socket is back in its place before libcurl needs it. */
#include <dirent.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "flow/support/http_bench.h"
#include "http/transfer.h"
#include "support/client/certificates.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

static int count_fds(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    assert_non_null(folder);
    while (readdir(folder) != NULL)
        count++;
    (void)closedir(folder);
    return count;
}

enum { POST_BYTES = 1000 * 1000 };

static scripted_next serve_forever(scripted_connection *c)
{
    char block[16 * 1024 + 1];
    memset(block, 'x', sizeof(block) - 1);
    block[sizeof(block) - 1] = 0;
    while (scripted_chunk(c, block))
        continue;
    return SCRIPTED_CLOSE;
}

/* Responds before it has read what the client sends, and then reports whether that was correct. */
static scripted_next serve_post(scripted_connection *c, const scripted_request *r)
{
    char *body = malloc(POST_BYTES + 1);
    (void)scripted_chunk(c, "early ");
    bool is_whole =
        body != NULL && scripted_read_body(c, r, body, POST_BYTES + 1) && strspn(body, "p") == POST_BYTES;
    free(body);
    (void)(scripted_chunk(c, is_whole ? "whole" : "broken") && scripted_chunk(c, ""));
    return SCRIPTED_KEEP;
}

/* Sends two pieces at once, so that the second one has arrived when the first one is paused.
 * The rest depends on the target. */
static scripted_next serve(scripted_connection *c, const scripted_request *r, void *user)
{
    static const char pieces[] = "5\r\nhello\r\n6\r\n world\r\n";
    char text[64];
    (void)user;
    if (!scripted_begin(c, "200 OK"))
        return SCRIPTED_CLOSE;
    if (strcmp(r->target, "/forever") == 0)
        return serve_forever(c);
    if (strcmp(r->target, "/post") == 0)
        return serve_post(c, r);
    strcpy(text, pieces);
    if (strcmp(r->target, "/complete") == 0)
        strcat(text, "0\r\n\r\n");
    if (strcmp(r->target, "/malformed") == 0)
        strcat(text, "what\r\n");
    (void)scripted_send(c, text);
    if (strcmp(r->target, "/silent") == 0 && scripted_wait(c, 1))
        (void)(scripted_chunk(c, ", again") && scripted_chunk(c, ""));
    return SCRIPTED_KEEP;
}

/* A bench and a request that is paused after its first piece. */
typedef struct scene {
    http_bench bench;
    fetch f;
    int fds; /* before the bench was made */
} scene;

static void scene_init(scene *s, bool is_tls, const char *target)
{
    scripted_http_options server = {.serve = serve};
    *s = (scene){.fds = count_fds(), .f.pause_after = 1, .f.keeps_nothing = strcmp(target, "/forever") == 0};
    if (is_tls) {
        s->bench.config.ca_pem = certs.authority.pem;
        server.certificate_pem = certs.for_address.pem;
        server.key_pem = certs.for_address.key_pem;
    }
    http_bench_init(&s->bench, &server, NULL);
    fetch_begin(&s->f, &s->bench, &(ki_transfer_request){.target = ki_str_of(target)});
    fetch_run_until_bytes(&s->f, 1);
    http_bench_run_ms(&s->bench, 50);
    assert_int_equal(s->f.pieces, 1);
    assert_int_equal(s->f.ends, 0);
}

static void scene_fini(scene *s)
{
    fetch_free(&s->f);
    http_bench_fini(&s->bench);
    assert_int_equal(count_fds(), s->fds);
}

#define FOR_BOTH_WAYS(is_tls) for (int is_tls = 0; is_tls < 2; is_tls++)

/* A timer of libcurl may expire once or twice. */
static void a_paused_request_keeps_no_thread_busy(void **state)
{
    (void)state;
    enum { LOOKS = 20 };
    FOR_BOTH_WAYS(is_tls)
    {
        scene s;
        size_t runs = 0;
        scene_init(&s, is_tls, "/forever");
        for (int i = 0; i < LOOKS; i++) {
            (void)poll(NULL, 0, 5);
            runs += ki_loop_step(&s.bench.loop, 0);
        }
        assert_true(runs < LOOKS);
        assert_int_equal(s.f.pieces, 1);
        s.f.pause_after = 0;
        ki_transfer_resume(s.f.transfer);
        fetch_run_until_bytes(&s.f, 10 * 1000 * 1000);
        assert_int_equal(s.f.ends, 0);
        scene_fini(&s);
    }
}

static void received_bytes_are_delivered_without_another_byte(void **state)
{
    (void)state;
    FOR_BOTH_WAYS(is_tls)
    {
        scene s;
        scene_init(&s, is_tls, "/silent");
        ki_transfer_resume(s.f.transfer);
        fetch_run_until_bytes(&s.f, strlen("hello world"));
        assert_string_equal(s.f.body.text, "hello world");
        scripted_http_poke(s.bench.server, 1);
        http_bench_run_ms(&s.bench, 50);
        assert_int_equal(s.f.pieces, 2);
        s.f.pause_after = 0;
        ki_transfer_resume(s.f.transfer);
        fetch_run(&s.f);
        assert_string_equal(s.f.body.text, "hello world, again");
        assert_int_equal(s.f.reason, KI_REASON_NONE);
        scene_fini(&s);
    }
}

static void other_requests_continue_meanwhile(void **state)
{
    (void)state;
    FOR_BOTH_WAYS(is_tls)
    {
        scene s;
        scene_init(&s, is_tls, "/forever");
        for (int i = 0; i < 3; i++) {
            fetch other = {0};
            fetch_get(&other, &s.bench, "/complete");
            assert_string_equal(other.body.text, "hello world");
            fetch_free(&other);
        }
        assert_int_equal(scripted_http_connections(s.bench.server), 2);
        assert_int_equal(s.f.pieces, 1);
        ki_transfer_resume(s.f.transfer);
        fetch_run_until_bytes(&s.f, s.f.bytes + 1);
        assert_int_equal(s.f.pieces, 2);
        scene_fini(&s);
    }
}

static void a_connection_with_a_complete_response_serves_others_meanwhile(void **state)
{
    (void)state;
    FOR_BOTH_WAYS(is_tls)
    {
        scene s;
        fetch other = {0};
        scene_init(&s, is_tls, "/complete");
        fetch_get(&other, &s.bench, "/complete");
        assert_string_equal(other.body.text, "hello world");
        assert_int_equal(scripted_http_connections(s.bench.server), 1);
        assert_int_equal(s.f.ends, 0);
        s.f.pause_after = 0;
        ki_transfer_resume(s.f.transfer);
        fetch_run(&s.f);
        assert_string_equal(s.f.body.text, "hello world");
        assert_int_equal(s.f.reason, KI_REASON_NONE);
        fetch_free(&other);
        scene_fini(&s);
    }
}

static void bytes_before_a_failure_are_delivered_first(void **state)
{
    (void)state;
    FOR_BOTH_WAYS(is_tls)
    {
        scene s;
        scene_init(&s, is_tls, "/malformed");
        ki_transfer_resume(s.f.transfer);
        fetch_run_until_bytes(&s.f, strlen("hello world"));
        assert_int_equal(s.f.ends, 0);
        ki_transfer_resume(s.f.transfer);
        fetch_run(&s.f);
        assert_string_equal(s.f.body.text, "hello world");
        assert_int_not_equal(s.f.reason, KI_REASON_NONE);
        scene_fini(&s);
    }
}

static void a_paused_request_is_cancelled_completely(void **state)
{
    (void)state;
    static const char *const targets[] = {"/forever", "/silent", "/complete", "/malformed"};
    FOR_BOTH_WAYS(is_tls)
    {
        for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
            scene s;
            scene_init(&s, is_tls, targets[i]);
            ki_transfer_cancel(s.f.transfer);
            s.f.transfer = NULL;
            http_bench_run_ms(&s.bench, 10);
            assert_int_equal(s.f.pieces, 1);
            assert_int_equal(s.f.ends, 0);
            scene_fini(&s);
        }
    }
}

/* The request is sent although the response, which is read in turns, has begun. */
static void request_bytes_are_not_lost_in_a_turn(void **state)
{
    (void)state;
    FOR_BOTH_WAYS(is_tls)
    {
        http_bench bench = {.config.ca_pem = is_tls ? certs.authority.pem : NULL};
        scripted_http_options server = {.serve = serve,
                                        .certificate_pem = is_tls ? certs.for_address.pem : NULL,
                                        .key_pem = is_tls ? certs.for_address.key_pem : NULL};
        fetch f = {0};
        char *body = malloc(POST_BYTES);
        assert_non_null(body);
        memset(body, 'p', POST_BYTES);
        http_bench_init(&bench, &server, &(ki_http_options){.bytes_at_once = 1});
        fetch_begin(
            &f, &bench,
            &(ki_transfer_request){.method = "POST", .target = KI_STR("/post"), .body = {body, POST_BYTES}});
        fetch_run(&f);
        assert_string_equal(f.body.text, "early whole");
        assert_int_equal(f.reason, KI_REASON_NONE);
        fetch_free(&f);
        http_bench_fini(&bench);
        free(body);
    }
}

enum { TAKEN_MAX = 256 };

/* Opens all descriptors that the process may have; returns their number. */
static int take_descriptors(int *out_fds, struct rlimit *out_before)
{
    int count = 0;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, out_before), 0);
    struct rlimit limit = {.rlim_cur = TAKEN_MAX, .rlim_max = out_before->rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (int fd = dup(STDERR_FILENO); fd >= 0; fd = dup(STDERR_FILENO))
        out_fds[count++] = fd;
    return count;
}

static void give_descriptors(const int *fds, int count, const struct rlimit *before)
{
    for (int i = 0; i < count; i++)
        (void)close(fds[i]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, before), 0);
}

static void a_pause_needs_no_descriptor(void **state)
{
    (void)state;
    FOR_BOTH_WAYS(is_tls)
    {
        scene s;
        struct rlimit before;
        int fds[TAKEN_MAX];
        scene_init(&s, is_tls, "/silent");
        ki_transfer_resume(s.f.transfer);
        fetch_run_until_bytes(&s.f, strlen("hello world"));
        ki_transfer_resume(s.f.transfer);
        http_bench_run_ms(&s.bench, 10);
        int count = take_descriptors(fds, &before);
        scripted_http_poke(s.bench.server, 1);
        fetch_run_until_bytes(&s.f, strlen("hello world, again"));
        http_bench_run_ms(&s.bench, 50);
        assert_int_equal(s.f.pieces, 3);
        assert_int_equal(s.f.ends, 0);
        ki_transfer_resume(s.f.transfer);
        fetch_run(&s.f);
        give_descriptors(fds, count, &before);
        assert_string_equal(s.f.body.text, "hello world, again");
        assert_int_equal(s.f.reason, KI_REASON_NONE);
        scene_fini(&s);
    }
}

/* Whether an allocation failed: the n-th after the request was made. */
static bool is_paused_without_memory(size_t n)
{
    http_bench bench = {0};
    fetch f = {.pause_after = 1};
    http_bench_init(&bench, &(scripted_http_options){.serve = serve}, NULL);
    fetch_begin(&f, &bench, &(ki_transfer_request){.target = KI_STR("/complete")});
    failing_allocator_fail_at(n);
    for (size_t bytes = 0; f.transfer != NULL; bytes = f.bytes) {
        fetch_run_until_bytes(&f, bytes + 1);
        if (f.transfer != NULL)
            ki_transfer_resume(f.transfer);
    }
    bool has_failed = failing_allocator_has_failed();
    failing_allocator_fail_at(0);
    assert_int_equal(f.reason, has_failed ? KI_REASON_NO_MEMORY : KI_REASON_NONE);
    assert_true(has_failed || strcmp(f.body.text, "hello world") == 0);
    fetch_free(&f);
    http_bench_fini(&bench);
    return has_failed;
}

static void a_request_ends_when_out_of_memory_for_received_bytes(void **state)
{
    (void)state;
    size_t n = 1;
    while (is_paused_without_memory(n))
        n++;
    assert_true(n > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_paused_request_keeps_no_thread_busy),
        WITH_MEMORY_CHECK(received_bytes_are_delivered_without_another_byte),
        WITH_MEMORY_CHECK(other_requests_continue_meanwhile),
        WITH_MEMORY_CHECK(a_connection_with_a_complete_response_serves_others_meanwhile),
        WITH_MEMORY_CHECK(bytes_before_a_failure_are_delivered_first),
        WITH_MEMORY_CHECK(a_paused_request_is_cancelled_completely),
        WITH_MEMORY_CHECK(request_bytes_are_not_lost_in_a_turn),
        WITH_MEMORY_CHECK(a_pause_needs_no_descriptor),
        WITH_MEMORY_CHECK(a_request_ends_when_out_of_memory_for_received_bytes),
    };
    return cmocka_run_group_tests_name(__FILE__, tests, certificates_set_up, certificates_tear_down);
}
