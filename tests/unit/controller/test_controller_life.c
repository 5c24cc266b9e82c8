/* SPDX-License-Identifier: Apache-2.0 */
/* Starting, stopping and freeing a controller, in any order and from any place. */
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "controller/controller.h"
#include "support/controller/controller_rig.h"
#include "support/failing_allocator.h"
#include "support/informer/informer_rig.h"
#include "support/patience.h"
#include "support/unit.h"

static void start(controller_rig *rig)
{
    ki_error err = {0};
    assert_int_equal(ki_controller_start(rig->controller, &err), 0);
}

static void enqueue(controller_rig *rig, const char *key)
{
    assert_int_equal(ki_controller_enqueue(rig->controller, ki_str_of(key), 0), 0);
    controller_rig_run(rig, 0);
}

/* ---- virtual time ------------------------------------------------------------------------------------ */

static void keys_added_while_it_is_stopped_are_kept(void **state)
{
    (void)state;
    controller_rig rig;
    controller_rig_init(&rig, NULL);
    enqueue(&rig, "a");
    enqueue(&rig, "a");
    RIG_EXPECT(&rig, "");
    assert_int_equal(controller_rig_status(&rig).is_running, 0);
    start(&rig);
    start(&rig); /* has no effect */
    controller_rig_run(&rig, 0);
    RIG_EXPECT(&rig, "a ");
    assert_int_equal(controller_rig_status(&rig).is_running, 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ki_controller_stop(rig.controller, NULL), 0);
        enqueue(&rig, "b");
        enqueue(&rig, "c");
        RIG_EXPECT(&rig, "");
        start(&rig);
        controller_rig_run(&rig, 0);
        RIG_EXPECT(&rig, "b c ");
    }
    controller_rig_fini(&rig);
}

static ki_result later(controller_rig *rig, ki_request *request)
{
    rig->pending[rig->pending_count++] = request;
    return ki_later();
}

static void a_stop_names_the_reconciles_that_have_not_ended(void **state)
{
    (void)state;
    controller_rig rig;
    ki_error err = {0};
    controller_rig_init(&rig, &(ki_controller_options){.workers = 2});
    rig.reconcile = later;
    start(&rig);
    enqueue(&rig, "slow");
    enqueue(&rig, "slower");
    enqueue(&rig, "next");
    assert_int_equal(ki_controller_stop(rig.controller, &err), KI_ERR_TIMEOUT);
    assert_string_equal(err.message, "controller test: 2 reconciles are still running: slow, slower");
    assert_int_equal(rig.controller->options.stop_timeout_ms,
                     30000); /* it did not wait: virtual time does not pass in a stop */
    for (size_t i = 0; i < 2; i++)
        ki_request_finish(rig.pending[i], ki_done());
    controller_rig_run(&rig, 0);
    RIG_EXPECT(&rig, "slow slower ");
    assert_int_equal(ki_controller_stop(rig.controller, &err), 0);
    controller_rig_fini(&rig);
}

static void a_stop_names_as_many_reconciles_as_fit_in_a_message(void **state)
{
    (void)state;
    enum { COUNT = RIG_PENDING_MAX };
    char key[64];
    controller_rig rig;
    ki_error err = {0};
    controller_rig_init(&rig, &(ki_controller_options){.workers = COUNT});
    rig.reconcile = later;
    start(&rig);
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(key, sizeof(key), "default/the-name-of-an-object-is-long-%02d", i);
        enqueue(&rig, key);
    }
    assert_int_equal(ki_controller_stop(rig.controller, &err), KI_ERR_TIMEOUT);
    assert_non_null(strstr(
        err.message, "8 reconciles are still running: default/the-name-of-an-object-is-long-00, default/"));
    assert_string_equal(err.message + strlen(err.message) - 3, "...");
    for (size_t i = 0; i < COUNT; i++)
        ki_request_finish(rig.pending[i], ki_done());
    controller_rig_fini(&rig);
}

static ki_result stop_inside(controller_rig *rig, ki_request *request)
{
    (void)request;
    assert_int_equal(ki_controller_stop(rig->controller, NULL), 0);
    return ki_done();
}

