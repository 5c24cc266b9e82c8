/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of every kind run beside a writer that puts, removes, replaces, adds indexes and makes tables grow.
 * Most useful under a thread sanitizer; the guarantees for readers are checked in every build. */
#include <kinformer/error.h>
#include <kinformer/store.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/store.h"
#include "support/failing_allocator.h"
#include "support/require.h"
#include "support/store/store_flush.h"
#include "support/store/store_objects.h"
#include "support/unit.h"

enum {
    STEADY = 40,   /* keys that always exist, and only change */
    PASSING = 200, /* keys that come and go */
    ROUNDS = 30,   /* in each, all passing keys come and go once */
    INDEXES = 5,   /* added one after the other */
    NAME_BYTES = 32,
};

typedef struct race {
    ki_store *store;
    atomic_bool is_over;
    atomic_int indexes; /* that have been added for certain */
} race;

static const char *name_of(const char *kind, int i, char *buffer)
{
    snprintf(buffer, NAME_BYTES, "%s-%d", kind, i);
    return buffer;
}

static uint64_t version_of(const ki_object *object)
{
    return strtoull(ki_object_resource_version(object).ptr, NULL, 10);
}

/* The number of a steady object, or -1. */
static int steady_number(const ki_object *object)
{
    ki_str name = ki_object_name(object);
    if (name.len < 8 || memcmp(name.ptr, "steady-", 7) != 0)
        return -1;
    return atoi(name.ptr + 7);
}

/* ---- the writer ------------------------------------------------------------------------------------ */

static int batch_put(ki_store *store, const char *name, uint64_t version, const char *tags)
    KI_REQUIRES(store->mu) KI_REQUIRES(store->write_mu)
{
    ki_object *object = store_object("ns", name, version, tags);
    int rc = ki_store_batch_put(store, object, NULL);
    (void)ki_object_unref(object);
    return rc;
}

/* Updates all steady objects to one version, as one change. */
static void update_steady(ki_store *store, uint64_t version)
{
    char name[NAME_BYTES];
    ki_store_batch_begin(store);
    for (int i = 0; i < STEADY; i++)
        require(batch_put(store, name_of("steady", i, name), version, version % 2 == 0 ? "all" : "all,odd") ==
                0);
    ki_store_batch_end(store);
}

static void let_them_pass(ki_store *store, uint64_t version)
{
    char name[NAME_BYTES];
    char key[NAME_BYTES + 4];
    for (int i = 0; i < PASSING; i++) {
        ki_object *object =
            store_object("ns", name_of("passing", i, name), version, i % 3 == 0 ? "!" : "all,x");
        require(ki_store_put(store, object) == 0);
        (void)ki_object_unref(object);
    }
    for (int i = 0; i < PASSING; i++) {
        snprintf(key, sizeof(key), "ns/%s", name_of("passing", i, name));
        require(ki_store_remove(store, ki_str_of(key)) == 0);
    }
}

/* Replaces all objects at once, with the same objects. */
static void replace_all(ki_store *store)
{
    ki_object_list list = {0};
    require(ki_store_list(store, &list) == 0);
    require(ki_store_replace(store, list.objects, list.count) == 0);
    ki_object_list_fini(&list);
}

static void write_all(void *user)
{
    race *r = user;
    char name[NAME_BYTES];
    for (int round = 1; round <= ROUNDS; round++) {
        update_steady(r->store, (uint64_t)round + 1);
        let_them_pass(r->store, (uint64_t)round + 1);
        if (round % 5 == 0)
            replace_all(r->store);
        if (round % 5 == 2 && round / 5 < INDEXES) {
            require(ki_store_add_index(r->store, name_of("index", round / 5, name), store_tags_index, NULL) ==
                    0);
            atomic_store(&r->indexes, round / 5 + 1);
        }
    }
    store_flush(r->store);
    atomic_store(&r->is_over, true);
}

/* ---- readers --------------------------------------------------------------------------------------- */

/* No reader sees a version decrease. */
static void read_one_by_one(void *user)
{
    race *r = user;
    uint64_t seen[STEADY] = {0};
    char name[NAME_BYTES];
    while (!atomic_load(&r->is_over)) {
        for (int i = 0; i < STEADY; i++) {
            ki_object *object = ki_store_get(r->store, KI_STR("ns"), ki_str_of(name_of("steady", i, name)));
            require(object != NULL && version_of(object) >= seen[i]);
            seen[i] = object == NULL ? 0 : version_of(object);
            (void)ki_object_unref(object);
            ki_read_lock();
            const ki_object *look = ki_store_peek(r->store, KI_STR("ns"), ki_str_of(name));
            require(look != NULL && version_of(look) >= seen[i] && steady_number(look) == i);
            look = ki_store_peek_one(r->store, KI_INDEX_NAMESPACE, KI_STR("ns"));
            require(look != NULL);
            look = ki_store_peek(r->store, KI_STR("ns"), ki_str_of(name_of("passing", i, name)));
            require(look == NULL || ki_object_namespace(look).len == 2);
            ki_read_unlock();
        }
    }
}

