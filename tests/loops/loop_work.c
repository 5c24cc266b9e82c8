/* SPDX-License-Identifier: Apache-2.0 */
#include "loops/loop_work.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PODS 1000
#define BATCH_EVENTS_MAX 64
#define READS 200
#define LONG_WAIT_MS (10 * 60 * 1000)
#define TIME_LIMIT_SECONDS 600
#define STEPS_WITH_THREADS 4 /* the last of them takes the server down */

_Noreturn void loop_work_fail(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, condition);
    abort();
}

static void added(const ki_event *event, void *user)
{
    loop_work *work = user;
    LOOP_REQUIRE(event->flags & KI_EVENT_INITIAL && work->syncs == 0);
    LOOP_REQUIRE(!ki_registration_has_synced(work->handler));
    /* Takes some time, so that the list needs more than a budget of one millisecond. */
    for (int i = 0; i < READS; i++)
        LOOP_REQUIRE(ki_object_string(event->object, "/status/phase").len == 7);
    work->adds++;
}

static void updated(const ki_event *event, void *user)
{
    (void)event;
    ((loop_work *)user)->updates++;
}

static void deleted(const ki_event *event, void *user)
{
    (void)event;
    ((loop_work *)user)->deletes++;
}

static void synced(void *user)
{
    loop_work *work = user;
    LOOP_REQUIRE(work->adds == PODS && ki_informer_has_synced(work->pods));
    LOOP_REQUIRE(ki_registration_has_synced(work->handler) && work->batches >= PODS / BATCH_EVENTS_MAX);
    work->syncs++;
    work->batches = 0;
}

static void batch_ended(void *user)
{
    ((loop_work *)user)->batches++;
}

static void put(loop_work *work, int number, const char *phase)
{
    char pod[128];
    snprintf(pod, sizeof(pod), "{\"metadata\":{\"name\":\"pod-%d\"},\"status\":{\"phase\":\"%s\"}}", number,
             phase);
    ki_error err = {0};
    LOOP_REQUIRE(ki_apiserver_put(work->server, &KI_CORE_V1_PODS, pod, &err) == 0);
}

void loop_work_begin(loop_work *work, ki_mode mode, uint64_t budget_ms)
{
    *work = (loop_work){.mode = mode, .budget_ms = budget_ms};
    alarm(TIME_LIMIT_SECONDS);
    ki_error err = {0};
    work->server = ki_apiserver_start(NULL, &err);
    for (int i = 0; i < PODS; i++)
        put(work, i, "Pending");
    work->client =
        ki_client_new(&(ki_client_options){.mode = mode, .server = ki_apiserver_url(work->server)}, &err);
    work->factory = ki_factory_new(
        work->client,
        &(ki_factory_options){.informer = {.backoff_ms = LONG_WAIT_MS, .backoff_max_ms = LONG_WAIT_MS}});
    work->pods = ki_factory_informer(work->factory, &KI_CORE_V1_PODS, NULL);
    ki_handler handler = {.on_add = added,
                          .on_update = updated,
                          .on_delete = deleted,
                          .on_synced = synced,
                          .on_batch_end = batch_ended,
                          .user = work};
    work->handler = ki_informer_add_handler(work->pods, &handler, &err);
    LOOP_REQUIRE(ki_factory_start(work->factory, &err) == 0);
    LOOP_REQUIRE(err.code == 0 && work->handler != NULL);
}

/* ---- steps: each waits for the effect of the previous one -------------------------------------------- */

static int update_one(loop_work *work)
{
    if (work->syncs == 0 || work->batches == 0) /* the batch ends after the sync */
        return 0;
    LOOP_REQUIRE(work->adds == PODS && work->syncs == 1 && work->updates == 0);
    LOOP_REQUIRE(ki_store_count(ki_informer_store(work->pods)) == PODS);
    put(work, 0, "Running");
    return 1;
}

static int delete_one(loop_work *work)
{
    if (work->updates < 1)
        return 0;
    ki_error err = {0};
    LOOP_REQUIRE(ki_apiserver_delete(work->server, &KI_CORE_V1_PODS, "default", "pod-1", &err) == 0);
    return 1;
}

/* The informer is idle, so only the start can wake the loop. */
static int restart(loop_work *work)
{
    if (work->deletes < 1)
        return 0;
    ki_error err = {0};
    ki_informer_stop(work->pods);
    put(work, 0, "Succeeded");
    LOOP_REQUIRE(ki_informer_start(work->pods, &err) == 0);
    return 1;
}

static int go_down(loop_work *work)
{
    if (work->updates < 2)
        return 0;
    ki_apiserver_down(work->server);
    return 1;
}

/* Without the call, the wait would take ten minutes. */
static int come_up(loop_work *work)
{
    ki_informer_status status;
    ki_informer_read_status(work->pods, &status);
    if (status.phase != KI_PHASE_BACKING_OFF || status.retry_ms < LONG_WAIT_MS / 2)
        return 0;
    ki_error err = {0};
    LOOP_REQUIRE(ki_apiserver_up(work->server, &err) == 0);
    put(work, 0, "Failed");
    ki_informer_retry_now(work->pods);
    return 1;
}

static int see_the_last(loop_work *work)
{
    return work->updates >= 3;
}

int loop_work_go_on(loop_work *work)
{
    static int (*const steps[])(loop_work *) = {update_one, delete_one, restart,
                                                go_down,    come_up,    see_the_last};
    int last =
        work->mode == KI_MODE_EVENT_LOOP ? (int)(sizeof(steps) / sizeof(steps[0])) : STEPS_WITH_THREADS;
    int rc = ki_client_dispatch(work->client, work->budget_ms);
    LOOP_REQUIRE(rc >= 0);
    work->stops += rc;
    work->step += steps[work->step](work);
    return work->step == last;
}

void loop_work_end(loop_work *work)
{
    LOOP_REQUIRE(work->adds == PODS && work->updates == (work->mode == KI_MODE_EVENT_LOOP ? 3 : 2) &&
                 work->deletes == 1 && work->syncs == 1);
    LOOP_REQUIRE(work->stops > 0 || work->budget_ms != 1);
    ki_factory_free(work->factory);
    ki_client_free(work->client);
    ki_apiserver_free(work->server);
}
