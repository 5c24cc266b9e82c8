/* SPDX-License-Identifier: Apache-2.0 */
/* Informers whose watches share a connection to a real HTTP/2 server: nghttpx, in front of a scripted one. */
#include <kinformer.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "flow/support/nghttpx.h"
#include "support/aside.h"
#include "support/client/scripted_http.h"
#include "support/failing_allocator.h"
#include "support/patience.h"
#include "support/store/store_check.h"
#include "support/unit.h"

enum { INFORMERS = 6, MANY = 4000, FIRST_VERSION = 10 };

/* ---- the server -------------------------------------------------------------------------------------- */

typedef struct world {
    nghttpx proxy;
    scripted_http *server;
    ki_client *client;
    ki_informer *informers[INFORMERS];
    ki_mutex mu;
    int last_version;    /* guarded by mu, like all below: the server's current version */
    int watches;         /* watches begun */
    char links[256][64]; /* the connection of each, as named by the proxy */
    int versions[256];   /* the version that each continues from */
    int one_by_one;      /* watches that do not use HTTP/2 */
    int lists_by_http2;
    int calls;
    int calls_apart; /* calls that are not on the connection of the first watch */
} world;

static const char *header(const scripted_request *r, const char *name, char *out, size_t size)
{
    const char *line = strstr(r->head, name);
    out[0] = 0;
    if (line != NULL)
        (void)snprintf(out, size, "%.*s", (int)strcspn(line, "\r\n"), line);
    return out;
}

static void note(world *w, const scripted_request *r, bool is_watch)
{
    char via[64];
    bool is_http2 = strstr(header(r, "Via: ", via, sizeof(via)), "Via: 2 ") != NULL;
    const char *version = strstr(r->target, "resourceVersion=");
    ki_mutex_lock(&w->mu);
    if (is_watch && w->watches < (int)(sizeof(w->links) / sizeof(w->links[0]))) {
        (void)header(r, "Forwarded: ", w->links[w->watches], sizeof(w->links[0]));
        w->versions[w->watches++] = version != NULL ? atoi(version + strlen("resourceVersion=")) : -1;
        w->one_by_one += !is_http2;
    } else if (!is_watch) {
        w->lists_by_http2 += is_http2;
    }
    ki_mutex_unlock(&w->mu);
}

static int last_version(world *w)
{
    ki_mutex_lock(&w->mu);
    int version = w->last_version;
    ki_mutex_unlock(&w->mu);
    return version;
}

static bool send_event(scripted_connection *c, int version)
{
    char text[1024];
    (void)snprintf(text, sizeof(text),
                   "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"namespace\":\"default\",\"name\":\"o%d\","
                   "\"uid\":\"%d\",\"resourceVersion\":\"%d\"},\"data\":{\"x\":\"%0500d\"}}}\n",
                   version, version, version, version);
    return scripted_chunk(c, text);
}

/* Sends one object per version. Before the next one, waits until it is poked with its version. */
static void serve_watch(world *w, scripted_connection *c, int version)
{
    bool is_well = scripted_begin(c, "200 OK");
    while (is_well) {
        while (is_well && version < last_version(w))
            is_well = send_event(c, ++version);
        is_well = is_well && scripted_wait(c, version + 1);
    }
}

/* Responds with an object that contains what it was sent. */
static scripted_next serve_call(world *w, scripted_connection *c, const scripted_request *r)
{
    static const char format[] =
        "{\"metadata\":{\"namespace\":\"default\",\"name\":\"a\"},\"method\":\"%s\",\"sent\":%s}";
    char link[64];
    char body[20 * 1024];
    char text[sizeof(body) + 256];
    if (!scripted_read_body(c, r, body, sizeof(body)))
        return SCRIPTED_CLOSE;
    (void)header(r, "Forwarded: ", link, sizeof(link));
    ki_mutex_lock(&w->mu);
    w->calls++;
    w->calls_apart += strcmp(link, w->links[0]) != 0;
    ki_mutex_unlock(&w->mu);
    (void)snprintf(text, sizeof(text), format, r->method, body[0] == 0 ? "null" : body);
    (void)scripted_answer(c, "200 OK", "", text);
    return SCRIPTED_KEEP;
}

