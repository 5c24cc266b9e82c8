/* SPDX-License-Identifier: Apache-2.0 */
/* A reader that stays in a read section delays the freeing of memory and, when too much memory waits, the
 * writer of the same store. No other thread waits for it; if one did, these tests would hang. */
#include <kinformer.h>
#include <unistd.h>

#include "informer/informer.h"
#include "store/store.h"
#include "support/aside.h"
#include "support/failing_allocator.h"
#include "support/informer/feed_rig.h"
#include "support/informer/informer_rig.h"
#include "support/patience.h"
#include "support/require.h"
#include "support/sleeper.h"
#include "support/store/store_objects.h"
#include "support/unit.h"

enum { SECOND = 1000, LIMIT = 2000 };

/* ---- an informer with a virtual clock ---------------------------------------------------------------- */

static void an_informer_continues_while_a_reader_stays(void **state)
{
    (void)state;
    virtual_rig rig;
    sleeper s;
    virtual_rig_init(&rig, NULL);
    virtual_rig_sync(&rig);
    const ki_store *store = ki_informer_store(rig.informer);
    sleeper_begin(&s, NULL);
    for (int i = 0; i < 10; i++) {
        sim_world_touch_all(rig.world);
        virtual_rig_run(&rig, 2 * SECOND);
        virtual_rig_assert_equal(&rig);
    }
    assert_false(ki_reclaim_is_empty(&store->reclaim));
    sleeper_end(&s);
    virtual_rig_run(&rig, 2 * SECOND);
    assert_true(ki_reclaim_is_empty(&store->reclaim));
    virtual_rig_fini(&rig);
}

static void a_slow_walk_counts_as_a_reader_that_stays(void **state)
{
    (void)state;
    virtual_rig rig;
    sleeper s;
    virtual_rig_init(&rig, NULL);
    virtual_rig_sync(&rig);
    sleeper_begin(&s, ki_informer_store(rig.informer));
    sim_world_touch_all(rig.world);
    virtual_rig_run(&rig, 5 * SECOND);
    virtual_rig_assert_equal(&rig);
    sleeper_end(&s);
    virtual_rig_fini(&rig);
}

/* When its retired memory reaches the limit, the informer applies nothing until the reader has left. */
static void at_its_limit_an_informer_waits_for_the_reader_and_catches_up(void **state)
{
    (void)state;
    virtual_rig rig;
    sleeper s;
    virtual_rig_init(&rig, NULL);
    virtual_rig_sync(&rig);
    ki_reclaim *reclaim = &rig.informer->store->reclaim;
    reclaim->bytes_max = LIMIT;
    sleeper_begin(&s, NULL);
    for (int i = 0; i < 20; i++) {
        sim_world_touch_all(rig.world);
        virtual_rig_run(&rig, SECOND);
    }
    assert_in_range(reclaim->bytes, LIMIT, 3 * LIMIT); /* a batch may exceed the limit */
    sleeper_end(&s);
    virtual_rig_run(&rig, SECOND);
    virtual_rig_assert_equal(&rig);
    assert_true(reclaim->bytes < LIMIT);
    virtual_rig_fini(&rig);
}

static void a_stop_and_a_start_do_not_wait_for_a_reader_that_stays(void **state)
{
    (void)state;
    virtual_rig rig;
    sleeper s;
    virtual_rig_init(&rig, NULL);
    virtual_rig_sync(&rig);
    rig.informer->store->reclaim.bytes_max = LIMIT;
    sleeper_begin(&s, NULL);
    for (int i = 0; i < 10; i++) {
        sim_world_touch_all(rig.world);
        virtual_rig_run(&rig, SECOND);
        ki_informer_stop(rig.informer);
        assert_int_equal(ki_informer_start(rig.informer, NULL), 0);
    }
    sleeper_end(&s);
    virtual_rig_run(&rig, 60 * SECOND);
    virtual_rig_assert_equal(&rig);
    virtual_rig_fini(&rig);
}

/* ---- a feed with a virtual clock --------------------------------------------------------------------- */