static void require_one_state(const ki_object_list *list)
{
    int seen[STEADY] = {0};
    uint64_t version = 0;
    for (size_t i = 0; i < list->count; i++) {
        int number = steady_number(list->objects[i]);
        if (number < 0)
            continue;
        seen[number]++;
        require(version == 0 || version == version_of(list->objects[i]));
        version = version_of(list->objects[i]);
    }
    for (int i = 0; i < STEADY; i++)
        require(seen[i] == 1);
}

/* All steady objects have the same version in every list. */
static void read_lists(void *user)
{
    race *r = user;
    char name[NAME_BYTES];
    while (!atomic_load(&r->is_over)) {
        ki_object_list list = {0};
        ki_str_list values = {0};
        require(ki_store_list(r->store, &list) == 0);
        require_one_state(&list);
        ki_object_list_fini(&list);
        require(ki_store_list_index(r->store, KI_INDEX_NAMESPACE, KI_STR("ns"), &list) == 0);
        require_one_state(&list);
        ki_object_list_fini(&list);
        int indexes = atomic_load(&r->indexes);
        if (indexes == 0)
            continue;
        require(ki_store_list_index(r->store, name_of("index", indexes - 1, name), KI_STR("all"), &list) ==
                0);
        require_one_state(&list);
        ki_object_list_fini(&list);
        require(ki_store_list_values(r->store, name, &values) == 0);
        require(values.count >= 1 && values.count <= 3);
        ki_str_list_fini(&values);
    }
}

static int count_steady(const ki_object *object, void *user)
{
    int number = steady_number(object);
    if (number >= 0)
        ((int *)user)[number]++;
    return 0;
}

static void require_each_once(const int *seen)
{
    for (int i = 0; i < STEADY; i++)
        require(seen[i] == 1);
}

/* Objects that exist throughout are seen once, even while tables are moved. */
static void walk_all(void *user)
{
    race *r = user;
    char name[NAME_BYTES];
    while (!atomic_load(&r->is_over)) {
        int seen[STEADY] = {0};
        require(ki_store_walk(r->store, count_steady, seen) == 0);
        require_each_once(seen);
        memset(seen, 0, sizeof(seen));
        require(ki_store_walk_index(r->store, KI_INDEX_NAMESPACE, KI_STR("ns"), count_steady, seen) == 0);
        require_each_once(seen);
        for (int i = 0; i < INDEXES; i++) {
            memset(seen, 0, sizeof(seen));
            int rc =
                ki_store_walk_index(r->store, name_of("index", i, name), KI_STR("all"), count_steady, seen);
            require(rc == 0 || (rc == KI_ERR_NOT_FOUND && i >= atomic_load(&r->indexes) - 1));
            if (rc == 0)
                require_each_once(seen);
        }
    }
}

static void start(ki_thread *thread, const char *name, ki_thread_cb run, void *user)
{
    assert_int_equal(
        ki_thread_start(thread, &(ki_thread_options){.name = name, .run = run, .user = user}, NULL), 0);
}

static void readers_of_all_kinds_beside_a_writer(void **state)
{
    (void)state;
    static const ki_thread_cb readers[] = {read_one_by_one, read_one_by_one, read_lists, walk_all};
    enum { READERS = sizeof(readers) / sizeof(readers[0]) };
    race r = {.store = ki_store_new(&(ki_store_options){.retired_bytes_max = 20000}, NULL)};
    ki_thread writer;
    ki_thread threads[READERS];
    assert_non_null(r.store);
    update_steady(r.store, 1);
    for (int i = 0; i < READERS; i++)
        start(&threads[i], "reader", readers[i], &r);
    start(&writer, "dispatch", write_all, &r);
    ki_thread_join(&writer);
    for (int i = 0; i < READERS; i++)
        ki_thread_join(&threads[i]);
    assert_int_equal(atomic_load(&failures), 0);
    store_assert_sound(r.store);
    assert_int_equal(ki_store_count(r.store), STEADY);
    ki_store_free(r.store);
}

/* ---- several writers ------------------------------------------------------------------------------- */

typedef struct writer_task {
    ki_store *store;
    const char *kind;
} writer_task;

static void write_some(void *user)
{
    const writer_task *task = user;
    char name[NAME_BYTES];
    for (uint64_t version = 1; version <= 20; version++)
        for (int i = 0; i < 50; i++) {
            ki_object *object = store_object("ns", name_of(task->kind, i, name), version, "all");
            require(ki_store_put(task->store, object) == 0);
            (void)ki_object_unref(object);
        }
}

