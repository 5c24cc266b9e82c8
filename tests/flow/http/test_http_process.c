/* SPDX-License-Identifier: Apache-2.0 */
/* What requests use in a process: descriptors, threads, host names that cannot be resolved, memory. */
#include <curl/curl.h>
#include <dirent.h>
#include <fcntl.h>
#include <kinformer.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/client.h"
#include "flow/support/http_bench.h"
#include "support/client/certificates.h"
#include "support/failing_allocator.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/thread.h"

/* ---- a resolver that hangs --------------------------------------------------------------------------- */

static struct {
    ki_mutex mu;
    ki_cond changed;
    bool hangs;
    int inside;
    sigset_t mask; /* of the last thread that called */
} resolver;

/* Replaces the C library's function for libcurl: it blocks as long as the test wants,
 * and then finds no name. */
__attribute__((visibility("default"))) int getaddrinfo(const char *node, const char *service,
                                                       const struct addrinfo *hints, struct addrinfo **out);

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **out)
{
    (void)node;
    (void)service;
    (void)hints;
    (void)out;
    ki_mutex_lock(&resolver.mu);
    resolver.inside++;
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &resolver.mask), 0);
    ki_cond_broadcast(&resolver.changed);
    while (resolver.hangs)
        ki_cond_wait(&resolver.changed, &resolver.mu);
    resolver.inside--;
    ki_cond_broadcast(&resolver.changed);
    ki_mutex_unlock(&resolver.mu);
    return EAI_NONAME;
}

static void set_hangs(bool hangs)
{
    ki_mutex_lock(&resolver.mu);
    resolver.hangs = hangs;
    ki_cond_broadcast(&resolver.changed);
    ki_mutex_unlock(&resolver.mu);
}

/* The number of lookups in progress. */
static int lookups(void)
{
    ki_mutex_lock(&resolver.mu);
    int inside = resolver.inside;
    ki_mutex_unlock(&resolver.mu);
    return inside;
}

/* One name has one lookup; since libcurl 8.20 there may be one for each address family. */
static void assert_one_name_is_looked_up(void)
{
    enum { ONE_FOR_EACH_KIND = 0x081400 };
    int most = curl_version_info(CURLVERSION_NOW)->version_num >= ONE_FOR_EACH_KIND ? 2 : 1;
    assert_in_range(lookups(), 1, most);
}

/* A local socket without a name: one end of a pair that libcurl uses internally. */
static bool is_libcurls_own(int fd)
{
    struct sockaddr_un name = {0};
    socklen_t size = sizeof(name);
    return getsockname(fd, (struct sockaddr *)&name, &size) == 0 && name.sun_family == AF_UNIX &&
           size == sizeof(name.sun_family);
}

/* The number of open descriptors; optionally only those of the library that a started program would
 * inherit. */
static int count_fds(bool inherited_only)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    assert_non_null(folder);
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        int fd = atoi(entry->d_name);
        int flags = entry->d_name[0] == '.' || fd == dirfd(folder) ? -1 : fcntl(fd, F_GETFD);
        if (flags >= 0 && (!inherited_only || ((flags & FD_CLOEXEC) == 0 && !is_libcurls_own(fd))))
            count++;
    }
    (void)closedir(folder);
    return count;
}

/* The thread of the lookup is detached, and keeps its descriptor;
 * some releases of libcurl close it earlier. */
static void wait_for_fds(int count)
{
    uint64_t deadline_ms = ki_clock_now_ms(ki_clock_real()) + HANG_MS;
    while (count_fds(false) != count || lookups() != 0) {
        assert_true(ki_clock_now_ms(ki_clock_real()) < deadline_ms);
        (void)poll(NULL, 0, 1);
    }
}

static char unknown_server[] = "http://api.example:8080";

static void an_unknown_host_name_is_a_dns_failure(void **state)
{
    (void)state;
    http_bench bench = {.config.server = unknown_server};
    fetch f = {0};
    http_bench_init(&bench, NULL, NULL);
    fetch_get(&f, &bench, "/");
    assert_int_equal(f.reason, KI_REASON_DNS);
    fetch_free(&f);
    http_bench_fini(&bench);
}

