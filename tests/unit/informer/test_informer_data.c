/* SPDX-License-Identifier: Apache-2.0 */
/* What an informer requests, what it leaves out, and what it does with too much data. Some threads are those
 * that support/aside.c starts with ki_thread_start(). */
#include <kinformer/informer.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/aside.h"
#include "support/failing_allocator.h"
#include "support/informer/told.h"
#include "support/patience.h"
#include "support/store/store_objects.h"
#include "support/unit.h"

enum { SECOND = 1000 };

/* ---- requests ---------------------------------------------------------------------------------------- */

typedef struct asked {
    char label_selector[32];
    char field_selector[32];
    uint64_t limit;
    int requests;
    int tweaks;
} asked;

static int note_request(ki_answer *answer, const ki_list_options *options, void *user)
{
    (void)answer;
    asked *a = user;
    a->requests++;
    a->limit = options->limit;
    snprintf(a->label_selector, sizeof(a->label_selector), "%.*s", KI_STR_ARGS(options->label_selector));
    snprintf(a->field_selector, sizeof(a->field_selector), "%.*s", KI_STR_ARGS(options->field_selector));
    return KI_ERR_SYSTEM;
}

static void nothing(ki_answer *answer, void *user)
{
    (void)answer;
    (void)user;
}

static void tweak(ki_list_options *options, void *user)
{
    asked *a = user;
    a->tweaks++;
    options->field_selector = ki_str_of("spec.nodeName=here");
}

static void selectors_and_tweaks_reach_the_source(void **state)
{
    (void)state;
    virtual_rig rig;
    asked a = {0};
    virtual_rig_init(&rig, NULL);
    ki_list_watch source = {.begin = note_request, .cancel = nothing, .resume = nothing, .user = &a};
    char selector[] = "app=web";
    ki_informer *informer = ki_informer_new(rig.client, &KI_CORE_V1_PODS,
                                            &(ki_informer_options){.list_watch = &source,
                                                                   .label_selector = selector,
                                                                   .field_selector = "x=y",
                                                                   .page_size = 7,
                                                                   .watch_list = KI_WATCH_LIST_NEVER,
                                                                   .tweak = tweak,
                                                                   .tweak_user = &a},
                                            NULL);
    assert_non_null(informer);
    memset(selector, 'x', sizeof(selector) - 1); /* strings were copied */
    assert_int_equal(ki_informer_start(informer, NULL), 0);
    virtual_rig_run(&rig, 10 * SECOND);
    assert_string_equal(a.label_selector, "app=web");
    assert_string_equal(a.field_selector, "spec.nodeName=here");
    assert_int_equal(a.limit, 7);
    assert_true(a.requests > 1);
    assert_int_equal(a.tweaks, a.requests);
    ki_informer_free(informer);
    virtual_rig_fini(&rig);
}

/* ---- omitted data ------------------------------------------------------------------------------------ */

static void only_fields_of_keep_are_stored_and_reported(void **state)
{
    (void)state;
    static const char *const keep[] = {"/metadata/name", "/metadata/namespace", NULL};
    for (int delivers = 0; delivers < 2; delivers++) {
        told t;
        told_init_with(&t, &(ki_informer_options){.keep = keep, .deliver_unchanged = delivers}, NULL);
        virtual_rig_sync(&t.rig);
        sim_world_update(t.rig.world, 1);
        virtual_rig_run(&t.rig, 10);
        ki_object *object = ki_store_get(ki_informer_store(t.rig.informer), KI_STR("a"), KI_STR("n1"));
        int64_t value = 0;
        assert_int_equal(ki_object_get_int64(object, "/spec/value", &value), KI_ERR_NOT_FOUND);
        (void)ki_object_unref(object);
        virtual_rig_assert_equal(&t.rig);
        assert_int_equal(t.what.updates, delivers);
        told_fini(&t);
    }
}

static int refuse_n1_later(const ki_object **object, void *user)
{
    const int *is_later = user;
    return *is_later && ki_str_equal(ki_object_name(*object), ki_str_of("n1")) ? KI_ERR_TYPE : 0;
}

static void a_refused_item_is_not_swept(void **state)
{
    (void)state;
    told t;
    int is_later = 0;
    told_init_with(&t, &(ki_informer_options){.transform = refuse_n1_later, .transform_user = &is_later},
                   NULL);
    virtual_rig_sync(&t.rig);
    is_later = 1;
    sim_server_set_faults(t.rig.server, &(sim_faults){.refuse = 1});
    sim_server_cut_all(t.rig.server);
    sim_world_update(t.rig.world, 1);
    sim_world_delete(t.rig.world, 2);
    sim_world_compact(t.rig.world);
    virtual_rig_run(&t.rig, 10);
    sim_server_set_faults(t.rig.server, &(sim_faults){0});
    virtual_rig_run(&t.rig, 60 * SECOND);
    assert_int_equal(t.what.deletes, 1);
    assert_int_equal(t.what.updates, 0);
    assert_int_equal(ki_store_count(ki_informer_store(t.rig.informer)), 4);
    told_assert_all(&t);
    told_fini(&t);
}

/* ---- another history --------------------------------------------------------------------------------- */

static void a_server_whose_history_was_reset_is_followed_again(void **state)
{
    (void)state;
    virtual_rig rig;
    virtual_rig_init(&rig, NULL);
    for (int i = 0; i < 30; i++)
        sim_world_mutate(rig.world);
    virtual_rig_sync(&rig);
    sim_world_reset_history(rig.world, 20);
    virtual_rig_run(&rig, 120 * SECOND);
    sim_world_update(rig.world, 1);
    virtual_rig_run(&rig, 10 * SECOND);
    virtual_rig_assert_equal(&rig);
    assert_int_equal(ki_informer_has_synced(rig.informer), 1);
    virtual_rig_fini(&rig);
}