static void a_reconcile_may_stop_its_controller(void **state)
{
    (void)state;
    controller_rig rig;
    controller_rig_init(&rig, NULL);
    rig.reconcile = stop_inside;
    start(&rig);
    assert_int_equal(ki_controller_enqueue(rig.controller, KI_STR("a"), 0), 0);
    enqueue(&rig, "b");
    RIG_EXPECT(&rig, "a ");
    start(&rig);
    controller_rig_run(&rig, 0);
    RIG_EXPECT(&rig, "b ");
    controller_rig_fini(&rig);
}

static void run_returns_when_a_reconcile_stops_it(void **state)
{
    (void)state;
    controller_rig rig;
    ki_error err = {0};
    controller_rig_init(&rig, NULL);
    rig.reconcile = stop_inside;
    assert_int_equal(ki_controller_enqueue(rig.controller, KI_STR("a"), 0), 0);
    assert_int_equal(ki_controller_run(rig.controller, &err), 0);
    RIG_EXPECT(&rig, "a ");
    assert_int_equal(ki_controller_run(NULL, &err), KI_ERR_INVALID);
    controller_rig_fini(&rig);
}

static ki_result stop_with_the_second(controller_rig *rig, ki_request *request)
{
    return rig->pending_count == 0 ? later(rig, request) : stop_inside(rig, request);
}

static void run_names_the_reconciles_that_have_not_ended(void **state)
{
    (void)state;
    controller_rig rig;
    ki_error err = {0};
    controller_rig_init(&rig, &(ki_controller_options){.workers = 2});
    rig.reconcile = stop_with_the_second;
    enqueue(&rig, "slow");
    enqueue(&rig, "last");
    assert_int_equal(ki_controller_run(rig.controller, &err), KI_ERR_TIMEOUT);
    assert_string_equal(err.message, "controller test: 1 reconcile is still running: slow");
    ki_request_finish(rig.pending[0], ki_done());
    RIG_EXPECT(&rig, "slow last ");
    controller_rig_fini(&rig);
}

static ki_result free_inside(controller_rig *rig, ki_request *request)
{
    (void)request;
    ki_error err = {0};
    assert_int_equal(ki_controller_run(rig->controller, &err), KI_ERR_WOULD_DEADLOCK);
    ki_controller_free(rig->controller);
    assert_int_equal(rig->released, 0);
    rig->controller = NULL;
    return ki_done();
}

static void a_reconcile_may_free_its_controller(void **state)
{
    (void)state;
    controller_rig rig;
    controller_rig_init(&rig, NULL);
    rig.reconcile = free_inside;
    start(&rig);
    enqueue(&rig, "a");
    assert_int_equal(rig.released, 1);
    RIG_EXPECT(&rig, "a ");
    controller_rig_fini(&rig);
}

static void a_controller_may_be_freed_while_it_runs(void **state)
{
    (void)state;
    controller_rig rig;
    ki_error err = {0};
    controller_rig_init(&rig, NULL);
    rig.reconcile = free_inside;
    assert_int_equal(ki_controller_enqueue(rig.controller, KI_STR("a"), 0), 0);
    assert_int_equal(ki_controller_run(rig.controller, &err), 0);
    assert_int_equal(rig.released, 1);
    RIG_EXPECT(&rig, "a ");
    controller_rig_fini(&rig);
}

static ki_result free_client_inside(controller_rig *rig, ki_request *request)
{
    (void)request;
    ki_client_free(rig->client);
    rig->client = NULL;
    return ki_done();
}

static void a_reconcile_may_free_the_client(void **state)
{
    (void)state;
    controller_rig rig;
    ki_error err = {0};
    controller_rig_init(&rig, NULL);
    rig.reconcile = free_client_inside;
    start(&rig);
    assert_int_equal(ki_controller_enqueue(rig.controller, KI_STR("a"), 0), 0);
    assert_int_equal(ki_controller_enqueue(rig.controller, KI_STR("b"), 0), 0);
    (void)ki_client_dispatch(rig.client, KI_BUDGET_NONE);
    RIG_EXPECT(&rig, "a ");
    assert_int_equal(ki_controller_start(rig.controller, &err), KI_ERR_STOPPED);
    assert_null(ki_controller_new(NULL, NULL, &err));
    controller_rig_fini(&rig);
}

