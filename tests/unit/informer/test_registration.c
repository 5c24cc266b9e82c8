/* SPDX-License-Identifier: Apache-2.0 */
/* A registration: ends of batches, budgets, waiting for its sync, its backlog, and late handlers that run out
 * of memory. Some threads are the library's and those that support/aside.c starts with ki_thread_start(). */
#include <kinformer/informer.h>
#include <kinformer/resources.h>
#include <string.h>
#include <unistd.h>

#include "informer/informer.h"
#include "support/aside.h"
#include "support/exposition.h"
#include "support/failing_allocator.h"
#include "support/informer/told.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/units.h"

enum { SECOND = 1000, A_WHILE_MS = 30 };

/* The maximum number of events per run, and more than that. */
enum { RUN = 64, MANY = 5 * RUN };

/* ---- ends of batches --------------------------------------------------------------------------------- */

static void update_many(told *t)
{
    for (int i = 0; i < MANY; i++)
        sim_world_update(t->rig.world, (uint32_t)i % 5);
}

static void each_run_of_a_handler_with_a_backlog_ends_a_batch(void **state)
{
    (void)state;
    told t;
    told_init(&t);
    virtual_rig_sync(&t.rig);
    int before = t.what.batch_ends;
    update_many(&t);
    virtual_rig_run(&t.rig, 10);
    assert_int_equal(t.what.updates, MANY);
    assert_true(t.what.batch_ends - before >= MANY / RUN);
    told_fini(&t);
}

static void stop_at_the_tenth_update(heard *what, const ki_event *event)
{
    (void)event;
    if (what->updates == 9)
        ki_informer_stop(what->user);
}

static void a_batch_cut_short_by_a_stop_has_an_end(void **state)
{
    (void)state;
    told t;
    told_init(&t);
    virtual_rig_sync(&t.rig);
    int before = t.what.batch_ends;
    t.what.in_event = stop_at_the_tenth_update;
    t.what.user = t.rig.informer;
    update_many(&t);
    virtual_rig_run(&t.rig, 10);
    ki_informer_stop(t.rig.informer);
    assert_int_equal(t.what.updates, 10);
    assert_int_equal(t.what.batch_ends, before + 1);
    virtual_rig_sync(&t.rig);
    assert_int_equal(t.what.updates, MANY);
    told_assert_all(&t);
    told_fini(&t);
}

/* ---- the budget of a dispatch ------------------------------------------------------------------------ */

static void take_a_millisecond(heard *what, const ki_event *event)
{
    virtual_rig *rig = what->user;
    (void)event;
    ki_clock_advance_ns(&rig->clock, KI_NS_PER_MS);
}

static void free_slowly(heard *what, const ki_event *event)
{
    virtual_rig *rig = what->user;
    take_a_millisecond(what, event);
    ki_informer_free(rig->informer);
    rig->informer = NULL;
}

/* Registers `late` with a synced informer, whose five objects wait for it. */
static void come_late(told *t, heard *late, heard_cb in_event)
{
    told_init(t);
    virtual_rig_sync(&t->rig);
    heard_init(late);
    late->in_event = in_event;
    late->user = &t->rig;
    ki_handler handler = heard_handler(late);
    assert_non_null(ki_informer_add_handler(t->rig.informer, &handler, NULL));
}

/* Time passes only in the callbacks. */
static void an_exhausted_budget_ends_a_batch(void **state)
{
    (void)state;
    told t;
    heard late;
    come_late(&t, &late, take_a_millisecond);
    for (int i = 1; i <= 5; i++) {
        assert_int_equal(ki_client_dispatch(t.rig.client, 1), 1);
        assert_int_equal(heard_events(&late), i);
        assert_int_equal(late.batch_ends, i);
        assert_int_equal(late.synced, 0);
    }
    (void)ki_client_dispatch(t.rig.client, 1);
    assert_int_equal(late.synced, 1);
    assert_int_equal(late.batch_ends, 6);
    told_fini(&t);
    assert_int_equal(late.wrongs, 0);
    heard_fini(&late);
}

static void a_handler_that_exhausts_the_budget_may_free_its_informer(void **state)
{
    (void)state;
    told t;
    heard late;
    come_late(&t, &late, free_slowly);
    assert_int_equal(ki_client_dispatch(t.rig.client, 1), 1);
    assert_int_equal(ki_client_dispatch(t.rig.client, KI_BUDGET_NONE), 0);
    assert_int_equal(heard_events(&late), 1);
    assert_int_equal(late.releases, 1);
    told_fini(&t);
    assert_int_equal(late.wrongs, 0);
    heard_fini(&late);
}

