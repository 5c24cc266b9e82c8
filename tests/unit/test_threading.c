/* SPDX-License-Identifier: Apache-2.0 */
/* The table "call × thread" of docs/threading.md, cell by cell, in each mode. A cell that deadlocks is
 * ended by the alarm, which fails the test. The threads are the library's: its loops start them with
 * ki_thread_start(). */
#include <kinformer/delta_queue.h>
#include <kinformer/factory.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/aside.h"
#include "support/informer_rig.h"
#include "support/unit.h"

enum { WAIT_MS = 10 * 1000, WATCHDOG_SECONDS = 240 };

/* ---- where a call is made ---------------------------------------------------------------------------- */

#define PLACES(X)                                                                                            \
    X(OUTSIDE, COLUMN_OUTSIDE)                                                                               \
    X(OWN_HANDLER, COLUMN_OWN)                                                                               \
    X(HANDLER_OF_THE_SAME_INFORMER, COLUMN_ANOTHER)                                                          \
    X(HANDLER_OF_ANOTHER_INFORMER, COLUMN_ANOTHER)                                                           \
    X(FILTER, COLUMN_ANOTHER)                                                                                \
    X(ON_RELEASE, COLUMN_ANOTHER)                                                                            \
    X(TRANSFORM, COLUMN_ANOTHER)                                                                             \
    X(WATCH_ERROR_HANDLER, COLUMN_ANOTHER)                                                                   \
    X(STATUS_HANDLER, COLUMN_ANOTHER)                                                                        \
    X(READ_SECTION, COLUMN_READING)                                                                          \
    X(INDEX_FUNCTION, COLUMN_READING)

typedef enum column { COLUMN_OUTSIDE, COLUMN_OWN, COLUMN_ANOTHER, COLUMN_READING, COLUMNS } column;

#define PLACE_ENUM(name, column) PLACE_##name,
typedef enum place { PLACES(PLACE_ENUM) PLACE_COUNT } place;

static const struct {
    const char *name;
    column column;
} places[] = {
#define PLACE_ROW(name, column) {#name, column},
    PLACES(PLACE_ROW)};

/* ---- the stage --------------------------------------------------------------------------------------- */

typedef struct stage stage;

typedef struct listener {
    heard what;
    stage *on;
    place place; /* what its callbacks are */
} listener;

struct stage {
    local_rig rig; /* its informer is the one that calls are made for */
    int mode;
    ki_registration *registration; /* of `own`, with that informer */
    ki_informer *fresh;            /* never started */
    ki_informer *another;
    ki_registration *leaver_registration; /* with that one */
    ki_factory *factory;
    ki_informer *member; /* of the factory, with a handler */
    ki_informer *spare;  /* of the factory, without one */
    ki_registration *member_registration;
    listener own;
    listener sibling;
    listener stranger;
    listener leaver;
    listener of_member;
    heard late; /* registered by a call */
    int (*call)(stage *s);
    atomic_int armed; /* the place where the call is to be made next, or -1 */
    atomic_int is_done;
    int rc;
};

/* Makes the call if this is the place for it. */
static void visit(stage *s, place here)
{
    int expected = (int)here;
    if (!atomic_compare_exchange_strong(&s->armed, &expected, -1))
        return;
    s->rc = s->call(s);
    s->is_done = 1;
}

static void in_event(heard *what, const ki_event *event)
{
    const listener *l = what->user;
    (void)event;
    visit(l->on, l->place);
}

static int filter(const ki_object *object, void *user)
{
    (void)object;
    const heard *what = user;
    const listener *l = what->user;
    visit(l->on, PLACE_FILTER);
    return 1;
}

static int transform(const ki_object **object, void *user)
{
    (void)object;
    visit(user, PLACE_TRANSFORM);
    return 0;
}

static void on_watch_error(ki_informer *informer, const ki_watch_error *error, void *user)
{
    (void)informer;
    (void)error;
    visit(user, PLACE_WATCH_ERROR_HANDLER);
}

static void on_status(ki_informer *informer, const ki_informer_status *status, void *user)
{
    (void)informer;
    (void)status;
    visit(user, PLACE_STATUS_HANDLER);
}

