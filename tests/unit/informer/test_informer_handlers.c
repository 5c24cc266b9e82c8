/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers of an informer on one thread with a virtual clock: the calls of each,
 * from its addition to its removal. */
#include <kinformer/informer.h>
#include <kinformer/resources.h>
#include <string.h>

#include "client/client.h"
#include "support/failing_allocator.h"
#include "support/informer/told.h"
#include "support/unit.h"

enum { SECOND = 1000 };

/* ---- events ------------------------------------------------------------------------------------------ */

static void the_first_list_is_delivered_as_initial_adds(void **state)
{
    (void)state;
    told t;
    told_init(&t);
    virtual_rig_sync(&t.rig);
    assert_int_equal(t.what.adds, 5);
    assert_int_equal(t.what.initial, 5);
    assert_int_equal(heard_events(&t.what), 5);
    assert_int_equal(t.what.synced, 1);
    assert_int_equal(ki_registration_has_synced(t.registration), 1);
    told_assert_all(&t);
    told_fini(&t);
}

static void later_changes_are_delivered_as_they_are(void **state)
{
    (void)state;
    told t;
    told_init(&t);
    virtual_rig_sync(&t.rig);
    sim_world_create(t.rig.world, 9);
    sim_world_update(t.rig.world, 1);
    sim_world_update(t.rig.world, 2);
    sim_world_delete(t.rig.world, 3);
    virtual_rig_run(&t.rig, 10);
    assert_int_equal(t.what.adds, 6);
    assert_int_equal(t.what.initial, 5);
    assert_int_equal(t.what.updates, 2);
    assert_int_equal(t.what.deletes, 1);
    assert_int_equal(t.what.unknown, 0);
    assert_int_equal(t.what.synced, 1);
    assert_true(t.what.batch_ends >= 1);
    told_assert_all(&t);
    told_fini(&t);
}

static void a_missed_delete_has_an_unknown_final_state(void **state)
{
    (void)state;
    told t;
    told_init(&t);
    virtual_rig_sync(&t.rig);
    sim_server_set_faults(t.rig.server, &(sim_faults){.refuse = 1});
    sim_server_cut_all(t.rig.server);
    sim_world_delete(t.rig.world, 3);
    sim_world_update(t.rig.world, 1);
    sim_world_compact(t.rig.world);
    virtual_rig_run(&t.rig, 10);
    sim_server_set_faults(t.rig.server, &(sim_faults){0});
    virtual_rig_run(&t.rig, 60 * SECOND);
    assert_int_equal(t.what.deletes, 1);
    assert_int_equal(t.what.unknown, 1);
    assert_int_equal(t.what.updates, 1);
    assert_int_equal(t.what.adds, 5);
    told_assert_all(&t);
    told_fini(&t);
}

static void another_object_with_the_same_name_is_a_replacement(void **state)
{
    (void)state;
    told t;
    told_init(&t);
    virtual_rig_sync(&t.rig);
    sim_server_set_faults(t.rig.server, &(sim_faults){.refuse = 1});
    sim_server_cut_all(t.rig.server);
    sim_world_delete(t.rig.world, 3);
    sim_world_create(t.rig.world, 3);
    sim_world_compact(t.rig.world);
    virtual_rig_run(&t.rig, 10);
    sim_server_set_faults(t.rig.server, &(sim_faults){0});
    virtual_rig_run(&t.rig, 60 * SECOND);
    assert_int_equal(t.what.replaced, 1);
    assert_int_equal(t.what.updates, 1);
    assert_int_equal(t.what.deletes, 0);
    told_assert_all(&t);
    told_fini(&t);
}

static void a_repeated_list_delivers_only_differences(void **state)
{
    (void)state;
    told t;
    told_init(&t);
    virtual_rig_sync(&t.rig);
    sim_world_compact(t.rig.world);
    sim_world_tick_other(t.rig.world);
    sim_world_compact(t.rig.world);
    sim_server_cut_all(t.rig.server);
    virtual_rig_run(&t.rig, 60 * SECOND);
    assert_int_equal(heard_events(&t.what), 5);
    assert_int_equal(t.what.synced, 1);
    told_fini(&t);
}

static void the_store_is_at_least_as_new_as_the_event(heard *what, const ki_event *event)
{
    ki_object *stored = ki_store_get_key(what->user, ki_object_key_str(event->object));
    int order = 0; /* a missing object was deleted later, or by this event */
    if (stored != NULL && ki_resource_version_compare(ki_object_resource_version(stored),
                                                      ki_object_resource_version(event->object), &order) == 0)
        what->wrongs += order < 0;
    (void)ki_object_unref(stored);
}

