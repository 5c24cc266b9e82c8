/* SPDX-License-Identifier: Apache-2.0 */
/* Clients write and watch at the same time, while connections are cut and the server goes down and comes back
 * up. */
#include <kinformer/resources.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/apiserver/api_rig.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/clock.h"

enum { WRITERS = 3, WATCHERS = 3, ROUNDS = 12 };

typedef struct load {
    ki_apiserver *server;
    _Atomic int is_over;
    _Atomic int next;
    _Atomic long answers;
} load;

static void *write_objects(void *user)
{
    load *l = user;
    int self = atomic_fetch_add(&l->next, 1);
    for (int i = 0; !atomic_load(&l->is_over); i++) {
        char path[128];
        char body[256];
        snprintf(path, sizeof(path), "/api/v1/namespaces/default/configmaps");
        snprintf(body, sizeof(body), "{\"metadata\":{\"name\":\"c-%d-%d\"},\"data\":{\"k\":\"%d\"}}", self,
                 i % 20, i);
        api_answer answer = api_call(l->server, &(api_request){.path = path, .body = body});
        atomic_fetch_add(&l->answers, answer.status == 201);
        api_answer_fini(&answer);
        snprintf(path, sizeof(path), "/api/v1/namespaces/default/configmaps/c-%d-%d", self, i % 20);
        answer = api_call(l->server, &(api_request){.path = path, .method = i % 3 == 0 ? "DELETE" : "GET"});
        atomic_fetch_add(&l->answers, answer.status == 200);
        api_answer_fini(&answer);
    }
    return NULL;
}

static void *watch_objects(void *user)
{
    load *l = user;
    while (!atomic_load(&l->is_over)) {
        api_answer answer = api_call(
            l->server,
            &(api_request){.path = "/api/v1/configmaps?watch=1&timeoutSeconds=1&allowWatchBookmarks=1"});
        atomic_fetch_add(&l->answers, answer.status == 200);
        api_answer_fini(&answer);
        answer = api_get(l->server, "/api/v1/configmaps?limit=7");
        atomic_fetch_add(&l->answers, answer.status == 200);
        api_answer_fini(&answer);
    }
    return NULL;
}

static void disturb(ki_apiserver *server, int round)
{
    ki_error err = {0};
    (void)poll(NULL, 0, 60);
    switch (round % 6) {
    case 0:
        ki_apiserver_cut(server, 1);
        break;
    case 1:
        assert_int_equal(ki_apiserver_fault(server, &(ki_fault){.action = KI_FAULT_STALL, .times = 2}, NULL),
                         0);
        assert_int_equal(
            ki_apiserver_fault(
                server, &(ki_fault){.action = KI_FAULT_RESET, .after_bytes = 200, .percent = 20}, NULL),
            0);
        break;
    case 2:
        ki_apiserver_clear_faults(server);
        break;
    case 3:
        ki_apiserver_compact(server);
        break;
    case 4:
        assert_int_equal(ki_apiserver_rewind(server, 3, &err), 0);
        break;
    default:
        ki_apiserver_down(server);
        assert_int_equal(ki_apiserver_up(server, &err), 0);
        break;
    }
}

/* Does not hold at once: a write whose client was disconnected may still be in progress. */
static bool lists_what_it_counts(ki_apiserver *server)
{
    api_answer answer = api_get(server, "/api/v1/configmaps");
    assert_int_equal(answer.status, 200);
    bool is_equal =
        json_array_size(api_at(answer.tree, "items")) == ki_apiserver_count(server, &KI_CORE_V1_CONFIGMAPS);
    api_answer_fini(&answer);
    return is_equal;
}

static void the_server_survives_its_clients_and_its_faults(void **state)
{
    (void)state;
    pthread_t threads[WRITERS + WATCHERS];
    load l = {.server = api_rig_start(
                  &(ki_apiserver_options){.seed = 1, .bookmark_ms = 20, .history_events = 100})};
    for (int i = 0; i < WRITERS + WATCHERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, i < WRITERS ? write_objects : watch_objects, &l),
                         0);
    for (int round = 0; round < ROUNDS; round++)
        disturb(l.server, round);
    ki_apiserver_clear_faults(l.server);
    atomic_store(&l.is_over, 1);
    ki_apiserver_cut(l.server, 0);
    for (int i = 0; i < WRITERS + WATCHERS; i++)
        (void)pthread_join(threads[i], NULL);
    assert_true(atomic_load(&l.answers) > 0);
    uint64_t deadline_ms = ki_clock_now_ms(ki_clock_real()) + HANG_MS;
    while (!lists_what_it_counts(l.server))
        assert_true(ki_clock_now_ms(ki_clock_real()) < deadline_ms);
    ki_apiserver_free(l.server);
}

/* A watch may be waiting for events at any point of this. */
static void a_server_stops_while_clients_watch(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        static const char request[] = "GET /api/v1/namespaces?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
        ki_apiserver *server = api_rig_start(NULL);
        int fds[10];
        for (int n = 0; n < 10; n++) {
            fds[n] = api_connect(server);
            assert_true(fds[n] >= 0);
            api_send(fds[n], request, sizeof(request) - 1);
            if (n % 2 == 0)
                (void)poll(NULL, 0, 1);
        }
        ki_apiserver_free(server);
        for (int n = 0; n < 10; n++)
            close(fds[n]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_server_survives_its_clients_and_its_faults),
        cmocka_unit_test(a_server_stops_while_clients_watch),
    };
    return RUN_TESTS(tests);
}
