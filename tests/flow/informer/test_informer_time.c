/* SPDX-License-Identifier: Apache-2.0 */
/* The clock jumps, the network changes, a server falls silent: real sockets under a clock that the test
 * moves. */
#include <kinformer.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "flow/support/scripted_client.h"
#include "support/client/scripted_http.h"
#include "support/failing_allocator.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/units.h"

enum { INFORMERS = 3, HOUR_MS = 3600 * 1000 };

/* ---- the server -------------------------------------------------------------------------------------- */

typedef struct world {
    ki_clock clock;
    scripted_http *server;
    ki_client *client;
    ki_informer *informers[INFORMERS];
    atomic_int hole;         /* connections up to this number have become silent */
    atomic_int lost_watches; /* watches that used one of those, too late */
} world;

#define ITEM(name, version)                                                                                  \
    "{\"metadata\":{\"namespace\":\"default\",\"name\":\"" name "\",\"uid\":\"" name                         \
    "\",\"resourceVersion\":\"" version "\"}}"
#define LIST(version)                                                                                        \
    "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"" version "\"},"  \
    "\"items\":[" ITEM("a", "9") "]}"
#define BOOKMARK                                                                                             \
    "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\","                       \
    "\"metadata\":{\"resourceVersion\":\"11\"}}}\n"
#define ADDED "{\"type\":\"ADDED\",\"object\":" ITEM("b", "12") "}\n"

/* A watch from before 11 gets two bookmarks when it is poked; a later one gets an object at once. */
static void serve_watch(scripted_connection *c, const scripted_request *r)
{
    bool is_later = strstr(r->target, "resourceVersion=11&") != NULL;
    if (!scripted_begin(c, "200 OK"))
        return;
    if (is_later)
        (void)scripted_chunk(c, ADDED);
    else
        (void)(scripted_wait(c, 1) && scripted_chunk(c, BOOKMARK) && scripted_wait(c, 2) &&
               scripted_chunk(c, BOOKMARK));
    if (!is_later && scripted_wait(c, 3))
        return;
    scripted_wait_for_end(c);
}

static scripted_next serve(scripted_connection *c, const scripted_request *r, void *user)
{
    world *w = user;
    bool is_watch = strstr(r->target, "watch=true") != NULL;
    if (r->connection <= w->hole) {
        w->lost_watches += is_watch;
        scripted_wait_for_end(c);
        return SCRIPTED_CLOSE;
    }
    if (is_watch) {
        serve_watch(c, r);
        return SCRIPTED_CLOSE;
    }
    bool is_probe = strstr(r->target, "?limit=1") != NULL && strstr(r->target, "resourceVersion=") == NULL;
    (void)scripted_answer(c, "200 OK", "", is_probe ? LIST("11") : LIST("10"));
    return SCRIPTED_KEEP;
}

/* ---- the world --------------------------------------------------------------------------------------- */

static void world_init(world *w)
{
    ki_informer_options options = {.watch_list = KI_WATCH_LIST_NEVER, .backoff_ms = 10, .backoff_max_ms = 50};
    ki_error err = {0};
    w->server = scripted_http_start(&(scripted_http_options){.serve = serve, .user = w});
    w->client = scripted_client_new_simulated(&w->clock, w->server);
    for (int i = 0; i < INFORMERS; i++) {
        w->informers[i] = ki_informer_new(w->client, &KI_CORE_V1_CONFIGMAPS, &options, &err);
        assert_non_null(w->informers[i]);
        assert_int_equal(ki_informer_start(w->informers[i], &err), 0);
    }
}

static void world_fini(world *w)
{
    for (int i = 0; i < INFORMERS; i++)
        ki_informer_free(w->informers[i]);
    ki_client_free(w->client);
    scripted_http_stop(w->server);
}

static ki_informer_status status_of(const world *w, int i)
{
    ki_informer_status status;
    ki_informer_read_status(w->informers[i], &status);
    return status;
}

/* Lets the sockets deliver first, then advances the clock. */
static void live(world *w, uint64_t ms)
{
    struct pollfd polled = {.fd = ki_client_fd(w->client), .events = POLLIN};
    while (poll(&polled, 1, 2) > 0)
        assert_true(ki_client_dispatch(w->client, 1) >= 0);
    ki_clock_advance_ms(&w->clock, ms);
    assert_true(ki_client_dispatch(w->client, 1) >= 0);
}