static scripted_next serve(scripted_connection *c, const scripted_request *r, void *user)
{
    world *w = user;
    bool is_watch = strstr(r->target, "watch=true") != NULL;
    const char *version = strstr(r->target, "resourceVersion=");
    if (strstr(r->target, "/configmaps/") != NULL)
        return serve_call(w, c, r);
    note(w, r, is_watch);
    if (is_watch && version != NULL) {
        serve_watch(w, c, atoi(version + strlen("resourceVersion=")));
        return SCRIPTED_CLOSE;
    }
    (void)scripted_answer(
        c, "200 OK", "",
        "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"
        "\"10\"},\"items\":[]}");
    return SCRIPTED_KEEP;
}

static void move_on_to(world *w, int version)
{
    ki_mutex_lock(&w->mu);
    w->last_version = version;
    ki_mutex_unlock(&w->mu);
    scripted_http_poke(w->server, version);
}

/* ---- the world --------------------------------------------------------------------------------------- */

static void world_init(world *w)
{
    ki_config config = {.ca_pem = certs.authority.pem};
    ki_error err = {0};
    *w = (world){.last_version = FIRST_VERSION};
    ki_mutex_init(&w->mu);
    w->server = scripted_http_start(&(scripted_http_options){.serve = serve, .user = w});
    nghttpx_init(&w->proxy, scripted_http_port(w->server), &certs.for_address);
    nghttpx_start(&w->proxy);
    config.server = w->proxy.url;
    w->client = ki_client_new(&(ki_client_options){.no_cluster = 1}, &err);
    assert_non_null(w->client);
    assert_int_equal(ki_client_connect(w->client, &config, &(ki_http_options){.use_http2 = true}, &err), 0);
}

static void start_informer(world *w, int i, const ki_informer_options *options, const ki_handler *handler)
{
    ki_informer_options used = options != NULL ? *options : (ki_informer_options){0};
    ki_error err = {0};
    used.backoff_ms = 10;
    used.backoff_max_ms = 100;
    w->informers[i] = ki_informer_new(w->client, &KI_CORE_V1_CONFIGMAPS, &used, &err);
    assert_non_null(w->informers[i]);
    if (handler != NULL)
        assert_non_null(ki_informer_add_handler(w->informers[i], handler, NULL));
    assert_int_equal(ki_informer_start(w->informers[i], &err), 0);
}

static void world_fini(world *w)
{
    for (int i = 0; i < INFORMERS; i++)
        ki_informer_free(w->informers[i]);
    ki_client_free(w->client);
    nghttpx_fini(&w->proxy);
    scripted_http_stop(w->server);
    ki_mutex_fini(&w->mu);
}

static ki_informer_status status_of(const world *w, int i)
{
    ki_informer_status status;
    ki_informer_read_status(w->informers[i], &status);
    return status;
}

static void wait_for_objects(world *w, int i, uint64_t count)
{
    for (int left_ms = HANG_MS; status_of(w, i).objects < count; left_ms--) {
        assert_true(left_ms > 0);
        aside_pause(1);
    }
}

static int watches(world *w)
{
    ki_mutex_lock(&w->mu);
    int count = w->watches;
    ki_mutex_unlock(&w->mu);
    return count;
}

static void wait_for_watches(world *w, int count)
{
    for (int left_ms = HANG_MS; watches(w) < count; left_ms--) {
        assert_true(left_ms > 0);
        aside_pause(1);
    }
}

/* Checks the last `count` watches. */
static void expect_one_link(world *w, int count)
{
    ki_mutex_lock(&w->mu);
    assert_true(w->watches >= count);
    for (int i = w->watches - count; i < w->watches; i++)
        assert_string_equal(w->links[i], w->links[w->watches - 1]);
    assert_true(w->links[w->watches - 1][0] != 0);
    ki_mutex_unlock(&w->mu);
}

