/* SPDX-License-Identifier: Apache-2.0 */
/* A client: its modes, its descriptor, and which calls wait on which thread. Some of the threads are those
 * that support/aside.c starts with ki_thread_start(). */
#include <kinformer/client.h>
#include <kinformer/resources.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/client.h"
#include "support/aside.h"
#include "support/failing_allocator.h"
#include "support/informer/informer_rig.h"
#include "support/patience.h"
#include "support/unit.h"
#include "util/units.h"

typedef struct run {
    local_rig rig;
    heard what;
    pthread_t main_thread;
} run;

/* Handlers must be called on the main thread only. */
static void check_thread(heard *what, const ki_event *event)
{
    (void)event;
    const run *r = what->user;
    what->wrongs += !pthread_equal(pthread_self(), r->main_thread);
}

static void run_init(run *r, int mode)
{
    heard_init(&r->what);
    r->main_thread = pthread_self();
    local_rig_init(&r->rig, (ki_client_options){.mode = (ki_mode)mode});
    ki_handler handler = heard_handler(&r->what);
    assert_non_null(ki_informer_add_handler(r->rig.informer, &handler, NULL));
    r->what.in_event = r->what.in_synced = check_thread;
    r->what.user = r;
}

static void run_fini(run *r)
{
    local_rig_fini(&r->rig);
    assert_int_equal(r->what.releases, 1);
    assert_int_equal(r->what.wrongs, 0);
    heard_fini(&r->what);
}

/* Polls like the loop of a program. Returns whether the counter has reached the value. */
static int poll_until(run *r, atomic_int *counter, int at_least)
{
    for (int i = 0; i < HANG_MS && *counter < at_least; i++) {
        struct pollfd fd = {.fd = ki_client_fd(r->rig.client), .events = POLLIN};
        int timeout_ms = ki_client_timeout_ms(r->rig.client);
        (void)poll(&fd, 1, timeout_ms < 0 || timeout_ms > 1000 ? 1000 : timeout_ms);
        assert_true(ki_client_dispatch(r->rig.client, KI_BUDGET_NONE) >= 0);
    }
    return *counter >= at_least;
}

/* ---- creating ---------------------------------------------------------------------------------------- */

static void a_client_without_options_has_threads_and_no_descriptor(void **state)
{
    (void)state;
    ki_error err = {0};
    ki_client *client = ki_client_new(&(ki_client_options){.no_cluster = 1}, &err);
    assert_non_null(client);
    assert_int_equal(ki_client_fd(client), -1);
    assert_int_equal(ki_client_timeout_ms(client), -1);
    assert_int_equal(ki_client_dispatch(client, KI_BUDGET_NONE), KI_ERR_INVALID);
    assert_non_null(ki_client_metrics(client));
    ki_client_free(client);
}

static void a_mode_that_does_not_exist_is_refused(void **state)
{
    (void)state;
    ki_error err = {0};
    assert_null(ki_client_new(&(ki_client_options){.mode = 3}, &err));
    assert_int_equal(err.code, KI_ERR_INVALID);
    assert_null(ki_client_new(&(ki_client_options){.mode = (ki_mode)-1}, NULL));
}

static void threads_for_handlers_without_threads_are_refused(void **state)
{
    (void)state;
    for (int mode = KI_MODE_HANDLERS_ON_LOOP; mode <= KI_MODE_EVENT_LOOP; mode++) {
        ki_error err = {0};
        ki_client_options options = {.mode = (ki_mode)mode, .no_cluster = 1, .handler_threads = 2};
        assert_null(ki_client_new(&options, &err));
        assert_int_equal(err.code, KI_ERR_INVALID);
        assert_non_null(strstr(err.message, "handler_threads"));
    }
}

static void a_null_client_is_harmless(void **state)
{
    (void)state;
    ki_client_free(NULL);
    assert_null(ki_client_metrics(NULL));
    assert_int_equal(ki_client_fd(NULL), -1);
    assert_int_equal(ki_client_timeout_ms(NULL), -1);
    assert_int_equal(ki_client_dispatch(NULL, KI_BUDGET_NONE), KI_ERR_INVALID);
}

static void clients_may_share_their_metrics(void **state)
{
    (void)state;
    ki_metrics *metrics = ki_metrics_new(NULL, NULL);
    ki_client *client = ki_client_new(&(ki_client_options){.metrics = metrics, .no_cluster = 1}, NULL);
    ki_client *other = ki_client_new(&(ki_client_options){.metrics = metrics, .no_cluster = 1}, NULL);
    assert_ptr_equal(ki_client_metrics(client), metrics);
    assert_ptr_equal(ki_client_metrics(other), metrics);
    ki_client_free(client);
    ki_client_free(other);
    ki_metrics_free(metrics);
}