/* Frees controller, informers and client in each order. */
static void everything_may_be_freed_in_any_order(void **state)
{
    (void)state;
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int i = 0; i < 6; i++) {
        controller_rig rig;
        controller_rig_init(&rig, NULL);
        assert_int_equal(ki_controller_watch(rig.controller, rig.informers[RIG_PODS], NULL), 0);
        start(&rig);
        controller_rig_sync(&rig, "", rig_object("a", "x", 5, ""));
        RIG_EXPECT(&rig, "a/x ");
        for (int j = 0; j < 3; j++) {
            int what = orders[i][j];
            if (what == 0)
                ki_controller_free(rig.controller);
            if (what == 1)
                ki_informer_free(rig.informers[RIG_PODS]);
            if (what == 2)
                ki_client_free(rig.client);
        }
        rig.controller = NULL;
        rig.informers[RIG_PODS] = NULL;
        rig.client = NULL;
        controller_rig_fini(&rig);
    }
}

static void invalid_options_are_refused(void **state)
{
    (void)state;
    controller_rig rig;
    ki_error err = {0};
    controller_rig_init(&rig, NULL);
    assert_null(ki_controller_new(rig.client, &(ki_controller_options){.name = "x"}, &err));
    assert_string_equal(err.message, "controller x: no reconcile function");
    ki_controller_options options = {.limiter = ki_limiter_new_default(&err)}; /* taken even on failure */
    assert_null(ki_controller_new(rig.client, &options, &err));
    assert_string_equal(err.message, "controller: no name");
    ki_controller_free(NULL);
    assert_int_equal(ki_controller_stop(NULL, NULL), 0);
    options.limiter = ki_limiter_new_default(&err);
    assert_null(ki_controller_new(NULL, &options, &err));
    assert_int_equal(ki_controller_start(NULL, &err), KI_ERR_INVALID);
    controller_rig_fini(&rig);
}

/* ---- threads ----------------------------------------------------------------------------------------- */

typedef struct threaded {
    local_rig rig;
    ki_controller *controller;
    ki_controller *other; /* freed by a reconcile */
    _Atomic int calls;
    _Atomic int is_blocked;
    _Atomic int released;
    ki_request *_Atomic pending;
    void (*act)(struct threaded *t, ki_request *request);
    int verdict;
} threaded;

static ki_result reconcile(ki_request *request, void *user)
{
    threaded *t = user;
    if (t->act != NULL)
        t->act(t, request);
    t->calls++;
    return t->verdict == KI_VERDICT_LATER ? ki_later() : ki_done();
}

static void on_release(void *user)
{
    ((threaded *)user)->released++;
}

static void threaded_init(threaded *t, ki_controller_options options,
                          void (*act)(threaded *t, ki_request *request))
{
    ki_error err = {0};
    *t = (threaded){.act = act};
    local_rig_init(&t->rig, (ki_client_options){0});
    options.name = "test";
    options.reconcile = reconcile;
    options.on_release = on_release;
    options.user = t;
    t->controller = ki_controller_new(t->rig.client, &options, &err);
    assert_non_null(t->controller);
    assert_int_equal(ki_controller_start(t->controller, &err), 0);
}

static void wait_for(_Atomic int *value, int least)
{
    for (int i = 0; i < HANG_MS && *value < least; i++)
        (void)poll(NULL, 0, 1);
    assert_true(*value >= least);
}

static void block(threaded *t, ki_request *request)
{
    (void)request;
    while (t->is_blocked)
        (void)poll(NULL, 0, 1);
}

static void a_stop_waits_for_workers_within_its_limit(void **state)
{
    (void)state;
    threaded t;
    ki_error err = {0};
    threaded_init(&t, (ki_controller_options){.stop_timeout_ms = 20, .reconcile_timeout_ms = 10}, block);
    t.is_blocked = 1;
    assert_int_equal(ki_controller_enqueue(t.controller, KI_STR("slow"), 0), 0);
    ki_controller_status status = {0};
    while (status.active == 0 || status.longest_ms < 10)
        ki_controller_read_status(t.controller, &status);
    assert_string_equal(status.longest_key, "slow");
    assert_int_equal(ki_controller_stop(t.controller, &err), KI_ERR_TIMEOUT);
    assert_non_null(strstr(err.message, "slow"));
    assert_int_equal(ki_controller_start(t.controller, &err), 0); /* the blocked worker continues */
    assert_int_equal(ki_controller_stop(t.controller, &err), KI_ERR_TIMEOUT);
    t.is_blocked = 0;
    wait_for(&t.calls, 1);
    while (ki_controller_stop(t.controller, &err) != 0)
        continue;
    ki_controller_free(t.controller);
    assert_int_equal(t.released, 1);
    local_rig_fini(&t.rig);
}

