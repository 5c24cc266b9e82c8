/* SPDX-License-Identifier: Apache-2.0 */
/* Whoever asked for it is told of each change of phase or reason. */
#include <kinformer/informer.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/informer_rig.h"
#include "support/text_log.h"
#include "support/unit.h"

typedef struct listener {
    text_log log;
    ki_informer *informer; /* that last called */
    int frees;             /* at the next call: frees the informer of `rig` */
    virtual_rig *rig;
} listener;

static void on_status(ki_informer *informer, const ki_informer_status *status, void *user)
{
    listener *l = user;
    ki_informer_status now;
    ki_informer_read_status(informer, &now);
    assert_int_equal(now.phase, status->phase);
    assert_int_equal(now.reason, status->reason);
    text_log_add(&l->log, "%s %s %d\n", ki_phase_name(status->phase), ki_reason_name(status->reason),
                 status->message[0] != 0);
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
    EXPECT(&l, "LISTING  0\nWATCHING  0\n");
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
        WITH_MEMORY_CHECK(a_status_handler_is_set_before_the_start),
    };
    return RUN_TESTS(tests);
}