static void when_out_of_memory_no_client_is_created(void **state)
{
    (void)state;
    ki_client *client = NULL;
    for (size_t n = 1; client == NULL; n++) {
        ki_error err = {0};
        failing_allocator_fail_at(n);
        client = ki_client_new(&(ki_client_options){.mode = KI_MODE_EVENT_LOOP, .no_cluster = 1}, &err);
        assert_true(client != NULL || err.code == KI_ERR_NO_MEMORY);
    }
    failing_allocator_fail_at(0);
    ki_client_free(client);
}

/* ---- the source -------------------------------------------------------------------------------------- */

typedef struct asked {
    char plural[16];
    char ns[16];
    int calls;
} asked;

static int refuse(const ki_resource *resource, const char *ns, ki_list_watch *out_list_watch, ki_error *err,
                  void *user)
{
    (void)out_list_watch;
    asked *a = user;
    a->calls++;
    snprintf(a->plural, sizeof(a->plural), "%s", resource->plural);
    snprintf(a->ns, sizeof(a->ns), "%s", ns);
    ki_error mine = {.code = KI_ERR_RESOURCE, .message = "no such thing"};
    *err = mine;
    return KI_ERR_RESOURCE;
}

static void the_source_of_a_client_is_opened_for_each_collection(void **state)
{
    (void)state;
    asked a = {0};
    ki_error err = {0};
    ki_client *client = ki_client_new(&(ki_client_options){.source = refuse, .source_user = &a}, NULL);
    assert_null(ki_informer_new(client, &KI_CORE_V1_PODS, &(ki_informer_options){.ns = "web"}, &err));
    assert_int_equal(err.code, KI_ERR_RESOURCE);
    assert_string_equal(err.message, "no such thing");
    assert_string_equal(a.plural, "pods");
    assert_string_equal(a.ns, "web");
    assert_null(ki_informer_new(client, &KI_CORE_V1_PODS, NULL, &err));
    assert_string_equal(a.ns, "");
    assert_int_equal(a.calls, 2);
    ki_client_free(client);
}

static void a_source_is_released_when_its_informer_is_gone(void **state)
{
    (void)state;
    local_rig rig;
    local_rig_init(&rig, (ki_client_options){0});
    assert_int_equal(local_source_opened(rig.source), 1);
    assert_int_equal(local_source_released(rig.source), 0);
    ki_informer_free(rig.informer);
    rig.informer = NULL;
    assert_int_equal(local_source_released(rig.source), 1);
    local_rig_fini(&rig);
}

/* ---- the program's loop ------------------------------------------------------------------------------ */

static void everything_runs_in_dispatch_in_event_loop_mode(void **state)
{
    (void)state;
    run r;
    run_init(&r, KI_MODE_EVENT_LOOP);
    assert_int_equal(ki_informer_start(r.rig.informer, NULL), 0);
    aside_pause(20);
    assert_int_equal(local_source_lists(r.rig.source), 0);
    assert_true(poll_until(&r, &r.what.synced, 1));
    (void)local_source_put(r.rig.source, "a", "n0", 9);
    assert_true(poll_until(&r, &r.what.updates, 1));
    assert_int_equal(heard_differences(&r.what, ki_informer_store(r.rig.informer)), 0);
    run_fini(&r);
}

static void handlers_run_in_dispatch_in_handlers_on_loop_mode(void **state)
{
    (void)state;
    run r;
    run_init(&r, KI_MODE_HANDLERS_ON_LOOP);
    assert_int_equal(ki_informer_start(r.rig.informer, NULL), 0);
    for (int i = 0; i < HANG_MS && !ki_informer_has_synced(r.rig.informer); i++)
        aside_pause(1);
    assert_int_equal(ki_informer_has_synced(r.rig.informer), 1);
    assert_int_equal(heard_events(&r.what), 0);
    assert_true(poll_until(&r, &r.what.synced, 1));
    (void)local_source_put(r.rig.source, "a", "n0", 9);
    assert_true(poll_until(&r, &r.what.updates, 1));
    assert_int_equal(heard_differences(&r.what, ki_informer_store(r.rig.informer)), 0);
    run_fini(&r);
}

