/* SPDX-License-Identifier: Apache-2.0 */
/* A real informer follows a real socket, in each mode. */
#include <kinformer.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "flow/support/fake_credentials.h"
#include "support/failing_allocator.h"
#include "support/patience.h"
#include "support/scripted_http.h"
#include "support/unit.h"

static const int modes[] = {KI_MODE_THREADS, KI_MODE_HANDLERS_ON_LOOP, KI_MODE_EVENT_LOOP};

#define MODES (sizeof(modes) / sizeof(modes[0]))

/* ---- the bench ----------------------------------------------------------------------------------------- */

typedef struct world {
    int mode;
    scripted_http *server;
    ki_client *client;
    ki_informer *informer;
} world;

static void world_init(world *w, scripted_serve_cb serve, const ki_informer_options *options)
{
    ki_informer_options used = options != NULL ? *options : (ki_informer_options){0};
    ki_client_options client = {.mode = (ki_mode)w->mode, .no_cluster = 1};
    ki_config config = {0};
    ki_error err = {0};
    fake_credentials_reset();
    w->server = scripted_http_start(&(scripted_http_options){.serve = serve, .user = w});
    config.server = (char *)(uintptr_t)scripted_http_url(w->server);
    w->client = ki_client_new(&client, &err);
    assert_non_null(w->client);
    assert_int_equal(ki_client_connect(w->client, &config, &(ki_http_options){.error_timeout_ms = 50}, &err),
                     0);
    fake_credentials_take_over(w->client->credentials);
    if (used.watch_list == KI_WATCH_LIST_AUTO)
        used.watch_list = KI_WATCH_LIST_NEVER;
    used.backoff_ms = 10;
    used.backoff_max_ms = 50;
    w->informer = ki_informer_new(w->client, &KI_CORE_V1_CONFIGMAPS, &used, &err);
    assert_non_null(w->informer);
    assert_int_equal(ki_informer_start(w->informer, &err), 0);
}

static void world_fini(world *w)
{
    ki_informer_free(w->informer);
    ki_client_free(w->client);
    scripted_http_stop(w->server);
}

/* Does what the program of this mode would do, for a moment. */
static void live(world *w)
{
    struct pollfd polled = {.fd = ki_client_fd(w->client), .events = POLLIN};
    int timeout_ms = ki_client_timeout_ms(w->client);
    if (timeout_ms < 0 || timeout_ms > 5)
        timeout_ms = 5;
    (void)poll(&polled, polled.fd >= 0 ? 1 : 0, timeout_ms);
    if (w->mode != KI_MODE_THREADS)
        assert_true(ki_client_dispatch(w->client, 1) >= 0);
}

typedef bool (*condition)(world *w);

static void wait_for(world *w, condition is_met)
{
    uint64_t deadline_ms = ki_clock_now_ms(ki_clock_real()) + HANG_MS;
    while (!is_met(w)) {
        assert_true(ki_clock_now_ms(ki_clock_real()) < deadline_ms);
        live(w);
    }
}

static bool has_object(world *w, const char *name)
{
    ki_object *object = ki_store_get(ki_informer_store(w->informer), KI_STR("default"), ki_str_of(name));
    ki_object_unref(object);
    return object != NULL;
}

static bool has_a(world *w)
{
    return has_object(w, "a");
}

static bool has_b(world *w)
{
    return has_object(w, "b");
}

static bool has_c(world *w)
{
    return has_object(w, "c");
}

static bool has_no_a(world *w)
{
    return ki_informer_has_synced(w->informer) && !has_object(w, "a");
}

static ki_informer_status status_of(world *w)
{
    ki_informer_status status;
    ki_informer_read_status(w->informer, &status);
    return status;
}

/* ---- what servers say -------------------------------------------------------------------------------- */

#define ITEM(name, version)                                                                                  \
    "{\"metadata\":{\"namespace\":\"default\",\"name\":\"" name "\",\"uid\":\"" name                         \
    "\",\"resourceVersion\":\"" version "\"}}"
