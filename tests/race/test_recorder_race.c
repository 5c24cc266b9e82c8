/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads record events, wait and read counts, while the server goes down and up; then two threads free
 * the recorder and the client at the same time. */
#include <kinformer.h>
#include <stdio.h>

#include "support/apiserver/api_rig.h"
#include "support/aside.h"
#include "support/controller/event_make.h"
#include "support/require.h"
#include "support/unit.h"

enum { WRITERS = 4, EVENTS = 150, ROUNDS = 12 };

typedef struct world {
    ki_client *client;
    ki_recorder *recorder;
    ki_object *pods[WRITERS];
    atomic_int accepted;
} world;

typedef struct writer {
    aside thread;
    world *world;
    int number;
} writer;

static void record(void *user)
{
    writer *me = user;
    world *w = me->world;
    for (int i = 0; i < EVENTS; i++) {
        char reason[16];
        ki_recorder_stats s;
        snprintf(reason, sizeof(reason), "R%d", i % 7);
        int rc = ki_recorder_event(w->recorder, w->pods[(me->number + i) % WRITERS], KI_RECORD_NORMAL, reason,
                                   NULL, "event %d of %d", i % 3, me->number);
        require(rc == 0 || rc == KI_ERR_TOO_LARGE);
        w->accepted++;
        if (i % 50 == 49)
            (void)ki_recorder_flush(w->recorder, 5);
        ki_recorder_read_stats(w->recorder, &s);
        require(s.recorded >= s.created + s.patched + s.counted + s.queued);
    }
}

static void free_client(void *user)
{
    world *w = user;
    ki_client_free(w->client);
}

static void play(ki_apiserver *server, int round)
{
    world w = {0};
    writer writers[WRITERS];
    ki_error err = {0};
    w.client = ki_client_new(
        &(ki_client_options){.server = ki_apiserver_url(server), .mode = KI_MODE_THREADS}, &err);
    require(w.client != NULL);
    w.recorder = ki_recorder_new(w.client,
                                 &(ki_recorder_options){.component = "tester",
                                                        .api = (ki_recorder_api)(round % 2),
                                                        .queue_max = round % 3 == 0 ? 20 : 0,
                                                        .free_timeout_ms = 50},
                                 &err);
    require(w.recorder != NULL);
    for (int i = 0; i < WRITERS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "pod-%d", i);
        w.pods[i] = event_make_pod(name, "1");
    }
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (writer){.world = &w, .number = i};
        aside_start(&writers[i].thread, record, &writers[i]);
    }
    if (round % 4 == 1)
        ki_apiserver_cut(server, 1);
    for (int i = 0; i < WRITERS; i++)
        aside_join(&writers[i].thread);
    ki_recorder_stats s;
    ki_recorder_read_stats(w.recorder, &s);
    require(s.recorded == WRITERS * EVENTS && (int)s.recorded == w.accepted);
    aside closer;
    aside_start(&closer, free_client, &w);
    ki_recorder_free(w.recorder);
    aside_join(&closer);
    for (int i = 0; i < WRITERS; i++)
        ki_object_unref(w.pods[i]);
}

static void threads_record_while_others_wait_and_free(void **state)
{
    (void)state;
    ki_apiserver *server = api_rig_start(NULL);
    for (int round = 0; round < ROUNDS; round++)
        play(server, round);
    assert_true(ki_apiserver_count(server, &KI_CORE_V1_EVENTS) > 0);
    ki_apiserver_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_record_while_others_wait_and_free),
    };
    return RUN_TESTS(tests);
}
