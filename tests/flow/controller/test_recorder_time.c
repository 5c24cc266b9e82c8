/* SPDX-License-Identifier: Apache-2.0 */
/* The event recorder without responses, as time passes, and when out of memory: real sockets under a clock
 * that the test moves. */
#include <kinformer.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "client/client.h"
#include "flow/support/fake_credentials.h"
#include "flow/support/scripted_client.h"
#include "support/client/scripted_http.h"
#include "support/controller/event_make.h"
#include "support/failing_allocator.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/units.h"

typedef struct world {
    ki_clock clock;
    scripted_http *server;
    ki_client *client;
    ki_recorder *recorder;
    ki_object *pod;
    atomic_int is_broken; /* requests get no response */
    atomic_int has_it;    /* the event of a create already exists */
    atomic_int creates;
    atomic_int patches;
    char names[3][64]; /* of the first creates */
} world;

static scripted_next serve(scripted_connection *c, const scripted_request *r, void *user)
{
    world *w = user;
    char body[16384];
    if (!scripted_read_body(c, r, body, sizeof(body)))
        return SCRIPTED_CLOSE;
    bool is_create = strcmp(r->method, "POST") == 0;
    const char *name = strstr(body, "\"metadata\":{\"name\":\"");
    if (is_create && name != NULL && w->creates < 3)
        (void)sscanf(name + 20, "%63[^\"]", w->names[w->creates]);
    w->creates += is_create;
    w->patches += !is_create;
    if (w->is_broken)
        return SCRIPTED_RESET;
    if (w->has_it && is_create)
        (void)scripted_answer(c, "409 Conflict", "Connection: close\r\n",
                              "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":"
                              "\"AlreadyExists\",\"code\":409}");
    else
        (void)scripted_answer(c, is_create ? "201 Created" : "200 OK", "Connection: close\r\n",
                              "{\"metadata\":{\"name\":\"e\",\"namespace\":\"default\"}}");
    return SCRIPTED_CLOSE; /* a kept connection would delay the next response */
}

static void world_init(world *w, int api)
{
    ki_error err = {0};
    *w = (world){.pod = event_make_pod("web", "1")};
    fake_credentials_reset();
    w->server = scripted_http_start(&(scripted_http_options){.serve = serve, .user = w});
    w->client = scripted_client_new_simulated(&w->clock, w->server);
    w->recorder = ki_recorder_new(
        w->client, &(ki_recorder_options){.component = "tester", .api = (ki_recorder_api)api}, &err);
}

static void world_fini(world *w)
{
    ki_recorder_free(w->recorder);
    ki_client_free(w->client);
    scripted_http_stop(w->server);
    ki_object_unref(w->pod);
}

static void turn(world *w)
{
    struct pollfd fd = {.fd = ki_client_fd(w->client), .events = POLLIN};
    (void)poll(&fd, 1, 1);
    assert_true(ki_client_dispatch(w->client, KI_BUDGET_NONE) >= 0);
}

static ki_recorder_stats stats_of(const world *w)
{
    ki_recorder_stats s;
    ki_recorder_read_stats(w->recorder, &s);
    return s;
}

static int say(const world *w, const char *reason)
{
    return ki_recorder_event(w->recorder, w->pod, KI_RECORD_NORMAL, reason, NULL, "m");
}

/* Runs the loop until there were this many requests. */
static void wait_for(world *w, int creates, int patches)
{
    for (int i = 0; w->creates < creates || w->patches < patches; i++) {
        assert_true(i < HANG_MS);
        turn(w);
    }
}

/* Runs the loop until nothing is queued. */
static void wait_empty(world *w)
{
    for (int i = 0; stats_of(w).queued > 0; i++) {
        assert_true(i < HANG_MS);
        turn(w);
    }
}

/* Runs the loop some more; nothing may happen. */
static void idle(world *w)
{
    for (int i = 0; i < 20; i++)
        turn(w);
}

/* Two requests are at most 10 s apart. The next event is sent when the first one is given up. */
static void without_a_response_an_event_is_sent_twelve_times(void **state)
{
    (void)state;
    world w;
    world_init(&w, KI_RECORDER_CORE_V1);
    w.is_broken = 1;
    assert_int_equal(say(&w, "A"), 0);
    assert_int_equal(say(&w, "B"), 0);
    for (int tries = 1; tries <= 12; tries++) {
        wait_for(&w, tries, 0);
        idle(&w);
        assert_int_equal(w.creates, tries == 12 ? 13 : tries); /* no more, because the clock stands still */
        w.is_broken = tries < 12;
        ki_clock_advance_ms(&w.clock, 10000);
    }
    wait_empty(&w);
    ki_recorder_stats s = stats_of(&w);
    assert_int_equal(s.dropped_no_answer, 1);
    assert_int_equal(s.created, 1); /* B */
    assert_int_equal(s.retries, 12);
    world_fini(&w);
}

