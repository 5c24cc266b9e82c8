/* SPDX-License-Identifier: Apache-2.0 */
/* The status handler is called after each change of phase or reason. */
#include <kinformer/informer.h>
#include <kinformer/resources.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/informer/informer_rig.h"
#include "support/reflector/silent_source.h"
#include "support/text_log.h"
#include "support/unit.h"

typedef struct listener {
    text_log log;
    ki_informer *informer; /* the informer of the last call */
    int was_synced;
    int frees; /* the next call frees the informer of `rig` */
    virtual_rig *rig;
} listener;

static void on_status(ki_informer *informer, const ki_informer_status *status, void *user)
{
    listener *l = user;
    ki_informer_status now;
    ki_informer_read_status(informer, &now);
    assert_int_equal(now.phase, status->phase);
    assert_int_equal(now.reason, status->reason);
    text_log_add(&l->log, "%s%s %s %d\n", status->has_synced && !l->was_synced ? "synced " : "",
                 ki_phase_name(status->phase), ki_reason_name(status->reason), status->message[0] != 0);
    l->was_synced = status->has_synced;
    l->informer = informer;
    if (l->frees) {
        l->frees = 0;
        ki_informer_free(informer);
        l->rig->informer = NULL;
    }
}

static void listener_init(listener *l, virtual_rig *rig)
{
    const ki_informer_options options = {.watch_list = KI_WATCH_LIST_NEVER};
    *l = (listener){.rig = rig};
    virtual_rig_init(rig, &options);
    assert_int_equal(ki_informer_set_status_handler(rig->informer, on_status, l), 0);
}

#define EXPECT(l, text) text_log_expect(&(l)->log, text, __FILE__, __LINE__)

static void the_status_handler_is_called_for_each_change(void **state)
{
    (void)state;
    virtual_rig rig;
    listener l;
    listener_init(&l, &rig);
    virtual_rig_run(&rig, 1000);
    EXPECT(&l, "");
    virtual_rig_sync(&rig);
    EXPECT(&l, "LISTING  0\nWATCHING  0\nsynced WATCHING  0\n");
    assert_ptr_equal(l.informer, rig.informer);
    sim_world_update(rig.world, 1);
    virtual_rig_run(&rig, 100);
    EXPECT(&l, "");
    sim_server_cut_all(rig.server);
    virtual_rig_run(&rig, 60 * 1000);
    EXPECT(&l, "BACKING_OFF ConnectionLost 1\nWATCHING  0\n");
    virtual_rig_fini(&rig);
    text_log_free(&l.log);
}

static void note_reason(ki_informer *informer, const ki_informer_error *error, void *user)
{
    (void)informer;
    text_log_add(user, "%s\n", ki_reason_name(error->reason));
}

/* The store's table is by far the largest block, and it cannot grow. */
static void a_store_without_memory_for_a_while_is_a_reason(void **state)
{
    (void)state;
    enum { OBJECTS = 5000, BYTES_MAX = 20 * 1000 };
    virtual_rig rig;
    text_log errors = {0};
    listener l = {.rig = &rig};
    const ki_informer_options options = {.watch_list = KI_WATCH_LIST_NEVER};
    virtual_rig_init_world(&rig, &options,
                           &(sim_world_options){.seed = 1, .names = OBJECTS, .history_max = 2 * OBJECTS});
    assert_int_equal(ki_informer_set_status_handler(rig.informer, on_status, &l), 0);
    assert_int_equal(ki_informer_set_error_handler(rig.informer, note_reason, &errors), 0);
    virtual_rig_sync(&rig);
    text_log_clear(&l.log);
    for (uint32_t key = 0; key < OBJECTS; key++)
        sim_world_create(rig.world, key);
    failing_allocator_limit(BYTES_MAX);
    virtual_rig_run(&rig, 60 * 1000);
    EXPECT(&l, "WATCHING NoMemory 1\n");
    text_log_expect(&errors, "NoMemory\n", __FILE__, __LINE__);
    failing_allocator_limit(SIZE_MAX);
    virtual_rig_run(&rig, 1000);
    EXPECT(&l, "WATCHING  0\n");
    virtual_rig_assert_equal(&rig);
    virtual_rig_fini(&rig);
    text_log_free(&errors);
    text_log_free(&l.log);
}