#define LIST(version, items)                                                                                 \
    "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"" version         \
    "\"},\"items\":[" items "]}"
#define EVENT(type, item) "{\"type\":\"" type "\",\"object\":" item "}\n"
#define STATUS(code, reason)                                                                                 \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"no\",\"reason\":"       \
    "\"" reason "\",\"code\":" code "}"

static bool is_watch(const scripted_request *r)
{
    return strstr(r->target, "watch=true") != NULL;
}

static scripted_next serve_list_and_watch(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    if (!is_watch(r)) {
        (void)scripted_answer(c, "200 OK", "", LIST("10", ITEM("a", "9")));
        return SCRIPTED_KEEP;
    }
    (void)(scripted_begin(c, "200 OK") && scripted_chunk(c, EVENT("ADDED", ITEM("b", "11"))) &&
           scripted_wait(c, 1) && scripted_chunk(c, EVENT("ADDED", ITEM("c", "12"))) &&
           scripted_chunk(c, EVENT("DELETED", ITEM("a", "13"))));
    scripted_wait_for_end(c);
    return SCRIPTED_CLOSE;
}

static void an_informer_lists_and_watches(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODES; i++) {
        world w = {.mode = modes[i]};
        world_init(&w, serve_list_and_watch, NULL);
        assert_int_equal(ki_informer_wait_for_sync(w.informer, HANG_MS, NULL), 0);
        wait_for(&w, has_b);
        assert_true(has_object(&w, "a"));
        scripted_http_poke(w.server, 1);
        wait_for(&w, has_c);
        wait_for(&w, has_no_a);
        assert_int_equal(status_of(&w).phase, KI_PHASE_WATCHING);
        assert_int_equal(status_of(&w).reason, KI_REASON_NONE);
        assert_int_equal(scripted_http_requests(w.server), 2);
        world_fini(&w);
    }
}

static void it_stops_and_continues_from_where_it_was(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODES; i++) {
        world w = {.mode = modes[i]};
        world_init(&w, serve_list_and_watch, NULL);
        wait_for(&w, has_b);
        ki_informer_stop(w.informer);
        scripted_http_poke(w.server, 1);
        assert_int_equal(ki_informer_start(w.informer, NULL), 0);
        wait_for(&w, has_c);
        assert_int_equal(status_of(&w).lists, 1);
        world_fini(&w);
    }
}

/* Each byte of the version takes three in a URL. */
static const char *long_version(void)
{
    static char text[KI_RESOURCE_VERSION_BYTES_MAX + 1];
    memset(text, '{', KI_RESOURCE_VERSION_BYTES_MAX);
    return text;
}

static scripted_next serve_long_version(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    char body[2 * KI_RESOURCE_VERSION_BYTES_MAX];
    if (strstr(r->head, "watch=true") == NULL) {
        snprintf(body, sizeof(body),
                 "{\"kind\":\"ConfigMapList\",\"metadata\":{\"resourceVersion\":\"%s\"},\"items\":[]}",
                 long_version());
        (void)scripted_answer(c, "200 OK", "", body);
        return SCRIPTED_KEEP;
    }
    size_t escapes = 0;
    const char *at = strstr(r->head, "resourceVersion=");
    for (at = at == NULL ? "" : at + strlen("resourceVersion="); strncmp(at, "%7B", 3) == 0; at += 3)
        escapes++;
    if (escapes == KI_RESOURCE_VERSION_BYTES_MAX)
        (void)(scripted_begin(c, "200 OK") && scripted_chunk(c, EVENT("ADDED", ITEM("b", "11"))));
    scripted_wait_for_end(c);
    return SCRIPTED_CLOSE;
}

static void a_watch_continues_from_a_version_of_4096_bytes(void **state)
{
    (void)state;
    world w = {.mode = KI_MODE_THREADS};
    world_init(&w, serve_long_version, NULL);
    wait_for(&w, has_b);
    assert_int_equal(scripted_http_requests(w.server), 2);
    world_fini(&w);
}