/* ---- tests ------------------------------------------------------------------------------------------- */

static void informers_sync_and_watch_over_one_connection(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    for (int i = 0; i < INFORMERS; i++)
        start_informer(&w, i, NULL, NULL);
    for (int i = 0; i < INFORMERS; i++)
        assert_int_equal(ki_informer_wait_for_sync(w.informers[i], HANG_MS, NULL), 0);
    wait_for_watches(&w, INFORMERS);
    move_on_to(&w, FIRST_VERSION + 3);
    for (int i = 0; i < INFORMERS; i++)
        wait_for_objects(&w, i, 3);
    expect_one_link(&w, INFORMERS);
    assert_int_equal(w.one_by_one, 0);
    assert_int_equal(w.lists_by_http2, 0);
    for (int i = 0; i < INFORMERS; i++) {
        assert_int_equal(status_of(&w, i).lists, 1);
        assert_int_equal(status_of(&w, i).reconnects, 0);
        assert_int_equal(store_check(ki_informer_store(w.informers[i]), NULL), 0);
    }
    world_fini(&w);
}

typedef struct gate {
    ki_mutex mu;
    ki_cond opened;
    bool is_open;
} gate;

static void wait_at_gate(const ki_event *event, void *user)
{
    gate *g = user;
    (void)event;
    ki_mutex_lock(&g->mu);
    while (!g->is_open)
        ki_cond_wait(&g->opened, &g->mu);
    ki_mutex_unlock(&g->mu);
}

static void open_gate(gate *g)
{
    ki_mutex_lock(&g->mu);
    g->is_open = true;
    ki_cond_broadcast(&g->opened);
    ki_mutex_unlock(&g->mu);
}

static void wait_for_reconnect(world *w, int i)
{
    for (int left_ms = HANG_MS; status_of(w, i).reason != KI_REASON_CONNECTION_LOST; left_ms--) {
        assert_true(left_ms > 0);
        aside_pause(1);
    }
}

/* The queue of the first informer is full, and it shares its connection: the others receive everything, and
 * it continues later. */
static void a_full_queue_cuts_its_stream_and_no_other(void **state)
{
    (void)state;
    world w;
    gate g = {0};
    ki_handler handler = {
        .on_add = wait_at_gate, .user = &g, .overflow = KI_OVERFLOW_BLOCK, .backlog_items_max = 50};
    ki_mutex_init(&g.mu);
    ki_cond_init(&g.opened);
    world_init(&w);
    start_informer(&w, 0, &(ki_informer_options){.queue_items_max = 500}, &handler);
    start_informer(&w, 1, NULL, NULL);
    wait_for_watches(&w, 2);
    move_on_to(&w, FIRST_VERSION + MANY);
    wait_for_objects(&w, 1, MANY);
    wait_for_reconnect(&w, 0);
    assert_true(status_of(&w, 0).objects < MANY);
    assert_int_equal(status_of(&w, 1).reconnects, 0);
    open_gate(&g);
    wait_for_objects(&w, 0, MANY);
    assert_int_equal(status_of(&w, 0).lists, 1);
    assert_true(status_of(&w, 0).reconnects >= 1);
    ki_mutex_lock(&w.mu);
    for (int i = 2; i < w.watches; i++)
        assert_true(w.versions[i] > FIRST_VERSION && w.versions[i] >= w.versions[i - 1]);
    ki_mutex_unlock(&w.mu);
    expect_one_link(&w, watches(&w));
    assert_int_equal(store_check(ki_informer_store(w.informers[0]), NULL), 0);
    world_fini(&w);
    ki_cond_fini(&g.opened);
    ki_mutex_fini(&g.mu);
}

static void wait_for_phase(world *w, int i, ki_phase phase)
{
    for (int left_ms = HANG_MS; status_of(w, i).phase != phase; left_ms--) {
        assert_true(left_ms > 0);
        aside_pause(1);
    }
}

