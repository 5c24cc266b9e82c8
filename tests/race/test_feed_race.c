/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds on the library's threads. Their source reports the changes that the test makes. */
#include <kinformer.h>
#include <stdio.h>
#include <string.h>

#include "client/client.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/thread.h"

enum { KEYS = 10, EVENTS = 3001, FIRST_VERSION = 100, TEXT_BYTES = 256, FREERS = 4, FREES = 300 };

/* Event i has key i % KEYS and version FIRST_VERSION + i + 1. Every seventh event is a delete; the last event
 * is not. Only io uses the fields other than `written`. */
typedef struct source {
    _Atomic int written;
    ki_job job;
    ki_answer *watch;
    int sent;
    int is_paused;
} source;

static int is_delete(int event)
{
    return event % 7 == 3;
}

static int write_object(char *text, int event)
{
    return snprintf(text, TEXT_BYTES,
                    "{\"metadata\":{\"namespace\":\"d\",\"name\":\"n%d\",\"uid\":\"u\","
                    "\"resourceVersion\":\"%d\"}}",
                    event % KEYS, FIRST_VERSION + event + 1);
}

/* Returns the last of the written events that has this key, or -1. */
static int last_event(int written, int key)
{
    int event = written - 1;
    while (event >= 0 && event % KEYS != key)
        event--;
    return event;
}

static void answer_list(ki_answer *answer, int written)
{
    char text[TEXT_BYTES];
    int count = 0;
    int n = snprintf(text, sizeof(text),
                     "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"%d\"},"
                     "\"items\":[",
                     FIRST_VERSION + written);
    (void)ki_answer_body(answer, text, (size_t)n);
    for (int key = 0; key < KEYS; key++) {
        int event = last_event(written, key);
        if (event < 0 || is_delete(event))
            continue;
        if (count++ > 0)
            (void)ki_answer_body(answer, ",", 1);
        n = write_object(text, event);
        (void)ki_answer_body(answer, text, (size_t)n);
    }
    if (ki_answer_body(answer, "]}", 2) >= 0)
        ki_answer_end(answer, KI_REASON_NONE, NULL);
}

static void send_events(ki_job *job)
{
    source *s = KI_CONTAINER_OF(job, source, job);
    char object[TEXT_BYTES];
    char text[2 * TEXT_BYTES];
    while (s->watch != NULL && !s->is_paused && s->sent < s->written) {
        int event = s->sent++;
        (void)write_object(object, event);
        int n = snprintf(text, sizeof(text), "{\"type\":\"%s\",\"object\":%s}",
                         is_delete(event) ? "DELETED" : "MODIFIED", object);
        s->is_paused = ki_answer_body(s->watch, text, (size_t)n) == 1;
    }
}

static int begin(ki_answer *answer, const ki_list_options *options, void *user)
{
    source *s = user;
    if (!options->watch) {
        answer_list(answer, s->written);
        return 0;
    }
    s->watch = answer;
    s->is_paused = 0;
    s->sent = 0;
    for (size_t i = 0; i < options->resource_version.len; i++)
        s->sent = s->sent * 10 + (options->resource_version.ptr[i] - '0');
    s->sent -= FIRST_VERSION;
    ki_job_wake(&s->job);
    return 0;
}

static void cancel(ki_answer *answer, void *user)
{
    source *s = user;
    if (s->watch == answer)
        s->watch = NULL;
}

static void resume(ki_answer *answer, void *user)
{
    source *s = user;
    (void)answer;
    s->is_paused = 0;
    ki_job_wake(&s->job);
}

/* ---- the rig ----------------------------------------------------------------------------------------- */

typedef struct rig {
    source source;
    ki_client *client;
    ki_feed *feed;
    ki_store *store;
    ki_delta_queue *queue;
    _Atomic bool has_failed; /* checked at the end: only the test's main thread may assert */
    ki_mutex mu;
    ki_cond changed;
    int seen;    /* guarded by mu, like the next two: the highest event that has arrived, counted from 1 */
    int waiting; /* changes that on_change has accepted and that were not checked yet */
    int is_full;
} rig;

static void setup(rig *r)
{
    memset(r, 0, sizeof(*r));
    ki_mutex_init(&r->mu);
    ki_cond_init(&r->changed);
    r->client = ki_client_new(&(ki_client_options){.no_cluster = 1}, NULL);
    assert_non_null(r->client);
    assert_int_equal(ki_job_init(&r->source.job, r->client->io, send_events), 0);
    r->store = ki_store_new(NULL, NULL);
    r->queue = ki_delta_queue_new(&(ki_delta_queue_options){.known = r->store, .items_max = 4}, NULL);
    assert_non_null(r->store);
    assert_non_null(r->queue);
}

