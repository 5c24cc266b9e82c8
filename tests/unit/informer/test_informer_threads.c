/* SPDX-License-Identifier: Apache-2.0 */
/* An informer with its own threads and the real clock: which calls wait, and for what. The threads are the
 * library's and those that support/aside.c starts with ki_thread_start(). */
#include <inttypes.h>
#include <kinformer/informer.h>
#include <kinformer/resources.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/aside.h"
#include "support/informer/informer_rig.h"
#include "support/patience.h"
#include "support/store/store_objects.h"
#include "support/unit.h"

enum { A_WHILE_MS = 30 };

typedef struct run {
    local_rig rig;
    heard what;
    ki_registration *registration;
} run;

static void run_init_with(run *r, ki_client_options options, void (*adjust)(ki_handler *handler))
{
    heard_init(&r->what);
    local_rig_init(&r->rig, options);
    ki_handler handler = heard_handler(&r->what);
    if (adjust != NULL)
        adjust(&handler);
    r->registration = ki_informer_add_handler(r->rig.informer, &handler, NULL);
    assert_non_null(r->registration);
}

static void run_init(run *r)
{
    run_init_with(r, (ki_client_options){0}, NULL);
}

static void run_fini(run *r)
{
    local_rig_fini(&r->rig);
    assert_int_equal(r->what.releases, 1);
    assert_int_equal(r->what.wrongs, 0);
    heard_fini(&r->what);
}

static void assert_converges(run *r)
{
    local_rig_catch_up(&r->rig);
    const ki_store *store = ki_informer_store(r->rig.informer);
    assert_int_equal(local_source_differences(r->rig.source, store), 0);
    store_assert_sound(store);
    for (int i = 0; i < HANG_MS && heard_differences(&r->what, store) > 0; i++)
        aside_pause(1);
    assert_int_equal(heard_differences(&r->what, store), 0);
}

/* ---- running ----------------------------------------------------------------------------------------- */

static void threads_fill_the_store_and_call_the_handler(void **state)
{
    (void)state;
    run r;
    run_init(&r);
    local_rig_sync(&r.rig);
    assert_true(heard_wait(&r.what, &r.what.synced, 1));
    assert_int_equal(r.what.adds, 3);
    (void)local_source_put(r.rig.source, "a", "n0", 5);
    (void)local_source_put(r.rig.source, "c", "n9", 5);
    (void)local_source_delete(r.rig.source, "a", "n1");
    assert_converges(&r);
    assert_true(heard_wait(&r.what, &r.what.deletes, 1)); /* counted when the callback returns */
    assert_int_equal(r.what.updates, 1);
    assert_int_equal(r.what.deletes, 1);
    run_fini(&r);
}

static void a_program_can_wait_for_its_own_write(void **state)
{
    (void)state;
    run r;
    char version[24];
    int64_t value = 0;
    run_init(&r);
    local_rig_sync(&r.rig);
    for (int i = 0; i < 50; i++) {
        snprintf(version, sizeof(version), "%" PRIu64, local_source_put(r.rig.source, "a", "n0", i));
        assert_int_equal(ki_informer_wait_for_version(r.rig.informer, ki_str_of(version), HANG_MS, NULL), 0);
        ki_object *object = ki_store_get(ki_informer_store(r.rig.informer), KI_STR("a"), KI_STR("n0"));
        assert_int_equal(ki_object_get_int64(object, "/spec/value", &value), 0);
        assert_int_equal(value, i);
        (void)ki_object_unref(object);
    }
    run_fini(&r);
}

static void an_informer_recovers_from_a_cut_and_a_forgotten_history(void **state)
{
    (void)state;
    run r;
    run_init(&r);
    local_rig_sync(&r.rig);
    for (int i = 0; i < 3; i++) {
        local_source_set_silent(r.rig.source, 1);
        local_source_cut(r.rig.source);
        (void)local_source_put(r.rig.source, "a", "n0", i);
        (void)local_source_delete(r.rig.source, "a", i % 2 == 0 ? "n1" : "n7");
        (void)local_source_put(r.rig.source, "a", i % 2 == 0 ? "n7" : "n1", i);
        if (i != 1)
            local_source_forget(r.rig.source);
        local_source_set_silent(r.rig.source, 0);
        assert_converges(&r);
    }
    assert_true(local_source_lists(r.rig.source) >= 3);
    run_fini(&r);
}

