/* SPDX-License-Identifier: Apache-2.0 */
/* A client and the objects created with it, freed in every order: no call waits forever, nothing leaks, and
 * objects freed after the client do no harm. The threads are the library's and those that support/aside.c
 * starts with ki_thread_start(). */
#include <kinformer/factory.h>
#include <kinformer/feed.h>
#include <kinformer/resources.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/aside.h"
#include "support/informer/informer_rig.h"
#include "support/patience.h"
#include "support/process.h"
#include "support/unit.h"

enum { THINGS = 4, ORDERS = 24, MODES = 3 };

typedef struct world {
    local_source *source;
    ki_client *client;
    ki_informer *informer;
    ki_factory *factory; /* it has its own informer */
    ki_feed *feed;
    ki_store *destination; /* the destination of the feed */
    heard what;            /* events of the informer */
    bool frees_factory;    /* on_release of the feed frees the factory */
    int releases;          /* calls of the feed's on_release */
} world;

/* ---- a client with an informer, a factory and a feed ------------------------------------------------- */

static void count_release(void *user)
{
    world *w = user;
    if (w->frees_factory)
        ki_factory_free(w->factory);
    w->releases++;
}

static void world_init(world *w, int mode)
{
    *w = (world){.source = local_source_new(), .destination = ki_store_new(NULL, NULL)};
    heard_init(&w->what);
    (void)local_source_put(w->source, "a", "n0", 0);
    w->client = local_source_client(w->source, (ki_client_options){.mode = (ki_mode)mode});
    w->informer = ki_informer_new(w->client, &KI_CORE_V1_PODS, NULL, NULL);
    w->factory = ki_factory_new(w->client, NULL);
    w->feed = ki_feed_new(w->client, &KI_CORE_V1_PODS,
                          &(ki_feed_options){.store = w->destination, .on_release = count_release, .user = w},
                          NULL);
    assert_true(w->informer != NULL && w->factory != NULL && w->feed != NULL);
    assert_non_null(ki_factory_informer(w->factory, &KI_CORE_V1_NODES, NULL));
    ki_handler handler = heard_handler(&w->what);
    assert_non_null(ki_informer_add_handler(w->informer, &handler, NULL));
}

static void world_start(world *w)
{
    assert_int_equal(ki_informer_start(w->informer, NULL), 0);
    assert_int_equal(ki_feed_start(w->feed, NULL), 0);
    assert_int_equal(ki_factory_start(w->factory, NULL), 0);
    assert_int_equal(ki_informer_wait_for_sync(w->informer, HANG_MS, NULL), 0);
    assert_int_equal(ki_feed_wait_for_sync(w->feed, HANG_MS, NULL), 0);
    assert_int_equal(ki_factory_wait_for_sync(w->factory, HANG_MS, NULL), 0);
}

static void world_free(world *w, int thing)
{
    switch (thing) {
    case 0:
        ki_client_free(w->client);
        break;
    case 1:
        ki_informer_free(w->informer);
        break;
    case 2:
        ki_factory_free(w->factory);
        break;
    default:
        ki_feed_free(w->feed);
        break;
    }
}

/* Called after everything was freed. */
static void world_fini(world *w)
{
    assert_int_equal(local_source_released(w->source), local_source_opened(w->source));
    assert_int_equal(w->what.releases, 1);
    assert_int_equal(w->what.wrongs, 0);
    assert_int_equal(w->releases, 1);
    local_source_free(w->source);
    ki_store_free(w->destination);
    heard_fini(&w->what);
}

/* The n-th permutation of the four objects. */
static void order_of(int n, int out[THINGS])
{
    int left[THINGS] = {0, 1, 2, 3};
    for (int i = 0, count = THINGS; count > 0; i++, count--) {
        int at = n % count;
        n /= count;
        out[i] = left[at];
        memmove(&left[at], &left[at + 1], (size_t)(count - at - 1) * sizeof(left[0]));
    }
}

/* ---- on one thread ----------------------------------------------------------------------------------- */

static void free_in_order(int mode, int n, bool is_started)
{
    world w;
    int order[THINGS];
    int before = process_descriptors();
    int threads = process_idle_threads();
    world_init(&w, mode);
    if (is_started)
        world_start(&w);
    order_of(n, order);
    for (int i = 0; i < THINGS; i++) {
        world_free(&w, order[i]);
        if (order[i] == 0) {
            assert_int_equal(process_descriptors(), before);
            assert_true(process_has_threads(threads));
        }
    }
    world_fini(&w);
    assert_int_equal(process_descriptors(), before);
}