static void the_status_handler_is_called_before_a_stop_returns(void **state)
{
    (void)state;
    virtual_rig rig;
    listener l;
    listener_init(&l, &rig);
    virtual_rig_sync(&rig);
    text_log_clear(&l.log);
    ki_informer_stop(rig.informer);
    EXPECT(&l, "STOPPED  0\n");
    virtual_rig_sync(&rig);
    text_log_clear(&l.log);
    ki_informer_free(rig.informer);
    EXPECT(&l, "STOPPED  0\n");
    rig.informer = NULL;
    virtual_rig_fini(&rig);
    text_log_free(&l.log);
}

static void an_informer_may_be_freed_from_its_status_handler(void **state)
{
    (void)state;
    virtual_rig rig;
    listener l;
    listener_init(&l, &rig);
    virtual_rig_sync(&rig);
    l.frees = 1;
    sim_server_cut_all(rig.server);
    virtual_rig_run(&rig, 10);
    assert_null(rig.informer);
    virtual_rig_fini(&rig);
    text_log_free(&l.log);
}

static void a_wait_reports_a_server_that_is_connected_but_does_not_answer(void **state)
{
    (void)state;
    ki_client *client =
        ki_client_new(&(ki_client_options){.mode = KI_MODE_EVENT_LOOP, .no_cluster = 1}, NULL);
    ki_informer *pods =
        ki_informer_new(client, &KI_CORE_V1_PODS, &(ki_informer_options){.list_watch = &silent_source}, NULL);
    ki_error err = {0};
    ki_informer_status status;
    assert_int_equal(ki_informer_start(pods, &err), 0);
    ki_informer_read_status(pods, &status);
    assert_int_equal(status.is_unanswered, 0);
    assert_int_equal(ki_client_dispatch(client, KI_BUDGET_NONE), 0);
    ki_informer_read_status(pods, &status);
    assert_int_equal(status.is_unanswered, 1);
    assert_int_equal(ki_informer_wait_for_sync(pods, 0, &err), KI_ERR_TIMEOUT);
    assert_non_null(strstr(err.message, "LISTING, connected, no answer yet"));
    ki_informer_free(pods);
    ki_client_free(client);
}

static void a_server_that_has_answered_does_not_count_as_silent(void **state)
{
    (void)state;
    virtual_rig rig;
    ki_error err = {0};
    ki_informer_status status;
    virtual_rig_init(&rig, NULL);
    virtual_rig_sync(&rig);
    ki_informer_read_status(rig.informer, &status);
    assert_int_equal(status.phase, KI_PHASE_WATCHING);
    assert_int_equal(status.is_unanswered, 0);
    assert_int_equal(ki_informer_wait_for_version(rig.informer, KI_STR("99999999"), 0, &err), KI_ERR_TIMEOUT);
    assert_null(strstr(err.message, "no answer yet"));
    virtual_rig_fini(&rig);
}

static void a_status_handler_must_be_set_before_the_start(void **state)
{
    (void)state;
    virtual_rig rig;
    listener l;
    listener_init(&l, &rig);
    virtual_rig_sync(&rig);
    assert_int_equal(ki_informer_set_status_handler(rig.informer, NULL, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_informer_set_status_handler(NULL, on_status, &l), KI_ERR_INVALID);
    text_log_clear(&l.log);
    sim_server_cut_all(rig.server);
    virtual_rig_run(&rig, 10);
    EXPECT(&l, "BACKING_OFF ConnectionLost 1\n");
    ki_informer_stop(rig.informer);
    virtual_rig_fini(&rig);
    text_log_free(&l.log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(the_status_handler_is_called_for_each_change),
        WITH_MEMORY_CHECK(a_store_without_memory_for_a_while_is_a_reason),
        WITH_MEMORY_CHECK(the_status_handler_is_called_before_a_stop_returns),
        WITH_MEMORY_CHECK(an_informer_may_be_freed_from_its_status_handler),
        WITH_MEMORY_CHECK(a_wait_reports_a_server_that_is_connected_but_does_not_answer),
        WITH_MEMORY_CHECK(a_server_that_has_answered_does_not_count_as_silent),
        WITH_MEMORY_CHECK(a_status_handler_must_be_set_before_the_start),
    };
    return RUN_TESTS(tests);
}
