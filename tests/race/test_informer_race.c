/* SPDX-License-Identifier: Apache-2.0 */
/* Everything at once for a while: changes, cut connections, dropped histories, readers of every kind,
 * handlers that are added and removed, restarts, and a factory that two threads use. Then all must agree.
 * Most useful under a thread sanitizer. Threads are the library's,
 * and those that support/aside.c starts with ki_thread_start(). */
#include <inttypes.h>
#include <kinformer/factory.h>
#include <kinformer/lister.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <unistd.h>

#include "support/aside.h"
#include "support/informer/informer_rig.h"
#include "support/patience.h"
#include "support/require.h"
#include "support/store/objects.h"
#include "support/store/store_objects.h"
#include "support/unit.h"
#include "util/random.h"

enum {
    RACE_MS = 1500,
    KEYS = 30,
    SURVIVORS = 4, /* handlers that stay */
    GUESTS = 3,    /* handlers at a time that are added and removed */
    INDEXES = 4,
};

typedef struct race {
    local_rig rig;
    ki_factory *factory;
    heard survivors[SURVIVORS];
    atomic_bool is_over;
    atomic_int guests;   /* registered so far */
    atomic_int releases; /* of guests */
    atomic_int reads;
    atomic_int restarts;
    atomic_int removals;
} race;

static void name_of(uint32_t key, char *ns, char *name)
{
    snprintf(ns, 8, "%c", 'a' + (int)(key % 3));
    snprintf(name, 8, "n%" PRIu32, key);
}

/* ---- changes ----------------------------------------------------------------------------------------- */

static void change(void *user)
{
    race *r = user;
    ki_random random;
    char ns[8];
    char name[8];
    ki_random_init(&random, 1);
    for (int i = 0; !r->is_over; i++) {
        name_of((uint32_t)ki_random_below(&random, KEYS), ns, name);
        if (ki_random_below(&random, 4) == 0)
            (void)local_source_delete(r->rig.source, ns, name);
        else
            (void)local_source_put(r->rig.source, ns, name, i);
        if (i % 400 == 399)
            local_source_forget(r->rig.source);
        if (i % 200 == 199)
            local_source_cut(r->rig.source);
        if (i % 20 == 0)
            aside_pause(1);
    }
}

static void be_impatient(void *user)
{
    race *r = user;
    while (!r->is_over) {
        ki_informer_retry_now(r->rig.informer);
        aside_pause(3);
    }
}

/* ---- readers ----------------------------------------------------------------------------------------- */

/* The version of a key never decreases, not even after a deletion. */
static void read_one(const ki_store *store, uint32_t key, uint64_t *last)
{
    char ns[8];
    char name[8];
    name_of(key, ns, name);
    ki_object *object = ki_store_get(store, ki_str_of(ns), ki_str_of(name));
    if (object != NULL) {
        require(object_version(object) >= *last);
        *last = object_version(object);
    }
    (void)ki_object_unref(object);
    ki_read_lock();
    const ki_object *seen = ki_store_peek(store, ki_str_of(ns), ki_str_of(name));
    require(seen == NULL || object_version(seen) >= *last);
    require(seen == NULL || ki_str_equal(ki_object_name(seen), ki_str_of(name)));
    ki_read_unlock();
}

static int check_object(const ki_object *object, void *user)
{
    (void)user;
    require(ki_object_key_str(object).len > 2);
    return 0;
}

static void read_many(const ki_store *store)
{
    ki_object_list list = {0};
    ki_str_list values = {0};
    require(ki_store_walk(store, check_object, NULL) == 0);
    require(ki_store_list(store, &list) == 0);
    require(list.count <= KEYS + 3); /* the rig has a few objects of its own */
    ki_object_list_fini(&list);
    require(ki_store_list_index(store, KI_INDEX_NAMESPACE, ki_str_of("a"), &list) == 0);
    for (size_t i = 0; i < list.count; i++)
        require(ki_str_equal(ki_object_namespace(list.objects[i]), ki_str_of("a")));
    ki_object_list_fini(&list);
    require(ki_store_list_values(store, KI_INDEX_NAMESPACE, &values) == 0);
    ki_str_list_fini(&values);
    require(ki_lister_walk(ki_lister_of(store, ki_str_of("b")), NULL, check_object, NULL) == 0);
}

static void read_all(void *user)
{
    race *r = user;
    const ki_store *store = ki_informer_store(r->rig.informer);
    uint64_t last[KEYS] = {0};
    for (uint32_t i = 0; !r->is_over; i++) {
        ki_informer_status status;
        char version[32];
        read_one(store, i % KEYS, &last[i % KEYS]);
        if (i % 7 == 0)
            read_many(store);
        ki_informer_read_status(r->rig.informer, &status);
        (void)ki_informer_age_ms(r->rig.informer);
        (void)ki_informer_last_resource_version(r->rig.informer, version, sizeof(version));
        r->reads++;
    }
}