typedef bool (*condition)(const world *w, int i);

/* Returns how long it took by the test's clock. */
static uint64_t wait_for_all(world *w, condition is_met, uint64_t step_ms)
{
    uint64_t began_ms = ki_clock_now_ms(&w->clock);
    uint64_t deadline_ms = ki_clock_now_ms(ki_clock_real()) + HANG_MS;
    for (int i = 0; i < INFORMERS; i++)
        while (!is_met(w, i)) {
            if (ki_clock_now_ms(ki_clock_real()) >= deadline_ms)
                fail_msg("%s after %d requests, %d lost: %s", ki_phase_name(status_of(w, i).phase),
                         scripted_http_requests(w->server), w->lost_watches, status_of(w, i).message);
            live(w, step_ms);
        }
    return ki_clock_now_ms(&w->clock) - began_ms;
}

static bool is_watching(const world *w, int i)
{
    return status_of(w, i).phase == KI_PHASE_WATCHING && status_of(w, i).objects == 1;
}

static bool has_version_11(const world *w, int i)
{
    return strcmp(status_of(w, i).resource_version, "11") == 0;
}

static bool has_two(const world *w, int i)
{
    return status_of(w, i).objects == 2;
}

/* All informers watch, and have received version 11 in bookmarks that came a minute apart. */
static void settle(world *w)
{
    (void)wait_for_all(w, is_watching, 1);
    scripted_http_poke(w->server, 1);
    (void)wait_for_all(w, has_version_11, 1);
    live(w, 60 * 1000);
    scripted_http_poke(w->server, 2);
    for (int i = 0; i < 20; i++)
        live(w, 1);
}

static void expect_one_list_each(const world *w)
{
    for (int i = 0; i < INFORMERS; i++)
        assert_int_equal(status_of(w, i).lists, 1);
}

/* ---- tests ------------------------------------------------------------------------------------------- */

/* No bytes arrive any more, and the connection is not closed, either. */
static void a_lost_network_is_noticed_by_its_silence(void **state)
{
    (void)state;
    world w = {0};
    world_init(&w);
    settle(&w);
    w.hole = scripted_http_connections(w.server);
    uint64_t took_ms = wait_for_all(&w, has_two, 500);
    assert_true(took_ms > 120 * 1000);
    assert_true(took_ms < 300 * 1000);
    assert_int_equal(w.lost_watches, 0);
    expect_one_list_each(&w);
    world_fini(&w);
}

/* Data that was sent while the machine slept is lost, and the server may have dropped the connection. */
static void after_a_suspend_each_informer_resumes(void **state)
{
    (void)state;
    world w = {0};
    world_init(&w);
    settle(&w);
    w.hole = scripted_http_connections(w.server);
    live(&w, 8 * HOUR_MS);
    assert_true(wait_for_all(&w, has_two, 10) < 60 * 1000);
    assert_int_equal(w.lost_watches, 0);
    expect_one_list_each(&w);
    world_fini(&w);
}

static void a_jump_of_the_wall_clock_has_no_effect(void **state)
{
    (void)state;
    static const int64_t days[] = {-20000, 20000, 0};
    world w = {0};
    world_init(&w);
    settle(&w);
    int requests = scripted_http_requests(w.server);
    for (size_t i = 0; i < sizeof(days) / sizeof(days[0]); i++) {
        ki_clock_set_wall_ns(&w.clock, (INT64_C(1700000000) + days[i] * 86400) * 1000000000);
        for (int k = 0; k < 20; k++)
            live(&w, 1);
    }
    assert_int_equal(scripted_http_requests(w.server), requests);
    for (int i = 0; i < INFORMERS; i++)
        assert_int_equal(status_of(&w, i).reconnects, 0);
    world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_lost_network_is_noticed_by_its_silence),
        WITH_MEMORY_CHECK(after_a_suspend_each_informer_resumes),
        WITH_MEMORY_CHECK(a_jump_of_the_wall_clock_has_no_effect),
    };
    return RUN_TESTS(tests);
}