static void a_restart_does_not_list_again(void **state)
{
    (void)state;
    run r;
    run_init(&r);
    local_rig_sync(&r.rig);
    ki_informer_stop(r.rig.informer);
    (void)local_source_put(r.rig.source, "a", "n0", 5);
    (void)local_source_delete(r.rig.source, "a", "n1");
    local_rig_sync(&r.rig);
    assert_converges(&r);
    assert_int_equal(local_source_lists(r.rig.source), 1);
    assert_int_equal(r.what.unknown, 0);
    run_fini(&r);
}

/* ---- waiting ----------------------------------------------------------------------------------------- */

static void a_wait_that_times_out_reports_the_state(void **state)
{
    (void)state;
    run r;
    ki_error err = {0};
    run_init(&r);
    local_source_set_status(r.rig.source, 403);
    assert_int_equal(ki_informer_start(r.rig.informer, NULL), 0);
    for (int i = 0; i < 100 && strstr(err.message, "Forbidden") == NULL; i++)
        assert_int_equal(ki_informer_wait_for_sync(r.rig.informer, A_WHILE_MS, &err), KI_ERR_TIMEOUT);
    assert_non_null(strstr(err.message, "pods"));
    assert_non_null(strstr(err.message, "Forbidden"));
    local_source_set_status(r.rig.source, 0);
    ki_informer_retry_now(r.rig.informer);
    assert_int_equal(ki_informer_wait_for_sync(r.rig.informer, HANG_MS, &err), 0);
    run_fini(&r);
}

static void a_wait_for_a_silent_server_names_the_phase(void **state)
{
    (void)state;
    run r;
    ki_error err = {0};
    run_init(&r);
    local_source_set_silent(r.rig.source, 1);
    assert_int_equal(ki_informer_start(r.rig.informer, NULL), 0);
    for (int i = 0; i < 100 && strstr(err.message, "LISTING") == NULL; i++)
        assert_int_equal(ki_informer_wait_for_sync(r.rig.informer, A_WHILE_MS, &err), KI_ERR_TIMEOUT);
    assert_non_null(strstr(err.message, "LISTING"));
    run_fini(&r);
}

static void a_wait_for_an_informer_that_was_never_started_ends_at_once(void **state)
{
    (void)state;
    run r;
    ki_error err = {0};
    run_init(&r);
    assert_int_equal(ki_informer_wait_for_sync(r.rig.informer, UINT64_MAX, &err), KI_ERR_STOPPED);
    assert_non_null(strstr(err.message, "never started"));
    assert_int_equal(ki_registration_wait_for_sync(r.registration, UINT64_MAX, &err), KI_ERR_STOPPED);
    run_fini(&r);
}

typedef struct waiting {
    ki_informer *informer;
    int rc;
} waiting;

static void wait_for_sync(void *user)
{
    waiting *w = user;
    w->rc = ki_informer_wait_for_sync(w->informer, HANG_MS, NULL);
}

static void a_stop_ends_the_wait_of_another_thread(void **state)
{
    (void)state;
    run r;
    aside call;
    run_init(&r);
    waiting w = {.informer = r.rig.informer};
    local_source_set_silent(r.rig.source, 1);
    assert_int_equal(ki_informer_start(r.rig.informer, NULL), 0);
    aside_start(&call, wait_for_sync, &w);
    assert_int_equal(aside_ends_within(&call, A_WHILE_MS), 0);
    ki_informer_stop(r.rig.informer);
    assert_int_equal(aside_ends_within(&call, HANG_MS), 1);
    aside_join(&call);
    assert_int_equal(w.rc, KI_ERR_STOPPED);
    run_fini(&r);
}

/* ---- slow callbacks ---------------------------------------------------------------------------------- */