static bool send_bytewise(scripted_connection *c, const char *text)
{
    for (const char *at = text; *at != 0; at++) {
        const char one[] = {*at, 0};
        if (!scripted_chunk(c, one))
            return false;
    }
    return true;
}

static scripted_next serve_bytewise(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    if (!is_watch(r)) {
        (void)(scripted_begin(c, "200 OK") &&
               send_bytewise(c, LIST("10", ITEM("a", "8") "," ITEM("b", "9"))) && scripted_chunk(c, ""));
        return SCRIPTED_KEEP;
    }
    (void)(scripted_begin(c, "200 OK") && send_bytewise(c, EVENT("ADDED", ITEM("c", "11"))));
    scripted_wait_for_end(c);
    return SCRIPTED_CLOSE;
}

static void chunks_of_one_byte_are_enough(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODES; i++) {
        world w = {.mode = modes[i]};
        world_init(&w, serve_bytewise, NULL);
        wait_for(&w, has_c);
        assert_true(has_object(&w, "a"));
        assert_true(has_object(&w, "b"));
        world_fini(&w);
    }
}

/* The first watch is cut in the middle of an event, the second continues from what was whole. */
static scripted_next serve_cut_watch(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    if (!is_watch(r)) {
        (void)scripted_answer(c, "200 OK", "", LIST("10", ""));
        return SCRIPTED_KEEP;
    }
    if (strstr(r->target, "resourceVersion=10&") != NULL) {
        (void)(scripted_begin(c, "200 OK") && scripted_chunk(c, EVENT("ADDED", ITEM("a", "11"))) &&
               scripted_chunk(c, "{\"type\":\"ADDED\",\"obj"));
        return SCRIPTED_RESET;
    }
    if (strstr(r->target, "resourceVersion=11&") == NULL)
        return SCRIPTED_CLOSE;
    (void)(scripted_begin(c, "200 OK") && scripted_chunk(c, EVENT("ADDED", ITEM("b", "12"))));
    scripted_wait_for_end(c);
    return SCRIPTED_CLOSE;
}

static void a_watch_that_is_cut_continues_from_the_last_event(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODES; i++) {
        world w = {.mode = modes[i]};
        world_init(&w, serve_cut_watch, NULL);
        wait_for(&w, has_b);
        assert_true(has_object(&w, "a"));
        assert_int_equal(status_of(&w).lists, 1);
        assert_true(status_of(&w).reconnects >= 1);
        world_fini(&w);
    }
}

/* The first request fails in the way that the test wants; the others do not. */
typedef struct failure {
    const char *status;
    const char *headers;
    const char *body;
    ki_reason reason;
} failure;

static const failure *current_failure;

static scripted_next serve_failure(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    if (is_watch(r)) {
        if (scripted_begin(c, "200 OK"))
            scripted_wait_for_end(c);
        return SCRIPTED_CLOSE;
    }
    if (r->number == 1) {
        (void)scripted_answer(c, current_failure->status, current_failure->headers, current_failure->body);
    } else {
        (void)scripted_wait(c, 1);
        (void)scripted_answer(c, "200 OK", "", LIST("10", ITEM("a", "9")));
    }
    return SCRIPTED_KEEP;
}

static bool has_failed(world *w)
{
    return status_of(w).reason == current_failure->reason;
}