static int index_function(const ki_object *object, ki_index_emit *emit, void *user)
{
    visit(user, PLACE_INDEX_FUNCTION);
    return ki_index_emit_value(emit, ki_object_name(object));
}

/* Lets the library work for a moment, whoever's threads it uses. */
static void pump(const stage *s)
{
    if (s->mode == KI_MODE_THREADS)
        aside_pause(1);
    else if (ki_client_dispatch(s->rig.client, 1) == 0)
        aside_pause(1);
}

static int pump_until(stage *s, int (*is_so)(stage *s))
{
    for (int i = 0; i < WAIT_MS && !is_so(s); i++)
        pump(s);
    return is_so(s);
}

static ki_registration *listen(stage *s, listener *l, ki_informer *informer, place where)
{
    l->on = s;
    l->place = where;
    heard_init(&l->what);
    l->what.user = l;
    if (where == PLACE_ON_RELEASE)
        l->what.in_release = in_event;
    else
        l->what.in_event = in_event;
    ki_handler handler = heard_handler(&l->what);
    if (where == PLACE_HANDLER_OF_THE_SAME_INFORMER)
        handler.filter = filter;
    ki_registration *registration = ki_informer_add_handler(informer, &handler);
    assert_non_null(registration);
    return registration;
}

static int all_are_synced(stage *s)
{
    return s->own.what.synced && s->sibling.what.synced && s->stranger.what.synced && s->leaver.what.synced &&
           s->of_member.what.synced && ki_factory_read_pending(s->factory, NULL, 0) == 0;
}

static void set_up_another(stage *s)
{
    ki_error err = {0};
    s->another = ki_informer_new(
        s->rig.client, &KI_CORE_V1_SECRETS,
        &(ki_informer_options){.transform = transform, .transform_user = s, .backoff_ms = 10}, &err);
    assert_non_null(s->another);
    assert_int_equal(ki_informer_set_watch_error_handler(s->another, on_watch_error, s), 0);
    assert_int_equal(ki_informer_set_status_handler(s->another, on_status, s), 0);
    assert_int_equal(ki_informer_add_index(s->another, "visits", index_function, s), 0);
    (void)listen(s, &s->stranger, s->another, PLACE_HANDLER_OF_ANOTHER_INFORMER);
    s->leaver_registration = listen(s, &s->leaver, s->another, PLACE_ON_RELEASE);
    assert_int_equal(ki_informer_start(s->another, &err), 0);
}

static void set_up_factory(stage *s, int is_own)
{
    ki_error err = {0};
    s->factory = ki_factory_new(s->rig.client, NULL);
    s->member = ki_factory_informer(s->factory, &KI_CORE_V1_NODES);
    s->spare = ki_factory_informer(s->factory, &KI_CORE_V1_CONFIGMAPS);
    s->member_registration =
        listen(s, &s->of_member, s->member, is_own ? PLACE_OWN_HANDLER : PLACE_HANDLER_OF_ANOTHER_INFORMER);
    assert_int_equal(ki_factory_start(s->factory, &err), 0);
}

/* Then there are watches that can be cut. */
static int all_are_watching(stage *s)
{
    ki_informer_status status;
    ki_informer_status of_another;
    ki_informer_read_status(s->rig.informer, &status);
    ki_informer_read_status(s->another, &of_another);
    return status.phase == KI_PHASE_WATCHING && of_another.phase == KI_PHASE_WATCHING;
}

static void stage_init(stage *s, int mode, int is_of_factory)
{
    *s = (stage){.mode = mode, .armed = -1};
    local_rig_init(&s->rig, (ki_client_options){.mode = mode});
    s->registration = listen(s, &s->own, s->rig.informer,
                             is_of_factory ? PLACE_HANDLER_OF_ANOTHER_INFORMER : PLACE_OWN_HANDLER);
    (void)listen(s, &s->sibling, s->rig.informer, PLACE_HANDLER_OF_THE_SAME_INFORMER);
    s->fresh = ki_informer_new(s->rig.client, &KI_CORE_V1_SERVICES, NULL, NULL);
    assert_non_null(s->fresh);
    heard_init(&s->late);
    set_up_another(s);
    set_up_factory(s, is_of_factory);
    assert_int_equal(ki_informer_start(s->rig.informer, NULL), 0);
    assert_true(pump_until(s, all_are_synced));
    assert_true(pump_until(s, all_are_watching));
}

