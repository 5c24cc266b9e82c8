/* SPDX-License-Identifier: Apache-2.0 */
/* Which log is used: that of the client if it has one, otherwise that of the process. */
#include <kinformer.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "support/informer/informer_rig.h"
#include "support/store/store_objects.h"
#include "support/unit.h"
#include "util/thread.h"

/* A log that several threads may write to at once. */
typedef struct log {
    ki_mutex mu;
    atomic_int count;
    char component[32]; /* of the last record, like the next member; guarded by mu */
    char message[256];
} log;

static void keep(const ki_log_record *record, void *user)
{
    log *l = user;
    ki_mutex_lock(&l->mu);
    snprintf(l->component, sizeof(l->component), "%s", record->component);
    snprintf(l->message, sizeof(l->message), "%s", record->message);
    ki_mutex_unlock(&l->mu);
    atomic_fetch_add(&l->count, 1);
}

static void expect(log *l, const char *component, const char *text)
{
    ki_mutex_lock(&l->mu);
    assert_string_equal(l->component, component);
    assert_non_null(strstr(l->message, text));
    ki_mutex_unlock(&l->mu);
    atomic_store(&l->count, 0);
}

typedef struct logs {
    log process;
    log own;
    local_rig rig; /* its client has its own log */
} logs;

static void logs_begin(logs *l, ki_client_options options)
{
    memset(l, 0, sizeof(*l));
    ki_mutex_init(&l->process.mu);
    ki_mutex_init(&l->own.mu);
    ki_set_log(keep, KI_LOG_TRACE, &l->process);
    options.log = keep;
    options.log_user = &l->own;
    local_rig_init(&l->rig, options);
}

static void logs_end(logs *l)
{
    local_rig_fini(&l->rig);
    ki_set_log(NULL, KI_LOG_TRACE, NULL);
    ki_mutex_fini(&l->process.mu);
    ki_mutex_fini(&l->own.mu);
}

/* Runs until the log has a line. */
static void run_until_told(local_rig *rig, log *l)
{
    while (atomic_load(&l->count) == 0)
        (void)!ki_informer_wait_for_sync(rig->informer, 5, NULL);
}

static void errors_of_a_collection_are_its_clients(int mode)
{
    logs l;
    logs_begin(&l, (ki_client_options){.mode = (ki_mode)mode});
    local_source_set_status(l.rig.source, 500);
    assert_int_equal(ki_informer_start(l.rig.informer, NULL), 0);
    run_until_told(&l.rig, &l.own);
    ki_informer_stop(l.rig.informer);
    expect(&l.own, "reflector", "500");
    assert_int_equal(atomic_load(&l.process.count), 0);
    logs_end(&l);
}

static void errors_of_a_collection_reach_the_log_of_its_client(void **state)
{
    (void)state;
    errors_of_a_collection_are_its_clients(KI_MODE_EVENT_LOOP);
    errors_of_a_collection_are_its_clients(KI_MODE_THREADS);
}

static void a_client_without_a_log_uses_that_of_the_process(void **state)
{
    (void)state;
    logs l;
    local_rig other;
    logs_begin(&l, (ki_client_options){.mode = KI_MODE_EVENT_LOOP});
    local_rig_init(&other, (ki_client_options){.mode = KI_MODE_EVENT_LOOP});
    local_source_set_status(other.source, 500);
    assert_int_equal(ki_informer_start(other.informer, NULL), 0);
    run_until_told(&other, &l.process);
    expect(&l.process, "reflector", "500");
    assert_int_equal(atomic_load(&l.own.count), 0);
    local_rig_fini(&other);
    logs_end(&l);
}