static void an_event_that_was_created_without_a_response_is_not_lost(void **state)
{
    (void)state;
    world w;
    world_init(&w, KI_RECORDER_CORE_V1);
    w.is_broken = 1;
    assert_int_equal(say(&w, "A"), 0);
    wait_for(&w, 1, 0);
    w.has_it = 1;
    w.is_broken = 0;
    idle(&w);
    ki_clock_advance_ms(&w.clock, 10000);
    wait_empty(&w);
    assert_int_equal(stats_of(&w).created, 1);
    assert_int_equal(say(&w, "B"), 0); /* at the first attempt, it belongs to another event */
    wait_empty(&w);
    assert_int_equal(stats_of(&w).dropped_refused, 1);
    world_fini(&w);
}

static void series_are_written_as_time_passes(void **state)
{
    (void)state;
    world w;
    world_init(&w, KI_RECORDER_EVENTS_V1);
    for (int i = 0; i < 5; i++)
        assert_int_equal(say(&w, "A"), 0);
    wait_empty(&w);
    idle(&w);
    assert_int_equal(w.creates, 1);
    assert_int_equal(w.patches, 1);
    for (int i = 0; i < 30; i++) { /* one more every minute */
        ki_clock_advance_ms(&w.clock, 60 * 1000);
        assert_int_equal(say(&w, "A"), 0);
        wait_empty(&w);
    }
    wait_for(&w, 1, 2);
    assert_int_equal(say(&w, "A"), 0);
    wait_empty(&w);
    idle(&w);
    assert_int_equal(w.patches, 2); /* once in 30 minutes */
    ki_clock_advance_ms(&w.clock, 6 * 60 * 1000);
    wait_for(&w, 1, 3);
    idle(&w);
    assert_int_equal(stats_of(&w).refreshed, 2);
    assert_int_equal(say(&w, "A"), 0);
    wait_for(&w, 2, 3); /* a new series */
    wait_empty(&w);
    ki_recorder_stats s = stats_of(&w);
    assert_int_equal(s.recorded, 37);
    assert_int_equal(s.created, 2);
    assert_int_equal(s.patched, 1);
    assert_int_equal(s.counted, 34);
    world_fini(&w);
}

static void names_differ_even_if_the_clock_stands_still(void **state)
{
    (void)state;
    world w;
    world_init(&w, KI_RECORDER_CORE_V1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(say(&w, i == 0 ? "A" : i == 1 ? "B" : "C"), 0);
    wait_empty(&w);
    assert_int_equal(w.creates, 3);
    assert_string_equal(w.names[0], "web.17979cfe362a0000");
    assert_string_equal(w.names[1], "web.17979cfe362a0001");
    assert_string_equal(w.names[2], "web.17979cfe362a0002");
    world_fini(&w);
}

/* The n-th allocation fails; returns whether there were that many. */
static bool run_without_memory(int api, size_t n)
{
    world w;
    failing_allocator_fail_at(0);
    world_init(&w, api);
    ki_recorder_free(w.recorder);
    failing_allocator_fail_at(n);
    ki_error err = {0};
    int refused = 0;
    w.recorder = ki_recorder_new(
        w.client, &(ki_recorder_options){.component = "tester", .api = (ki_recorder_api)api}, &err);
    if (w.recorder == NULL)
        assert_int_equal(err.code, KI_ERR_NO_MEMORY);
    for (int i = 0; w.recorder != NULL && i < 4; i++) {
        int rc = say(&w, i == 3 ? "B" : "A");
        assert_true(rc == 0 || rc == KI_ERR_NO_MEMORY);
        refused += rc != 0;
    }
    for (int i = 0; w.recorder != NULL && stats_of(&w).queued > 0; i++) {
        assert_true(i < HANG_MS);
        turn(&w);
        if (i % 20 == 19)
            ki_clock_advance_ms(&w.clock, 10000);
    }
    ki_recorder_stats s = stats_of(&w);
    bool has_failed = failing_allocator_has_failed();
    failing_allocator_fail_at(0);
    if (w.recorder != NULL) {
        assert_int_equal(s.recorded, 4);
        assert_int_equal(s.dropped_no_memory, refused);
        assert_int_equal(s.created + s.patched + s.counted, 4 - refused);
    }
    world_fini(&w);
    return has_failed;
}

static void when_out_of_memory_events_are_counted_or_sent_later(void **state)
{
    (void)state;
    for (int api = KI_RECORDER_CORE_V1; api <= KI_RECORDER_EVENTS_V1; api++) {
        size_t n = 1;
        while (run_without_memory(api, n))
            n++;
        assert_true(n > 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(without_a_response_an_event_is_sent_twelve_times),
        WITH_MEMORY_CHECK(an_event_that_was_created_without_a_response_is_not_lost),
        WITH_MEMORY_CHECK(series_are_written_as_time_passes),
        WITH_MEMORY_CHECK(names_differ_even_if_the_clock_stands_still),
        WITH_MEMORY_CHECK(when_out_of_memory_events_are_counted_or_sent_later),
    };
    return RUN_TESTS(tests);
}
