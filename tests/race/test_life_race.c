/* SPDX-License-Identifier: Apache-2.0 */
/* A client, its informers, its feed and its factory are each used and then freed by their own thread, at any
 * time; with delays after unlocks (support/delays.c). Most useful under the sanitizers. Threads are the
 * library's, and those that support/aside.c starts with ki_thread_start(). */
#include <kinformer/factory.h>
#include <kinformer/feed.h>
#include <kinformer/resources.h>

#include "client/client.h"
#include "support/aside.h"
#include "support/delays.h"
#include "support/informer/heard.h"
#include "support/patience.h"
#include "support/process.h"
#include "support/reflector/local_source.h"
#include "support/reflector/silent_source.h"
#include "support/require.h"
#include "support/unit.h"
#include "util/clock.h"
#include "util/random.h"

enum { RACE_MS = 2500, MODES = 3, OWNERS = 4, DOINGS_MAX = 6, GUESTS_MAX = 3 };

/* At least the number of places where a call can be held up. */
enum { PLACES = 40 };

typedef struct world {
    local_source *source;
    ki_client *client;
    ki_informer *informer;
    ki_factory *factory;
    ki_feed *feed;
    ki_store *destination;
    atomic_int releases; /* of handlers and of the feed */
    atomic_int expected;
    atomic_int events;
} world;

typedef struct owner {
    aside thread;
    world *world;
    ki_random random;
} owner;

/* ---- callbacks --------------------------------------------------------------------------------------- */

static void count_event(const ki_event *event, void *user)
{
    world *w = user;
    require(event->object != NULL);
    w->events++;
}

static void count_release(void *user)
{
    world *w = user;
    w->releases++;
}

static ki_registration *add_handler(world *w, ki_informer *informer)
{
    w->expected++;
    return ki_informer_add_handler(informer,
                                   &(ki_handler){.on_add = count_event,
                                                 .on_update = count_event,
                                                 .on_delete = count_event,
                                                 .on_release = count_release,
                                                 .backlog_items_max = 2,
                                                 .user = w},
                                   NULL);
}

/* ---- what owners do ---------------------------------------------------------------------------------- */

static bool chance(owner *o, uint32_t one_in)
{
    return ki_random_below(&o->random, one_in) == 0;
}

static void linger(owner *o)
{
    if (chance(o, 2))
        aside_pause((int)ki_random_below(&o->random, 3));
}

/* A start fails only after the client was freed. */
static void require_started(int rc)
{
    require(rc == 0 || rc == KI_ERR_STOPPED);
}

static void use_handlers(owner *o, ki_informer *informer, ki_registration **guest)
{
    if (*guest == NULL) {
        *guest = add_handler(o->world, informer);
        return;
    }
    if (chance(o, 2))
        require(ki_registration_remove_and_wait(*guest) == 0);
    else
        ki_registration_remove(*guest);
    *guest = NULL;
}

/* Afterwards the informer is freed with the handlers that are left. */
static void use_informer(owner *o, ki_informer *informer)
{
    ki_registration *guests[GUESTS_MAX] = {NULL};
    for (uint64_t i = 0, n = ki_random_below(&o->random, DOINGS_MAX); i < n; i++) {
        use_handlers(o, informer, &guests[ki_random_below(&o->random, GUESTS_MAX)]);
        require_started(ki_informer_start(informer, NULL));
        if (chance(o, 2))
            (void)!ki_informer_wait_for_sync(informer, 2, NULL);
        if (chance(o, 3))
            ki_informer_stop(informer);
        ki_informer_retry_now(informer);
    }
}

static void own_informer(void *user)
{
    owner *o = user;
    use_informer(o, o->world->informer);
    linger(o);
    ki_informer_free(o->world->informer);
}

static void own_factory(void *user)
{
    owner *o = user;
    ki_factory *factory = o->world->factory;
    ki_informer *informer = ki_factory_informer(factory, &KI_CORE_V1_NODES, NULL);
    if (informer != NULL)
        use_informer(o, informer);
    require_started(ki_factory_start(factory, NULL));
    if (chance(o, 2))
        (void)!ki_factory_wait_for_sync(factory, 2, NULL);
    linger(o);
    ki_factory_free(factory);
}

static void own_feed(void *user)
{
    owner *o = user;
    require_started(ki_feed_start(o->world->feed, NULL));
    if (chance(o, 2))
        (void)!ki_feed_wait_for_sync(o->world->feed, 2, NULL);
    if (chance(o, 2))
        ki_feed_stop(o->world->feed);
    linger(o);
    ki_feed_free(o->world->feed);
}

static void own_client(void *user)
{
    owner *o = user;
    linger(o);
    linger(o);
    ki_client_free(o->world->client);
}

/* ---- rounds ------------------------------------------------------------------------------------------ */

static void world_init(world *w, int mode)
{
    *w = (world){.source = local_source_new(), .destination = ki_store_new(NULL, NULL), .expected = 1};
    for (int i = 0; i < 3; i++)
        (void)local_source_put(w->source, "a", (const char *[]){"x", "y", "z"}[i], i);
    w->client = local_source_client(w->source, (ki_client_options){.mode = (ki_mode)mode});
    w->informer = ki_informer_new(w->client, &KI_CORE_V1_PODS, NULL, NULL);
    w->factory = ki_factory_new(w->client, NULL);
    w->feed = ki_feed_new(w->client, &KI_CORE_V1_PODS,
                          &(ki_feed_options){.store = w->destination, .on_release = count_release, .user = w},
                          NULL);
    assert_true(w->informer != NULL && w->factory != NULL && w->feed != NULL);
}