static void block_slow(threaded *t, ki_request *request)
{
    if (ki_str_equal(ki_request_key(request), KI_STR("slow")))
        block(t, request);
}

static bool is_overdue(threaded *t)
{
    ki_metrics_text text = {0};
    assert_int_equal(ki_metrics_render(ki_client_metrics(t->rig.client), &text, NULL), 0);
    bool is = strstr(text.bytes, "controller_overdue_total{controller=\"test\"} 1\n") != NULL;
    ki_metrics_text_fini(&text);
    return is;
}

static void a_worker_that_blocks_is_reported_and_others_continue(void **state)
{
    (void)state;
    threaded t;
    threaded_init(&t, (ki_controller_options){.workers = 2, .reconcile_timeout_ms = 1}, block_slow);
    t.is_blocked = 1;
    assert_int_equal(ki_controller_enqueue(t.controller, KI_STR("slow"), 0), 0);
    for (int i = 0; i < HANG_MS && !is_overdue(&t); i++)
        (void)poll(NULL, 0, 1);
    assert_true(is_overdue(&t));
    assert_int_equal(ki_controller_enqueue(t.controller, KI_STR("other"), 0), 0);
    wait_for(&t.calls, 1);
    t.is_blocked = 0;
    wait_for(&t.calls, 2);
    ki_controller_free(t.controller);
    local_rig_fini(&t.rig);
}

static void stop_in_read_section(threaded *t, ki_request *request)
{
    (void)request;
    ki_read_lock();
    assert_int_equal(ki_controller_stop(t->controller, NULL), 0);
    ki_read_unlock();
}

static void a_stop_in_a_read_section_does_not_wait(void **state)
{
    (void)state;
    threaded t;
    ki_error err = {0};
    threaded_init(&t, (ki_controller_options){0}, block);
    t.is_blocked = 1;
    assert_int_equal(ki_controller_enqueue(t.controller, KI_STR("slow"), 0), 0);
    ki_controller_status status = {0};
    while (status.active == 0)
        ki_controller_read_status(t.controller, &status);
    stop_in_read_section(&t, NULL);
    assert_int_equal(t.calls, 0);
    t.is_blocked = 0;
    assert_int_equal(ki_controller_stop(t.controller, &err), 0);
    ki_controller_free(t.controller);
    local_rig_fini(&t.rig);
}

static void free_the_client(threaded *t, ki_request *request)
{
    (void)request;
    ki_client_free(t->rig.client);
    t->rig.client = NULL;
}

/* It must not wait for itself. */
static void a_worker_may_free_the_client(void **state)
{
    (void)state;
    threaded t;
    threaded_init(&t, (ki_controller_options){.workers = 2}, free_the_client);
    assert_int_equal(ki_controller_enqueue(t.controller, KI_STR("a"), 0), 0);
    wait_for(&t.calls, 1);
    ki_controller_free(t.controller);
    assert_int_equal(t.calls, 1);
    assert_int_equal(t.released, 1);
    local_rig_fini(&t.rig);
}

/* Waits until a thread is in ki_controller_run(). */
static void free_the_controller(threaded *t, ki_request *request)
{
    (void)request;
    size_t callers = 0;
    while (callers == 0) {
        ki_mutex_lock(&t->controller->mu);
        callers = t->controller->callers;
        ki_mutex_unlock(&t->controller->mu);
    }
    ki_controller_free(t->controller);
}

static void run_returns_when_a_worker_frees_it(void **state)
{
    (void)state;
    threaded t;
    ki_error err = {0};
    threaded_init(&t, (ki_controller_options){.workers = 3}, free_the_controller);
    assert_int_equal(ki_controller_enqueue(t.controller, KI_STR("a"), 0), 0);
    assert_int_equal(ki_controller_run(t.controller, &err), 0);
    assert_int_equal(t.released, 1);
    assert_int_equal(t.calls, 1);
    local_rig_fini(&t.rig);
}