/* ---- waiting for the sync ---------------------------------------------------------------------------- */

typedef struct run {
    local_rig rig;
    heard what;
    ki_registration *registration;
    int rc; /* the result of a wait */
    int has_synced;
    ki_error err;
} run;

static void run_init_with(run *r, size_t backlog_items_max, ki_overflow overflow)
{
    *r = (run){0};
    heard_init(&r->what);
    r->what.user = r;
    local_rig_init(&r->rig, (ki_client_options){0});
    ki_handler handler = heard_handler(&r->what);
    handler.backlog_items_max = backlog_items_max;
    handler.overflow = (ki_overflow)overflow;
    r->registration = ki_informer_add_handler(r->rig.informer, &handler, NULL);
    assert_non_null(r->registration);
}

static void run_init(run *r)
{
    run_init_with(r, 0, KI_OVERFLOW_COALESCE);
}

static void run_fini(run *r)
{
    local_rig_fini(&r->rig);
    assert_int_equal(r->what.releases, 1);
    assert_int_equal(r->what.wrongs, 0);
    heard_fini(&r->what);
}

static void wait_for_sync(void *user)
{
    run *r = user;
    r->rc = ki_registration_wait_for_sync(r->registration, HANG_MS, &r->err);
}

static void a_wait_lasts_until_all_objects_were_delivered(void **state)
{
    (void)state;
    run r;
    aside call;
    run_init(&r);
    heard_hold(&r.what);
    local_rig_sync(&r.rig);
    aside_start(&call, wait_for_sync, &r);
    assert_int_equal(aside_ends_within(&call, A_WHILE_MS), 0);
    heard_let_go(&r.what);
    assert_int_equal(aside_ends_within(&call, HANG_MS / 2), 1);
    aside_join(&call);
    assert_int_equal(r.rc, 0);
    assert_int_equal(r.what.adds, 3);
    assert_int_equal(ki_registration_wait_for_sync(r.registration, 0, NULL), 0);
    run_fini(&r);
}

static void a_wait_for_a_stuck_handler_reports_it(void **state)
{
    (void)state;
    run r;
    run_init(&r);
    heard_hold(&r.what);
    local_rig_sync(&r.rig);
    assert_int_equal(ki_registration_wait_for_sync(r.registration, A_WHILE_MS, &r.err), KI_ERR_TIMEOUT);
    assert_string_equal(r.err.message, "pods: the handler did not receive everything in time");
    heard_let_go(&r.what);
    run_fini(&r);
}

static void a_wait_before_the_first_list_reports_the_reason_of_the_informer(void **state)
{
    (void)state;
    run r;
    run_init(&r);
    local_source_set_silent(r.rig.source, 1);
    assert_int_equal(ki_informer_start(r.rig.informer, NULL), 0);
    for (int i = 0; i < 100 && strstr(r.err.message, "LISTING") == NULL; i++)
        assert_int_equal(ki_registration_wait_for_sync(r.registration, A_WHILE_MS, &r.err), KI_ERR_TIMEOUT);
    assert_non_null(strstr(r.err.message, "LISTING"));
    run_fini(&r);
}

static void a_stop_ends_the_wait_for_a_handler(void **state)
{
    (void)state;
    run r;
    aside call;
    run_init(&r);
    local_source_set_silent(r.rig.source, 1);
    assert_int_equal(ki_informer_start(r.rig.informer, NULL), 0);
    aside_start(&call, wait_for_sync, &r);
    assert_int_equal(aside_ends_within(&call, A_WHILE_MS), 0);
    ki_informer_stop(r.rig.informer);
    assert_int_equal(aside_ends_within(&call, HANG_MS / 2), 1);
    aside_join(&call);
    assert_int_equal(r.rc, KI_ERR_STOPPED);
    run_fini(&r);
}

static void wait_inside(heard *what, const ki_event *event)
{
    (void)event;
    run *r = what->user;
    r->rc = ki_registration_wait_for_sync(r->registration, HANG_MS, &r->err);
    r->has_synced = ki_registration_has_synced(r->registration);
}

static void a_wait_from_a_callback_is_refused(void **state)
{
    (void)state;
    run r;
    run_init(&r);
    r.what.in_event = wait_inside;
    local_rig_sync(&r.rig);
    assert_true(heard_wait(&r.what, &r.what.synced, 1));
    assert_int_equal(r.rc, KI_ERR_WOULD_DEADLOCK);
    assert_int_equal(r.has_synced, 0); /* its last add had not returned */
    assert_non_null(strstr(r.err.message, "callback"));
    assert_int_equal(ki_registration_wait_for_sync(NULL, 0, NULL), KI_ERR_INVALID);
    run_fini(&r);
}