static void add_indexes(void *user)
{
    race *r = user;
    char name[24];
    for (int i = 0; i < INDEXES && !r->is_over; i++) {
        snprintf(name, sizeof(name), "tags-%d", i);
        require(ki_informer_add_index(r->rig.informer, name, store_tags_index, NULL) == 0);
        for (int k = 0; k < 50 && !r->is_over; k++) {
            ki_object_list list = {0};
            require(ki_store_list_index(ki_informer_store(r->rig.informer), name, ki_str_of("t1"), &list) ==
                    0);
            for (size_t n = 0; n < list.count; n++)
                require(store_object_has_tag(list.objects[n], ki_str_of("t1")));
            ki_object_list_fini(&list);
            aside_pause(3);
        }
    }
}

static void wait_for_versions(void *user)
{
    race *r = user;
    char version[24];
    while (!r->is_over) {
        snprintf(version, sizeof(version), "%" PRIu64, local_source_version(r->rig.source));
        int rc = ki_informer_wait_for_version(r->rig.informer, ki_str_of(version), 20, NULL);
        require(rc == 0 || rc == KI_ERR_TIMEOUT || rc == KI_ERR_STOPPED);
        if (rc == KI_ERR_STOPPED)
            aside_pause(1);
    }
}

/* ---- handlers that come and go ----------------------------------------------------------------------- */

static void note_release(heard *what, const ki_event *event)
{
    (void)event;
    race *r = what->user;
    r->releases++;
}

static void add_and_remove(race *r, int round)
{
    heard guests[GUESTS];
    ki_registration *registrations[GUESTS];
    for (int i = 0; i < GUESTS; i++) {
        heard_init(&guests[i]);
        guests[i].user = r;
        guests[i].in_release = note_release;
        ki_handler handler = heard_handler(&guests[i]);
        handler.backlog_items_max = i == 0 ? 2 : 0;
        handler.overflow = i == 1 ? KI_OVERFLOW_UNBOUNDED : KI_OVERFLOW_COALESCE;
        registrations[i] = ki_informer_add_handler(r->rig.informer, &handler, NULL);
        require(registrations[i] != NULL);
        r->guests++;
    }
    aside_pause(round % 20);
    ki_registration_stats stats;
    ki_registration_read_stats(registrations[0], &stats);
    (void)ki_registration_has_synced(registrations[0]);
    for (int i = 0; i < GUESTS; i++) {
        if ((i + round) % 2 == 0)
            ki_registration_remove(registrations[i]);
        else
            require(ki_registration_remove_and_wait(registrations[i]) == 0);
    }
    for (int i = 0; i < GUESTS; i++) {
        require(heard_wait(&guests[i], &guests[i].releases, 1));
        require(guests[i].wrongs == 0);
        heard_fini(&guests[i]);
    }
}

static void come_and_go(void *user)
{
    race *r = user;
    for (int round = 0; !r->is_over; round++)
        add_and_remove(r, round);
}

static void restart(void *user)
{
    race *r = user;
    for (int i = 0; !r->is_over; i++) {
        aside_pause(i % 3 == 0 ? 60 : 5);
        ki_informer_stop(r->rig.informer);
        aside_pause(i % 5);
        require(ki_informer_start(r->rig.informer, NULL) == 0);
        r->restarts++;
    }
}

/* ---- a factory --------------------------------------------------------------------------------------- */

/* This is the only thread that removes informers, so an informer from the factory exists until this thread
 * removes it. */
static void get_and_remove(void *user)
{
    race *r = user;
    const ki_resource *resources[] = {&KI_CORE_V1_SECRETS, &KI_CORE_V1_NODES, &KI_CORE_V1_SERVICES};
    for (int i = 0; !r->is_over; i++) {
        ki_informer *informer = ki_factory_informer(r->factory, resources[i % 3], NULL);
        require(informer != NULL);
        require(ki_factory_informer(r->factory, resources[i % 3], NULL) == informer);
        ki_registration *registration =
            ki_informer_add_handler(informer, &(ki_handler){.name = "passing"}, NULL);
        require(ki_factory_start(r->factory, NULL) == 0);
        aside_pause(i % 10);
        ki_registration_remove(registration);
        if (i % 2 == 0) {
            require(ki_factory_remove(r->factory, informer) == 0);
            r->removals++;
        }
    }
}

