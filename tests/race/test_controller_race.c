/* SPDX-License-Identifier: Apache-2.0 */
/* A controller with its own workers runs while the server changes objects and cuts connections; other threads
 * stop and start it, finish requests and read its status. Each key is on one worker at a time, and the last
 * reconcile of each key has seen the final state. Then the controller is freed: from outside or by a
 * reconcile, before or after the informer and the client. With delays after unlocks (support/delays.c).
 * Threads are the library's, and those that support/aside.c starts with ki_thread_start(). */
#include <kinformer/controller.h>
#include <kinformer/resources.h>
#include <stdio.h>

#include "support/aside.h"
#include "support/patience.h"
#include "support/reflector/local_source.h"
#include "support/require.h"
#include "support/store/store_objects.h"
#include "support/unit.h"
#include "util/random.h"

enum { KEYS = 12, ROUNDS = 6, ROUND_MS = 250, WORKERS = 4, SLOTS = WORKERS, DUELS = 2000 };

typedef struct stage {
    local_source *source;
    ki_client *client;
    ki_informer *informer;
    ki_controller *controller;
    ki_random random; /* used by the thread that changes objects */
    atomic_uint_fast64_t dice;
    atomic_int on_workers[KEYS];
    atomic_uint_fast64_t seen[KEYS];
    ki_request *_Atomic later[SLOTS]; /* requests that another thread finishes */
    atomic_bool is_over;
    atomic_bool is_calm;
    atomic_int frees_itself; /* 1: the next reconcile frees the controller; 2: it has */
    atomic_int released;
    atomic_int reconciles;
} stage;

static uint64_t roll(stage *s, uint64_t bound)
{
    uint64_t x = atomic_fetch_add(&s->dice, 0x9e3779b97f4a7c15U) + 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    return (x ^ (x >> 31)) % bound;
}

static int number_of(ki_str name)
{
    int number = 0;
    for (size_t i = 1; i < name.len; i++)
        number = number * 10 + name.ptr[i] - '0';
    return number;
}

static ki_result choose(stage *s)
{
    switch (s->is_calm ? 0 : roll(s, 6)) {
    case 0:
    case 1:
        return ki_done();
    case 2:
        return ki_requeue_after(roll(s, 5));
    default:
        return ki_retry(NULL);
    }
}

/* Returns false if all slots are in use. */
static bool put_aside(stage *s, ki_request *request)
{
    for (int i = 0; i < SLOTS; i++) {
        ki_request *none = NULL;
        if (atomic_compare_exchange_strong(&s->later[i], &none, request))
            return true;
    }
    return false;
}

static ki_result reconcile(ki_request *request, void *user)
{
    stage *s = user;
    int key = number_of(ki_request_name(request));
    require(atomic_fetch_add(&s->on_workers[key], 1) == 0);
    ki_object *object = ki_store_get_key(ki_informer_store(s->informer), ki_request_key(request));
    s->seen[key] = object == NULL ? 0 : store_object_version(object);
    if (object != NULL && roll(s, 3) == 0)
        require(ki_request_expect(request, s->informer, object) == 0);
    ki_object_unref(object);
    s->reconciles++;
    if (!s->is_calm && roll(s, 40) == 0)
        require(ki_controller_stop(s->controller, NULL) == 0);
    int yes = 1;
    if (atomic_compare_exchange_strong(&s->frees_itself, &yes, 0)) {
        ki_controller_free(s->controller);
        atomic_store(&s->frees_itself, 2);
    }
    ki_result result = choose(s);
    atomic_fetch_sub(&s->on_workers[key], 1);
    if (roll(s, 4) == 0 && put_aside(s, request))
        return ki_later();
    return result;
}

static void finish_all(stage *s)
{
    for (int i = 0; i < SLOTS; i++) {
        ki_request *request = atomic_exchange(&s->later[i], NULL);
        if (request != NULL)
            ki_request_finish(request, choose(s));
    }
}

static void finish_requests(void *user)
{
    stage *s = user;
    while (!s->is_over)
        finish_all(s);
}

static void stop_and_start(void *user)
{
    stage *s = user;
    ki_error err = {0};
    while (!s->is_calm) {
        require(ki_controller_stop(s->controller, &err) == 0);
        require(ki_controller_start(s->controller, &err) == 0);
        aside_pause(1);
    }
}

static void look(void *user)
{
    stage *s = user;
    while (!s->is_calm) {
        ki_controller_status status;
        ki_controller_read_status(s->controller, &status);
        require(status.active <= WORKERS);
        require(ki_controller_enqueue(s->controller, KI_STR("a/k0"), roll(s, 3)) == 0);
    }
}

static void change(stage *s, int ms)
{
    for (int i = 0; i < ms * 4; i++) {
        char name[8];
        snprintf(name, sizeof(name), "k%u", (unsigned)ki_random_below(&s->random, KEYS));
        if (ki_random_below(&s->random, 4) == 0)
            (void)local_source_delete(s->source, "a", name);
        else
            (void)local_source_put(s->source, "a", name, i);
        if (ki_random_below(&s->random, 100) == 0)
            local_source_cut(s->source);
        if (i % 4 == 0)
            aside_pause(1);
    }
}

static void on_release(void *user)
{
    ((stage *)user)->released++;
}