static void handlers_find_the_store_at_least_as_new_as_the_event(void **state)
{
    (void)state;
    told t;
    told_init(&t);
    t.what.in_event = the_store_is_at_least_as_new_as_the_event;
    t.what.user = (void *)ki_informer_store(t.rig.informer);
    virtual_rig_sync(&t.rig);
    for (int i = 0; i < 200; i++) {
        for (int k = 0; k < 5; k++)
            sim_world_mutate(t.rig.world);
        virtual_rig_run(&t.rig, 3);
    }
    virtual_rig_run(&t.rig, SECOND);
    assert_true(heard_events(&t.what) > 100);
    told_assert_all(&t);
    told_fini(&t);
}

/* ---- late handlers ----------------------------------------------------------------------------------- */

static void a_late_handler_gets_the_whole_store_and_others_nothing(void **state)
{
    (void)state;
    told t;
    heard late;
    heard_init(&late);
    told_init(&t);
    virtual_rig_sync(&t.rig);
    sim_world_create(t.rig.world, 9);
    virtual_rig_run(&t.rig, 10);
    int before = heard_events(&t.what);
    ki_registration *registration = ki_informer_add_handler(t.rig.informer, &(ki_handler){0}, NULL);
    assert_non_null(registration);
    ki_handler handler = heard_handler(&late);
    registration = ki_informer_add_handler(t.rig.informer, &handler, NULL);
    assert_int_equal(ki_registration_has_synced(registration), 0);
    virtual_rig_run(&t.rig, 1);
    assert_int_equal(late.adds, 6);
    assert_int_equal(late.initial, 6);
    assert_int_equal(late.synced, 1);
    assert_int_equal(ki_registration_has_synced(registration), 1);
    assert_int_equal(heard_events(&t.what), before);
    sim_world_update(t.rig.world, 1);
    virtual_rig_run(&t.rig, 10);
    assert_int_equal(late.updates, 1);
    assert_int_equal(heard_differences(&late, ki_informer_store(t.rig.informer)), 0);
    told_fini(&t);
    assert_int_equal(late.releases, 1);
    assert_int_equal(late.wrongs, 0);
    heard_fini(&late);
}

static void a_handler_of_an_empty_synced_informer_has_synced_at_once(void **state)
{
    (void)state;
    told t;
    told_init(&t);
    for (uint32_t key = 0; key < 5; key++)
        sim_world_delete(t.rig.world, key);
    virtual_rig_sync(&t.rig);
    assert_int_equal(heard_events(&t.what), 0);
    assert_int_equal(t.what.synced, 1);
    assert_int_equal(ki_registration_has_synced(t.registration), 1);
    told_fini(&t);
}

static void a_handler_is_not_synced_before_it_has_returned_from_its_last_add(heard *what,
                                                                             const ki_event *event)
{
    (void)event;
    what->wrongs += ki_registration_has_synced(*(ki_registration **)what->user) != 0;
}

static void synced_means_that_the_initial_adds_have_returned(void **state)
{
    (void)state;
    told t;
    told_init(&t);
    t.what.in_event = a_handler_is_not_synced_before_it_has_returned_from_its_last_add;
    t.what.user = &t.registration;
    virtual_rig_sync(&t.rig);
    assert_int_equal(t.what.wrongs, 0);
    assert_int_equal(ki_registration_has_synced(t.registration), 1);
    told_fini(&t);
}

static void a_handler_registered_twice_is_called_twice(void **state)
{
    (void)state;
    virtual_rig rig;
    heard what[2];
    virtual_rig_init(&rig, NULL);
    for (int i = 0; i < 2; i++) {
        heard_init(&what[i]);
        ki_handler handler = heard_handler(&what[i]);
        assert_non_null(ki_informer_add_handler(rig.informer, &handler, NULL));
    }
    virtual_rig_sync(&rig);
    assert_int_equal(what[0].adds, 5);
    assert_int_equal(what[1].adds, 5);
    virtual_rig_fini(&rig);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(what[i].releases, 1);
        heard_fini(&what[i]);
    }
}

static int only_even(const ki_object *object, void *user)
{
    (void)user;
    ki_str name = ki_object_name(object);
    return (name.ptr[name.len - 1] - '0') % 2 == 0;
}