/* The loop may run on the program's thread, with signals that the program waits for. */
static void no_signal_of_the_program_is_delivered_to_a_lookup(void **state)
{
    (void)state;
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGUSR1, SIGALRM, SIGPROF};
    http_bench bench = {.config.server = unknown_server};
    fetch f = {0};
    sigset_t before;
    sigset_t after;
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &before), 0);
    http_bench_init(&bench, NULL, NULL);
    fetch_get(&f, &bench, "/");
    assert_int_equal(f.reason, KI_REASON_DNS);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &after), 0);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        assert_int_equal(sigismember(&resolver.mask, numbers[i]), 1);
        assert_int_equal(sigismember(&after, numbers[i]), sigismember(&before, numbers[i]));
    }
    fetch_free(&f);
    http_bench_fini(&bench);
}

static void a_cancel_during_a_name_lookup_does_not_wait(void **state)
{
    (void)state;
    http_bench bench = {.config.server = unknown_server};
    fetch f = {0};
    int fds = count_fds(false);
    int inherited = count_fds(true);
    set_hangs(true);
    http_bench_init(&bench, NULL, NULL);
    fetch_begin(&f, &bench, NULL);
    while (lookups() == 0)
        http_bench_run_ms(&bench, 1);
    assert_int_equal(count_fds(true), inherited);
    uint64_t began_ms = ki_clock_now_ms(ki_clock_real());
    fetch_free(&f);
    http_bench_fini(&bench);
    assert_true(ki_clock_now_ms(ki_clock_real()) - began_ms < AT_ONCE_MS);
    assert_one_name_is_looked_up();
    set_hangs(false);
    wait_for_fds(fds);
}

static void a_lookup_takes_no_longer_than_the_connect_timeout(void **state)
{
    (void)state;
    http_bench bench = {.config.server = unknown_server};
    fetch f = {0};
    int fds = count_fds(false);
    set_hangs(true);
    http_bench_init(&bench, NULL, &(ki_http_options){.connect_timeout_ms = 50});
    fetch_get(&f, &bench, "/");
    assert_true(f.reason == KI_REASON_TIMEOUT || f.reason == KI_REASON_DNS);
    while (lookups() == 0) /* on a busy machine the thread may start after its timeout */
        (void)poll(NULL, 0, 1);
    assert_one_name_is_looked_up();
    fetch_free(&f);
    http_bench_fini(&bench);
    set_hangs(false);
    wait_for_fds(fds);
}

static void a_client_is_freed_while_a_name_is_looked_up(void **state)
{
    (void)state;
    static const int modes[] = {KI_MODE_THREADS, KI_MODE_HANDLERS_ON_LOOP, KI_MODE_EVENT_LOOP};
    int fds = count_fds(false);
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        ki_config config = {.server = unknown_server};
        ki_client *client =
            ki_client_new(&(ki_client_options){.mode = (ki_mode)modes[i], .no_cluster = 1}, NULL);
        set_hangs(true);
        assert_int_equal(ki_client_connect(client, &config, NULL, NULL), 0);
        ki_informer *informer = ki_informer_new(client, &KI_CORE_V1_PODS, NULL, NULL);
        assert_int_equal(ki_informer_start(informer, NULL), 0);
        while (lookups() == 0)
            if (modes[i] == KI_MODE_EVENT_LOOP)
                (void)ki_client_dispatch(client, 1);
        uint64_t began_ms = ki_clock_now_ms(ki_clock_real());
        ki_informer_free(informer);
        ki_client_free(client);
        assert_true(ki_clock_now_ms(ki_clock_real()) - began_ms < AT_ONCE_MS);
        set_hangs(false);
        wait_for_fds(fds);
    }
}