static void run_round(uint64_t seed)
{
    static const ki_thread_cb parts[OWNERS] = {own_client, own_informer, own_factory, own_feed};
    world w;
    owner owners[OWNERS] = {0};
    int before = process_descriptors();
    world_init(&w, (int)(seed % MODES));
    for (int i = 0; i < OWNERS; i++) {
        owners[i].world = &w;
        ki_random_init(&owners[i].random, seed * OWNERS + (uint64_t)i);
        aside_start(&owners[i].thread, parts[i], &owners[i]);
    }
    (void)local_source_put(w.source, "a", "x", 9);
    (void)local_source_delete(w.source, "a", "y");
    local_source_cut(w.source);
    for (int i = 0; i < OWNERS; i++) {
        if (!aside_ends_within(&owners[i].thread, HANG_MS))
            fail_msg("seed %llu: owner %d hangs", (unsigned long long)seed, i);
        aside_join(&owners[i].thread);
    }
    assert_int_equal(w.releases, w.expected);
    assert_int_equal(local_source_released(w.source), local_source_opened(w.source));
    local_source_free(w.source);
    ki_store_free(w.destination);
    assert_int_equal(process_descriptors(), before);
}

static void every_thread_frees_its_own_objects(void **state)
{
    (void)state;
    uint64_t until_ms = ki_clock_now_ms(ki_clock_real()) + RACE_MS;
    for (uint64_t seed = 1; ki_clock_now_ms(ki_clock_real()) < until_ms; seed++)
        run_round(seed);
    assert_int_equal(failures, 0);
}

typedef struct held_up {
    ki_informer *informer;
    int place;
} held_up;

/* The source does not know the client, so only the informer refers to the client. */
static held_up held_up_start(int place, ki_client **out_client)
{
    held_up h = {.place = place};
    *out_client = ki_client_new(&(ki_client_options){.no_cluster = 1}, NULL);
    h.informer = ki_informer_new(*out_client, &KI_CORE_V1_PODS,
                                 &(ki_informer_options){.list_watch = &silent_source}, NULL);
    assert_non_null(h.informer);
    assert_int_equal(ki_informer_start(h.informer, NULL), 0);
    return h;
}

static void free_informer_held_up(void *user)
{
    held_up *h = user;
    delays_hold_up(h->place);
    ki_informer_free(h->informer);
}

/* The client is freed while another thread is somewhere inside the free of an informer. */
static void a_free_is_overtaken_at_every_place(void **state)
{
    (void)state;
    for (int place = 1; place <= PLACES; place++) {
        aside thread = {0};
        ki_client *client = NULL;
        held_up h = held_up_start(place, &client);
        aside_start(&thread, free_informer_held_up, &h);
        aside_pause(2);
        ki_client_free(client);
        assert_true(aside_ends_within(&thread, HANG_MS));
        aside_join(&thread);
    }
}

static void wait_held_up(void *user)
{
    held_up *h = user;
    delays_hold_up(h->place);
    require(ki_informer_wait_for_sync(h->informer, HANG_MS, NULL) == KI_ERR_STOPPED);
    delays_hold_up(0);
}

/* A waiting call is ended, and the client is freed after that call has left. */
static void a_free_waits_for_calls_that_are_inside(void **state)
{
    (void)state;
    for (int place = 1; place <= PLACES; place++) {
        aside thread = {0};
        ki_client *client = NULL;
        held_up h = held_up_start(place, &client);
        ki_client_ref(client); /* to read it afterwards */
        aside_start(&thread, wait_held_up, &h);
        while (client->inside == 0)
            aside_pause(1);
        ki_client_free(client);
        assert_int_equal(client->inside, 0);
        aside_join(&thread);
        ki_informer_free(h.informer);
        ki_client_unref(client);
    }
    assert_int_equal(failures, 0);
}

typedef struct poster {
    ki_client *client;
    int place;
    atomic_bool has_run;
} poster;

static void note_run(void *user)
{
    poster *p = user;
    p->has_run = true;
}

static void do_nothing(void *user)
{
    (void)user;
}

static void post_held_up(void *user)
{
    poster *p = user;
    delays_hold_up(p->place);
    require(ki_client_post(p->client, note_run, p) == 0);
    delays_hold_up(0);
}

/* The callback may run, and the client may be freed, before the call that posted it has returned. */
static void a_post_is_overtaken_at_every_place(void **state)
{
    (void)state;
    for (int place = 1; place <= PLACES; place++) {
        aside thread = {0};
        poster p = {
            .client = ki_client_new(&(ki_client_options){.mode = KI_MODE_EVENT_LOOP, .no_cluster = 1}, NULL),
            .place = place};
        assert_non_null(p.client);
        aside_start(&thread, post_held_up, &p);
        while (!p.has_run) {
            assert_int_equal(ki_client_post(p.client, do_nothing, NULL), 0);
            assert_true(ki_client_dispatch(p.client, KI_BUDGET_NONE) >= 0);
        }
        ki_client_free(p.client);
        aside_join(&thread);
    }
    assert_int_equal(failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_frees_its_own_objects),
        cmocka_unit_test(a_free_is_overtaken_at_every_place),
        cmocka_unit_test(a_free_waits_for_calls_that_are_inside),
        cmocka_unit_test(a_post_is_overtaken_at_every_place),
    };
    return RUN_TESTS(tests);
}