static void give_away(threaded *t, ki_request *request)
{
    t->pending = request;
}

static void a_request_may_be_finished_by_another_thread(void **state)
{
    (void)state;
    threaded t;
    ki_error err = {0};
    threaded_init(&t, (ki_controller_options){0}, give_away);
    t.verdict = KI_VERDICT_LATER;
    for (int i = 0; i < 100; i++) {
        t.pending = NULL;
        assert_int_equal(ki_controller_enqueue(t.controller, KI_STR("a"), 0), 0);
        while (t.pending == NULL) /* it may be finished before the reconcile function returns */
            (void)sched_yield();
        ki_request_finish(t.pending, ki_done());
    }
    assert_int_equal(ki_controller_stop(t.controller, &err), 0);
    ki_controller_status status;
    ki_controller_read_status(t.controller, &status);
    assert_int_equal(status.reconciles, 100);
    ki_controller_free(t.controller);
    local_rig_fini(&t.rig);
}

static void the_events_of_an_informer_reach_the_workers(void **state)
{
    (void)state;
    threaded t;
    threaded_init(&t, (ki_controller_options){.workers = 2}, NULL);
    assert_int_equal(ki_controller_watch(t.controller, t.rig.informer, NULL), 0);
    local_rig_sync(&t.rig);
    wait_for(&t.calls, 3);
    (void)local_source_put(t.rig.source, "a", "n9", 9);
    wait_for(&t.calls, 4);
    ki_informer_free(t.rig.informer);
    t.rig.informer = NULL;
    ki_controller_free(t.controller);
    local_rig_fini(&t.rig);
}

/* In a child, calls do not wait and take no lock. */
static void calls_in_a_forked_child_are_refused(void **state)
{
    (void)state;
    threaded t;
    threaded_init(&t, (ki_controller_options){0}, NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        ki_error err = {0};
        ki_controller_status status;
        int bad = ki_controller_start(t.controller, &err) != KI_ERR_FORKED;
        bad |= ki_controller_stop(t.controller, &err) != KI_ERR_FORKED;
        bad |= ki_controller_run(t.controller, &err) != KI_ERR_FORKED;
        bad |= ki_controller_enqueue(t.controller, KI_STR("a"), 0) != KI_ERR_FORKED;
        bad |= ki_controller_watch(t.controller, t.rig.informer, NULL) != KI_ERR_FORKED;
        bad |= ki_controller_new(t.rig.client, &(ki_controller_options){.name = "c", .reconcile = reconcile},
                                 &err) != NULL;
        ki_controller_read_status(t.controller, &status);
        ki_controller_free(t.controller);
        _exit(bad);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    ki_controller_free(t.controller);
    local_rig_fini(&t.rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(keys_added_while_it_is_stopped_are_kept),
        WITH_MEMORY_CHECK(a_stop_names_the_reconciles_that_have_not_ended),
        WITH_MEMORY_CHECK(a_stop_names_as_many_reconciles_as_fit_in_a_message),
        WITH_MEMORY_CHECK(a_reconcile_may_stop_its_controller),
        WITH_MEMORY_CHECK(run_returns_when_a_reconcile_stops_it),
        WITH_MEMORY_CHECK(run_names_the_reconciles_that_have_not_ended),
        WITH_MEMORY_CHECK(a_reconcile_may_free_its_controller),
        WITH_MEMORY_CHECK(a_controller_may_be_freed_while_it_runs),
        WITH_MEMORY_CHECK(a_reconcile_may_free_the_client),
        WITH_MEMORY_CHECK(everything_may_be_freed_in_any_order),
        WITH_MEMORY_CHECK(invalid_options_are_refused),
        cmocka_unit_test(a_stop_waits_for_workers_within_its_limit),
        cmocka_unit_test(a_worker_that_blocks_is_reported_and_others_continue),
        cmocka_unit_test(a_stop_in_a_read_section_does_not_wait),
        cmocka_unit_test(a_worker_may_free_the_client),
        cmocka_unit_test(run_returns_when_a_worker_frees_it),
        cmocka_unit_test(a_request_may_be_finished_by_another_thread),
        cmocka_unit_test(the_events_of_an_informer_reach_the_workers),
        cmocka_unit_test(calls_in_a_forked_child_are_refused),
    };
    return RUN_TESTS(tests);
}