static void stage_fini(stage *s)
{
    ki_factory_free(s->factory);
    ki_informer_free(s->another);
    ki_informer_free(s->fresh);
    local_rig_fini(&s->rig);
    listener *all[] = {&s->own, &s->sibling, &s->stranger, &s->leaver, &s->of_member};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        assert_int_equal(all[i]->what.releases, 1);
        assert_int_equal(all[i]->what.wrongs, 0);
        heard_fini(&all[i]->what);
    }
    assert_int_equal(s->late.wrongs, 0);
    heard_fini(&s->late);
}

/* ---- the calls --------------------------------------------------------------------------------------- */

static int count_objects(const ki_object *object, void *user)
{
    (void)object;
    (*(int *)user)++;
    return 0;
}

static int read_without_waiting(stage *s)
{
    ki_store *store = ki_informer_store(s->rig.informer);
    int count = 0;
    ki_object *object = ki_store_get(store, "a", "n1");
    ki_read_lock();
    int is_there = ki_store_peek(store, "a", "n1") != NULL;
    ki_read_unlock();
    int rc = ki_store_walk(store, count_objects, &count);
    is_there =
        is_there && object != NULL && count >= 3 && ki_store_count(store) >= 3 && ki_store_bytes(store) > 0;
    (void)ki_object_unref(object);
    return rc < 0 ? rc : is_there ? 0 : KI_ERR_NOT_FOUND;
}

/* Each of them does the same, or this is no answer at all. */
static int read_lists(stage *s)
{
    ki_store *store = ki_informer_store(s->rig.informer);
    ki_object_list objects = {0};
    ki_object_list found = {0};
    ki_str_list keys = {0};
    ki_str_list index_keys = {0};
    ki_str_list values = {0};
    int rc = ki_store_list(store, &objects);
    int is_same = ki_store_keys(store, &keys) == rc &&
                  ki_store_by_index(store, KI_INDEX_NAMESPACE, ki_str_of("a"), &found) == rc &&
                  ki_store_index_keys(store, KI_INDEX_NAMESPACE, ki_str_of("a"), &index_keys) == rc &&
                  ki_store_index_values(store, KI_INDEX_NAMESPACE, &values) == rc;
    ki_object_list_fini(&objects);
    ki_object_list_fini(&found);
    ki_str_list_fini(&keys);
    ki_str_list_fini(&index_keys);
    ki_str_list_fini(&values);
    return is_same ? rc : KI_ERR_INVALID;
}

static int add_handler(stage *s)
{
    ki_handler handler = heard_handler(&s->late);
    return ki_informer_add_handler(s->rig.informer, &handler) == NULL ? KI_ERR_INVALID : 0;
}

static int name_index(const ki_object *object, ki_index_emit *emit, void *user)
{
    (void)user;
    return ki_index_emit_value(emit, ki_object_name(object));
}

static int add_index(stage *s)
{
    return ki_informer_add_index(s->rig.informer, "by-name", name_index, NULL);
}

static int start(stage *s)
{
    int rc = ki_informer_start(s->rig.informer, NULL);
    return rc < 0 ? rc : ki_informer_start(s->fresh, NULL);
}

static int stop(stage *s)
{
    ki_informer_stop(s->rig.informer);
    return 0;
}

static int free_informer(stage *s)
{
    ki_informer *informer = s->rig.informer;
    s->rig.informer = NULL;
    ki_informer_free(informer);
    return 0;
}

static int wait_for_sync(stage *s)
{
    return ki_informer_wait_for_sync(s->rig.informer, WAIT_MS, NULL);
}

static int wait_for_version(stage *s)
{
    return ki_informer_wait_for_version(s->rig.informer, ki_str_of("101"), WAIT_MS, NULL);
}

