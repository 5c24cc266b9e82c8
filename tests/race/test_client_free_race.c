/* SPDX-License-Identifier: Apache-2.0 */
/* Clients are freed where a call must not wait: in their own callbacks, in callbacks of each other, in read
 * sections, and when the system cannot start the thread that is needed for it. Each test checks what is left:
 * threads, descriptors and calls of on_release; the sanitizers check memory. Threads are the library's, and
 * those that support/aside.c starts with ki_thread_start(). */
#include <kinformer/factory.h>
#include <kinformer/feed.h>
#include <kinformer/resources.h>
#include <string.h>

#include "support/aside.h"
#include "support/informer/informer_rig.h"
#include "support/patience.h"
#include "support/process.h"
#include "support/store/store_objects.h"
#include "support/unit.h"
#include "util/thread.h"

enum { MODES = 3, ROUNDS = 20 };

static atomic_int refused_threads; /* the next attempts to start a thread that frees a client, which fail */

static bool is_refused(const char *name, void *user)
{
    (void)user;
    if (strcmp(name, "close") != 0 || refused_threads == 0)
        return false;
    refused_threads--;
    return true;
}

/* ---- a client, and what its handler frees ------------------------------------------------------------- */

typedef struct world {
    local_rig rig;
    atomic_int releases;
    _Atomic(ki_client *) victim; /* freed by the next event; NULL: nothing */
    atomic_bool has_freed;
    bool frees_all; /* also frees its own informer and client; with a partner, the partner frees the client */
    struct world *partner; /* its handler must be in a callback at the same time */
    atomic_bool is_inside;
} world;

typedef struct before {
    int threads;
    int descriptors;
} before;

static before look(void)
{
    int threads = process_idle_threads();
    return (before){threads, process_descriptors()};
}

static void assert_as(before b)
{
    assert_true(process_has_threads(b.threads));
    for (int ms = 0; ms < AT_ONCE_MS && process_descriptors() > b.descriptors; ms++)
        aside_pause(1); /* the thread that closes them may not have started yet */
    assert_int_equal(process_descriptors(), b.descriptors);
}

static void on_event(const ki_event *event, void *user)
{
    world *w = user;
    (void)event;
    ki_client *victim = atomic_exchange(&w->victim, NULL);
    if (victim == NULL)
        return;
    w->is_inside = true;
    while (w->partner != NULL && !w->partner->is_inside)
        aside_pause(1);
    ki_client_free(victim);
    if (w->frees_all) {
        ki_informer_free(w->rig.informer);
        if (victim != w->rig.client && w->partner == NULL)
            ki_client_free(w->rig.client);
    }
    w->has_freed = true;
}

static void on_release(void *user)
{
    world *w = user;
    w->releases++;
}

static void world_init(world *w, int mode)
{
    *w = (world){0};
    local_rig_init(&w->rig, (ki_client_options){.mode = (ki_mode)mode});
    ki_handler handler = {.on_add = on_event, .on_update = on_event, .on_release = on_release, .user = w};
    assert_non_null(ki_informer_add_handler(w->rig.informer, &handler, NULL));
}

/* Dispatches, in modes that need it, until the condition holds. */
static void pump_until(world *w, int mode, const atomic_bool *condition)
{
    for (int ms = 0; ms < AT_ONCE_MS && !*condition; ms++) {
        if (mode != KI_MODE_THREADS)
            (void)!ki_client_dispatch(w->rig.client, KI_BUDGET_NONE);
        if (!*condition)
            aside_pause(1);
    }
    assert_true(*condition);
}

/* Call it after the client was freed. */
static void world_fini(world *w)
{
    if (!w->frees_all)
        ki_informer_free(w->rig.informer);
    for (int ms = 0; ms < AT_ONCE_MS && w->releases == 0; ms++)
        aside_pause(1);
    assert_int_equal(w->releases, 1);
    assert_int_equal(local_source_released(w->rig.source), local_source_opened(w->rig.source));
    local_source_free(w->rig.source);
}

/* ---- tests --------------------------------------------------------------------------------------------- */

/* Nothing made with the client runs any more, and it is freed as usual. */
static void a_handler_frees_its_client(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS * MODES; i++) {
        int mode = i % MODES;
        before b = look();
        world w;
        world_init(&w, mode);
        w.victim = w.rig.client;
        assert_int_equal(ki_informer_start(w.rig.informer, NULL), 0);
        pump_until(&w, mode, &w.has_freed);
        assert_as(b);
        assert_int_equal(ki_informer_start(w.rig.informer, NULL), KI_ERR_STOPPED);
        assert_int_equal(w.releases, 0);
        world_fini(&w);
    }
}