static void make_feed(rig *r, ki_feed_options options)
{
    ki_list_watch list_watch = {
        .begin = begin, .cancel = cancel, .resume = resume, .user = &r->source, .no_watch_list = 1};
    options.informer.list_watch = &list_watch;
    options.user = r;
    r->feed = ki_feed_new(r->client, &KI_CORE_V1_PODS, &options, NULL);
    assert_non_null(r->feed);
    assert_int_equal(ki_feed_start(r->feed, NULL), 0);
}

static void teardown(rig *r)
{
    ki_feed_free(r->feed);
    assert_false(r->has_failed);
    ki_job_fini(&r->source.job);
    ki_client_free(r->client);
    ki_delta_queue_free(r->queue);
    ki_store_free(r->store);
    ki_cond_fini(&r->changed);
    ki_mutex_fini(&r->mu);
}

static void note_seen(rig *r, const ki_object *object)
{
    int version = 0;
    ki_str text = ki_object_resource_version(object);
    for (size_t i = 0; i < text.len; i++)
        version = version * 10 + (text.ptr[i] - '0');
    ki_mutex_lock(&r->mu);
    if (version - FIRST_VERSION > r->seen)
        r->seen = version - FIRST_VERSION;
    ki_cond_broadcast(&r->changed);
    ki_mutex_unlock(&r->mu);
}

static void wait_for_last_event(rig *r)
{
    ki_mutex_lock(&r->mu);
    while (r->seen < EVENTS)
        ki_cond_wait(&r->changed, &r->mu);
    ki_mutex_unlock(&r->mu);
}

static void write_events(rig *r)
{
    for (int i = 0; i < EVENTS; i++) {
        r->source.written++;
        if (i % 5 == 0)
            ki_job_wake(&r->source.job);
    }
    ki_job_wake(&r->source.job);
}

static int process(const ki_deltas *deltas, void *user)
{
    rig *r = user;
    const ki_delta *last = &deltas->items[deltas->count - 1];
    if (last->change_type == KI_CHANGE_DELETED)
        (void)ki_store_remove(r->store, deltas->key);
    else if (ki_store_put(r->store, last->object) < 0)
        r->has_failed = true;
    note_seen(r, last->object);
    return 0;
}

static void assert_store_is_complete(rig *r)
{
    size_t expected = 0;
    for (int key = 0; key < KEYS; key++) {
        char name[16];
        char version[16];
        int event = last_event(EVENTS, key);
        snprintf(name, sizeof(name), "n%d", key);
        snprintf(version, sizeof(version), "%d", FIRST_VERSION + event + 1);
        ki_object *object = ki_store_get(r->store, KI_STR("d"), ki_str_of(name));
        assert_int_equal(object == NULL, is_delete(event));
        if (object != NULL)
            assert_true(ki_str_equal(ki_object_resource_version(object), ki_str_of(version)));
        expected += object != NULL;
        ki_object_unref(object);
    }
    assert_int_equal(ki_store_count(r->store), expected);
}

/* ---- tests ------------------------------------------------------------------------------------------- */

static void disturb(void *user)
{
    rig *r = user;
    ki_informer_status status;
    for (int i = 0; i < 50; i++) {
        ki_feed_stop(r->feed);
        ki_feed_read_status(r->feed, &status);
        (void)!ki_feed_start(r->feed, NULL);
        ki_feed_retry_now(r->feed);
        ki_feed_resume(r->feed);
    }
}

static void feed_that_is_stopped_and_started_processes_all(void **state)
{
    (void)state;
    rig r;
    ki_thread thread = {0};
    setup(&r);
    make_feed(&r, (ki_feed_options){.queue = r.queue, .process = process, .informer = {.backoff_ms = 1}});
    assert_int_equal(ki_feed_wait_for_sync(r.feed, HANG_MS, NULL), 0);
    assert_int_equal(
        ki_thread_start(&thread, &(ki_thread_options){.name = "disturb", .run = disturb, .user = &r}, NULL),
        0);
    write_events(&r);
    ki_thread_join(&thread);
    wait_for_last_event(&r);
    ki_feed_stop(r.feed);
    while (ki_delta_queue_pop(r.queue, 0, process, &r) == 0)
        ;
    assert_store_is_complete(&r);
    teardown(&r);
}

static void pop_all(void *user)
{
    rig *r = user;
    while (ki_delta_queue_pop(r->queue, UINT64_MAX, process, r) == 0)
        ki_feed_resume(r->feed);
}

static void thread_of_the_program_pops_all(void **state)
{
    (void)state;
    rig r;
    ki_thread thread = {0};
    setup(&r);
    make_feed(&r, (ki_feed_options){.queue = r.queue});
    assert_int_equal(
        ki_thread_start(&thread, &(ki_thread_options){.name = "pop", .run = pop_all, .user = &r}, NULL), 0);
    write_events(&r);
    wait_for_last_event(&r);
    ki_feed_stop(r.feed);
    ki_delta_queue_close(r.queue);
    ki_thread_join(&thread);
    assert_true(ki_feed_has_synced(r.feed));
    assert_store_is_complete(&r);
    teardown(&r);
}