static int ask_informer(stage *s)
{
    ki_informer_status status;
    char version[32];
    ki_informer_retry_now(s->rig.informer);
    ki_informer_read_status(s->rig.informer, &status);
    int is_well = status.objects >= 3 && ki_informer_age_ms(s->rig.informer) < WAIT_MS &&
                  ki_informer_last_resource_version(s->rig.informer, version, sizeof(version)) > 0 &&
                  ki_informer_has_synced(s->rig.informer);
    return is_well ? 0 : KI_ERR_NOT_FOUND;
}

static int remove_handler(stage *s)
{
    ki_registration_remove(s->registration);
    return 0;
}

static int remove_handler_and_wait(stage *s)
{
    return ki_registration_remove_and_wait(s->registration);
}

static int ask_registration(stage *s)
{
    ki_registration_stats stats;
    ki_registration_read_stats(s->registration, &stats);
    return ki_registration_has_synced(s->registration) && stats.delivered >= 3 ? 0 : KI_ERR_NOT_FOUND;
}

static int wait_for_handler(stage *s)
{
    return ki_registration_wait_for_sync(s->registration, WAIT_MS, NULL);
}

static int use_factory(stage *s)
{
    ki_informer *more = ki_factory_informer(s->factory, &KI_CORE_V1_ENDPOINTS);
    ki_factory_pending pending[2];
    if (more == NULL || ki_factory_read_pending(s->factory, pending, 2) != 1 || pending[0].informer != more)
        return KI_ERR_NOT_FOUND;
    return ki_factory_start(s->factory, NULL);
}

static int stop_factory(stage *s)
{
    ki_factory_stop(s->factory);
    return 0;
}

static int free_factory(stage *s)
{
    ki_factory *factory = s->factory;
    s->factory = NULL;
    ki_factory_free(factory);
    return 0;
}

static int remove_from_factory(stage *s)
{
    return ki_factory_remove(s->factory, s->spare);
}

static int wait_for_factory(stage *s)
{
    return ki_factory_wait_for_sync(s->factory, WAIT_MS, NULL);
}

static int accept_deltas(const ki_queued_deltas *deltas, void *user)
{
    (void)deltas;
    (void)user;
    return 0;
}

/* With a queue of its own that holds one key. Returns as the last call. */
static int with_queue(const stage *s, int (*call)(ki_delta_queue *queue))
{
    ki_delta_queue *queue =
        ki_delta_queue_new(&(ki_delta_queue_options){.known = ki_informer_store(s->rig.informer)}, NULL);
    ki_object *object = ki_store_get(ki_informer_store(s->rig.informer), "a", "n1");
    if (queue == NULL || object == NULL)
        return KI_ERR_NOT_FOUND;
    int rc = ki_delta_queue_push(queue, (ki_queued_delta){.type = KI_QUEUED_ADDED, .object = object});
    if (rc == 0)
        rc = ki_delta_queue_replace(queue, &object, 1);
    if (rc == 0)
        rc = ki_delta_queue_resync(queue);
    if (rc == 0 && call != NULL)
        rc = call(queue);
    ki_delta_queue_free(queue);
    (void)ki_object_unref(object);
    return rc;
}

static int call_pop_waiting(ki_delta_queue *queue)
{
    return ki_delta_queue_pop(queue, accept_deltas, NULL, 1);
}

static int call_pop_at_once(ki_delta_queue *queue)
{
    return ki_delta_queue_pop(queue, accept_deltas, NULL, 0);
}

static int fill_queue(stage *s)
{
    return with_queue(s, NULL);
}

static int pop_waiting(stage *s)
{
    return with_queue(s, call_pop_waiting);
}

static int pop_at_once(stage *s)
{
    return with_queue(s, call_pop_at_once);
}

static int dispatch(stage *s)
{
    int rc = ki_client_dispatch(s->rig.client, 1);
    return s->mode == KI_MODE_THREADS ? rc : rc < 0 ? rc : 0;
}

/* ---- what they bring about --------------------------------------------------------------------------- */

