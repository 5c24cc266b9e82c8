/* SPDX-License-Identifier: Apache-2.0 */
/* The status handler is called after each change of phase or reason. */
#include <kinformer/informer.h>
#include <kinformer/resources.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/informer_rig.h"
#include "support/text_log.h"
#include "support/unit.h"

typedef struct listener {
    text_log log;
    ki_informer *informer; /* that last called */
    int was_synced;
    int frees; /* at the next call: frees the informer of `rig` */
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

static void the_status_handler_hears_of_each_change(void **state)
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

static void the_status_handler_hears_of_the_stop_before_it_returns(void **state)
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

static void an_informer_may_be_freed_inside_its_status_handler(void **state)
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

static int begin_in_silence(ki_answer *answer, const ki_list_options *options, void *user)
{
    (void)answer;
    (void)options;
    (void)user;
    return 0;
}

static void ignore(ki_answer *answer, void *user)
{
    (void)answer;
    (void)user;
}

static void a_wait_says_that_the_server_is_connected_and_does_not_answer(void **state)
{
    (void)state;
    const ki_list_watch silent = {.begin = begin_in_silence, .cancel = ignore, .resume = ignore};
    ki_client *client =
        ki_client_new(&(ki_client_options){.mode = KI_MODE_EVENT_LOOP, .no_cluster = 1}, NULL);
    ki_informer *pods =
        ki_informer_new(client, &KI_CORE_V1_PODS, &(ki_informer_options){.list_watch = &silent}, NULL);
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

static void a_status_handler_is_set_before_the_start(void **state)
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
        WITH_MEMORY_CHECK(the_status_handler_hears_of_each_change),
        WITH_MEMORY_CHECK(the_status_handler_hears_of_the_stop_before_it_returns),
        WITH_MEMORY_CHECK(an_informer_may_be_freed_inside_its_status_handler),
        WITH_MEMORY_CHECK(a_wait_says_that_the_server_is_connected_and_does_not_answer),
        WITH_MEMORY_CHECK(a_server_that_has_answered_does_not_count_as_silent),
        WITH_MEMORY_CHECK(a_status_handler_is_set_before_the_start),
    };
    return RUN_TESTS(tests);
}
