/* SPDX-License-Identifier: Apache-2.0 */
/* Each kind of callback frees everything, in every order, and the client at every position in that order or
 * after the callback, while the main thread starts what is freed; with delays after unlocks
 * (support/delays.c). Most useful under the sanitizers. The threads are the library's: ki_thread_start(). */
#include <kinformer/factory.h>
#include <kinformer/feed.h>
#include <kinformer/resources.h>
#include <string.h>

#include "client/client.h"
#include "support/aside.h"
#include "support/delays.h"
#include "support/patience.h"
#include "support/process.h"
#include "support/reflector/local_source.h"
#include "support/unit.h"
#include "util/loop/loop.h"

typedef enum callback {
    ON_ADD,
    ON_UPDATE,
    ON_DELETE,
    ON_SYNCED,
    ON_BATCH_END,
    ON_RELEASE,
    FILTER,
    TRANSFORM,
    ON_WATCH_ERROR,
    ON_STATUS,
    ON_CHANGE,
    POSTED,
    INDEX,
    LOG,
    CALLBACKS
} callback;

enum { THINGS = 4, ORDERS = 24, MODES = 3 };

/* When the client is freed: before the n-th other object, after all of them, or later by the main thread. */
enum { CLIENT_LAST = THINGS, CLIENT_AFTERWARDS, CLIENT_PLACES };

/* At least the number of places where a call can be held up. */
enum { PLACES = 24 };

/* The first list has three changes: two objects and its end. */
enum { LISTED = 3 };

typedef struct world {
    local_source *source;
    ki_client *client;
    ki_informer *informer; /* has all the callbacks */
    ki_informer *other;
    ki_factory *factory;
    ki_feed *feed;
    ki_registration *registration;
    callback where;
    int order[THINGS];
    int client_place;
    atomic_bool is_armed;
    atomic_bool has_begun; /* freeing has begun */
    atomic_bool is_freed;
    int place_after_index; /* where the index function's caller is held up after the frees; 0: nowhere */
    int place_of_stop;     /* where the handler that stops another informer is held up, once; 0: nowhere */
    int threads;           /* at the start of the round, like the next field */
    int descriptors;
    atomic_int handler_releases;
    atomic_int feed_releases;
    atomic_int changes; /* received by the feed */
    atomic_int listing; /* how often this phase has been reported, like the next field */
    atomic_int watching;
} world;

/* ---- what callbacks do ------------------------------------------------------------------------------- */

static void free_thing(world *w, int thing)
{
    switch (thing) {
    case 0:
        ki_informer_free(w->informer);
        break;
    case 1:
        ki_informer_free(w->other);
        break;
    case 2:
        ki_factory_free(w->factory);
        break;
    default:
        ki_feed_free(w->feed);
        break;
    }
}

/* Only the first call does this: several callbacks may run at the same time, and repeatedly. */
static void reenter(world *w, callback where)
{
    if (w->where != where || !w->is_armed || atomic_exchange(&w->has_begun, true))
        return;
    for (int i = 0; i <= THINGS; i++) {
        if (i == w->client_place)
            ki_client_free(w->client);
        if (i < THINGS)
            free_thing(w, w->order[i]);
    }
    w->is_freed = true;
}

static void on_add(const ki_event *event, void *user)
{
    (void)event;
    reenter(user, ON_ADD);
}

static void on_update(const ki_event *event, void *user)
{
    (void)event;
    reenter(user, ON_UPDATE);
}

static void on_delete(const ki_event *event, void *user)
{
    (void)event;
    reenter(user, ON_DELETE);
}

static void on_synced(void *user)
{
    reenter(user, ON_SYNCED);
}

static void on_batch_end(void *user)
{
    reenter(user, ON_BATCH_END);
}

static void on_release(void *user)
{
    world *w = user;
    reenter(w, ON_RELEASE);
    w->handler_releases++;
}

static int filter(const ki_object *object, void *user)
{
    (void)object;
    reenter(user, FILTER);
    return 1;
}

static int transform(const ki_object **object, void *user)
{
    (void)object;
    reenter(user, TRANSFORM);
    return 0;
}

static void on_watch_error(ki_informer *informer, const ki_informer_error *error, void *user)
{
    (void)informer;
    (void)error;
    reenter(user, ON_WATCH_ERROR);
}

static void on_status(ki_informer *informer, const ki_informer_status *status, void *user)
{
    world *w = user;
    (void)informer;
    reenter(w, ON_STATUS);
    w->listing += status->phase == KI_PHASE_LISTING && !status->has_synced;
    w->watching += status->phase == KI_PHASE_WATCHING && status->has_synced;
}

/* Returns 1 when the feed has to wait for ki_feed_resume(). */
static int on_change(const ki_change *change, void *user)
{
    world *w = user;
    (void)change;
    reenter(w, ON_CHANGE);
    w->changes++;
    return !w->is_armed;
}