static void filter_odd_out(ki_handler *handler)
{
    handler->filter = only_even;
}

static void a_filter_keeps_objects_from_a_handler(void **state)
{
    (void)state;
    told t;
    told_init_with(&t, NULL, filter_odd_out);
    virtual_rig_sync(&t.rig);
    sim_world_update(t.rig.world, 1);
    sim_world_update(t.rig.world, 2);
    sim_world_delete(t.rig.world, 3);
    virtual_rig_run(&t.rig, 10);
    assert_int_equal(t.what.adds, 3);
    assert_int_equal(t.what.updates, 1);
    assert_int_equal(t.what.deletes, 0);
    told_fini(&t);
}

/* ---- removal ----------------------------------------------------------------------------------------- */

static void a_removed_handler_gets_only_its_release(void **state)
{
    (void)state;
    told t;
    told_init(&t);
    virtual_rig_sync(&t.rig);
    sim_world_update(t.rig.world, 1);
    sim_server_step(t.rig.server);
    ki_registration_remove(t.registration);
    assert_int_equal(t.what.releases, 0);
    virtual_rig_run(&t.rig, 10);
    assert_int_equal(t.what.releases, 1);
    assert_int_equal(t.what.updates, 0);
    sim_world_update(t.rig.world, 1);
    virtual_rig_run(&t.rig, 10);
    assert_int_equal(t.what.updates, 0);
    told_fini(&t);
}

static void removing_and_waiting_returns_after_the_release(void **state)
{
    (void)state;
    told t;
    told_init(&t);
    virtual_rig_sync(&t.rig);
    assert_int_equal(ki_registration_remove_and_wait(t.registration), 0);
    assert_int_equal(t.what.releases, 1);
    told_fini(&t);
}

static void a_handler_of_an_informer_that_never_started_is_released(void **state)
{
    (void)state;
    told t;
    heard other;
    heard_init(&other);
    told_init(&t);
    ki_handler handler = heard_handler(&other);
    ki_registration *registration = ki_informer_add_handler(t.rig.informer, &handler, NULL);
    assert_int_equal(ki_registration_remove_and_wait(registration), 0);
    assert_int_equal(other.releases, 1);
    ki_informer_free(t.rig.informer);
    t.rig.informer = NULL;
    assert_int_equal(t.what.releases, 1);
    assert_int_equal(heard_events(&t.what), 0);
    told_fini(&t);
    heard_fini(&other);
}

static void a_handler_of_a_stopped_informer_can_be_removed(void **state)
{
    (void)state;
    told t;
    told_init(&t);
    virtual_rig_sync(&t.rig);
    ki_informer_stop(t.rig.informer);
    assert_int_equal(ki_registration_remove_and_wait(t.registration), 0);
    assert_int_equal(t.what.releases, 1);
    told_fini(&t);
}

/* ---- calls from callbacks ---------------------------------------------------------------------------- */

static void remove_itself(heard *what, const ki_event *event)
{
    (void)event;
    ki_registration **registration = what->user;
    if (*registration != NULL)
        what->wrongs += ki_registration_remove_and_wait(*registration) != 0;
    *registration = NULL;
}

static void a_handler_may_remove_itself_during_an_event(void **state)
{
    (void)state;
    told t;
    told_init(&t);
    t.what.in_event = remove_itself;
    t.what.user = &t.registration;
    virtual_rig_sync(&t.rig);
    assert_int_equal(heard_events(&t.what), 1);
    assert_int_equal(t.what.releases, 1);
    assert_int_equal(t.what.synced, 0);
    told_fini(&t);
}

static void free_informer(heard *what, const ki_event *event)
{
    (void)event;
    virtual_rig *rig = what->user;
    ki_informer_free(rig->informer);
    rig->informer = NULL;
}

static void an_informer_may_be_freed_during_an_event(void **state)
{
    (void)state;
    told t;
    told_init(&t);
    t.what.in_event = free_informer;
    t.what.user = &t.rig;
    assert_int_equal(ki_informer_start(t.rig.informer, NULL), 0);
    virtual_rig_run(&t.rig, 100);
    assert_int_equal(heard_events(&t.what), 1);
    assert_int_equal(t.what.releases, 1);
    told_fini(&t);
}

static void an_informer_may_be_freed_during_a_release(void **state)
{
    (void)state;
    told t;
    told_init(&t);
    t.what.in_release = free_informer;
    t.what.user = &t.rig;
    virtual_rig_sync(&t.rig);
    ki_registration_remove(t.registration);
    virtual_rig_run(&t.rig, 10);
    assert_null(t.rig.informer);
    told_fini(&t);
}