static void every_order_of_frees_works(void **state)
{
    (void)state;
    for (int n = 0; n < ORDERS; n++)
        for (int mode = 0; mode < MODES; mode++) {
            free_in_order(mode, n, true);
            free_in_order(mode, n, false);
        }
}

static void nothing_begins_once_the_client_is_freed(void **state)
{
    (void)state;
    for (int mode = 0; mode < MODES; mode++) {
        world w;
        ki_error err = {0};
        world_init(&w, mode);
        world_start(&w);
        ki_client_free(w.client);
        assert_int_equal(ki_informer_start(w.informer, &err), KI_ERR_STOPPED);
        assert_string_equal(err.message, "the client has been freed");
        assert_int_equal(ki_feed_start(w.feed, NULL), KI_ERR_STOPPED);
        assert_int_equal(ki_factory_start(w.factory, NULL), KI_ERR_STOPPED);
        assert_null(ki_factory_informer(w.factory, &KI_CORE_V1_SERVICES, NULL));
        assert_int_equal(ki_informer_wait_for_version(w.informer, ki_str_of("99999"), HANG_MS, &err),
                         KI_ERR_STOPPED);
        ki_informer_stop(w.informer);
        ki_factory_stop(w.factory);
        ki_informer_retry_now(w.informer);
        for (int thing = 1; thing < THINGS; thing++)
            world_free(&w, thing);
        world_fini(&w);
    }
}

static void a_factory_without_informers_outlives_its_client(void **state)
{
    (void)state;
    ki_error err = {0};
    ki_client *client = ki_client_new(&(ki_client_options){.no_cluster = 1}, NULL);
    ki_factory *factory = ki_factory_new(client, NULL);
    assert_non_null(factory);
    ki_client_free(client);
    assert_null(ki_factory_informer(factory, &KI_CORE_V1_PODS, NULL));
    assert_int_equal(ki_factory_start(factory, &err), KI_ERR_STOPPED);
    assert_string_equal(err.message, "pods: the client has been freed");
    assert_int_equal(ki_factory_wait_for_sync(factory, HANG_MS, NULL), 0);
    ki_factory_free(factory);
}

/* A cache that is no longer updated can be read until it is freed. */
static void a_store_can_be_read_after_the_client_was_freed(void **state)
{
    (void)state;
    world w;
    ki_object_list list = {0};
    world_init(&w, KI_MODE_THREADS);
    world_start(&w);
    ki_client_free(w.client);
    ki_object *object = ki_store_get(ki_informer_store(w.informer), KI_STR("a"), KI_STR("n0"));
    assert_non_null(object);
    (void)ki_object_unref(object);
    assert_int_equal(ki_store_list(ki_informer_store(w.informer), &list), 0);
    assert_int_equal(list.count, 1);
    ki_object_list_fini(&list);
    assert_true(ki_informer_has_synced(w.informer));
    for (int thing = 1; thing < THINGS; thing++)
        world_free(&w, thing);
    world_fini(&w);
}

/* Once the client is freed, the call that frees the informer also releases its handlers. */
static void a_handler_can_be_added_and_removed_after_the_client_was_freed(void **state)
{
    (void)state;
    world w;
    heard late;
    world_init(&w, KI_MODE_THREADS);
    world_start(&w);
    heard_init(&late);
    ki_client_free(w.client);
    ki_handler handler = heard_handler(&late);
    ki_registration *registration = ki_informer_add_handler(w.informer, &handler, NULL);
    assert_non_null(registration);
    assert_int_equal(ki_registration_remove_and_wait(registration), 0);
    assert_int_equal(late.releases, 1);
    assert_int_equal(heard_events(&late), 0);
    for (int thing = 1; thing < THINGS; thing++)
        world_free(&w, thing);
    world_fini(&w);
    heard_fini(&late);
}

/* ---- from callbacks ---------------------------------------------------------------------------------- */

static void free_the_rest(heard *what, const ki_event *event)
{
    world *w = what->user;
    (void)event;
    world_free(w, 2);
    world_free(w, 3);
}

/* on_release runs on the thread that frees the informer, as no other thread is left. */
static void the_rest_can_be_freed_from_the_last_callback(void **state)
{
    (void)state;
    for (int mode = 0; mode < MODES; mode++) {
        world w;
        world_init(&w, mode);
        world_start(&w);
        w.what.user = &w;
        w.what.in_release = free_the_rest;
        ki_client_free(w.client);
        ki_informer_free(w.informer);
        world_fini(&w);
    }
}