static int take_four_at_a_time(const ki_change *change, void *user)
{
    rig *r = user;
    if (change->object != NULL)
        note_seen(r, change->object);
    ki_mutex_lock(&r->mu);
    r->waiting++;
    r->is_full = r->waiting >= 4;
    int rc = r->is_full;
    ki_cond_broadcast(&r->changed);
    ki_mutex_unlock(&r->mu);
    return rc;
}

static void make_space(void *user)
{
    rig *r = user;
    int is_over = 0;
    while (!is_over) {
        ki_mutex_lock(&r->mu);
        while (!r->is_full && r->seen < EVENTS)
            ki_cond_wait(&r->changed, &r->mu);
        r->waiting = r->is_full = 0;
        is_over = r->seen >= EVENTS;
        ki_mutex_unlock(&r->mu);
        ki_feed_resume(r->feed);
    }
}

static void space_that_is_made_at_once_is_noticed(void **state)
{
    (void)state;
    rig r;
    ki_thread thread = {0};
    setup(&r);
    make_feed(&r, (ki_feed_options){.on_change = take_four_at_a_time});
    assert_int_equal(
        ki_thread_start(&thread, &(ki_thread_options){.name = "space", .run = make_space, .user = &r}, NULL),
        0);
    write_events(&r);
    wait_for_last_event(&r);
    ki_thread_join(&thread);
    assert_int_equal(r.seen, EVENTS);
    teardown(&r);
}

static void store_is_read_while_it_is_fed(void **state)
{
    (void)state;
    rig r;
    setup(&r);
    make_feed(&r, (ki_feed_options){.store = r.store});
    assert_int_equal(ki_feed_wait_for_sync(r.feed, HANG_MS, NULL), 0);
    write_events(&r);
    char version[16] = "";
    char last[16];
    snprintf(last, sizeof(last), "%d", FIRST_VERSION + EVENTS);
    while (strcmp(version, last) != 0) {
        (void)ki_feed_last_resource_version(r.feed, version, sizeof(version));
        ki_object_unref(ki_store_get(r.store, KI_STR("d"), KI_STR("n1")));
    }
    assert_store_is_complete(&r);
    teardown(&r);
}

/* A thread of the program that creates and frees feeds while events arrive. */
typedef struct freer {
    rig *rig;
    source source;
    ki_store *store;
    ki_thread thread;
} freer;

/* Each event wakes dispatch, which may complete a free as soon as it notices it. */
static void make_and_free(void *user)
{
    freer *f = user;
    ki_list_watch list_watch = {
        .begin = begin, .cancel = cancel, .resume = resume, .user = &f->source, .no_watch_list = 1};
    const ki_feed_options options = {.informer = {.list_watch = &list_watch}, .store = f->store};
    for (int i = 0; i < FREES; i++) {
        ki_feed *feed = ki_feed_new(f->rig->client, &KI_CORE_V1_PODS, &options, NULL);
        if (feed == NULL || ki_feed_start(feed, NULL) < 0 || ki_feed_wait_for_sync(feed, HANG_MS, NULL) < 0)
            f->rig->has_failed = true;
        f->source.written += i % 50;
        ki_job_wake(&f->source.job);
        ki_feed_free(feed);
    }
}

static void start_thread(ki_thread *thread, ki_thread_cb call, freer *f)
{
    const ki_thread_options options = {.name = "freer", .run = call, .user = f};
    assert_int_equal(ki_thread_start(thread, &options, NULL), 0);
}

static void feed_is_freed_while_events_come(void **state)
{
    (void)state;
    rig r;
    freer freers[FREERS] = {0};
    setup(&r);
    for (int i = 0; i < FREERS; i++) {
        freer *f = &freers[i];
        f->rig = &r;
        f->store = ki_store_new(NULL, NULL);
        assert_non_null(f->store);
        assert_int_equal(ki_job_init(&f->source.job, r.client->io, send_events), 0);
        start_thread(&f->thread, make_and_free, f);
    }
    for (int i = 0; i < FREERS; i++)
        ki_thread_join(&freers[i].thread);
    for (int i = 0; i < FREERS; i++) {
        ki_job_fini(&freers[i].source.job);
        ki_store_free(freers[i].store);
    }
    teardown(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(feed_that_is_stopped_and_started_processes_all),
        cmocka_unit_test(thread_of_the_program_pops_all),
        cmocka_unit_test(space_that_is_made_at_once_is_noticed),
        cmocka_unit_test(store_is_read_while_it_is_fed),
        cmocka_unit_test(feed_is_freed_while_events_come),
    };
    return RUN_TESTS(tests);
}