/* ---- too much data ----------------------------------------------------------------------------------- */

static void a_small_queue_makes_the_server_wait_and_loses_nothing(void **state)
{
    (void)state;
    told t;
    told_init_with(&t, &(ki_informer_options){.queue_items_max = 2}, NULL);
    for (uint32_t key = 0; key < 60; key++)
        sim_world_create(t.rig.world, key);
    assert_int_equal(ki_informer_start(t.rig.informer, NULL), 0);
    virtual_rig_run(&t.rig, 5 * SECOND);
    for (int i = 0; i < 300; i++)
        sim_world_mutate(t.rig.world);
    virtual_rig_run(&t.rig, 5 * SECOND);
    virtual_rig_assert_equal(&t.rig);
    told_assert_all(&t);
    told_fini(&t);
}

static void an_informer_with_a_full_queue_can_be_stopped_and_started(void **state)
{
    (void)state;
    told t;
    told_init_with(&t, &(ki_informer_options){.queue_items_max = 1}, NULL);
    for (uint32_t key = 0; key < 60; key++)
        sim_world_create(t.rig.world, key);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(ki_informer_start(t.rig.informer, NULL), 0);
        (void)ki_client_dispatch(t.rig.client, KI_BUDGET_NONE);
        sim_server_step(t.rig.server); /* the queue is full, and no loop has run to make space */
        ki_informer_stop(t.rig.informer);
        virtual_rig_run(&t.rig, SECOND);
    }
    assert_int_equal(ki_informer_start(t.rig.informer, NULL), 0);
    virtual_rig_run(&t.rig, 60 * SECOND);
    virtual_rig_assert_equal(&t.rig);
    told_assert_all(&t);
    told_fini(&t);
}

static void block_at_two(ki_handler *handler)
{
    handler->backlog_items_max = 2;
    handler->overflow = KI_OVERFLOW_BLOCK;
}

/* The queue may be full a moment before dispatch notices that it must wait. */
static int says_who_holds_it_back(ki_informer *informer)
{
    static const char words[] = "; a handler with KI_OVERFLOW_BLOCK is behind and holds the store back";
    ki_error err = {0};
    for (int i = 0; i < HANG_MS && strstr(err.message, words) == NULL; i++) {
        aside_pause(i > 0);
        assert_int_equal(ki_informer_wait_for_version(informer, KI_STR("999999"), 0, &err), KI_ERR_TIMEOUT);
    }
    return strstr(err.message, words) != NULL;
}

/* The handler blocks dispatch, dispatch fills the queue, the queue pauses the source. */
static void a_blocked_handler_pauses_the_source_and_nothing_is_lost(void **state)
{
    (void)state;
    local_rig rig;
    heard what;
    char name[16];
    ki_informer_status status = {0};
    heard_init(&what);
    local_rig_init(&rig, (ki_client_options){0});
    ki_informer_free(rig.informer);
    rig.informer =
        ki_informer_new(rig.client, &KI_CORE_V1_PODS, &(ki_informer_options){.queue_items_max = 3}, NULL);
    ki_handler handler = heard_handler(&what);
    block_at_two(&handler);
    assert_non_null(ki_informer_add_handler(rig.informer, &handler, NULL));
    local_rig_sync(&rig);
    assert_true(heard_wait(&what, &what.synced, 1));
    heard_hold(&what);
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        (void)local_source_put(rig.source, "a", name, i);
    }
    /* More than half of the queue is full. It may be no more, because dispatch takes what is there while io
     * still pushes the rest of what it has read. */
    for (int i = 0; i < HANG_MS && status.queued < 2; i++) {
        aside_pause(1);
        ki_informer_read_status(rig.informer, &status);
    }
    assert_true(status.queued >= 2 && status.queued < 900);
    assert_true(says_who_holds_it_back(rig.informer));
    heard_let_go(&what);
    local_rig_catch_up(&rig);
    assert_int_equal(local_source_differences(rig.source, ki_informer_store(rig.informer)), 0);
    local_rig_fini(&rig);
    assert_int_equal(what.wrongs, 0);
    heard_fini(&what);
}

static void an_informer_that_detects_mutations_works_like_any_other(void **state)
{
    (void)state;
    told t;
    told_init_with(&t, &(ki_informer_options){.mutations = KI_MUTATIONS_REPORT}, NULL);
    virtual_rig_sync(&t.rig);
    for (int i = 0; i < 50; i++) {
        sim_world_mutate(t.rig.world);
        virtual_rig_run(&t.rig, SECOND);
    }
    virtual_rig_assert_equal(&t.rig);
    told_assert_all(&t);
    told_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(selectors_and_tweaks_reach_the_source),
        WITH_MEMORY_CHECK(only_fields_of_keep_are_stored_and_reported),
        WITH_MEMORY_CHECK(a_refused_item_is_not_swept),
        WITH_MEMORY_CHECK(a_server_whose_history_was_reset_is_followed_again),
        WITH_MEMORY_CHECK(a_small_queue_makes_the_server_wait_and_loses_nothing),
        WITH_MEMORY_CHECK(an_informer_with_a_full_queue_can_be_stopped_and_started),
        WITH_MEMORY_CHECK(a_blocked_handler_pauses_the_source_and_nothing_is_lost),
        WITH_MEMORY_CHECK(an_informer_that_detects_mutations_works_like_any_other),
    };
    (void)alarm(WATCHDOG_SECONDS);
    return RUN_TESTS(tests);
}