static void make(stage *s, uint64_t seed)
{
    ki_error err = {0};
    ki_random_init(&s->random, seed);
    s->dice = seed;
    s->source = local_source_new();
    s->client = local_source_client(s->source, (ki_client_options){0});
    s->informer = ki_informer_new(s->client, &KI_CORE_V1_PODS, &(ki_informer_options){.backoff_ms = 5}, &err);
    s->controller =
        ki_controller_new(s->client,
                          &(ki_controller_options){.name = "race",
                                                   .reconcile = reconcile,
                                                   .workers = WORKERS,
                                                   .limiter = ki_limiter_new_exponential(1, 20, &err),
                                                   .reconcile_timeout_ms = 1,
                                                   .stop_timeout_ms = HANG_MS,
                                                   .on_release = on_release,
                                                   .user = s},
                          &err);
    assert_int_equal(ki_controller_watch(s->controller, s->informer, NULL), 0);
    assert_int_equal(ki_controller_watch(s->controller, s->informer, &KI_PREDICATE_LABELS_CHANGED), 0);
    assert_int_equal(ki_controller_start(s->controller, &err), 0);
    assert_int_equal(ki_informer_start(s->informer, &err), 0);
}

static bool is_all_seen(stage *s)
{
    for (int i = 0; i < KEYS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "k%d", i);
        if (s->seen[i] != store_version_at(ki_informer_store(s->informer), "a", name))
            return false;
    }
    return local_source_differences(s->source, ki_informer_store(s->informer)) == 0;
}

/* Starts the controller again, because a reconcile may have stopped it. */
static void wait_until_all_is_seen(stage *s)
{
    ki_error err = {0};
    int left_ms = HANG_MS;
    for (; left_ms > 0 && !is_all_seen(s); left_ms--) {
        require(ki_controller_start(s->controller, &err) == 0);
        aside_pause(1);
    }
    assert_true(left_ms > 0);
}

/* Postponed requests must be finished before the controller can end,
 * so the thread that finishes them ends last. */
static void free_all(stage *s, uint64_t seed)
{
    ki_error err = {0};
    if (seed % 2 == 0) {
        assert_int_equal(ki_controller_start(s->controller, &err), 0);
        s->frees_itself = 1;
        for (int i = 0; i < HANG_MS && s->frees_itself != 2; i++) {
            (void)local_source_put(s->source, "a", "k1", i);
            aside_pause(1);
        }
    } else if (seed % 3 == 0) {
        ki_controller_free(s->controller);
        assert_int_equal(s->released, 1);
    }
    bool is_freed = seed % 2 == 0 || seed % 3 == 0;
    bool is_informer_first = seed % 2 != 0 && seed % 3 == 0; /* no reconcile is running that uses it */
    if (is_informer_first)
        ki_informer_free(s->informer);
    ki_client_free(s->client);
    if (!is_freed)
        ki_controller_free(s->controller);
    if (!is_informer_first)
        ki_informer_free(s->informer);
    assert_int_equal(s->released, 1);
}

static void keys_are_never_lost_nor_on_two_workers(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        static stage s;
        aside finisher = {0}, stopper = {0}, looker = {0};
        s = (stage){0};
        make(&s, seed);
        aside_start(&finisher, finish_requests, &s);
        aside_start(&stopper, stop_and_start, &s);
        aside_start(&looker, look, &s);
        change(&s, ROUND_MS);
        s.is_calm = true;
        aside_join(&stopper);
        aside_join(&looker);
        wait_until_all_is_seen(&s);
        assert_true(s.reconciles > KEYS);
        free_all(&s, seed);
        s.is_over = true;
        aside_join(&finisher);
        local_source_free(s.source);
        assert_int_equal(failures, 0);
    }
}

/* ---- a stop and a run at the same time ----------------------------------------------------------------- */

typedef struct duel {
    ki_controller *controller;
    atomic_bool has_ended; /* the run has returned */
    atomic_bool is_lost;   /* the stop was, so there was a second one */
    uint64_t spins;        /* before the stop */
} duel;

static void stop_once(void *user)
{
    duel *d = user;
    for (volatile uint64_t i = 0; i < d->spins; i++)
        continue;
    require(ki_controller_stop(d->controller, NULL) == 0);
    for (int i = 0; i < HANG_MS && !d->has_ended; i++)
        aside_pause(1);
    if (d->has_ended)
        return;
    d->is_lost = true;
    (void)ki_controller_stop(d->controller, NULL);
}

static ki_result do_nothing(ki_request *request, void *user)
{
    (void)request;
    (void)user;
    return ki_done();
}

static void a_run_ends_whether_the_stop_is_early_or_late(void **state)
{
    (void)state;
    ki_error err = {0};
    local_source *source = local_source_new();
    ki_client *client = local_source_client(source, (ki_client_options){0});
    ki_controller_options options = {.name = "duel", .reconcile = do_nothing, .workers = 2};
    duel d = {.controller = ki_controller_new(client, &options, &err)};
    ki_random random;
    ki_random_init(&random, 1);
    for (int i = 0; i < DUELS; i++) {
        aside stopper = {0};
        d.has_ended = false;
        d.spins = ki_random_below(&random, 100000);
        aside_start(&stopper, stop_once, &d);
        assert_int_equal(ki_controller_run(d.controller, &err), 0);
        d.has_ended = true;
        aside_join(&stopper);
        assert_false(d.is_lost);
        ki_controller_status status;
        ki_controller_read_status(d.controller, &status);
        assert_int_equal(status.is_running, 0);
        assert_int_equal(failures, 0);
    }
    ki_controller_free(d.controller);
    ki_client_free(client);
    local_source_free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keys_are_never_lost_nor_on_two_workers),
                                       cmocka_unit_test(a_run_ends_whether_the_stop_is_early_or_late)};
    return RUN_TESTS(tests);
}
