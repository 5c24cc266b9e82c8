/* SPDX-License-Identifier: Apache-2.0 */
/* Stores across fork(): a child has one thread, whatever the other threads were doing. It reads and writes
 * inherited stores, and creates its own. A child that hangs is ended by its alarm. */
#include <kinformer/delta_queue.h>
#include <kinformer/informer.h>
#include <kinformer/resources.h>
#include <kinformer/workqueue.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/aside.h"
#include "support/require.h"
#include "support/sleeper.h"
#include "support/store/store_check.h"
#include "support/store/store_objects.h"
#include "support/unit.h"

enum { CHILD_SECONDS = 60, FORKS = 60, OBJECTS = 50 };

static bool is_same_mask(const sigset_t *a, const sigset_t *b)
{
    for (int number = 1; number < NSIG; number++)
        if (sigismember(a, number) != sigismember(b, number))
            return false;
    return true;
}

/* In the child, the exit status tells whether all checks of `function` passed. The child does not call
 * _exit(): there a sanitizer would search for leaks and need locks that another thread may have held. */
static void expect_of_child(void (*function)(void *user), void *user)
{
    int status = 0;
    sigset_t before;
    sigset_t after;
    require(sigprocmask(SIG_BLOCK, NULL, &before) == 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)alarm(CHILD_SECONDS);
        function(user);
        require(sigprocmask(SIG_BLOCK, NULL, &after) == 0);
        require(is_same_mask(&before, &after));
        (void)syscall(SYS_exit_group, failures > 0 ? 1 : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void put_some(ki_store *store, uint64_t version, const char *tags)
{
    char name[16];
    for (int i = 0; i < OBJECTS; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        ki_object *object = store_object("ns", name, version, tags);
        require(ki_store_put(store, object) == 0);
        (void)ki_object_unref(object);
    }
}

/* The grace periods of the child's own store do not wait for threads of the parent. */
static void make_and_free_a_store(void *user)
{
    (void)user;
    ki_store *store = ki_store_new(&(ki_store_options){.retired_bytes_max = 1000}, NULL);
    require(store != NULL);
    for (uint64_t version = 1; version < 20; version++)
        put_some(store, version, "");
    ki_store_free(store);
}

static void use_inherited(void *user)
{
    ki_store *store = user;
    ki_object_list list = {0};
    ki_str_list keys = {0};
    require(ki_store_list(store, &list) == 0 && list.count == OBJECTS);
    ki_object_list_fini(&list);
    require(ki_store_list_index(store, KI_INDEX_NAMESPACE, KI_STR("ns"), &list) == 0 &&
            list.count == OBJECTS);
    ki_object_list_fini(&list);
    require(ki_store_list_keys(store, &keys) == 0 && keys.count == OBJECTS);
    ki_str_list_fini(&keys);
    require(store_check(store, NULL) == 0);
    put_some(store, 1000000, "child");
    require(ki_store_remove(store, KI_STR("ns/n0")) == 0);
    ki_store_free(store);
}

static void grace_periods_in_a_child_do_not_wait_for_readers_of_the_parent(void **state)
{
    (void)state;
    sleeper s;
    sleeper_begin(&s, NULL);
    expect_of_child(make_and_free_a_store, NULL);
    sleeper_end(&s);
}

static void a_child_uses_a_store_that_another_thread_reads(void **state)
{
    (void)state;
    sleeper s;
    ki_store *store = store_begin();
    put_some(store, 1, "");
    sleeper_begin(&s, store);
    expect_of_child(use_inherited, store);
    sleeper_end(&s);
    store_end(store);
}

typedef struct busy {
    ki_store *store;
    atomic_bool is_over;
} busy;

static void write_on(void *user)
{
    busy *b = user;
    for (uint64_t version = 1; !atomic_load(&b->is_over); version++) {
        ki_object_list list = {0};
        put_some(b->store, version, version % 2 == 0 ? "a,b" : "b,c,d");
        require(ki_store_list(b->store, &list) == 0);
        require(ki_store_replace(b->store, list.objects, list.count) == 0);
        ki_object_list_fini(&list);
    }
}

static void list_on(void *user)
{
    busy *b = user;
    while (!atomic_load(&b->is_over)) {
        ki_object_list list = {0};
        require(ki_store_list(b->store, &list) == 0);
        ki_object_list_fini(&list);
    }
}

static int count_object(const ki_object *object, void *user)
{
    size_t *count = user;
    *count += ki_object_name(object).len > 0;
    return 0;
}

/* Takes no lock and allocates nothing. */
static void look_at_inherited(void *user)
{
    ki_store *store = user;
    size_t count = 0;
    ki_store_walk(store, count_object, &count);
    require(count == OBJECTS && ki_store_count(store) == OBJECTS);
    ki_read_lock();
    require(ki_store_peek(store, KI_STR("ns"), KI_STR("n1")) != NULL);
    ki_read_unlock();
    ki_object *object = ki_store_get(store, KI_STR("ns"), KI_STR("n2"));
    require(object != NULL);
    (void)ki_object_unref(object);
}

/* The sanitizers' allocator does not survive a fork() while other threads allocate: in gcc 12 it does not
 * take its locks before the fork, so the child may wait for one forever.
 * With sanitizers the child only reads. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define use_wholly look_at_inherited
#else
#define use_wholly use_inherited
#endif

static void a_child_finds_a_consistent_store_whenever_it_was_forked(void **state)
{
    (void)state;
    busy b = {store_begin(), false};
    aside writer;
    aside lister;
    assert_int_equal(ki_store_add_index(b.store, "tags", store_tags_index, NULL), 0);
    put_some(b.store, 1, "a");
    aside_start(&writer, write_on, &b);
    aside_start(&lister, list_on, &b);
    for (int i = 0; i < FORKS; i++)
        expect_of_child(i % 2 == 0 ? look_at_inherited : use_wholly, b.store);
    atomic_store(&b.is_over, true);
    aside_join(&writer);
    aside_join(&lister);
    store_end(b.store);
    assert_int_equal(failures, 0);
}

/* fork() holds two locks of each store. The thread sanitizer's deadlock detector supports at most 64 locks
 * per thread, and aborts beyond that. Without it there is no such limit. */
#if !defined(__SANITIZE_THREAD__)
static void a_child_can_use_each_of_many_stores(void **state)
{
    (void)state;
    enum { STORES = 200 };
    ki_store *stores[STORES];
    for (int i = 0; i < STORES; i++) {
        stores[i] = store_begin();
        put_some(stores[i], 1, "");
    }
    for (int i = 0; i < STORES; i += STORES / 4)
        expect_of_child(use_inherited, stores[i]);
    for (int i = 0; i < STORES; i++)
        store_end(stores[i]);
}
#endif

static void leave_and_free(void *user)
{
    ki_store *store = user;
    require(ki_store_peek(store, KI_STR("ns"), KI_STR("n1")) != NULL);
    ki_read_unlock();
    ki_store_free(store);
}

static void a_child_forked_in_a_read_section_is_in_that_section(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    put_some(store, 1, "");
    ki_read_lock();
    expect_of_child(leave_and_free, store);
    ki_read_unlock();
    store_end(store);
}

/* ---- index functions ----------------------------------------------------------------------------------- */

typedef struct maker {
    ki_client *client; /* created before the index function runs */
    int calls;
    int refused;
} maker;

/* Each call that creates something fails with its own error. */
static void expect_refused(maker *m, const void *made, ki_error *err)
{
    m->calls++;
    m->refused += made == NULL && err->code == KI_ERR_WOULD_DEADLOCK && err->message[0] != 0;
    *err = (ki_error){0};
}

static int make_everything(const ki_object *object, ki_index_emit *emit, void *user)
{
    maker *m = user;
    ki_error err = {0};
    (void)object;
    expect_refused(m, ki_store_new(NULL, &err), &err);
    expect_refused(m, ki_delta_queue_new(NULL, &err), &err);
    expect_refused(m, ki_metrics_new(NULL, &err), &err);
    expect_refused(m, ki_limiter_new_default(&err), &err);
    expect_refused(m, ki_workqueue_new(NULL, &err), &err);
    expect_refused(m, ki_client_new(&(ki_client_options){.no_cluster = 1}, &err), &err);
    expect_refused(m, ki_informer_new(m->client, &KI_CORE_V1_PODS, NULL, &err), &err);
    return ki_index_emit_value(emit, ki_str_of("all"));
}

/* An index function runs under the store's lock. A fork() on another thread waits for that lock, and while it
 * waits nothing can be created. */
static void an_index_function_cannot_create_stores_queues_or_clients(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    maker m = {.client = ki_client_new(&(ki_client_options){.no_cluster = 1}, NULL)};
    assert_non_null(m.client);
    assert_int_equal(ki_store_add_index(store, "maker", make_everything, &m), 0);
    put_some(store, 1, "");
    assert_true(m.calls > 0);
    assert_int_equal(m.refused, m.calls);
    ki_read_lock();
    ki_store *other = ki_store_new(NULL, NULL);
    ki_read_unlock();
    assert_non_null(other);
    ki_store_free(other);
    store_end(store);
    ki_client_free(m.client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grace_periods_in_a_child_do_not_wait_for_readers_of_the_parent),
        cmocka_unit_test(a_child_uses_a_store_that_another_thread_reads),
        cmocka_unit_test(a_child_finds_a_consistent_store_whenever_it_was_forked),
#if !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(a_child_can_use_each_of_many_stores),
#endif
        cmocka_unit_test(a_child_forked_in_a_read_section_is_in_that_section),
        cmocka_unit_test(an_index_function_cannot_create_stores_queues_or_clients),
    };
    return RUN_TESTS(tests);
}