static void a_list_that_fails_is_reported_and_tried_again(void **state)
{
    (void)state;
    static const failure failures[] = {
        {"400 Bad Request", "", STATUS("400", "BadRequest"), KI_REASON_BAD_REQUEST},
        {"401 Unauthorized", "", STATUS("401", "Unauthorized"), KI_REASON_UNAUTHORIZED},
        {"403 Forbidden", "", STATUS("403", "Forbidden"), KI_REASON_FORBIDDEN},
        {"404 Not Found", "", STATUS("404", "NotFound"), KI_REASON_NOT_FOUND},
        {"429 Too Many Requests", "Retry-After: 1\r\n", STATUS("429", "TooManyRequests"),
         KI_REASON_TOO_MANY_REQUESTS},
        {"500 Internal Server Error", "", "oh", KI_REASON_SERVER_ERROR},
        {"302 Found", "Location: https://elsewhere.example/\r\n", "", KI_REASON_REDIRECTED},
        {"200 OK", "", "<html></html>", KI_REASON_MALFORMED},
        {"200 OK", "Content-Encoding: br\r\n", "{}", KI_REASON_MALFORMED},
    };
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
        world w = {.mode = modes[i % MODES]};
        current_failure = &failures[i];
        world_init(&w, serve_failure, NULL);
        wait_for(&w, has_failed);
        if (failures[i].reason == KI_REASON_REDIRECTED)
            assert_non_null(strstr(status_of(&w).message, "https://elsewhere.example/"));
        if (failures[i].reason == KI_REASON_UNAUTHORIZED)
            assert_int_equal(fake_credentials.refused, 1);
        scripted_http_poke(w.server, 1);
        ki_informer_retry_now(w.informer);
        wait_for(&w, has_a);
        world_fini(&w);
    }
}

static scripted_next serve_expired_watch(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    if (!is_watch(r)) {
        (void)scripted_answer(c, "200 OK", "",
                              r->number == 1 ? LIST("10", ITEM("a", "9")) : LIST("20", ITEM("b", "19")));
        return SCRIPTED_KEEP;
    }
    if (r->number == 2) {
        (void)scripted_answer(c, "410 Gone", "", STATUS("410", "Expired"));
        return SCRIPTED_KEEP;
    }
    if (scripted_begin(c, "200 OK"))
        scripted_wait_for_end(c);
    return SCRIPTED_CLOSE;
}

static void a_watch_that_is_too_old_lists_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODES; i++) {
        world w = {.mode = modes[i]};
        world_init(&w, serve_expired_watch, NULL);
        wait_for(&w, has_b);
        wait_for(&w, has_no_a);
        assert_int_equal(status_of(&w).lists, 2);
        world_fini(&w);
    }
}

/* The first watch is refused, and the refusal has no end. */
static scripted_next serve_stalled_refusal(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    if (is_watch(r) && r->number == 2) {
        (void)scripted_send(c, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 50\r\n\r\nupstream");
        scripted_wait_for_end(c);
        return SCRIPTED_CLOSE;
    }
    return serve_list_and_watch(c, r, user);
}

static void a_refusal_that_does_not_end_is_tried_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODES; i++) {
        world w = {.mode = modes[i]};
        world_init(&w, serve_stalled_refusal, NULL);
        wait_for(&w, has_b);
        assert_int_equal(status_of(&w).lists, 1);
        assert_int_equal(status_of(&w).watches, 2);
        world_fini(&w);
    }
}

/* ---- the query --------------------------------------------------------------------------------------- */

static char first_target[4096];

static scripted_next serve_and_note(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    if (r->number == 1)
        (void)snprintf(first_target, sizeof(first_target), "%s", r->target);
    if (!is_watch(r)) {
        (void)scripted_answer(c, "200 OK", "", LIST("10", ITEM("a", "9")));
        return SCRIPTED_KEEP;
    }
    if (scripted_begin(c, "200 OK"))
        scripted_wait_for_end(c);
    return SCRIPTED_CLOSE;
}

static void what_is_asked_stands_in_the_query(void **state)
{
    (void)state;
    world w = {.mode = KI_MODE_EVENT_LOOP};
    ki_informer_options options = {.ns = "web",
                                   .label_selector = "app in (a,b),!c",
                                   .field_selector = "metadata.name=a+b",
                                   .page_size = 7};
    world_init(&w, serve_and_note, &options);
    wait_for(&w, has_a);
    assert_string_equal(first_target,
                        "/api/v1/namespaces/web/configmaps?labelSelector=app%20in%20%28a%2Cb%29%2C%21c"
                        "&fieldSelector=metadata.name%3Da%2Bb&limit=7&resourceVersion=0");
    world_fini(&w);
}