static void on_feed_release(void *user)
{
    world *w = user;
    w->feed_releases++;
}

static void posted(void *user)
{
    reenter(user, POSTED);
}

static int index_function(const ki_object *object, ki_index_emit *emit, void *user)
{
    world *w = user;
    (void)object;
    if (w->place_after_index > 0 && w->is_freed) {
        delays_hold_up(w->place_after_index);
        return KI_ERR_INVALID; /* the error is logged */
    }
    reenter(w, INDEX);
    return ki_index_emit_value(emit, ki_str_of("all"));
}

/* Runs on the library's threads or inside ki_client_dispatch(). */
static void on_log(const ki_log_record *record, void *user)
{
    (void)record;
    if (ki_loop_is_current(NULL))
        reenter(user, LOG);
}

/* ---- a world ----------------------------------------------------------------------------------------- */

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

static void add_handler(world *w)
{
    ki_handler handler = {.on_add = on_add,
                          .on_update = on_update,
                          .on_delete = on_delete,
                          .on_synced = on_synced,
                          .on_batch_end = on_batch_end,
                          .on_release = on_release,
                          .filter = filter,
                          .user = w};
    w->registration = ki_informer_add_handler(w->informer, &handler, NULL);
    assert_non_null(w->registration);
}

static void add_callbacks(world *w)
{
    assert_int_equal(ki_informer_set_transform(w->informer, transform, w), 0);
    assert_int_equal(ki_informer_set_error_handler(w->informer, on_watch_error, w), 0);
    assert_int_equal(ki_informer_set_status_handler(w->informer, on_status, w), 0);
    assert_int_equal(ki_informer_add_index(w->informer, "all", index_function, w), 0);
    add_handler(w);
}

static void world_init_without_callbacks(world *w, int mode)
{
    w->threads = process_idle_threads();
    w->descriptors = process_descriptors();
    w->source = local_source_new();
    (void)local_source_put(w->source, "a", "x", 0);
    (void)local_source_put(w->source, "a", "y", 0);
    w->client = local_source_client(
        w->source,
        (ki_client_options){.mode = (ki_mode)mode, .log = on_log, .log_user = w, .log_level = KI_LOG_DEBUG});
    ki_informer_options options = {.backoff_ms = 1};
    w->informer = ki_informer_new(w->client, &KI_CORE_V1_PODS, &options, NULL);
    w->other = ki_informer_new(w->client, &KI_CORE_V1_PODS, &options, NULL);
    w->factory = ki_factory_new(w->client, NULL);
    w->feed = ki_feed_new(
        w->client, &KI_CORE_V1_PODS,
        &(ki_feed_options){.on_change = on_change, .on_release = on_feed_release, .user = w}, NULL);
    assert_true(w->informer != NULL && w->other != NULL && w->factory != NULL && w->feed != NULL);
    assert_non_null(ki_factory_informer(w->factory, &KI_CORE_V1_NODES, NULL));
}

static void world_init(world *w, int mode)
{
    world_init_without_callbacks(w, mode);
    add_callbacks(w);
}

/* The object with the callbacks is started last, because they free everything,
 * perhaps before the start returns. */
static void world_start(world *w)
{
    bool is_feed_last = w->where == ON_CHANGE;
    assert_int_equal(ki_informer_start(w->other, NULL), 0);
    assert_int_equal(ki_factory_start(w->factory, NULL), 0);
    assert_int_equal(is_feed_last ? ki_informer_start(w->informer, NULL) : ki_feed_start(w->feed, NULL), 0);
    w->is_armed = true;
    int rc = is_feed_last ? ki_feed_start(w->feed, NULL) : ki_informer_start(w->informer, NULL);
    assert_true(rc == 0 || (rc == KI_ERR_STOPPED && w->has_begun));
}

/* Causes the callback, if it does not happen by itself. */
static void provoke(world *w, int i)
{
    if (w->where == ON_UPDATE || (w->where == ON_DELETE && i % 2 == 0))
        (void)local_source_put(w->source, "a", "x", i + 1);
    else if (w->where == ON_DELETE)
        (void)local_source_delete(w->source, "a", "x");
    else if (w->where == ON_WATCH_ERROR || w->where == LOG)
        local_source_cut(w->source);
    else if (w->where == ON_RELEASE && i == 0)
        ki_registration_remove(w->registration);
    else if (w->where == POSTED && i == 0)
        assert_int_equal(ki_client_post(w->client, posted, w), 0);
}

/* Does what a program in this mode would do. */
static void live(world *w, int mode)
{
    if (mode != KI_MODE_THREADS)
        assert_true(ki_client_dispatch(w->client, KI_BUDGET_NONE) >= 0);
    if (!w->is_freed)
        aside_pause(1);
}

