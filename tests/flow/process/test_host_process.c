/* SPDX-License-Identifier: Apache-2.0 */
/* A client inside a program that has its own libcurl, signals and allocator.
 * The server is the embedded one: ki_apiserver_start(). */
#include <curl/curl.h>
#include <kinformer.h>
#include <kinformer/apiserver.h>
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "support/apiserver/api_rig.h"
#include "support/aside.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/clock.h"

enum { PODS = 5, MODES = 3, ROUNDS = 10, WAIT_MS = 200 };

typedef struct world {
    ki_apiserver *server;
    ki_client *client;
    ki_informer *informer;
} world;

static void world_init(world *w, int mode)
{
    ki_error err = {0};
    w->server = api_rig_start(&(ki_apiserver_options){.seed = 3});
    for (int i = 0; i < PODS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "pod-%d", i);
        api_put_pod(w->server, name, "web", "node-1");
    }
    w->client = ki_client_new(
        &(ki_client_options){.mode = (ki_mode)mode, .server = ki_apiserver_url(w->server)}, &err);
    assert_string_equal(err.message, "");
    assert_non_null(w->client);
    w->informer = ki_informer_new(w->client, &KI_CORE_V1_PODS, NULL, &err);
    assert_non_null(w->informer);
}

static void world_sync(world *w)
{
    ki_error err = {0};
    assert_int_equal(ki_informer_start(w->informer, &err), 0);
    int rc = ki_informer_wait_for_sync(w->informer, HANG_MS, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(rc, 0);
    assert_true(ki_store_count(ki_informer_store(w->informer)) >= PODS);
}

static void call_server(world *w)
{
    ki_rest_answer answer = {0};
    ki_error err = {0};
    ki_rest_request request = {.verb = KI_REST_GET, .path = "/version"};
    int rc = ki_rest_run(w->client, &request, &answer, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(rc, 0);
    assert_int_equal(answer.http_status, 200);
    ki_rest_answer_fini(&answer);
}

static void world_fini(world *w)
{
    ki_informer_free(w->informer);
    ki_client_free(w->client);
    ki_apiserver_free(w->server);
}

/* ---- libcurl ----------------------------------------------------------------------------------------- */

static size_t ignore_body(char *bytes, size_t size, size_t count, void *user)
{
    (void)bytes;
    (void)user;
    return size * count;
}

static void use_libcurl(const world *w)
{
    CURL *easy = curl_easy_init();
    assert_non_null(easy);
    assert_int_equal(curl_easy_setopt(easy, CURLOPT_URL, ki_apiserver_url(w->server)), CURLE_OK);
    assert_int_equal(curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignore_body), CURLE_OK);
    assert_int_equal(curl_easy_perform(easy), CURLE_OK);
    curl_easy_cleanup(easy);
}

/* The program may initialize and clean up libcurl at any time; libcurl counts these calls. */
static void the_program_uses_libcurl_itself(void **state)
{
    (void)state;
    for (int mode = 0; mode < MODES; mode++) {
        world w;
        if (mode == 1)
            assert_int_equal(curl_global_init(CURL_GLOBAL_DEFAULT), CURLE_OK);
        world_init(&w, mode);
        world_sync(&w);
        if (mode != 1)
            assert_int_equal(curl_global_init(CURL_GLOBAL_DEFAULT), CURLE_OK);
        use_libcurl(&w);
        curl_global_cleanup();
        call_server(&w);
        ki_informer_stop(w.informer);
        world_sync(&w);
        call_server(&w);
        world_fini(&w);
    }
}

/* ---- signals ----------------------------------------------------------------------------------------- */

static atomic_int signals;

static void count_signal(int number)
{
    (void)number;
    signals++;
}

/* Raises a signal each millisecond; its handler makes waiting calls return early. */
static void begin_storm(struct sigaction *old)
{
    struct sigaction action = {.sa_handler = count_signal}; /* no SA_RESTART */
    struct itimerval often = {{0, 1000}, {0, 1000}};
    signals = 0;
    assert_int_equal(sigaction(SIGALRM, &action, old), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
}

static void end_storm(const struct sigaction *old)
{
    struct itimerval never = {{0, 0}, {0, 0}};
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    assert_int_equal(sigaction(SIGALRM, old, NULL), 0);
    assert_true(signals > 0);
}

/* No wait is too short, and nothing fails. */
static void every_wait_continues_after_signals(void **state)
{
    (void)state;
    for (int mode = 0; mode < MODES; mode++) {
        world w;
        struct sigaction old;
        world_init(&w, mode);
        begin_storm(&old);
        world_sync(&w);
        for (int i = 0; i < ROUNDS; i++) {
            call_server(&w);
            ki_informer_stop(w.informer);
            world_sync(&w);
        }
        uint64_t began_ms = ki_clock_now_ms(ki_clock_real());
        assert_int_equal(
            ki_informer_wait_for_version(w.informer, ki_str_of("999999999999999999999"), WAIT_MS, NULL),
            KI_ERR_TIMEOUT);
        assert_true(ki_clock_now_ms(ki_clock_real()) - began_ms >= WAIT_MS);
        ki_informer_free(w.informer);
        ki_client_free(w.client);
        end_storm(&old);
        ki_apiserver_free(w.server);
    }
}

static atomic_int changed_dispositions;
static atomic_int transforms;

/* Runs inside libcurl, which is reading the connection. */
static int look_at_disposition(const ki_object **object, void *user)
{
    struct sigaction now;
    (void)object;
    (void)user;
    transforms++;
    changed_dispositions += sigaction(SIGPIPE, NULL, &now) != 0 || now.sa_handler != SIG_DFL;
    return 0;
}

/* Connections are cut while they are written to. SIGPIPE has its default action, which would end the program.
 * In KI_MODE_EVENT_LOOP the library writes on the program's own thread. */
static void a_write_to_a_closed_connection_raises_no_signal(void **state)
{
    (void)state;
    struct sigaction standard = {.sa_handler = SIG_DFL};
    struct sigaction old;
    assert_int_equal(sigaction(SIGPIPE, &standard, &old), 0);
    for (int mode = 0; mode < MODES; mode++) {
        world w;
        world_init(&w, mode);
        assert_int_equal(ki_informer_set_transform(w.informer, look_at_disposition, NULL), 0);
        world_sync(&w);
        ki_apiserver_free(w.server);
        size_t bytes = (size_t)4 * 1024 * 1024;
        char *body = malloc(bytes);
        assert_non_null(body);
        memset(body, ' ', bytes);
        ki_rest_request request = {.verb = KI_REST_CREATE,
                                   .path = "/api/v1/namespaces/default/pods",
                                   .body = {body, bytes},
                                   .timeout_ms = 500};
        for (int i = 0; i < 3; i++)
            assert_true(ki_rest_run(w.client, &request, NULL, NULL) < 0);
        free(body);
        ki_informer_free(w.informer);
        ki_client_free(w.client);
    }
    assert_true(transforms > 0);
    assert_int_equal(changed_dispositions, 0);
    assert_int_equal(sigaction(SIGPIPE, &old, NULL), 0);
}

/* ---- memory ------------------------------------------------------------------------------------------ */

typedef struct books {
    atomic_size_t allocated; /* bytes, by the allocator */
    atomic_int calls;
} books;

static void *book_allocate(size_t size, void *user)
{
    books *b = user;
    void *memory = malloc(size);
    b->calls++;
    b->allocated += memory == NULL ? 0 : malloc_usable_size(memory);
    return memory;
}

static void book_release(void *memory, void *user)
{
    books *b = user;
    b->allocated -= memory == NULL ? 0 : malloc_usable_size(memory);
    free(memory);
}

static void *book_reallocate(void *memory, size_t size, void *user)
{
    books *b = user;
    size_t before = memory == NULL ? 0 : malloc_usable_size(memory);
    void *fresh = realloc(memory, size);
    b->calls++;
    if (fresh != NULL)
        b->allocated += malloc_usable_size(fresh) - before;
    return fresh;
}

/* From the first call to the last, all memory of the library comes from this allocator and returns to it,
 * however a client is freed. */
static void an_allocator_gets_back_all_its_memory(void **state)
{
    (void)state;
    static books b;
    for (int mode = 0; mode < MODES; mode++) {
        world w;
        ki_allocator allocator = {
            .allocate = book_allocate, .reallocate = book_reallocate, .release = book_release, .user = &b};
        assert_int_equal(ki_set_allocator(&allocator), 0);
        world_init(&w, mode);
        world_sync(&w);
        call_server(&w);
        assert_true(b.calls > 0 && b.allocated > 0);
        ki_client_free(w.client);
        ki_informer_free(w.informer);
        ki_apiserver_free(w.server);
        assert_int_equal(b.allocated, 0);
        assert_int_equal(ki_set_allocator(NULL), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_program_uses_libcurl_itself),
        cmocka_unit_test(every_wait_continues_after_signals),
        cmocka_unit_test(a_write_to_a_closed_connection_raises_no_signal),
        cmocka_unit_test(an_allocator_gets_back_all_its_memory),
    };
    return RUN_TESTS(tests);
}
