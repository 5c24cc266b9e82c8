/* SPDX-License-Identifier: Apache-2.0 */
/* Time leaps, the network is another, a server falls silent: real sockets under a clock that the test
 * moves. */
#include <kinformer.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "client/client.h"
#include "support/failing_allocator.h"
#include "support/patience.h"
#include "support/scripted_http.h"
#include "support/unit.h"
#include "util/units.h"

enum { INFORMERS = 3, HOUR_MS = 3600 * 1000 };

/* ---- the server -------------------------------------------------------------------------------------- */

typedef struct world {
    ki_clock clock;
    scripted_http *server;
    ki_client *client;
    ki_informer *informers[INFORMERS];
    atomic_int hole;         /* connections up to this number have fallen silent */
    atomic_int lost_watches; /* watches that came by one of those, too late */
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

/* A watch from before 11 gets two bookmarks when it is poked; one from there on gets an object at once. */
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
    ki_config config = {0};
    ki_informer_options options = {.watch_list = KI_WATCH_LIST_NEVER, .backoff_ms = 10, .backoff_max_ms = 50};
    ki_error err = {0};
    ki_clock_init_virtual(&w->clock, ki_ns_of_ms(HOUR_MS), INT64_C(1700000000) * 1000000000);
    w->server = scripted_http_start(&(scripted_http_options){.serve = serve, .user = w});
    config.server = (char *)(uintptr_t)scripted_http_url(w->server);
    w->client = ki_client_new_simulated(&(ki_client_options){.mode = KI_MODE_EVENT_LOOP, .no_cluster = 1},
                                        &w->clock, 0, &err);
    assert_non_null(w->client);
    assert_int_equal(ki_client_connect(w->client, &config, NULL, &err), 0);
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

/* Lets the sockets speak first, then moves the time. */
static void live(world *w, uint64_t ms)
{
    struct pollfd polled = {.fd = ki_client_fd(w->client), .events = POLLIN};
    while (poll(&polled, 1, 2) > 0)
        assert_true(ki_client_dispatch(w->client, 1) >= 0);
    ki_clock_advance_ms(&w->clock, ms);
    assert_true(ki_client_dispatch(w->client, 1) >= 0);
}

typedef bool (*condition)(const world *w, int i);

/* Returns how long it took by the clock of the test. */
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

/* All watch, and have heard of version 11 by bookmarks that came a minute apart. */
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

/* No byte comes any more, and no end of the connection either. */
static void a_network_that_is_gone_is_noticed_by_its_silence(void **state)
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

/* What was sent while the machine slept is lost, and the server may have forgotten us. */
static void after_a_suspend_each_continues_from_where_it_was(void **state)
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

static void a_calendar_that_jumps_is_not_noticed(void **state)
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

#define FLOW_TEST(test)                                                                                      \
    cmocka_unit_test_setup_teardown(test, failing_allocator_setup, failing_allocator_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(a_network_that_is_gone_is_noticed_by_its_silence),
        FLOW_TEST(after_a_suspend_each_continues_from_where_it_was),
        FLOW_TEST(a_calendar_that_jumps_is_not_noticed),
    };
    return RUN_TESTS(tests);
}