static void stop(void *user)
{
    ki_informer_stop(user);
}

static void a_stop_waits_for_the_running_callback(void **state)
{
    (void)state;
    run r;
    aside call;
    run_init(&r);
    heard_hold(&r.what);
    local_rig_sync(&r.rig);
    for (int i = 0; i < HANG_MS && r.what.inside == 0; i++)
        aside_pause(1);
    aside_start(&call, stop, r.rig.informer);
    assert_int_equal(aside_ends_within(&call, A_WHILE_MS), 0);
    heard_let_go(&r.what);
    assert_int_equal(aside_ends_within(&call, HANG_MS), 1);
    aside_join(&call);
    assert_int_equal(heard_events(&r.what), 1); /* the other events wait for the restart */
    local_rig_sync(&r.rig);
    assert_converges(&r);
    run_fini(&r);
}

static void remove_and_wait(void *user)
{
    (void)!ki_registration_remove_and_wait(user);
}

static void removing_and_waiting_waits_for_the_running_callback(void **state)
{
    (void)state;
    run r;
    aside call;
    run_init(&r);
    heard_hold(&r.what);
    local_rig_sync(&r.rig);
    for (int i = 0; i < HANG_MS && r.what.inside == 0; i++)
        aside_pause(1);
    aside_start(&call, remove_and_wait, r.registration);
    assert_int_equal(aside_ends_within(&call, A_WHILE_MS), 0);
    assert_int_equal(r.what.releases, 0);
    heard_let_go(&r.what);
    aside_join(&call);
    assert_int_equal(r.what.releases, 1);
    assert_int_equal(heard_events(&r.what), 1);
    run_fini(&r);
}

static void removing_does_not_wait_for_the_running_callback(void **state)
{
    (void)state;
    run r;
    run_init(&r);
    heard_hold(&r.what);
    local_rig_sync(&r.rig);
    for (int i = 0; i < HANG_MS && r.what.inside == 0; i++)
        aside_pause(1);
    ki_registration_remove(r.registration);
    assert_int_equal(r.what.releases, 0);
    heard_let_go(&r.what);
    assert_true(heard_wait(&r.what, &r.what.releases, 1));
    assert_int_equal(heard_events(&r.what), 1);
    run_fini(&r);
}

static void a_slow_handler_delays_neither_the_store_nor_another_handler(void **state)
{
    (void)state;
    run r;
    heard other;
    heard_init(&other);
    run_init(&r);
    ki_handler handler = heard_handler(&other);
    assert_non_null(ki_informer_add_handler(r.rig.informer, &handler, NULL));
    heard_hold(&r.what);
    local_rig_sync(&r.rig);
    for (int i = 0; i < 100; i++)
        (void)local_source_put(r.rig.source, "a", "n0", i);
    local_rig_catch_up(&r.rig);
    assert_true(heard_wait(&other, &other.updates, 1));
    for (int i = 0; i < HANG_MS && heard_differences(&other, ki_informer_store(r.rig.informer)) > 0; i++)
        aside_pause(1);
    assert_int_equal(heard_differences(&other, ki_informer_store(r.rig.informer)), 0);
    assert_int_equal(heard_events(&r.what), 0);
    heard_let_go(&r.what);
    assert_converges(&r);
    run_fini(&r);
    heard_fini(&other);
}

static void backlog_of_two(ki_handler *handler)
{
    handler->backlog_items_max = 2;
}

static void past_its_limit_a_backlog_leaves_out_intermediate_states(void **state)
{
    (void)state;
    run r;
    ki_registration_stats stats;
    run_init_with(&r, (ki_client_options){0}, backlog_of_two);
    heard_hold(&r.what);
    local_rig_sync(&r.rig);
    for (int i = 0; i < 100; i++)
        (void)local_source_put(r.rig.source, "a", i % 2 == 0 ? "n0" : "n1", i);
    local_rig_catch_up(&r.rig);
    ki_registration_read_stats(r.registration, &stats);
    assert_true(stats.backlog <= 4);
    assert_true(stats.coalesced > 50);
    heard_let_go(&r.what);
    assert_converges(&r);
    run_fini(&r);
}

