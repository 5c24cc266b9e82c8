/* SPDX-License-Identifier: Apache-2.0 */
#include "support/informer/threading_stage.h"

#include <kinformer/resources.h>

#include "support/aside.h"
#include "support/store/store_objects.h"
#include "support/unit.h"

const stage_place_row stage_places[] = {
#define PLACE_ROW(name, column) {#name, column},
    PLACES(PLACE_ROW)};

void stage_visit(stage *s, place here)
{
    armed_call_visit(&s->armed, s, (int)here);
}

static void in_event(heard *what, const ki_event *event)
{
    const listener *l = what->user;
    (void)event;
    stage_visit(l->on, l->place);
}

static int filter(const ki_object *object, void *user)
{
    (void)object;
    const heard *what = user;
    const listener *l = what->user;
    stage_visit(l->on, PLACE_FILTER);
    return 1;
}

static int transform(const ki_object **object, void *user)
{
    (void)object;
    stage_visit(user, PLACE_TRANSFORM);
    return 0;
}

static void on_watch_error(ki_informer *informer, const ki_informer_error *error, void *user)
{
    (void)informer;
    (void)error;
    stage_visit(user, PLACE_WATCH_ERROR_HANDLER);
}

static void on_status(ki_informer *informer, const ki_informer_status *status, void *user)
{
    (void)informer;
    (void)status;
    stage_visit(user, PLACE_STATUS_HANDLER);
}

static int index_function(const ki_object *object, ki_index_emit *emit, void *user)
{
    stage_visit(user, PLACE_INDEX_FUNCTION);
    return ki_index_emit_value(emit, ki_object_name(object));
}

void stage_pump(const stage *s)
{
    if (s->mode == KI_MODE_THREADS)
        aside_pause(1);
    else if (ki_client_dispatch(s->rig.client, 1) == 0)
        aside_pause(1);
}

int stage_pump_until(stage *s, int (*is_so)(stage *s))
{
    for (int i = 0; i < STAGE_WAIT_MS && !is_so(s); i++)
        stage_pump(s);
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
    ki_registration *registration = ki_informer_add_handler(informer, &handler, NULL);
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
    assert_int_equal(ki_informer_set_error_handler(s->another, on_watch_error, s), 0);
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
    s->member = ki_factory_informer(s->factory, &KI_CORE_V1_NODES, NULL);
    s->spare = ki_factory_informer(s->factory, &KI_CORE_V1_CONFIGMAPS, NULL);
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

static void note_client_gone(void *user)
{
    stage *s = user;
    s->is_client_gone = 1;
}

/* A client without a running loop calls posted functions when it is freed. */
static void set_up_own(stage *s)
{
    s->own_client = ki_client_new(&(ki_client_options){.mode = (ki_mode)s->mode, .no_cluster = 1}, NULL);
    assert_int_equal(ki_client_post(s->own_client, note_client_gone, s), 0);
    s->own_store = ki_store_new(NULL, NULL);
    s->queue =
        ki_delta_queue_new(&(ki_delta_queue_options){.known = ki_informer_store(s->rig.informer)}, NULL);
    s->stored = store_object("a", "own", 1, "");
    assert_int_equal(ki_store_put(s->own_store, s->stored), 0);
}

static void take_down_own(stage *s)
{
    ki_delta_queue_free(s->queue);
    if (!s->is_client_gone)
        ki_client_free(s->own_client);
    if (store_object_is_shared(s->stored))
        ki_store_free(s->own_store);
    (void)ki_object_unref(s->stored);
}

void stage_init(stage *s, int mode, int is_of_factory)
{
    *s = (stage){.mode = mode, .armed.place = -1};
    local_rig_init(&s->rig, (ki_client_options){.mode = (ki_mode)mode});
    s->registration = listen(s, &s->own, s->rig.informer,
                             is_of_factory ? PLACE_HANDLER_OF_ANOTHER_INFORMER : PLACE_OWN_HANDLER);
    (void)listen(s, &s->sibling, s->rig.informer, PLACE_HANDLER_OF_THE_SAME_INFORMER);
    s->fresh = ki_informer_new(s->rig.client, &KI_CORE_V1_SERVICES, NULL, NULL);
    assert_non_null(s->fresh);
    heard_init(&s->late);
    set_up_own(s);
    set_up_another(s);
    set_up_factory(s, is_of_factory);
    assert_int_equal(ki_informer_start(s->rig.informer, NULL), 0);
    assert_true(stage_pump_until(s, all_are_synced));
    assert_true(stage_pump_until(s, all_are_watching));
}

void stage_fini(stage *s)
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
    take_down_own(s);
}