static void a_handler_has_synced_when_on_synced_is_called(void **state)
{
    (void)state;
    run r;
    run_init(&r);
    r.what.in_synced = wait_inside;
    local_rig_sync(&r.rig);
    assert_true(heard_wait(&r.what, &r.what.synced, 1));
    assert_int_equal(r.has_synced, 1);
    run_fini(&r);
}

static void look_at_informer(heard *what, const ki_event *event)
{
    (void)event;
    run *r = what->user;
    char version[64];
    (void)ki_informer_last_resource_version(r->rig.informer, version, sizeof(version));
    r->has_synced = ki_informer_has_synced(r->rig.informer) && version[0] != 0;
}

/* A single run could pass by chance, so there are many. */
static void the_informer_has_synced_when_on_synced_is_called(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        run r;
        run_init(&r);
        r.what.in_synced = look_at_informer;
        local_rig_sync(&r.rig);
        assert_true(heard_wait(&r.what, &r.what.synced, 1));
        assert_int_equal(r.has_synced, 1);
        run_fini(&r);
    }
}

/* ---- metrics of the backlog -------------------------------------------------------------------------- */

static double number_of(const run *r, const char *name)
{
    exposition read;
    exposition_render(&read, ki_client_metrics(r->rig.client));
    double value = -1;
    for (size_t i = 0; i < read.count; i++)
        if (strcmp(read.samples[i].name, name) == 0)
            value = read.samples[i].value;
    exposition_free(&read);
    return value;
}

/* The handler does not return from an update of a/n0. */
static void hold_in_update(run *r)
{
    local_rig_sync(&r->rig);
    assert_true(heard_wait(&r->what, &r->what.synced, 1));
    heard_hold(&r->what);
    (void)local_source_put(r->rig.source, "a", "n0", 0);
    for (int i = 0; i < HANG_MS && r->what.inside == 0; i++)
        aside_pause(1);
    assert_int_equal(r->what.inside, 1);
}

static void the_backlog_of_a_stuck_handler_is_measured(void **state)
{
    (void)state;
    static const char backlog[] = "informer_listener_backlog";
    run r;
    run_init(&r);
    hold_in_update(&r);
    for (int i = 0; i < 50; i++)
        (void)local_source_put(r.rig.source, "a", "n0", i);
    for (int i = 0; i < HANG_MS / 10 && number_of(&r, backlog) < 50; i++)
        aside_pause(1);
    assert_true(number_of(&r, backlog) >= 50);
    heard_let_go(&r.what);
    for (int i = 0; i < HANG_MS / 10 && number_of(&r, backlog) > 0; i++)
        aside_pause(1);
    assert_true(number_of(&r, backlog) < 1);
    run_fini(&r);
}

static void events_merged_in_the_backlog_of_a_stuck_handler_are_counted(void **state)
{
    (void)state;
    ki_registration_stats stats;
    run r;
    run_init_with(&r, 2, KI_OVERFLOW_COALESCE);
    hold_in_update(&r);
    for (int i = 0; i < 50; i++)
        (void)local_source_put(r.rig.source, "a", "n0", i);
    local_rig_catch_up(&r.rig);
    for (int i = 0; i < HANG_MS / 10 && number_of(&r, "informer_listener_coalesced_total") < 40; i++)
        aside_pause(1);
    ki_registration_read_stats(r.registration, &stats);
    assert_true(stats.coalesced >= 40);
    assert_true(number_of(&r, "informer_listener_coalesced_total") >= 40);
    heard_let_go(&r.what);
    run_fini(&r);
}

static void stop(void *user)
{
    run *r = user;
    ki_informer_stop(r->rig.informer);
}

static void events_dropped_by_a_stop_are_no_longer_measured(void **state)
{
    (void)state;
    static const char queued[] = "informer_queued_items";
    run r;
    aside stopping;
    run_init_with(&r, 2, KI_OVERFLOW_BLOCK);
    hold_in_update(&r);
    for (int i = 0; i < HANG_MS / 10 && number_of(&r, queued) < 1; i++) {
        (void)local_source_put(r.rig.source, "a", i % 2 == 0 ? "n0" : "n1", i);
        aside_pause(1);
    }
    assert_true(number_of(&r, queued) >= 1);
    aside_start(&stopping, stop, &r);
    heard_let_go(&r.what);
    aside_join(&stopping);
    assert_true(number_of(&r, queued) < 1);
    run_fini(&r);
}