static void block_at_two(ki_handler *handler)
{
    handler->backlog_items_max = 2;
    handler->overflow = KI_OVERFLOW_BLOCK;
}

static void a_blocking_handler_pauses_only_its_own_informer(void **state)
{
    (void)state;
    run r;
    ki_error err = {0};
    char version[24];
    run_init_with(&r, (ki_client_options){0}, block_at_two);
    ki_informer *other = ki_informer_new(r.rig.client, &KI_CORE_V1_SECRETS, NULL, &err);
    assert_int_equal(ki_informer_start(other, &err), 0);
    assert_int_equal(ki_informer_wait_for_sync(other, HANG_MS, &err), 0);
    local_rig_sync(&r.rig);
    assert_true(heard_wait(&r.what, &r.what.synced, 1));
    heard_hold(&r.what);
    for (int i = 0; i < 100; i++)
        (void)local_source_put(r.rig.source, "a", "n0", i);
    ki_registration_stats stats = {0};
    for (int i = 0; i < HANG_MS && stats.backlog <= 2; i++) {
        aside_pause(1);
        ki_registration_read_stats(r.registration, &stats);
    }
    assert_true(stats.backlog > 2); /* later changes wait */
    snprintf(version, sizeof(version), "%" PRIu64, local_source_put(r.rig.source, "z", "last", 1));
    assert_int_equal(ki_informer_wait_for_version(other, ki_str_of(version), HANG_MS, &err), 0);
    assert_int_equal(ki_informer_wait_for_version(r.rig.informer, ki_str_of(version), A_WHILE_MS, &err),
                     KI_ERR_TIMEOUT);
    heard_let_go(&r.what);
    assert_converges(&r);
    ki_informer_free(other);
    run_fini(&r);
}

/* The server has sent the whole list, but it is not in the store yet. */
static void there_is_no_age_before_the_first_list_is_in_the_store(void **state)
{
    (void)state;
    run r;
    char name[16];
    ki_informer_status status = {0};
    run_init_with(&r, (ki_client_options){0}, block_at_two);
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof(name), "m%d", i);
        (void)local_source_put(r.rig.source, "a", name, i);
    }
    heard_hold(&r.what);
    assert_true(ki_informer_age_ms(r.rig.informer) == UINT64_MAX);
    assert_int_equal(ki_informer_start(r.rig.informer, NULL), 0);
    for (int i = 0; i < HANG_MS && status.phase != KI_PHASE_WATCHING; i++) {
        aside_pause(1);
        ki_informer_read_status(r.rig.informer, &status);
    }
    assert_int_equal(status.phase, KI_PHASE_WATCHING);
    assert_int_equal(ki_informer_has_synced(r.rig.informer), 0);
    assert_true(ki_informer_age_ms(r.rig.informer) == UINT64_MAX);
    heard_let_go(&r.what);
    local_rig_sync(&r.rig);
    assert_true(ki_informer_age_ms(r.rig.informer) <= HANG_MS);
    run_fini(&r);
}

static void a_blocking_handler_can_be_removed_and_the_informer_freed(void **state)
{
    (void)state;
    run r;
    run_init_with(&r, (ki_client_options){0}, block_at_two);
    local_rig_sync(&r.rig);
    assert_true(heard_wait(&r.what, &r.what.synced, 1));
    heard_hold(&r.what);
    for (int i = 0; i < 100; i++)
        (void)local_source_put(r.rig.source, "a", "n0", i);
    ki_registration_remove(r.registration);
    local_rig_catch_up(&r.rig);
    heard_let_go(&r.what);
    run_fini(&r);
}

static void a_handler_of_an_informer_that_never_started_is_released(void **state)
{
    (void)state;
    run r;
    heard other;
    heard_init(&other);
    run_init(&r);
    ki_handler handler = heard_handler(&other);
    ki_registration *registration = ki_informer_add_handler(r.rig.informer, &handler, NULL);
    assert_int_equal(ki_registration_remove_and_wait(registration), 0);
    assert_int_equal(other.releases, 1);
    ki_informer_stop(r.rig.informer);
    run_fini(&r);
    heard_fini(&other);
}