/* In the mode of the program's own event loop, everything is done when the call returns. */
static void no_thread_is_needed_on_an_event_loop(void **state)
{
    (void)state;
    before b = look();
    world w;
    world_init(&w, KI_MODE_EVENT_LOOP);
    w.victim = w.rig.client;
    refused_threads = 1;
    assert_int_equal(ki_informer_start(w.rig.informer, NULL), 0);
    pump_until(&w, KI_MODE_EVENT_LOOP, &w.has_freed);
    assert_int_equal(process_descriptors(), b.descriptors);
    assert_int_equal(refused_threads, 1);
    refused_threads = 0;
    world_fini(&w);
}

static void a_wait_runs_the_callback_that_frees_the_client(void **state)
{
    (void)state;
    for (int mode = 0; mode < MODES; mode++) {
        before b = look();
        world w;
        world_init(&w, mode);
        w.victim = w.rig.client;
        assert_int_equal(ki_informer_start(w.rig.informer, NULL), 0);
        assert_int_equal(ki_informer_wait_for_version(w.rig.informer, ki_str_of("99999"), HANG_MS, NULL),
                         KI_ERR_STOPPED);
        assert_as(b);
        world_fini(&w);
    }
}

/* ---- a callback frees what is waited for --------------------------------------------------------------- */

typedef struct waited {
    local_source *source;
    ki_client *client;
    ki_informer *informer;
    ki_registration *registration;
    ki_factory *factory;
    ki_feed *feed;
    bool has_freed;
    int releases;
} waited;

static void free_all(waited *w)
{
    if (w->has_freed)
        return;
    w->has_freed = true;
    ki_client_free(w->client);
    ki_informer_free(w->informer);
    ki_factory_free(w->factory);
    ki_feed_free(w->feed);
}

static void on_waited_event(const ki_event *event, void *user)
{
    (void)event;
    free_all(user);
}

static int on_waited_change(const ki_change *change, void *user)
{
    (void)change;
    free_all(user);
    return 0;
}

static void on_waited_release(void *user)
{
    waited *w = user;
    w->releases++;
}

static int wait_for_version(waited *w)
{
    return ki_informer_wait_for_version(w->informer, ki_str_of("99999"), HANG_MS, NULL);
}

static int wait_for_handler(waited *w)
{
    return ki_registration_wait_for_sync(w->registration, HANG_MS, NULL);
}

static int wait_for_factory(waited *w)
{
    return ki_factory_wait_for_sync(w->factory, HANG_MS, NULL);
}

static int wait_for_feed(waited *w)
{
    return ki_feed_wait_for_sync(w->feed, HANG_MS, NULL);
}

static void waited_init(waited *w)
{
    *w = (waited){.source = local_source_new()};
    (void)local_source_put(w->source, "a", "x", 0);
    w->client = local_source_client(w->source, (ki_client_options){.mode = KI_MODE_EVENT_LOOP});
    ki_handler handler = {.on_add = on_waited_event, .on_release = on_waited_release, .user = w};
    w->informer = ki_informer_new(w->client, &KI_CORE_V1_PODS, NULL, NULL);
    w->registration = ki_informer_add_handler(w->informer, &handler, NULL);
    w->factory = ki_factory_new(w->client, NULL);
    assert_non_null(
        ki_informer_add_handler(ki_factory_informer(w->factory, &KI_CORE_V1_NODES, NULL), &handler, NULL));
    w->feed = ki_feed_new(
        w->client, &KI_CORE_V1_PODS,
        &(ki_feed_options){.on_change = on_waited_change, .on_release = on_waited_release, .user = w}, NULL);
    assert_true(w->registration != NULL && w->feed != NULL);
}

/* The callback runs on the thread that waits. After it, the waiting call must not use the freed object. */
static void a_wait_ends_when_a_callback_frees_what_is_waited_for(void **state)
{
    (void)state;
    int (*const waits[])(waited * w) = {wait_for_version, wait_for_handler, wait_for_factory, wait_for_feed};
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
        before b = look();
        waited w;
        waited_init(&w);
        assert_int_equal(ki_informer_start(w.informer, NULL), 0);
        assert_int_equal(ki_factory_start(w.factory, NULL), 0);
        assert_int_equal(ki_feed_start(w.feed, NULL), 0);
        assert_int_equal(waits[i](&w), KI_ERR_STOPPED);
        assert_true(w.has_freed);
        assert_int_equal(process_descriptors(), b.descriptors);
        assert_int_equal(w.releases, 3);
        assert_int_equal(local_source_released(w.source), local_source_opened(w.source));
        local_source_free(w.source);
    }
}

/* ---- other clients ------------------------------------------------------------------------------------- */

/* Neither waits for the other. */
static void two_clients_free_each_other(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        before b = look();
        world w[2];
        for (int k = 0; k < 2; k++)
            world_init(&w[k], KI_MODE_THREADS);
        for (int k = 0; k < 2; k++) {
            w[k].frees_all = true;
            w[k].partner = &w[1 - k];
            w[k].victim = w[1 - k].rig.client;
        }
        for (int k = 0; k < 2; k++)
            assert_int_equal(ki_informer_start(w[k].rig.informer, NULL), 0);
        for (int k = 0; k < 2; k++)
            pump_until(&w[k], KI_MODE_THREADS, &w[k].has_freed);
        assert_as(b);
        for (int k = 0; k < 2; k++)
            world_fini(&w[k]);
    }
}