/* Waits until the callback has freed everything, and frees the client. */
static void world_end(world *w, int mode)
{
    for (int i = 0; i < AT_ONCE_MS && !w->is_freed; i++) {
        provoke(w, i);
        live(w, mode);
    }
    if (!w->is_freed)
        fail_msg("callback %d, mode %d: it is not called, or hangs", (int)w->where, mode);
    if (w->client_place == CLIENT_AFTERWARDS)
        ki_client_free(w->client);
    assert_true(process_has_threads(w->threads));
    assert_int_equal(process_descriptors(), w->descriptors);
    assert_int_equal(w->handler_releases, 1);
    assert_int_equal(w->feed_releases, 1);
    assert_int_equal(local_source_released(w->source), local_source_opened(w->source));
    local_source_free(w->source);
}

static void run_round(callback where, int order, int mode, int place)
{
    world w = {.where = where, .client_place = place};
    order_of(order, w.order);
    world_init(&w, mode);
    world_start(&w);
    world_end(&w, mode);
}

static void every_callback_frees_everything_in_every_order(void **state)
{
    (void)state;
    for (int order = 0; order < ORDERS; order++)
        for (int where = 0; where < CALLBACKS; where++)
            run_round((callback)where, order, order % MODES, (order / MODES + where) % CLIENT_PLACES);
}

/* A handler may free its informer before the call that started the informer has returned. */
static void a_start_is_overtaken_at_every_place(void **state)
{
    (void)state;
    for (int place = 1; place <= PLACES; place++) {
        world w = {.where = ON_ADD, .client_place = place % CLIENT_PLACES, .is_armed = true};
        order_of(0, w.order);
        world_init(&w, KI_MODE_THREADS);
        delays_hold_up(place);
        assert_int_equal(ki_informer_start(w.informer, NULL), 0);
        delays_hold_up(0);
        world_end(&w, KI_MODE_THREADS);
    }
}

/* Runs on io until everything is freed, so that dispatch always has changes to apply. */
static void drive_informer(void *user)
{
    world *w = user;
    if (w->has_begun)
        return;
    (void)local_source_put(w->source, "a", "x", 1);
    (void)!ki_client_post(w->client, drive_informer, w);
}

/* A handler may free its informer before the call that added the handler has returned. */
static void adding_a_handler_is_overtaken_at_every_place(void **state)
{
    (void)state;
    for (int place = 1; place <= PLACES; place++) {
        world w = {.where = ON_SYNCED, .client_place = place % CLIENT_PLACES, .is_armed = true};
        order_of(0, w.order);
        world_init_without_callbacks(&w, KI_MODE_THREADS);
        assert_int_equal(ki_informer_start(w.informer, NULL), 0);
        assert_int_equal(ki_client_post(w.client, drive_informer, &w), 0);
        delays_hold_up(place);
        add_handler(&w);
        delays_hold_up(0);
        world_end(&w, KI_MODE_THREADS);
    }
}

/* Two informers watch, and have nothing else to report. */
static void begin_watching(world *w, callback where, int place)
{
    *w = (world){.where = where, .client_place = place % CLIENT_PLACES};
    order_of(place % ORDERS, w->order);
    world_init_without_callbacks(w, KI_MODE_THREADS);
    add_handler(w);
    assert_int_equal(ki_informer_set_status_handler(w->informer, on_status, w), 0);
    ki_informer *made = ki_factory_informer(w->factory, &KI_CORE_V1_NODES, NULL);
    assert_int_equal(ki_informer_set_status_handler(made, on_status, w), 0);
    assert_int_equal(ki_informer_start(w->informer, NULL), 0);
    assert_int_equal(ki_factory_start(w->factory, NULL), 0);
    while (w->watching < 2)
        aside_pause(1);
}

/* The status handler is called for a stop before the call that requested the stop has returned. */
static void a_stop_is_overtaken_at_every_place(void **state)
{
    (void)state;
    for (int place = 1; place <= PLACES; place++) {
        world w;
        begin_watching(&w, ON_STATUS, place);
        w.is_armed = true;
        delays_hold_up(place);
        ki_informer_stop(w.informer);
        delays_hold_up(0);
        world_end(&w, KI_MODE_THREADS);
    }
}

static void stopping_a_factory_is_overtaken_at_every_place(void **state)
{
    (void)state;
    for (int place = 1; place <= PLACES; place++) {
        world w;
        begin_watching(&w, ON_STATUS, place);
        w.is_armed = true;
        delays_hold_up(place);
        ki_factory_stop(w.factory);
        delays_hold_up(0);
        world_end(&w, KI_MODE_THREADS);
    }
}