static void free_another(heard *what, const ki_event *event)
{
    world *other = what->user;
    (void)event;
    what->in_event = NULL;
    for (int thing = 1; thing < THINGS; thing++)
        world_free(other, thing);
}

/* A callback may not wait, but here there is nothing to wait for. */
static void objects_of_a_freed_client_can_be_freed_from_a_callback_of_another(void **state)
{
    (void)state;
    for (int mode = 0; mode < MODES; mode++) {
        world w;
        world other;
        world_init(&other, mode);
        world_start(&other);
        ki_client_free(other.client);
        world_init(&w, KI_MODE_THREADS);
        w.what.user = &other;
        w.what.in_event = free_another;
        world_start(&w);
        assert_true(heard_wait(&w.what, &w.what.synced, 1));
        world_fini(&other);
        for (int thing = 0; thing < THINGS; thing++)
            world_free(&w, thing);
        world_fini(&w);
    }
}

/* ---- other threads ----------------------------------------------------------------------------------- */

static void wait_in_vain(void *user)
{
    world *w = user;
    w->releases +=
        ki_informer_wait_for_version(w->informer, ki_str_of("99999"), HANG_MS, NULL) != KI_ERR_STOPPED;
}

static void a_waiting_call_reports_that_the_client_is_freed(void **state)
{
    (void)state;
    world w;
    aside waiter = {0};
    world_init(&w, KI_MODE_THREADS);
    world_start(&w);
    aside_start(&waiter, wait_in_vain, &w);
    aside_pause(20);
    ki_client_free(w.client);
    assert_true(aside_ends_within(&waiter, AT_ONCE_MS));
    aside_join(&waiter);
    for (int thing = 1; thing < THINGS; thing++)
        world_free(&w, thing);
    world_fini(&w);
}

/* ---- at exit ----------------------------------------------------------------------------------------- */

static world exiting;

static void free_at_exit(void)
{
    for (int thing = 0; thing < THINGS; thing++)
        world_free(&exiting, thing);
}

static void frees_work_in_exit_handlers(void **state)
{
    (void)state;
    for (int is_freed = 0; is_freed < 2; is_freed++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            (void)alarm(WATCHDOG_SECONDS);
            world_init(&exiting, KI_MODE_THREADS);
            world_start(&exiting);
            if (!is_freed)
                _exit(0); /* leaving everything unfreed must also work; leaks are not checked */
            if (atexit(free_at_exit) != 0)
                _exit(1);
            exit(0);
        }
        int status = 0;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

static void count_release_of_other(void *user)
{
    ++*(int *)user;
}

/* The free waits only for the feed, which is gone as soon as the callback has returned; the factory must
 * still be stopped and released. */
static void objects_that_the_last_callback_of_a_closed_client_frees_are_gone_too(void **state)
{
    (void)state;
    for (int mode = 0; mode < MODES; mode++) {
        world w;
        int releases = 0;
        world_init(&w, mode);
        w.frees_factory = true;
        ki_informer *other = ki_factory_informer(w.factory, &KI_CORE_V1_NODES, NULL);
        assert_non_null(ki_informer_add_handler(
            other, &(ki_handler){.on_release = count_release_of_other, .user = &releases}, NULL));
        world_start(&w);
        ki_client_free(w.client);
        ki_informer_free(w.informer);
        ki_feed_free(w.feed);
        assert_int_equal(releases, 1);
        world_fini(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order_of_frees_works),
        cmocka_unit_test(nothing_begins_once_the_client_is_freed),
        cmocka_unit_test(a_factory_without_informers_outlives_its_client),
        cmocka_unit_test(a_store_can_be_read_after_the_client_was_freed),
        cmocka_unit_test(a_handler_can_be_added_and_removed_after_the_client_was_freed),
        cmocka_unit_test(the_rest_can_be_freed_from_the_last_callback),
        cmocka_unit_test(objects_of_a_freed_client_can_be_freed_from_a_callback_of_another),
        cmocka_unit_test(objects_that_the_last_callback_of_a_closed_client_frees_are_gone_too),
        cmocka_unit_test(a_waiting_call_reports_that_the_client_is_freed),
        cmocka_unit_test(frees_work_in_exit_handlers),
    };
    return RUN_TESTS(tests);
}