static void stop_informer(heard *what, const ki_event *event)
{
    (void)event;
    virtual_rig *rig = what->user;
    ki_informer_stop(rig->informer);
}

static void an_informer_may_be_stopped_during_an_event_and_resumes_there(void **state)
{
    (void)state;
    told t;
    told_init(&t);
    t.what.in_event = stop_informer;
    t.what.user = &t.rig;
    assert_int_equal(ki_informer_start(t.rig.informer, NULL), 0);
    virtual_rig_run(&t.rig, 100);
    ki_informer_status status;
    ki_informer_read_status(t.rig.informer, &status);
    assert_int_equal(status.phase, KI_PHASE_STOPPED);
    assert_int_equal(heard_events(&t.what), 1);
    t.what.in_event = NULL;
    virtual_rig_sync(&t.rig);
    assert_int_equal(t.what.adds, 5);
    assert_int_equal(t.what.synced, 1);
    told_assert_all(&t);
    told_fini(&t);
}

static void free_on_error(ki_informer *informer, const ki_informer_error *error, void *user)
{
    (void)error;
    virtual_rig *rig = user;
    if (rig->informer == informer)
        ki_informer_free(informer);
    rig->informer = NULL;
}

static void an_informer_may_be_freed_from_its_watch_error_handler(void **state)
{
    (void)state;
    told t;
    told_init(&t);
    assert_int_equal(ki_informer_set_error_handler(t.rig.informer, free_on_error, &t.rig), 0);
    virtual_rig_sync(&t.rig);
    sim_server_cut_all(t.rig.server);
    virtual_rig_run(&t.rig, 10);
    assert_null(t.rig.informer);
    assert_int_equal(t.what.releases, 1);
    told_fini(&t);
}

static void add_another(heard *what, const ki_event *event)
{
    (void)event;
    virtual_rig *rig = what->user;
    if (heard_events(what) == 0)
        what->wrongs +=
            ki_informer_add_handler(rig->informer, &(ki_handler){.name = "another"}, NULL) == NULL;
}

static void a_handler_may_be_added_during_an_event(void **state)
{
    (void)state;
    told t;
    told_init(&t);
    t.what.in_event = add_another;
    t.what.user = &t.rig;
    virtual_rig_sync(&t.rig);
    told_assert_all(&t);
    told_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(the_first_list_is_delivered_as_initial_adds),
        WITH_MEMORY_CHECK(later_changes_are_delivered_as_they_are),
        WITH_MEMORY_CHECK(a_missed_delete_has_an_unknown_final_state),
        WITH_MEMORY_CHECK(another_object_with_the_same_name_is_a_replacement),
        WITH_MEMORY_CHECK(a_repeated_list_delivers_only_differences),
        WITH_MEMORY_CHECK(handlers_find_the_store_at_least_as_new_as_the_event),
        WITH_MEMORY_CHECK(a_late_handler_gets_the_whole_store_and_others_nothing),
        WITH_MEMORY_CHECK(a_handler_of_an_empty_synced_informer_has_synced_at_once),
        WITH_MEMORY_CHECK(synced_means_that_the_initial_adds_have_returned),
        WITH_MEMORY_CHECK(a_handler_registered_twice_is_called_twice),
        WITH_MEMORY_CHECK(a_filter_keeps_objects_from_a_handler),
        WITH_MEMORY_CHECK(a_removed_handler_gets_only_its_release),
        WITH_MEMORY_CHECK(removing_and_waiting_returns_after_the_release),
        WITH_MEMORY_CHECK(a_handler_of_an_informer_that_never_started_is_released),
        WITH_MEMORY_CHECK(a_handler_of_a_stopped_informer_can_be_removed),
        WITH_MEMORY_CHECK(a_handler_may_remove_itself_during_an_event),
        WITH_MEMORY_CHECK(an_informer_may_be_freed_during_an_event),
        WITH_MEMORY_CHECK(an_informer_may_be_freed_during_a_release),
        WITH_MEMORY_CHECK(an_informer_may_be_stopped_during_an_event_and_resumes_there),
        WITH_MEMORY_CHECK(an_informer_may_be_freed_from_its_watch_error_handler),
        WITH_MEMORY_CHECK(a_handler_may_be_added_during_an_event),
    };
    return RUN_TESTS(tests);
}
