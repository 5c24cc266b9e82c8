/* SPDX-License-Identifier: Apache-2.0 */
/* Every callback frees everything, in every order, the client at every place in it or after the callback,
 * while the main thread starts what is freed; with delays wherever a lock is given away (support/delays.c).
 * Worst under the sanitizers. The threads are the library's: ki_thread_start(). */
#include <kinformer/factory.h>
#include <kinformer/feed.h>
#include <kinformer/resources.h>
#include <string.h>

#include "client/client.h"
#include "support/aside.h"
#include "support/delays.h"
#include "support/local_source.h"
#include "support/patience.h"
#include "support/process.h"
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

/* When the client is freed: before the n-th of the others, after all of them, or by the main thread. */
enum { CLIENT_LAST = THINGS, CLIENT_AFTERWARDS, CLIENT_PLACES };

/* Where a call can be held up, and some more. */
enum { PLACES = 24 };

/* The changes of the first list: two objects, and its end. */
enum { LISTED = 3 };

typedef struct world {
    local_source *source;
    ki_client *client;
    ki_informer *informer; /* with all the callbacks */
    ki_informer *other;
    ki_factory *factory;
    ki_feed *feed;
    ki_registration *registration;
    callback where;
    int order[THINGS];
    int client_place;
    atomic_bool is_armed;
    atomic_bool has_begun; /* to free */
    atomic_bool is_freed;
    int place_after_index; /* where its caller is held up when everything has been freed; 0: nowhere */
    int place_of_stop;     /* likewise, the handler that stops another informer, once */
    int threads;           /* before it began, as the next */
    int descriptors;
    atomic_int handler_releases;
    atomic_int feed_releases;
    atomic_int changes; /* of the feed */
    atomic_int listing; /* how often this has been reported, as the next */
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

/* The first time only: callbacks of several kinds may run at once, and again. */
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

/* Returns 1 when the feed has to wait for ki_feed_room(). */
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
        return KI_ERR_INVALID; /* which is logged */
    }
    reenter(w, INDEX);
    return ki_index_emit_value(emit, ki_str_of("all"));
}

/* On threads of the library's, or inside ki_client_dispatch(). */
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
    w->client = ki_client_new(&(ki_client_options){.mode = (ki_mode)mode,
                                                   .source = local_source_open,
                                                   .source_user = w->source,
                                                   .log = on_log,
                                                   .log_user = w,
                                                   .log_level = KI_LOG_DEBUG},
                              NULL);
    assert_non_null(w->client);
    local_source_attach(w->source, w->client);
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

/* What has the callbacks comes last: they free all of it, perhaps before the start has returned. */
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

/* Has the callback called that does not come by itself. */
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
    else if (w->where == POSTED)
        assert_int_equal(ki_client_post(w->client, posted, w), 0);
}

/* As the program of the mode would. */
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
        fail_msg("callback %d, mode %d: it does not come, or hangs", (int)w->where, mode);
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

/* A handler may free its informer before the call that has started it is over. */
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

/* On io, until everything is freed: dispatch has changes to apply all the time. */
static void drive_informer(void *user)
{
    world *w = user;
    if (w->has_begun)
        return;
    (void)local_source_put(w->source, "a", "x", 1);
    (void)!ki_client_post(w->client, drive_informer, w);
}

/* And before the call that has added it is. */
static void the_adding_of_a_handler_is_overtaken_at_every_place(void **state)
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

/* Two informers are watching, and have nothing else to report. */
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

/* A status handler hears of a stop while the call that has asked for it goes on. */
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

static void the_stop_of_a_factory_is_overtaken_at_every_place(void **state)
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

/* In a handler it does not wait, but it has the informer until it returns. */
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

/* On io, until something there has freed everything: the feed looks at what it was asked for. */
static void drive_feed(void *user)
{
    world *w = user;
    if (w->has_begun)
        return;
    ki_feed_retry_now(w->feed);
    (void)!ki_client_post(w->client, drive_feed, w);
}

/* The feed goes on as soon as there is room, and calls back. */
static void the_report_of_room_is_overtaken_at_every_place(void **state)
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
        ki_feed_room(w.feed);
        delays_hold_up(0);
        world_end(&w, KI_MODE_THREADS);
    }
}

static void wait_in_vain(void *user)
{
    world *w = user;
    (void)!ki_factory_wait_for_sync(w->factory, HANG_MS, NULL);
}

/* The informer is in use by another call that waits for it, and is freed when that has ended. */
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

/* The call that adds an index to a filled store runs its function, which frees everything at the first object
 * and fails at the second. */
static void the_adding_of_an_index_is_overtaken_at_every_place(void **state)
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
        cmocka_unit_test(the_adding_of_a_handler_is_overtaken_at_every_place),
        cmocka_unit_test(a_stop_is_overtaken_at_every_place),
        cmocka_unit_test(the_stop_of_a_factory_is_overtaken_at_every_place),
        cmocka_unit_test(a_stop_in_a_handler_is_overtaken_at_every_place),
        cmocka_unit_test(the_report_of_room_is_overtaken_at_every_place),
        cmocka_unit_test(a_removal_is_overtaken_at_every_place),
        cmocka_unit_test(the_adding_of_an_index_is_overtaken_at_every_place),
    };
    return RUN_TESTS(tests);
}