/* ---- removal with a backlog -------------------------------------------------------------------------- */

typedef struct removal {
    told *t;
    int releases;
    int while_held;
} removal;

static void look_at_lock(void *user)
{
    removal *r = user;
    pthread_mutex_t *mu = &r->t->rig.informer->life.mu.raw;
    r->releases++;
    if (pthread_mutex_trylock(mu) == 0)
        (void)pthread_mutex_unlock(mu);
    else
        r->while_held++;
}

static void remove_at_the_tenth_update(heard *what, const ki_event *event)
{
    (void)event;
    removal *r = what->user;
    if (what->updates != 9)
        return;
    failing_allocator_watch_releases(look_at_lock, r);
    ki_registration_remove(r->t->registration);
    failing_allocator_watch_releases(NULL, NULL);
}

static void a_removal_frees_the_backlog_at_once_and_without_the_lock(void **state)
{
    (void)state;
    told t;
    told_init(&t);
    virtual_rig_sync(&t.rig);
    removal r = {.t = &t};
    t.what.in_event = remove_at_the_tenth_update;
    t.what.user = &r;
    update_many(&t);
    virtual_rig_run(&t.rig, 10);
    assert_true(r.releases >= MANY / 2);
    assert_int_equal(r.while_held, 0);
    assert_int_equal(t.what.updates, 10);
    told_fini(&t);
}

/* ---- late handlers without memory -------------------------------------------------------------------- */

/* The next allocation is made by the join, and fails; no time passes. */
static void a_handler_that_cannot_join_does_not_delay_the_others(void **state)
{
    (void)state;
    told t;
    heard late;
    heard_init(&late);
    told_init(&t);
    virtual_rig_sync(&t.rig);
    virtual_rig_run(&t.rig, 5 * SECOND);
    ki_handler handler = heard_handler(&late);
    assert_non_null(ki_informer_add_handler(t.rig.informer, &handler, NULL));
    sim_world_update(t.rig.world, 1);
    sim_server_step(t.rig.server);
    failing_allocator_fail_at(1);
    assert_int_equal(ki_client_dispatch(t.rig.client, KI_BUDGET_NONE), 0);
    assert_true(failing_allocator_has_failed());
    failing_allocator_fail_at(0);
    assert_int_equal(t.what.updates, 1);
    assert_int_equal(heard_events(&late), 0);
    virtual_rig_run(&t.rig, SECOND);
    assert_int_equal(late.synced, 1);
    assert_int_equal(heard_differences(&late, ki_informer_store(t.rig.informer)), 0);
    told_assert_all(&t);
    told_fini(&t);
    assert_int_equal(late.wrongs, 0);
    heard_fini(&late);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(each_run_of_a_handler_with_a_backlog_ends_a_batch),
        WITH_MEMORY_CHECK(a_batch_cut_short_by_a_stop_has_an_end),
        WITH_MEMORY_CHECK(an_exhausted_budget_ends_a_batch),
        WITH_MEMORY_CHECK(a_handler_that_exhausts_the_budget_may_free_its_informer),
        WITH_MEMORY_CHECK(a_wait_lasts_until_all_objects_were_delivered),
        WITH_MEMORY_CHECK(a_wait_for_a_stuck_handler_reports_it),
        WITH_MEMORY_CHECK(a_wait_before_the_first_list_reports_the_reason_of_the_informer),
        WITH_MEMORY_CHECK(a_stop_ends_the_wait_for_a_handler),
        WITH_MEMORY_CHECK(a_wait_from_a_callback_is_refused),
        WITH_MEMORY_CHECK(a_handler_has_synced_when_on_synced_is_called),
        WITH_MEMORY_CHECK(the_informer_has_synced_when_on_synced_is_called),
        WITH_MEMORY_CHECK(the_backlog_of_a_stuck_handler_is_measured),
        WITH_MEMORY_CHECK(events_merged_in_the_backlog_of_a_stuck_handler_are_counted),
        WITH_MEMORY_CHECK(events_dropped_by_a_stop_are_no_longer_measured),
        WITH_MEMORY_CHECK(a_removal_frees_the_backlog_at_once_and_without_the_lock),
        WITH_MEMORY_CHECK(a_handler_that_cannot_join_does_not_delay_the_others),
    };
    (void)alarm(WATCHDOG_SECONDS);
    return RUN_TESTS(tests);
}