/* The store has changed but there is no handler, so the program need not wake up. */
static void changes_without_a_handler_do_not_make_the_descriptor_readable(void **state)
{
    (void)state;
    local_rig rig;
    char before[32];
    char version[32];
    local_rig_init(&rig, (ki_client_options){.mode = KI_MODE_HANDLERS_ON_LOOP});
    local_rig_sync(&rig);
    struct pollfd fd = {.fd = ki_client_fd(rig.client), .events = POLLIN};
    for (int i = 0; i < 20; i++) {
        (void)ki_client_dispatch(rig.client, KI_BUDGET_NONE);
        (void)ki_informer_last_resource_version(rig.informer, before, sizeof(before));
        (void)local_source_put(rig.source, "a", "n0", i);
        for (int k = 0; k < HANG_MS; k++) {
            (void)ki_informer_last_resource_version(rig.informer, version, sizeof(version));
            if (strcmp(version, before) != 0)
                break;
            aside_pause(1);
        }
        assert_string_not_equal(version, before);
        assert_int_equal(poll(&fd, 1, 2), 0);
    }
    local_rig_fini(&rig);
}

static void put_something(void *user)
{
    (void)local_source_put(user, "x", "aside", 1);
}

static void a_change_from_another_thread_makes_the_descriptor_readable(void **state)
{
    (void)state;
    run r;
    aside call;
    run_init(&r, KI_MODE_EVENT_LOOP);
    assert_int_equal(ki_informer_start(r.rig.informer, NULL), 0);
    assert_true(poll_until(&r, &r.what.synced, 1));
    struct pollfd fd = {.fd = ki_client_fd(r.rig.client), .events = POLLIN};
    (void)ki_client_dispatch(r.rig.client, KI_BUDGET_NONE);
    assert_int_equal(poll(&fd, 1, 0), 0);
    aside_start(&call, put_something, r.rig.source);
    assert_int_equal(poll(&fd, 1, HANG_MS), 1);
    assert_true(poll_until(&r, &r.what.adds, 4));
    aside_join(&call);
    run_fini(&r);
}

static void a_timer_is_in_the_timeout_and_makes_the_descriptor_readable(void **state)
{
    (void)state;
    run r;
    ki_informer_status status;
    run_init(&r, KI_MODE_EVENT_LOOP);
    local_source_set_status(r.rig.source, 500);
    assert_int_equal(ki_informer_start(r.rig.informer, NULL), 0);
    do {
        (void)ki_client_dispatch(r.rig.client, KI_BUDGET_NONE);
        ki_informer_read_status(r.rig.informer, &status);
    } while (status.phase != KI_PHASE_BACKING_OFF);
    int timeout_ms = ki_client_timeout_ms(r.rig.client);
    assert_true(timeout_ms >= 0 && timeout_ms <= 2000);
    struct pollfd fd = {.fd = ki_client_fd(r.rig.client), .events = POLLIN};
    assert_int_equal(poll(&fd, 1, HANG_MS), 1);
    local_source_set_status(r.rig.source, 0);
    assert_true(poll_until(&r, &r.what.synced, 1));
    run_fini(&r);
}

static void waiting_works_in_every_mode(void **state)
{
    (void)state;
    for (int mode = KI_MODE_THREADS; mode <= KI_MODE_EVENT_LOOP; mode++) {
        run r;
        run_init(&r, mode);
        if (mode == KI_MODE_THREADS)
            r.what.in_event = r.what.in_synced = NULL;
        local_rig_sync(&r.rig);
        (void)local_source_put(r.rig.source, "a", "n0", 9);
        local_rig_catch_up(&r.rig);
        assert_int_equal(local_source_differences(r.rig.source, ki_informer_store(r.rig.informer)), 0);
        ki_informer_stop(r.rig.informer);
        local_rig_sync(&r.rig);
        run_fini(&r);
    }
}

static void a_wait_keeps_its_timeout_in_every_mode(void **state)
{
    (void)state;
    for (int mode = KI_MODE_THREADS; mode <= KI_MODE_EVENT_LOOP; mode++) {
        run r;
        run_init(&r, mode);
        local_source_set_silent(r.rig.source, 1);
        assert_int_equal(ki_informer_start(r.rig.informer, NULL), 0);
        uint64_t began_ms = ki_clock_now_ms(ki_clock_real());
        assert_int_equal(ki_informer_wait_for_sync(r.rig.informer, 50, NULL), KI_ERR_TIMEOUT);
        uint64_t passed_ms = ki_clock_now_ms(ki_clock_real()) - began_ms;
        assert_true(passed_ms >= 50 && passed_ms < AT_ONCE_MS);
        run_fini(&r);
    }
}

static void keep_busy(heard *what, const ki_event *event)
{
    (void)event;
    run *r = what->user;
    (void)local_source_put(r->rig.source, "a", "n0", what->updates);
}