/* ---- back-pressure ----------------------------------------------------------------------------------- */

enum { MANY = 20 * 1000, PADDING = 1500, BLOCK = 500 };

/* BLOCK items, the first of them this one, in one chunk, so that a server is faster than its client. */
static bool send_items(scripted_connection *c, int first)
{
    size_t size = (size_t)BLOCK * (PADDING + 256);
    char *text = malloc(size);
    size_t used = 0;
    for (int i = first; text != NULL && i < first + BLOCK; i++)
        used += (size_t)snprintf(text + used, size - used,
                                 "%s{\"metadata\":{\"namespace\":\"default\",\"name\":\"o%d\",\"uid\":\"%d\","
                                 "\"resourceVersion\":\"%d\"},\"data\":{\"x\":\"%0*d\"}}",
                                 i == 0 ? "" : ",", i, i, i + 1, PADDING, 0);
    bool is_sent = text != NULL && scripted_chunk(c, text);
    free(text);
    return is_sent;
}

static scripted_next serve_many(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    if (is_watch(r)) {
        if (scripted_begin(c, "200 OK"))
            scripted_wait_for_end(c);
        return SCRIPTED_CLOSE;
    }
    bool is_well =
        scripted_begin(c, "200 OK") &&
        scripted_chunk(c,
                       "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"
                       "\"100000\"},\"items\":[");
    for (int i = 0; is_well && i < MANY; i += BLOCK)
        is_well = send_items(c, i);
    (void)(is_well && scripted_chunk(c, "]}") && scripted_chunk(c, ""));
    return SCRIPTED_KEEP;
}

static ki_mutex gate_mu;
static ki_cond gate_opened;
static bool gate_is_open;

static void wait_at_gate(const ki_event *event, void *user)
{
    (void)event;
    (void)user;
    ki_mutex_lock(&gate_mu);
    while (!gate_is_open)
        ki_cond_wait(&gate_opened, &gate_mu);
    ki_mutex_unlock(&gate_mu);
}

static void open_gate(void)
{
    ki_mutex_lock(&gate_mu);
    gate_is_open = true;
    ki_cond_broadcast(&gate_opened);
    ki_mutex_unlock(&gate_mu);
}

static uint64_t last_bytes;
static int quiet_rounds;

/* Nothing more is read. */
static bool is_stuck(world *w)
{
    uint64_t bytes = status_of(w).bytes_read;
    quiet_rounds = bytes > 0 && bytes == last_bytes ? quiet_rounds + 1 : 0;
    last_bytes = bytes;
    return quiet_rounds > 40;
}

static void a_full_queue_stops_the_transfer_until_there_is_room(void **state)
{
    (void)state;
    world w = {.mode = KI_MODE_THREADS};
    ki_informer_options options = {.page_size = -1, .queue_items_max = 100};
    ki_handler handler = {.on_add = wait_at_gate, .overflow = KI_OVERFLOW_BLOCK, .backlog_items_max = 100};
    ki_mutex_init(&gate_mu);
    ki_cond_init(&gate_opened);
    gate_is_open = false;
    last_bytes = 0;
    quiet_rounds = 0;
    world_init(&w, serve_many, &options);
    assert_non_null(ki_informer_add_handler(w.informer, &handler, NULL));
    wait_for(&w, is_stuck);
    if (status_of(&w).objects < MANY) {
        assert_true(status_of(&w).bytes_read < (uint64_t)MANY * PADDING / 4);
        assert_true(failing_allocator_live_bytes() < (size_t)MANY * PADDING / 4);
    }
    open_gate();
    assert_int_equal(ki_informer_wait_for_sync(w.informer, HANG_MS, NULL), 0);
    assert_int_equal(status_of(&w).objects, MANY);
    assert_int_equal(status_of(&w).lists, 1);
    world_fini(&w);
    ki_cond_fini(&gate_opened);
    ki_mutex_fini(&gate_mu);
}