static int is_stopped(const ki_informer *informer)
{
    ki_informer_status status;
    ki_informer_read_status(informer, &status);
    return status.phase == KI_PHASE_STOPPED;
}

static int gone(stage *s)
{
    return local_source_released(s->rig.source);
}

static int has_nothing_to_show(stage *s)
{
    (void)s;
    return 1;
}

static int is_late_synced(stage *s)
{
    return s->late.synced == 1;
}

static int has_index(stage *s)
{
    ki_object_list found = {0};
    int rc = ki_store_by_index(ki_informer_store(s->rig.informer), "by-name", ki_str_of("n1"), &found);
    ki_object_list_fini(&found);
    return rc == 0;
}

static int is_fresh_synced(stage *s)
{
    return ki_informer_has_synced(s->fresh);
}

static int is_informer_stopped(stage *s)
{
    return is_stopped(s->rig.informer);
}

static int is_informer_gone(stage *s)
{
    return s->own.what.releases == 1 && s->sibling.what.releases == 1 && gone(s) == 1;
}

static int is_handler_gone(stage *s)
{
    return s->own.what.releases == 1;
}

static int is_factory_synced(stage *s)
{
    return ki_factory_read_pending(s->factory, NULL, 0) == 0;
}

static int is_factory_stopped(stage *s)
{
    return is_stopped(s->member) && is_stopped(s->spare);
}

static int is_factory_gone(stage *s)
{
    return s->of_member.what.releases == 1 && gone(s) == 2;
}

static int is_one_gone(stage *s)
{
    return gone(s) == 1;
}

/* ---- the table --------------------------------------------------------------------------------------- */

typedef enum outcome { WORKS, WAITS, REQUEST, REFUSED } outcome;

typedef struct row {
    const char *name;
    int (*call)(stage *s);
    int (*has_happened)(stage *s);
    outcome outcomes[COLUMNS];
    int is_of_factory; /* its own handler is one of the factory's */
} row;

#define ALWAYS(outcome)                                                                                      \
    {                                                                                                        \
        outcome, outcome, outcome, outcome                                                                   \
    }

static const row rows[] = {
    {"get, peek, walk", read_without_waiting, has_nothing_to_show, ALWAYS(WORKS), 0},
    {"list, keys, by_index", read_lists, has_nothing_to_show, {WORKS, WORKS, WORKS, REFUSED}, 0},
    {"add_handler", add_handler, is_late_synced, ALWAYS(WORKS), 0},
    {"add_index", add_index, has_index, {WORKS, WORKS, WORKS, REFUSED}, 0},
    {"start", start, is_fresh_synced, ALWAYS(WORKS), 0},
    {"stop", stop, is_informer_stopped, {WAITS, REQUEST, REQUEST, REQUEST}, 0},
    {"free", free_informer, is_informer_gone, {WAITS, REQUEST, REQUEST, REQUEST}, 0},
    {"wait_for_sync", wait_for_sync, has_nothing_to_show, {WAITS, REFUSED, REFUSED, REFUSED}, 0},
    {"wait_for_version", wait_for_version, has_nothing_to_show, {WAITS, REFUSED, REFUSED, REFUSED}, 0},
    {"retry_now, read_status, age_ms", ask_informer, has_nothing_to_show, ALWAYS(WORKS), 0},
    {"remove", remove_handler, is_handler_gone, ALWAYS(REQUEST), 0},
    {"remove_and_wait", remove_handler_and_wait, is_handler_gone, {WAITS, REQUEST, REFUSED, REFUSED}, 0},
    {"has_synced, read_stats", ask_registration, has_nothing_to_show, ALWAYS(WORKS), 0},
    {"registration: wait_for_sync",
     wait_for_handler,
     has_nothing_to_show,
     {WAITS, REFUSED, REFUSED, REFUSED},
     0},
    {"delta queue: push, replace, resync", fill_queue, has_nothing_to_show, ALWAYS(WORKS), 0},
    {"delta queue: pop with a timeout",
     pop_waiting,
     has_nothing_to_show,
     {WORKS, REFUSED, REFUSED, REFUSED},
     0},
    {"delta queue: pop at once", pop_at_once, has_nothing_to_show, {WORKS, WORKS, WORKS, REFUSED}, 0},
    {"factory: informer, start, read_pending", use_factory, is_factory_synced, ALWAYS(WORKS), 1},
    {"factory: stop", stop_factory, is_factory_stopped, {WAITS, REQUEST, REQUEST, REQUEST}, 1},
    {"factory: free", free_factory, is_factory_gone, {WAITS, REQUEST, REQUEST, REQUEST}, 1},
    {"factory: remove", remove_from_factory, is_one_gone, {WAITS, REQUEST, REQUEST, REQUEST}, 1},
    {"factory: wait_for_sync", wait_for_factory, has_nothing_to_show, {WAITS, REFUSED, REFUSED, REFUSED}, 1},
    {"client: dispatch", dispatch, has_nothing_to_show, {WORKS, REFUSED, REFUSED, REFUSED}, 0},
};