static void writers_take_turns(void **state)
{
    (void)state;
    ki_store *store = ki_store_new(NULL, NULL);
    ki_thread threads[2];
    writer_task tasks[2] = {{store, "left"}, {store, "right"}};
    assert_non_null(store);
    for (int i = 0; i < 2; i++)
        start(&threads[i], "writer", write_some, &tasks[i]);
    for (int i = 0; i < 2; i++)
        ki_thread_join(&threads[i]);
    assert_int_equal(atomic_load(&failures), 0);
    assert_int_equal(ki_store_count(store), 100);
    store_assert_sound(store);
    ki_store_free(store);
}

/* ---- a reader that sleeps -------------------------------------------------------------------------- */

enum { RETIRED_BYTES_MAX = 50000, UPDATES = 2000 };

typedef struct sleep_race {
    ki_store *store;
    ki_mutex mu;
    ki_cond cond;
    bool is_asleep;     /* guarded by mu */
    bool must_wake;     /* guarded by mu */
    uint64_t looked_at; /* version that the sleeper still sees when it wakes */
    atomic_uint done;   /* number of updates done */
} sleep_race;

static void sleep_in_section(void *user)
{
    sleep_race *r = user;
    ki_read_lock();
    const ki_object *object = ki_store_peek(r->store, KI_STR("ns"), KI_STR("one"));
    require(object != NULL);
    ki_mutex_lock(&r->mu);
    r->is_asleep = true;
    ki_cond_broadcast(&r->cond);
    while (!r->must_wake)
        ki_cond_wait(&r->cond, &r->mu);
    ki_mutex_unlock(&r->mu);
    r->looked_at = object == NULL ? 0 : version_of(object);
    ki_read_unlock();
}

static void update_one(void *user)
{
    sleep_race *r = user;
    for (uint64_t version = 2; version < 2 + UPDATES; version++) {
        ki_object *object = store_object("ns", "one", version, "");
        require(ki_store_put(r->store, object) == 0);
        (void)ki_object_unref(object);
        atomic_fetch_add(&r->done, 1);
    }
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){0, ms * 1000000}, NULL);
}

/* Waits until the writer makes no progress. */
static void wait_for_standstill(sleep_race *r)
{
    unsigned before = 0;
    do {
        before = atomic_load(&r->done);
        pause_ms(100);
    } while (before == 0 || atomic_load(&r->done) != before);
}

static void wait_for_sleeper(sleep_race *r)
{
    ki_mutex_lock(&r->mu);
    while (!r->is_asleep)
        ki_cond_wait(&r->cond, &r->mu);
    ki_mutex_unlock(&r->mu);
}

static void wake(sleep_race *r)
{
    ki_mutex_lock(&r->mu);
    r->must_wake = true;
    ki_cond_broadcast(&r->cond);
    ki_mutex_unlock(&r->mu);
}

static void a_sleeping_reader_stops_only_the_writer(void **state)
{
    (void)state;
    sleep_race r = {.store = ki_store_new(&(ki_store_options){.retired_bytes_max = RETIRED_BYTES_MAX}, NULL)};
    ki_thread sleeper;
    ki_thread writer;
    ki_object_list list = {0};
    ki_mutex_init(&r.mu);
    ki_cond_init(&r.cond);
    store_put(r.store, store_object("ns", "one", 1, ""));
    start(&sleeper, "sleeper", sleep_in_section, &r);
    wait_for_sleeper(&r);
    size_t before = failing_allocator_live_bytes();
    start(&writer, "dispatch", update_one, &r);
    wait_for_standstill(&r);
    assert_true(atomic_load(&r.done) < UPDATES);
    /* The limit, the object that exceeded it, the array of references and the newest object. */
    assert_true(failing_allocator_live_bytes() - before < RETIRED_BYTES_MAX * 11 / 10 + 8192);
    /* The waiting writer does not block readers. */
    assert_int_equal(ki_store_list(r.store, &list), 0);
    assert_int_equal(list.count, 1);
    ki_object_list_fini(&list);
    ki_object *object = ki_store_get(r.store, KI_STR("ns"), KI_STR("one"));
    assert_true(object != NULL && version_of(object) > 1);
    (void)ki_object_unref(object);
    wake(&r);
    ki_thread_join(&sleeper);
    ki_thread_join(&writer);
    assert_int_equal(r.looked_at, 1);
    assert_int_equal(atomic_load(&r.done), UPDATES);
    assert_int_equal(atomic_load(&failures), 0);
    ki_store_free(r.store);
    ki_cond_fini(&r.cond);
    ki_mutex_fini(&r.mu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(readers_of_all_kinds_beside_a_writer),
        WITH_MEMORY_CHECK(writers_take_turns),
        WITH_MEMORY_CHECK(a_sleeping_reader_stops_only_the_writer),
    };
    return RUN_TESTS(tests);
}