/* ---- threads of handlers ----------------------------------------------------------------------------- */

static void note_thread(heard *what, const ki_event *event)
{
    (void)event;
    *(pthread_t *)what->user = pthread_self();
}

static void handlers_may_share_one_thread(void **state)
{
    (void)state;
    run r;
    heard other;
    pthread_t threads[2] = {0};
    heard_init(&other);
    run_init_with(&r, (ki_client_options){.handler_threads = 1}, NULL);
    ki_handler handler = heard_handler(&other);
    assert_non_null(ki_informer_add_handler(r.rig.informer, &handler, NULL));
    r.what.user = &threads[0];
    other.user = &threads[1];
    r.what.in_event = other.in_event = note_thread;
    local_rig_sync(&r.rig);
    assert_true(heard_wait(&r.what, &r.what.synced, 1));
    assert_true(heard_wait(&other, &other.synced, 1));
    assert_converges(&r);
    run_fini(&r);
    assert_int_equal(other.releases, 1);
    assert_int_equal(other.adds, 3);
    assert_true(pthread_equal(threads[0], threads[1]));
    assert_false(pthread_equal(threads[0], pthread_self()));
    heard_fini(&other);
}

static void free_it(heard *what, const ki_event *event)
{
    (void)event;
    ki_informer *informer = what->user;
    what->user = NULL;
    ki_informer_free(informer);
}

static void a_client_waits_for_an_informer_that_was_freed_from_a_handler(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        run r;
        run_init(&r);
        r.what.in_event = free_it;
        r.what.user = r.rig.informer;
        assert_int_equal(ki_informer_start(r.rig.informer, NULL), 0);
        assert_true(heard_wait(&r.what, &r.what.releases, 1));
        r.rig.informer = NULL;
        run_fini(&r);
        assert_int_equal(heard_events(&r.what), 1);
    }
}

static void a_free_is_possible_at_any_time(void **state)
{
    (void)state;
    for (int i = 0; i < 60; i++) {
        run r;
        run_init(&r);
        assert_int_equal(ki_informer_start(r.rig.informer, NULL), 0);
        for (int k = 0; k < i; k++)
            (void)local_source_put(r.rig.source, "a", "n0", k);
        run_fini(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_fill_the_store_and_call_the_handler),
        cmocka_unit_test(a_program_can_wait_for_its_own_write),
        cmocka_unit_test(an_informer_recovers_from_a_cut_and_a_forgotten_history),
        cmocka_unit_test(a_restart_does_not_list_again),
        cmocka_unit_test(a_wait_that_times_out_reports_the_state),
        cmocka_unit_test(a_wait_for_a_silent_server_names_the_phase),
        cmocka_unit_test(a_stop_ends_the_wait_of_another_thread),
        cmocka_unit_test(a_wait_for_an_informer_that_was_never_started_ends_at_once),
        cmocka_unit_test(a_stop_waits_for_the_running_callback),
        cmocka_unit_test(removing_and_waiting_waits_for_the_running_callback),
        cmocka_unit_test(removing_does_not_wait_for_the_running_callback),
        cmocka_unit_test(a_slow_handler_delays_neither_the_store_nor_another_handler),
        cmocka_unit_test(past_its_limit_a_backlog_leaves_out_intermediate_states),
        cmocka_unit_test(a_blocking_handler_pauses_only_its_own_informer),
        cmocka_unit_test(there_is_no_age_before_the_first_list_is_in_the_store),
        cmocka_unit_test(a_blocking_handler_can_be_removed_and_the_informer_freed),
        cmocka_unit_test(a_handler_of_an_informer_that_never_started_is_released),
        cmocka_unit_test(handlers_may_share_one_thread),
        cmocka_unit_test(a_client_waits_for_an_informer_that_was_freed_from_a_handler),
        cmocka_unit_test(a_free_is_possible_at_any_time),
    };
    (void)alarm(WATCHDOG_SECONDS);
    return RUN_TESTS(tests);
}