static void use_all_of_it(void *user)
{
    race *r = user;
    for (int i = 0; !r->is_over; i++) {
        require(ki_factory_start(r->factory, NULL) == 0);
        (void)ki_factory_read_pending(r->factory, NULL, 0);
        int rc = ki_factory_wait_for_sync(r->factory, (uint64_t)(i % 20), NULL);
        require(rc == 0 || rc == KI_ERR_TIMEOUT || rc == KI_ERR_STOPPED);
        if (i % 10 == 9)
            ki_factory_stop(r->factory);
    }
}

/* ---- all of them ------------------------------------------------------------------------------------- */

static void race_init(race *r, ki_client_options options, size_t queue_items_max)
{
    *r = (race){0};
    local_rig_init(&r->rig, options);
    ki_informer_free(r->rig.informer);
    r->rig.informer = ki_informer_new(
        r->rig.client, &KI_CORE_V1_PODS,
        &(ki_informer_options){.backoff_ms = 10, .resync_ms = 1000, .queue_items_max = queue_items_max},
        NULL);
    assert_non_null(r->rig.informer);
    r->factory = ki_factory_new(r->rig.client, &(ki_factory_options){.informer = {.backoff_ms = 10}});
    assert_non_null(r->factory);
    for (int i = 0; i < SURVIVORS; i++) {
        heard_init(&r->survivors[i]);
        ki_handler handler = heard_handler(&r->survivors[i]);
        handler.backlog_items_max = i == 0 ? 0 : 5;
        handler.overflow = i == 1 ? KI_OVERFLOW_BLOCK : KI_OVERFLOW_COALESCE;
        handler.resync_ms = 1000;
        assert_non_null(ki_informer_add_handler(r->rig.informer, &handler, NULL));
    }
    assert_int_equal(ki_informer_start(r->rig.informer, NULL), 0);
}

static void run_race(race *r)
{
    const ki_thread_cb all[] = {change,      be_impatient, read_all,       read_all,      add_indexes,
                                come_and_go, restart,      get_and_remove, use_all_of_it, wait_for_versions};
    enum { THREADS = sizeof(all) / sizeof(all[0]) };
    aside threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        aside_start(&threads[i], all[i], r);
    aside_pause(RACE_MS);
    r->is_over = true;
    for (size_t i = 0; i < THREADS; i++)
        aside_join(&threads[i]);
}

static void assert_agreement(race *r)
{
    const ki_store *store = ki_informer_store(r->rig.informer);
    char version[24];
    ki_error err = {0};
    assert_int_equal(ki_informer_start(r->rig.informer, &err), 0);
    (void)local_source_put(r->rig.source, "a", "last", 1);
    snprintf(version, sizeof(version), "%" PRIu64, local_source_version(r->rig.source));
    ki_informer_retry_now(r->rig.informer);
    int rc = ki_informer_wait_for_version(r->rig.informer, ki_str_of(version), HANG_MS, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(rc, 0);
    assert_int_equal(local_source_differences(r->rig.source, store), 0);
    store_assert_sound(store);
    for (int i = 0; i < SURVIVORS; i++) {
        for (int k = 0; k < HANG_MS && heard_differences(&r->survivors[i], store) > 0; k++)
            aside_pause(1);
        assert_int_equal(heard_differences(&r->survivors[i], store), 0);
        assert_true(heard_wait(&r->survivors[i], &r->survivors[i].synced, 1));
        assert_int_equal(r->survivors[i].synced, 1);
    }
}

static void race_fini(race *r)
{
    ki_factory_free(r->factory);
    local_rig_fini(&r->rig);
    for (int i = 0; i < SURVIVORS; i++) {
        assert_int_equal(r->survivors[i].releases, 1);
        assert_int_equal(r->survivors[i].wrongs, 0);
        heard_fini(&r->survivors[i]);
    }
    assert_int_equal(r->releases, r->guests);
    assert_int_equal(failures, 0);
}

static void assert_something_happened(const race *r)
{
    assert_true(r->reads > 10);
    assert_true(r->guests > GUESTS);
    assert_true(r->restarts > 3);
    assert_true(r->removals > 0);
}

static void everything_agrees_after_all_at_once(void **state)
{
    (void)state;
    race r;
    race_init(&r, (ki_client_options){0}, 0);
    run_race(&r);
    assert_agreement(&r);
    race_fini(&r);
    assert_something_happened(&r);
}

static void everything_agrees_with_two_handler_threads_and_a_short_queue(void **state)
{
    (void)state;
    race r;
    race_init(&r, (ki_client_options){.handler_threads = 2}, 3);
    run_race(&r);
    assert_agreement(&r);
    race_fini(&r);
    assert_something_happened(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_agrees_after_all_at_once),
        cmocka_unit_test(everything_agrees_with_two_handler_threads_and_a_short_queue),
    };
    (void)alarm(WATCHDOG_SECONDS);
    return RUN_TESTS(tests);
}