static void an_informer_reports_an_unknown_host_name(void **state)
{
    (void)state;
    int fds = count_fds(false);
    ki_config config = {.server = unknown_server};
    ki_informer_status status = {0};
    ki_client *client =
        ki_client_new(&(ki_client_options){.mode = KI_MODE_EVENT_LOOP, .no_cluster = 1}, NULL);
    assert_int_equal(ki_client_connect(client, &config, NULL, NULL), 0);
    ki_informer *informer = ki_informer_new(client, &KI_CORE_V1_PODS, NULL, NULL);
    assert_int_equal(ki_informer_start(informer, NULL), 0);
    while (status.reason == KI_REASON_NONE) {
        (void)ki_client_dispatch(client, 1);
        ki_informer_read_status(informer, &status);
    }
    assert_int_equal(status.reason, KI_REASON_DNS);
    assert_int_equal(status.phase, KI_PHASE_BACKING_OFF);
    assert_true(status.success_age_ms == UINT64_MAX);
    ki_informer_free(informer);
    ki_client_free(client);
    wait_for_fds(fds);
}

/* ---- descriptors ------------------------------------------------------------------------------------- */

static scripted_next serve_watch(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)r;
    (void)user;
    if (scripted_begin(c, "200 OK") && scripted_chunk(c, "x"))
        scripted_wait_for_end(c);
    return SCRIPTED_CLOSE;
}

static void a_started_program_inherits_no_descriptor_of_the_library(void **state)
{
    (void)state;
    certificate authority = certificate_make("authority", NULL, NULL);
    certificate own = certificate_make("server", "IP:127.0.0.1", &authority);
    http_bench bench = {.config.ca_pem = authority.pem};
    fetch f[3] = {0};
    int inherited = count_fds(true);
    http_bench_init(
        &bench,
        &(scripted_http_options){.serve = serve_watch, .certificate_pem = own.pem, .key_pem = own.key_pem},
        NULL);
    for (int i = 0; i < 3; i++)
        fetch_begin(&f[i], &bench, NULL);
    for (int i = 0; i < 3; i++)
        fetch_run_until_bytes(&f[i], 1);
    assert_int_equal(count_fds(true), inherited);
    for (int i = 0; i < 3; i++)
        fetch_free(&f[i]);
    http_bench_fini(&bench);
    certificate_free(&own);
    certificate_free(&authority);
}

static void no_descriptor_is_left_at_the_end(void **state)
{
    (void)state;
    int fds = count_fds(false);
    for (int i = 0; i < 3; i++) {
        http_bench bench = {0};
        fetch f[5] = {0};
        http_bench_init(&bench, &(scripted_http_options){.serve = serve_watch}, NULL);
        for (int k = 0; k < 5; k++)
            fetch_begin(&f[k], &bench, NULL);
        for (int k = 0; k < i; k++)
            fetch_run_until_bytes(&f[k], 1);
        for (int k = 0; k < 5; k++)
            fetch_free(&f[k]);
        http_bench_fini(&bench);
        assert_int_equal(count_fds(false), fds);
    }
}

static int number_of(int fd, int level, int option)
{
    int value = -1;
    socklen_t size = sizeof(value);
    return getsockopt(fd, level, option, &value, &size) == 0 ? value : -1;
}

/* The client's end of the connection to this port, or -1. */
static int find_connection(int port)
{
    for (int fd = 0; fd < 256; fd++) {
        struct sockaddr_in peer = {0};
        socklen_t size = sizeof(peer);
        if (getpeername(fd, (struct sockaddr *)&peer, &size) == 0 && peer.sin_family == AF_INET &&
            ntohs(peer.sin_port) == port)
            return fd;
    }
    return -1;
}