static void messages_on_a_thread_of_the_program_go_to_the_log_of_the_client(void **state)
{
    (void)state;
    logs l;
    logs_begin(&l, (ki_client_options){.mode = KI_MODE_EVENT_LOOP});
    local_rig_sync(&l.rig);
    assert_null(ki_informer_add_handler(l.rig.informer, &(ki_handler){.overflow = 77}, NULL));
    expect(&l.own, "informer", "adding a handler");
    ki_informer *watched = ki_informer_new(l.rig.client, &KI_CORE_V1_PODS,
                                           &(ki_informer_options){.mutations = KI_MUTATIONS_REPORT}, NULL);
    expect(&l.own, "mutation_detector", "is on");
    ki_informer_free(watched);
    assert_int_equal(atomic_load(&l.process.count), 0);
    logs_end(&l);
}

static int refuse(const ki_object *object, ki_index_emit *emit, void *user)
{
    (void)object;
    (void)emit;
    (void)user;
    return KI_ERR_TYPE;
}

static void a_store_logs_to_its_client_or_to_the_process(void **state)
{
    (void)state;
    logs l;
    logs_begin(&l, (ki_client_options){.mode = KI_MODE_EVENT_LOOP});
    local_rig_sync(&l.rig);
    assert_int_equal(ki_informer_add_index(l.rig.informer, "bad", refuse, NULL), 0);
    expect(&l.own, "store", "index functions have failed");
    assert_int_equal(atomic_load(&l.process.count), 0);
    ki_store *store = store_begin();
    store_put(store, store_object("ns", "one", 1, ""));
    assert_int_equal(ki_store_add_index(store, "bad", refuse, NULL), 0);
    expect(&l.process, "store", "index functions have failed");
    assert_int_equal(atomic_load(&l.own.count), 0);
    ki_store_free(store);
    logs_end(&l);
}

/* Runs on a thread that belongs to the client. */
static void put_elsewhere(void *user)
{
    store_put(user, store_object("ns", "one", 1, ""));
}

static void a_store_of_the_program_logs_to_the_process_even_on_a_thread_of_the_client(void **state)
{
    (void)state;
    logs l;
    logs_begin(&l, (ki_client_options){.mode = KI_MODE_EVENT_LOOP});
    ki_store *store = store_begin();
    assert_int_equal(ki_store_add_index(store, "bad", refuse, NULL), 0);
    assert_int_equal(ki_client_post(l.rig.client, put_elsewhere, store), 0);
    assert_int_equal(ki_client_dispatch(l.rig.client, KI_BUDGET_NONE), 0);
    expect(&l.process, "store", "index functions have failed");
    assert_int_equal(atomic_load(&l.own.count), 0);
    ki_store_free(store);
    logs_end(&l);
}

static void the_log_of_a_client_has_its_own_level(void **state)
{
    (void)state;
    logs l;
    ki_error err = {0};
    logs_begin(&l, (ki_client_options){.mode = KI_MODE_EVENT_LOOP, .log_level = KI_LOG_ERROR});
    local_source_set_status(l.rig.source, 500);
    assert_int_equal(ki_informer_start(l.rig.informer, NULL), 0);
    assert_true(ki_informer_wait_for_sync(l.rig.informer, 50, NULL) < 0);
    assert_int_equal(atomic_load(&l.own.count), 0); /* the failures are logged as warnings */
    assert_int_equal(atomic_load(&l.process.count), 0);
    logs_end(&l);
    assert_null(ki_client_new(&(ki_client_options){.no_cluster = 1, .log_level = KI_LOG_TRACE + 1}, &err));
    assert_int_equal(err.code, KI_ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_of_a_collection_reach_the_log_of_its_client),
        cmocka_unit_test(a_client_without_a_log_uses_that_of_the_process),
        cmocka_unit_test(messages_on_a_thread_of_the_program_go_to_the_log_of_the_client),
        cmocka_unit_test(a_store_logs_to_its_client_or_to_the_process),
        cmocka_unit_test(a_store_of_the_program_logs_to_the_process_even_on_a_thread_of_the_client),
        cmocka_unit_test(the_log_of_a_client_has_its_own_level),
    };
    return RUN_TESTS(tests);
}