static void a_proxy_that_is_killed_and_restarted_loses_nothing(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    for (int i = 0; i < INFORMERS; i++)
        start_informer(&w, i, NULL, NULL);
    wait_for_watches(&w, INFORMERS);
    move_on_to(&w, FIRST_VERSION + 1);
    for (int i = 0; i < INFORMERS; i++)
        wait_for_objects(&w, i, 1);
    nghttpx_kill(&w.proxy);
    for (int i = 0; i < INFORMERS; i++)
        wait_for_phase(&w, i, KI_PHASE_BACKING_OFF);
    move_on_to(&w, FIRST_VERSION + 2);
    nghttpx_start(&w.proxy);
    for (int i = 0; i < INFORMERS; i++)
        wait_for_objects(&w, i, 2);
    for (int i = 0; i < INFORMERS; i++)
        assert_int_equal(status_of(&w, i).lists, 1);
    expect_one_link(&w, INFORMERS);
    assert_int_equal(w.one_by_one, 0);
    world_fini(&w);
}

typedef struct heard_call {
    const char *method;
    const char *sent; /* the expected text at /sent */
    atomic_int *good;
    atomic_int *bad;
} heard_call;

static void hear(const ki_rest_answer *answer, void *user)
{
    const heard_call *heard = user;
    bool is_good = answer->error.code == 0 && answer->object != NULL &&
                   ki_str_equal(ki_object_string(answer->object, "/method"), ki_str_of(heard->method)) &&
                   ki_str_equal(ki_object_find(answer->object, "/sent").raw, ki_str_of(heard->sent));
    (*(is_good ? heard->good : heard->bad))++;
}

/* Bodies larger than an HTTP/2 frame, and small ones, beside watches that continue. */
static void calls_share_the_connection_of_the_watches(void **state)
{
    (void)state;
    enum { CALLS = 60 };
    static world w;
    static char large[18 * 1024] = "\"";
    atomic_int good = 0;
    atomic_int bad = 0;
    memset(large + 1, 'x', sizeof(large) - 3);
    large[sizeof(large) - 2] = '"';
    const heard_call kinds[] = {
        {"GET", "null", &good, &bad}, {"PUT", large, &good, &bad}, {"DELETE", "null", &good, &bad}};
    static const int verbs[] = {KI_REST_GET, KI_REST_UPDATE, KI_REST_DELETE};
    world_init(&w);
    start_informer(&w, 0, NULL, NULL);
    wait_for_watches(&w, 1);
    for (int i = 0; i < CALLS; i++) {
        ki_rest_request request = {.verb = (ki_rest_verb)verbs[i % 3],
                                   .resource = &KI_CORE_V1_CONFIGMAPS,
                                   .ns = "default",
                                   .name = "a",
                                   .body = ki_str_of(i % 3 == 1 ? large : ""),
                                   .on_answer = hear,
                                   .user = (void *)(uintptr_t)&kinds[i % 3]};
        assert_int_equal(ki_rest_begin(w.client, &request, NULL, NULL), 0);
    }
    move_on_to(&w, FIRST_VERSION + 50);
    wait_for_objects(&w, 0, 50);
    for (int left_ms = HANG_MS; good + bad < CALLS; left_ms--) {
        assert_true(left_ms > 0);
        aside_pause(1);
    }
    assert_int_equal(bad, 0);
    assert_int_equal(w.calls, CALLS);
    assert_int_equal(w.calls_apart, 0);
    assert_int_equal(status_of(&w, 0).reconnects, 0);
    world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(informers_sync_and_watch_over_one_connection),
        WITH_MEMORY_CHECK(a_full_queue_cuts_its_stream_and_no_other),
        WITH_MEMORY_CHECK(calls_share_the_connection_of_the_watches),
        WITH_MEMORY_CHECK(a_proxy_that_is_killed_and_restarted_loses_nothing),
    };
    return cmocka_run_group_tests_name(__FILE__, tests, certificates_set_up, certificates_tear_down);
}