static void at_its_limit_a_feed_pauses_and_catches_up(void **state)
{
    (void)state;
    feed_rig r;
    sleeper s;
    feed_rig_start_store(&r, 1);
    feed_rig_run(&r, 5);
    r.store->reclaim.bytes_max = LIMIT;
    sleeper_begin(&s, NULL);
    for (int i = 0; i < 20; i++) {
        sim_world_touch_all(r.world);
        feed_rig_run(&r, 2);
    }
    assert_true(r.store->reclaim.bytes >= LIMIT);
    sleeper_end(&s);
    feed_rig_run(&r, 60);
    feed_rig_assert_store_is_world(&r);
    feed_rig_fini(&r);
}

/* ---- a store of the program -------------------------------------------------------------------------- */

typedef struct writing {
    ki_store *store;
    uint64_t puts;
    atomic_uint_fast64_t done;
} writing;

static void put_many(void *user)
{
    writing *w = user;
    for (uint64_t i = 0; i < w->puts; i++) {
        ki_object *object = store_object("ns", "one", i + 1, "some,more,text");
        require(ki_store_put(w->store, object) == 0);
        (void)ki_object_unref(object);
        atomic_fetch_add(&w->done, 1);
    }
}

static void only_the_writer_of_a_store_at_its_limit_waits(void **state)
{
    (void)state;
    sleeper s;
    aside blocked;
    writing full = {ki_store_new(&(ki_store_options){.retired_bytes_max = LIMIT}, NULL), 100, 0};
    writing other = {store_begin(), 2000, 0};
    ki_object_list list = {0};
    sleeper_begin(&s, NULL);
    aside_start(&blocked, put_many, &full);
    put_many(&other);
    assert_int_equal(ki_store_count(other.store), 1);
    while (atomic_load(&full.done) < 3) /* some puts fit */
        (void)usleep(1000);
    assert_true(atomic_load(&full.done) < 100);
    assert_int_equal(ki_store_list(full.store, &list), 0); /* no lock is held during the wait */
    assert_int_equal(list.count, 1);
    ki_object_list_fini(&list);
    sleeper_end(&s);
    assert_true(aside_ends_within(&blocked, HANG_MS));
    aside_join(&blocked);
    assert_int_equal(store_version_at(full.store, "ns", "one"), 100);
    store_end(full.store);
    store_end(other.store);
}

static void a_replace_does_not_wait_for_a_reader(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    sleeper s;
    store_put(store, store_object("ns", "one", 1, ""));
    sleeper_begin(&s, store);
    ki_object *fresh = store_object("ns", "two", 2, "");
    assert_int_equal(ki_store_replace(store, &fresh, 1), 0);
    assert_int_equal(ki_store_count(store), 1);
    (void)ki_object_unref(fresh);
    sleeper_end(&s); /* an address sanitizer would report a walk over freed memory */
    store_end(store);
}

static void free_store(void *user)
{
    ki_store_free(user);
}

static void freeing_a_store_waits_for_the_reader(void **state)
{
    (void)state;
    ki_store *store = store_begin();
    sleeper s;
    aside freeing;
    store_put(store, store_object("ns", "one", 1, ""));
    sleeper_begin(&s, store);
    aside_start(&freeing, free_store, store);
    aside_pause(20);
    assert_false(atomic_load(&freeing.is_done));
    sleeper_end(&s);
    assert_true(aside_ends_within(&freeing, HANG_MS));
    aside_join(&freeing);
}

int main(void)
{
    (void)alarm(WATCHDOG_SECONDS);
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(an_informer_continues_while_a_reader_stays),
        WITH_MEMORY_CHECK(a_slow_walk_counts_as_a_reader_that_stays),
        WITH_MEMORY_CHECK(at_its_limit_an_informer_waits_for_the_reader_and_catches_up),
        WITH_MEMORY_CHECK(a_stop_and_a_start_do_not_wait_for_a_reader_that_stays),
        cmocka_unit_test(at_its_limit_a_feed_pauses_and_catches_up),
        WITH_MEMORY_CHECK(only_the_writer_of_a_store_at_its_limit_waits),
        WITH_MEMORY_CHECK(a_replace_does_not_wait_for_a_reader),
        WITH_MEMORY_CHECK(freeing_a_store_waits_for_the_reader),
    };
    return RUN_TESTS(tests);
}