/* Each event causes the next one, so there is always something to run. */
static void a_wait_keeps_its_timeout_when_work_never_ends(void **state)
{
    (void)state;
    run r;
    run_init(&r, KI_MODE_EVENT_LOOP);
    local_rig_sync(&r.rig);
    r.what.in_event = keep_busy;
    (void)local_source_put(r.rig.source, "a", "n0", 1);
    assert_int_equal(ki_informer_wait_for_version(r.rig.informer, ki_str_of("999999999"), 100, NULL),
                     KI_ERR_TIMEOUT);
    assert_true(r.what.updates > 1);
    r.what.in_event = NULL;
    run_fini(&r);
}

static void take_a_millisecond(heard *what, const ki_event *event)
{
    (void)what;
    (void)event;
    uint64_t until_ns = ki_clock_now_ns(ki_clock_real()) + KI_NS_PER_MS;
    while (ki_clock_now_ns(ki_clock_real()) < until_ns)
        ;
}

/* The default budget is a few milliseconds, far less than a hundred. */
static void a_budget_of_zero_is_the_default_and_none_is_unlimited(void **state)
{
    enum { EVENTS = 100 };
    (void)state;
    run r;
    run_init(&r, KI_MODE_EVENT_LOOP);
    local_rig_sync(&r.rig);
    int before = heard_events(&r.what);
    r.what.in_event = take_a_millisecond;
    for (int i = 0; i < EVENTS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "late%d", i);
        (void)local_source_put(r.rig.source, "a", name, 1);
    }
    assert_int_equal(ki_client_dispatch(r.rig.client, 0), 1);
    assert_true(heard_events(&r.what) < before + EVENTS / 2);
    assert_int_equal(ki_client_dispatch(r.rig.client, KI_BUDGET_NONE), 0);
    assert_int_equal(heard_events(&r.what), before + EVENTS);
    run_fini(&r);
}

static void a_budget_ends_a_dispatch_when_work_never_ends(void **state)
{
    (void)state;
    run r;
    run_init(&r, KI_MODE_EVENT_LOOP);
    local_rig_sync(&r.rig);
    r.what.in_event = keep_busy;
    (void)local_source_put(r.rig.source, "a", "n0", 1);
    assert_int_equal(ki_client_dispatch(r.rig.client, 20), 1);
    r.what.in_event = NULL;
    run_fini(&r);
}

static void threads_are_started_with_the_first_informer_and_end_with_the_client(void **state)
{
    (void)state;
    run r;
    run_init(&r, KI_MODE_THREADS);
    r.what.in_event = r.what.in_synced = NULL;
    assert_int_equal(r.rig.client->loops[0].thread_count, 0);
    local_rig_sync(&r.rig);
    assert_int_equal(r.rig.client->io->thread_count, 1);
    assert_int_equal(r.rig.client->dispatch->thread_count, 1);
    assert_int_equal(r.rig.client->handlers->thread_count, 1);
    assert_non_null(ki_informer_add_handler(r.rig.informer, &(ki_handler){0}, NULL));
    assert_int_equal(r.rig.client->handlers->thread_count, 2);
    run_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_client_without_options_has_threads_and_no_descriptor),
        cmocka_unit_test(a_mode_that_does_not_exist_is_refused),
        cmocka_unit_test(threads_for_handlers_without_threads_are_refused),
        cmocka_unit_test(a_null_client_is_harmless),
        WITH_MEMORY_CHECK(clients_may_share_their_metrics),
        WITH_MEMORY_CHECK(when_out_of_memory_no_client_is_created),
        WITH_MEMORY_CHECK(the_source_of_a_client_is_opened_for_each_collection),
        WITH_MEMORY_CHECK(a_source_is_released_when_its_informer_is_gone),
        WITH_MEMORY_CHECK(everything_runs_in_dispatch_in_event_loop_mode),
        WITH_MEMORY_CHECK(handlers_run_in_dispatch_in_handlers_on_loop_mode),
        WITH_MEMORY_CHECK(changes_without_a_handler_do_not_make_the_descriptor_readable),
        WITH_MEMORY_CHECK(a_change_from_another_thread_makes_the_descriptor_readable),
        WITH_MEMORY_CHECK(a_timer_is_in_the_timeout_and_makes_the_descriptor_readable),
        WITH_MEMORY_CHECK(waiting_works_in_every_mode),
        WITH_MEMORY_CHECK(a_wait_keeps_its_timeout_in_every_mode),
        WITH_MEMORY_CHECK(a_wait_keeps_its_timeout_when_work_never_ends),
        WITH_MEMORY_CHECK(a_budget_of_zero_is_the_default_and_none_is_unlimited),
        WITH_MEMORY_CHECK(a_budget_ends_a_dispatch_when_work_never_ends),
        WITH_MEMORY_CHECK(threads_are_started_with_the_first_informer_and_end_with_the_client),
    };
    (void)alarm(WATCHDOG_SECONDS);
    return RUN_TESTS(tests);
}