static void a_dead_peer_is_noticed_within_a_minute(void **state)
{
    (void)state;
    http_bench bench = {0};
    fetch f = {0};
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_watch}, NULL);
    fetch_begin(&f, &bench, NULL);
    fetch_run_until_bytes(&f, 1);
    int fd = find_connection(scripted_http_port(bench.server));
    assert_true(fd >= 0);
    assert_int_equal(number_of(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
    assert_int_equal(number_of(fd, IPPROTO_TCP, TCP_KEEPIDLE), 15);
    assert_int_equal(number_of(fd, IPPROTO_TCP, TCP_KEEPINTVL), 15);
    assert_int_equal(number_of(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 45 * 1000);
    fetch_free(&f);
    http_bench_fini(&bench);
}

/* ---- memory ------------------------------------------------------------------------------------------ */

static scripted_next serve_hello(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)r;
    (void)user;
    (void)scripted_answer(c, "200 OK", "", "hello");
    return SCRIPTED_KEEP;
}

static void when_out_of_memory_nothing_is_made_and_nothing_leaks(void **state)
{
    (void)state;
    char server[] = "https://127.0.0.1:1";
    char name[] = "api.example";
    char pem[] = "no certificate";
    ki_config config = {.server = server, .tls_server_name = name, .ca_pem = pem, .proxy_url = server};
    ki_loop loop;
    bool has_failed = true;
    for (size_t n = 1; has_failed; n++) {
        ki_error err = {0};
        assert_int_equal(ki_loop_init(&loop, &(ki_loop_options){.with_fd = 1}, NULL), 0);
        failing_allocator_fail_at(n);
        ki_http *http = ki_http_new(&(ki_http_options){.config = &config, .loop = &loop}, &err);
        has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        assert_int_equal(http == NULL, has_failed);
        assert_int_equal(err.code, has_failed ? KI_ERR_NO_MEMORY : 0);
        ki_http_free(http);
        ki_loop_fini(&loop);
    }
}

static void no_head(ki_transfer *transfer, const ki_response_head *head, void *user)
{
    (void)transfer;
    (void)head;
    (void)user;
}

static int no_body(ki_transfer *transfer, const char *bytes, size_t n, void *user)
{
    (void)transfer;
    (void)bytes;
    (void)user;
    return n == 0;
}

static void note_end(ki_transfer *transfer, ki_reason reason, const char *message, void *user)
{
    (void)transfer;
    (void)message;
    *(ki_reason *)user = reason;
}

static void when_out_of_memory_a_request_fails_with_that_error(void **state)
{
    (void)state;
    static const ki_transfer_events events = {no_head, no_body, note_end, NULL};
    http_bench bench = {0};
    bool has_failed = true;
    http_bench_init(&bench, &(scripted_http_options){.serve = serve_hello}, NULL);
    for (size_t n = 1; has_failed; n++) {
        ki_reason reason = KI_REASON_OTHER;
        ki_transfer_request request = {
            .target = KI_STR("/"), .method = "PUT", .body = KI_STR("{}"), .events = &events, .user = &reason};
        failing_allocator_fail_at(n);
        ki_transfer *transfer = ki_transfer_new(bench.http, &request, NULL);
        uint64_t deadline_ms = ki_clock_now_ms(ki_clock_real()) + HANG_MS;
        while (transfer != NULL && reason == KI_REASON_OTHER) {
            http_bench_run_ms(&bench, 1);
            assert_true(ki_clock_now_ms(ki_clock_real()) < deadline_ms);
        }
        has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        if (transfer != NULL)
            assert_int_equal(reason, has_failed ? KI_REASON_NO_MEMORY : KI_REASON_NONE);
    }
    http_bench_fini(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(an_unknown_host_name_is_a_dns_failure),
        WITH_MEMORY_CHECK(no_signal_of_the_program_is_delivered_to_a_lookup),
        WITH_MEMORY_CHECK(a_cancel_during_a_name_lookup_does_not_wait),
        WITH_MEMORY_CHECK(a_lookup_takes_no_longer_than_the_connect_timeout),
        WITH_MEMORY_CHECK(a_client_is_freed_while_a_name_is_looked_up),
        WITH_MEMORY_CHECK(an_informer_reports_an_unknown_host_name),
        WITH_MEMORY_CHECK(a_started_program_inherits_no_descriptor_of_the_library),
        WITH_MEMORY_CHECK(no_descriptor_is_left_at_the_end),
        WITH_MEMORY_CHECK(a_dead_peer_is_noticed_within_a_minute),
        WITH_MEMORY_CHECK(when_out_of_memory_nothing_is_made_and_nothing_leaks),
        WITH_MEMORY_CHECK(when_out_of_memory_a_request_fails_with_that_error),
    };
    ki_mutex_init(&resolver.mu);
    ki_cond_init(&resolver.changed);
    return RUN_TESTS(tests);
}
