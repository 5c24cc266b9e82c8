/* SPDX-License-Identifier: Apache-2.0 */
/* Servers, or gateways in front of them, that respond to some kinds of requests and always break others. */
#include <kinformer.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "client/client.h"
#include "support/client/scripted_http.h"
#include "support/failing_allocator.h"
#include "support/patience.h"
#include "support/unit.h"

/* ---- the server ---------------------------------------------------------------------------------------- */

typedef enum manner { WORKS, ANSWERS_401, ANSWERS_503, ENDS, RESETS, RESETS_BEHIND_HEAD, MANNERS } manner;

typedef struct world {
    manner streams;
    manner watches;
    atomic_int expiring; /* the next watch is answered with 410 */
    atomic_int stream_count;
    atomic_int list_count;
    scripted_http *server;
    ki_client *client;
} world;

static scripted_next serve_list(scripted_connection *c, int number)
{
    char body[512];
    (void)snprintf(body, sizeof(body),
                   "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"%d\"},"
                   "\"items\":[{\"metadata\":{\"namespace\":\"d\",\"name\":\"n%d\",\"resourceVersion\":"
                   "\"%d\"}}]}",
                   number, number, number);
    (void)scripted_answer(c, "200 OK", "", body);
    return SCRIPTED_KEEP;
}

static scripted_next serve_watch(scripted_connection *c, manner how)
{
    switch (how) {
    case ANSWERS_401:
        (void)scripted_answer(c, "401 Unauthorized", "", "no");
        return SCRIPTED_KEEP;
    case ANSWERS_503:
        (void)scripted_answer(c, "503 Service Unavailable", "", "no");
        return SCRIPTED_KEEP;
    case RESETS:
        return SCRIPTED_RESET;
    default:
        (void)scripted_begin(c, "200 OK");
        break;
    }
    if (how == WORKS)
        scripted_wait_for_end(c);
    else if (how == ENDS)
        (void)scripted_chunk(c, "");
    return how == ENDS ? SCRIPTED_KEEP : SCRIPTED_RESET;
}

static scripted_next serve(scripted_connection *c, const scripted_request *r, void *user)
{
    world *w = user;
    if (strstr(r->target, "watch=true") == NULL)
        return serve_list(c, 1 + atomic_fetch_add(&w->list_count, 1));
    if (strstr(r->target, "sendInitialEvents=true") == NULL && atomic_exchange(&w->expiring, 0)) {
        (void)scripted_answer(c, "410 Gone", "", "no");
        return SCRIPTED_CLOSE; /* libcurl itself would retry after a reset on a reused connection */
    }
    if (strstr(r->target, "sendInitialEvents=true") == NULL)
        return serve_watch(c, w->watches);
    atomic_fetch_add(&w->stream_count, 1);
    return serve_watch(c, w->streams);
}

/* ---- the client ---------------------------------------------------------------------------------------- */

static void world_init(world *w)
{
    ki_config config = {0};
    ki_error err = {0};
    w->server = scripted_http_start(&(scripted_http_options){.serve = serve, .user = w});
    config.server = (char *)(uintptr_t)scripted_http_url(w->server);
    w->client = ki_client_new(&(ki_client_options){.mode = KI_MODE_EVENT_LOOP, .no_cluster = 1}, &err);
    assert_non_null(w->client);
    assert_int_equal(ki_client_connect(w->client, &config, NULL, &err), 0);
}

static void world_fini(world *w)
{
    ki_client_free(w->client);
    scripted_http_stop(w->server);
}

static ki_informer *start(world *w, const ki_resource *resource, ki_watch_list choice)
{
    ki_informer_options options = {
        .watch_list = (ki_watch_list)choice, .backoff_ms = 10, .backoff_max_ms = 20, .wire = KI_WIRE_JSON};
    ki_error err = {0};
    ki_informer *informer = ki_informer_new(w->client, resource, &options, &err);
    assert_non_null(informer);
    assert_int_equal(ki_informer_start(informer, &err), 0);
    return informer;
}

/* Waits until the store has this object. */
static void wait_for(world *w, ki_informer *informer, const char *name)
{
    uint64_t deadline_ms = ki_clock_now_ms(ki_clock_real()) + HANG_MS;
    ki_object *object = NULL;
    while ((object = ki_store_get(ki_informer_store(informer), KI_STR("d"), ki_str_of(name))) == NULL) {
        struct pollfd polled = {.fd = ki_client_fd(w->client), .events = POLLIN};
        assert_true(ki_clock_now_ms(ki_clock_real()) < deadline_ms);
        (void)poll(&polled, 1, 5);
        assert_true(ki_client_dispatch(w->client, 1) >= 0);
    }
    ki_object_unref(object);
}

/* ---- tests --------------------------------------------------------------------------------------------- */

/* In JSON the first list is not streamed; the next one, after a 410, is. */
static void where_streams_fail_lists_are_used_and_two_resources_decide_for_all(void **state)
{
    (void)state;
    static const ki_resource *const resources[] = {&KI_CORE_V1_CONFIGMAPS, &KI_CORE_V1_PODS,
                                                   &KI_CORE_V1_SECRETS};
    for (manner how = ANSWERS_503; how < MANNERS; how++) {
        world w = {.streams = how};
        ki_informer *informers[3];
        world_init(&w);
        for (int i = 0; i < 3; i++) {
            char name[16];
            (void)snprintf(name, sizeof(name), "n%d", 2 * i + 2);
            atomic_store(&w.expiring, 1);
            informers[i] = start(&w, resources[i], KI_WATCH_LIST_AUTO);
            wait_for(&w, informers[i], name);
            assert_int_equal(atomic_load(&w.stream_count), i == 0 ? 2 : 4);
        }
        for (int i = 0; i < 3; i++)
            ki_informer_free(informers[i]);
        world_fini(&w);
    }
}

/* Each list has a different object: only an informer that lists again sees the second one. */
static void where_watches_bring_nothing_lists_are_used(void **state)
{
    (void)state;
    for (manner how = ANSWERS_401; how < MANNERS; how++) {
        world w = {.watches = how};
        ki_informer_status status;
        world_init(&w);
        ki_informer *informer = start(&w, &KI_CORE_V1_CONFIGMAPS, KI_WATCH_LIST_NEVER);
        wait_for(&w, informer, "n1");
        wait_for(&w, informer, "n2");
        ki_informer_read_status(informer, &status);
        assert_int_equal(status.reason, KI_REASON_POLLING);
        assert_int_equal(status.lists, 2);
        assert_in_range(status.watches, 3, 4);
        ki_informer_free(informer);
        world_fini(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(where_streams_fail_lists_are_used_and_two_resources_decide_for_all),
        WITH_MEMORY_CHECK(where_watches_bring_nothing_lists_are_used),
    };
    return RUN_TESTS(tests);
}