static bool has_synced(world *w)
{
    assert_true(status_of(w).queued < 1000);
    return ki_informer_has_synced(w->informer);
}

static void a_small_queue_takes_a_large_list_in_each_mode(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODES; i++) {
        world w = {.mode = modes[i]};
        world_init(&w, serve_many, &(ki_informer_options){.page_size = -1, .queue_items_max = 20});
        wait_for(&w, has_synced);
        assert_int_equal(status_of(&w).objects, MANY);
        assert_int_equal(status_of(&w).lists, 1);
        world_fini(&w);
    }
}

/* So that a call is not much longer than its budget, whatever the server sends. */
static void on_a_loop_no_job_reads_more_than_some_pieces(void **state)
{
    (void)state;
    enum { PIECE = 128 * 1024 };
    world w = {.mode = KI_MODE_EVENT_LOOP};
    world_init(&w, serve_many, &(ki_informer_options){.page_size = -1});
    uint64_t deadline_ms = ki_clock_now_ms(ki_clock_real()) + HANG_MS;
    while (!ki_informer_has_synced(w.informer)) {
        uint64_t bytes = status_of(&w).bytes_read;
        struct pollfd polled = {.fd = ki_client_fd(w.client), .events = POLLIN};
        (void)poll(&polled, 1, 5);
        size_t jobs = ki_loop_step(w.client->handlers, 1000 * 1000);
        assert_true(status_of(&w).bytes_read - bytes <= jobs * 2 * PIECE);
        assert_true(ki_clock_now_ms(ki_clock_real()) < deadline_ms);
    }
    assert_int_equal(status_of(&w).objects, MANY);
    world_fini(&w);
}

/* ---- many -------------------------------------------------------------------------------------------- */

static void informers_share_one_thread_and_stop_together(void **state)
{
    (void)state;
    enum { COUNT = 20 };
    for (size_t i = 0; i < MODES; i++) {
        world w = {.mode = modes[i]};
        ki_informer *others[COUNT];
        world_init(&w, serve_list_and_watch, NULL);
        for (int k = 0; k < COUNT; k++) {
            ki_informer_options options = {.watch_list = KI_WATCH_LIST_NEVER};
            others[k] = ki_informer_new(w.client, &KI_CORE_V1_CONFIGMAPS, &options, NULL);
            assert_int_equal(ki_informer_start(others[k], NULL), 0);
        }
        for (int k = 0; k < COUNT; k++)
            assert_int_equal(ki_informer_wait_for_sync(others[k], HANG_MS, NULL), 0);
        uint64_t began_ms = ki_clock_now_ms(ki_clock_real());
        for (int k = 0; k < COUNT; k++)
            ki_informer_free(others[k]);
        world_fini(&w);
        assert_true(ki_clock_now_ms(ki_clock_real()) - began_ms < AT_ONCE_MS);
    }
}

#define FLOW_TEST(test)                                                                                      \
    cmocka_unit_test_setup_teardown(test, failing_allocator_setup, failing_allocator_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(an_informer_lists_and_watches),
        FLOW_TEST(a_watch_continues_from_a_version_of_4096_bytes),
        FLOW_TEST(it_stops_and_continues_from_where_it_was),
        FLOW_TEST(chunks_of_one_byte_are_enough),
        FLOW_TEST(a_watch_that_is_cut_continues_from_the_last_event),
        FLOW_TEST(a_list_that_fails_is_reported_and_tried_again),
        FLOW_TEST(a_watch_that_is_too_old_lists_again),
        FLOW_TEST(a_refusal_that_does_not_end_is_tried_again),
        FLOW_TEST(what_is_asked_stands_in_the_query),
        FLOW_TEST(a_full_queue_stops_the_transfer_until_there_is_room),
        FLOW_TEST(a_small_queue_takes_a_large_list_in_each_mode),
        FLOW_TEST(on_a_loop_no_job_reads_more_than_some_pieces),
        FLOW_TEST(informers_share_one_thread_and_stop_together),
    };
    return RUN_TESTS(tests);
}