static void stop_the_first(const ki_event *event, void *user)
{
    world *w = user;
    (void)event;
    if (w->place_of_stop == 0)
        return;
    delays_hold_up(w->place_of_stop);
    w->place_of_stop = 0;
    ki_informer_stop(w->informer);
    delays_hold_up(0);
}

/* In a handler, a stop does not wait, but it uses the informer until it returns. */
static void a_stop_in_a_handler_is_overtaken_at_every_place(void **state)
{
    (void)state;
    for (int place = 1; place <= PLACES; place++) {
        world w;
        begin_watching(&w, ON_STATUS, place);
        w.place_of_stop = place;
        w.is_armed = true;
        assert_non_null(
            ki_informer_add_handler(w.other, &(ki_handler){.on_add = stop_the_first, .user = &w}, NULL));
        int rc = ki_informer_start(w.other, NULL);
        assert_true(rc == 0 || (rc == KI_ERR_STOPPED && w.has_begun));
        world_end(&w, KI_MODE_THREADS);
    }
}

/* Runs on io until everything is freed: each call makes the feed look at its requests again. */
static void drive_feed(void *user)
{
    world *w = user;
    if (w->has_begun)
        return;
    ki_feed_retry_now(w->feed);
    (void)!ki_client_post(w->client, drive_feed, w);
}

/* The feed continues as soon as there is space, and calls back. */
static void reporting_space_is_overtaken_at_every_place(void **state)
{
    (void)state;
    for (int place = 1; place <= PLACES; place++) {
        world w;
        begin_watching(&w, ON_CHANGE, place);
        assert_int_equal(ki_feed_start(w.feed, NULL), 0);
        while (w.changes < LISTED)
            aside_pause(1);
        (void)local_source_put(w.source, "a", "x", 1);
        assert_int_equal(ki_client_post(w.client, drive_feed, &w), 0);
        w.is_armed = true;
        delays_hold_up(place);
        ki_feed_resume(w.feed);
        delays_hold_up(0);
        world_end(&w, KI_MODE_THREADS);
    }
}

static void wait_in_vain(void *user)
{
    world *w = user;
    (void)!ki_factory_wait_for_sync(w->factory, HANG_MS, NULL);
}

/* Another call is waiting for the informer; the informer is freed when that call has ended. */
static void a_removal_is_overtaken_at_every_place(void **state)
{
    (void)state;
    for (int place = 1; place <= PLACES; place++) {
        world w;
        aside waiting;
        begin_watching(&w, ON_STATUS, place);
        local_source_set_silent(w.source, 1);
        ki_informer *late = ki_factory_informer(w.factory, &KI_CORE_V1_SERVICES, NULL);
        assert_int_equal(ki_informer_set_status_handler(late, on_status, &w), 0);
        assert_int_equal(ki_factory_start(w.factory, NULL), 0);
        aside_start(&waiting, wait_in_vain, &w);
        while (w.client->inside == 0 || w.listing < 3)
            aside_pause(1);
        w.is_armed = true;
        delays_hold_up(place);
        assert_int_equal(ki_factory_remove(w.factory, late), 0);
        delays_hold_up(0);
        aside_join(&waiting);
        world_end(&w, KI_MODE_THREADS);
    }
}

static void free_in_index(world *w, bool is_of_informer)
{
    ki_store *store = (ki_store *)ki_informer_store(w->informer);
    w->is_armed = true;
    assert_int_equal(is_of_informer ? ki_informer_add_index(w->informer, "all", index_function, w)
                                    : ki_store_add_index(store, "all", index_function, w),
                     0);
    delays_hold_up(0);
    world_end(w, KI_MODE_THREADS);
}

/* Adding an index to a store with objects runs the index function. It frees everything at the first object
 * and fails at the second. */
static void adding_an_index_is_overtaken_at_every_place(void **state)
{
    (void)state;
    for (int place = 1; place <= PLACES; place++) {
        world w;
        begin_watching(&w, INDEX, place);
        w.place_after_index = (place + 1) / 2;
        free_in_index(&w, place % 2 == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_callback_frees_everything_in_every_order),
        cmocka_unit_test(a_start_is_overtaken_at_every_place),
        cmocka_unit_test(adding_a_handler_is_overtaken_at_every_place),
        cmocka_unit_test(a_stop_is_overtaken_at_every_place),
        cmocka_unit_test(stopping_a_factory_is_overtaken_at_every_place),
        cmocka_unit_test(a_stop_in_a_handler_is_overtaken_at_every_place),
        cmocka_unit_test(reporting_space_is_overtaken_at_every_place),
        cmocka_unit_test(a_removal_is_overtaken_at_every_place),
        cmocka_unit_test(adding_an_index_is_overtaken_at_every_place),
    };
    return RUN_TESTS(tests);
}