/* The other client is synced or was never started. Every pair of modes is tested. */
static void a_handler_frees_another_client_and_its_own(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * MODES * MODES; i++) {
        int mode = i % MODES;
        before b = look();
        world w;
        world other;
        world_init(&w, mode);
        world_init(&other, i / MODES % MODES);
        if (i < MODES * MODES)
            local_rig_sync(&other.rig);
        w.frees_all = true;
        w.victim = other.rig.client;
        assert_int_equal(ki_informer_start(w.rig.informer, NULL), 0);
        pump_until(&w, mode, &w.has_freed);
        assert_as(b);
        world_fini(&w);
        world_fini(&other);
    }
}

static void a_client_is_freed_inside_a_read_section(void **state)
{
    (void)state;
    for (int mode = 0; mode < MODES; mode++) {
        before b = look();
        world w;
        world_init(&w, mode);
        local_rig_sync(&w.rig);
        ki_read_lock();
        ki_client_free(w.rig.client);
        ki_read_unlock();
        assert_as(b);
        world_fini(&w);
    }
}

static void an_informer_is_freed_inside_a_read_section_after_its_client(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * MODES; i++) {
        before b = look();
        world w;
        world_init(&w, i % MODES);
        local_rig_sync(&w.rig);
        if (i < MODES)
            ki_client_free(w.rig.client);
        ki_read_lock();
        if (i >= MODES)
            ki_client_free(w.rig.client);
        ki_informer_free(w.rig.informer);
        ki_read_unlock();
        assert_as(b);
        w.frees_all = true; /* the test has freed them */
        world_fini(&w);
    }
}

static int free_client(const ki_object *object, ki_index_emit *emit, void *user)
{
    _Atomic(ki_client *) *victim = user;
    (void)object;
    ki_client_free(atomic_exchange(victim, NULL));
    return ki_index_emit_value(emit, ki_str_of("all"));
}

/* The function runs under the locks of that store. */
static void the_index_function_of_another_store_frees_a_client(void **state)
{
    (void)state;
    before b = look();
    world w;
    world_init(&w, KI_MODE_THREADS);
    local_rig_sync(&w.rig);
    _Atomic(ki_client *) victim = w.rig.client;
    ki_store *store = ki_store_new(NULL, NULL);
    ki_object *object = store_object("a", "own", 1, "");
    assert_int_equal(ki_store_add_index(store, "all", free_client, &victim), 0);
    assert_int_equal(ki_store_put(store, object), 0);
    assert_as(b);
    (void)ki_object_unref(object);
    ki_store_free(store);
    world_fini(&w);
}

static int refuse(const ki_resource *resource, const char *ns, ki_list_watch *out_list_watch, ki_error *err,
                  void *user)
{
    (void)resource;
    (void)ns;
    (void)out_list_watch;
    (void)err;
    ki_client_free(*(ki_client **)user);
    return KI_ERR_INVALID;
}

static void a_source_frees_the_client_that_asks_it(void **state)
{
    (void)state;
    before b = look();
    ki_client *client = NULL;
    client = ki_client_new(&(ki_client_options){.source = refuse, .source_user = &client}, NULL);
    assert_non_null(client);
    assert_null(ki_informer_new(client, &KI_CORE_V1_PODS, NULL, NULL));
    assert_as(b);
}

static void the_client_is_freed_as_soon_as_the_system_has_a_thread(void **state)
{
    (void)state;
    before b = look();
    world w;
    world_init(&w, KI_MODE_THREADS);
    w.victim = w.rig.client;
    refused_threads = 3;
    assert_int_equal(ki_informer_start(w.rig.informer, NULL), 0);
    pump_until(&w, KI_MODE_THREADS, &w.has_freed);
    assert_as(b);
    assert_int_equal(refused_threads, 0);
    world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handler_frees_its_client),
        cmocka_unit_test(no_thread_is_needed_on_an_event_loop),
        cmocka_unit_test(a_wait_runs_the_callback_that_frees_the_client),
        cmocka_unit_test(a_wait_ends_when_a_callback_frees_what_is_waited_for),
        cmocka_unit_test(two_clients_free_each_other),
        cmocka_unit_test(a_handler_frees_another_client_and_its_own),
        cmocka_unit_test(a_client_is_freed_inside_a_read_section),
        cmocka_unit_test(an_informer_is_freed_inside_a_read_section_after_its_client),
        cmocka_unit_test(the_index_function_of_another_store_frees_a_client),
        cmocka_unit_test(a_source_frees_the_client_that_asks_it),
        cmocka_unit_test(the_client_is_freed_as_soon_as_the_system_has_a_thread),
    };
    ki_thread_refuse_by(is_refused, NULL);
    return RUN_TESTS(tests);
}