/* ---- going through it -------------------------------------------------------------------------------- */

static int is_done(stage *s)
{
    return s->is_done;
}

/* Brings about what calls the program in that place. */
static void go_to(stage *s, place where)
{
    s->armed = (int)where;
    switch (where) {
    case PLACE_OUTSIDE:
        visit(s, where);
        break;
    case PLACE_READ_SECTION:
        ki_read_lock();
        visit(s, where);
        ki_read_unlock();
        break;
    case PLACE_WATCH_ERROR_HANDLER:
    case PLACE_STATUS_HANDLER:
        local_source_cut(s->rig.source);
        break;
    case PLACE_ON_RELEASE:
        ki_registration_remove(s->leaver_registration);
        break;
    default:
        (void)local_source_put(s->rig.source, "a", "n0", 7);
        break;
    }
}

static int expected_code(const row *r, const stage *s, outcome expected)
{
    if (r->call == dispatch && s->mode == KI_MODE_THREADS && expected != REFUSED)
        return KI_ERR_INVALID;
    return expected == REFUSED ? KI_ERR_WOULD_DEADLOCK : 0;
}

static void check_cell(const row *r, place where, int mode)
{
    stage *s = test_malloc(sizeof(*s));
    outcome expected = r->outcomes[places[where].column];
    stage_init(s, mode, r->is_of_factory);
    s->call = r->call;
    go_to(s, where);
    if (!pump_until(s, is_done))
        fail_msg("%s in %s, mode %d: not called", r->name, places[where].name, mode);
    if (s->rc != expected_code(r, s, expected))
        fail_msg("%s in %s, mode %d: returned %d", r->name, places[where].name, mode, s->rc);
    if (expected == WAITS && !r->has_happened(s))
        fail_msg("%s in %s, mode %d: did not wait", r->name, places[where].name, mode);
    if (expected == REFUSED && r->has_happened != has_nothing_to_show) {
        for (int i = 0; i < 5; i++)
            pump(s);
        if (r->has_happened(s))
            fail_msg("%s in %s, mode %d: was done all the same", r->name, places[where].name, mode);
    }
    if (expected != REFUSED && !pump_until(s, r->has_happened))
        fail_msg("%s in %s, mode %d: nothing happened", r->name, places[where].name, mode);
    stage_fini(s);
    test_free(s);
}

static void check_table(int mode)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int where = 0; where < PLACE_COUNT; where++)
            check_cell(&rows[i], (place)where, mode);
}

static void every_cell_is_true_with_threads(void **state)
{
    (void)state;
    check_table(KI_MODE_THREADS);
}

static void every_cell_is_true_with_handlers_on_a_loop(void **state)
{
    (void)state;
    check_table(KI_MODE_HANDLERS_ON_LOOP);
}

static void every_cell_is_true_on_an_event_loop(void **state)
{
    (void)state;
    check_table(KI_MODE_EVENT_LOOP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell_is_true_on_an_event_loop),
        cmocka_unit_test(every_cell_is_true_with_handlers_on_a_loop),
        cmocka_unit_test(every_cell_is_true_with_threads),
    };
    (void)alarm(WATCHDOG_SECONDS);
    return RUN_TESTS(tests);
}
